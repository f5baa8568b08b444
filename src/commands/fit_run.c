/* What `fit` says beside the plan: the whole run (--tokens), and another machine (--against). */
#include <math.h>

#include <scaleplan/flops.h>
#include <scaleplan/training.h>

#include "commands/fit.h"

bool sp_put_fit_run(struct fit *f, const struct sp_args *args, struct sp_error *error)
{
    struct sp_report *r = f->report;
    const double tokens = args->value.tokens;
    const struct sp_hardware *const hw = &f->hw;
    const char *const spec = args->value.hw;
    const struct sp_entry *const mfu = sp_find(r, "best.mfu");
    char words[160];
    if (!sp_price_of(args, hw, spec, &f->price, error) ||
        !sp_check_price(args, &hw, &spec, 1, error))
        return false;
    if (isnan(tokens) || !mfu || mfu->kind != SP_VALUE_NUMBER)
        return true;
    const double seconds = sp_run_s(sp_tuned_flops(&f->model, tokens, f->in.seq, SP_FLOPS_6P),
                                    f->t.N, f->t.C, mfu->number);
    sp_price_text(&f->price, words, sizeof words);
    sp_scope(r, "best");
    sp_symbol(r, "run_tokens", tokens, "tokens", "option --tokens");
    sp_symbol(r, "price", f->price.usd_per_h, "USD/h", "one chip");
    sp_put(r, SP_Q_FIT_RUN_TOKENS, tokens);
    sp_put(r, SP_Q_FIT_DAYS, seconds / 86400);
    sp_put(r, SP_Q_FIT_PRICE, f->price.usd_per_h);
    sp_put(r, SP_Q_FIT_COST, f->t.N * seconds / 3600 * f->price.usd_per_h);
    sp_line(r, "run        {best.tokens} tokens take {best.days} days without failures");
    sp_line(r, "           {best.cost_usd} at a price of a chip-hour of %s", words);
    sp_scope(r, "");
    return true;
}

bool sp_put_against(const struct fit *f, const char *other, const struct sp_sources *sources,
                    struct sp_error *error)
{
    struct sp_report *r = f->report;
    struct sp_hardware hw;
    if (!sp_load_hardware(other, sources, &hw, error))
        return false;
    struct sp_framework_pair frameworks;
    struct sp_fit_input in = f->in;
    in.hw = &hw;
    if (!sp_fit_frameworks_of(sources, &frameworks, &in, error))
        return false;
    const struct sp_fit_terms t = sp_fit_terms(&in);
    const struct sp_strategy best = sp_fit_best(&f->in, &f->t, ~0u),
                             there = sp_fit_best(&in, &t, ~0u);
    const double faster = best.step_with_bubble_s / there.step_with_bubble_s;
    sp_scope(r, "against");
    sp_put_text(r, SP_Q_FIT_HARDWARE, "%s", hw.name);
    sp_symbol(r, "M", t.M, "chips", "chips of one slice of the other machine");
    sp_symbol(r, "S", t.S, "", "its slices");
    sp_put(r, SP_Q_FIT_CHIPS, t.N);
    sp_put_text(r, SP_Q_FIT_BEST_STRATEGY, "%s", sp_strategy_names[there.kind]);
    sp_put_bool(r, SP_Q_FIT_FITS, there.fits);
    sp_put_bool(r, SP_Q_FIT_COMPUTE_BOUND, there.compute_bound);
    sp_put(r, SP_Q_FIT_STEP_THERE, there.step_with_bubble_s);
    sp_put(r, SP_Q_FIT_PEAK_RATIO, t.C / f->t.C);
    sp_put(r, SP_Q_FIT_STEP_RATIO, faster);
    sp_put(r, SP_Q_FIT_CHIP_RATIO, faster * f->t.N / t.N);
    sp_line(r, " ");
    sp_line(r,
            "against    {against.hw}, {against.chips} chips: fits {against.fits}, compute-bound "
            "{against.compute_bound}, ideal step {against.step_s}; {against.step_ratio} times as "
            "fast, {against.chip_ratio} times a chip, {against.peak_ratio} times the peak");
    sp_scope(r, "");
    return true;
}
