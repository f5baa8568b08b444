/* A service: what a chip generates against what a user sees at its points, and over the batch of
 * the instance a step and the roofline of its tokens. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands/plot_data.h"
#include "commands/serve.h"

/* A kind of instance: its machine where there are several, chips and degrees. */
struct kind {
    const char *hw;
    double chips, tp, dp;
};

static struct kind kind_of(const struct sp_report *r, size_t i)
{
    return (struct kind){sp_listed_text(r, "points", i, SP_Q_SERVE_POINT_HW),
                         sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_CHIPS),
                         sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_TP),
                         sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_DP)};
}

static bool same_kind(struct kind a, struct kind b)
{
    return strcmp(a.hw, b.hw) == 0 && a.chips == b.chips && a.dp == b.dp &&
           (a.tp == b.tp || (isnan(a.tp) && isnan(b.tp)));
}

/* The marks of the kind of point `i`, unless an earlier point has drawn them. */
static void add_kind(struct sp_panel *panel, const struct sp_report *r, size_t i, size_t n)
{
    const struct kind kind = kind_of(r, i);
    for (size_t k = 0; k < i; k++)
        if (same_kind(kind_of(r, k), kind))
            return;
    struct sp_series *const s = sp_add_series(
        panel, SP_MARKS, sp_look_of(panel->n_series), "%.40s%s%.0f chips%s%s%s%s", kind.hw,
        *kind.hw ? ", " : "", kind.chips, isnan(kind.tp) ? "" : ", TP ",
        isnan(kind.tp) ? "" : sp_human_text(kind.tp, SP_COUNT), kind.dp > 1 ? ", DP " : "",
        kind.dp > 1 ? sp_human_text(kind.dp, SP_COUNT) : "");
    s->letter = (char)('a' + (char)(panel->n_series % 26));
    for (size_t k = i; k < n; k++)
        if (same_kind(kind_of(r, k), kind))
            sp_add_point(s, sp_listed_number(r, "points", k, SP_Q_SERVE_POINT_USER),
                         sp_listed_number(r, "points", k, SP_Q_SERVE_POINT_DEVICE));
}

static void add_front(struct sp_figure *figure, const struct sp_report *report, size_t n)
{
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("tokens per second of a user", "", true),
                     sp_make_axis("tokens per second of a chip", "", true), "");
    panel->key = SP_KEY_ABOVE;
    panel->height_px = 400;
    for (size_t i = 0; i < n; i++)
        add_kind(panel, report, i, n);
}

/* What is drawn over the batch: reads, arithmetic and the least step, and what the estimate says.
 */
enum curve { CACHE, WEIGHTS, ARITHMETIC, LEAST, ESTIMATE, BETWEEN, CURVES };
static const struct {
    const char *name, *rate;
    enum sp_look look;
    bool dashed;
} curves[CURVES] = {
    [CACHE] = {"cache read", "cache read", SP_SKY, true},
    [WEIGHTS] = {"weights read", "weights read", SP_GREEN, true},
    [ARITHMETIC] = {"arithmetic", "arithmetic", SP_ORANGE, true},
    [LEAST] = {"step at least", "at most", SP_BLACK, false},
    [ESTIMATE] = {"step by the estimate", "by the estimate", SP_BLUE, false},
    [BETWEEN] = {"between tokens", "", SP_VERMILION, false},
};

/* Seconds of a step of B sequences, or tokens per second; NAN: not known, or more than run. */
static double height_of(const struct serve *f, double B, enum curve curve, bool rate)
{
    const struct sp_decode_time t = sp_decode_time(&f->served, B, 1 + f->service.drafts);
    const double least[LEAST + 1] = {t.kv_s, t.weights_s, t.math_s, t.step_s};
    if (curve <= LEAST)
        return rate ? B / least[curve] : least[curve];
    if (!f->instance.estimated || B > fmax(1, sp_most_of_instance(&f->instance)))
        return NAN;
    const struct sp_steady y = sp_state_of(&f->instance, &f->load, B);
    return rate ? y.tokens_per_s : curve == ESTIMATE ? y.step_s : y.tpot_s;
}

/* The batches that are drawn go to twice the largest that fits or is asked for. */
enum { BATCHES = 60 };
static double largest_batch(const struct serve *f)
{
    const double fits = sp_most_of_instance(&f->instance);
    return 2 * fmax(16, fmax(f->B, isfinite(fits) ? fits : sp_critical_batch(&f->served)));
}

static void add_rules(struct sp_panel *panel, const struct serve *f)
{
    const double fits = sp_most_of_instance(&f->instance);
    sp_add_rule(panel, true, f->B, SP_BLACK, "runs %s", sp_human_text(f->B, SP_NUMBER));
    if (isfinite(fits) && fits > 0 && fits != f->B)
        sp_add_rule(panel, true, fits, SP_GREY, "fits %s", sp_human_text(fits, SP_NUMBER));
}

/* Each curve over the batch: seconds, or sequences over seconds. */
static void add_curves(struct sp_panel *panel, const struct serve *f, bool rate)
{
    const double most = largest_batch(f);
    panel->key = SP_KEY_RIGHT;
    panel->height_px = 260;
    for (int c = 0; c < (rate ? BETWEEN : CURVES); c++) {
        struct sp_series *const s = sp_add_series(panel, SP_LINE, curves[c].look, "%s",
                                                  rate ? curves[c].rate : curves[c].name);
        s->dashed = curves[c].dashed;
        s->letter = (char)('a' + c);
        for (int i = 0; i <= BATCHES; i++) {
            const double B = pow(most, (double)i / BATCHES);
            const double height = height_of(f, B, (enum curve)c, rate);
            if (height > 0)
                sp_add_point(s, B, height);
        }
    }
    add_rules(panel, f);
}

static void add_steps(struct sp_figure *figure, const struct serve *f)
{
    add_curves(sp_add_panel(figure, sp_make_axis("sequences of an instance", "", true),
                            sp_make_axis("time of a step", "s", true), "a decode step"),
               f, false);
    add_curves(sp_add_panel(figure, sp_make_axis("sequences of an instance", "", true),
                            sp_make_axis("tokens per second", "", true),
                            "the roofline of its tokens"),
               f, true);
}

/* The service of the options again, with notes into a report that nobody reads. */
static bool read_service(const struct sp_args *args, struct serve *f, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    *f = (struct serve){.args = args, .report = f->report, .textbook = sources.textbook};
    return sp_load_service(f, &sources, error) && sp_load_sequences(f, error);
}

struct sp_figure *sp_plot_serve(const struct sp_args *args, const struct sp_report *report,
                                struct sp_error *error)
{
    size_t n = 0;
    while (!isnan(sp_listed_number(report, "points", n, SP_Q_SERVE_POINT_CHIPS)))
        n++;
    const bool several = strchr(args->value.hw, ',') != NULL;
    struct serve *const f = calloc(1, sizeof *f);
    if (!f)
        abort();
    f->report = sp_report_new("serve");
    const bool steps = !several && read_service(args, f, error) && f->holds_weights;
    struct sp_figure *figure = NULL;
    if (error->lines == 0 && n == 0 && !steps)
        sp_fail(error, SP_INPUT, "--plot: no instance in the answer to draw");
    if (error->lines == 0) {
        const char *const model = sp_report_text(report, SP_Q_SERVE_MODEL);
        figure =
            sp_figure_new("%.60s on %.80s", *model ? model : args->value.model, args->value.hw);
        if (n > 0)
            add_front(figure, report, n);
        if (steps)
            add_steps(figure, f);
    }
    sp_report_free(f->report);
    free(f);
    return figure;
}
