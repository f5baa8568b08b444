/* Identifies the framework of a row. */
#include <string.h>

#include "base/list.h"

#include "runs/runs_internal.h"

static bool has_mark(const struct sp_row_reader *r, const char *mark)
{
    static const char *const columns[] = {"framework", "software", "source_title", "source_ref",
                                          "zero"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (sp_has_words(sp_row_text(r, columns[i]), mark))
            return true;
    return false;
}

/* The framework whose name or alias is in the `framework` column; NULL: none. */
static const struct sp_framework_file *named_framework(const struct sp_row_reader *r)
{
    struct sp_framework_file named;
    struct sp_error error = {0};
    char name[64];
    sp_run_slug(sp_row_text(r, "framework"), name, sizeof name);
    if (!name[0] || !sp_config_exists(SP_FRAMEWORKS, name, r->sources) ||
        !sp_load_framework(name, r->sources, &named, &error))
        return NULL;
    for (size_t i = 0; i < r->n_frameworks; i++)
        if (strcmp(r->frameworks[i].framework.name, named.framework.name) == 0)
            return &r->frameworks[i];
    return NULL;
}

/* The framework with the longest mark among the words of the row; NULL: none. */
static const struct sp_framework_file *marked_framework(const struct sp_row_reader *r)
{
    const struct sp_framework_file *best = NULL;
    size_t longest = 0;
    char item[sizeof best->marks];
    for (size_t i = 0; i < r->n_frameworks; i++) {
        const char *marks = r->frameworks[i].marks;
        while (sp_next_item(&marks, item, sizeof item)) {
            const char *const mark = item + strspn(item, " ");
            if (strlen(mark) > longest && has_mark(r, mark)) {
                longest = strlen(mark);
                best = &r->frameworks[i];
            }
        }
    }
    return best;
}

/* The framework assumed for runs that name none. */
static const struct sp_framework_file *serving_framework(struct sp_row_reader *r)
{
    const bool torus = r->run->hw.network.kind == SP_TORUS;
    const char *const serves = torus ? "tpu" : sp_row_zero(r, 0) == 3 ? "zero3" : "gpu";
    for (size_t i = 0; i < r->n_frameworks; i++)
        if (strcmp(r->frameworks[i].serves, serves) == 0)
            return &r->frameworks[i];
    return NULL;
}

/* Frameworks are distinguished by version where their code differed: megatron is today's
 * Megatron-Core, megatron-2022 that of Narayanan and Korthikanti (unfused attention). Default:
 * NeMo. */
void sp_read_row_framework(struct sp_row_reader *r)
{
    struct sp_run *const run = r->run;
    const char *const stated = sp_row_text(r, "framework");
    const struct sp_framework_file *found = named_framework(r);
    if (!found)
        found = marked_framework(r);
    if (!found && stated[0] != '\0') {
        sp_row_problem(run, "framework \"%s\" is not known", sp_safe(stated));
        return;
    }
    if (!found)
        found = serving_framework(r);
    if (!found) {
        sp_row_problem(run, "no framework applies to it");
        return;
    }
    run->framework = *found;
    struct sp_precision *const known = &r->loaded->precision[found - r->frameworks];
    if (known->name[0] != '\0' ||
        sp_load_precision(found->framework.precision, r->sources, known, r->error))
        run->precision = *known;
}
