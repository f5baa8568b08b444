/* The answer of every scaling law to a budget. */
#include "study/laws.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct laws {
    struct sp_scaling_run budget;
    struct sp_sources sources;
    struct sp_law_answer *answers;
    size_t n, room;
};

/* A user's law hides the built-in one of the same name. */
static bool is_new(const struct laws *laws, const char *name)
{
    for (size_t i = 0; i < laws->n; i++)
        if (strcmp(laws->answers[i].name, name) == 0)
            return false;
    return true;
}

static void add_law(const char *name, void *context)
{
    struct laws *const laws = context;
    struct sp_scaling_law law;
    struct sp_error ignored = {0};
    /* names become keys, which a dot would split */
    if (laws->n == laws->room || strlen(name) > 60 || strchr(name, '.') || !is_new(laws, name) ||
        !sp_load_law(name, &laws->sources, &law, &ignored))
        return;
    struct sp_law_answer *const answer = &laws->answers[laws->n++];
    snprintf(answer->name, sizeof answer->name, "%s", sp_safe(name));
    answer->best = sp_scaling_solve(&law, &laws->budget);
}

size_t sp_laws_at(double flops, const struct sp_sources *sources, struct sp_law_answer *answers,
                  size_t room)
{
    struct laws laws = {
        .budget = {flops, NAN, NAN, NAN}, .sources = *sources, .answers = answers, .room = room};
    laws.sources.n_sets = 0;
    sp_each_config(SP_LAWS, sources, add_law, &laws);
    return laws.n;
}
