/* A plan with all inputs of its estimate. */
#include "study/planned.h"

#include <stdlib.h>

#include "config/repertoire.h"

struct sp_step_inputs sp_inputs_of(const struct sp_planned *p)
{
    return (struct sp_step_inputs){&p->model,   &p->hw,  &p->precision, &p->framework.framework,
                                   &p->profile, &p->plan};
}

struct sp_repertoire sp_repertoire_of(const struct sp_planned *p, bool any)
{
    static const struct sp_framework_file anything = {
        .framework = {.copies_kv_heads = true}, .offload = true, .can_overlap_moe = true};
    return sp_framework_repertoire(any ? &anything : &p->framework, &p->hw);
}

void sp_estimate_planned(const struct sp_planned *p, enum sp_flop_convention convention, bool plays,
                         struct sp_estimate *e)
{
    const struct sp_step_inputs in = sp_inputs_of(p);
    const int64_t n = plays ? sp_tasks_of_plan(&p->plan) : 0;
    struct sp_task *const tasks = n > 0 ? calloc((size_t)n, sizeof *tasks) : NULL;
    if (n > 0 && !tasks)
        abort();
    sp_estimate(&in, convention, tasks, e);
    free(tasks);
}
