/* Parameters and FLOPs of a model from its list of tensors, and where its layers go. */
#include "obvious.h"

static struct listing listing;

static void parameters_and_flops(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < 3000; i++) {
        const struct sp_model m = random_model();
        const struct sp_params p = sp_count_params(&m);
        const double seq = 512;
        double total = 0, active = 0, flops = 0;
        list_model(&m, &listing);
        for (size_t t = 0; t < listing.n; t++) {
            const struct tensor *const w = &listing.at[t];
            const double weights = w->rows * w->columns;
            const double passed =
                w->expert ? weights * (double)m.moe.top_k / (double)m.moe.experts : weights;
            total += weights;
            active += passed;
            flops += w->multiplies ? 2 * passed : 0;
        }
        if (m.tied_embeddings) /* the table serves as the head too */
            flops += 2 * (double)m.vocab * (double)m.d_model;
        for (int layer = 0; layer < m.layers; layer++)
            for (int head = 0; head < m.heads; head++) {
                const bool latent = m.mla.kv_lora_rank > 0;
                const int64_t qk =
                    latent ? m.mla.qk_nope_head_dim + m.mla.qk_rope_head_dim : m.head_dim;
                const int64_t v = latent ? m.mla.v_head_dim : m.head_dim;
                flops += 2 * seq * (double)qk + 2 * seq * (double)v;
            }
        assert_close(p.total, total, 0);
        assert_close(p.active, active, 1e-12);
        assert_close(p.embedding + p.attention + p.mlp + p.experts + p.router + p.norm, total,
                     1e-12);
        assert_close(sp_forward_flops_per_token(&m, seq, false, false).total, flops, 1e-12);
    }
}

/* Stages sum to the model, and shards to the whole. */
static void conservation(void **state)
{
    (void)state;
    srand(3);
    for (int i = 0; i < 20000; i++) {
        struct sp_model m = random_model();
        m.layers = 1 + rand() % 200;
        if (m.moe.dense_layers > m.layers)
            m.moe.dense_layers = m.layers;
        const int64_t pp = 1 + rand() % (m.layers < 64 ? m.layers : 64);
        int64_t dense = 0, moe = 0;
        for (int64_t s = 0; s < pp; s++) {
            const struct sp_layer_counts of =
                sp_layers_of_stage(&m, &(struct sp_stage_split){.stages = pp}, s);
            int64_t mine[2] = {0, 0};
            for (int layer = first_layer(&m, pp, s); layer < first_layer(&m, pp, s + 1); layer++)
                mine[has_experts(&m, layer)]++;
            assert_int_equal(of.of[SP_LAYER_DENSE], mine[0]);
            assert_int_equal(of.of[SP_LAYER_MOE], mine[1]);
            dense += of.of[SP_LAYER_DENSE];
            moe += of.of[SP_LAYER_MOE];
        }
        assert_int_equal(dense + moe, m.layers);
        assert_int_equal(moe, sp_moe_layers(&m));
    }
}

/* Recomputed FLOPs: each product of a block, if the policy repeats it. */
static void repeated_flops(void **state)
{
    (void)state;
    srand(8);
    for (int i = 0; i < 4000; i++) {
        struct sp_model m = random_model();
        struct sp_plan p = random_plan(&m);
        m.mla = (struct sp_mla){0};
        const struct sp_recompute *const r = &p.recompute;
        const double D = (double)m.d_model, H = (double)m.head_dim, N = (double)m.heads,
                     K = (double)m.kv_heads;
        const double F = (double)(m.moe.d_ff_dense > 0 ? m.moe.d_ff_dense : m.d_ff),
                     gates = m.gated_mlp ? 2 : 1;
        const struct sp_framework f = {.stops_early = rand() % 2};
        const double down = f.stops_early ? 0 : r->down;
        double flops = 0, all_scores = 0;
        for (int layer = 0; layer < m.layers; layer++) {
            const bool moe = has_experts(&m, layer);
            const double passed = moe ? (double)(m.moe.shared_experts * m.moe.d_ff_expert) : F,
                         routed = moe ? (double)(m.moe.top_k * m.moe.d_ff_expert) : 0;
            flops += r->qkv * 2 * D * H * (N + 2 * K) + r->out * 2 * D * H * N;
            all_scores += r->core * 2 * 2 * (double)p.seq * H * N;
            flops += r->up * 2 * gates * D * passed + down * 2 * D * passed;
            /* the router runs with the experts' first matmuls, which may all be recomputed */
            const double up = fmax(r->up, r->grouped),
                         last = f.stops_early ? 0 : fmax(r->down, r->grouped);
            flops += up * 2 * gates * D * routed + last * 2 * D * routed;
            if (moe)
                flops += up * 2 * D * (double)m.moe.experts;
        }
        const bool causal = rand() % 2;
        flops += (causal ? 0.5 : 1) * all_scores;
        assert_close(sp_step_recomputed_flops(&m, &p, &f, causal),
                     flops * p.recompute_layers * (double)(p.batch * p.seq), 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_and_flops),
        cmocka_unit_test(conservation),
        cmocka_unit_test(repeated_flops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
