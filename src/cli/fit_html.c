/* The page of `fit --report`. */
#include "cli/fit_html.h"

#include <stdio.h>

#include <scaleplan/names.h>

#include "pictures/page.h"

/* The answer in a sentence: the plan of `search`; without one, the closed form's verdict,
 * `said`. */
static void say_verdict(const struct sp_expected *x, const char *said, bool searched, char *out,
                        size_t size)
{
    const struct sp_estimate *const e = x ? &x->estimate : NULL;
    if (e)
        snprintf(out, size, "Yes: %s per step (80 %% range %s), %s of %s per chip",
                 sp_human_text(e->time.step, SP_SECONDS),
                 sp_human_range(e->low_s, e->high_s, SP_SECONDS),
                 sp_human_text((double)e->memory.device, SP_BYTES),
                 sp_human_text(e->capacity_bytes, SP_BYTES));
    else
        snprintf(out, size, "%s%.400s", searched ? "No plan of search fits. By closed forms: " : "",
                 said);
}

bool sp_write_fit_page(const struct sp_args *args, const struct sp_fit_input *in,
                       const struct sp_expected *x, const char *price, bool fits,
                       struct sp_report *report, struct sp_error *error)
{
    static const struct sp_page_fact columns[] = {{"fits", "fits"},
                                                  {"per chip", "device_bytes"},
                                                  {"network keeps up", "compute_bound"},
                                                  {"ideal step", "step_s"},
                                                  {"plan", "plan"},
                                                  {"why not", "reason"}};
    static const struct sp_page_fact ideal[] = {{"replicas (DP)", "dp"},
                                                {"shards (FSDP)", "fsdp"},
                                                {"tensor parallel (TP)", "tp"},
                                                {"pipeline stages (PP)", "pp"},
                                                {"memory per chip", "device_bytes"},
                                                {"ideal step", "step_s"}};
    static const struct sp_page_fact assumed[] = {
        {"precision", "/precision"}, {"constants", "/constants"}, {"overlap", "/overlap"}};
    char title[160], verdict[640];
    const char *const said = sp_find(report, "verdict")->text;
    const bool searched = in->runs && sp_model_has_shape(in->model);
    snprintf(title, sizeof title, "Does %.60s train on %.0f chips of %.60s?", in->model->name,
             (double)sp_chips(in->hw), in->hw->name);
    say_verdict(x, said, searched, verdict, sizeof verdict);
    const struct sp_page page = {
        .title = title,
        .verdict = verdict,
        .yes = searched ? x != NULL : fits,
        .scope = x ? "expected" : "best",
        .plan_title = x ? "The plan that search expects to be fastest" : "The ideal plan",
        .price = price,
        .command = x ? x->command : NULL,
        .facts = x ? sp_plan_facts : ideal,
        .n_facts = x ? sp_n_plan_facts : sizeof ideal / sizeof *ideal,
        .has_time = x != NULL,
        .has_memory = x != NULL,
        .list = {"Ideal steps of the strategies, without overheads", "plans", columns,
                 sizeof columns / sizeof *columns, sp_strategy_names, sp_strategy_titles,
                 SP_STRATEGIES},
        .assumptions = x ? sp_plan_assumptions : assumed,
        .n_assumptions = x ? sp_n_plan_assumptions : sizeof assumed / sizeof *assumed,
    };
    return sp_write_page(report, &page, args->value.report, error);
}
