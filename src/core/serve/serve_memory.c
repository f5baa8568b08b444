/* Memory of an instance: weights, KV cache. */
#include <math.h>

#include <scaleplan/flops.h>
#include <scaleplan/forms.h>
#include <scaleplan/layer.h>
#include <scaleplan/serve_estimate.h>

#include "core/require.h"

/* Cached elements that a token adds, including its share of an entry. */
static double token_elements(const struct sp_mixer *x)
{
    return x->cache + (x->ratio > 0 ? (x->cache_entry + x->cache_index) / x->ratio : 0);
}

double sp_kv_bytes_per_token(const struct sp_model *m, double element_bytes)
{
    struct sp_layers layers;
    double elements = 0;
    sp_list_model(m, &layers);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
        if (layers.count[kind] > 0)
            elements += layers.count[kind] * token_elements(&layers.list[kind].mixer);
    return element_bytes * elements;
}

/* Tokens whose keys and values a layer keeps, mean over its kind. A chunk counts as full, as at its
 * last token: engines make room for that. */
static double kept_tokens(const struct sp_mixer *x, double tokens)
{
    const double W = x->window, g = x->global;
    return W > 0 && W < tokens && x->picked <= 0 ? g * tokens + (1 - g) * W : tokens;
}

/* Tokens whose keys and values one more token reads: with an indexer, the picked ones. */
static double read_tokens(const struct sp_mixer *x, double tokens)
{
    return x->picked > 0 ? fmin(tokens, x->window) : kept_tokens(x, tokens);
}

/* Cache elements per sequence and layer for `counted` of its tokens, and for all of its entries or
 * those that one more token reads. */
static double cache_elements(const struct sp_mixer *x, double tokens, double counted, bool read)
{
    if (!(x->ratio > 0))
        return x->cache * counted + x->cache_index * (tokens - counted);
    const double all = sp_entries(x->ratio, tokens);
    const double entries = read && x->entries > 0 ? fmin(x->entries, all) : all;
    return x->cache * counted + x->cache_entry * entries + x->cache_index * all;
}

/* 4 bytes per state element and 2 per channel and token of a convolution, whatever the sequence
 * length. TP divides states, so they have no copies. */
double sp_mixer_step_bytes(const struct sp_mixer *x, double tokens, double element_bytes)
{
    return 2 * x->state + element_bytes * cache_elements(x, tokens, read_tokens(x, tokens), true);
}

/* Bytes of a sequence's cache, or of what one more token reads of it. */
static double cache_bytes(const struct sp_model *model, double tokens, double element_bytes,
                          bool read)
{
    struct sp_layers layers;
    double elements = 0;
    sp_list_model(model, &layers);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
        const struct sp_mixer *const mixer = &layers.list[kind].mixer;
        if (layers.count[kind] > 0)
            elements += layers.count[kind] * cache_elements(mixer, tokens,
                                                            read ? read_tokens(mixer, tokens)
                                                                 : kept_tokens(mixer, tokens),
                                                            read);
    }
    return element_bytes * elements;
}

double sp_kv_bytes_of_sequence(const struct sp_model *model, double tokens, double element_bytes)
{
    return cache_bytes(model, tokens, element_bytes, false);
}

double sp_kv_bytes_read(const struct sp_model *model, double tokens, double element_bytes)
{
    return cache_bytes(model, tokens, element_bytes, true);
}

double sp_state_bytes_of_sequence(const struct sp_model *model)
{
    struct sp_layers layers;
    double bytes = 0;
    if (!sp_model_has_shape(model))
        return 0;
    sp_list_model(model, &layers);
    for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
        if (layers.count[kind] > 0)
            bytes += layers.count[kind] * layers.list[kind].mixer.state;
    return bytes;
}

/* Without a degree the cache is spread evenly over the chips, as in the textbook. */
double sp_kv_copies(const struct sp_model *model, double tp)
{
    if (model->mla.kv_lora_rank > 0)
        return tp;
    return model->kv_heads > 0 ? tp / fmin(tp, (double)model->kv_heads) : 1;
}

double sp_paged_tokens(double tokens, double block)
{
    return ceil(tokens / block) * block;
}

double sp_cache_bytes_of_sequence(const struct sp_service *s, double tokens)
{
    if (!isnan(s->kv_token_bytes))
        return s->kv_token_bytes * tokens;
    if (s->keeps_all && sp_model_has_shape(s->model))
        return sp_kv_bytes_per_token(s->model, s->kv_bytes) * tokens;
    return sp_model_has_shape(s->model) ? sp_kv_bytes_of_sequence(s->model, tokens, s->kv_bytes)
                                        : NAN;
}

/* Cache bytes that one more token reads. */
static double read_bytes(const struct sp_service *s, double tokens)
{
    return isnan(s->kv_token_bytes) && sp_model_has_shape(s->model)
               ? sp_kv_bytes_read(s->model, tokens, s->kv_bytes)
               : sp_cache_bytes_of_sequence(s, tokens);
}

static void weigh(const struct sp_service *s, struct sp_served *v)
{
    const struct sp_model *const m = s->model;
    const bool shape = sp_model_has_shape(m), looks_up = shape && !s->all_experts;
    const struct sp_params p = sp_count_params(m);
    const double ranks = shape ? fmax(s->attention_dp, 1) : 1;
    v->experts = shape ? p.experts : 0;
    v->shared = ranks * (p.total - v->experts);
    v->table = looks_up && !m->tied_embeddings ? (double)m->vocab * (double)m->d_model : 0;
    v->active = p.passed - v->table;
    v->table += looks_up ? p.lookup : 0;
    v->table *= ranks;
    v->expert_share = s->all_experts ? 1 : 1 / sp_expert_ratio(m);
    v->expert_variance = v->experts > 0 ? sp_expert_variance((double)m->moe.experts) : 0;
    v->copied = v->experts > 0 ? v->experts * (1 + s->redundant / (double)m->moe.experts) : 0;
    v->weights = sp_weights_held(v->shared, s->weight_bytes, v->copied, s->expert_bytes);
}

/* FLOPs of a prompt whose first tokens are cached: only the last one's logits are needed. */
static double prefill_flops(const struct sp_service *s, double active)
{
    const double hit = s->prefix_hit * s->input, T = s->input - hit;
    const double head = s->all_experts || !sp_model_has_shape(s->model)
                            ? 0
                            : (double)s->model->vocab * (double)s->model->d_model;
    const double matmuls = 2 * (active * T - head * fmax(0, T - 1));
    if (!s->attention || !sp_model_has_shape(s->model))
        return matmuls;
    const double all =
        s->input * sp_forward_flops_per_token(s->model, s->input, true, false).attention;
    const double cached =
        hit > 0 ? hit * sp_forward_flops_per_token(s->model, hit, true, false).attention : 0;
    return matmuls + all - cached;
}

/* Memory for weights and cache. bytes. */
static double capacity_of(const struct sp_service *s, double weights)
{
    const double f = s->memory_fraction, hbm = sp_capacity_bytes(&s->hw->chip);
    return s->fraction_of_free ? sp_room_beside_weights(s->chips, hbm, weights, f, s->buffer_bytes)
                               : sp_room_of_memory(s->chips, hbm, f, s->buffer_bytes);
}

/* FLOP/s of a chip over a token's matmuls, some in the format of routed experts. */
static double peak_of(const struct sp_service *s, const struct sp_served *v)
{
    const struct sp_chip *const chip = &s->hw->chip;
    const double C = chip->peak_flops_per_s[sp_compute_dtype(chip, s->math)];
    const double C_e = chip->peak_flops_per_s[sp_compute_dtype(chip, s->expert_math)];
    const double of_experts = v->experts / sp_expert_ratio(s->model);
    if (of_experts <= 0 || C == C_e)
        return C;
    return v->active / ((v->active - of_experts) / C + of_experts / C_e);
}

void sp_prepare_service(const struct sp_service *s, struct sp_served *v)
{
    sp_require(s->chips > 0 && s->block > 0, "the chips and the cache's block must be positive");
    const struct sp_chip *const chip = &s->hw->chip;
    const double N = s->chips;
    *v = (struct sp_served){.service = *s};
    weigh(s, v);
    v->copies = s->tp > 0 ? sp_kv_copies(s->model, s->tp) : 1;
    v->kv_token = sp_cache_bytes_of_sequence(s, 1);
    v->state = sp_state_bytes_of_sequence(s->model);
    v->kv_held =
        v->copies * sp_cache_bytes_of_sequence(s, sp_paged_tokens(s->held_tokens, s->block)) +
        v->state;
    /* a state is read and written back */
    v->kv_read = v->copies * read_bytes(s, s->step_tokens) + 2 * v->state;
    v->capacity = capacity_of(s, v->weights);
    v->peak = peak_of(s, v);
    v->C = N * v->peak;
    v->W = N * chip->hbm_bytes_per_s;
    v->prefill_flops = prefill_flops(s, v->active);
    v->fetches_per_s = INFINITY;
    if (s->host_bytes_per_s > 0) {
        const double ranks = fmax(s->attention_dp, 1);
        v->fetched = v->copies * sp_cache_bytes_of_sequence(s, s->prefix_hit * s->input) + v->state;
        v->fetch_chips = N / ranks;
        v->fetch_s = sp_host_fetch_time(v->fetched, v->fetch_chips, s->host_bytes_per_s);
        v->fetches_per_s = ranks / v->fetch_s;
    }
    v->prefill_read = sp_weights_read_bytes(v, fmax(1, s->input * (1 - s->prefix_hit)));
}

void sp_prepare_draft(const struct sp_service *service, struct sp_served *draft)
{
    struct sp_service s = *service;
    s.model = service->draft_model;
    s.tp = 0;
    s.attention_dp = 1;
    s.ep = 0;
    s.kv_token_bytes = NAN;
    sp_prepare_service(&s, draft);
}

double sp_held_tokens(const struct sp_engine *engine, double input, double output)
{
    return input + (engine->reserves_answer ? output : output / 2);
}

double sp_at_once(const struct sp_service *s, double in_flight)
{
    return s->most_running > 0 ? fmin(in_flight, s->most_running) : in_flight;
}

double sp_room_for_sequences(const struct sp_served *v)
{
    const double draft = v->draft ? v->draft->weights : 0;
    const double kv = v->kv_held + (v->draft ? v->draft->kv_held : 0);
    if (v->capacity - v->weights - draft < 0)
        return 0;
    return sp_at_once(&v->service, kv > 0 ? (v->capacity - v->weights - draft) / kv : INFINITY);
}

double sp_most_sequences(const struct sp_served *v)
{
    return floor(sp_room_for_sequences(v));
}

double sp_most_context(const struct sp_served *v, double B)
{
    const struct sp_service *const s = &v->service;
    const double room = (v->capacity - v->weights - B * v->state) / (v->copies * B);
    double low = 0, high = 1;
    if (isnan(v->kv_token) || v->kv_token <= 0)
        return INFINITY;
    while (high < 1e12 && sp_cache_bytes_of_sequence(s, high * s->block) <= room)
        high *= 2;
    if (high >= 1e12)
        return INFINITY;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (sp_cache_bytes_of_sequence(s, middle * s->block) <= room)
            low = middle;
        else
            high = middle;
    }
    return low * s->block;
}

/* Counts sequences only if --concurrency gives their number; otherwise the batch is what fits,
 * which would be circular. */
double sp_chips_to_hold(const struct sp_served *v, double B)
{
    const struct sp_service *const s = &v->service;
    const double f = s->memory_fraction, hbm = sp_capacity_bytes(&s->hw->chip);
    const double draft = v->draft ? v->draft->weights : 0;
    const double draft_kv = v->draft ? v->draft->kv_held : 0;
    const bool caches = v->kv_held > 0;
    return sp_chips_for_load(v->weights, draft, s->fraction_of_free ? f : 1, caches ? B : 0,
                             caches ? v->kv_held : 0, caches ? draft_kv : 0, f, hbm,
                             s->buffer_bytes);
}
