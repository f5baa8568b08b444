/* The whole run that `fit --tokens` asks for: days and cost. */
#include <math.h>

#include <scaleplan/flops.h>
#include <scaleplan/training_run.h>

#include "commands/fit.h"

bool sp_put_fit_run(struct fit *f, const struct sp_args *args, struct sp_error *error)
{
    struct sp_report *r = f->report;
    const double tokens = sp_number_of(args, "tokens");
    const struct sp_hardware *const hw = &f->hw;
    const char *const spec = sp_text_of(args, "hw");
    const struct sp_entry *const mfu = sp_find(r, "best.mfu");
    char words[160];
    if (!sp_price_of(args, hw, spec, &f->price, error) ||
        !sp_check_price(args, &hw, &spec, 1, error))
        return false;
    if (isnan(tokens) || !mfu || mfu->kind != SP_VALUE_NUMBER)
        return true;
    const double seconds =
        sp_run_s(sp_training_flops(f->t.P_active, tokens), f->t.N, f->t.C, mfu->number);
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
