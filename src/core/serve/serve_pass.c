/* One forward pass of an engine on one rank: matmuls, experts, attention, elementwise work,
 * collectives, launches. */
#include <math.h>

#include <scaleplan/network.h>
#include <scaleplan/serve_estimate.h>

#include "core/network/token_copies.h"
#include "core/layers/layer_rank.h"
#include "core/serve/routing.h"
#include "core/smooth.h"
#include "core/require.h"

/* Share of the memory bandwidth reached by elementwise kernels. */
#define ELEMENTWISE_SHARE 0.7

/* Kernel efficiencies per format for chips without measurements. */
static const struct {
    enum sp_kernel_format curve;
    double share;
} formats[SP_DTYPES] = {
    [SP_BF16] = {SP_KERNEL_BF16, 0.7}, [SP_FP16] = {SP_KERNEL_BF16, 0.7},
    [SP_TF32] = {SP_KERNEL_BF16, 0.7}, [SP_FP32] = {SP_KERNEL_BF16, 0.7},
    [SP_FP8] = {SP_KERNEL_FP8, 0.62},  [SP_INT8] = {SP_KERNEL_FP8, 0.62},
    [SP_INT4] = {SP_KERNEL_FP8, 0.62}, [SP_FP4] = {SP_KERNEL_NVFP4, 0.5},
    [SP_FP64] = {SP_KERNEL_BF16, 0.7},
};
#define USUAL_MEMORY_SHARE 0.85
#define USUAL_HALF_TILE 16.0

/* Efficiency of matmuls in a format; unmeasured formats take the default. */
static struct sp_matmul_work work_in(const struct sp_pass *p, enum sp_dtype wanted)
{
    const struct sp_chip *const chip = &p->served.service.hw->chip;
    const enum sp_dtype dtype = sp_compute_dtype(chip, wanted);
    const struct sp_matmul_curve *const c = &chip->kernels.matmul[formats[dtype].curve];
    const bool measured = c->share > 0;
    const double plain_s = chip->kernels.matmul[SP_KERNEL_BF16].launch_s;
    return (struct sp_matmul_work){
        .peak = chip->peak_flops_per_s[dtype],
        .share = measured ? c->share : formats[dtype].share,
        .memory_share = measured ? c->memory_share : USUAL_MEMORY_SHARE,
        .half_tile = measured ? c->half_tile : USUAL_HALF_TILE,
        .cast_s = measured ? sp_larger(0, c->launch_s - plain_s) : 0,
    };
}

/* Bytes per element to convert a 16-bit input to a narrower format. */
static double cast_bytes(const struct sp_pass *p, enum sp_dtype wanted)
{
    const struct sp_chip *const chip = &p->served.service.hw->chip;
    const struct sp_matmul_curve *const c =
        &chip->kernels.matmul[formats[sp_compute_dtype(chip, wanted)].curve];
    return c->share > 0 ? c->cast_bytes : 0;
}

/* Adds a rank's part of a matmul to its group. */
static void add_matmul(struct sp_pass *p, const struct sp_matmul *m, double layers,
                       enum sp_matmul_group group)
{
    const double ranks = p->plan.tp;
    const bool plain = group == SP_GROUP_PLAIN || group == SP_GROUP_HEAD;
    const double out = m->split == SP_TP_COLUMNS ? sp_columns_on_rank(m, ranks) : m->out;
    const double in = m->split == SP_TP_ROWS ? m->in / ranks : m->in;
    const double times = layers * m->count;
    struct sp_matmul_work *const w = &p->group[group];
    w->flops += times * 2 * in * out;
    w->weight_bytes += times * in * out * (plain ? SP_ELEMENT : p->served.service.weight_bytes);
    w->token_bytes += times * SP_ELEMENT * (in + out);
    if (!plain)
        p->element_bytes += times * in * cast_bytes(p, p->served.service.math);
}

/* Adds one routed expert in each of these layers. */
static void add_expert(struct sp_pass *p, const struct sp_matmul *m, double layers)
{
    const double weights = layers * m->in * m->out / p->plan.etp;
    p->expert_flops += 2 * weights;
    p->expert_bytes += weights * p->served.service.expert_bytes;
    p->expert_token_bytes +=
        layers * SP_ELEMENT *
        (m->split == SP_TP_ROWS ? m->in / p->plan.etp + m->out : m->in + m->out / p->plan.etp);
    p->routed = m->count / p->plan.ep;
    p->experts = (m->count + p->served.service.redundant) / p->plan.ep;
}

/* Tokens of the busiest rank over the mean, if copies are made of the experts with most tokens per
 * copy and the fullest copy shares its rank with the emptiest. */
static double balanced(double experts, double copies, double ranks)
{
    enum { MOST = 512 };
    double sum = 0, load[MOST], most = 0;
    int copy[MOST];
    const int n = (int)fmin(experts, MOST);
    if (n < 1)
        return 1;
    for (int i = 0; i < n; i++) {
        load[i] = pow(i + 1, -EXPERT_POWER);
        sum += load[i];
        copy[i] = 1;
    }
    for (int c = 0; c < (int)copies; c++) {
        int first = 0;
        for (int i = 1; i < n; i++)
            first = load[i] / copy[i] > load[first] / copy[first] ? i : first;
        copy[first]++;
    }
    for (int i = 0; i < n; i++)
        most = fmax(most, load[i] / copy[i]);
    return fmax(1, most * ranks / sum);
}

static struct sp_routing routing_of(const struct sp_pass *p)
{
    const double experts = p->routed * p->plan.ep;
    return (struct sp_routing){.experts = experts,
                               .picks = p->expert_share * experts,
                               .ranks = p->plan.ep,
                               .greatest = p->greatest};
}

static double imbalance_of(const struct sp_pass *p)
{
    const struct sp_service *const s = &p->served.service;
    const struct sp_routing routing = routing_of(p);
    if (p->plan.ep <= 1)
        return 1;
    if (s->imbalance > 0)
        return s->imbalance;
    return s->redundant > 0 ? balanced((double)s->model->moe.experts, s->redundant, p->plan.ep)
                            : sp_uneven_ranks(&routing, p->served.expert_variance);
}

static void add_matmuls(struct sp_pass *p, const struct sp_layer *l, double layers)
{
    for (int i = 0; i < l->matmuls; i++) {
        const struct sp_matmul *const m = &l->matmul[i];
        if (m->part == SP_PART_EXPERTS)
            add_expert(p, m, layers);
        else
            add_matmul(p, m, layers,
                       m->vocab                       ? SP_GROUP_HEAD
                       : m->plain                     ? SP_GROUP_PLAIN
                       : m->part == SP_PART_ATTENTION ? SP_GROUP_ATTENTION
                                                      : SP_GROUP_MLP);
    }
}

/* Of the list's copies of tokens for experts, the share that an engine makes: into the experts'
 * order and back, on one side of an exchange only, which takes tokens from where they lie. */
#define COPIED_SHARE 0.5

/* Adds memory-bound traffic per token; TP divides tensors that it shards. Ranks that share an
 * expert's width each copy whole tokens. */
static void add_moves(struct sp_pass *p, const struct sp_layer *l, double layers)
{
    for (int i = 0; i < l->n_moved; i++) {
        const struct sp_moved *const m = &l->moved[i];
        const bool copies = m->routed && m->op == SP_OP_ROUTE;
        const double split = m->sharded_by == SP_BY_WIDTH ? p->plan.tp : 1;
        const double width =
            copies ? COPIED_SHARE * m->width * p->plan.etp / p->plan.tp : m->width / split;
        if (!m->casts) /* casts of matmuls are counted with them */
            p->element_bytes += layers * SP_ELEMENT * width;
    }
}

/* A group of `ranks` adjacent devices. */
static struct sp_device_group group_of(const struct sp_hardware *hw, double ranks)
{
    struct sp_device_group g = sp_group_on(hw);
    const int64_t length = (int64_t)ranks;
    struct sp_layout layout;
    g.nodes.devices = ranks;
    g.nodes.domain_bytes_per_s =
        sp_domain_bytes_per_s(&hw->network, fmax(2, fmin(ranks, g.nodes.domain)));
    if (!g.switched && sp_lay_out(hw, &length, 1, &layout))
        g.torus = sp_group_of(hw, &layout, 1);
    return g;
}

/* Link time of a collective without latencies. s per byte. */
static double s_per_byte(const struct sp_hardware *hw, enum sp_collective op, double ranks)
{
    const struct sp_device_group g = group_of(hw, ranks);
    return ranks > 1 ? sp_time_of_collective(op, 1, &g).throughput_s : 0;
}

/* Most chips of a node. */
#define NODE 8

/* One direction of an expert exchange. s per byte of a rank's tokens. Inside a node, and where most
 * ranks have an expert of a token, engines gather all tokens on all ranks (TensorRT-LLM 1.0:
 * fused_moe_cutlass.py). Otherwise kernels for prompts send a token once to each of the nodes that
 * routing allows, those for few tokens to each expert at once. DeepEP. */
static double exchange_s_per_byte(const struct sp_pass *p, double picks, bool once_a_node)
{
    const struct sp_hardware *const hw = p->served.service.hw;
    const struct sp_network *const net = &hw->network;
    const double ranks = p->plan.ep, inside = fmin(ranks, (double)net->domain);
    if (net->kind == SP_TORUS)
        return picks * s_per_byte(hw, SP_ALL_TO_ALL, ranks) * ranks;
    const struct sp_expert_group group = {
        .ranks = ranks,
        .inside = inside,
        .picks = picks,
        .once_a_node = once_a_node,
        .most_nodes = sp_most_nodes(&p->served.service.model->moe, ranks / inside)};
    struct sp_copies_of_token copies = sp_copies_of_token(&group);
    if (inside == ranks && (ranks <= picks || net->domain <= NODE))
        copies.within = ranks - 1; /* gathered by all, and summed by each for its own tokens */
    const double near = sp_domain_bytes_per_s(net, fmax(2, group.inside));
    return fmax(copies.within / near, copies.across / net->scaleout_bytes_per_s);
}

/* Adds an all-reduce over TP, of `bytes` per token, in each of `layers` layers. */
static void add_reduce(struct sp_pass *p, double layers, double bytes)
{
    p->reduces += layers;
    p->reduce_s_per_token +=
        layers * bytes * s_per_byte(p->served.service.hw, SP_ALL_REDUCE, p->plan.tp);
}

/* Attention and MLP each end in an all-reduce over TP; experts with attention-DP exchange tokens
 * instead. Norms over all heads add up their 4-byte sums. */
static void add_collectives(struct sp_pass *p, const struct sp_layer *l, double layers)
{
    const struct sp_serve_plan *const plan = &p->plan;
    const double bytes = SP_ELEMENT * l->width;
    const bool exchanges = l->picks > 0 && plan->ep > 1 && plan->attention_dp > 1;
    if (plan->tp > 1) {
        add_reduce(p, layers * (exchanges ? 1 : 2), bytes);
        if (l->mixer.sums > 0)
            add_reduce(p, layers, 4 * l->mixer.sums);
    }
    if (exchanges) {
        /* there in the format of the experts' arithmetic, back in 16 bits */
        const enum sp_kernel_format math = formats[p->served.service.expert_math].curve;
        const bool narrow = math != SP_KERNEL_BF16;
        const double both = layers * bytes * (narrow ? 1.5 : 2) / plan->tp;
        p->exchanges += 2 * layers;
        p->exchange_s_per_token += both * exchange_s_per_byte(p, l->picks, false);
        p->prompt_exchange_s_per_token += both * exchange_s_per_byte(p, l->picks, true);
    }
}

static void add_layers(struct sp_pass *p, const struct sp_layers *layers, int kind)
{
    const struct sp_layer *const l = &layers->list[kind];
    const double n = layers->count[kind];
    add_matmuls(p, l, n);
    if (kind != SP_LAYER_OUTPUT) /* its traffic is the loss */
        add_moves(p, l, n);
    if (kind >= SP_LAYER_KINDS)
        return;
    add_collectives(p, l, n);
    p->kind[p->kinds].layers = n;
    p->kind[p->kinds++].mixer = l->mixer;
    p->layers += n;
    p->mixtures += l->picks > 0 ? n : 0;
    p->recurrences += l->mixer.state > 0 ? n : 0;
}

void sp_use_serving_constants(const double value[SP_PROFILE_ROOM], struct sp_pass *p)
{
    for (int i = 0; i < SP_SERVING_CONSTANTS; i++)
        p->value[i] = value[i];
    for (int g = 0; g < SP_GROUPS; g++) {
        struct sp_matmul_work *const w = &p->group[g];
        w->rate = w->peak * fmin(1, w->share * value[SP_V_MATMUL]);
        w->bytes_per_s = p->memory_rate * fmin(1, w->memory_share * value[SP_V_MEMORY]);
    }
    const bool wide = p->alone.peak <= p->plain_peak;
    const double alone = value[wide ? SP_V_EXPERT_MATMUL_16 : SP_V_EXPERT_MATMUL];
    p->expert_rate =
        p->alone.peak * (p->exchanges > 0 ? fmin(1, p->alone.share * value[SP_V_GROUPED]) : alone);
}

struct sp_serve_plan sp_serve_plan_of(const struct sp_service *s)
{
    const double pp = fmax(1, s->pp), dp = fmax(1, s->attention_dp);
    const double tp = s->tp > 0 ? s->tp : s->chips / (dp * pp), ranks = tp * dp;
    const double usual = dp > 1 ? ranks : 1, ep = s->ep > 0 ? s->ep : usual;
    return (struct sp_serve_plan){tp, dp, pp, ep, ranks / ep};
}

void sp_prepare_pass(const struct sp_served *served, const struct sp_profile *profile,
                     struct sp_pass *p)
{
    sp_require(sp_model_has_shape(served->service.model), "the model must have a shape");
    const struct sp_service *const s = &served->service;
    const struct sp_model *const m = s->model;
    const struct sp_chip *const chip = &s->hw->chip;
    struct sp_layers layers;
    *p = (struct sp_pass){.plan = sp_serve_plan_of(s), .served = *served};
    for (int g = 0; g < SP_GROUPS; g++)
        p->group[g] = work_in(p, g == SP_GROUP_PLAIN || g == SP_GROUP_HEAD ? SP_BF16 : s->math);
    p->alone = work_in(p, s->expert_math);
    sp_list_model(m, &layers);
    for (int kind = 0; kind < SP_LAYER_LISTS; kind++)
        if (layers.count[kind] > 0)
            add_layers(p, &layers, kind);
    p->memory_rate = chip->hbm_bytes_per_s;
    p->expert_share = 1 / sp_expert_ratio(m);
    p->greatest = sp_greatest_normal(p->plan.ep);
    p->imbalance = imbalance_of(p);
    p->plain_peak = chip->peak_flops_per_s[sp_compute_dtype(chip, SP_BF16)];
    sp_use_serving_constants(profile->value, p);
    p->cache_share = sp_kv_copies(m, p->plan.tp) / p->plan.tp;
    if (m->mla.kv_lora_rank > 0)
        p->absorbed = 2 * (double)m->heads / p->plan.tp *
                      (2 * (double)m->mla.kv_lora_rank + (double)m->mla.qk_rope_head_dim);
}

/* x tokens through a group of matmuls. */
static double matmul_s(const struct sp_matmul_work *w, double x)
{
    if (x <= 0)
        return 0;
    return sp_smooth_max(w->flops * (x + w->half_tile) / w->rate,
                         (w->weight_bytes + x * w->token_bytes) / w->bytes_per_s);
}

/* Routed experts of the fullest rank: the tokens of all ranks, and the experts that they use. */
static double experts_s(const struct sp_pass *p, double tokens)
{
    if (p->experts <= 0 || tokens <= 0)
        return 0;
    const struct sp_routing routing = routing_of(p);
    const double of_copy = p->expert_share * p->routed / p->experts;
    const double touched =
        sp_most_used(&routing, p->experts,
                     p->experts * sp_experts_touched(of_copy, p->served.expert_variance, tokens));
    const double rows =
        tokens * p->expert_share * p->routed * sp_fullest_rank(&routing, p->imbalance, tokens);
    const double tile = p->value[p->exchanges > 0 ? SP_V_GROUPED_TILE : SP_V_EXPERT_TILE];
    const double rounded = rows + touched * tile;
    return sp_smooth_max(rounded * p->expert_flops / p->expert_rate,
                         (touched * p->expert_bytes + rows * p->expert_token_bytes) /
                             (p->memory_rate * p->alone.memory_share));
}

/* The cache is read once for all tokens of a sequence; arithmetic counts per token. */
static double decode_attention_s(const struct sp_pass *p, double sequences, double checked,
                                 double context)
{
    const double element = p->served.service.kv_bytes;
    double bytes = 0, tokens = 0;
    for (int k = 0; k < p->kinds; k++) {
        bytes += p->kind[k].layers * sp_mixer_step_bytes(&p->kind[k].mixer, context, element);
        tokens += p->kind[k].layers * context;
    }
    const double reads =
        sequences * p->cache_share * bytes / (p->memory_rate * p->value[SP_V_CACHE]);
    const double works =
        sequences * checked * p->absorbed * tokens / (p->plain_peak * p->value[SP_V_PROMPT]);
    return fmax(reads, works);
}

static double prompt_attention_s(const struct sp_pass *p, double tokens, double seen)
{
    double flops = 0;
    if (tokens <= 0)
        return 0;
    for (int k = 0; k < p->kinds; k++)
        flops += p->kind[k].layers * sp_mixer_flops(&p->kind[k].mixer, 2 * seen, 0.5);
    return tokens * flops / p->plan.tp / (p->plain_peak * p->value[SP_V_PROMPT]);
}

static double reduces_s(const struct sp_pass *p, double tokens)
{
    const double link = p->value[SP_V_LINK], reduce = p->value[SP_V_REDUCE];
    const double deeper = 0.75 + log2(p->plan.tp) / 4;
    return p->reduces * reduce * deeper + tokens * p->reduce_s_per_token / link;
}

/* Of tokens of steps and of prompts. */
static double exchanges_s(const struct sp_pass *p, double steps, double prompts)
{
    const double link = p->value[SP_V_LINK], reduce = p->value[SP_V_REDUCE];
    const double more = 0.75 + log2(p->plan.ep) / 4;
    return p->exchanges * 1.5 * reduce * more +
           (steps * p->exchange_s_per_token + prompts * p->prompt_exchange_s_per_token) / link;
}

/* Everything but the exchanges. */
static struct sp_pass_time work_of(const struct sp_pass *p, const struct sp_pass_load *load)
{
    const double d = p->plan.attention_dp, sequences = load->decode / d;
    const double checked = load->decode * (1 + load->drafts);
    const double all = checked + load->prompt, T = all / d;
    const struct sp_matmul_work *const g = p->group;
    struct sp_pass_time t = {
        .matmul_s = matmul_s(&g[SP_GROUP_ATTENTION], T) + matmul_s(&g[SP_GROUP_MLP], T) +
                    matmul_s(&g[SP_GROUP_PLAIN], T) +
                    matmul_s(&g[SP_GROUP_HEAD], (checked + load->prompts) / d),
        .experts_s = experts_s(p, all),
        .attention_s = decode_attention_s(p, sequences, 1 + load->drafts, load->context) +
                       prompt_attention_s(p, load->prompt / d, load->seen),
        .elementwise_s = T * p->element_bytes / (p->memory_rate * ELEMENTWISE_SHARE),
        .comm_s = reduces_s(p, T),
        .launch_s = p->layers * p->value[SP_V_LAYER] + p->mixtures * p->value[SP_V_MIXTURE] +
                    p->value[SP_V_STEP] + sequences * p->value[SP_V_SEQUENCE],
    };
    /* two matmuls of attention and two of an MLP or of experts convert their input first */
    t.launch_s += 2 * ((2 * p->layers - p->mixtures) * g[SP_GROUP_ATTENTION].cast_s +
                       p->mixtures * p->alone.cast_s);
    if (load->prompt > 0) /* for prompts of any length, which no graph captures */
        t.launch_s += p->layers * p->value[SP_V_EAGER] + p->recurrences * p->value[SP_V_RECURRENT];
    t.total_s = t.matmul_s + t.experts_s + t.attention_s + t.elementwise_s + t.comm_s + t.launch_s;
    return t;
}

static void add_exchanges(struct sp_pass_time *t, double seconds)
{
    t->comm_s += seconds;
    t->total_s += seconds;
}

/* Two batches, of which one exchanges while the other computes: both read the weights. Engines do
 * so if it is faster. */
static struct sp_pass_time pass_of_two(const struct sp_pass *p, const struct sp_pass_load *load)
{
    struct sp_pass_load half = *load;
    half.decode /= 2;
    half.prompts /= 2;
    half.prompt /= 2;
    struct sp_pass_time t = work_of(p, &half);
    double *const parts[] = {&t.matmul_s,      &t.experts_s, &t.attention_s,
                             &t.elementwise_s, &t.comm_s,    &t.total_s};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] *= 2;
    t.total_s -= t.launch_s; /* it was doubled; the graphs of both are launched while they run */
    const double d = p->plan.attention_dp, checked = half.decode * (1 + half.drafts);
    add_exchanges(&t, fmax(0, 2 * exchanges_s(p, checked / d, half.prompt / d) - t.total_s));
    return t;
}

struct sp_pass_time sp_pass_time(const struct sp_pass *p, const struct sp_pass_load *load)
{
    const double d = p->plan.attention_dp, checked = load->decode * (1 + load->drafts);
    struct sp_pass_time t = work_of(p, load);
    if (p->exchanges <= 0)
        return t;
    add_exchanges(&t, exchanges_s(p, checked / d, load->prompt / d));
    if (!p->served.service.moe_overlap)
        return t;
    const struct sp_pass_time two = pass_of_two(p, load);
    return two.total_s < t.total_s ? two : t;
}
