/* Closed-form times of serving: a prompt, a decode step, the steady state. */
#include <math.h>

#include <scaleplan/fit.h>
#include <scaleplan/flops.h>
#include <scaleplan/forms.h>
#include <scaleplan/serve.h>

#include "core/serve/routing.h"

/* Sum of i^-s for i to n, from the second term by the midpoint rule. */
static double sum_of_powers(double s, double n)
{
    return 1 + (pow(n + 0.5, 1 - s) - pow(1.5, 1 - s)) / (1 - s);
}

double sp_expert_variance(double experts)
{
    const double sum = sum_of_powers(EXPERT_POWER, experts);
    return fmax(0, experts * sum_of_powers(2 * EXPERT_POWER, experts) / (sum * sum) - 1);
}

struct sp_expert_chances sp_expert_chances(double expert_share, double variance)
{
    const double both = (1 - expert_share) / (variance * expert_share) - 1; /* a + b */
    const double a = expert_share * both, b = both - a;
    return (struct sp_expert_chances){a, b, !isfinite(both) || b + (a - 1) / 2 <= 0};
}

/* Beta-binomial: none of t tokens takes an expert with probability G(b + t) G(a + b) / (G(b) G(a +
 * b + t)), where G(z + t) / G(z + a + t) is (z + t + (a - 1) / 2)^-a. Tricomi and Erdelyi 1951. */
double sp_experts_touched(double expert_share, double variance, double tokens)
{
    const struct sp_expert_chances c = sp_expert_chances(expert_share, variance);
    return c.equal ? 1 - pow(1 - expert_share, tokens) : sp_touched_experts(tokens, c.a, c.b);
}

/* A lower bound leaves out bytes that are not read: the input table is a lookup, and only used
 * experts count. --constants textbook reads everything. */
struct sp_read_weights sp_read_weights(const struct sp_served *v, double tokens)
{
    const double touched = sp_experts_touched(v->expert_share, v->expert_variance, tokens);
    return (struct sp_read_weights){touched, touched * v->experts, v->shared - v->table};
}

double sp_weights_read_bytes(const struct sp_served *v, double tokens)
{
    const struct sp_read_weights read = sp_read_weights(v, tokens);
    return sp_weights_held(read.shared, v->service.weight_bytes, read.routed,
                           v->service.expert_bytes);
}

/* The textbook's max and sum: arithmetic overlaps weight reads but not cache reads. FLOPs of
 * attention count in the prefill only. */
struct sp_decode_time sp_decode_time(const struct sp_served *v, double B, double checked)
{
    const double tokens = B * checked;
    struct sp_decode_time t = {
        .kv_s = sp_cache_read_time(B, fmax(0, v->kv_read), 1, v->W),
        .weights_s = sp_weights_read_time(sp_weights_read_bytes(v, tokens), 1, v->W),
        .math_s = sp_step_math_time(tokens, v->active, 1, v->C),
    };
    t.step_s = sp_least_step(t.kv_s, t.weights_s, t.math_s);
    return t;
}

struct sp_prefill_time sp_prefill_time(const struct sp_served *v)
{
    struct sp_prefill_time t = {.math_s = sp_run_s(v->prefill_flops, 1, v->C, v->service.mfu),
                                .weights_s = sp_weights_read_time(v->prefill_read, 1, v->W)};
    t.prefill_s = sp_least_prompt(t.math_s, t.weights_s);
    return t;
}

double sp_decode_tp_s(const struct sp_model *m, double B, double link_bytes_per_s)
{
    if (!sp_model_has_shape(m))
        return NAN;
    /* forward plus backward of one block equals two forward blocks */
    const double D = (double)m->d_model;
    return (double)m->layers * sp_layer_bytes_tp(B, D) / link_bytes_per_s;
}

double sp_critical_batch(const struct sp_served *v)
{
    const struct sp_service *const s = &v->service;
    const double b_w = v->experts > 0 ? s->expert_bytes : s->weight_bytes;
    return sp_critical_rows_small(b_w, v->C, v->W, sp_expert_ratio(s->model));
}

double sp_critical_batch_of_context(const struct sp_served *v)
{
    return v->kv_read > 0 ? floor(sp_weights_read_bytes(v, INFINITY) / v->kv_read) + 1 : INFINITY;
}

double sp_tp_link_bytes_per_s(const struct sp_hardware *hw, double *all)
{
    const struct sp_network *const net = &hw->network;
    double W = NAN, axes = 0;
    if (net->kind == SP_SWITCHED)
        return *all = net->domain_bytes_per_s;
    for (int i = 0; i < SP_MAX_AXES; i++) {
        if (hw->shape.axis[i] <= 1)
            continue;
        axes++;
        W = fmax(W, net->link_bytes_per_s * (sp_axis_wraps(hw, i) ? 2 : 1));
    }
    *all = axes * W;
    return W;
}

/* Drafting counts in the time per output token, which it is meant to shorten. */
struct sp_speculation sp_speculation(const struct sp_served *target, const struct sp_served *draft,
                                     double B, double k, double tokens)
{
    const double drafts = draft ? k * sp_decode_time(draft, B, 1).step_s : 0;
    struct sp_speculation s = {.tokens_per_step = tokens,
                               .step_s = sp_decode_time(target, B, k + 1).step_s + drafts};
    s.speedup = sp_gain_of_drafts(tokens, sp_decode_time(target, B, 1).step_s, s.step_s);
    return s;
}

/* Least time per token: of a step, or of one with drafts over its accepted tokens. */
static double token_s(const struct sp_served *v, double B)
{
    const struct sp_service *const s = &v->service;
    if (!(s->drafts > 0))
        return sp_decode_time(v, B, 1).step_s;
    return sp_speculation(v, v->draft, B, s->drafts, s->accepted).step_s / s->accepted;
}

/* An instance that does prefill and decode also processes B prompts during a request's steps. The
 * textbook's requests per second omit them. */
struct sp_steady sp_steady(const struct sp_served *v, const struct sp_served *reader, double B,
                           double step_s)
{
    const struct sp_service *const s = &v->service;
    const double given = s->drafts > 0 ? s->accepted : 1; /* tokens per step */
    const struct sp_decode_time least = sp_decode_time(v, B, 1 + s->drafts);
    const double prompts = reader ? 0 : sp_prompts_of_step(B, s->output);
    struct sp_steady y = {.step_s = isnan(step_s) ? token_s(v, B) : step_s};
    const double prefill_s = sp_prefill_time(reader ? reader : v).prefill_s;
    y.ttft_s = fmax(prefill_s, (reader ? reader : v)->fetch_s);
    y.tpot_s = sp_time_between_tokens(y.step_s, prompts, prefill_s);
    y.e2e_s = sp_request_time(y.ttft_s, s->output, y.tpot_s);
    y.tokens_per_s = sp_sequences_per_s(B, y.tpot_s);
    if (!reader) /* no more prompts than the hosts' links can supply */
        y.tokens_per_s = fmin(y.tokens_per_s, v->fetches_per_s * s->output);
    y.requests_per_s = sp_requests_of_tokens(y.tokens_per_s, s->output);
    y.prompts_per_s = fmin(1 / prefill_s, (reader ? reader : v)->fetches_per_s);
    y.evicted_per_step = sp_evicted_tokens(B, s->input, s->output);
    y.flops_share = (least.math_s / given + prompts * v->prefill_flops / v->C) / y.tpot_s;
    y.bandwidth_share =
        ((least.kv_s + least.weights_s) / given + prompts * v->prefill_read / v->W) / y.tpot_s;
    return y;
}

double sp_sequences_within(const struct sp_served *v, const struct sp_served *reader, double most,
                           double tpot_s, double step_s)
{
    double low = 0, high = fmin(most, 1e9) + 1;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (sp_steady(v, reader, middle, step_s).tpot_s <= tpot_s)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double sp_sequences_at_rate(const struct sp_served *v, const struct sp_served *reader, double most,
                            double requests_per_s, double step_s)
{
    double low = 0, high = fmin(most, 1e9);
    if (!(high > 0 && requests_per_s < sp_steady(v, reader, high, step_s).requests_per_s))
        return INFINITY;
    for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
        const double middle = (low + high) / 2;
        if (sp_steady(v, reader, middle, step_s).requests_per_s < requests_per_s)
            low = middle;
        else
            high = middle;
    }
    return high;
}

struct sp_token_cost sp_token_cost(const struct sp_served *v, const struct sp_served *reader,
                                   double B, double step_s)
{
    const struct sp_service *const s = &v->service;
    const double prompt = reader->service.chips * sp_prefill_time(reader).prefill_s;
    const double answer = s->chips * s->output * step_s / B;
    return (struct sp_token_cost){.input = prompt / s->input,
                                  .output = answer / s->output,
                                  .blended = (prompt + answer) / (s->input + s->output),
                                  .all_on_output = (prompt + answer) / s->output};
}

struct sp_token_cost sp_cost_with_idle(struct sp_token_cost cost, double chips, double paid)
{
    const double more = paid / chips;
    return (struct sp_token_cost){.input = more * cost.input,
                                  .output = more * cost.output,
                                  .blended = more * cost.blended,
                                  .all_on_output = more * cost.all_on_output};
}
