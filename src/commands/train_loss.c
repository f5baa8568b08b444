/* `train --loss`, `--law`: the loss that a run ends at, and how soon and for how much one is
 * reached. */
#include <math.h>
#include <stdio.h>

#include <scaleplan/training.h>

#include "commands/train.h"

enum { POINTS = 40, SECONDS_A_DAY = 86400, SECONDS_AN_HOUR = 3600 };

/* The noise scale: given, else the critical batch of the loss. */
static double noise_at(const struct train *f, double loss)
{
    return isnan(f->noise) ? sp_critical_batch_of_loss(loss) : f->noise;
}

bool sp_read_loss(struct train *f, const struct sp_sources *sources, struct sp_error *error)
{
    const struct sp_args *const args = f->args;
    f->target = args->value.loss;
    f->noise = args->value.noise_scale;
    f->has_law = !isnan(f->target) || args->given.law || !isnan(f->noise);
    if (!f->has_law)
        return true;
    if (!f->has_model)
        return sp_fail(error, SP_USAGE, "a loss needs the model (--model or --params)");
    if (!sp_load_law(args->value.law, sources, &f->law, error))
        return false;
    f->law_params = sp_params_of_law(&f->law, &f->model);
    if (isnan(f->target))
        return true;
    const double least = sp_law_tokens_for_loss(&f->law, f->law_params, f->target);
    if (isnan(least))
        return sp_fail(error, SP_INPUT, "--loss %g: no number of tokens reaches it by the law %s",
                       f->target, sp_safe(f->law.name));
    if (isnan(f->flops) && isnan(f->tokens))
        f->tokens = least * sp_tokens_over_min(f->batch, noise_at(f, f->target));
    return true;
}

static void put_point(struct sp_report *r, const struct sp_loss_point *p, double usd_per_h)
{
    sp_put(r, SP_Q_TRAIN_DEVICES_CURVE, (double)p->chips);
    sp_put(r, SP_Q_TRAIN_LOSS_BATCH, p->batch);
    sp_put(r, SP_Q_TRAIN_LOSS_TOKENS, p->tokens);
    sp_put(r, SP_Q_TRAIN_LOSS_STEPS, p->steps);
    sp_put(r, SP_Q_TRAIN_LOSS_STEP, p->step_s);
    sp_put(r, SP_Q_TRAIN_LOSS_DAYS, p->seconds / SECONDS_A_DAY);
    sp_put(r, SP_Q_TRAIN_LOSS_COST, (double)p->chips * p->seconds / SECONDS_AN_HOUR * usd_per_h);
    sp_put_bool(r, SP_Q_TRAIN_LOSS_FITS, p->fits);
}

/* A list of points with the one that is marked, "soonest" or "cheapest". */
static void put_points(const struct train *f, const struct sp_loss_point *points, int n,
                       const char *list, int marked, const char *mark, double usd_per_h)
{
    static const struct sp_column columns[] = {{NULL, "", true},
                                               {"devices", "devices", false},
                                               {"batch_tokens", "batch", false},
                                               {"tokens", "tokens", false},
                                               {"steps", "steps", false},
                                               {"step_s", "step", false},
                                               {"days", "days", false},
                                               {"cost_usd", "cost", false},
                                               {"fits", "fits", false}};
    struct sp_row rows[POINTS] = {0};
    struct sp_report *const r = f->report;
    for (int i = 0; i < n; i++) {
        snprintf(rows[i].label, sizeof rows[i].label, "%s", i == marked ? mark : "");
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "%s.%d", list, i);
        sp_scope(r, rows[i].prefix);
        put_point(r, &points[i], usd_per_h);
    }
    if (marked >= 0) {
        sp_scope(r, mark);
        put_point(r, &points[marked], usd_per_h);
    }
    sp_scope(r, "");
    sp_line(r, " ");
    sp_table(r, columns, sizeof columns / sizeof *columns, rows, (size_t)n);
}

static bool put_ways(const struct train *f, const struct sp_sources *sources,
                     struct sp_error *error)
{
    struct sp_loss_point points[POINTS];
    struct sp_framework_pair frameworks;
    struct sp_price paid;
    struct sp_fit_input in = {.model = &f->model,
                              .hw = &f->hw,
                              .precision = &f->precision,
                              .seq = f->seq,
                              .remat = SP_REMATS,
                              .exact_groups = !sources->textbook};
    if (!sp_fit_frameworks_of(sources, &frameworks, &in, error) ||
        !sp_price_of(f->args, &f->hw, f->args->value.hw, &paid, error))
        return false;
    const struct sp_loss_question question = {
        .fit = &in,
        .mfu = f->mfu,
        .least_tokens = sp_law_tokens_for_loss(&f->law, f->law_params, f->target),
        .noise = noise_at(f, f->target)};
    int n = sp_batches_to_loss(&question, points, POINTS);
    put_points(f, points, n, "batches", sp_soonest(points, n), "soonest", paid.usd_per_h);
    n = sp_machines_to_loss(&question, points, POINTS);
    put_points(f, points, n, "machines", sp_cheapest(points, n), "cheapest", paid.usd_per_h);
    return true;
}

bool sp_put_loss(const struct train *f, const struct sp_sources *sources, struct sp_error *error)
{
    struct sp_report *const r = f->report;
    if (!f->has_law)
        return true;
    const double plain = sp_law_loss(&f->law, f->law_params, f->tokens);
    const double noise = noise_at(f, isnan(f->target) ? plain : f->target);
    const double useful = f->tokens / sp_tokens_over_min(f->batch, noise);
    sp_symbol(r, "noise", noise, "tokens", "gradient noise scale");
    sp_put_text(r, SP_Q_TRAIN_LAW, "%s", f->law.name);
    sp_put(r, SP_Q_TRAIN_NOISE, noise);
    sp_put(r, SP_Q_TRAIN_USEFUL, useful);
    sp_put(r, SP_Q_TRAIN_LOSS, sp_law_loss(&f->law, f->law_params, useful));
    sp_line(r,
            "loss         {loss.end} nats at the end (%s, --law): in batches of {batch_tokens} the "
            "{tokens} tokens do the work of {loss.useful_tokens} (noise scale "
            "{loss.noise_tokens}, %s)",
            f->law.name,
            isnan(f->noise) ? "the critical batch of the loss; --noise-scale" : "--noise-scale");
    if (isnan(f->target))
        return true;
    if (!f->has_hw || isnan(f->C))
        return sp_fail(error, SP_USAGE, "--loss needs a machine: --hw");
    return put_ways(f, sources, error);
}
