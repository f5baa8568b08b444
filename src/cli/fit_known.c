/* Whether a plan of `fit` resembles any known run. */
#include "cli/fit_known.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <scaleplan/search.h>

#include "answer/quantity.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/load.h"

enum { MOST_DOUBLINGS = 24 };

/* The most devices that share a sequence in any known run, on either kind of network. */
static bool most_context(const struct sp_sources *sources, double *most, struct sp_error *error)
{
    static const enum sp_network_kind networks[] = {SP_TORUS, SP_SWITCHED};
    const int before = error->lines;
    *most = 1;
    for (size_t k = 0; k < sizeof networks / sizeof *networks && error->lines == before; k++) {
        size_t n = 0;
        struct sp_place *const places = sp_load_places(networks[k], sources, &n, error);
        for (size_t i = 0; i < n; i++)
            *most = fmax(*most, exp2(places[i].octaves[SP_GROUND_CP]));
        free(places);
    }
    return error->lines == before;
}

static double plan_sequences(const struct sp_fit_input *in, const struct sp_strategy *s)
{
    return sp_replica_sequences(in, s) * (double)(s->dp * s->fsdp) / (double)s->cp;
}

static bool is_other_batch(const struct sp_fit_input *in, const struct sp_strategy *s)
{
    return fabs(plan_sequences(in, s) * in->seq / in->batch_tokens - 1) > SP_SAME_BATCH;
}

/* The first batch, in doublings, whose best plan is usual. */
static double usual_sequences(const struct sp_fit_input *in, unsigned kinds, double most_cp)
{
    struct sp_fit_input larger = *in;
    double sequences = exp2(ceil(log2(fmax(in->batch_tokens / in->seq, 1))));
    for (int i = 0; i < MOST_DOUBLINGS; i++, sequences *= 2) {
        larger.batch_tokens = sequences * in->seq;
        const struct sp_fit_terms t = sp_fit_terms(&larger);
        const struct sp_strategy best = sp_fit_best(&larger, &t, kinds);
        if (best.exists && best.fits && best.runs && (double)best.cp <= most_cp &&
            !is_other_batch(&larger, &best))
            return sequences;
    }
    return NAN;
}

static void put_words(const struct sp_fit_input *in, const struct sp_strategy *best,
                      struct sp_fit_known *out)
{
    if (out->other_batch)
        sp_append(out->reason, sizeof out->reason, "the plan's batch is %s tokens, not %s",
                  sp_human_text(plan_sequences(in, best) * in->seq, SP_TOKENS),
                  sp_human_text(in->batch_tokens, SP_TOKENS));
    if (out->beyond_runs)
        sp_append(out->reason, sizeof out->reason,
                  "%s%.0f devices share a sequence, %.0f at most in any known run",
                  out->other_batch ? ", and " : "", (double)best->cp, out->most_cp);
    if (isnan(out->tokens))
        return;
    sp_append(out->instead, sizeof out->instead, "; a usual plan needs --batch %.0f",
              out->tokens / in->seq);
    if (in->seq > 1)
        sp_append(out->instead, sizeof out->instead, "x%.0f", in->seq);
}

bool sp_fit_judge_known(const struct sp_args *args, const struct sp_fit_input *in,
                        const struct sp_strategy *best, unsigned kinds, struct sp_fit_known *out,
                        struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    *out = (struct sp_fit_known){.most_cp = NAN, .tokens = NAN};
    if (!in->runs || !best->exists || !best->fits)
        return true;
    out->other_batch = is_other_batch(in, best);
    if (!out->other_batch && best->cp == 1)
        return true;
    if (!most_context(&sources, &out->most_cp, error))
        return false;
    out->beyond_runs = (double)best->cp > out->most_cp;
    if (!out->other_batch && !out->beyond_runs)
        return true;
    out->tokens = in->seq * usual_sequences(in, kinds, out->most_cp);
    put_words(in, best, out);
    return true;
}
