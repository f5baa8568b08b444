/* The plans of a search by memory and step time, and which of them no other beats. */
#include "commands/plot_data.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LIMITS = 4 };

/* A plan's place, and its name: its machine where there are several, and the degrees that it uses.
 */
static void read_plan(const struct sp_report *r, size_t i, bool names_machine,
                      struct sp_pareto_point *plan)
{
    static const enum sp_quantity_id degrees[] = {SP_Q_STEP_TP, SP_Q_STEP_PP, SP_Q_STEP_VPP,
                                                  SP_Q_STEP_CP, SP_Q_STEP_EP};
    *plan = (struct sp_pareto_point){.x = sp_listed_number(r, "plans", i, SP_Q_STEP_M_DEVICE),
                                     .y = sp_listed_number(r, "plans", i, SP_Q_STEP_T_STEP)};
    if (names_machine)
        snprintf(plan->name, sizeof plan->name, "%.24s-%.0f ",
                 sp_listed_text(r, "plans", i, SP_Q_STEP_MACHINE),
                 sp_listed_number(r, "plans", i, SP_Q_STEP_DEVICES));
    for (size_t k = 0; k < sizeof degrees / sizeof *degrees; k++) {
        const double degree = sp_listed_number(r, "plans", i, degrees[k]);
        const size_t used = strlen(plan->name);
        if (degree > 1)
            snprintf(plan->name + used, sizeof plan->name - used, "%s %.0f ",
                     sp_quantities[degrees[k]].key, degree);
    }
    const size_t used = strlen(plan->name);
    snprintf(plan->name + used, sizeof plan->name - used, "zero %.0f, %.12s",
             sp_listed_number(r, "plans", i, SP_Q_STEP_ZERO),
             sp_listed_text(r, "plans", i, SP_Q_STEP_REMAT));
}

/* What a plan may need on its machine, as the search asked: --max-memory, or the capacity without
 * the headroom. */
static double limit_of(const struct sp_args *args, const struct sp_report *r, size_t i)
{
    const double given = sp_number_of(args, "max-memory");
    return isnan(given) ? sp_listed_number(r, "plans", i, SP_Q_STEP_M_CAPACITY) *
                              (1 - sp_number_of(args, "headroom"))
                        : given;
}

/* The limits of the machines that have a plan here, each with their names. */
static size_t read_limits(const struct sp_args *args, const struct sp_report *r, size_t plans,
                          struct sp_limit limits[MOST_LIMITS])
{
    size_t n = 0;
    for (size_t i = 0; i < plans; i++) {
        const double at = limit_of(args, r, i);
        const char *const name = sp_listed_text(r, "plans", i, SP_Q_STEP_MACHINE);
        size_t k = 0;
        while (k < n && limits[k].at != at)
            k++;
        if (k == MOST_LIMITS)
            continue;
        if (k == n) {
            limits[n++] = (struct sp_limit){.at = at};
            snprintf(limits[k].text, sizeof limits[k].text, "limit %s of %.24s",
                     sp_human_text(at, SP_BYTES), name);
        } else if (!strstr(limits[k].text, name)) {
            const size_t used = strlen(limits[k].text);
            snprintf(limits[k].text + used, sizeof limits[k].text - used, ", %.24s", name);
        }
    }
    return n;
}

struct sp_figure *sp_plot_search(const struct sp_args *args, const struct sp_report *report,
                                 struct sp_error *error)
{
    const double listed = sp_report_number(report, SP_Q_SEARCH_FOUND),
                 most = sp_report_number(report, SP_Q_SEARCH_LIMIT);
    const bool several = *sp_listed_text(report, "machines", 1, SP_Q_SEARCH_M_NAME) != '\0';
    struct sp_limit limits[MOST_LIMITS] = {{.at = most}};
    size_t n_limits = 1;
    if (!(listed > 0)) {
        sp_fail(error, SP_INPUT, "--plot: no plan in the answer to draw");
        return NULL;
    }
    const size_t n = (size_t)listed;
    struct sp_pareto_point *const plans = calloc(n, sizeof *plans);
    if (!plans) {
        sp_fail(error, SP_INTERNAL, "--plot: out of memory");
        return NULL;
    }
    double fastest = INFINITY, slowest = 0;
    for (size_t i = 0; i < n; i++) {
        read_plan(report, i, several, &plans[i]);
        fastest = fmin(fastest, plans[i].y);
        slowest = fmax(slowest, plans[i].y);
    }
    sp_mark_front(plans, n);
    snprintf(limits[0].text, sizeof limits[0].text, "limit %s", sp_human_text(most, SP_BYTES));
    if (several)
        n_limits = read_limits(args, report, n, limits);
    struct sp_figure *const figure = sp_figure_new(
        "%.40s on %.40s: %s plans of %s", sp_listed_text(report, "plans", 0, SP_Q_STEP_MODEL),
        sp_text_of(args, "hw"), sp_human_text(listed, SP_COUNT),
        sp_human_text(sp_report_number(report, SP_Q_SEARCH_TOTAL), SP_COUNT));
    struct sp_plot_axis time = sp_make_axis("time of a step", "s", slowest > 3 * fastest);
    time.floating = true;
    sp_draw_pareto(figure,
                   &(struct sp_pareto){.title = "",
                                       .x = sp_make_axis("memory of a device", "B", false),
                                       .y = time,
                                       .front_name = "no other listed plan is better in both",
                                       .rest_name = "other listed plans",
                                       .candidates = plans,
                                       .n_candidates = n,
                                       .limits = limits,
                                       .n_limits = n_limits});
    free(plans);
    return figure;
}
