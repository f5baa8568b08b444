/* serve: the picture of a service. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands/plot_data.h"
#include "commands/serve.h"
#include "pictures/serving.h"
#include "study/serve_curves.h"

/* clang-format off */
static const struct { const char *step, *rate; enum sp_look look; } looks[SP_SERVE_CURVES] = {
    [SP_CURVE_CACHE] = {"cache read", "cache read", SP_SKY},
    [SP_CURVE_WEIGHTS] = {"weights read", "weights read", SP_GREEN},
    [SP_CURVE_ARITHMETIC] = {"arithmetic", "arithmetic", SP_ORANGE},
    [SP_CURVE_LEAST] = {"step at least", "at most", SP_BLACK},
    [SP_CURVE_ESTIMATE] = {"step by the estimate", "by the estimate", SP_BLUE},
    [SP_CURVE_BETWEEN] = {"between tokens", "", SP_VERMILION},
};
/* clang-format on */

/* The service of the options again, with notes into a report that nobody reads. */
static bool read_curves(const struct sp_args *args, struct sp_serve_curves *curves, double *B,
                        struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct serve *const f = calloc(1, sizeof *f);
    if (!f)
        abort();
    *f = (struct serve){
        .args = args, .report = sp_report_new("serve"), .textbook = sources.textbook};
    const bool known =
        sp_load_service(f, &sources, error) && sp_load_sequences(f, error) && f->holds_weights;
    if (known)
        sp_curves_of_service(&f->served, &f->instance, &f->load, f->B, curves);
    *B = f->B;
    sp_report_free(f->report);
    free(f);
    return known;
}

static struct sp_service_mark mark_of(const struct sp_report *r, size_t i)
{
    return (struct sp_service_mark){sp_listed_text(r, "points", i, SP_Q_SERVE_POINT_HW),
                                    sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_CHIPS),
                                    sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_TP),
                                    sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_DP),
                                    sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_USER),
                                    sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_DEVICE)};
}

struct sp_figure *sp_plot_serve(const struct sp_args *args, const struct sp_report *report,
                                struct sp_error *error)
{
    struct sp_service_mark marks[SP_SERVE_POINTS];
    struct sp_serve_curves curves = {.fits = NAN};
    struct sp_service_curve steps[SP_SERVE_CURVES], rates[SP_SERVE_CURVES];
    double B = NAN;
    size_t n = 0;
    while (n < SP_SERVE_POINTS &&
           !isnan(sp_listed_number(report, "points", n, SP_Q_SERVE_POINT_CHIPS))) {
        marks[n] = mark_of(report, n);
        n++;
    }
    const bool over_batch = !strchr(args->value.hw, ',') && read_curves(args, &curves, &B, error);
    if (error->lines == 0 && n == 0 && !over_batch)
        sp_fail(error, SP_INPUT, "--plot: no instance in the answer to draw");
    if (error->lines > 0)
        return NULL;
    for (int c = 0; c < SP_SERVE_CURVES; c++) {
        const bool dashed = c < SP_CURVE_LEAST;
        steps[c] =
            (struct sp_service_curve){looks[c].step, looks[c].look, dashed, curves.seconds[c]};
        rates[c] = (struct sp_service_curve){looks[c].rate, looks[c].look, dashed, curves.rate[c]};
    }
    const struct sp_service_panel panels[] = {
        {"time of a step", "s", "a decode step", steps, SP_SERVE_CURVES},
        {"tokens per second", "", "the roofline of its tokens", rates, SP_CURVE_BETWEEN}};
    const char *const model = sp_report_text(report, SP_Q_SERVE_MODEL);
    return sp_plot_service(&(struct sp_service_picture){.model = *model ? model : args->value.model,
                                                        .hw = args->value.hw,
                                                        .marks = marks,
                                                        .n_marks = n,
                                                        .batch = curves.batch,
                                                        .n_batches = SP_CURVE_BATCHES,
                                                        .panels = panels,
                                                        .n_panels = over_batch ? 2 : 0,
                                                        .runs = B,
                                                        .fits = curves.fits});
}
