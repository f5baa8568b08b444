/* calibrate: the constants that a fit found, and the profile as a file. */
#include "commands/calibrate_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "runs/profile_file.h"

static void add_name(char *names, size_t size, const char *name)
{
    const size_t used = strlen(names);
    snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
}

static void put_names(struct sp_report *r, enum sp_quantity_id id, const char *names)
{
    if (names[0] != '\0')
        sp_put_text(r, id, "%s", names);
    else
        sp_put_null(r, id);
}

void sp_put_fitted_constants(struct sp_report *r, const struct sp_profile *before,
                             const struct sp_profile *after)
{
    struct sp_row rows[SP_PROFILE_ROOM] = {0};
    const struct sp_constant_list constants = sp_constants_of(after);
    static const struct sp_column columns[] = {
        {NULL, "constant", true},     {"before", "before", false},
        {"after", "after", false},    {"determined", "determined", false},
        {"low", "from", false},       {"high", "to", false},
        {"meaning", "meaning", true},
    };
    char undetermined[256] = "", at_bound[256] = "";
    for (int i = 0; i < constants.n; i++) {
        const struct sp_constant_info *const info = &constants.of[i];
        const bool bound = sp_at_bound(after, i);
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "constants.%s", info->key);
        snprintf(rows[i].label, sizeof rows[i].label, "%s", info->key);
        sp_scope(r, rows[i].prefix);
        sp_put(r, SP_Q_CALIBRATE_C_BEFORE, before->value[i]);
        sp_put(r, SP_Q_CALIBRATE_C_AFTER, after->value[i]);
        sp_put(r, SP_Q_CALIBRATE_C_DETERMINED, after->determined[i]);
        sp_put(r, SP_Q_CALIBRATE_C_LOW, info->low);
        sp_put(r, SP_Q_CALIBRATE_C_HIGH, info->high);
        sp_put_bool(r, SP_Q_CALIBRATE_C_BOUND, bound);
        sp_put_text(r, SP_Q_CALIBRATE_C_MEANING, "%s", info->meaning);
        if (after->determined[i] < 0.2)
            add_name(undetermined, sizeof undetermined, info->key);
        if (bound)
            add_name(at_bound, sizeof at_bound, info->key);
    }
    sp_scope(r, "");
    put_names(r, SP_Q_CALIBRATE_UNDETERMINED, undetermined);
    put_names(r, SP_Q_CALIBRATE_AT_BOUND, at_bound);
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, (size_t)constants.n);
}

/* "dir/my-cluster.json" -> "my-cluster". */
void sp_name_profile(const struct sp_args *args, struct sp_profile *profile)
{
    const char *const name = args->value.name, *const output = args->value.write;
    const char *const path = output && strcmp(output, "-") == 0 ? NULL : output;
    const char *const slash = path ? strrchr(path, '/') : NULL;
    if (name || path)
        snprintf(profile->name, sizeof profile->name, "%s", name ? name : slash ? slash + 1 : path);
    char *const dot = name ? NULL : strrchr(profile->name, '.');
    if (dot && path && strcmp(dot, ".json") == 0)
        *dot = '\0';
}

bool sp_write_profile(const struct sp_args *args, struct sp_report *report,
                      const struct sp_profile *profile, const char *fitted_to, const char *used_by,
                      struct sp_error *error)
{
    const char *const path = args->value.write;
    sp_put_text(report, SP_Q_CALIBRATE_NAME, "%s", profile->name);
    if (!path) {
        sp_put_null(report, SP_Q_CALIBRATE_WRITTEN);
        sp_note(report,
                "nothing is written: -o PROFILE.json writes the profile, which "
                "`%s --profile PROFILE.json` uses",
                used_by);
        return true;
    }
    char *const text = sp_profile_text(profile, fitted_to, args->operands[0]);
    sp_make_printable(text, "\n"); /* names of files are others' text */
    const bool ok = sp_put_file(report, path, text, error);
    free(text);
    if (ok)
        sp_put_text(report, SP_Q_CALIBRATE_WRITTEN, "%s", path);
    return ok;
}
