/* serve: drafts, and prompts on chips of their own. */
#include <math.h>
#include <stdio.h>

#include "commands/serve.h"

/* The draft model, of the same tokens. */
static bool load_draft(struct serve *f, const struct sp_sources *sources, const char *name,
                       struct sp_error *error)
{
    if (!sp_load_model(name, sources, &f->draft_model, error))
        return false;
    if (sp_model_has_shape(&f->model) && f->draft_model.vocab != f->model.vocab)
        return sp_fail(error, SP_INPUT,
                       "--draft-model %s: its vocabulary of %lld is not that of %s, %lld: drafts "
                       "are tokens of both",
                       f->draft_model.name, (long long)f->draft_model.vocab, f->model.name,
                       (long long)f->model.vocab);
    f->service.draft_model = &f->draft_model;
    return true;
}

static bool check_drafts(const struct serve *f, struct sp_error *error)
{
    const bool a = f->args->given.acceptance, n = f->args->given.accepted;
    const bool k = f->args->given.draft_tokens;
    if (a && n)
        return sp_fail(error, SP_INPUT,
                       "--acceptance and --accepted exclude each other: a probability, or what "
                       "was measured");
    if ((a || n) != k)
        return sp_fail(error, SP_USAGE,
                       "--draft-tokens K goes with --acceptance FRACTION or --accepted N");
    if (n && f->args->value.accepted > f->args->value.draft_tokens + 1)
        return sp_fail(error, SP_INPUT, "--accepted: a step gives at most --draft-tokens + 1");
    return k || !f->args->given.draft_model ||
           sp_fail(error, SP_USAGE, "--draft-model needs --draft-tokens K");
}

bool sp_load_drafts(struct serve *f, const struct sp_sources *sources, struct sp_error *error)
{
    const char *const name = f->args->value.draft_model;
    const double k = f->args->value.draft_tokens;
    const double a = f->args->value.acceptance, n = f->args->value.accepted;
    if (!check_drafts(f, error) || (name && !load_draft(f, sources, name, error)))
        return false;
    if (isnan(k))
        return true;
    f->service.drafts = k;
    f->service.accepted = isnan(n) ? sp_speculated_tokens(k, a) : n;
    return true;
}

/* Time between tokens of the estimate without drafts, of as many requests, over that with them. */
static double estimated_gain(const struct serve *f)
{
    struct sp_pass plain = f->instance.pass;
    struct sp_requests requests = sp_requests_of(&f->instance, &f->load, f->said.running);
    plain.served.service.drafts = 0;
    requests.draft = NULL;
    return sp_serve_estimate(&plain, &requests).tpot_s / f->said.tpot_s;
}

void sp_put_speculation(struct serve *f)
{
    const double k = f->service.drafts, tokens = f->service.accepted;
    const double a = f->args->value.acceptance, n = f->args->value.accepted;
    struct sp_report *const r = f->report;
    const struct sp_served *const draft = f->served.draft;
    const struct sp_speculation s = sp_speculation(&f->served, draft, f->B, k, tokens);
    sp_symbol(r, "drafts", k, "", "option --draft-tokens");
    sp_symbol(r, "accepted", a, "", "option --acceptance");
    sp_symbol(r, "tokens_accepted", n, "", "option --accepted");
    sp_put(r,
           !isnan(n) ? SP_Q_SERVE_SPEC_GIVEN
           : a < 1   ? SP_Q_SERVE_SPEC_TOKENS
                     : SP_Q_SERVE_SPEC_ALL,
           tokens);
    sp_put(r, SP_Q_SERVE_SPEC_STEP, s.step_s);
    sp_put(r, SP_Q_SERVE_SPEC_SPEEDUP, s.speedup);
    if (!isnan(a))
        sp_put(r, SP_Q_SERVE_SPEC_BEST, sp_best_drafts(&f->served, draft, f->B, a));
    if (draft)
        sp_put(r, SP_Q_SERVE_SPEC_BYTES, draft->weights + f->B * draft->kv_held);
    if (f->instance.estimated)
        sp_put(r, SP_Q_SERVE_SPEC_SAID, estimated_gain(f));
    sp_line(r,
            "drafts     {speculative.tokens_per_step} tokens a step of {speculative.step_s}: "
            "{speculative.speedup} times as fast at best%s%s",
            f->instance.estimated ? ", {speculative.estimated_speedup} by the estimate" : "",
            isnan(a) ? "" : "; best with {speculative.best_k} drafts");
}

/* Chips of the pools: those of --disaggregate P:D, as often as the machine holds them. */
static void put_chips(const struct serve *f, const struct sp_pools *pools)
{
    const double reads = f->reader.service.chips, generates = f->service.chips;
    const double groups = (double)sp_chips(&f->hw) / (reads + generates);
    const double prefill = f->is_split ? groups : pools->prefill;
    const double decode = f->is_split ? groups : pools->decode;
    struct sp_report *const r = f->report;
    if (isnan(prefill)) {
        sp_put_null(r, SP_Q_SERVE_POOLS_PREFILL);
        sp_put_null(r, SP_Q_SERVE_POOLS_DECODE);
        return;
    }
    sp_put(r, SP_Q_SERVE_POOLS_PREFILL, prefill * reads);
    sp_put(r, SP_Q_SERVE_POOLS_DECODE, decode * generates);
}

/* "3 x tp4", "1 x tp2 dp8". */
static void name_pool(double instances, const struct sp_serve_point *p, char *out, size_t size)
{
    char degrees[64] = "";
    if (p->tp > 0 && p->attention_dp > 1)
        snprintf(degrees, sizeof degrees, " (tp%.0fdp%.0f)", p->tp, p->attention_dp);
    else if (p->tp > 0)
        snprintf(degrees, sizeof degrees, " (tp%.0f)", p->tp);
    snprintf(out, size, "%.0f x %.0f chips%s", instances, p->chips, degrees);
}

/* The best division of the machine, against its best instances that do both. */
static void put_best_split(const struct serve *f)
{
    struct sp_serve_point together[SP_SERVE_POINTS];
    struct sp_serve_split best;
    struct sp_serve_load both = f->load;
    struct sp_report *const r = f->report;
    char reads[96], generates[96];
    const double chips = (double)sp_chips(&f->hw);
    both.apart = false;
    if (!sp_best_split(&f->service, &f->load, chips, !f->textbook, &best))
        return;
    name_pool(best.readers, &best.reads, reads, sizeof reads);
    name_pool(best.generators, &best.generates, generates, sizeof generates);
    sp_put_text(r, SP_Q_SERVE_SPLIT, "%s read, %s generate", reads, generates);
    sp_put(r, SP_Q_SERVE_SPLIT_PREFILL, best.readers * best.reads.chips);
    sp_put(r, SP_Q_SERVE_SPLIT_DECODE, best.generators * best.generates.chips);
    sp_put(r, SP_Q_SERVE_SPLIT_TPOT, best.generates.steady.tpot_s);
    sp_put(r, SP_Q_SERVE_SPLIT_REQUESTS, best.requests_per_s);
    sp_line(r, "           best: {disaggregated.best.split}: {disaggregated.best.requests_per_s} "
               "requests/s, {disaggregated.best.tpot_s} between tokens");
    if (sp_serve_points(&f->service, &both, chips, !f->textbook, SP_SERVE_THROUGHPUT, together) ==
        0)
        return;
    sp_symbol(r, "requests_together", together[0].replicas * together[0].steady.requests_per_s,
              "1/s", "of the best instances that do both");
    sp_put(r, SP_Q_SERVE_SPLIT_GAIN,
           best.requests_per_s / (together[0].replicas * together[0].steady.requests_per_s));
    sp_line(r, "           {disaggregated.best.gain} times the requests of instances that do both");
}

void sp_put_pools(struct serve *f)
{
    struct sp_report *const r = f->report;
    const double all = (double)sp_chips(&f->hw);
    const struct sp_steady y = sp_state_of_service(f);
    const struct sp_pools pools =
        sp_pools(&f->reader, &f->served, f->B, y.prompts_per_s, y.step_s, all);
    sp_symbol(r, "prompt_instance_s", 1 / y.prompts_per_s, "s",
              "of a prompt on the instance that reads");
    sp_symbol(r, "egress", f->service.input * f->served.kv_token / pools.transfer_s, "bytes/s",
              "of the slower of both instances");
    sp_put(r, SP_Q_SERVE_POOLS_RATIO, pools.ratio);
    put_chips(f, &pools);
    if (isfinite(pools.transfer_s)) {
        sp_put(r, SP_Q_SERVE_POOLS_TRANSFER, pools.transfer_s);
        sp_put_bool(r, SP_Q_SERVE_POOLS_HIDDEN, pools.hidden);
    } else {
        sp_put_null(r, SP_Q_SERVE_POOLS_TRANSFER);
        sp_put_null(r, SP_Q_SERVE_POOLS_HIDDEN);
    }
    sp_line(r, "pools      {disaggregated.ratio} instances that read for one that generates");
    sp_line(r, "           of the machine {disaggregated.prefill_chips} chips read and "
               "{disaggregated.decode_chips} generate");
    sp_line(r,
            "           a prompt's cache is sent in {disaggregated.kv_transfer_s}, hidden behind "
            "the prefill: {disaggregated.hidden}");
    if (!f->degrees.given && isnan(f->load.concurrency) && isnan(f->load.step_s) &&
        f->served.kv_held > 0 && all > 1)
        put_best_split(f);
}
