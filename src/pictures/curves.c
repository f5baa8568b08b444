/* Curves over one quantity: rates, scaling, losses, schedules, trends. */
#include "pictures/curves.h"

#include <math.h>

#include <scaleplan/forms.h>

#include "pictures/drawing.h"
#include "pictures/report_data.h"

int sp_add_listed(struct sp_panel *panel, const struct sp_report *report, const char *list,
                  const char *x, const char *y, enum sp_look look, const char *name)
{
    struct sp_series *const line = sp_add_series(panel, SP_LINE, look, "%s", name);
    struct sp_series *const marks = sp_add_series(panel, SP_MARKS, look, "%s", "");
    const bool first = panel->x.n_ticks == 0;
    double at;
    int n = 0;
    for (; !isnan(at = sp_rows_number(report, list, (size_t)n, x)); n++) {
        sp_add_point(line, at, sp_rows_number(report, list, (size_t)n, y));
        sp_add_point(marks, at, sp_rows_number(report, list, (size_t)n, y));
        if (first)
            sp_add_tick(&panel->x, at, "%s", sp_human_text(at, SP_COUNT));
    }
    return n;
}

/* A panel of the usual height, with its key inside or, if wanted, above. */
static struct sp_panel *add_panel(struct sp_figure *figure, struct sp_plot_axis x,
                                  struct sp_plot_axis y, enum sp_key key)
{
    struct sp_panel *const panel = sp_add_panel(figure, x, y, "");
    panel->key = key;
    panel->height_px = 240;
    panel->rows = 16;
    return panel;
}

struct sp_figure *sp_draw_bandwidth(const struct sp_report *report, const char *title,
                                    const struct sp_message *messages, int n)
{
    struct sp_figure *const figure = sp_figure_new("%s", title);
    struct sp_panel *over_devices = NULL;
    char text[SP_PLOT_TEXT];
    snprintf(text, sizeof text, "bytes per second of V = %s",
             sp_human_text(sp_keyed_number(report, "bytes"), SP_BYTES));
    if (!isnan(sp_rows_number(report, "sizes", 0, "devices"))) {
        over_devices = add_panel(figure, sp_make_axis("devices", "", true),
                                 sp_make_axis(text, "B/s", false), SP_KEY_ABOVE);
        over_devices->y.min = 0;
        sp_add_listed(over_devices, report, "sizes", "devices", "bound_bytes_per_s", SP_BLACK,
                      "throughput of the links");
        sp_add_listed(over_devices, report, "sizes", "devices", "reached_bytes_per_s", SP_BLUE,
                      "reached, with rates and waits");
    }
    struct sp_panel *const over_bytes =
        add_panel(figure, sp_make_axis("message V", "B", true),
                  sp_make_axis("bytes of V per second, reached", "B/s", true), SP_KEY_ABOVE);
    const struct sp_message *const last = &messages[n - 1];
    struct sp_series *const node = sp_add_series(over_bytes, SP_LINE, SP_BLUE, "%s devices",
                                                 sp_human_text(last->node, SP_COUNT));
    struct sp_series *const whole = sp_add_series(over_bytes, SP_LINE, SP_ORANGE, "%s devices",
                                                  sp_human_text(last->whole, SP_COUNT));
    whole->dashed = true;
    for (int i = 0; i < n; i++) {
        const struct sp_message *const m = &messages[i];
        sp_add_point(node, m->bytes, sp_effective_bytes_per_s(m->bytes, m->node_s));
        sp_add_point(whole, m->bytes, sp_effective_bytes_per_s(m->bytes, m->whole_s));
    }
    return figure;
}

static struct sp_panel *add_cost(struct sp_figure *figure)
{
    struct sp_panel *const panel = add_panel(figure, sp_make_axis("time of the run", "days", true),
                                             sp_make_axis("cost", "USD", true), SP_KEY_ABOVE);
    panel->height_px = 300;
    return panel;
}

/* A way to a loss, and its kind. */
static void add_way(struct sp_panel *panel, struct sp_series *ways, double days, double usd,
                    double what, const char *unit)
{
    if (!(days > 0 && usd > 0))
        return;
    sp_add_point(ways, days, usd);
    struct sp_label *const label =
        sp_add_label(panel, days, usd, SP_CENTRE, "%s%s",
                     sp_human_text(what, *unit ? SP_TOKENS : SP_COUNT), unit);
    label->beside = label->yields = true;
}

/* Cost against time on each size, where the run's steps and its price are known. */
static void draw_bill(struct sp_figure *figure, const struct sp_report *r, int n)
{
    const double steps = sp_keyed_number(r, "steps"), price = sp_keyed_number(r, "price_usd_per_h");
    if (!(steps > 0 && price > 0))
        return;
    struct sp_panel *const panel = add_cost(figure);
    struct sp_series *const sizes =
        sp_add_series(panel, SP_MARKS, SP_BLUE, "by number of devices, at the ideal step");
    for (int i = 0; i < n; i++) {
        const double devices = sp_rows_number(r, "curve", (size_t)i, "devices"),
                     run_s = steps * sp_rows_number(r, "curve", (size_t)i, "step_s");
        add_way(panel, sizes, sp_days_of_seconds(run_s), sp_cost_usd(devices, run_s, price),
                devices, "");
    }
}

struct sp_figure *sp_draw_strong_scaling(const struct sp_report *report, const char *title)
{
    struct sp_figure *const figure = sp_figure_new("%s", title);
    struct sp_panel *const time = add_panel(figure, sp_make_axis("devices", "", true),
                                            sp_make_axis("ideal step", "s", true), SP_KEY_ABOVE);
    struct sp_series *const linear = sp_add_series(time, SP_LINE, SP_BLACK, "linear");
    linear->dashed = true;
    const int n = sp_add_listed(time, report, "curve", "devices", "step_s", SP_BLUE, "best plan");
    const double least = sp_rows_number(report, "curve", 0, "devices"),
                 most = sp_rows_number(report, "curve", (size_t)n - 1, "devices"),
                 first = sp_rows_number(report, "curve", 0, "step_s");
    sp_add_point(linear, least, first);
    sp_add_point(linear, most, first * least / most);
    /* Amdahl's law, with the part that the largest size does not divide */
    const double serial = sp_rows_number(report, "curve", (size_t)n - 1, "serial_share");
    if (serial > 0) {
        struct sp_series *const law = sp_add_series(time, SP_LINE, SP_VERMILION, "Amdahl");
        law->dashed = true;
        for (int k = 0; ldexp(least, k) <= most; k++)
            sp_add_point(law, ldexp(least, k), first * (serial + ldexp(1 - serial, -k)));
    }
    struct sp_panel *const share = add_panel(figure, sp_make_axis("devices", "", true),
                                             sp_make_axis("efficiency", "", false), SP_NO_KEY);
    share->y.min = 0;
    sp_add_listed(share, report, "curve", "devices", "efficiency", SP_BLUE, "");
    draw_bill(figure, report, n);
    return figure;
}

struct sp_figure *sp_draw_ways(const struct sp_report *report, struct sp_error *error)
{
    static const struct {
        const char *list, *name;
    } lists[] = {{"batches", "batches"}, {"machines", "sizes of the machine"}};
    struct sp_figure *const figure = sp_figure_new("Ways to the loss");
    struct sp_panel *const panel = add_cost(figure);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        struct sp_series *const ways =
            sp_add_series(panel, SP_MARKS, sp_look_of(k), "%s", lists[k].name);
        double days;
        for (size_t i = 0; !isnan(days = sp_rows_number(report, lists[k].list, i, "days")); i++)
            add_way(panel, ways, days, sp_rows_number(report, lists[k].list, i, "cost_usd"),
                    sp_rows_number(report, lists[k].list, i, k == 0 ? "batch_tokens" : "devices"),
                    k == 0 ? " tokens" : "");
    }
    if (panel->n_labels > 0)
        return figure;
    sp_figure_free(figure);
    sp_fail(error, SP_INPUT,
            "--plot draws strong scaling, with --curve, and the ways to a loss, with "
            "--loss and a price");
    return NULL;
}

enum { SAMPLES = 64 };

double sp_spread(double from, double to, int i, int n)
{
    return from * pow(to / from, (double)i / (n - 1));
}

/* Loss over size at one budget, and its least. */
static void add_budget(struct sp_panel *panel, const struct sp_scaling_law *law, double flops,
                       enum sp_look look)
{
    const double best = sp_law_optimal_params(law, flops);
    struct sp_series *const line =
        sp_add_series(panel, SP_LINE, look, "%s", sp_human_text(flops, SP_FLOPS));
    struct sp_series *const mark = sp_add_series(panel, SP_MARKS, look, "%s", "");
    for (int i = 0; i < SAMPLES; i++) {
        const double N = sp_spread(best / 10, best * 10, i, SAMPLES);
        sp_add_point(line, N, sp_law_loss(law, N, sp_tokens_of_budget(flops, N)));
    }
    sp_add_point(mark, best, sp_law_loss(law, best, sp_tokens_of_budget(flops, best)));
}

struct sp_figure *sp_draw_losses(const struct sp_scaling_law *law, const struct sp_scaling_run *run)
{
    struct sp_figure *const figure = sp_figure_new("Loss of %s by the law %.40s",
                                                   sp_human_text(run->flops, SP_FLOPS), law->name);
    struct sp_panel *const iso = add_panel(figure, sp_make_axis("parameters", "", true),
                                           sp_make_axis("loss", "nats", false), SP_KEY_RIGHT);
    static const double budgets[] = {0.01, 0.1, 1, 10, 100};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
        add_budget(iso, law, run->flops * budgets[i], sp_look_of(i));
    iso->y.floating = true;
    struct sp_panel *const over = add_panel(figure, sp_make_axis("budget", "FLOPs", true),
                                            sp_make_axis("least loss", "nats", false), SP_NO_KEY);
    struct sp_series *const line = sp_add_series(over, SP_LINE, SP_BLACK, "%s", "");
    struct sp_series *const mark = sp_add_series(over, SP_MARKS, SP_VERMILION, "%s", "");
    for (int i = 0; i < SAMPLES; i++) {
        const double flops = sp_spread(run->flops / 1000, run->flops * 1000, i, SAMPLES),
                     N = sp_law_optimal_params(law, flops);
        sp_add_point(line, flops, sp_law_loss(law, N, sp_tokens_of_budget(flops, N)));
    }
    sp_add_point(mark, run->flops, run->loss);
    sp_add_label(over, run->flops, run->loss, SP_LEFT, "this run: %s",
                 sp_human_text(run->loss, SP_NUMBER))
        ->beside = true;
    over->y.floating = true;
    return figure;
}

struct sp_figure *sp_draw_lr(const struct sp_lr_schedule *p, double step)
{
    struct sp_figure *const figure = sp_figure_new("Learning rate: warmup of %s steps to %s",
                                                   sp_human_text(p->warmup_steps, SP_NUMBER),
                                                   sp_human_text(p->peak_lr, SP_NUMBER));
    struct sp_panel *const panel = add_panel(figure, sp_make_axis("step", "", false),
                                             sp_make_axis("learning rate", "", false), SP_NO_KEY);
    struct sp_series *const line = sp_add_series(panel, SP_LINE, SP_BLUE, "%s", "");
    const double end = fmax(isnan(p->total_steps) ? 2 * p->warmup_steps : p->total_steps,
                            isnan(step) ? 1 : step),
                 after = (end - p->warmup_steps) / SAMPLES;
    sp_add_point(line, 0, sp_lr_at(p, 0));
    for (int i = 0; i <= SAMPLES; i++)
        sp_add_point(line, p->warmup_steps + after * i, sp_lr_at(p, p->warmup_steps + after * i));
    panel->x.min = panel->y.min = 0;
    if (isnan(step))
        return figure;
    sp_add_point(sp_add_series(panel, SP_DROPS, SP_VERMILION, "%s", ""), step, sp_lr_at(p, step));
    sp_add_label(panel, step, sp_lr_at(p, step), SP_LEFT, "step %s: %s",
                 sp_human_text(step, SP_NUMBER), sp_human_text(sp_lr_at(p, step), SP_NUMBER))
        ->beside = true;
    return figure;
}

struct sp_figure *sp_draw_trend(const struct sp_trend *t)
{
    struct sp_figure *const figure = sp_figure_new("%.60s: %s times a year", t->name,
                                                   sp_human_text(sp_trend_growth(t), SP_NUMBER));
    struct sp_panel *const panel = add_panel(figure, sp_make_axis("year", "", false),
                                             sp_make_axis(t->unit, "", true), SP_KEY_ABOVE);
    struct sp_series *const line = sp_add_series(panel, SP_LINE, SP_ORANGE, "published growth");
    struct sp_series *const marks = sp_add_series(panel, SP_MARKS, SP_BLUE, "points");
    double year = 0, level = 0, from = INFINITY, to = -INFINITY;
    for (int i = 0; i < t->points; i++) {
        const struct sp_trend_point *const p = &t->point[i];
        sp_add_point(marks, p->year, p->value);
        year += p->year / t->points;
        level += log(p->value) / t->points;
        from = fmin(from, p->year);
        to = fmax(to, p->year);
    }
    for (int i = 0; i < t->points; i++) {
        /* on the side of the line if there is nothing else */
        const struct sp_trend_point *const p = &t->point[i];
        const bool above = p->value > exp(level) * sp_trend_between(t, year, p->year);
        sp_add_label(panel, p->year, p->value, above ? SP_RIGHT : SP_LEFT, "%s", p->name);
        panel->labels[i].beside = panel->labels[i].yields = true;
        panel->labels[i].below = !above;
    }
    line->dashed = true;
    sp_add_point(line, from, exp(level) * sp_trend_between(t, year, from));
    sp_add_point(line, to, exp(level) * sp_trend_between(t, year, to));
    panel->x.floating = true;
    panel->x.min = floor(from - (to - from) / 8);
    panel->x.max = ceil(to + (to - from) / 8);
    panel->height_px = 400;
    return figure;
}
