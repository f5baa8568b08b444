/* The plans of a search by memory and step time, and which of them no other beats. */
#include "pictures/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "pictures/pictures.h"
#include "pictures/report_data.h"

/* Beyond this share of the largest memory an axis from 0 leaves most of the picture empty. */
#define EMPTY 0.4

enum { MOST_MACHINES = 16 };

struct drawing {
    const char *hw;
    const struct sp_report *report;
    struct sp_pareto_point *plans;
    size_t n;
    const char *machine[MOST_MACHINES];
    size_t machines;
    struct sp_limit limit[MOST_MACHINES];
    size_t limits;
};

static void add_point(struct drawing *d, const char *list, size_t i, enum sp_quantity_id memory,
                      enum sp_quantity_id step, size_t group)
{
    struct sp_pareto_point *const p = &d->plans[d->n++];
    *p = (struct sp_pareto_point){.x = sp_listed_number(d->report, list, i, memory),
                                  .y = sp_listed_number(d->report, list, i, step),
                                  .group = group};
    snprintf(p->name, sizeof p->name, "%s", sp_listed_text(d->report, list, i, SP_Q_SEARCH_NAME));
}

/* How many entries of a list have a name. */
static size_t length_of(const struct sp_report *r, const char *list, enum sp_quantity_id name)
{
    size_t n = 0;
    while (*sp_listed_text(r, list, n, name))
        n++;
    return n;
}

/* Most memory for a plan on its machine in the search: --max-memory, or the capacity without the
 * headroom; machines with the same limit share a line that names them. */
static void add_limit(struct drawing *d, size_t machine)
{
    const double at = sp_listed_number(d->report, "machines", machine, SP_Q_SEARCH_M_LIMIT);
    size_t k = 0;
    while (k < d->limits && d->limit[k].at != at)
        k++;
    char *const text = d->limit[k].text;
    const size_t room = sizeof d->limit[k].text;
    if (k == d->limits) {
        d->limit[d->limits++].at = at;
        snprintf(text, room, d->machines > 1 ? "limit %s of %.24s" : "limit %s",
                 sp_human_text(at, SP_BYTES), d->machine[machine]);
    } else {
        sp_append(text, room, ", %.24s", d->machine[machine]);
    }
}

/* The points of every machine; the plans of the list if there is one. */
static void read_points(struct drawing *d)
{
    const size_t listed = length_of(d->report, "plans", SP_Q_SEARCH_NAME);
    char list[64];
    size_t room = listed;
    d->machines = length_of(d->report, "machines", SP_Q_SEARCH_M_NAME);
    if (d->machines > MOST_MACHINES)
        d->machines = MOST_MACHINES;
    for (size_t m = 0; m < d->machines; m++) {
        d->machine[m] = sp_listed_text(d->report, "machines", m, SP_Q_SEARCH_M_NAME);
        snprintf(list, sizeof list, "machines.%zu.plans", m);
        room += length_of(d->report, list, SP_Q_SEARCH_NAME);
    }
    d->plans = sp_must(calloc(room + 1, sizeof *d->plans));
    for (size_t i = 0; i < listed && d->machines == 1; i++)
        add_point(d, "plans", i, SP_Q_STEP_M_DEVICE, SP_Q_STEP_T_STEP, 0);
    for (size_t m = 0; m < d->machines; m++) {
        snprintf(list, sizeof list, "machines.%zu.plans", m);
        const size_t n = length_of(d->report, list, SP_Q_SEARCH_NAME);
        for (size_t i = 0; i < n && d->machines > 1; i++)
            add_point(d, list, i, SP_Q_SEARCH_M_MEMORY, SP_Q_SEARCH_M_STEP, m);
        add_limit(d, m);
    }
}

/* Plans of all machines, each machine with its own look and limit: those of the winner alone
 * would compare nothing. */
static struct sp_figure *draw(const struct drawing *d)
{
    const bool several = d->machines > 1;
    double fastest = INFINITY, slowest = 0, smallest = INFINITY, largest = 0;
    for (size_t i = 0; i < d->n; i++) {
        fastest = fmin(fastest, d->plans[i].y);
        slowest = fmax(slowest, d->plans[i].y);
        smallest = fmin(smallest, d->plans[i].x);
        largest = fmax(largest, d->plans[i].x);
    }
    struct sp_figure *const figure = sp_figure_new(
        "%.40s on %.60s: %s plans of %s", sp_listed_text(d->report, "plans", 0, SP_Q_STEP_MODEL),
        d->hw, sp_human_text((double)d->n, SP_COUNT),
        sp_human_text(sp_report_number(d->report, SP_Q_SEARCH_TOTAL), SP_COUNT));
    struct sp_plot_axis time = sp_make_axis("time of a step", "s", slowest > 3 * fastest);
    struct sp_plot_axis memory = sp_make_axis("memory of a device", "B", false);
    time.floating = true;
    memory.floating = smallest > EMPTY * largest;
    sp_draw_pareto(figure,
                   &(struct sp_pareto){.title = "",
                                       .x = memory,
                                       .y = time,
                                       .front_name = several ? "no other plan is better in both"
                                                             : "no other listed plan is better in "
                                                               "both",
                                       .rest_name = "other listed plans",
                                       .groups = d->machine,
                                       .n_groups = d->machines,
                                       .candidates = d->plans,
                                       .n_candidates = d->n,
                                       .limits = d->limit,
                                       .n_limits = d->limits});
    return figure;
}

struct sp_figure *sp_draw_search(const struct sp_report *report, const char *hw,
                                 struct sp_error *error)
{
    struct drawing d = {.hw = hw, .report = report};
    struct sp_figure *figure = NULL;
    read_points(&d);
    sp_mark_front(d.plans, d.n);
    if (d.n > 0)
        figure = draw(&d);
    else
        sp_fail(error, SP_INPUT, "--plot: no plan in the answer to draw");
    free(d.plans);
    return figure;
}
