/* Settings of a launch that no reader asked for: those that may matter are named, misspellings of
 * those that decide are refused. */
#include "launch/fields/unread.h"

#include <ctype.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"
#include "launch/fields/deciding.h"

static const char marks[] = "-_.";

/* Whether two names have as many words, and those that differ are not short and begin alike: a
 * fork's "--o-lora-rank" is not "--q-lora-rank", nor is an encoder a decoder. */
static bool has_words_of(const char *name, const char *other)
{
    while (*name && *other) {
        const size_t n = strcspn(name, marks), m = strcspn(other, marks);
        if ((n != m || strncmp(name, other, n) != 0) && (n < 4 || m < 4 || *name != *other))
            return false;
        name += n + (name[n] != '\0');
        other += m + (other[m] != '\0');
    }
    return !*name && !*other;
}

void sp_offer_alike(struct sp_nearest *nearest, const char *name)
{
    if (has_words_of(nearest->wanted, name))
        sp_nearest_offer(nearest, name);
}

/* Whether the nearest name differs by as few letters as a slip does. */
static bool is_near(const struct sp_nearest *nearest)
{
    return nearest->best[0] && nearest->distance <= (strlen(nearest->wanted) < 10 ? 1 : 2);
}

bool sp_is_misspelt(const struct sp_nearest *nearest)
{
    return nearest->distance > 0 && is_near(nearest);
}

/* The next character behind marks between words, in lower case. */
static int next_letter(const char **at)
{
    *at += strspn(*at, marks);
    return tolower((unsigned char)(**at ? *(*at)++ : '\0'));
}

/* Whether only the marks between words and the size of letters differ: "seqlen" and "seq_len". */
static bool has_letters_of(const char *name, const char *other)
{
    for (;;) {
        const int letter = next_letter(&name);
        if (letter != next_letter(&other))
            return false;
        if (!letter)
            return true;
    }
}

/* The known name that a misspelling is nearest to. */
struct meant {
    struct sp_nearest nearest;
    bool same_letters;
};

static void offer(struct meant *meant, const char *name)
{
    const bool same = has_letters_of(meant->nearest.wanted, name);
    if (meant->same_letters || !(same || has_words_of(meant->nearest.wanted, name)))
        return;
    if (same)
        meant->nearest.best[0] = '\0';
    meant->same_letters = same;
    sp_nearest_offer(&meant->nearest, name);
}

bool sp_refuse_misspelt(const struct sp_settings *settings, const char *name, int line)
{
    char place[128];
    struct meant meant = {.nearest = {.wanted = name}};
    const struct sp_launch_words *const words = settings->words;
    for (int64_t i = 0; words && i < words->options.rows.n; i++) {
        const struct sp_launch_row *const row = &words->options.row[i];
        if (!row->note[0])
            offer(&meant, row->name);
    }
    for (int i = 0; i < settings->n_absent; i++)
        offer(&meant, settings->absent[i]);
    for (int i = 0; i < settings->n; i++)
        if (settings->at[i].needed)
            offer(&meant, settings->at[i].name);
    if (strcmp(meant.nearest.best, name) == 0 || !(meant.same_letters || is_near(&meant.nearest)))
        return false;
    sp_put_place(settings, line, place, sizeof place);
    sp_fail(settings->error, SP_INPUT, "%s: unknown option %s%s", place, sp_safe(name),
            sp_nearest_hint(&meant.nearest));
    return true;
}

/* A flag is harmless only if a list contains it; all others are named, so that a framework's new
 * argument is noticed. */
void sp_note_unread(struct sp_settings *settings, const char *prefix, const char *quiet)
{
    char list[160] = "";
    const size_t skip = strlen(prefix);
    for (int i = 0; i < settings->n; i++) {
        struct sp_setting *const setting = &settings->at[i];
        char option[sizeof settings->launch->unread->option];
        if (setting->read || strncmp(setting->name, prefix, skip) != 0)
            continue;
        const char *const name = setting->name + skip;
        sp_core_option(settings->core, name, setting->value, option, sizeof option);
        if (sp_is_quiet(quiet, name) || (setting->usual && !option[0]) ||
            sp_refuse_misspelt(settings, setting->name, setting->line))
            continue;
        if (option[0])
            sp_add_unread(settings->launch, option, setting->name, setting->value, setting->line);
        sp_peek_setting(settings, setting->name); /* once */
        const size_t used = strlen(list);
        if (used + strlen(setting->name) + 3 > sizeof list) {
            sp_launch_note(settings, "not read: %s", list);
            list[0] = '\0';
        }
        sp_append(list, sizeof list, "%s%s", list[0] ? ", " : "", sp_safe(setting->name));
    }
    if (list[0])
        sp_launch_note(settings, "not read: %s", list);
}
