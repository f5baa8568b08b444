/* Models of layers of other kinds: their tensors, products and states one by one, layer by layer.
 */
#include "obvious.h"

#include <string.h>

/* Sums over the layers. */
struct sums {
    double weights, active, products, state, cache;
};

/* A matrix of weights that every token is multiplied by. */
static void matrix(struct sums *s, double rows, double columns)
{
    s->weights += rows * columns;
    s->active += rows * columns;
    s->products += rows * columns;
}

static void vector(struct sums *s, double weights)
{
    s->weights += weights;
    s->active += weights;
}

/* A product of [rows, inner] by [inner, columns] for each chunk of tokens. */
static void product(struct sums *s, double rows, double inner, double columns, double tokens)
{
    s->products += rows * inner * columns / tokens;
}

static void convolution(struct sums *s, double channels, double taps)
{
    for (int tap = 0; tap < (int)taps; tap++) {
        vector(s, channels);
        s->products += channels;
        s->state += tap > 0 ? 2 * channels : 0;
    }
}

static void put_lightning(struct sums *s, const struct sp_model *m)
{
    const struct sp_linear_attention *x = &m->linear;
    const double D = (double)m->d_model, dk = (double)x->key_dim, dv = (double)x->value_dim;
    const double C = x->chunk > 0 ? (double)x->chunk : 256;
    for (int head = 0; head < 2 * x->key_heads; head++)
        matrix(s, D, dk);
    for (int head = 0; head < x->heads; head++) {
        matrix(s, D, dv); /* values, gate, output */
        matrix(s, D, dv);
        matrix(s, dv, D);
        vector(s, dv);
        product(s, C, dk, C, C);
        product(s, C, C, dv, C);
        product(s, dk, C, dv, C);
        product(s, C, dk, dv, C);
        s->state += 4 * dk * dv;
    }
}

static void put_delta_rule(struct sums *s, const struct sp_model *m)
{
    const struct sp_linear_attention *x = &m->linear;
    const double D = (double)m->d_model, dk = (double)x->key_dim, dv = (double)x->value_dim;
    const double C = x->chunk > 0 ? (double)x->chunk : 64, r = (double)x->gate_rank;
    double channels = 0;
    if (x->fixed_decay) {
        put_lightning(s, m);
        return;
    }
    for (int head = 0; head < x->key_heads; head++) {
        matrix(s, D, dk); /* queries, keys */
        matrix(s, D, dk);
        channels += 2 * dk;
    }
    const bool low = r > 0 && !x->full_gate;
    if (r > 0)
        matrix(s, D, r);
    if (low)
        matrix(s, D, r);
    for (int head = 0; head < x->heads; head++) {
        matrix(s, D, dv); /* values, gate, step, decay; output */
        matrix(s, low ? r : D, dv);
        matrix(s, D, 1);
        matrix(s, r > 0 ? r : D, r > 0 ? dk : 1);
        matrix(s, dv, D);
        vector(s, 1 + (r > 0 ? dk : 1)); /* decay and its bias */
        product(s, C, dk, C, C);         /* keys by keys, queries by keys */
        product(s, C, dk, C, C);
        s->products += C * C / 6; /* the triangle's inverse, C^3 / 6 */
        product(s, C, C, dk, C);  /* keys and values through it, and the sum of values */
        product(s, C, C, dv, C);
        product(s, C, C, dv, C);
        product(s, C, dk, dv, C); /* keys and queries by the state, and its update */
        product(s, C, dk, dv, C);
        product(s, dk, C, dv, C);
        s->state += 4 * dk * dv;
        channels += dv;
    }
    vector(s, dv);
    convolution(s, channels, (double)x->conv);
}

static void put_state_space(struct sums *s, const struct sp_model *m)
{
    const struct sp_state_space *x = &m->state_space;
    const double D = (double)m->d_model, I = (double)x->inner, N = (double)x->state;
    const double Q = x->chunk > 0 ? (double)x->chunk : 256;
    double channels = I;
    matrix(s, D, I); /* channels, gate, output */
    matrix(s, D, I);
    matrix(s, I, D);
    for (int head = 0; head < x->heads; head++) {
        const double P = I / (double)x->heads;
        matrix(s, D, 1);
        vector(s, 3);
        product(s, Q, Q, P, Q); /* weights of the chunk by its channels; state made and read */
        product(s, N, Q, P, Q);
        product(s, Q, N, P, Q);
    }
    for (int group = 0; x->heads > 0 && group < x->groups; group++) {
        matrix(s, D, N);
        matrix(s, D, N);
        product(s, Q, N, Q, Q);
        channels += 2 * N;
    }
    if (x->heads == 0) {
        matrix(s, I, (double)x->dt_rank + 2 * N);
        matrix(s, (double)x->dt_rank, I);
        vector(s, I + I * N + I + (x->dt_norms ? (double)x->dt_rank + 2 * N : 0));
        s->products += 4 * I * N;
    }
    s->state += 4 * I * N;
    vector(s, (x->norm && x->heads > 0 ? I : 0) + (x->bias ? D + 2 * I : 0) +
                  (x->conv_bias ? channels : 0));
    if (x->bias && x->heads > 0)
        vector(s, channels - I + (double)x->heads);
    convolution(s, channels, (double)x->conv);
}

/* Attention of `q` heads to all tokens or to the last `window`, twice the mean of the causal half.
 */
static void put_heads(struct sums *s, const struct sp_model *m, double q, double kv, double qk,
                      double v, double window, double seq)
{
    const double D = (double)m->d_model;
    double seen = 0;
    for (int i = 1; i <= (int)seq; i++)
        seen += window > 0 && i > window ? 2 * window : 2 * i - 1;
    if (window > 0 &&
        window < seq) /* the sum over whole tokens, whose mean is off by half a token */
        seen = 2 * window * seq - window * window;
    matrix(s, D,
           q * qk + kv * (qk + v) + (m->attention_gate ? q * v : 0) + (m->head_gates ? q : 0));
    matrix(s, q * v, D);
    s->products += q * (qk + v) * seen / seq;
    s->cache += kv * (qk + v);
}

static void put_mixer(struct sums *s, const struct sp_model *m, bool other, double seq)
{
    const double H = (double)m->head_dim, D = (double)m->d_model;
    if (!other)
        put_heads(s, m, (double)m->heads, (double)m->kv_heads, H,
                  m->value_dim > 0 ? (double)m->value_dim : H, 0, seq);
    else if (m->local.heads > 0)
        put_heads(s, m, (double)m->local.heads, (double)m->local.kv_heads,
                  (double)m->local.head_dim, (double)m->local.value_dim, (double)m->local.window,
                  seq);
    else if (m->linear.heads > 0)
        put_delta_rule(s, m);
    else if (m->state_space.state > 0)
        put_state_space(s, m);
    else {
        for (int stream = 0; stream < 4; stream++) /* three in, one out */
            matrix(s, D, D);
        convolution(s, D, (double)m->short_conv);
    }
    if (other && m->local.heads > 0 && m->local.sinks)
        vector(s, (double)m->local.heads);
    if (!other && m->state_space.parallel)
        put_state_space(s, m);
}

static void put_block(struct sums *s, const struct sp_model *m, bool experts)
{
    const double D = (double)m->d_model, F = (double)m->moe.d_ff_expert;
    const double mats = m->gated_mlp ? 3 : 2;
    const double stream = m->moe.latent > 0 ? (double)m->moe.latent : D;
    if (!experts) {
        matrix(s, mats * D, (double)m->d_ff);
        return;
    }
    matrix(s, D, (double)m->moe.experts);
    for (int expert = 0; expert < m->moe.experts; expert++) {
        s->weights += mats * stream * F;
        s->active += expert < m->moe.top_k ? mats * stream * F : 0;
        s->products += expert < m->moe.top_k ? mats * stream * F : 0;
    }
    if (m->moe.latent > 0)
        matrix(s, 2 * D, stream);
    vector(s, m->moe.latent_norm ? stream : 0);
    matrix(
        s, mats * D,
        (double)(m->moe.d_ff_shared > 0 ? m->moe.d_ff_shared : m->moe.shared_experts * (int64_t)F));
    vector(s, m->moe.shared_gate ? D : 0);
}

static void put_layer(struct sums *s, const struct sp_model *m, int layer, double seq)
{
    const char letter = m->pattern[layer % (int)strlen(m->pattern)];
    const bool both = letter == 'A' || letter == 'L';
    if (letter != '-' && letter != 'E')
        put_mixer(s, m, letter == 'L' || letter == 'M', seq);
    if (both || letter == '-' || letter == 'E')
        put_block(s, m, both ? has_experts(m, layer) : letter == 'E');
    vector(s, (both ? 2 : 1) * (double)m->d_model);
}

/* A block that reads the current stream and those kept before it: a norm and a score of each, and
 * their sum. */
static void read_streams(struct sums *s, double D, int kept)
{
    vector(s, D);
    matrix(s, D, 1);
    for (int stream = 0; stream < kept; stream++)
        s->products += D + D;
    s->products += D;
}

/* The streams of all layers: every few layers the current one is kept before attention adds to a
 * new one. */
static void put_residuals(struct sums *s, const struct sp_model *m)
{
    const double D = (double)m->d_model;
    int kept = 0;
    for (int layer = 0; layer < m->layers; layer++) {
        read_streams(s, D, kept);
        kept += layer % m->side.residual_block == 0;
        read_streams(s, D, kept);
    }
    vector(s, D);
    matrix(s, D, 1);
}

static struct sp_model random_hybrid(void)
{
    static const char *const patterns[] = {"LLLA", "M*-E", "MLAE-", "AL", "MEM*E"};
    struct sp_model m = {.layers = 3 + rand() % 9,
                         .d_model = 64,
                         .d_ff = ANY(128, 192),
                         .heads = 8,
                         .kv_heads = ANY(1, 2, 8),
                         .head_dim = ANY(8, 16),
                         .value_dim = ANY(0, 0, 24),
                         .vocab = 1024,
                         .gated_mlp = rand() % 2,
                         .attention_gate = rand() % 2,
                         .head_gates = rand() % 2,
                         .norms_per_layer = 2,
                         .moe = {.experts = 4,
                                 .top_k = ANY(1, 2),
                                 .shared_experts = ANY(0, 1),
                                 .d_ff_expert = 64,
                                 .every = ANY(1, 2),
                                 .d_ff_shared = ANY(0, 96),
                                 .latent = ANY(0, 32),
                                 .latent_norm = rand() % 2,
                                 .shared_gate = rand() % 2}};
    strcpy(m.pattern, patterns[rand() % 5]);
    m.moe.latent_norm = m.moe.latent_norm && m.moe.latent > 0;
    m.head_gates = m.head_gates && !m.attention_gate;
    if (strspn(m.pattern, "LA") == strlen(m.pattern))
        m.side.residual_block = ANY(0, 2, 5);
    const int kind = rand() % 5;
    if (kind == 0)
        m.linear = (struct sp_linear_attention){ANY(4, 8),  ANY(2, 4),       ANY(8, 16),
                                                ANY(8, 16), ANY(0, 4),       ANY(0, 0, 16),
                                                ANY(0, 32), rand() % 3 == 0, rand() % 2};
    else if (kind == 1)
        m.state_space = (struct sp_state_space){.inner = 128,
                                                .heads = ANY(0, 4, 8),
                                                .groups = ANY(1, 2),
                                                .state = ANY(16, 32),
                                                .conv = ANY(0, 4),
                                                .dt_rank = 8,
                                                .chunk = ANY(0, 64),
                                                .bias = rand() % 2,
                                                .conv_bias = rand() % 2,
                                                .norm = rand() % 2};
    else if (kind == 2)
        m.local = (struct sp_local_attention){8, ANY(2, 4), 16, ANY(8, 16), ANY(0, 32), rand() % 2};
    else
        m.short_conv = ANY(3, 4);
    if (kind == 4) {
        m.short_conv = 3;
        m.state_space = (struct sp_state_space){
            .inner = 64, .heads = 4, .groups = 1, .state = 16, .conv = 4, .parallel = true};
    }
    return m;
}

static void hybrids(void **state)
{
    (void)state;
    srand(11);
    for (int i = 0; i < 5000; i++) {
        const struct sp_model m = random_hybrid();
        const struct sp_params p = sp_count_params(&m);
        const double D = (double)m.d_model, V = (double)m.vocab, seq = 256;
        struct sums s = {0};
        if (m.state_space.parallel && m.state_space.heads == 0)
            continue;
        for (int layer = 0; layer < m.layers; layer++)
            put_layer(&s, &m, layer, seq);
        if (m.side.residual_block > 0)
            put_residuals(&s, &m);
        matrix(&s, D, V); /* the head; the table and the last norm beside it */
        vector(&s, D * V + D);
        assert_close(p.total, s.weights, 0);
        assert_close(p.active, s.active, 0);
        assert_close(sp_forward_flops_per_token(&m, seq, false, false).total, 2 * s.products,
                     1e-12);
        assert_close(sp_state_bytes_of_sequence(&m), s.state, 0);
        assert_close(sp_kv_bytes_per_token(&m, 2), 2 * s.cache, 0);
    }
}

/* The layers of all stages are those of the model, whatever their letters. */
static void stages(void **state)
{
    (void)state;
    srand(12);
    for (int i = 0; i < 3000; i++) {
        struct sp_model m = random_hybrid();
        m.layers = 8 + rand() % 100;
        const int64_t pp = 1 + rand() % 8;
        struct sp_layer_counts sum = {{0}};
        for (int64_t stage = 0; stage < pp; stage++) {
            const struct sp_layer_counts of =
                sp_layers_of_stage(&m, &(struct sp_stage_split){.stages = pp}, stage);
            for (int kind = 0; kind < SP_LAYER_KINDS; kind++)
                sum.of[kind] += of.of[kind];
        }
        struct sp_layer_counts all;
        sp_count_layers(&m, 0, m.layers, &all);
        int64_t n = 0;
        for (int kind = 0; kind < SP_LAYER_KINDS; kind++) {
            assert_int_equal(sum.of[kind], all.of[kind]);
            n += all.of[kind];
        }
        assert_int_equal(n, m.layers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hybrids), cmocka_unit_test(stages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
