/* `fit --path`: the questions that lead to a strategy, as text and as a picture. */
#include <math.h>
#include <stdio.h>

#include "commands/fit.h"
#include "commands/plot_data.h"

/* What is asked, and what a yes and a no mean. */
static const struct {
    const char *asks, *yes, *no;
} texts[SP_DECISIONS] = {
    [SP_ASK_ONE_CHIP] = {"does a replica fit on one chip?", "replicas alone may do",
                         "shard the state"},
    [SP_ASK_REPLICAS] = {"does the sum of gradients hide behind the backward pass?", "use DP",
                         "fewer bytes a chip: TP beside shards"},
    [SP_ASK_SHARDS_FIT] = {"does the state fit sharded over all chips?", "FSDP may do",
                           "divide the layers too"},
    [SP_ASK_SHARDS] = {"do the gathers of FSDP hide behind each pass?", "use FSDP",
                       "fewer bytes a chip: TP beside shards"},
    [SP_ASK_TP] = {"do FSDP and TP together fit and keep up?", "use FSDP x TP",
                   "keep the shards together"},
    [SP_ASK_GROUPS] = {"do replicas of groups of shards fit and keep up?", "use HSDP",
                       "divide the layers over stages"},
    [SP_ASK_STAGES] = {"do stages of whole nodes or slices fit and keep up?",
                       "use a pipeline x FSDP", "a larger batch or a faster network"},
};

static void put_why(struct sp_report *r, const struct fit *f, const struct sp_decision *d)
{
    const struct sp_strategy *const s = &d->strategy;
    if (!s->exists)
        sp_put_text(r, SP_Q_FIT_PATH_WHY, "has no meaning on this machine");
    else if (d->memory || !s->fits)
        sp_put_text(r, SP_Q_FIT_PATH_WHY, "%s of %s a chip",
                    sp_human_text(s->memory_bytes, SP_BYTES),
                    sp_human_text(f->t.capacity_bytes, SP_BYTES));
    else
        sp_put_text(r, SP_Q_FIT_PATH_WHY, "comms/math %s",
                    sp_human_text(s->comms_over_math, SP_NUMBER));
}

void sp_put_path(const struct fit *f)
{
    static const struct sp_column columns[] = {{"question", "path", true},
                                               {"yes", "answer", false},
                                               {"why", "why", true},
                                               {"then", "then", true}};
    struct sp_decision path[SP_DECISIONS];
    struct sp_row rows[SP_DECISIONS] = {0};
    struct sp_report *const r = f->report;
    const int n = sp_fit_path(&f->in, &f->t, path);
    for (int i = 0; i < n; i++) {
        const struct sp_decision *const d = &path[i];
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "path.%d", i);
        sp_scope(r, rows[i].prefix);
        sp_put_text(r, SP_Q_FIT_PATH_ASKS, "%s", texts[d->kind].asks);
        sp_put_bool(r, SP_Q_FIT_PATH_YES, d->yes);
        put_why(r, f, d);
        sp_put_text(r, SP_Q_FIT_PATH_THEN, "%s", d->yes ? texts[d->kind].yes : texts[d->kind].no);
    }
    sp_scope(r, "");
    if (path[n - 1].ends)
        sp_put_text(r, SP_Q_FIT_PATH_END, "%s", sp_strategy_names[path[n - 1].strategy.kind]);
    else
        sp_put_null(r, SP_Q_FIT_PATH_END);
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, (size_t)n);
}

/* A box a question from the top down, with its numbers; what it leads to stands beside it. */
static void draw_question(struct sp_panel *panel, const struct sp_report *r, size_t i, double y)
{
    const bool yes = sp_listed_number(r, "path", i, SP_Q_FIT_PATH_YES) > 0;
    struct sp_series *const box =
        sp_add_series(panel, SP_HOLLOW, yes ? SP_GREEN : SP_VERMILION, "%s", "");
    sp_add_box(box, 0, 6, y + 0.1, y + 0.9);
    sp_add_label(panel, 0.1, y + 0.65, SP_LEFT, "%s",
                 sp_listed_text(r, "path", i, SP_Q_FIT_PATH_ASKS));
    sp_add_label(panel, 0.1, y + 0.32, SP_LEFT, "%s: %s", yes ? "yes" : "no",
                 sp_listed_text(r, "path", i, SP_Q_FIT_PATH_WHY));
    sp_add_label(panel, 6.3, y + 0.5, SP_LEFT, "%s",
                 sp_listed_text(r, "path", i, SP_Q_FIT_PATH_THEN));
}

struct sp_figure *sp_plot_path(const struct sp_args *args, const struct sp_report *report,
                               struct sp_error *error)
{
    (void)args;
    (void)error;
    struct sp_figure *const figure = sp_figure_new(
        "From %.40s on %s x %.24s to a strategy", sp_report_text(report, SP_Q_FIT_MODEL),
        sp_human_text(sp_report_number(report, SP_Q_FIT_CHIPS), SP_COUNT),
        sp_report_text(report, SP_Q_FIT_HARDWARE));
    struct sp_plot_axis x = sp_make_axis("", "", false), y = sp_make_axis("", "", false);
    size_t n = 0;
    while (!isnan(sp_listed_number(report, "path", n, SP_Q_FIT_PATH_YES)))
        n++;
    for (size_t i = 0; i < n; i++)
        sp_add_tick(&y, (double)(n - 1 - i) + 0.5, "%zu", i + 1);
    sp_add_tick(&x, 0, "question");
    sp_add_tick(&x, 6.2, "then");
    struct sp_panel *const panel = sp_add_panel(figure, x, y, "");
    for (size_t i = 0; i < n; i++)
        draw_question(panel, report, i, (double)(n - 1 - i));
    panel->x.min = -0.1;
    panel->x.max = 10;
    panel->y.min = 0;
    panel->y.max = (double)n;
    panel->height_px = 60 * (double)n;
    panel->rows = 3 * (int)n;
    return figure;
}
