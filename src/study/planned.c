/* A plan with all that its estimate is computed from. */
#include "study/planned.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/names.h>

#include "base/list.h"

struct sp_step_inputs sp_inputs_of(const struct sp_planned *p)
{
    return (struct sp_step_inputs){&p->model,   &p->hw,  &p->precision, &p->framework.framework,
                                   &p->profile, &p->plan};
}

/* Whether a comma-separated list has the word; an empty list has all. */
static bool lists(const char *list, const char *word)
{
    return list[0] == '\0' || sp_is_listed(list, word, '\0');
}

struct sp_repertoire sp_repertoire_of(const struct sp_planned *p, bool any)
{
    static const struct sp_framework_file anything = {.offload = true, .can_overlap_moe = true};
    const struct sp_framework_file *const f = any ? &anything : &p->framework;
    struct sp_repertoire runs = {.pipelines = strcmp(f->schedules, "none") != 0,
                                 .offload = f->offload && p->hw.chip.pcie_bytes_per_s > 0};
    for (int i = 0; i < SP_SCHEDULES; i++)
        runs.schedule[i] = lists(f->schedules, sp_schedule_names[i]);
    for (int i = 0; i < SP_POLICIES; i++)
        runs.policy[i] = lists(f->recompute, sp_policy_names[i]);
    for (int i = 0; i < 4; i++)
        runs.zero[i] = lists(f->zero, sp_zero_names[i]);
    for (int i = 0; i < SP_DISPATCHES; i++) /* copies that are spread inside a node take switches */
        runs.dispatch[i] = lists(f->dispatchers, sp_dispatch_names[i]) &&
                           (p->hw.network.kind == SP_SWITCHED || i == SP_DISPATCH_ALLTOALL ||
                            i == SP_DISPATCH_ALLGATHER);
    runs.moe_overlap = f->can_overlap_moe;
    return runs;
}

void sp_estimate_planned(const struct sp_planned *p, enum sp_flop_convention convention,
                         struct sp_estimate *e)
{
    const struct sp_step_inputs in = sp_inputs_of(p);
    const int64_t n = sp_tasks_of_plan(&p->plan);
    struct sp_task *const tasks = n > 0 ? calloc((size_t)n, sizeof *tasks) : NULL;
    if (n > 0 && !tasks)
        abort();
    sp_estimate(&in, convention, tasks, e);
    free(tasks);
}
