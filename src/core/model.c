/* Parameter counts of a model, by part. */
#include <math.h>

#include <scaleplan/model.h>

bool sp_model_has_shape(const struct sp_model *model)
{
    return model->layers > 0;
}

int64_t sp_moe_layers(const struct sp_model *model)
{
    const struct sp_moe *moe = &model->moe;
    if (moe->experts == 0)
        return 0;
    const int64_t routed = model->layers - moe->dense_layers;
    return moe->every > 1 ? routed / moe->every : routed;
}

/* Weights of one normalisation of `width` channels: scale, and shift for a biased LayerNorm. */
static double norm_params(const struct sp_model *model, double width)
{
    const double weights[] = {[SP_NORM_RMS] = 1,
                              [SP_NORM_LAYER] = 2,
                              [SP_NORM_LAYER_NO_BIAS] = 1,
                              [SP_NORM_NO_AFFINE] = 0};
    return weights[model->norm] * width;
}

/* One MLP of the given width: 3DF gated or 2DF plain, and its biases. */
static double mlp_params(const struct sp_model *model, double width, bool bias)
{
    const double D = (double)model->d_model;
    const double matrices = model->gated_mlp ? 3 : 2;
    const double biases = bias ? (matrices - 1) * width + D : 0;
    return matrices * D * width + biases;
}

/* Multi-head latent attention: DeepSeek-V2 section 2.1; the low-rank latents have norms of their
 * own. */
static double mla_params(const struct sp_model *model)
{
    const struct sp_mla *mla = &model->mla;
    const double h = (double)model->d_model, a = (double)model->heads;
    const double d_qk = (double)(mla->qk_nope_head_dim + mla->qk_rope_head_dim);
    const double q_l = (double)mla->q_lora_rank, k_l = (double)mla->kv_lora_rank;
    const double query = q_l > 0 ? h * q_l + q_l + q_l * a * d_qk : h * a * d_qk;
    const double latent = h * (k_l + (double)mla->qk_rope_head_dim) + k_l;
    const double keys_values = k_l * a * (double)(mla->qk_nope_head_dim + mla->v_head_dim);
    return query + latent + keys_values + a * (double)mla->v_head_dim * h;
}

/* One layer's attention: 2DH(N_h + K), biases, query and key norms. */
static double attention_params(const struct sp_model *model)
{
    const double D = (double)model->d_model, H = (double)model->head_dim;
    const double N_h = (double)model->heads, K = (double)model->kv_heads;
    double params = model->mla.kv_lora_rank > 0 ? mla_params(model) : 2 * D * H * (N_h + K);
    if (model->qkv_bias)
        params += H * (N_h + 2 * K);
    if (model->o_bias)
        params += D;
    if (model->qk_norm == SP_QK_NORM_HEAD)
        params += 2 * H;
    else if (model->qk_norm == SP_QK_NORM_FULL)
        params += H * (N_h + K);
    return params + (double)model->extra_attention_params_per_layer;
}

static double router_params(const struct sp_model *model)
{
    const struct sp_moe *moe = &model->moe;
    const double E = (double)moe->experts;
    return E * (double)model->d_model + (moe->router_bias ? E : 0) +
           (moe->score_correction_bias ? E : 0);
}

static double embedding_params(const struct sp_model *model)
{
    const double D = (double)model->d_model, V = (double)model->vocab;
    return V * D * (model->tied_embeddings ? 1 : 2) + D * (double)model->learned_positions +
           (model->lm_head_bias ? V : 0);
}

struct sp_params sp_count_params(const struct sp_model *model)
{
    if (!sp_model_has_shape(model))
        return (struct sp_params){NAN, NAN, NAN, NAN, NAN, NAN, model->params, model->params};

    const struct sp_moe *moe = &model->moe;
    const double L = (double)model->layers, D = (double)model->d_model;
    const double L_moe = (double)sp_moe_layers(model);
    const double d_ff_dense = (double)(moe->d_ff_dense > 0 ? moe->d_ff_dense : model->d_ff);
    const double expert = mlp_params(model, (double)moe->d_ff_expert, moe->expert_bias);

    struct sp_params p;
    p.embedding = embedding_params(model);
    p.attention = L * attention_params(model);
    p.mlp = (L - L_moe) * mlp_params(model, d_ff_dense, model->mlp_bias) +
            L_moe * mlp_params(model, (double)(moe->shared_experts * moe->d_ff_expert), false);
    p.experts = L_moe * (double)moe->experts * expert;
    p.router = L_moe * router_params(model);
    p.norm = (L * (double)model->norms_per_layer + 1 + (model->embedding_norm ? 1 : 0)) *
             norm_params(model, D);
    p.total = p.embedding + p.attention + p.mlp + p.experts + p.router + p.norm;
    p.active = p.total - L_moe * (double)(moe->experts - moe->top_k) * expert;
    return p;
}

double sp_active_d_ff(const struct sp_model *model)
{
    const struct sp_moe *moe = &model->moe;
    if (!sp_model_has_shape(model))
        return NAN;
    if (moe->experts == 0)
        return (double)model->d_ff;
    return (double)((moe->top_k + moe->shared_experts) * moe->d_ff_expert);
}

double sp_expert_ratio(const struct sp_model *model)
{
    const struct sp_moe *moe = &model->moe;
    return moe->experts == 0 ? 1 : (double)moe->experts / (double)moe->top_k;
}

double sp_off_published(const struct sp_model *model)
{
    return model->published_params > 0 ? sp_count_params(model).total / model->published_params - 1
                                       : NAN;
}
