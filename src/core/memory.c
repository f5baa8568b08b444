/* Bytes of training state and of kept activations. */
#include <math.h>

#include <scaleplan/model.h>
#include <scaleplan/precision.h>

double sp_state_bytes_per_param(const struct sp_precision *precision)
{
    return precision->weight_bytes + precision->grad_bytes + precision->master_bytes +
           precision->optimizer_bytes;
}

/* Columns that the MLP of one token makes: gate, up (and their product) of every expert it passes.
 */
struct mlp_widths {
    double in;     /* copies of the d_model-wide input: one, and one per routed expert */
    double hidden; /* F summed over the experts passed */
    double out;    /* d_model-wide outputs */
};

/* Widths averaged over the layers, which may mix dense MLPs and mixtures of experts. */
static struct mlp_widths mlp_widths(const struct sp_model *model)
{
    const struct sp_moe *moe = &model->moe;
    const double share = (double)sp_moe_layers(model) / (double)model->layers;
    const double D = (double)model->d_model, k = (double)moe->top_k;
    const double shared = (double)moe->shared_experts, f_e = (double)moe->d_ff_expert;
    const double d_ff_dense = (double)(moe->d_ff_dense > 0 ? moe->d_ff_dense : model->d_ff);
    return (struct mlp_widths){
        .in = (1 - share) * D + share * (1 + k) * D,
        .hidden = (1 - share) * d_ff_dense + share * (k + shared) * f_e,
        .out = (1 - share) * D + share * (k + (shared > 0 ? 1 : 0)) * D,
    };
}

/* q, k and v of one token, in elements. */
static double qkv_width(const struct sp_model *model)
{
    const double a = (double)model->heads;
    if (model->mla.kv_lora_rank > 0) {
        const struct sp_mla *mla = &model->mla;
        return a * (double)(2 * (mla->qk_nope_head_dim + mla->qk_rope_head_dim) + mla->v_head_dim);
    }
    return (double)model->head_dim * (a + 2 * (double)model->kv_heads);
}

/* Attention output of one token before its projection, in elements. */
static double attention_out_width(const struct sp_model *model)
{
    const int64_t d_v = model->mla.kv_lora_rank > 0 ? model->mla.v_head_dim : model->head_dim;
    return (double)(model->heads * d_v);
}

/* The latents that MLA keeps beside q, k and v: two copies each, before and after their norm. */
static double latent_width(const struct sp_model *model)
{
    return 2 * (double)(model->mla.q_lora_rank + model->mla.kv_lora_rank);
}

double sp_activation_bytes_per_token_layer(const struct sp_model *model, enum sp_remat remat)
{
    if (!sp_model_has_shape(model))
        return NAN;
    const double D = (double)model->d_model, a = (double)model->heads;
    const double bytes = 2; /* per element, 16-bit */
    const double log_sum_exp = 4 * a;
    const double gates = model->gated_mlp ? 2 : 1;
    const struct mlp_widths mlp = mlp_widths(model);
    const double attention =
        D + D + qkv_width(model) + attention_out_width(model) + latent_width(model);
    const double everything = attention + D + mlp.in + (gates + 1) * mlp.hidden;

    switch (remat) {
    case SP_REMAT_NONE:
        return bytes * everything + log_sum_exp;
    case SP_REMAT_SELECTIVE:
        return bytes * everything;
    case SP_REMAT_MLP:
        return bytes * (mlp.out + gates * mlp.hidden);
    case SP_REMAT_DOTS:
        return bytes *
               (qkv_width(model) + latent_width(model) / 2 + D + mlp.out + gates * mlp.hidden);
    case SP_REMAT_FULL:
        return bytes * D;
    default:
        return NAN;
    }
}
