/* serve: what the estimate says. */
#include <math.h>

#include <scaleplan/names.h>

#include "commands/serve.h"

struct sp_steady sp_state_of_service(const struct serve *f)
{
    if (f->instance.estimated)
        return sp_steady_of_estimate(&f->served, &f->said);
    return sp_steady(&f->served, f->load.apart ? &f->reader : NULL, f->B, f->load.step_s);
}

static void put_decode(const struct serve *f)
{
    const struct sp_pass_time *const t = &f->said.step;
    const struct {
        enum sp_quantity_id id;
        double s;
        const char *name;
    } parts[] = {{SP_Q_SERVE_DECODE_MATMUL, t->matmul_s, "matmuls"},
                 {SP_Q_SERVE_DECODE_EXPERTS, t->experts_s, "experts"},
                 {SP_Q_SERVE_DECODE_ATTENTION, t->attention_s, "attention"},
                 {SP_Q_SERVE_DECODE_ELEMENTWISE, t->elementwise_s, "elementwise"},
                 {SP_Q_SERVE_DECODE_COMM, t->comm_s, "collectives"},
                 {SP_Q_SERVE_DECODE_LAUNCH, t->launch_s, "launches"}};
    size_t longest = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sp_put(f->report, parts[i].id, parts[i].s);
        longest = parts[i].s > parts[longest].s ? i : longest;
    }
    sp_put(f->report, SP_Q_SERVE_DECODING, f->said.decoding);
    sp_put(f->report, SP_Q_SERVE_DECODE, t->total_s);
    sp_put_text(f->report, SP_Q_SERVE_DECODE_BOUND, "%s", parts[longest].name);
}

static void put_prefill(const struct serve *f)
{
    const double prompts = f->instance.pass.plan.attention_dp;
    const double s = f->said.prompt.total_s;
    sp_put(f->report, SP_Q_SERVE_PREFILL, s);
    sp_put(f->report, SP_Q_SERVE_PREFILL_MFU,
           prompts * f->served.prefill_flops / (s * f->served.C));
}

static void put_latencies(const struct serve *f, const struct sp_steady *y)
{
    struct sp_report *const r = f->report;
    const double decode_s = f->said.token_s * (f->service.drafts > 0 ? f->service.accepted : 1);
    const double tpot = sp_serving_range_log(&f->profile, &f->model, SP_LATENCY_TPOT);
    const double ttft = sp_serving_range_log(&f->profile, &f->model, SP_LATENCY_TTFT);
    sp_symbol(r, "tpot_range", tpot, "", "half of the 80 %% range, of the logarithm");
    sp_symbol(r, "ttft_range", ttft, "", "half of the 80 %% range, of the logarithm");
    sp_symbol(r, "prompt_share", f->said.prompt_share, "", "of the instance's time, prompts");
    sp_symbol(r, "first", f->load.profile->value[SP_V_FIRST], "s",
              "of a request beside its prompt");
    sp_symbol(r, "decode_whole_s", decode_s, "s", "a step, with drafts theirs too");
    sp_symbol(r, "chunk_s", f->said.stall_s - decode_s, "s",
              "what the largest chunk adds to a step");
    sp_put(r, SP_Q_SERVE_PROMPTS, y->tpot_s - y->step_s);
    sp_put(r, SP_Q_SERVE_STALL, f->said.stall_s);
    sp_put(r, SP_Q_SERVE_QUEUE, f->said.queue_s);
    sp_put(r, SP_Q_SERVE_TTFT, y->ttft_s);
    sp_put(r, SP_Q_SERVE_TTFT_LOW, y->ttft_s * exp(-ttft));
    sp_put(r, SP_Q_SERVE_TTFT_HIGH, y->ttft_s * exp(ttft));
    sp_put(r, SP_Q_SERVE_TPOT_SAID, y->tpot_s);
    sp_put(r, SP_Q_SERVE_TPOT_LOW, y->tpot_s * exp(-tpot));
    sp_put(r, SP_Q_SERVE_TPOT_HIGH, y->tpot_s * exp(tpot));
    sp_put(r, SP_Q_SERVE_E2E_SAID, y->e2e_s);
    sp_put(r, SP_Q_SERVE_RUNNING_SAID, f->said.running * f->replicas);
    sp_put(r, SP_Q_SERVE_WAITING, f->said.waiting * f->replicas);
}

void sp_put_no_estimate(const struct serve *f)
{
    static const enum sp_quantity_id ids[] = {
        SP_Q_SERVE_PROFILE,        SP_Q_SERVE_DECODING,    SP_Q_SERVE_DECODE_MATMUL,
        SP_Q_SERVE_DECODE_EXPERTS, SP_Q_SERVE_DECODE_COMM, SP_Q_SERVE_DECODE_ATTENTION,
        SP_Q_SERVE_DECODE_LAUNCH,  SP_Q_SERVE_DECODE,      SP_Q_SERVE_DECODE_ELEMENTWISE,
        SP_Q_SERVE_DECODE_BOUND,   SP_Q_SERVE_PREFILL,     SP_Q_SERVE_PREFILL_MFU,
        SP_Q_SERVE_PROMPTS,        SP_Q_SERVE_STALL,       SP_Q_SERVE_QUEUE,
        SP_Q_SERVE_TTFT,           SP_Q_SERVE_TTFT_LOW,    SP_Q_SERVE_TTFT_HIGH,
        SP_Q_SERVE_TPOT_LOW,       SP_Q_SERVE_TPOT_HIGH,   SP_Q_SERVE_WAITING,
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        sp_put_null(f->report, ids[i]);
}

void sp_put_estimate(const struct serve *f, const struct sp_steady *y)
{
    static const char *const rests_on[SP_KNOWN] = {"", "the engine's runs on other chips",
                                                   "the chip's runs under other engines",
                                                   "runs of other chips and engines"};
    if (!f->instance.estimated) {
        sp_put_no_estimate(f);
        return;
    }
    if (!f->own_profile)
        sp_note(f->report, "no measured runs of %s: its constants are borrowed, from %s",
                f->profile.name, rests_on[f->profile.known]);
    sp_put_text(f->report, SP_Q_SERVE_PROFILE, "%s", f->profile.name);
    put_decode(f);
    put_prefill(f);
    put_latencies(f, y);
}
