/* What turns each no of `fit` into a yes. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/fit.h>
#include <scaleplan/plan.h>

#include "commands/fit.h"

/* The networks, as a reader calls them. */
const char *const sp_link_titles[SP_LINKS] = {
    [SP_LINK_ICI] = "ICI",
    [SP_LINK_ICI_TP] = "ICI (TP axis)",
    [SP_LINK_DOMAIN] = "scale-up network",
    [SP_LINK_SCALEOUT] = "scale-out network",
    [SP_LINK_DCN] = "data-centre network",
};

/* Adds a way out to the list, parted by semicolons. */
__attribute__((format(printf, 3, 4))) static void add_way(char *out, size_t size,
                                                          const char *format, ...)
{
    const size_t used = strlen(out);
    va_list args;
    const int n = used > 0 ? snprintf(out + used, size - used, "; ") : 0;
    va_start(args, format);
    vsnprintf(out + used + n, size - used - (size_t)n, format, args);
    va_end(args);
}

/* What would make it fit. */
static void put_ways_to_fit(const struct fit *f, const struct sp_strategy *s, char *out,
                            size_t size)
{
    struct sp_report *r = f->report;
    const int64_t chips = sp_chips_to_fit(s, &f->in, &f->t);
    const int64_t steps = s->fits ? 0 : sp_accumulation_to_fit(s, &f->in, &f->t);
    const enum sp_remat remat = s->fits ? SP_REMATS : sp_remat_to_fit(s, &f->in, &f->t);
    sp_put(r, SP_Q_FIT_CHIPS_TO_FIT, chips > 0 ? (double)chips : NAN);
    sp_put(r, SP_Q_FIT_ACCUMULATION, steps > 0 ? (double)steps : NAN);
    if (remat < SP_REMATS)
        sp_put_text(r, SP_Q_FIT_REMAT_TO_FIT, "%s", sp_remat_names[remat]);
    else
        sp_put_null(r, SP_Q_FIT_REMAT_TO_FIT);
    if (s->fits)
        return;
    if (remat < SP_REMATS)
        add_way(out, size, "fits with --remat %s", sp_remat_names[remat]);
    if (steps > 0)
        add_way(out, size, "fits with gradient accumulation: --accumulate %lld", (long long)steps);
    if (chips > sp_chips(&f->hw))
        add_way(out, size, "fits on %lld chips", (long long)chips);
    if (!out[0] && (s->dp > 1 || s->kind == SP_DP))
        add_way(out, size, "more replicas do not help: shard the state over all chips (FSDP)");
    else if (!out[0])
        add_way(out, size, "fits on no machine of this kind at this batch");
}

/* Whether the strategy, at its best for that batch, is compute-bound and no longer lacks what it
 * has now. */
static bool keeps_up_at(const struct fit *f, const struct sp_strategy *s, bool real_axes,
                        double batch)
{
    struct sp_fit_input in = f->in;
    in.batch_tokens = batch * (1 + 1e-9);
    const struct sp_fit_terms t = sp_fit_terms(&in);
    const struct sp_strategy then =
        real_axes ? sp_fit_best(&in, &t, 1u << s->kind) : sp_fit_strategy(&in, &t, s->kind);
    return then.exists && then.compute_bound && (then.fits || !s->fits);
}

/* Why a batch that is large enough in one pass is not: `mesh` is what it is enough for. */
static void add_other_mesh(const struct sp_strategy *s, const struct sp_strategy *mesh, char *out,
                           size_t size)
{
    if (s->pp > 1 && s->loads.gathers > 1)
        add_way(out, size,
                "no batch is enough: micro-batches are one sequence, and weights are gathered for "
                "each of %lld",
                (long long)s->microbatches);
    else if (s->loads.gathers > 1)
        add_way(out, size,
                "no batch is enough: more do not fit at once, and weights are gathered for each of "
                "%lld micro-batches; more chips or more TP shrink what they hold",
                (long long)s->microbatches);
    else
        add_way(out, size,
                "compute-bound at this batch with FSDP %lld x TP %lld x PP %lld, which %s",
                (long long)mesh->fsdp, (long long)mesh->tp, (long long)mesh->pp,
                s->fits && !mesh->fits ? "does not fit" : "takes longer");
}

static void add_batch(const struct fit *f, const struct sp_strategy *s, bool real_axes,
                      double batch, const struct sp_strategy *mesh, char *out, size_t size)
{
    if (batch <= f->t.B)
        add_other_mesh(s, mesh, out, size);
    else if (keeps_up_at(f, s, real_axes, batch))
        add_way(out, size, "compute-bound from a batch of %s tokens",
                sp_human_text(batch, SP_TOKENS));
    else
        add_way(out, size, "no batch is enough: %s tokens in one pass would be, and do not fit",
                sp_human_text(batch, SP_TOKENS));
}

static void add_tp_limit(const struct fit *f, char *out, size_t size)
{
    const int64_t chips = sp_chips(&f->hw);
    int64_t degree = sp_usable_tp_degree(&f->t, f->hw.network.domain);
    while (degree > 1 && (chips % degree != 0 || !sp_tp_divides(&f->model, degree, degree)))
        degree--;
    if (degree > 1)
        add_way(out, size, "no batch is enough: use TP up to %lld, and FSDP for the rest",
                (long long)degree);
    else
        add_way(out, size, "no batch is enough, nor any degree: use FSDP");
}

/* What would make it compute-bound. */
static void put_ways_to_keep_up(const struct fit *f, const struct sp_strategy *s, bool real_axes,
                                char *out, size_t size)
{
    struct sp_report *r = f->report;
    struct sp_strategy mesh;
    const double batch = sp_batch_needed_any(&f->in, &f->t, s->kind, real_axes, &mesh);
    const int64_t fed = sp_chips_fed(s, &f->in, &f->t);
    sp_put(r, SP_Q_FIT_BATCH_NEEDED, batch > 0 ? batch : NAN);
    sp_put(r, SP_Q_FIT_CHIPS_FED, fed > 0 ? (double)fed : NAN);
    if (s->compute_bound || (!s->fits && s->loads.gathers > 1))
        return; /* what does not fit has no micro-batch yet whose gathers could be judged */
    if (isfinite(batch))
        add_batch(f, s, real_axes, batch, &mesh, out, size);
    else if (s->kind == SP_TP)
        add_tp_limit(f, out, size);
    else
        add_way(out, size, "no batch is enough: the %s would have to be %s times as fast",
                sp_link_titles[s->binding], sp_human_text(s->comms_over_math, SP_NUMBER));
    if (fed > 0 && fed < sp_chips(&f->hw) && f->t.S <= 1 && s->loads.gathers <= 1 &&
        (s->kind == SP_DP || s->kind == SP_FSDP))
        add_way(out, size, "this batch keeps at most %lld chips busy", (long long)fed);
}

void sp_put_way_out(const struct fit *f, const struct sp_strategy *s, bool real_axes)
{
    char out[512] = "";
    put_ways_to_fit(f, s, out, sizeof out);
    put_ways_to_keep_up(f, s, real_axes, out, sizeof out);
    if (out[0])
        sp_put_text(f->report, SP_Q_FIT_WAY_OUT, "%s", out);
    else
        sp_put_null(f->report, SP_Q_FIT_WAY_OUT);
}
