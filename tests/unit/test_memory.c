/* Bytes of state per parameter and of activations per token, derived from the published lists. */
#include "fit_case.h"

static const struct sp_sources sources;

static struct sp_model model_of(const char *name)
{
    struct sp_model model;
    struct sp_error error = {0};
    if (!sp_load_model(name, &sources, &model, &error))
        fail_msg("%s", error.text);
    return model;
}

/* Weights, gradients, master copy, both moments: 2+8; 2+2+8; 2+2+4+8; 2+4+4+8; 2+6+4+8; 4+4+8; in
 * 8 bits 2+4+4+8, and with weights kept in them twice and 16-bit gradients 1+1+2+4+8. */
static void state_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double bytes;
    } recipes[] = {{"adam10", 10},  {"adam12", 12}, {"mixed16", 16},     {"mixed18", 18},
                   {"mixed20", 20}, {"fp32", 16},   {"fp8-mixed18", 18}, {"fp8-mixed16", 16}};
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct sp_precision precision;
        struct sp_error error = {0};
        assert_true(sp_load_precision(recipes[i].name, &sources, &precision, &error));
        assert_close(sp_state_bytes_per_param(&precision), recipes[i].bytes, 0);
    }
}

/* Mixtral's 46.7e9 parameters, 45.1e9 of them routed experts, on 32 devices: TP 2, PP 2, DP 8, EP
 * 4. At every ZeRO stage the devices together hold the model times its copies: 8 of the dense part
 * and 2 of each expert if unsharded, else one. */
static void expert_states(void **state)
{
    (void)state;
    const struct sp_precision q = {
        .weight_bytes = 2, .grad_bytes = 4, .master_bytes = 4, .optimizer_bytes = 8};
    const double P = 46.7e9, E = 45.1e9, copies = 8 * (P - E) + 2 * E;
    for (int zero = 0; zero <= 3; zero++) {
        const struct sp_spread s = {.dp = 4, .tp = 2, .pp = 2, .ep = 4, .cp = 2, .zero = zero};
        const struct sp_footprint f = sp_state_footprint(P, E, &q, &s);
        assert_close(f.params * 32, 2 * (zero >= 3 ? P : copies), 1e-14);
        assert_close(f.grads * 32, 4 * (zero >= 2 ? P : copies), 1e-14);
        assert_close(f.optimizer * 32, 12 * (zero >= 1 ? P : copies), 1e-14);
        assert_close(f.total, f.params + f.grads + f.optimizer, 0);
    }
    /* a single device: everything */
    const struct sp_spread one = {.dp = 1, .tp = 1, .pp = 1, .ep = 1, .cp = 1, .zero = 0};
    assert_close(sp_state_footprint(P, E, &q, &one).total, 18 * P, 1e-15);
}

/* Fitting is strict: 4 devices of 25 bytes do not fit 100. */
static void fewest_devices(void **state)
{
    (void)state;
    assert_close(sp_min_devices(99, 25), 4, 0);
    assert_close(sp_min_devices(100, 25), 5, 0);
    assert_close(sp_min_devices(101, 25), 5, 0);
    assert_close(sp_min_devices(24, 25), 1, 0);
}

/* The scaling book's exercise: block inputs 2BD; three MLP matmul outputs 2B(D + 2F). LLaMA-2 13B,
 * D = 5120, F = 13824. */
static void textbook_policies(void **state)
{
    (void)state;
    const struct sp_model m = model_of("llama2-13b");
    assert_close(sp_activation_bytes_per_token_layer(&m, SP_REMAT_FULL), 2 * 5120., 0);
    assert_close(sp_activation_bytes_per_token_layer(&m, SP_REMAT_MLP), 2 * (5120. + 2 * 13824), 0);
    /* The outputs of q, k, v, attention, gate, up, down: 2 (3 * 5120 + 5120 + 2 * 13824 + 5120). */
    assert_close(sp_activation_bytes_per_token_layer(&m, SP_REMAT_DOTS),
                 2 * (5 * 5120. + 2 * 13824), 0);
}

/* Korthikanti et al. 2022, equation 1 without dropout masks and attention scores: a GPT block
 * keeps, in units of the width h, two norm inputs 2+2, qkv input 2, q k v 6, attention output 2,
 * MLP input 2, and GELU's input and output 8+8: 32 h bytes, and 4 bytes of log-sum-exp a head. The
 * 34 of the paper has two more bytes for its dropout masks. GPT-3: h = 12288, 96 heads. */
static void korthikanti(void **state)
{
    (void)state;
    const struct sp_model m = model_of("gpt3-175b");
    assert_close(sp_activation_bytes_per_token_layer(&m, SP_REMAT_NONE), 32 * 12288. + 4 * 96, 0);
}

/* Korthikanti et al. 2022, table 2, with s = 2048, b = 1, h = 12288, a = 96, t = 8: sbh = 25165824,
 * 5as/h = 80. */
static void korthikanti_table(void **state)
{
    (void)state;
    const double sbh = 25165824;
    assert_true(sp_gpt_activation_bytes(SP_GPT_NONE, 2048, 1, 12288, 96, 8) == sbh * 114);
    assert_true(sp_gpt_activation_bytes(SP_GPT_TP, 2048, 1, 12288, 96, 8) == sbh * (10 + 3 + 10));
    assert_true(sp_gpt_activation_bytes(SP_GPT_TP_SP, 2048, 1, 12288, 96, 8) == sbh * 114 / 8);
    assert_true(sp_gpt_activation_bytes(SP_GPT_TP_SELECTIVE, 2048, 1, 12288, 96, 8) == sbh * 13);
    assert_true(sp_gpt_activation_bytes(SP_GPT_SELECTIVE, 2048, 1, 12288, 96, 8) == sbh * 34 / 8);
    assert_true(sp_gpt_activation_bytes(SP_GPT_FULL, 2048, 1, 12288, 96, 8) == sbh * 2);
}

/* Gated, grouped queries: 8h + 2 d_h (a + 2k) + 2 a d_h + 4a + 6f. Llama 3 70B: h = 8192, 64 heads
 * and 8 KV heads of 128, f = 28672. */
static void gated_grouped(void **state)
{
    (void)state;
    const struct sp_model m = model_of("llama3-70b");
    const double kept = 8 * 8192. + 2 * 128. * (64 + 16) + 2 * 64 * 128 + 4 * 64 + 6 * 28672.;
    assert_close(sp_activation_bytes_per_token_layer(&m, SP_REMAT_NONE), kept, 0);
}

/* MoE MLP: 2h + topk (2h + 6 f_e) besides the norm's input. Mixtral: h = 4096, 32 heads, 8 KV heads
 * of 128, two experts of 14336. */
static void mixture(void **state)
{
    (void)state;
    const struct sp_model m = model_of("mixtral-8x7b");
    const double attention = 2 * 2 * 4096. + 2 * 128. * (32 + 16) + 2 * 4096. + 4 * 32;
    const double mlp = 2 * 4096. + 2 * 4096. + 2 * (2 * 4096. + 6 * 14336.);
    assert_close(sp_activation_bytes_per_token_layer(&m, SP_REMAT_NONE), attention + mlp, 0);
}

/* Latent attention, D = 64, 4 heads of 8 + 4 and 6, latents of 16 and 8, a gated MLP of 100: two
 * norm inputs, q k v 4 (12 + 12 + 6), output 24, latents twice, two MLP inputs, gate, up and
 * product; of these the outputs of the matmuls. */
static void latent(void **state)
{
    (void)state;
    const struct sp_model m = {.layers = 2,
                               .d_model = 64,
                               .d_ff = 100,
                               .heads = 4,
                               .kv_heads = 4,
                               .head_dim = 12,
                               .vocab = 10,
                               .gated_mlp = true,
                               .mla = {.q_lora_rank = 16,
                                       .kv_lora_rank = 8,
                                       .qk_nope_head_dim = 8,
                                       .qk_rope_head_dim = 4,
                                       .v_head_dim = 6}};
    const double kept = 2 * 64 + 120 + 24 + 2 * 24 + 2 * 64 + 3 * 100;
    assert_close(sp_activation_bytes_per_token_layer(&m, SP_REMAT_NONE), 2 * kept + 4 * 4, 0);
    assert_close(sp_activation_bytes_per_token_layer(&m, SP_REMAT_DOTS),
                 2. * (120 + 24 + 64 + 64 + 200), 0);
}

/* Two of four experts and a shared one, 50 wide, gated, D = 64: the outputs of three MLPs, gates
 * and ups of 3 x 50. */
static void shared_expert(void **state)
{
    (void)state;
    const struct sp_model m = {
        .layers = 2,
        .d_model = 64,
        .d_ff = 100,
        .heads = 4,
        .kv_heads = 4,
        .head_dim = 16,
        .vocab = 10,
        .gated_mlp = true,
        .moe = {.experts = 4, .top_k = 2, .shared_experts = 1, .d_ff_expert = 50}};
    assert_close(sp_activation_bytes_per_token_layer(&m, SP_REMAT_MLP), 2. * (3 * 64 + 2 * 150), 0);
}

/* Every policy keeps at most what the previous one keeps, and selective saves little with fused
 * attention. */
static void policies_shrink(void **state)
{
    (void)state;
    for (size_t i = 0; i < sp_n_builtins; i++) {
        if (sp_builtins[i].kind != SP_MODELS)
            continue;
        const struct sp_model m = model_of(sp_builtins[i].name);
        const double none = sp_activation_bytes_per_token_layer(&m, SP_REMAT_NONE);
        const double selective = sp_activation_bytes_per_token_layer(&m, SP_REMAT_SELECTIVE);
        const double dots = sp_activation_bytes_per_token_layer(&m, SP_REMAT_DOTS);
        const double mlp = sp_activation_bytes_per_token_layer(&m, SP_REMAT_MLP);
        const double full = sp_activation_bytes_per_token_layer(&m, SP_REMAT_FULL);
        if (!sp_model_has_shape(&m)) {
            assert_true(isnan(none) && isnan(full));
            continue;
        }
        if (!(none >= selective && selective >= dots && dots >= mlp && mlp >= full && full > 0))
            fail_msg("%s: none %g, selective %g, dots %g, mlp %g, full %g", m.name, none, selective,
                     dots, mlp, full);
        assert_true(isnan(sp_activation_bytes_per_token_layer(&m, SP_REMATS)));
    }
}

/* adam10 stores no gradients: those of several micro-batches add up in the weights' 2
 * bytes, jax12's in 4. llama3-8b, 8 030 261 248 parameters, on one device of 8: ZeRO 0 keeps all of
 * them, ZeRO 3 an eighth; the table and the head, 2 x 128256 x 4096, need no padding. One
 * micro-batch adds up nothing, and a recipe with gradients keeps its own. */
static void gradients_that_add_up(void **state)
{
    (void)state;
    const double P = 8030261248;
    const struct {
        const char *recipe;
        int64_t batch;
        int zero;
        double bytes;
    } rows[] = {{"adam10", 8, 0, 0},         {"adam10", 16, 0, 2 * P}, {"adam10", 16, 3, 2 * P / 8},
                {"jax12", 16, 2, 4 * P / 8}, {"mixed16", 8, 0, 2 * P}, {"mixed16", 16, 0, 2 * P}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fit_case c;
        struct sp_error error = {0};
        load_case(&c, "llama3-8b", "h100-8", 8192. * (double)rows[i].batch, 8192);
        assert_true(sp_load_precision(rows[i].recipe, &sources, &c.precision, &error));
        const struct sp_framework framework = {.reserved_factor = 1};
        const struct sp_plan plan = {.dp = 8,
                                     .shards = 8,
                                     .tp = 1,
                                     .pp = 1,
                                     .vpp = 1,
                                     .cp = 1,
                                     .ep = 1,
                                     .etp = 1,
                                     .zero = rows[i].zero,
                                     .micro_batch = 1,
                                     .batch = rows[i].batch,
                                     .seq = 8192,
                                     .schedule = SP_1F1B,
                                     .imbalance = 1};
        const struct sp_stage_memory m =
            sp_memory_of_stage(&c.model, &c.precision, &plan, &framework, 0);
        assert_close((double)m.grads, rows[i].bytes, 1e-9);
        const struct sp_spread spread = {.dp = 8,
                                         .tp = 1,
                                         .pp = 1,
                                         .cp = 1,
                                         .ep = 1,
                                         .zero = rows[i].zero,
                                         .microbatches = (double)rows[i].batch / 8};
        assert_close(sp_state_footprint(P, 0, &c.precision, &spread).grads, rows[i].bytes, 1e-12);
        /* fit counts the same, in addition to the state, if the recipe has none */
        c.in.accumulate = rows[i].batch / 8;
        c.t = sp_fit_terms(&c.in);
        const struct sp_strategy s =
            sp_fit_strategy(&c.in, &c.t, rows[i].zero == 0 ? SP_DP : SP_FSDP);
        const double own = c.precision.grad_bytes * P / (rows[i].zero == 0 ? 1 : 8);
        assert_close(own + s.held_bytes, rows[i].bytes, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_bytes),           cmocka_unit_test(expert_states),
        cmocka_unit_test(fewest_devices),        cmocka_unit_test(textbook_policies),
        cmocka_unit_test(korthikanti),           cmocka_unit_test(korthikanti_table),
        cmocka_unit_test(gated_grouped),         cmocka_unit_test(mixture),
        cmocka_unit_test(shared_expert),         cmocka_unit_test(latent),
        cmocka_unit_test(gradients_that_add_up), cmocka_unit_test(policies_shrink),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
