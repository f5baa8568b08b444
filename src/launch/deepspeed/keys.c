/* DeepSpeed: keys that are read, and keys with little effect on memory and time. Everything else
 * that is switched on is named in a remark. Keys: deepspeed/runtime/constants.py, zero/config.py
 * and the sections' own config.py, 0.19. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/list.h"
#include "launch/deepspeed/deepspeed.h"
#include "launch/fields/deciding.h"
#include "launch/fields/unread.h"

/* Only JSON's own booleans: DeepSpeed takes the text "no" for true, as Python does. */
static bool is_off(const cJSON *value)
{
    const cJSON *const enabled = cJSON_GetObjectItemCaseSensitive(value, "enabled");
    return !value || cJSON_IsNull(value) || cJSON_IsFalse(value) || cJSON_IsFalse(enabled) ||
           (cJSON_IsNumber(value) && value->valuedouble == 0) ||
           (cJSON_IsString(value) && sp_is(value->valuestring, "none"));
}

/* Whether a row reads the key. */
static bool is_read(const struct sp_settings *s, const char *section, const char *key)
{
    char name[2 * SP_ROW_NAME];
    sp_join_path(section, key, name, sizeof name);
    const struct sp_launch_row *const row = sp_row_of(s->words, name);
    return row && !row->note[0];
}

/* Keys below one that is not read: some decide the answer (`pipeline.stages`). */
static bool doubt(const struct sp_settings *s, const char *path, const cJSON *at)
{
    char option[sizeof s->launch->unread->option], value[24], inner[2 * SP_ROW_NAME];
    bool found = false;
    if (cJSON_IsNumber(at)) {
        snprintf(value, sizeof value, "%g", at->valuedouble);
        sp_core_option(s->core, path, value, option, sizeof option);
        if (option[0])
            sp_add_unread(s->launch, option, path, value, 0);
        found = option[0] != '\0';
    }
    for (const cJSON *below = cJSON_IsObject(at) ? at->child : NULL; below; below = below->next) {
        sp_join_path(path, below->string, inner, sizeof inner);
        found = doubt(s, inner, below) || found;
    }
    return found;
}

static void note(const struct sp_settings *s, const char *section, const char *key)
{
    const struct sp_launch_row *const row = sp_row_of(s->words, key);
    sp_launch_note(s, "not modelled: %s%s%s%s%s", section, section[0] ? "." : "", sp_safe(key),
                   row ? ", " : "", row ? row->note : "");
}

/* Whether a key is one of the words after "SECTION:". */
static bool is_quiet(const char *keys, size_t n, const char *key)
{
    char list[4096];
    snprintf(list, sizeof list, "%.*s", (int)n, keys);
    return sp_is_quiet(list, key);
}

static bool is_misspelt(const struct sp_settings *s, const char *section, const char *key)
{
    char name[2 * SP_ROW_NAME];
    sp_join_path(section, key, name, sizeof name);
    return sp_refuse_misspelt(s, name, 0);
}

/* Remarks on the keys of a section that is switched on; "top" is the file itself. */
static void note_section(const struct sp_settings *s, const cJSON *root, const char *name,
                         const char *keys, size_t n)
{
    const bool top = sp_is(name, "top");
    const cJSON *const section = top ? root : cJSON_GetObjectItemCaseSensitive(root, name);
    if (!top && (!cJSON_IsObject(section) || is_off(section)))
        return;
    for (const cJSON *at = section->child; at; at = at->next)
        if (at->string[0] != '_' && !is_quiet(keys, n, at->string) && !is_off(at) &&
            !is_read(s, top ? "" : name, at->string) &&
            !is_misspelt(s, top ? "" : name, at->string) && !(top && doubt(s, at->string, at)))
            note(s, top ? "" : name, at->string);
}

void sp_note_deepspeed_keys(const struct sp_settings *s, const cJSON *root)
{
    char name[64];
    for (const char *at = s->words->quiet, *colon; (colon = strchr(at, ':')) != NULL;) {
        const char *const keys = colon + 1, *end = strchr(keys, ':'); /* of the next section */
        at += strspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)(colon - at), at);
        while (end && end[-1] != ' ')
            end--;
        at = end ? end : keys + strlen(keys);
        note_section(s, root, name, keys, (size_t)(at - keys));
    }
    const cJSON *const groups = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(root, "zero_optimization"), "zero_hpz_partition_size");
    if (cJSON_IsNumber(groups) && groups->valuedouble > 1)
        note(s, "zero_optimization", "zero_hpz_partition_size");
}
