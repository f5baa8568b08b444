/* The matmuls of a whole model on a chip's roofline. */
#include "commands/roofline.h"

bool sp_put_operators(const struct roof *f, struct sp_error *error)
{
    static const struct sp_column columns[] = {
        {NULL, "operator", true},  {"count", "times", false},          {"flops", "FLOPs", false},
        {"bytes", "bytes", false}, {"intensity", "FLOPs/byte", false}, {"bound", "bound by", true},
        {"lower_s", "time", false}};
    const struct sp_model *m = &f->model;
    const double D = (double)m->d_model, H = (double)m->head_dim, a = (double)m->heads,
                 K = (double)m->kv_heads;
    const double L = (double)m->layers, L_moe = (double)sp_moe_layers(m),
                 gates = m->gated_mlp ? 2 : 1;
    const struct sp_mla *mla = &m->mla;
    const double q_l = (double)mla->q_lora_rank, k_l = (double)mla->kv_lora_rank, latent = k_l > 0;
    const double d_qk = (double)(mla->qk_nope_head_dim + mla->qk_rope_head_dim);
    const double shared = (double)(m->moe.shared_experts * m->moe.d_ff_expert);
    double B, seq;
    const char *origin;
    struct sp_row rows[16] = {0};
    size_t n = 0;
    if (!sp_model_has_shape(m))
        return sp_fail(error, SP_INPUT, "--model %s: only its size is known, no operators",
                       m->name);
    if (!sp_batch_of(f->args, m, &B, &seq, &origin, error))
        return false;
    const double d_ff = (double)(m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense : m->d_ff);
    const double rows_each = L_moe > 0 ? B * (double)m->moe.top_k / (double)m->moe.experts : 0;
    const struct {
        const char *name;
        double count, rows, in, out;
    } ops[] = {
        {"QKV projection", L * (latent == 0), B, D, H * (a + 2 * K)},
        {"output projection", L * (latent == 0), B, H * a, D},
        {"query latent", L * latent * (q_l > 0), B, D, q_l},
        {"queries", L * latent, B, q_l > 0 ? q_l : D, a * d_qk},
        {"key-value latent", L * latent, B, D, k_l + (double)mla->qk_rope_head_dim},
        {"keys and values", L * latent, B, k_l,
         a * (double)(mla->qk_nope_head_dim + mla->v_head_dim)},
        {"latent output projection", L * latent, B, a * (double)mla->v_head_dim, D},
        {"up and gate", L - L_moe, B, D, d_ff * gates},
        {"down", L - L_moe, B, d_ff, D},
        {"expert up and gate", L_moe * (double)m->moe.experts, rows_each, D,
         (double)m->moe.d_ff_expert * gates},
        {"expert down", L_moe * (double)m->moe.experts, rows_each, (double)m->moe.d_ff_expert, D},
        {"shared expert up and gate", shared > 0 ? L_moe : 0, B, D, shared * gates},
        {"shared expert down", shared > 0 ? L_moe : 0, B, shared, D},
        {"output head", 1, B, D, (double)m->vocab}};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (ops[i].count <= 0)
            continue;
        snprintf(rows[n].label, sizeof rows[n].label, "%s", ops[i].name);
        snprintf(rows[n].prefix, sizeof rows[n].prefix, "operators.%zu", n);
        sp_scope(f->report, rows[n].prefix);
        sp_put_text(f->report, SP_Q_ROOFLINE_OP_NAME, "%s", ops[i].name);
        sp_put(f->report, SP_Q_ROOFLINE_OP_COUNT, ops[i].count);
        sp_put_work(f, sp_matmul_work(ops[i].rows, ops[i].in, ops[i].out, f->bytes, false));
        n++;
    }
    sp_scope(f->report, "");
    sp_line(f->report, "%s, %s tokens on the chip (%s), forward pass:", m->name,
            sp_human_text(B, SP_TOKENS), origin);
    sp_table(f->report, columns, sizeof columns / sizeof columns[0], rows, n);
    return true;
}
