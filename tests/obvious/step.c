/* A step's work one by one: on a machine where everything else is free, each part takes the time
 * given by a count of its FLOPs or bytes. No constant of the library is used here, except in the
 * case by hand at the end. */
#include "obvious.h"

static struct listing listing;

/* --- arithmetic ------------------------------------------------------------------------------- */

/* FLOPs of a rank's matmuls in one forward pass of a micro-batch: of the layers' in the plan's
 * format, and of those that stay in 16 bits, the router and the head. */
struct flops {
    double layers, wide;
};

static struct flops forward_flops(const struct world *w)
{
    const struct sp_model *const m = &w->m;
    const double T = tokens_of(w), t = (double)w->p.tp;
    const double sent = (double)m->moe.top_k * load_of(&w->p);
    struct flops f = {0, 0};
    list_model(m, &listing);
    for (size_t i = 0; i < listing.n; i++) {
        const struct tensor *const x = &listing.at[i];
        const double whole = x->multiplies ? 2 * T * x->rows * x->columns : 0;
        if (x->expert) /* of E experts alike, each token passes `sent` */
            f.layers += whole * sent / (double)m->moe.experts / t;
        else if (x->share == ALL_HOLD_IT)
            f.wide += whole / (w->p.sequence_parallel ? t : 1);
        else if (x->table)
            f.wide += whole / t;
        else
            f.layers += whole / sharers(m, &w->p, x->share);
    }
    if (m->tied_embeddings) /* the table serves as the head too */
        f.wide += 2 * T * (double)m->vocab * (double)m->d_model / t;
    return f;
}

/* Every side so large that the edges of tiles do not count. */
static void enlarge(struct world *w)
{
    const int64_t by = 4096;
    w->m.d_model *= by;
    w->m.d_ff *= by;
    w->m.head_dim *= by;
    w->m.vocab *= by;
    w->m.moe.d_ff_expert *= by;
    w->m.moe.d_ff_dense *= by;
    w->m.mla.q_lora_rank *= by;
    w->m.mla.kv_lora_rank *= by;
    w->m.mla.qk_nope_head_dim *= by;
    w->m.mla.qk_rope_head_dim *= by;
    w->m.mla.v_head_dim *= by;
    w->p.seq *= by;
}

/* Forward once and backward twice; small matmuls waste more, large ones nothing. */
static void arithmetic(void **state)
{
    int compared = 0;
    (void)state;
    srand(6);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        if (!draw(&w, true, false))
            continue;
        if (w.m.mla.kv_lora_rank > 0 && w.p.tp > 1) /* each rank has all of the latents */
            continue;
        const double wide = 4e14, narrow = 9e14;
        w.hw.chip.peak_flops_per_s[SP_BF16] = wide;
        w.hw.chip.peak_flops_per_s[SP_FP8] = narrow;
        for (int large = 0; large < 2; large++) {
            if (large)
                enlarge(&w);
            const struct flops f = forward_flops(&w);
            const double layers =
                w.p.dtype == SP_FP8 ? narrow * k(&w, SP_C_MATMUL_8) : wide * k(&w, SP_C_MATMUL_16);
            const double exact = 3 * microbatches_of(&w.p) *
                                 (f.layers / layers + f.wide / (wide * k(&w, SP_C_MATMUL_16)));
            const double matmul = estimate(&w).matmul;
            assert_true(matmul >= exact * (1 - 1e-12));
            if (large)
                assert_close(matmul, exact, 0.03);
        }
        compared++;
    }
    print_message("%d plans\n", compared);
    assert_true(compared >= 3000);
}

/* Positions that the tokens of a sequence may attend to, and `beside` that their kernel computes as
 * well, one by one, summed over layers. */
static double computed(const struct sp_model *m, int seq, double beside)
{
    double sum = 0;
    for (int layer = 0; layer < m->layers; layer++)
        for (int i = 0; i < seq; i++)
            sum += reach(m, layer, i) + beside;
    return sum;
}

/* Attention takes between 3 (forward, twice backward) and 4 (the scores once more) times its
 * forward FLOPs, the same for all models and plans. */
static void attention(void **state)
{
    double all = 0;
    int compared = 0;
    (void)state;
    srand(12);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        if (!draw(&w, true, false))
            continue;
        const struct sp_mla *const mla = &w.m.mla;
        const double qk =
            (double)(mla->kv_lora_rank > 0 ? mla->qk_nope_head_dim + mla->qk_rope_head_dim
                                           : w.m.head_dim);
        const double v = (double)(mla->kv_lora_rank > 0 ? mla->v_head_dim : w.m.head_dim);
        w.hw.chip.peak_flops_per_s[SP_BF16] = 4e14;
        const double beside = (double)ANY(0, 100, 300);
        w.hw.chip.kernels.attention[SP_KERNEL_BF16] =
            (struct sp_attention_curve){.share = 0.6, .edge_keys = beside};
        const double pairs =
            computed(&w.m, (int)w.p.seq, beside) * (double)w.p.micro_batch / (double)w.p.cp;
        const double forward = pairs * 2 * (qk + v) * (double)w.m.heads / (double)w.p.tp;
        const double times = estimate(&w).attention * 4e14 * k(&w, SP_C_ATTENTION) /
                             (forward * microbatches_of(&w.p));
        all = all > 0 ? all : times;
        assert_true(times >= 3 && times <= 4);
        assert_close(times, all, 1e-9);
        compared++;
    }
    assert_true(compared >= 3000);
}

/* Bytes that kernels between the matmuls of unfused attention move for one head, row by row, each
 * score in 2: softmax and dropout forward, dropout and softmax backward. The causal softmax of
 * Megatron-LM reads a row up to its own token and writes all of it, zeros with the rest
 * (fused_kernels/scaled_upper_triang_masked_softmax.h); backward it reads a gradient and its own
 * result. Dropout reads and writes whole rows, and a byte of mask for each score. */
static double score_bytes(int seq, bool dropout)
{
    double bytes = 0;
    for (int i = 0; i < seq; i++) {
        const double row = 2.0 * seq, below = 2 * (i + 0.5), mask = seq;
        bytes += below + row + (below + below + row);
        if (dropout)
            bytes += row + row + mask + (row + mask + row);
    }
    return bytes;
}

static void unfused_attention(void **state)
{
    int compared = 0;
    (void)state;
    srand(21);
    assert_close(score_bytes(1024, true), 17 * 1048576.0, 1e-12);
    assert_close(score_bytes(1024, false), 7 * 1048576.0, 1e-12);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        if (!draw(&w, true, false))
            continue;
        const struct sp_mla *const mla = &w.m.mla;
        const double H = (double)w.m.head_dim, S = (double)w.p.seq;
        const double qk = mla->kv_lora_rank > 0
                              ? (double)(mla->qk_nope_head_dim + mla->qk_rope_head_dim)
                              : H,
                     v = mla->kv_lora_rank > 0 ? (double)mla->v_head_dim : H;
        w.p.execution.attention_kernel = SP_KERNEL_UNFUSED;
        w.p.execution.dropout = rand() % 2 ? 0.1 : 0;
        w.hw.chip.hbm_bytes_per_s = 2e12;
        const double heads = (double)(w.p.micro_batch * w.m.heads) / (double)(w.p.tp * w.p.cp);
        const double matmuls = 3 * 2 * (2 * S * qk + S * S + S * S + 2 * S * v);
        const double scores = score_bytes((int)w.p.seq, w.p.execution.dropout > 0);
        assert_close(estimate(&w).attention,
                     microbatches_of(&w.p) * (double)w.m.layers * heads *
                         (matmuls / 2e12 + scores / (0.8 * 2e12)),
                     1e-9);
        compared++;
    }
    assert_true(compared >= 3000);
}

/* Recomputation is proportional to the share of layers; all of it is a forward pass of the layers,
 * whose time is what twice as many of them add; a stop before the last matmul saves it. */
static void recomputation(void **state)
{
    int compared = 0;
    (void)state;
    srand(13);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        if (!draw(&w, true, false) || w.m.moe.experts > 0)
            continue;
        w.hw.chip.peak_flops_per_s[SP_BF16] = w.hw.chip.peak_flops_per_s[SP_FP8] = 4e14;
        w.profile.value[SP_C_ATTENTION] = FREE;
        w.p.recompute_layers = 1;
        const double again = estimate(&w).recompute;
        w.p.recompute_layers = 0.5;
        assert_close(estimate(&w).recompute, again / 2, 1e-12);
        w.p.recompute_layers = 1;
        w.p.recompute = sp_policies[4].recompute;
        w.f.stops_early = false;
        const struct sp_step_time full = estimate(&w);
        w.f.stops_early = true;
        assert_true(estimate(&w).recompute < full.recompute);
        w.m.layers *= 2;
        assert_close((estimate(&w).matmul - full.matmul) / 3, full.recompute, 1e-9);
        assert_true(again <= full.recompute * (1 + 1e-12));
        compared++;
    }
    assert_true(compared >= 1000);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* The least bytes that a rank's matmuls move in a pass (their weights), and the most (inputs and
 * outputs of each as well). */
static void matmul_bytes(const struct world *w, double *least, double *most)
{
    const struct sp_model *const m = &w->m;
    const double T = tokens_of(w), t = (double)w->p.tp, etp = (double)w->p.etp;
    const double here = (double)m->moe.experts / (double)w->p.ep;
    const double rows = T * (double)m->moe.top_k * load_of(&w->p) / t * etp;
    *least = *most = 0;
    list_model(m, &listing);
    for (size_t i = 0; i < listing.n; i++) {
        const struct tensor *const x = &listing.at[i];
        if (!x->multiplies)
            continue;
        if (x->expert) { /* one of E; on this rank `here` of them share the rows */
            const double part = here / (double)m->moe.experts;
            *least += 2 * x->rows * x->columns / etp * part;
            *most += 2 * (x->rows * x->columns / etp * here + rows * (x->rows + x->columns)) /
                     (double)m->moe.experts;
            continue;
        }
        *least += 2 * x->rows * x->columns / sharers(m, &w->p, x->share);
        *most +=
            2 * (x->rows * x->columns / sharers(m, &w->p, x->share) + T * x->rows + T * x->columns);
    }
    if (m->tied_embeddings) {
        const double V = (double)m->vocab / t, D = (double)m->d_model;
        *least += 2 * V * D;
        *most += 2 * (V * D + T * D + T * V);
    }
}

/* Parameters whose states a device owns. */
static double owned(const struct world *w)
{
    double dense, experts;
    const double group = (double)w->p.shards,
                 experts_group = fmax(1, group * (double)w->p.tp / (double)(w->p.ep * w->p.etp));
    held_of(&w->m, &w->p, 0, (int)w->m.layers, &dense, &experts);
    return w->p.zero == 0 ? dense + experts : dense / group + experts / experts_group;
}

static void memory_bound(void **state)
{
    int compared = 0;
    (void)state;
    srand(14);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        if (!draw(&w, true, false) || (w.m.mla.kv_lora_rank > 0 && w.p.tp > 1))
            continue;
        const int m = microbatches_of(&w.p);
        double least, most;
        matmul_bytes(&w, &least, &most);
        w.hw.chip.hbm_bytes_per_s = 2e12;
        const struct sp_step_time t = estimate(&w);
        assert_true(t.matmul * 2e12 >= 3 * m * least && t.matmul * 2e12 <= 3 * m * most);
        /* the optimizer reads and writes master copy and moments, reads the gradient, writes the
         * weight */
        const double each = 2 * (4 + 8.0) + 2 + w.precision.grad_bytes;
        assert_close(t.optimizer, k(&w, SP_C_MEMORY) * each * owned(&w) / (0.8 * 2e12), 1e-12);
        struct world other = w;
        other.hw.chip.hbm_bytes_per_s = 4e12;
        const struct sp_step_time fast = estimate(&other);
        assert_close(fast.matmul, t.matmul / 2, 1e-12);
        assert_close(fast.elementwise, t.elementwise / 2, 1e-12);
        assert_close(fast.optimizer, t.optimizer / 2, 1e-12);
        /* what is read and written goes with the tokens and with the constant */
        other = w;
        other.p.seq *= 2;
        assert_close(estimate(&other).elementwise, 2 * t.elementwise, 1e-12);
        other = w;
        other.profile.value[SP_C_MEMORY] *= 2;
        const double twice = estimate(&other).elementwise;
        if (w.m.moe.experts == 0)
            assert_close(twice, 2 * t.elementwise, 1e-12);
        else /* copies into the order of the experts are counted one by one */
            assert_true(twice > t.elementwise && twice <= 2 * t.elementwise * (1 + 1e-12));
        compared++;
    }
    assert_true(compared >= 3000);
}

/* Kept tensors go to the host in the forward pass and come back in the backward pass. */
static void offload(void **state)
{
    int compared = 0;
    (void)state;
    srand(15);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        double kept = 0;
        if (!draw(&w, true, false))
            continue;
        w.p.recompute.offload = false;
        struct sp_plan everywhere = w.p;
        everywhere.recompute_layers = 1;
        struct sp_layers layers;
        sp_list_model(&w.m, &layers);
        struct sp_rank_layers mine;
        struct sp_prepared_memory memory;
        sp_layers_on_rank(&layers, &everywhere, &w.f, &mine);
        sp_prepare_memory(&mine, &everywhere, &w.f, &memory);
        for (int layer = 0; layer < w.m.layers; layer++)
            kept += memory.kept[has_experts(&w.m, layer) ? SP_LAYER_MOE : SP_LAYER_DENSE];
        w.hw.chip.pcie_bytes_per_s = SLOW;
        assert_close(estimate(&w).offload, 0, 0);
        w.p.recompute.offload = true;
        assert_close(estimate(&w).offload, 2 * kept * w.p.recompute_layers * microbatches_of(&w.p),
                     1e-9);
        compared++;
    }
    assert_true(compared >= 3000);
}

/* --- stages and waits ------------------------------------------------------------------------- */

/* Idle time of either of two equal stages that work `work` s on a micro-batch, of which the weight
 * gradients take `late` s. One stage waits for the other's first pass and last one. */
static double idle_of_two_s(const struct sp_plan *p, int m, double work, double late)
{
    switch (p->schedule) {
    case SP_NAIVE: /* one at a time */
        return m * work;
    case SP_INTERLEAVED: /* a chunk's passes; an odd micro-batch goes round alone */
    case SP_CIRCULAR:
        return m % 2 ? work : work / (double)p->vpp;
    case SP_ZB_H1: /* the weight gradients of two micro-batches fill the gap, or of three */
        return fmax(0, work - fmin(m, 2) * late);
    case SP_ZB_H2:
        return fmax(0, work - fmin(m, 3) * late);
    default: /* DualPipe fills two devices from both ends */
        return 0;
    }
}

/* Two stages under a schedule with a closed form only: the stage with more work sets the pace, and
 * waits as long as it would in a pipeline of equal stages. */
static double two_stages_s(const struct sp_plan *p, int m, const double *work, const double *late)
{
    const double idle[] = {idle_of_two_s(p, m, work[0], late[0]),
                           idle_of_two_s(p, m, work[1], late[1])};
    const int slow = m * work[1] - idle[1] > m * work[0] - idle[0];
    return m * work[slow] + idle[1 - slow];
}

/* A pipeline of two stages under any schedule, of more under GPipe. */
static void draw_schedule(struct sp_plan *p)
{
    if (p->pp > 2) {
        p->schedule = SP_GPIPE;
        return;
    }
    p->schedule = (enum sp_schedule)(rand() % SP_SCHEDULES);
    if (p->schedule == SP_INTERLEAVED || p->schedule == SP_CIRCULAR)
        p->vpp = ANY(2, 3);
    if (p->schedule != SP_DUALPIPE)
        p->batch -= p->dp * p->micro_batch * (rand() % 3);
}

static double work_of(const struct sp_step_time *t)
{
    return t->matmul + t->attention + t->elementwise + t->recompute + t->launch + t->cp_comm;
}

/* The stages' own times, played, are the pipeline; together they are the whole model. */
static void stages(void **state)
{
    static struct sp_estimate e;
    int compared[SP_SCHEDULES] = {0};
    (void)state;
    srand(19);
    for (int i = 0; i < 60000; i++) {
        struct world w;
        double forward[16], backward[16], work[16], late[16], matmul = 0, elementwise = 0;
        if (!draw(&w, true, true) || w.p.pp == 1 || w.p.zero == 3)
            continue;
        draw_schedule(&w.p);
        if (sp_check_plan(&w.m, &w.p, sp_plan_devices(&w.p), w.hw.slices) != SP_PLAN_OK)
            continue;
        w.hw.chip.peak_flops_per_s[SP_BF16] = w.hw.chip.peak_flops_per_s[SP_FP8] = 4e14;
        w.hw.chip.hbm_bytes_per_s = 2e12;
        w.profile.value[SP_C_LAUNCH] = 1e-4;
        const struct sp_step_inputs in = {&w.m, &w.hw, &w.precision, &w.f, &w.profile, &w.p, NULL};
        sp_estimate(&in, SP_FLOPS_FULL, NULL, &e);
        const int m = microbatches_of(&w.p), p = (int)w.p.pp;
        for (int s = 0; s < p; s++) {
            const struct sp_stage_time one = e.kind[e.map.of[s]];
            forward[s] = one.forward;
            backward[s] = one.backward;
            work[s] = one.forward + one.backward;
            late[s] = one.weight_grad;
            matmul += one.matmul;
            elementwise += one.elementwise;
            assert_close(3 * one.forward, work[s] - one.recompute, 1e-9);
        }
        const bool plays = w.p.schedule == SP_GPIPE || w.p.schedule == SP_1F1B;
        const double right = plays ? played(w.p.schedule == SP_GPIPE, p, m, forward, backward)
                                   : two_stages_s(&w.p, m, work, late);
        double slowest = 0;
        for (int s = 0; s < p; s++)
            slowest = fmax(slowest, m * work[s]);
        const struct sp_step_time t = e.time;
        assert_close(work_of(&t) + t.bubble, fmax(right, slowest), 1e-9);
        compared[w.p.schedule]++;
        /* one stage does the work of all */
        w.p.pp = w.p.vpp = 1;
        w.p.dp *= p;
        w.p.batch *= p;
        w.p.schedule = SP_1F1B;
        const struct sp_step_time alone = estimate(&w);
        assert_close(alone.matmul, matmul * microbatches_of(&w.p), 1e-9);
        assert_close(alone.elementwise, elementwise * microbatches_of(&w.p), 1e-9);
        assert_true(alone.bubble + alone.pp_comm <= 1e-12 * alone.step); /* rounding of 80 bits */
    }
    for (int schedule = 0; schedule < SP_SCHEDULES; schedule++)
        assert_true(compared[schedule] >= 100);
}

/* If nothing else takes time, a layer waits for its launches, a third more if a forward pass
 * is recomputed; stragglers are a share of the whole, and so on. */
static void launches_and_stragglers(void **state)
{
    int compared = 0;
    (void)state;
    srand(21);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        if (!draw(&w, true, false))
            continue;
        const struct sp_recompute *const r = &w.p.recompute;
        w.profile.value[SP_C_LAUNCH] = 1e-4; /* of a program for a third of a layer's passes */
        const double waits =
            (double)w.m.layers * microbatches_of(&w.p) * 1e-4 * (3 + w.p.recompute_layers * r->qkv);
        assert_close(estimate(&w).step, waits, 1e-9);
        w.profile.value[SP_C_STRAGGLER] = 0.02;
        const double one = estimate(&w).straggler;
        w.profile.value[SP_C_STRAGGLER] = 0.04;
        const struct sp_step_time two = estimate(&w);
        assert_true(one > 0);
        assert_close(two.straggler, 2 * one, 1e-9);
        assert_close(two.step, waits + two.straggler, 1e-9);
        compared++;
    }
    assert_true(compared >= 3000);
}

/* A layer, and replicas with a sequence each, without a machine yet. */
static struct world small_world(int64_t replicas)
{
    return (struct world){.m = {.layers = 1,
                                .d_model = 128,
                                .d_ff = 512,
                                .heads = 2,
                                .kv_heads = 2,
                                .head_dim = 64,
                                .vocab = 1024,
                                .norms_per_layer = 2},
                          .p = {.dp = replicas,
                                .shards = replicas,
                                .tp = 1,
                                .pp = 1,
                                .vpp = 1,
                                .cp = 1,
                                .ep = 1,
                                .etp = 1,
                                .micro_batch = 1,
                                .batch = replicas,
                                .seq = 256,
                                .schedule = SP_1F1B,
                                .dtype = SP_BF16,
                                .imbalance = 1}};
}

/* The same on two free GPUs, whose host takes 5 us for each of a layer's 20 operations. */
static struct world launched_world(int64_t replicas)
{
    struct world w = small_world(replicas);
    w.f.layer_operations = 20;
    w.hw = free_machine(false, 2);
    for (int c = 0; c < SP_CONSTANTS; c++)
        w.profile.value[c] = sp_constants[c].gpu;
    w.profile.value[SP_C_STRAGGLER] = 0;
    w.profile.value[SP_C_LAUNCH] = 5e-6;
    return w;
}

/* One layer, D = 128, F = 512, 2 heads of 64, 1024 words, 256 tokens on each of 8 replicas.
 *
 * FLOPs with half a tile of 128 more a side, 2 (a + 64)(b + 64)(c + 64): q, k, v 320 x 192 x 448 x
 * 2 = 55 050 240, output 320 x 192 x 192 x 2 = 23 592 960, MLP twice 320 x 192 x 576 x 2 = 70 778
 * 880, head 320 x 192 x 1088 x 2 = 133 693 440: together 353 894 400, three times. Attention, the
 * masked half left out: 2 x 256 x 256 x 64 x 2 = 16 777 216, 3.5 times. Elements that are read or
 * written: 11 x 128 x 256 around the blocks and 2 x 512 x 256 in the MLP; 2 x 256 x 128 at the
 * table: together 688 128, three times, 2 bytes each; and the loss moves 50 bytes for each of 256 x
 * 1024 logits. Kernels that were not measured reach 0.8 of the bandwidth. With a vocabulary of 1023
 * that is not padded the head is 320 x 192 x 1087 x 2 = 133 570 560, 2.8 times as slow.
 * Eight devices are one node more than none: stragglers cost log2 2 of their constant. */
static void one_layer_by_hand(void **state)
{
    struct world w = small_world(8);
    (void)state;
    w.f.loss_bytes = 50;
    w.hw = free_machine(true, 8);
    w.hw.slices = 1;
    w.hw.chips_per_slice = 8;
    w.hw.shape = (struct sp_shape){{8, 1, 1}};
    w.profile.value[SP_C_MATMUL_16] = w.profile.value[SP_C_ATTENTION] = 0.5;
    w.profile.value[SP_C_SCALE_UP] = w.profile.value[SP_C_SCALE_OUT] = 1;
    w.profile.value[SP_C_MEMORY] = 2;
    w.profile.value[SP_C_STRAGGLER] = 0.25;
    struct world at = w;
    at.hw.chip.peak_flops_per_s[SP_BF16] = 1e12;
    struct sp_step_time t = estimate(&at);
    assert_close(t.matmul, 3 * 353894400 / 0.5e12, 1e-12);
    assert_close(t.attention, 3.5 * 16777216 / 0.5e12, 1e-12);
    assert_close(t.straggler, 0.25 * (t.matmul + t.attention), 1e-9);
    at = w;
    at.hw.chip.hbm_bytes_per_s = 1e9;
    assert_close(estimate(&at).elementwise, (2 * 3 * 688128 * 2 + 50 * 256 * 1024) / 0.8e9, 1e-12);
    at = w;
    at.hw.chip.peak_flops_per_s[SP_BF16] = 1e12;
    at.m.vocab = 1023;
    assert_close(estimate(&at).matmul, 3 * (353894400 - 133693440 + 133570560) / 0.5e12, 1e-12);
    at.m.unpadded_vocab = true;
    assert_close(estimate(&at).matmul, 3 * (353894400 - 133693440 + 2.8 * 133570560) / 0.5e12,
                 1e-12);
}

/* A layer of 16 experts on two ranks, for which the host issues 20 operations without the experts.
 * The mixture adds 16 of its router; with all-to-alls 12 that count tokens, 7 that move them, and 4
 * collectives of three operations' time; and for each of 8 experts two matmuls and, in 8 bits, four
 * casts, of which a compiled loop launches four in one operation's time. A third of a pass is 20 +
 * 16 + 12 + 7 + 12 + 16 / 4 = 71 operations; the matmuls of q, k and v, of the output, of the
 * router, of scores and of the sum are 5 kernels, with 16 + 12 + 7 + 4 + 16 more 60, in 8 bits 79
 * and 92; where scales are per block, a third of 4 x 8 casts more. At 5 us the host takes 71 x 15
 * us; the device stands still for 1.25 us between kernels and, after the host has read the counts,
 * for 6 operations; the longer of the two counts, (a^4 + b^4)^(1/4). Graphs of layers leave the
 * MLP's half of the layer, the moves, the collectives and the experts, and are two operations; a
 * graph of the iteration leaves the gaps. */
static double waited_s(double operations, double kernels, double waits)
{
    const double host = operations * 15e-6, device = kernels * 3 * 1.25e-6 + waits * 6 * 5e-6;
    return pow(pow(host, 4) + pow(device, 4), 0.25);
}

static void experts_wait_for_the_host(void **state)
{
    struct world w = launched_world(2);
    (void)state;
    w.m.moe = (struct sp_moe){.experts = 16, .top_k = 2, .d_ff_expert = 512, .every = 1};
    w.p.ep = 2;
    assert_close(estimate(&w).launch, waited_s(71, 60, 1), 1e-6);
    w.p.dtype = SP_FP8;
    assert_close(estimate(&w).launch, waited_s(79, 92, 1), 1e-6);
    w.p.execution.fp8_recipe = SP_FP8_MXFP8;
    assert_close(estimate(&w).launch, waited_s(79 + 8 * 4 / 3.0, 92, 1), 1e-6);
    w.p.execution.fp8_recipe = SP_FP8_TENSORWISE;
    w.p.execution.cuda_graph = SP_CUDA_GRAPH_TE;
    assert_close(estimate(&w).launch, waited_s(2 + 10 + 7 + 12 + 12, 92, 1), 1e-6);
    w.p.execution.cuda_graph = SP_CUDA_GRAPH_FULL;
    assert_close(estimate(&w).launch, waited_s(0, 92, 0), 1e-6);
    w.p.execution.cuda_graph = SP_CUDA_GRAPH_ROUTER; /* the router's 16 and what prepares, 12 */
    assert_close(estimate(&w).launch, waited_s(2 + 20 + 7 + 12 + 12, 92, 1), 1e-6);
    w.p.execution.capacity = 1; /* counts are known: nothing waits, and layers are captured whole */
    assert_close(estimate(&w).launch, waited_s(2 + 20 + 7 + 12 + 12, 92, 0), 1e-6);
    w.p.execution.cuda_graph = SP_CUDA_GRAPH_TE;
    assert_close(estimate(&w).launch, waited_s(2, 92, 0), 1e-6);
    w.p.execution.capacity = 0;
    w.p.dtype = SP_BF16;
    w.p.execution.cuda_graph = SP_CUDA_GRAPH_NONE;
    w.m.moe.shared_experts = 1; /* two matmuls, activation, sum */
    assert_close(estimate(&w).launch, waited_s(71 + 4, 60 + 2, 1), 1e-6);
    w.m.moe.shared_experts = 0;
    w.m.mla = (struct sp_mla){16, 16, 16, 16, 16}; /* 5 projections for 2, 2 norms, 4 copies */
    assert_close(estimate(&w).launch, waited_s(71 + 9, 60 + 3, 1), 1e-6);
    w.m.mla = (struct sp_mla){0};
    w.p.dtype = SP_FP8;
    w.f.operation_cost = 2; /* neither launched in a loop nor a collective */
    assert_close(estimate(&w).launch, waited_s(2 * (20 + 16 + 12 + 7) + 12 + 12, 92, 2), 1e-6);
}

/* Where the host binds, each of three passes takes its third of the launches: on two stages 1F1B
 * idles for two passes and weight gradients' one, a zero bubble for one, two of weight gradients
 * less. */
static void weight_gradients_are_launched(void **state)
{
    struct world w = launched_world(1);
    (void)state;
    w.m.layers = w.p.pp = 2;
    w.p.batch = 8;
    const double host = 20 * 15e-6, gaps = 6 * 3 * 1.25e-6; /* of the layer's six matmuls */
    const double all = pow(pow(host, 4) + pow(gaps, 4), 0.25),
                 others = pow(pow(host * 2 / 3, 4) + pow(gaps, 4), 0.25);
    assert_close(estimate(&w).bubble, all, 1e-6);
    w.p.schedule = SP_ZB_H1;
    assert_close(estimate(&w).bubble, all - 2 * (all - others), 1e-6);
}

/* Five Newton-Schulz iterations on a matrix: a Gram matrix of the shorter side, its square, and the
 * product with the matrix. */
static double orthogonal(double a, double b)
{
    const double m = fmin(a, b), n = fmax(a, b);
    double flops = 0;
    for (int i = 0; i < 5; i++)
        flops += 2 * n * m * m + 2 * m * m * m + 2 * m * m * n;
    return flops;
}

/* Muon makes updates of the layers' matrices orthogonal, each whole on one of the ranks that share
 * optimizer states. Llama 3 8B: 6.66e14 FLOPs. */
static void orthogonal_updates(void **state)
{
    int compared = 0;
    (void)state;
    srand(15);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        if (!draw(&w, false, false) || w.m.moe.experts > 0 || w.m.mla.kv_lora_rank > 0 ||
            w.p.zero == 3)
            continue;
        const double D = (double)w.m.d_model, H = (double)w.m.head_dim, F = (double)w.m.d_ff;
        const double one[] = {orthogonal(D, H * (double)w.m.heads),
                              orthogonal(D, H * (double)w.m.kv_heads),
                              orthogonal(D, H * (double)w.m.kv_heads),
                              orthogonal(H * (double)w.m.heads, D),
                              orthogonal(D, F),
                              orthogonal(F, D),
                              w.m.gated_mlp ? orthogonal(D, F) : 0};
        double all = 0, largest = 0;
        for (size_t k = 0; k < sizeof one / sizeof *one; k++) {
            all += one[k] / (double)w.p.tp;
            largest = fmax(largest, one[k] / (double)w.p.tp);
        }
        all *= (double)w.m.layers;
        const double ranks = w.p.zero > 0 ? (double)w.p.shards : 1;
        w.hw.chip.peak_flops_per_s[SP_BF16] = 4e14;
        const double without = estimate(&w).optimizer;
        w.precision.newton_schulz = 5;
        assert_close((estimate(&w).optimizer - without) * 4e14 * k(&w, SP_C_MATMUL_16),
                     fmax(all / ranks, largest), 1e-6);
        compared++;
    }
    assert_true(compared >= 1000);
    const double llama = 32 * (2 * orthogonal(4096, 4096) + 2 * orthogonal(4096, 1024) +
                               3 * orthogonal(4096, 14336));
    assert_close(llama, 6.66e14, 0.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experts_wait_for_the_host),
        cmocka_unit_test(weight_gradients_are_launched),
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(attention),
        cmocka_unit_test(unfused_attention),
        cmocka_unit_test(recomputation),
        cmocka_unit_test(memory_bound),
        cmocka_unit_test(offload),
        cmocka_unit_test(orthogonal_updates),
        cmocka_unit_test(stages),
        cmocka_unit_test(launches_and_stragglers),
        cmocka_unit_test(one_layer_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
