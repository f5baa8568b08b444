/* The kinds of layers, and the lists of what each is made of. */
#include <scaleplan/layer.h>

/* The policies of the closed form that keep a tensor. */
enum {
    NONE = 1 << SP_REMAT_NONE,
    SELECTIVE = 1 << SP_REMAT_SELECTIVE,
    MLP = 1 << SP_REMAT_MLP,
    DOTS = 1 << SP_REMAT_DOTS,
    FULL = 1 << SP_REMAT_FULL
};

struct sp_layer_counts sp_count_layers(const struct sp_model *model, int64_t layers)
{
    const struct sp_moe *moe = &model->moe;
    struct sp_layer_counts counts = {{layers, 0}};
    if (moe->experts == 0 || layers <= moe->dense_layers)
        return counts;
    /* of the layers after the dense ones each `every`th is a mixture */
    counts.of[SP_LAYER_MOE] = (layers - moe->dense_layers) / (moe->every > 1 ? moe->every : 1);
    counts.of[SP_LAYER_DENSE] -= counts.of[SP_LAYER_MOE];
    return counts;
}

/* One row of a list each: the fields in their order, then by name. */
#define MATMUL(l, ...) add_matmul(l, (struct sp_matmul){.name = __VA_ARGS__})
#define TENSOR(l, ...) add_tensor(l, (struct sp_tensor){.weights = __VA_ARGS__})
#define KEEP(l, ...) ((l)->kept[(l)->n_kept++] = (struct sp_kept){.width = __VA_ARGS__})
#define MOVE(l, ...) ((l)->moved[(l)->n_moved++] = (struct sp_moved){.width = __VA_ARGS__})

static void add_matmul(struct sp_layer *l, struct sp_matmul row)
{
    if (row.count == 0)
        row.count = row.passed = 1;
    l->matmul[l->matmuls++] = row;
}

static void add_tensor(struct sp_layer *l, struct sp_tensor row)
{
    if (row.weights > 0)
        l->tensor[l->tensors++] = row;
}

/* Weights of one normalisation of `width` channels: scale, and shift for a biased LayerNorm. */
static double norm_weights(const struct sp_model *model, double width)
{
    static const double weights[] = {[SP_NORM_RMS] = 1,
                                     [SP_NORM_LAYER] = 2,
                                     [SP_NORM_LAYER_NO_BIAS] = 1,
                                     [SP_NORM_NO_AFFINE] = 0};
    return weights[model->norm] * width;
}

/* Share of the layers that have no window. */
static double global_share(const struct sp_model *m)
{
    const int64_t global = m->global_every > 0 ? m->layers / m->global_every : 0;
    return m->sliding_window > 0 ? (double)global / (double)m->layers : 1;
}

/* What keys and values, scores and their sum keep, whatever made the queries, keys and values. */
static void keep_scores(struct sp_layer *l, enum sp_operator qkv)
{
    const struct sp_mixer *x = &l->mixer;
    const double q = x->heads * x->qk, kv = x->kv_heads * (x->qk + x->v), out = x->heads * x->v;
    KEEP(l, q, SP_BY_WIDTH, qkv, SP_COPIES_QKV, NONE | SELECTIVE | DOTS);
    KEEP(l, kv, SP_BY_WIDTH, qkv, SP_COPIES_QKV, NONE | SELECTIVE | DOTS, .groups = x->kv_heads);
    KEEP(l, out, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE | SELECTIVE, .with_norms = true);
    KEEP(l, out, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_EXCHANGED, .with_norms = true);
    KEEP(l, 2 * x->heads, SP_BY_WIDTH, SP_OP_CORE, SP_COPIES_ONE, NONE); /* log-sum-exp, 4 bytes */
}

/* Queries, and keys and values of fewer heads: grouped-query attention. */
static void list_grouped(const struct sp_model *m, struct sp_layer *l)
{
    const double D = (double)m->d_model, H = (double)m->head_dim;
    const double a = (double)m->heads, K = (double)m->kv_heads;
    l->mixer.kv_heads = K;
    l->mixer.qk = l->mixer.v = H;
    l->mixer.cache = 2 * K * H;
    MATMUL(l, "QKV projection", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_COLUMNS, D, H * (a + 2 * K),
           .groups = K, .group_out = 2 * H, .bias = m->qkv_bias);
    MATMUL(l, "output projection", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_ROWS, H * a, D,
           .bias = m->o_bias);
}

/* Multi-head latent attention: low-rank latents with norms of their own, from which queries, keys
 * and values of all heads are expanded. DeepSeek-V2, section 2.1. */
static void list_latent(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_mla *mla = &m->mla;
    const double D = (double)m->d_model, a = (double)m->heads;
    const double q_l = (double)mla->q_lora_rank, k_l = (double)mla->kv_lora_rank;
    const double nope = (double)mla->qk_nope_head_dim, rope = (double)mla->qk_rope_head_dim;
    const double v = (double)mla->v_head_dim;
    l->mixer.kv_heads = a;
    l->mixer.qk = nope + rope;
    l->mixer.v = v;
    l->mixer.cache = k_l + rope;
    if (q_l > 0)
        MATMUL(l, "query latent", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_STORED, D, q_l,
               .bias = m->qkv_bias);
    MATMUL(l, "queries", SP_PART_ATTENTION, q_l > 0 ? SP_OP_LATENT : SP_OP_QKV, SP_TP_COLUMNS,
           q_l > 0 ? q_l : D, a * (nope + rope), .norm = q_l);
    MATMUL(l, "key-value latent", SP_PART_ATTENTION, SP_OP_QKV, SP_TP_STORED, D, k_l + rope,
           .bias = m->qkv_bias);
    MATMUL(l, "keys and values", SP_PART_ATTENTION, SP_OP_LATENT, SP_TP_COLUMNS, k_l,
           a * (nope + v), .norm = k_l);
    MATMUL(l, "latent output projection", SP_PART_ATTENTION, SP_OP_OUT, SP_TP_ROWS, a * v, D,
           .bias = m->o_bias);
    KEEP(l, q_l + k_l, SP_BY_NOTHING, SP_OP_QKV, SP_COPIES_ONE,
         NONE | SELECTIVE | DOTS); /* before the norm */
    KEEP(l, q_l + k_l, SP_BY_NOTHING, SP_OP_LATENT, SP_COPIES_ONE, NONE | SELECTIVE); /* after it */
}

/* Weights of the norms of queries and keys. */
static double qk_norm_weights(const struct sp_model *m)
{
    const double H = (double)m->head_dim;
    const double heads[] = {[SP_QK_NORM_NONE] = 0,
                            [SP_QK_NORM_HEAD] = 2,
                            [SP_QK_NORM_FULL] = (double)(m->heads + m->kv_heads)};
    return heads[m->qk_norm] * H;
}

static void list_attention(const struct sp_model *m, struct sp_layer *l)
{
    const double D = l->width, a = (double)m->heads;
    l->mixer = (struct sp_mixer){
        .heads = a, .window = (double)m->sliding_window, .global = global_share(m)};
    const bool latent = m->mla.kv_lora_rank > 0;
    if (latent)
        list_latent(m, l);
    else
        list_grouped(m, l);
    TENSOR(l, qk_norm_weights(m) + (double)m->extra_attention_params_per_layer, SP_PART_ATTENTION,
           SP_TP_STORED);
    KEEP(l, D, SP_BY_SEQUENCE, SP_OPERATORS, SP_COPIES_INPUT, NONE | SELECTIVE | FULL);
    KEEP(l, D, SP_BY_INPUT, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
    KEEP(l, D, SP_BY_SEQUENCE, SP_OP_OUT, SP_COPIES_ONE, NONE | SELECTIVE | DOTS);
    MOVE(l, 2 * (2 * D + a * (double)m->head_dim), SP_BY_WIDTH, SP_OP_NORMS,
         .casts = true); /* read, write, write transposed */
    keep_scores(l, latent ? SP_OP_LATENT : SP_OP_QKV);
}

/* Gated or plain MLPs side by side: a dense layer's, all shared experts as one, the routed ones. */
struct mlp {
    const char *up, *down;
    enum sp_layer_part part;
    enum sp_operator op_up, op_down, op_act;
    double width, count, passed;
    bool bias, gradient;
};

static void list_mlp(const struct sp_model *m, struct sp_layer *l, const struct mlp *mlp)
{
    const double D = l->width, F = mlp->width, gates = m->gated_mlp ? 2 : 1;
    const double all = mlp->passed * F;
    const bool routed = mlp->part == SP_PART_EXPERTS;
    MATMUL(l, mlp->up, mlp->part, mlp->op_up, SP_TP_COLUMNS, D, gates * F, mlp->count, mlp->passed,
           .bias = mlp->bias);
    MATMUL(l, mlp->down, mlp->part, mlp->op_down, SP_TP_ROWS, F, D, mlp->count, mlp->passed,
           .bias = mlp->bias);
    KEEP(l, gates * all, SP_BY_WIDTH, mlp->op_up, SP_COPIES_ONE, NONE | SELECTIVE | MLP | DOTS,
         .routed = routed, .gradient = mlp->gradient);
    KEEP(l, all, SP_BY_WIDTH, mlp->op_act, SP_COPIES_MLP, NONE | SELECTIVE,
         .routed = routed); /* gate times up */
    KEEP(l, mlp->passed * D, SP_BY_WIDTH, mlp->op_down, SP_COPIES_NONE, MLP | DOTS,
         .routed = routed); /* what comes out */
    MOVE(l, (gates + 1) * all, SP_BY_WIDTH, mlp->op_act, routed);
}

int64_t sp_dense_d_ff(const struct sp_model *model)
{
    return model->moe.d_ff_dense > 0 ? model->moe.d_ff_dense : model->d_ff;
}

static void list_dense(const struct sp_model *m, struct sp_layer *l)
{
    const struct mlp mlp = {.up = "up and gate",
                            .down = "down",
                            .part = SP_PART_MLP,
                            .op_up = SP_OP_UP,
                            .op_down = SP_OP_DOWN,
                            .op_act = SP_OP_ACT,
                            .width = (double)sp_dense_d_ff(m),
                            .count = 1,
                            .passed = 1,
                            .bias = m->mlp_bias,
                            .gradient = true};
    list_mlp(m, l, &mlp);
    KEEP(l, l->width, SP_BY_INPUT, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
}

/* Copies of a token's row for each expert: into the order of the experts and back, on both sides of
 * the exchange, read and written. */
enum { MOVES = 8 };

static void list_mixture(const struct sp_model *m, struct sp_layer *l)
{
    const struct sp_moe *moe = &m->moe;
    const double D = l->width, E = (double)moe->experts, k = (double)moe->top_k;
    const double f_e = (double)moe->d_ff_expert, shared = (double)moe->shared_experts * f_e;
    const struct mlp routed = {.up = "expert up and gate",
                               .down = "expert down",
                               .part = SP_PART_EXPERTS,
                               .op_up = SP_OP_EXPERT_UP,
                               .op_down = SP_OP_EXPERT_DOWN,
                               .op_act = SP_OP_EXPERT_ACT,
                               .width = f_e,
                               .count = E,
                               .passed = k,
                               .bias = moe->expert_bias,
                               .gradient = true};
    const struct mlp all = {.up = "shared expert up and gate",
                            .down = "shared expert down",
                            .part = SP_PART_MLP,
                            .op_up = SP_OP_SHARED_UP,
                            .op_down = SP_OP_SHARED_DOWN,
                            .op_act = SP_OP_SHARED_ACT,
                            .width = shared,
                            .count = 1,
                            .passed = 1};
    l->picks = k;
    list_mlp(m, l, &routed);
    MATMUL(l, "router", SP_PART_ROUTER, SP_OP_EXPERT_UP, SP_TP_TOKENS, D, E,
           .bias = moe->router_bias, .plain = true);
    if (moe->score_correction_bias)
        TENSOR(l, E, SP_PART_ROUTER, SP_TP_WHOLE);
    KEEP(l, D, SP_BY_SEQUENCE, SP_OP_NORMS, SP_COPIES_ONE, NONE | SELECTIVE);
    KEEP(l, D, SP_BY_SEQUENCE, SP_OP_ROUTE, SP_COPIES_ONE); /* the router's */
    KEEP(l, k * D, SP_BY_WIDTH, SP_OP_EXPERT_UP, SP_COPIES_ONE, NONE | SELECTIVE,
         .routed = true); /* in the order of the experts */
    MOVE(l, MOVES * k * D, SP_BY_WIDTH, SP_OP_ROUTE, .routed = true);
    if (shared > 0)
        list_mlp(m, l, &all);
}

/* Elements of D that two norms, two residual additions and casts read and write. */
enum { NORM_MOVES = 11 };

static void list_block(const struct sp_model *m, struct sp_layer *l)
{
    TENSOR(l, (double)m->norms_per_layer * norm_weights(m, l->width), SP_PART_NORM, SP_TP_WHOLE);
    MOVE(l, NORM_MOVES * l->width, SP_BY_SEQUENCE, SP_OP_NORMS);
    list_attention(m, l);
}

static void list_dense_layer(const struct sp_model *m, struct sp_layer *l)
{
    list_block(m, l);
    list_dense(m, l);
}

static void list_moe_layer(const struct sp_model *m, struct sp_layer *l)
{
    list_block(m, l);
    list_mixture(m, l);
}

static void list_input(const struct sp_model *m, struct sp_layer *l)
{
    const double D = l->width, norm = m->embedding_norm ? norm_weights(m, D) : 0;
    TENSOR(l, D * (double)m->vocab, SP_PART_EMBEDDING, SP_TP_STORED, .vocab = true);
    TENSOR(l, D * (double)m->learned_positions, SP_PART_EMBEDDING, SP_TP_WHOLE);
    TENSOR(l, norm, SP_PART_NORM, SP_TP_WHOLE);
    MOVE(l, 2 * D, SP_BY_NOTHING, SP_OP_NORMS);
}

static void list_output(const struct sp_model *m, struct sp_layer *l)
{
    const double D = l->width, V = (double)m->vocab;
    MATMUL(l, "output head", SP_PART_EMBEDDING, SP_OP_OUT, SP_TP_COLUMNS, D, V,
           .bias = m->lm_head_bias, .plain = true, .vocab = true, .tied = m->tied_embeddings);
    TENSOR(l, norm_weights(m, D), SP_PART_NORM, SP_TP_WHOLE);
    MOVE(l, 3 * V, SP_BY_WIDTH, SP_OP_NORMS); /* the loss */
}

/* Weights by part, and those that a token passes. */
struct weights {
    double part[SP_PARTS], active;
};

/* Adds `times` layers. */
static void weigh(struct weights *w, const struct sp_layer *layer, double times)
{
    for (int i = 0; i < layer->matmuls; i++) {
        const struct sp_matmul *m = &layer->matmul[i];
        const double each =
            times * ((m->tied ? 0 : m->in * m->out) + (m->bias ? m->out : 0) + m->norm);
        w->part[m->part] += m->count * each;
        w->active += m->passed * each;
    }
    for (int i = 0; i < layer->tensors; i++) {
        w->part[layer->tensor[i].part] += times * layer->tensor[i].weights;
        w->active += times * layer->tensor[i].weights;
    }
}

static struct sp_params params_of(const struct sp_layers *layers)
{
    struct weights w = {{0}, 0};
    for (int list = 0; list < SP_LAYER_LISTS; list++)
        weigh(&w, &layers->list[list], layers->count[list]);
    struct sp_params p = {.embedding = w.part[SP_PART_EMBEDDING],
                          .attention = w.part[SP_PART_ATTENTION],
                          .mlp = w.part[SP_PART_MLP],
                          .experts = w.part[SP_PART_EXPERTS],
                          .router = w.part[SP_PART_ROUTER],
                          .norm = w.part[SP_PART_NORM],
                          .active = w.active};
    for (int part = 0; part < SP_PARTS; part++)
        p.total += w.part[part];
    return p;
}

void sp_list_model(const struct sp_model *model, struct sp_layers *layers)
{
    static void (*const lists[SP_LAYER_LISTS])(const struct sp_model *, struct sp_layer *) = {
        [SP_LAYER_DENSE] = list_dense_layer,
        [SP_LAYER_MOE] = list_moe_layer,
        [SP_LAYER_INPUT] = list_input,
        [SP_LAYER_OUTPUT] = list_output,
    };
    const struct sp_layer_counts counts = sp_count_layers(model, model->layers);
    layers->model = model;
    for (int kind = 0; kind < SP_LAYER_LISTS; kind++) {
        struct sp_layer *const l = &layers->list[kind];
        layers->count[kind] = kind < SP_LAYER_KINDS ? (double)counts.of[kind] : 1;
        l->width = (double)model->d_model;
        l->picks = 0;
        l->mixer = (struct sp_mixer){0};
        l->matmuls = l->tensors = l->n_kept = l->n_moved = 0; /* no row beyond is read */
        if (layers->count[kind] > 0)
            lists[kind](model, l);
    }
    layers->params = params_of(layers);
}

double sp_mixer_tokens(const struct sp_mixer *x, double seq)
{
    const double W = x->window, g = x->global;
    return W > 0 && W < seq ? g * seq + (1 - g) * (2 * W - W * W / seq) : seq;
}

double sp_mixer_flops(const struct sp_mixer *x, double seq, double scores)
{
    return 2 * (x->heads * (x->qk + x->v) * sp_mixer_tokens(x, seq) * scores + x->scan);
}
