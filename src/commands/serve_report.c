/* serve: what the report says. */
#include <math.h>
#include <stdio.h>

#include <scaleplan/names.h>

#include "commands/serve.h"

/* A number, or null where it is not known or there is none. */
static void put(const struct serve *f, enum sp_quantity_id id, double value)
{
    if (isfinite(value))
        sp_put(f->report, id, value);
    else
        sp_put_null(f->report, id);
}

static void put_symbols(const struct serve *f)
{
    const struct sp_served *const v = &f->served;
    const struct sp_service *const s = &f->service;
    const struct sp_chip *const chip = &f->hw.chip;
    struct sp_report *const r = f->report;
    sp_symbol(r, "N", s->chips, "chips", "chips of an instance");
    sp_symbol(r, "N_all", f->group_chips, "chips", "of an instance, and of a split its reader");
    sp_symbol(r, "R", f->replicas, "", "instances of the machine");
    sp_symbol(r, "draft_weights", f->served.draft ? f->draft.weights : 0, "bytes",
              "of the draft model");
    sp_symbol(r, "draft_kv", f->served.draft ? f->draft.kv_held : 0, "bytes",
              "a sequence's cache of the draft model");
    sp_symbol(r, "B", f->B, "", "sequences that an instance runs");
    sp_symbol(r, "C", chip->peak_flops_per_s[s->compute], "FLOP/s", "peak of a chip in %s",
              sp_dtype_names[s->compute]);
    sp_symbol(r, "W", chip->hbm_bytes_per_s, "bytes/s", "memory bandwidth of a chip");
    sp_symbol(r, "input_tokens", s->input, "tokens", "option --input");
    sp_symbol(r, "output_tokens", s->output, "tokens", "option --output");
    sp_symbol(r, "S", s->step_tokens, "tokens", "cached tokens in the step");
    sp_symbol(r, "S_held", sp_paged_tokens(s->held_tokens, s->block), "tokens",
              "tokens held, whole blocks");
    sp_symbol(r, "block", s->block, "tokens", "option --block");
    sp_symbol(r, "P_total", sp_count_params(&f->model).total, "parameters", "all weights");
    sp_symbol(r, "P_shared", v->shared, "parameters",
              "held of an instance, routed experts left out");
    sp_symbol(r, "P_experts", v->experts, "parameters", "routed experts");
    sp_symbol(r, "P_active", v->active, "parameters", "weights that a token is multiplied by");
    sp_symbol(r, "b_w", s->weight_bytes, "bytes", "of a weight");
    sp_symbol(r, "b_e", s->expert_bytes, "bytes", "of a routed expert's weight");
    sp_symbol(r, "b_critical", v->experts > 0 ? s->expert_bytes : s->weight_bytes, "bytes",
              "of a weight of the MLPs");
    sp_symbol(r, "r", sp_expert_ratio(&f->model), "", "E/k");
    sp_symbol(r, "hbm_chip", sp_capacity_bytes(chip), "bytes", "memory of a chip");
    sp_symbol(r, "fraction", s->memory_fraction, "", "option --memory-fraction, or the engine's");
    sp_symbol(r, "weight_fraction", s->fraction_of_free ? 1 : s->memory_fraction, "",
              "of the memory that weights may take");
    sp_symbol(r, "kv_read", v->kv_read > 0 ? v->kv_read : 0, "bytes",
              "cache of a sequence that the step reads");
    sp_symbol(r, "weights_read", sp_weights_read_bytes(v, f->B), "bytes",
              "weights that the step reads");
    sp_symbol(r, "prefill_flops", v->prefill_flops, "FLOPs", "of a prompt");
    sp_symbol(r, "prefill_read", v->prefill_read, "bytes", "weights that a prompt reads");
    sp_symbol(r, "mfu", s->mfu, "", "option --mfu");
    sp_symbol(r, "N_prefill", f->reader.service.chips, "chips",
              "of an instance that reads prompts");
    sp_symbol(r, "prefill_instance_s", sp_prefill_time(&f->reader).prefill_s, "s",
              "prefill of the instance that reads prompts");
}

static void put_request(const struct serve *f)
{
    const struct sp_service *const s = &f->service;
    struct sp_report *const r = f->report;
    sp_put_text(r, SP_Q_SERVE_MODEL, "%s", f->model.name);
    sp_put_text(r, SP_Q_SERVE_HW, "%s", f->hw.name);
    sp_put(r, SP_Q_SERVE_CHIPS, s->chips);
    sp_put(r, SP_Q_SERVE_REPLICAS, f->replicas);
    sp_put(r, SP_Q_SERVE_INPUT, s->input);
    sp_put(r, SP_Q_SERVE_OUTPUT, s->output);
    sp_put(r, SP_Q_SERVE_CONTEXT, s->step_tokens);
    sp_put(r, SP_Q_SERVE_HELD, sp_paged_tokens(s->held_tokens, s->block));
    sp_put(r, SP_Q_SERVE_WASTE, (s->block - 1) / 2);
    sp_put(r, SP_Q_SERVE_PARAMS, sp_count_params(&f->model).total);
    sp_put(r, SP_Q_SERVE_ACTIVE, f->served.active);
    sp_put_text(r, SP_Q_SERVE_ENGINE, "%s", f->engine.name);
    sp_put_text(r, SP_Q_SERVE_COMPUTE, "%s", sp_dtype_names[s->compute]);
}

static void put_smallest(const struct serve *f)
{
    const bool loaded = !isnan(f->load.concurrency) && f->served.kv_held > 0;
    const double chips = sp_chips_to_hold(&f->served, loaded ? f->B : 0);
    const double whole = ceil(chips * (1 - 1e-12));
    const int64_t slice = whole <= 1e9 ? sp_nearest_chips(&f->hw.network, (int64_t)whole, true) : 0;
    static const enum sp_quantity_id ids[2][2] = {
        {SP_Q_SERVE_MIN_CHIPS, SP_Q_SERVE_MIN_CHIPS_LOAD},
        {SP_Q_SERVE_MIN_CHIPS_DRAFT, SP_Q_SERVE_MIN_CHIPS_LOAD_DRAFT}};
    sp_put(f->report, ids[f->served.draft != NULL][loaded], chips);
    put(f, SP_Q_SERVE_MIN_SLICE, slice > 0 ? (double)slice : NAN);
}

static void put_memory(const struct serve *f)
{
    const struct sp_served *const v = &f->served;
    struct sp_report *const r = f->report;
    const double free_bytes = fmax(0, v->capacity - v->weights), cache = f->B * v->kv_held;
    sp_put_bool(r, SP_Q_SERVE_FITS, f->fits);
    sp_put(r, SP_Q_SERVE_BATCH, f->B);
    sp_put(r, SP_Q_SERVE_WEIGHTS, v->weights);
    put(f, SP_Q_SERVE_KV_TOKEN, v->kv_token);
    put(f, SP_Q_SERVE_KV_SEQUENCE, v->kv_held);
    sp_put_text(r, SP_Q_SERVE_KV_FORMAT, "%s", sp_storage_names[f->kv]);
    sp_put(r, SP_Q_SERVE_KV_COPIES, v->copies);
    put(f, SP_Q_SERVE_KV, cache);
    put(f, SP_Q_SERVE_TOTAL, v->weights + cache);
    sp_put(r, f->service.fraction_of_free ? SP_Q_SERVE_CAPACITY_FREE : SP_Q_SERVE_CAPACITY,
           v->capacity);
    sp_put(r, SP_Q_SERVE_FREE, free_bytes);
    sp_put(r, SP_Q_SERVE_FREE_DEVICE, free_bytes / f->service.chips);
    put(f, v->draft ? SP_Q_SERVE_MAX_BATCH_DRAFT : SP_Q_SERVE_MAX_BATCH,
        v->kv_held > 0 ? sp_most_sequences(v) : NAN);
    put(f, SP_Q_SERVE_MAX_CONTEXT, f->holds_weights ? sp_most_context(v, f->B) : NAN);
    put_smallest(f);
}

static void put_limits(const struct serve *f)
{
    const double F = sp_active_d_ff(&f->model), C = f->hw.chip.peak_flops_per_s[f->service.compute];
    double axes;
    const double W = sp_tp_link_bytes_per_s(&f->part, &axes);
    struct sp_report *const r = f->report;
    sp_symbol(r, "W_tp", W, "bytes/s", "one axis, both ways where it is a ring, or the domain");
    sp_symbol(r, "axes", axes, "", "axes of tensor parallelism");
    sp_symbol(r, "F", F, "", "MLP width that a token passes");
    sp_symbol(r, "D", (double)f->model.d_model, "", "width of the model");
    sp_symbol(r, "L", (double)f->model.layers, "", "layers");
    sp_put(r, SP_Q_SERVE_CRITICAL, sp_critical_batch(&f->served));
    put(f, SP_Q_SERVE_CRITICAL_CONTEXT, sp_critical_batch_of_context(&f->served));
    put(f, SP_Q_SERVE_TP_ICI, sp_max_tp_degree(C, axes * W, F));
    put(f, SP_Q_SERVE_TP_HBM, sp_max_decode_tp(f->B, F, f->hw.chip.hbm_bytes_per_s, W));
    sp_line(r,
            "limits     arithmetic binds from {critical_batch} sequences, the cache from "
            "{critical_batch_context}%s",
            F > 0 ? "; TP up to {tp_max.ici} for prompts, {tp_max.hbm} for this step" : "");
}

static const char *bound_of(const struct sp_decode_time *t, double tp_s)
{
    if (tp_s > t->step_s)
        return "ici";
    const double most = fmax(t->kv_s, fmax(t->weights_s, t->math_s));
    return most == t->kv_s ? "kv" : most == t->weights_s ? "weights" : "math";
}

static void put_ideal(const struct serve *f)
{
    const struct sp_decode_time t = sp_decode_time(&f->served, f->B, 1);
    const struct sp_prefill_time p = sp_prefill_time(&f->served);
    struct sp_report *const r = f->report;
    double axes;
    const double W = sp_tp_link_bytes_per_s(&f->part, &axes);
    sp_put(r, SP_Q_SERVE_IDEAL_KV, t.kv_s);
    sp_put(r, SP_Q_SERVE_IDEAL_WEIGHTS, t.weights_s);
    sp_put(r, SP_Q_SERVE_IDEAL_MATH, t.math_s);
    put(f, SP_Q_SERVE_IDEAL_ICI, sp_decode_tp_s(&f->model, f->B, W));
    sp_put(r, SP_Q_SERVE_IDEAL_STEP, t.step_s);
    sp_put_text(r, SP_Q_SERVE_IDEAL_BOUND, "%s", bound_of(&t, sp_decode_tp_s(&f->model, f->B, W)));
    sp_put(r, SP_Q_SERVE_IDEAL_PREFILL, p.prefill_s);
    sp_put(r, SP_Q_SERVE_IDEAL_TTFT, sp_prefill_time(&f->reader).prefill_s);
    sp_put(r, SP_Q_SERVE_IDEAL_RATE, f->B / t.step_s);
    sp_symbol(r, "prompts_in_step", f->load.apart ? 0 : f->B / f->service.output, "",
              "that a step has its share of");
    sp_put(r,
           f->service.drafts > 0 ? SP_Q_SERVE_IDEAL_TPOT_DRAFTS
           : f->load.apart       ? SP_Q_SERVE_IDEAL_TPOT_APART
                                 : SP_Q_SERVE_IDEAL_TPOT,
           sp_steady(&f->served, f->load.apart ? &f->reader : NULL, f->B, NAN).tpot_s);
    sp_put_text(r, SP_Q_SERVE_PREFILL_BOUND, "%s", p.math_s >= p.weights_s ? "math" : "weights");
}

static void put_bill(const struct serve *f, const struct sp_steady *y)
{
    const bool said = f->instance.estimated;
    const struct sp_served *const reader = f->args->given.disaggregate ? &f->reader : NULL;
    const struct sp_token_cost c =
        said ? sp_estimated_token_cost(&f->served, reader, &f->load, &f->said)
             : sp_token_cost(&f->served, &f->reader, f->B, y->step_s);
    const double price = f->price.usd_per_h, given = f->args->value.watts;
    const double watts = isnan(given) ? f->hw.chip.tdp_w : given;
    const double pue = f->args->value.pue;
    struct sp_report *const r = f->report;
    char words[160];
    sp_price_text(&f->price, words, sizeof words);
    sp_symbol(r, "price", price, "USD/h", "a chip and hour");
    sp_symbol(r, "watts", watts, "W", "power of one device");
    sp_symbol(r, "pue", pue, "", "option --pue");
    put(f, SP_Q_SERVE_FLOPS_USD, f->hw.chip.peak_flops_per_s[f->service.compute] / price);
    sp_symbol(r, "prompts_of_reader", sp_prompts_of_reader(&f->load, &f->said), "1/s",
              "that an instance which reads them gets");
    put(f,
        !said    ? SP_Q_SERVE_COST_INPUT
        : reader ? SP_Q_SERVE_COST_INPUT_APART
                 : SP_Q_SERVE_COST_INPUT_SAID,
        sp_usd_per_mtoken(c.input, price));
    put(f,
        !said    ? SP_Q_SERVE_COST_OUTPUT
        : reader ? SP_Q_SERVE_COST_OUTPUT_APART
                 : SP_Q_SERVE_COST_OUTPUT_SAID,
        sp_usd_per_mtoken(c.output, price));
    put(f, SP_Q_SERVE_COST_BLENDED, sp_usd_per_mtoken(c.blended, price));
    put(f, SP_Q_SERVE_COST_ALL, sp_usd_per_mtoken(c.all_on_output, price));
    put(f, said ? SP_Q_SERVE_ENERGY_SAID : SP_Q_SERVE_ENERGY,
        1e6 * watts * pue * f->group_chips / (3600 * y->tokens_per_s));
    sp_line(r,
            "cost       a million tokens: read {cost_usd_per_mtoken.input}, generated "
            "{cost_usd_per_mtoken.output}, both {cost_usd_per_mtoken.blended}; price of a "
            "chip-hour %s",
            words);
    sp_line(r, "energy     {energy_wh_per_mtoken} a million tokens generated (--watts --pue)");
}

/* Rates, each by the formula of the closed form or of the estimate. */
static void put_rates(const struct serve *f, const struct sp_steady *y)
{
    struct sp_report *const r = f->report;
    const double R = f->replicas, N = f->group_chips;
    const bool said = f->instance.estimated;
    sp_symbol(r, "step", y->step_s, "s", "a decode step");
    sp_put(r,
           !said                   ? SP_Q_SERVE_STEP
           : f->service.drafts > 0 ? SP_Q_SERVE_STEP_DRAFTS
                                   : SP_Q_SERVE_STEP_SAID,
           y->step_s);
    if (!said) {
        sp_put(r, f->load.apart ? SP_Q_SERVE_TPOT_APART : SP_Q_SERVE_TPOT, y->tpot_s);
        sp_put(r, SP_Q_SERVE_E2E, y->e2e_s);
        sp_put(r, SP_Q_SERVE_RUNNING, f->B * R);
    }
    sp_put(r, said ? SP_Q_SERVE_RATE_SAID : SP_Q_SERVE_RATE, y->tokens_per_s * R);
    sp_put(r, said ? SP_Q_SERVE_RATE_DEVICE_SAID : SP_Q_SERVE_RATE_DEVICE, y->tokens_per_s / N);
    sp_put(r, SP_Q_SERVE_RATE_USER, 1 / y->tpot_s);
    sp_put(r, said ? SP_Q_SERVE_REQUESTS_SAID : SP_Q_SERVE_REQUESTS, y->requests_per_s * R);
    sp_put(r, said ? SP_Q_SERVE_REQUESTS_DEVICE_SAID : SP_Q_SERVE_REQUESTS_DEVICE,
           y->requests_per_s / N);
    sp_put(r, said ? SP_Q_SERVE_EVICTED_SAID : SP_Q_SERVE_EVICTED, y->evicted_per_step);
    sp_put(r, SP_Q_SERVE_USED_FLOPS, y->flops_share);
    sp_put(r, SP_Q_SERVE_USED_BANDWIDTH, y->bandwidth_share);
}

/* Times of a machine that does not hold the weights. */
static void put_no_times(const struct serve *f)
{
    static const enum sp_quantity_id times[] = {
        SP_Q_SERVE_IDEAL_KV,      SP_Q_SERVE_IDEAL_WEIGHTS,
        SP_Q_SERVE_IDEAL_MATH,    SP_Q_SERVE_IDEAL_ICI,
        SP_Q_SERVE_IDEAL_STEP,    SP_Q_SERVE_IDEAL_BOUND,
        SP_Q_SERVE_IDEAL_PREFILL, SP_Q_SERVE_IDEAL_TTFT,
        SP_Q_SERVE_IDEAL_RATE,    SP_Q_SERVE_PREFILL_BOUND,
        SP_Q_SERVE_IDEAL_TPOT,    SP_Q_SERVE_STEP,
        SP_Q_SERVE_TPOT,          SP_Q_SERVE_E2E,
        SP_Q_SERVE_RUNNING,       SP_Q_SERVE_RATE,
        SP_Q_SERVE_RATE_DEVICE,   SP_Q_SERVE_RATE_USER,
        SP_Q_SERVE_REQUESTS,      SP_Q_SERVE_REQUESTS_DEVICE,
        SP_Q_SERVE_EVICTED,       SP_Q_SERVE_COST_INPUT,
        SP_Q_SERVE_COST_OUTPUT,   SP_Q_SERVE_COST_BLENDED,
        SP_Q_SERVE_COST_ALL,      SP_Q_SERVE_ENERGY,
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        sp_put_null(f->report, times[i]);
    sp_put_no_estimate(f);
}

/* A latency as the limits mean it: of the median request, or of nearly all. */
static double limited_s(const struct serve *f, enum sp_serve_latency latency, double mean_s)
{
    return sp_latency_percentile(latency, mean_s, f->load.percentile);
}

/* What a limit that is not kept is against: "; the first after 1.02 s (99th percentile), asked for
 * within 1.00 s". */
static void say_late(const struct serve *f, const struct sp_steady *y, char *out, size_t size)
{
    struct sp_serve_load tpot = f->load;
    tpot.ttft_s = INFINITY;
    const bool first = sp_keeps_limits(y, &tpot); /* then the limit of the first is not kept */
    const double s =
        first ? limited_s(f, SP_LATENCY_TTFT, y->ttft_s) : limited_s(f, SP_LATENCY_TPOT, y->tpot_s);
    snprintf(out, size, "; %s %s%s, asked for %s %s", first ? "the first after" : "every",
             sp_human_text(s, SP_SECONDS), f->load.percentile == 99 ? " (99th percentile)" : "",
             first ? "within" : "every",
             sp_human_text(first ? f->load.ttft_s : f->load.tpot_s, SP_SECONDS));
}

/* "a token every 30 ms" and what was asked for instead. */
static void put_serving_verdict(const struct serve *f, const struct sp_steady *y, bool in_time)
{
    char late[200] = "";
    if (!in_time)
        say_late(f, y, late, sizeof late);
    sp_put_text(f->report, SP_Q_SERVE_VERDICT,
                "%s: %s sequences on %s chips, a token every %s %s%s", in_time ? "Yes" : "No",
                sp_human_text(f->B, SP_COUNT), sp_human_text(f->service.chips, SP_COUNT),
                sp_human_text(y->tpot_s, SP_SECONDS),
                f->instance.estimated   ? "by the estimate"
                : isnan(f->load.step_s) ? "at best"
                                        : "(--step-time)",
                late);
}

static void put_verdict(const struct serve *f, const struct sp_steady *y, bool in_time)
{
    const double cache = f->served.kv_held > 0 ? f->B * f->served.kv_held : 0;
    const double lacks = f->served.weights + cache - f->served.capacity;
    struct sp_report *const r = f->report;
    if (!f->holds_weights)
        sp_put_text(r, SP_Q_SERVE_VERDICT, "No: the weights alone take %s, %s has %s",
                    sp_human_text(f->served.weights, SP_BYTES), f->hw.name,
                    sp_human_text(f->served.capacity, SP_BYTES));
    else if (!f->fits)
        sp_put_text(r, SP_Q_SERVE_VERDICT, "No: weights and the cache of %s sequences lack %s",
                    sp_human_text(f->B, SP_COUNT), sp_human_text(lacks, SP_BYTES));
    else
        put_serving_verdict(f, y, in_time);
}

/* What a smaller format or a shorter request would make of it. */
static void put_ways(const struct serve *f)
{
    if (f->fits)
        return;
    sp_line(f->report, "to fit     {min_slice_chips} chips (it takes {min_chips})%s%s",
            f->holds_weights ? "; at most {max_batch} sequences of this length, or {max_context} "
                               "tokens each of these"
                             : "",
            f->service.weight_bytes > 1 ? "; --weights int8 or fp8 halves the weights" : "");
}

static void put_lines(const struct serve *f)
{
    struct sp_report *const r = f->report;
    sp_line(r, "{verdict}");
    sp_line(r, " ");
    sp_line(r,
            "model      {model}: {params} parameters, {params_active} of them a token's; "
            "weights {weights_bytes} (--weights %s)",
            f->args->text[SP_O_weights]);
    sp_line(r,
            "hardware   {hw}: {replicas} x {chips} chips; {capacity_bytes} for weights and "
            "cache of an instance (%s, --engine --memory-fraction)",
            f->engine.name);
    sp_line(r, "request    {input} tokens in, {output} out; {context} cached in the step, "
               "{held_tokens} held (--input --output --context)");
    sp_line(r,
            "cache      {kv_bytes_per_token} a token (--kv %s), {kv_bytes_per_sequence} a "
            "sequence; beside the weights room for {max_batch}",
            sp_storage_names[f->kv]);
    put_ways(f);
}

static void put_time_lines(const struct serve *f)
{
    struct sp_report *const r = f->report;
    sp_line(r, "step       {ideal.step_s} at least: cache {ideal.kv_s} + the longer of weights "
               "{ideal.weights_s} and arithmetic {ideal.math_s}; bound by {ideal.bound}");
    sp_line(r, "prompt     {ideal.prefill_s} at least, bound by {prefill.bound} (--mfu)");
    if (f->instance.estimated) {
        sp_line(r,
                "decode     {decode.s} by the estimate: matmuls {decode.matmul_s}, %sattention "
                "{decode.attention_s}, elementwise {decode.elementwise_s}, collectives "
                "{decode.comm_s}, launches {decode.launch_s}",
                f->model.moe.experts > 0 ? "experts {decode.experts_s}, " : "");
        sp_line(r, "prefill    {prefill.s} by the estimate, {prefill.mfu} of the peak");
        sp_line(r,
                "latency    {tpot_s} between tokens ({tpot_low_s} to {tpot_high_s}), {ttft_s} to "
                "the first ({ttft_low_s} to {ttft_high_s}), {e2e_s} a request; {waiting} wait");
    } else {
        sp_line(r, "latency    {tpot_s} between tokens, {e2e_s} a request");
    }
    sp_line(r, "service    {tokens_per_s}, {tokens_per_s_per_device} a chip, "
               "{tokens_per_s_per_user} a user, {requests_per_s} requests/s");
}

/* Each limit that was given, alone. Limits on the time to the first token need the estimate: a
 * closed form without queues and launches would promise them. */
static void put_limits_kept(const struct serve *f, const struct sp_steady *y)
{
    struct sp_serve_load tpot = f->load, ttft = f->load;
    tpot.ttft_s = ttft.tpot_s = INFINITY;
    if (isfinite(f->load.tpot_s)) {
        sp_put_bool(f->report, SP_Q_SERVE_SLO_TPOT, f->holds_weights && sp_keeps_limits(y, &tpot));
        put(f, SP_Q_SERVE_SLO_TPOT_S,
            f->holds_weights ? limited_s(f, SP_LATENCY_TPOT, y->tpot_s) : NAN);
    }
    if (isfinite(f->load.ttft_s)) {
        sp_put_bool(f->report, SP_Q_SERVE_SLO_TTFT, f->holds_weights && sp_keeps_limits(y, &ttft));
        put(f, SP_Q_SERVE_SLO_TTFT_S,
            f->holds_weights ? limited_s(f, SP_LATENCY_TTFT, y->ttft_s) : NAN);
    }
}

static bool fits(const struct serve *f)
{
    return f->holds_weights && (!(f->served.kv_held > 0) || f->B <= sp_most_sequences(&f->served));
}

bool sp_serves(const struct serve *f)
{
    const struct sp_steady y = sp_state_of_service(f);
    return fits(f) && sp_keeps_limits(&y, &f->load);
}

void sp_put_service(struct serve *f)
{
    struct sp_report *const r = f->report;
    const struct sp_steady y = sp_state_of_service(f);
    const bool in_time = f->holds_weights && sp_keeps_limits(&y, &f->load);
    f->fits = fits(f);
    put_symbols(f);
    put_verdict(f, &y, in_time);
    put_request(f);
    put_memory(f);
    put_lines(f);
    put_limits(f);
    put_limits_kept(f, &y);
    sp_put_bool(r, SP_Q_SERVE_SLO, f->fits && in_time);
    if (f->holds_weights) {
        put_time_lines(f);
        put_ideal(f);
        sp_put_estimate(f, &y);
        put_rates(f, &y);
        put_bill(f, &y);
    } else {
        put_no_times(f);
    }
}
