/* A plan's memory as lists of tensors. */
#include "obvious.h"

static struct listing listing;

/* Bytes that a layer keeps, tensor by tensor; `r` is the share of each that is recomputed instead.
 */
static double kept_of(const struct sp_model *m, const struct sp_plan *p,
                      const struct sp_framework *f, const struct sp_recompute *r, bool moe)
{
    const double tokens = (double)(p->micro_batch * p->seq / p->cp), tp = (double)p->tp,
                 D = (double)m->d_model;
    const double residual = D * tokens / (p->sequence_parallel ? tp : 1);
    const double normed = f->keeps_gathered ? D * tokens : residual;
    const bool latent = m->mla.kv_lora_rank > 0;
    const double qk =
        (double)(latent ? m->mla.qk_nope_head_dim + m->mla.qk_rope_head_dim : m->head_dim);
    const double v = (double)(latent ? m->mla.v_head_dim : m->head_dim);
    const double heads = (double)m->heads; /* and on a rank's part of tokens / tp keys: */
    const bool exchanged = p->cp > 1 && p->execution.cp_kind == SP_CP_ULYSSES;
    /* ranks that have a KV head each: there are as many copies of heads as it takes */
    const int64_t ranks = exchanged ? p->tp * p->cp : p->tp;
    const double keys = latent ? heads : (double)(m->kv_heads > ranks ? m->kv_heads : ranks);
    const double gates = m->gated_mlp ? 2 : 1;
    /* torchtitan's selective policy keeps no grouped matmul */
    const double experts_up = r->grouped > r->up ? r->grouped : r->up;
    const bool drops = p->execution.dropout > 0;
    /* a matmul's input that only its weight gradient needs is kept as cast: 1 byte of 2
     */
    const bool casts = f->narrow_inputs && p->dtype == SP_FP8;
    const double cast = casts ? 0.5 : 1;
    double elements = 0;
    elements += residual;                       /* the block's input */
    elements += r->spare * residual;            /* outputs nobody needs */
    elements += (1 - r->norms) * cast * normed; /* attention's normed input */
    elements += (1 - r->qkv) * (1 + f->qkv_copies) * heads * qk * tokens / tp; /* queries */
    elements += (1 - r->qkv) * (1 + f->qkv_copies) * keys * qk * tokens / tp;  /* keys */
    elements += (1 - r->qkv) * (1 + f->qkv_copies) * keys * v * tokens / tp;   /* values */
    if (latent) /* the latents, before and after their norm, on every device */
        elements +=
            (1 - r->qkv) * (1 + cast) * (double)(m->mla.q_lora_rank + m->mla.kv_lora_rank) * tokens;
    else
        elements += (1 - r->qkv) * 2 * (double)m->mla.q_lora_rank * tokens;
    elements += (1 - r->core * r->norms) * heads * v * tokens / tp; /* the output of attention */
    if (casts) /* attention needs it in 2 bytes, the output projection in one */
        elements += (1 - r->core * r->norms) * heads * v * tokens / tp / 2;
    if (exchanged) /* and what was exchanged for it */
        elements += (1 - r->core * r->norms) * heads * v * tokens / tp;
    elements += (1 - r->out) * residual; /* the MLP's residual input */
    double bytes =
        2 * elements + 4 * (1 - r->core) * heads * tokens / tp; /* logsumexp of each head, fp32 */
    if (drops) /* a mask of a byte for what attention and the MLP add */
        bytes += (1 - r->norms) * 2 * residual;
    if (p->execution.attention_kernel == SP_KERNEL_UNFUSED) /* a s^2 b scores, 5 bytes or 2 */
        bytes += (1 - r->core) * heads / tp * tokens * (double)p->seq * (drops ? 5 : 2);
    if (!moe) {
        const double width =
            (double)(m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense : m->d_ff) * tokens / tp;
        bytes += 2 * (1 - r->norms) * cast * normed;
        bytes += 2 * (1 - r->up) * gates * width;
        bytes += 2 * (1 - r->norms) * cast * (1 + (gates > 1 ? f->mlp_copies : 0)) * width;
        return bytes;
    }
    const double shared = (double)(m->moe.shared_experts * m->moe.d_ff_expert) * tokens / tp;
    const double routed = (double)m->moe.top_k * p->imbalance * tokens / tp;
    bytes += 2 * (1 - r->norms) * 2 * residual; /* normed input, and the router's */
    bytes += 2 * (1 - r->up) * gates * shared +
             2 * (1 - r->norms) * cast * (1 + (gates > 1 ? f->mlp_copies : 0)) * shared;
    bytes += 2 * (1 - experts_up) * cast * routed * D; /* tokens sent to the experts */
    bytes +=
        2 *
        ((1 - experts_up) * gates + (1 - r->norms) * cast * (1 + (gates > 1 ? f->mlp_copies : 0))) *
        routed * (double)m->moe.d_ff_expert;
    return bytes;
}

/* Bytes of other ranks' keys and values, and of their gradients, held while attention's gradients
 * are computed. */
static double others_of(const struct sp_model *m, const struct sp_plan *p,
                        const struct sp_framework *f)
{
    const struct sp_mla *const mla = &m->mla;
    const bool latent = mla->kv_lora_rank > 0;
    const double heads = (double)m->heads / (double)p->tp,
                 held = latent ? heads : fmax(1, (double)m->kv_heads / (double)p->tp);
    const double wide =
        (double)(latent ? mla->qk_nope_head_dim + mla->qk_rope_head_dim + mla->v_head_dim
                        : 2 * m->head_dim);
    double bytes = 0;
    if (p->cp == 1)
        return 0;
    for (int64_t token = 0; token < p->micro_batch * p->seq; token++) {
        const bool mine = token < p->micro_batch * p->seq / p->cp;
        const double theirs = p->execution.cp_kind == SP_CP_ALLGATHER && !mine;
        if (p->execution.cp_kind == SP_CP_ULYSSES && mine) /* a second layout of what it has */
            bytes += 2 * wide * (heads + held);
        if ((p->execution.cp_kind == SP_CP_RING || p->execution.cp_kind == SP_CP_DYNAMIC) &&
            mine) /* one comes, one goes, with gradients */
            bytes += 2 * wide * held * (2 + f->ring_grad_bytes);
        if (f->cp_gather == SP_CP_GATHER_HEADS) /* a head and the next, with gradients */
            bytes += theirs * 2 * wide * 2 * 2;
        else if (f->cp_gather == SP_CP_GATHER_BLOCKS) /* their gradients come and go */
            bytes += theirs * 2 * wide * held;
        else
            bytes += theirs * 2 * wide * held * 2;
        if (p->execution.cp_kind == SP_CP_ALLGATHER && f->cp_gather == SP_CP_GATHER_BLOCKS && mine)
            bytes += 2 * wide * held * f->ring_grad_bytes;
    }
    return bytes;
}

/* What the backward pass of a layer, or the loss, adds for a while. */
static double peak_of(const struct sp_model *m, const struct sp_plan *p,
                      const struct sp_framework *f, bool moe)
{
    const double tokens = (double)(p->micro_batch * p->seq / p->cp), tp = (double)p->tp;
    const struct sp_recompute nothing = {0};
    const double width = (double)(moe                     ? m->moe.top_k * m->moe.d_ff_expert
                                  : m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense
                                                          : m->d_ff);
    double bytes = fmax(/* gradients of the MLP's inner tensors, or attention's turn */
                        2 * (m->gated_mlp ? 2 : 1) * tokens * width / tp, others_of(m, p, f));
    if (p->sequence_parallel && p->tp > 1)
        bytes += 2 * tokens * (double)m->d_model; /* a gathered gradient */
    if (p->recompute.offload) /* offloaded and dropped tensors are live again, while those kept by
                                 the layer before arrive */
        bytes += kept_of(m, p, f, &nothing, moe) + kept_of(m, p, f, &p->recompute, moe);
    else if (p->recompute_layers > 0)
        bytes += kept_of(m, p, f, &nothing, moe) - kept_of(m, p, f, &p->recompute, moe);
    return bytes;
}

static double loss_of(const struct sp_model *m, const struct sp_plan *p,
                      const struct sp_framework *f)
{
    const double tokens = (double)(p->micro_batch * p->seq / p->cp), tp = (double)p->tp,
                 D = (double)m->d_model;
    const double whole = tp > 1 && f->split_logit_bytes > 0 ? f->split_logit_bytes : f->logit_bytes;
    const double each[] = {whole, 2, whole / 8, 0, 2 + 4 + 4}, logit = each[p->execution.logits];
    return 4 * tokens * D / tp + logit * tokens * padded((double)m->vocab, tp) / tp +
           2 * tokens * D;
}

/* Weights of a layer on a device. */
static double layer_on_device(const struct sp_model *m, const struct sp_plan *p, int layer)
{
    static struct listing all;
    double weights = 0;
    list_model(m, &all);
    for (size_t i = 0; i < all.n; i++) {
        const struct tensor *const w = &all.at[i];
        if (w->layer == layer)
            weights +=
                w->rows * w->columns /
                (w->share == OVER_EXPERTS ? (double)(p->ep * p->etp) : sharers(m, p, w->share));
    }
    return weights;
}

/* What a framework that takes torch's pipelining holds to send between stages, one micro-batch
 * after the other: it receives its input and its gradient into separate tensors, and keeps its
 * output until the backward pass. Inputs in flight are the first layer's and counted there. */
static double sends_of(const struct sp_model *m, const struct sp_plan *p, int64_t stage,
                       double flying)
{
    const double tokens = (double)(p->micro_batch * p->seq / p->cp),
                 parts = p->sequence_parallel ? (double)p->tp : 1;
    const double sent = 2 * (double)m->d_model * tokens / parts;
    double bytes = 0;
    for (int64_t micro = 0; micro < microbatches_of(p); micro++) {
        bytes += stage > 0 && (double)micro >= flying ? sent : 0; /* waits for its turn */
        bytes += stage < p->pp - 1 ? sent : 0;                    /* for its gradient */
        bytes += stage < p->pp - 1 && (double)micro < flying ? sent : 0;
    }
    return bytes;
}

/* Also held by the framework: a gradient of each shape of weight, and unsharded layers. */
static double buffers_of(const struct sp_model *m, const struct sp_plan *p,
                         const struct sp_framework *f, int from, int to)
{
    const double tp = (double)p->tp, D = (double)m->d_model, matrices = m->gated_mlp ? 3 : 2;
    const double F = (double)(m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense : m->d_ff),
                 E = (double)m->moe.d_ff_expert;
    bool dense = false, moe = false;
    double attention = 0, on_a_rank = 0, experts = 0, shared = 0, mlp = 0, bytes = 0;
    for (int layer = from; layer < to; layer++) {
        if (has_experts(m, layer))
            moe = true;
        else
            dense = true;
    }
    /* of one layer, all of its tensors */
    int mixed = -1, plain = -1;
    for (int layer = (int)m->layers; layer-- > 0;) {
        if (has_experts(m, layer))
            mixed = layer;
        else
            plain = layer;
    }
    struct listing *const l = &listing;
    const int any_layer = mixed >= 0 ? mixed : plain;
    l->n = 0;
    put_attention(l, m, any_layer);
    for (size_t i = 0; i < l->n; i++) {
        attention += l->at[i].rows * l->at[i].columns;
        on_a_rank += l->at[i].rows * l->at[i].columns /
                     (l->at[i].share == OVER_KV_HEADS ? sharers(m, p, OVER_KV_HEADS) : tp);
    }
    l->n = 0;
    put_mlp(l, m, 0, F, OVER_TP, m->mlp_bias);
    for (size_t i = 0; i < l->n; i++)
        mlp += l->at[i].rows * l->at[i].columns;
    l->n = 0;
    put_mlp(l, m, 0, E, OVER_EXPERTS, m->moe.expert_bias);
    for (size_t i = 0; i < l->n; i++)
        experts += (double)m->moe.experts * l->at[i].rows * l->at[i].columns;
    l->n = 0;
    if (m->moe.shared_experts > 0)
        put_mlp(l, m, 0, (double)m->moe.shared_experts * E, OVER_TP, false);
    for (size_t i = 0; i < l->n; i++)
        shared += l->at[i].rows * l->at[i].columns;
    if (f->dummy_wgrads) {
        if (m->mla.kv_lora_rank > 0)
            bytes += 2 * attention / tp;
        else
            bytes += 2 * D * (double)m->head_dim *
                     ((double)(2 * m->heads) / tp + 2 * fmax((double)m->kv_heads / tp, 1));
        if (dense)
            bytes += 2 * matrices * D * F / tp;
        if (moe)
            bytes += 2 * matrices * D * E / (double)p->etp +
                     2 * matrices * D * E * (double)m->moe.shared_experts / tp;
        if (to == (int)m->layers)
            bytes += 2 * D * padded((double)m->vocab, tp) / tp;
    }
    /* one rank alone has nothing to gather */
    bytes += f->workspace_bytes + (moe ? f->expert_workspace_bytes : 0);
    const double D_experts = (double)(p->shards * p->tp) / (double)(p->ep * p->etp);
    if (p->zero == 3 && (p->shards > 1 || (moe && D_experts > 1))) {
        if (f->keeps_stages_whole && p->pp > 1) { /* 2 bytes of weight and 4 of gradient */
            double held_dense, held_experts;
            double largest = 0; /* its gradients in 2 bytes, before they are added */
            for (int layer = from; layer < to; layer++)
                largest = fmax(largest, layer_on_device(m, p, layer));
            held_of(m, p, from, to, &held_dense, &held_experts);
            return bytes + (p->schedule == SP_DUALPIPE ? 2 : 1) * 2 * largest +
                   6 * (p->schedule == SP_DUALPIPE ? 2 : 1) * (held_dense + held_experts);
        }
        const double mixture = moe ? shared / tp + experts / (double)(p->ep * p->etp) : 0;
        const double layer = on_a_rank + fmax(mixture, dense ? mlp / tp : 0);
        if (f->gathered_layers > 0)
            bytes += (2 * fmax(f->gathered_layers, 1) + 4 * f->gathered_grads) * layer;
        else /* a layer at work, one on its way, gradients on theirs: 2 bytes each */
            bytes += 6 * layer;
        if (from == 0)
            bytes += 2 * ((double)m->vocab / tp + (double)m->learned_positions) * D;
        if (to == (int)m->layers && !(from == 0 && m->tied_embeddings))
            bytes += 2 * (double)m->vocab * D / tp;
    }
    return bytes;
}

/* Micro-batches whose activations stage `stage` holds at once: by going through the schedule, or as
 * the authors of a zero-bubble schedule promise. */
static double in_flight(const struct sp_plan *p, int64_t stage)
{
    const int64_t m = microbatches_of(p);
    int64_t held = 0, most = 0;
    const int64_t ahead = p->schedule == SP_GPIPE ? m : p->pp - 1 - stage;
    const int64_t promised = p->schedule == SP_ZB_H2      ? 2 * p->pp - 1
                             : p->schedule == SP_DUALPIPE ? p->pp + 1
                                                          : 0;
    if (p->pp == 1)
        return 1;
    if (promised > 0)
        return (double)(promised < m ? promised : m);
    const int64_t warm = ahead < m ? ahead : m;
    for (int64_t i = 0; i < warm; i++)
        most = ++held > most ? held : most;
    for (int64_t i = warm; i < m; i++) { /* one forward, one backward */
        most = ++held > most ? held : most;
        held--;
    }
    return (double)most;
}

/* The first layer of a stage if the end stages may have given sizes: the others share the rest, one
 * layer each in turn. */
static int dealt(const struct sp_model *m, const struct sp_plan *p, int64_t stage)
{
    int64_t of[8] = {0}, left = m->layers - p->first_layers - p->last_layers, s = 0, at = 0;
    if (p->first_layers == 0 && p->last_layers == 0)
        return first_layer(m, p->pp, stage);
    of[0] = p->first_layers;
    of[p->pp - 1] = p->last_layers;
    while (left > 0) {
        const bool own = (s == 0 && p->first_layers > 0) || (s == p->pp - 1 && p->last_layers > 0);
        of[s] += !own;
        left -= !own;
        s = (s + 1) % p->pp;
    }
    for (s = 0; s < stage; s++)
        at += of[s];
    return (int)at;
}

static struct sp_framework random_framework(void)
{
    return (struct sp_framework){.keeps_gathered = rand() % 2,
                                 .narrow_inputs = rand() % 2,
                                 .cp_gather = rand() % SP_CP_GATHERS,
                                 .ring_grad_bytes = (double)ANY(2, 4),
                                 .mlp_copies = (double)ANY(0, 1),
                                 .qkv_copies = (double)ANY(0, 1),
                                 .logit_bytes = (double)ANY(2, 6),
                                 .dummy_wgrads = rand() % 2,
                                 .gathered_layers = (double)ANY(0, 2),
                                 .gathered_grads = (double)ANY(0, 1),
                                 .keeps_stages_whole = rand() % 2,
                                 .split_logit_bytes = (double)ANY(0, 16),
                                 .workspace_bytes = (double)ANY(0, 100),
                                 .expert_workspace_bytes = (double)ANY(0, 100),
                                 .reserved_factor = 1.25,
                                 .context_bytes = 1e6};
}

/* A stage's states: all of them, or the part of a device among those that share them. DualPipe has
 * two stages on a device, and twice the devices share each. */
static void check_states(const struct sp_model *m, const struct sp_plan *p,
                         const struct sp_precision *precision, int from, int to,
                         const struct sp_stage_memory *of)
{
    const double group = (double)p->shards, stages = p->schedule == SP_DUALPIPE ? 2 : 1;
    const double experts_group = fmax(1, group * (double)p->tp / (double)(p->ep * p->etp));
    double dense, experts;
    held_of(m, p, from, to, &dense, &experts);
    const double all = stages * (dense + experts),
                 part = stages * (dense / (stages * group) + experts / (stages * experts_group));
    /* whole bytes: half a byte of rounding each */
    assert_true(fabs((double)of->params - 2 * (p->zero == 3 ? part : all)) <= 0.51);
    /* a recipe without gradients adds up those of several micro-batches in the weights' 2 bytes */
    const bool several = p->dp * p->micro_batch < p->batch;
    const double each = precision->grad_bytes == 0 && several ? 2 : precision->grad_bytes;
    assert_true(fabs((double)of->grads - each * (p->zero >= 2 ? part : all)) <= 0.51);
    assert_true(fabs((double)of->optimizer - 12 * (p->zero >= 1 ? part : all)) <= 0.51);
}

/* Weights of a norm for each channel: a scale, and a shift. */
static double norm_of(const struct sp_model *m)
{
    return m->norm == SP_NORM_LAYER ? 2 : m->norm == SP_NORM_NO_AFFINE ? 0 : 1;
}

/* The tensors of one micro-batch that the layers of a stage keep. */
static double one_in_flight(const struct sp_model *m, const struct sp_plan *p,
                            const struct sp_framework *f, int from, int to)
{
    const struct sp_recompute nothing = {0};
    double kept = 0;
    if (p->recompute.offload) /* all kept tensors wait in the host's memory */
        return 0;
    for (int layer = from; layer < to; layer++) {
        const bool moe = has_experts(m, layer);
        kept += p->recompute_layers * kept_of(m, p, f, &p->recompute, moe) +
                (1 - p->recompute_layers) * kept_of(m, p, f, &nothing, moe);
    }
    return kept;
}

static double peak_of_layers(const struct sp_model *m, const struct sp_plan *p,
                             const struct sp_framework *f, int from, int to)
{
    double peak = 0;
    for (int layer = from; layer < to; layer++)
        peak = fmax(peak, peak_of(m, p, f, has_experts(m, layer)));
    return peak;
}

static double peak_at(const struct sp_model *m, const struct sp_plan *p,
                      const struct sp_framework *f, int from, int to)
{
    const double peak = peak_of_layers(m, p, f, from, to);
    return to == m->layers ? fmax(peak, loss_of(m, p, f)) : peak;
}

/* The dense gradient of the tables. */
static double table_of(const struct sp_model *m, const struct sp_plan *p)
{
    const double tables = padded((double)m->vocab, (double)p->tp) / (double)p->tp +
                          (double)m->learned_positions + (m->embedding_norm ? norm_of(m) : 0);
    return 2 * tables * (double)m->d_model;
}

/* The activations kept for every micro-batch in flight, and the peak beside them. */
static double activations_of(const struct sp_model *m, const struct sp_plan *p,
                             const struct sp_framework *f, int64_t stage, int from, int to)
{
    const double kept = one_in_flight(m, p, f, from, to), peak = peak_at(m, p, f, from, to);
    bool moe = false;
    for (int layer = from; layer < to; layer++)
        moe |= has_experts(m, layer);
    const bool gathers =
        p->zero == 3 && (p->shards > 1 || (moe && p->shards * p->tp > p->ep * p->etp));
    /* a backward pass ends with the tables' gradient, when its own activations are gone */
    const double at_end = from == 0 && !gathers ? table_of(m, p) : 0;
    const double flying = in_flight(p, stage);
    return fmax(flying * kept + peak, fmax(flying - 1, 0) * kept + at_end);
}

static void memory(void **state)
{
    static const enum sp_schedule schedules[] = {SP_GPIPE, SP_1F1B, SP_ZB_H1, SP_ZB_H2,
                                                 SP_DUALPIPE};
    int compared = 0, dual = 0;
    (void)state;
    srand(2);
    for (int i = 0; i < 60000 && compared < 20000; i++) {
        const struct sp_model m = random_model();
        struct sp_plan p = random_plan(&m);
        p.schedule = schedules[rand() % 5];
        p.batch = ANY(64, 64, 3, 5, 7, 9, 13); /* the last micro-batch may be smaller */
        p.first_layers = p.pp > 1 && rand() % 3 == 0 ? ANY(1, 2, 3) : 0;
        p.last_layers = p.pp > 1 && rand() % 3 == 0 ? ANY(1, 2, 3) : 0;
        if (sp_check_plan(&m, &p, sp_plan_devices(&p), 1) != SP_PLAN_OK)
            continue;
        const struct sp_framework f = random_framework();
        const struct sp_precision precision = {.weight_bytes = 2,
                                               .grad_bytes = (double)ANY(0, 2, 4),
                                               .master_bytes = 4,
                                               .optimizer_bytes = 8};
        const int64_t stage = rand() % p.pp;
        const int from = dealt(&m, &p, stage), to = dealt(&m, &p, stage + 1);
        const struct sp_stage_memory of = sp_memory_of_stage(&m, &precision, &p, &f, stage);
        check_states(&m, &p, &precision, from, to, &of);
        assert_true(fabs((double)of.activations - activations_of(&m, &p, &f, stage, from, to)) <=
                    0.51);
        assert_true(
            fabs((double)of.buffers - buffers_of(&m, &p, &f, from, to) -
                 (f.keeps_stages_whole && p.pp > 1 ? sends_of(&m, &p, stage, in_flight(&p, stage))
                                                   : 0)) <= 0.51);
        assert_int_equal(of.live,
                         of.params + of.grads + of.optimizer + of.activations + of.buffers);
        assert_true(fabs((double)of.reserved - 1.25 * (double)of.live) <= 0.51);
        assert_int_equal(of.device, of.reserved + 1000000);
        /* the fullest stage is the fullest of all */
        struct sp_stage_memory fullest;
        sp_fullest_stage(&m, &precision, &p, &f, &fullest);
        assert_true(of.live <= fullest.live);
        compared++;
        dual += p.schedule == SP_DUALPIPE && p.pp > 1;
    }
    print_message("%d plans, %d of them DualPipe\n", compared, dual);
    assert_true(compared >= 5000 && dual >= 500);
}

/* == Chunks of different sizes == */

/* The order in which a stage runs chunks forward, in groups of pp micro-batches, and backward from
 * the last one. */
static int64_t chunk_at(const struct sp_plan *p, int64_t k, bool back)
{
    const int64_t chunk = k % (p->pp * p->vpp) / p->pp;
    return back ? p->vpp - 1 - chunk : chunk;
}

/* The most layers whose activations are kept at once, at any time and just after the last chunk has
 * run; found by going through the passes. */
static void play_chunks(const struct sp_plan *p, int64_t stage, const int64_t *sizes,
                        double most[2])
{
    const int64_t all = microbatches_of(p) * p->vpp,
                  warm = 2 * (p->pp - 1 - stage) + (p->vpp - 1) * p->pp;
    double layers = 0;
    most[0] = most[1] = 0;
    for (int64_t k = 0; k < all; k++) {
        const int64_t chunk = chunk_at(p, k, false);
        layers += (double)sizes[chunk];
        most[0] = fmax(most[0], layers);
        if (chunk == p->vpp - 1)
            most[1] = fmax(most[1], layers);
        if (k >= warm)
            layers -= (double)sizes[chunk_at(p, k - warm, true)];
    }
}

/* A stage's chunks: the first stage has a layer more, the last one less, or the last ones lack
 * what does not divide. */
static void uneven_chunks(void **state)
{
    int compared[3] = {0, 0, 0};
    (void)state;
    srand(5);
    for (int i = 0; i < 20000; i++) {
        struct sp_model m = random_model();
        struct sp_plan p = random_plan(&m);
        const struct sp_framework f = random_framework();
        const struct sp_precision precision = {.weight_bytes = 2};
        const int64_t chunk = ANY(1, 2, 3);
        const enum { FIRST, LAST, ANY_OF_LAST } which = (unsigned)rand() % 3;
        p.pp = ANY(2, 4);
        p.vpp = ANY(2, 3, 4);
        p.schedule = SP_INTERLEAVED;
        p.batch = p.dp * p.micro_batch * p.pp * ANY(2, 3);
        p.zero = 0;
        m.moe = (struct sp_moe){.experts = 0};
        p.ep = p.etp = 1;
        const int64_t lacking = which == ANY_OF_LAST ? 1 + rand() % (p.pp - 1) : 1;
        m.layers = chunk * p.pp * p.vpp + (which == FIRST ? 1 : -lacking);
        const int64_t size = chunk * p.vpp + (which == FIRST ? 1 : -1);
        p.first_layers = which == FIRST ? size : 0;
        p.last_layers = which == LAST ? size : 0;
        const bool by_ends = which == ANY_OF_LAST && (m.layers + 2) % p.pp == 0;
        if (by_ends || chunk * p.pp * p.vpp <= 2 * p.pp || /* too near to the next size */
            sp_check_plan(&m, &p, sp_plan_devices(&p), 1) != SP_PLAN_OK)
            continue;
        const int64_t stage = which == FIRST ? 0 : p.pp - 1 - rand() % lacking;
        const int from = dealt(&m, &p, stage), to = dealt(&m, &p, stage + 1);
        int64_t sizes[4] = {chunk, chunk, chunk, chunk};
        double most[2];
        sizes[which == FIRST ? 0 : p.vpp - 1] += which == FIRST ? 1 : -1;
        play_chunks(&p, stage, sizes, most);
        const double flat = one_in_flight(&m, &p, &f, from, to), layer = flat / (double)size;
        const double peak = peak_at(&m, &p, &f, from, to);
        const double last = fmax(most[0] * layer, most[1] * layer + peak), other = most[0] * layer;
        const double expected =
            stage == p.pp - 1 ? last : other + fmax(peak, stage == 0 ? table_of(&m, &p) - flat : 0);
        const struct sp_stage_memory of = sp_memory_of_stage(&m, &precision, &p, &f, stage);
        assert_int_equal(to - from, size);
        assert_true(fabs((double)of.activations - expected) <= 1e-9 * expected + 0.51);
        compared[which]++;
    }
    assert_true(compared[0] >= 500 && compared[1] >= 500 && compared[2] >= 500);
}

/* == Further tokens == */

/* A module that predicts a further token adds a layer, a projection of two streams and three norms
 * to the last stage, with a copy of the table where that is on another, and to the loss the tensors
 * that these keep of a micro-batch, and those of its own logits. DeepSeek-V3, section 2.2. */
static void further_tokens(void **state)
{
    int compared = 0;
    (void)state;
    srand(6);
    for (int i = 0; i < 60000 && compared < 5000; i++) {
        struct sp_model m = random_model();
        struct sp_plan p = random_plan(&m);
        const struct sp_framework f = random_framework();
        const struct sp_precision precision = {.weight_bytes = 2};
        p.zero = 0;
        p.recompute.offload = false;
        p.first_layers = p.pp > 1; /* sizes that modules do not move */
        if (sp_check_plan(&m, &p, sp_plan_devices(&p), 1) != SP_PLAN_OK)
            continue;
        const int64_t stage = p.pp - 1;
        const int from = dealt(&m, &p, stage), to = (int)m.layers;
        const struct sp_stage_memory without = sp_memory_of_stage(&m, &precision, &p, &f, stage);
        m.mtp_layers = ANY(1, 2);
        const struct sp_stage_memory with = sp_memory_of_stage(&m, &precision, &p, &f, stage);
        const double n = (double)m.mtp_layers, tp = (double)p.tp, D = (double)m.d_model;
        const double tokens = (double)(p.micro_batch * p.seq / p.cp),
                     vocab = padded((double)m.vocab, tp) / tp;
        const double module =
            layer_on_device(&m, &p, to - 1) + 2 * D * D / tp + 3 * D * norm_of(&m);
        const double copy = p.pp > 1 && !m.tied_embeddings ? vocab * D : 0;
        assert_true(fabs((double)(with.params - without.params) - 2 * (n * module + copy)) <= 1.1);
        const double whole =
            tp > 1 && f.split_logit_bytes > 0 ? f.split_logit_bytes : f.logit_bytes;
        const double each[] = {4, 2, whole / 8, 0, 4}; /* the softmax in 4 bytes, or as it is */
        const double logits = each[p.execution.logits] * tokens * vocab;
        const bool moe = has_experts(&m, to - 1);
        const double residual = D * tokens / (p.sequence_parallel ? tp : 1);
        const struct sp_recompute nothing = {0};
        /* its layer, the joined streams, the inputs of three norms, and the recomputed ones among
         * them */
        const double own = 2 * 5 * residual,
                     held =
                         2 * ((1 - p.recompute.qkv) * 2 + (1 - p.recompute.norms) * 3) * residual;
        const double kept = p.recompute_layers * (kept_of(&m, &p, &f, &p.recompute, moe) + held) +
                            (1 - p.recompute_layers) * (kept_of(&m, &p, &f, &nothing, moe) + own);
        const double peak = peak_of(&m, &p, &f, moe) + (p.recompute_layers > 0 ? own - held : 0);
        const double expected = in_flight(&p, stage) * one_in_flight(&m, &p, &f, from, to) +
                                fmax(peak_of_layers(&m, &p, &f, from, to),
                                     n * kept + fmax(loss_of(&m, &p, &f) + n * logits, peak));
        assert_true(fabs((double)with.activations -
                         fmax(expected, p.pp == 1 ? table_of(&m, &p) : 0)) <= 1.1);
        compared++;
    }
    assert_true(compared >= 5000);
}

/* Every replica's share in micro-batches, one sequence dealt after the other. */
static void microbatches(void **state)
{
    (void)state;
    /* 10 sequences for 3 replicas: 4, 3, 3; the fullest goes in micro-batches of 2, 2, or of 3, 1
     */
    assert_int_equal(
        sp_plan_microbatches(&(struct sp_plan){.dp = 3, .micro_batch = 2, .batch = 10}), 2);
    assert_int_equal(
        sp_plan_microbatches(&(struct sp_plan){.dp = 3, .micro_batch = 3, .batch = 10}), 2);
    for (int64_t dp = 1; dp < 12; dp++)
        for (int64_t micro = 1; micro < 9; micro++)
            for (int64_t batch = dp; batch < 150; batch++) {
                const struct sp_plan p = {.dp = dp, .micro_batch = micro, .batch = batch};
                assert_int_equal(sp_plan_microbatches(&p), microbatches_of(&p));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory), cmocka_unit_test(uneven_chunks),
                                       cmocka_unit_test(further_tokens),
                                       cmocka_unit_test(microbatches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
