/* A step's messages: with free work, and links so slow that waits do not count, each takes the time
 * given by a count of its bytes. */
#include "obvious.h"

/* Members of a group on the first node of 8, one by one. The order of ranks is TP, CP, DP, PP, or
 * TP, CP, PP, DP: then the ranks of a stage come in blocks of tp cp, pp blocks apart. */
static double in_first_node(const struct world *w, double size, double stride)
{
    const int block = (int)(w->p.tp * w->p.cp), pp = (int)w->p.pp;
    int members = 0;
    for (int i = 0; i < (int)size; i++) {
        const int rank = i * (int)stride;
        const int at = w->p.stages_inside ? rank / block * block * pp + rank % block : rank;
        members += at < 8;
    }
    return members < 1 ? 1 : members;
}

/* Which links of a switched machine are the slow ones. */
enum slow { INSIDE_NODES, BETWEEN_NODES };

static void slow_down(struct world *w, enum slow slow)
{
    *(slow == INSIDE_NODES ? &w->hw.network.domain_bytes_per_s
                           : &w->hw.network.scaleout_bytes_per_s) = SLOW;
}

/* Seconds of gathering `bytes` over `size` devices that are `stride` ranks apart. A device gets
 * what the others of its node have, and its share of what the other nodes have. */
static double gathering_s(const struct world *w, enum slow slow, double size, double stride,
                          double bytes)
{
    if (size <= 1)
        return 0;
    const double inside = in_first_node(w, size, stride), nodes = size / inside;
    return slow == INSIDE_NODES
               ? bytes * (inside - 1) / inside / (SLOW * k(w, SP_C_SCALE_UP))
               : bytes * (nodes - 1) / nodes / (inside * SLOW * k(w, SP_C_SCALE_OUT));
}

/* A device sends an equal part of its bytes to each of the others, to other nodes at the rate of
 * other collectives. */
static double exchanging_s(const struct world *w, enum slow slow, double size, double stride,
                           double bytes)
{
    if (size <= 1)
        return 0;
    const double inside = in_first_node(w, size, stride);
    return slow == INSIDE_NODES ? bytes * (inside - 1) / size / (SLOW * k(w, SP_C_EXCHANGE))
                                : bytes * (size - inside) / size / (SLOW * k(w, SP_C_SCALE_OUT));
}

/* Gathers of TP in all layers for a micro-batch. With shards of the sequence a gather before each
 * block and a scatter after it, the same backward, and the inputs gathered again for the weight
 * gradients; without, a sum (two gathers long) after each block in either pass. */
static double tensor_gathers(const struct world *w)
{
    const struct sp_recompute *const r = &w->p.recompute;
    const bool shards = w->p.sequence_parallel;
    const double down = w->f.stops_early ? 0 : r->down;
    double gathers = 0;
    for (int layer = 0; layer < w->m.layers; layer++) {
        const bool has_tp =
            !has_experts(&w->m, layer) || w->m.moe.shared_experts > 0 || w->p.etp > 1;
        const double blocks = has_tp ? 2 : 1;
        gathers += blocks * (shards ? 5 : 4);
        /* and what is not kept */
        const double before = (r->qkv > 0) + (has_tp && r->up > 0);
        const double after = r->spare > 0 ? 0 : r->out + (has_tp ? down : 0);
        gathers += w->p.recompute_layers * (shards ? before + after : 2 * after);
    }
    return gathers;
}

/* Elements of a token's keys and values on a rank, of its queries, and of the output of attention.
 */
struct token {
    double kv, q, out;
};

static struct token token_of(const struct world *w, double ranks)
{
    const struct sp_mla *const mla = &w->m.mla;
    const bool latent = mla->kv_lora_rank > 0;
    const double heads = (double)w->m.heads, t = (double)w->p.tp;
    const double qk = (double)(latent ? mla->qk_nope_head_dim + mla->qk_rope_head_dim
                                      : w->m.head_dim),
                 v = (double)(latent ? mla->v_head_dim : w->m.head_dim);
    const double keys = latent ? heads : (double)w->m.kv_heads;
    return (struct token){fmax(keys, ranks) / t * (qk + v), heads * qk / t, heads * v / t};
}

/* A way from a rank to the next of a ring of CP, which is as slow as its slowest part. */
static double going_s(const struct world *w, enum slow slow, double bytes)
{
    const double inside = in_first_node(w, (double)w->p.cp, (double)w->p.tp);
    if (slow == INSIDE_NODES)
        return inside > 1 ? bytes / (SLOW * k(w, SP_C_SCALE_UP)) : 0;
    return inside < (double)w->p.cp ? bytes / (SLOW * k(w, SP_C_SCALE_OUT)) : 0;
}

/* Seconds of a layer's CP in both passes, and again if attention is recomputed. */
static double context_s(const struct world *w, enum slow slow)
{
    const struct sp_plan *const p = &w->p;
    const double n = (double)p->cp, t = (double)p->tp, T = tokens_of(w);
    const double again = 1 + p->recompute_layers * p->recompute.core;
    const double kv = T * token_of(w, t).kv, grads = w->f.ring_grad_bytes * kv;
    const double gather = gathering_s(w, slow, n, t, 2 * n * kv);
    double time = 0;
    switch (p->execution.cp_kind) {
    case SP_CP_RING:
    case SP_CP_DYNAMIC: /* of one document */
        for (int step = 1; step < p->cp; step++)
            time += again * going_s(w, slow, 2 * kv) + going_s(w, slow, 2 * kv + grads);
        return time + going_s(w, slow, grads); /* home */
    case SP_CP_ALLGATHER:
        if (w->f.cp_gather != SP_CP_GATHER_BLOCKS) /* gradients are scattered as they were gathered
                                                    */
            return (again + 1 + 1) * gather;
        return (again + 1) * gather + n * going_s(w, slow, grads);
    default: { /* each rank ends with all tokens of a part of the heads, KV heads copied */
        const struct token x = token_of(w, t * n);
        return (again + 1) * exchanging_s(w, slow, n, t, 2 * T * (x.q + x.kv)) +
               (again + 1) * exchanging_s(w, slow, n, t, 2 * T * x.out);
    }
    }
}

/* Ways of the tokens between experts: there and back, forward and backward, and again for what is
 * not kept.
 */
static double expert_ways(const struct world *w)
{
    const struct sp_recompute *const r = &w->p.recompute;
    double ways = 0;
    for (int layer = 0; layer < w->m.layers; layer++)
        if (has_experts(&w->m, layer))
            ways += 4 + w->p.recompute_layers *
                            ((r->up == 1 || r->grouped == 1) +
                             (!w->f.stops_early && (r->down == 1 || r->grouped == 1)));
    return ways;
}

/* With one expert a token goes to one node, from n evenly to each; kernels that send it once reach
 * 0.87 of the line's rate (DeepEP, 58 GB/s to four nodes of which three are others, of 50). */
static void one_copy_a_node(void **state)
{
    int compared = 0;
    (void)state;
    srand(18);
    for (int i = 0; i < 60000; i++) {
        struct world w;
        if (!draw(&w, false, false) || w.m.moe.experts == 0)
            continue;
        const double E = (double)w.p.ep, inside = in_first_node(&w, E, (double)w.p.etp);
        w.m.moe.top_k = 1;
        w.m.moe.groups = 0;
        w.p.execution.dispatch = SP_DISPATCH_DEEPEP;
        slow_down(&w, BETWEEN_NODES);
        const double sent = 2 * tokens_of(&w) / (double)w.p.tp * (double)w.p.etp *
                            (double)w.m.d_model * load_of(&w.p) * (1 - inside / E);
        const double right = microbatches_of(&w.p) * expert_ways(&w) * sent / (SLOW * 0.87);
        const double ep = estimate(&w).ep_comm;
        assert_true(E > inside ? fabs(ep - right) <= 1e-9 * (1 + right) : true);
        compared += E > inside;
    }
    print_message("%d exchanges between nodes\n", compared);
    assert_true(compared >= 100);
}

static void collectives_of_layers(void **state)
{
    int compared[3] = {0};
    (void)state;
    srand(16);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        const enum slow slow = rand() % 2 ? INSIDE_NODES : BETWEEN_NODES;
        if (!draw(&w, false, false))
            continue;
        slow_down(&w, slow);
        const struct sp_plan *const p = &w.p;
        const double T = tokens_of(&w), t = (double)p->tp, D = (double)w.m.d_model,
                     layers = (double)w.m.layers, m = microbatches_of(p);
        const double sent = 2 * T / t * (double)(w.m.moe.top_k * p->etp) * D * load_of(p);
        const double tp = m * tensor_gathers(&w) * gathering_s(&w, slow, t, 1, 2 * T * D);
        const double cp = p->cp > 1 ? m * layers * context_s(&w, slow) : 0;
        const double ep =
            m * expert_ways(&w) * exchanging_s(&w, slow, (double)p->ep, (double)p->etp, sent);
        const struct sp_step_time time = estimate(&w);
        /* waits of microseconds beside seconds */
        assert_true(fabs(time.tp_comm - tp) <= 1e-3 * m * layers + 1e-9 * tp);
        assert_true(fabs(time.cp_comm - cp) <= 1e-3 * m * layers + 1e-9 * cp);
        assert_true(fabs(time.ep_comm - ep) <= 1e-9 * (1 + ep));
        /* a lone rank communicates nothing */
        assert_true((p->tp > 1) == (time.tp_comm > 0));
        assert_true((p->cp > 1) == (time.cp_comm > 0));
        assert_true((p->ep > 1 && sp_moe_layers(&w.m) > 0) == (time.ep_comm > 0));
        compared[0] += tp > 0;
        compared[1] += cp > 0;
        compared[2] += ep > 0;
    }
    print_message("%d with TP, %d with CP, %d with EP\n", compared[0], compared[1], compared[2]);
    assert_true(compared[0] >= 1000 && compared[1] >= 1000 && compared[2] >= 500);
}

/* Who shares a stage's weights of one kind: `shards` hold a part each of a copy, neighbours are
 * `apart` ranks from each other. */
struct sharing {
    double shards, copies, apart;
};

static struct sharing sharing_of(const struct world *w, bool experts)
{
    const struct sp_plan *const p = &w->p;
    double all = (double)(p->dp * p->cp), shards = (double)p->shards, apart = (double)p->tp;
    if (experts) { /* tp more of them, of which ep etp hold different experts */
        const double different = (double)(p->ep * p->etp);
        all *= (double)p->tp / different;
        shards = fmax(1, shards * (double)p->tp / different);
        apart = different;
    }
    return (struct sharing){shards, all / shards, apart};
}

/* Every rank of a copy gets all of `bytes`; the copies sum each of their shards. */
static double sharding_s(const struct world *w, enum slow slow, bool experts, double bytes)
{
    const struct sharing s = sharing_of(w, experts);
    return gathering_s(w, slow, s.shards, s.apart, bytes);
}

static double adding_s(const struct world *w, enum slow slow, bool experts, double bytes)
{
    const struct sharing s = sharing_of(w, experts);
    return 2 * gathering_s(w, slow, s.copies, s.apart * s.shards, bytes / s.shards);
}

/* Whether a stage's shards come together once a step and not with each micro-batch. */
static bool stays_whole(const struct world *w)
{
    return w->f.keeps_stages_whole && w->p.pp > 1;
}

/* Gradients and weights of a stage over its replicas, in m micro-batches. */
static double replicas_s(const struct world *w, enum slow slow, int from, int to, int m)
{
    const double sent = w->precision.grad_bytes > 0 ? w->precision.grad_bytes : 2;
    const int zero = w->p.zero;
    double held[2], time = 0;
    held_of(&w->m, &w->p, from, to, &held[0], &held[1]);
    for (int experts = 0; experts < 2; experts++) {
        const double n = held[experts] * (w->p.schedule == SP_DUALPIPE ? 2 : 1);
        if (zero == 3 && stays_whole(w)) { /* gathered once, summed once in 4 bytes */
            time += adding_s(w, slow, experts, 2 * n);
            time += sharding_s(w, slow, experts, (2 + 4) * n);
            continue;
        }
        if (zero == 3) { /* gathered twice and reduced once a micro-batch, 2 bytes each */
            time += adding_s(w, slow, experts, 2 * n);
            time += m * sharding_s(w, slow, experts, 6 * n);
            continue;
        }
        time += adding_s(w, slow, experts, sent * n);
        time += (zero == 2 ? m : 1) * sharding_s(w, slow, experts, sent * n);
        /* the weights come back; without ZeRO the sums of the gradients do */
        time += sharding_s(w, slow, experts, (zero == 0 ? sent : 2) * n);
    }
    return time;
}

/* With nothing to hide behind, the slowest stage's traffic is the whole step; sums over the copies
 * of ZeRO 3 hide behind its gathers, and only what exceeds those must show. */
static void collectives_of_replicas(void **state)
{
    int compared = 0, staged = 0;
    (void)state;
    srand(17);
    for (int i = 0; i < 60000; i++) {
        struct world w;
        const enum slow slow = rand() % 2 ? INSIDE_NODES : BETWEEN_NODES;
        if (!draw(&w, false, true) || w.p.cp > 1)
            continue;
        w.f.keeps_stages_whole = rand() % 2;
        if (w.p.zero == 3 && w.p.pp > 1 && !stays_whole(&w))
            continue;
        if (w.p.pp > 1 && rand() % 2)
            w.p.schedule = SP_DUALPIPE;
        if (slow == BETWEEN_NODES &&
            in_first_node(&w, (double)w.p.ep, (double)w.p.etp) < (double)w.p.ep)
            continue;
        slow_down(&w, slow);
        w.f.overlaps_tp = true; /* TP and EP are free */
        w.profile.value[SP_C_TP_EXPOSED] = 0;
        w.profile.value[SP_C_EXCHANGE] = FREE;
        const int m = microbatches_of(&w.p);
        double slowest = 0;
        for (int stage = 0; stage < w.p.pp; stage++)
            slowest = fmax(slowest, replicas_s(&w, slow, first_layer(&w.m, w.p.pp, stage),
                                               first_layer(&w.m, w.p.pp, stage + 1), m));
        struct world after = w;
        after.p.execution.dp_overlap =
            SP_DP_OVERLAP_NONE; /* in the open, so that nothing delays anything */
        if (w.p.zero < 2)
            assert_true(fabs(estimate(&after).dp_comm - slowest) <= 1e-6 * slowest + 1e-4);
        struct world between = w; /* the weights of ZeRO 1 are gathered in the open */
        between.p.execution.dp_overlap = SP_DP_OVERLAP_GRADIENTS;
        const double waits = estimate(&between).dp_comm, open = estimate(&after).dp_comm;
        if (w.p.zero != 1)
            assert_true(waits == estimate(&w).dp_comm);
        else if (slowest > 0)
            assert_true(waits > 0.2 * open &&
                        waits <= open * (1 + k(&w, SP_C_CONTENTION)) * (1 + 1e-9));
        const double time = estimate(&w).dp_comm, right = slowest * (1 + k(&w, SP_C_CONTENTION));
        const bool hides = w.p.zero == 3 && w.p.shards < w.p.dp && !stays_whole(&w);
        assert_true(time <= right * (1 + 1e-9) + 1e-2 * m);
        assert_true(time >= (hides ? slowest / 2 : right * (1 - 1e-9)) - 1e-2 * m);
        assert_true(w.p.dp > 1 ? time > 0 : time == 0 || w.m.moe.experts > 0);
        compared++;
        staged += w.p.pp > 1;
    }
    print_message("%d plans, %d of them in stages\n", compared, staged);
    assert_true(compared >= 3000 && staged >= 1000);
}

/* Bytes/s into a chip of a torus for TP in its box, and for a group that has all that is left: from
 * both sides of each axis that closes into a ring. A part of an axis has an end, and the links
 * outside are shared by as many others as the box is long. */
static double box_rate(const struct world *w, bool outside)
{
    double rate = 0;
    for (int axis = 0; axis < 2; axis++) {
        const int32_t length = w->hw.shape.axis[axis], mine = w->p.tp_axes[axis];
        if (!outside && mine > 1)
            rate += mine == length ? 2 : 1;
        if (outside && mine < length)
            rate += 2.0 / mine;
    }
    return rate;
}

static void collectives_of_a_torus(void **state)
{
    int compared[2] = {0};
    (void)state;
    srand(18);
    for (int i = 0; i < 60000; i++) {
        struct world w;
        if (!draw(&w, true, false) || w.p.tp_axes[0] == 0 || w.hw.slices > 1)
            continue;
        w.hw.network.link_bytes_per_s = SLOW;
        const struct sp_plan *const p = &w.p;
        const double T = tokens_of(&w), t = (double)p->tp, D = (double)w.m.d_model;
        const double up = k(&w, SP_C_SCALE_UP), m = microbatches_of(p);
        const double gather = 2 * T * D * (t - 1) / t / (box_rate(&w, false) * up);
        assert_close(estimate(&w).tp_comm, m * tensor_gathers(&w) * gather, 1e-9);
        compared[0]++;
        /* CP over all that TP leaves */
        if (p->cp == 1 || p->dp > 1)
            continue;
        w.p.execution.cp_kind = SP_CP_ALLGATHER;
        w.f.cp_gather = SP_CP_GATHER_WHOLE;
        const double cp = (double)p->cp, bytes = 2 * T * token_of(&w, t).kv;
        const double again = 1 + p->recompute_layers * p->recompute.core;
        assert_close(estimate(&w).cp_comm,
                     m * (double)w.m.layers * (again + 2) * bytes * (cp - 1) /
                         (box_rate(&w, true) * up),
                     1e-9);
        /* a ring has one link, and as many rings share it as TP's box is long there */
        double rings = INFINITY;
        for (int axis = 0; axis < 2; axis++)
            if (w.hw.shape.axis[axis] > p->tp_axes[axis])
                rings = fmin(rings, p->tp_axes[axis]);
        w.p.execution.cp_kind = SP_CP_RING;
        w.f.ring_grad_bytes = 4; /* twice the bytes of a key */
        assert_close(estimate(&w).cp_comm,
                     m * (double)w.m.layers * bytes * rings / up *
                         ((cp - 1) * again + 3 * (cp - 1) + 2),
                     1e-9);
        compared[1]++;
    }
    print_message("%d boxes, %d with all the rest for CP\n", compared[0], compared[1]);
    assert_true(compared[0] >= 1000 && compared[1] >= 100);
}

/* Every micro-batch goes there and back between stages, and the pipeline fills and drains; a
 * boundary leaves a node where the ranks on its sides are on two. */
static void sends(void **state)
{
    int compared[2] = {0};
    (void)state;
    srand(20);
    for (int i = 0; i < 40000; i++) {
        struct world w;
        const enum slow slow = rand() % 2 ? INSIDE_NODES : BETWEEN_NODES;
        if (!draw(&w, false, true) || w.p.pp == 1)
            continue;
        if (rand() % 2) {
            w.p.schedule = SP_INTERLEAVED;
            w.p.vpp = 2;
        }
        if (sp_check_plan(&w.m, &w.p, sp_plan_devices(&w.p), 1) != SP_PLAN_OK)
            continue;
        slow_down(&w, slow);
        const int64_t links = w.hw.network.domain_links =
            slow == INSIDE_NODES ? ANY(0, 0, 1, 7) : 0;
        /* over a direct link a send has what a collective would, over switches its own share */
        const double through = SLOW * k(&w, SP_C_SEND);
        const double rate =
            links > 0 ? fmin(through, SLOW / (double)links * k(&w, SP_C_SCALE_UP)) : through;
        const struct sp_plan *const p = &w.p;
        const int apart = (int)(p->tp * p->cp * (p->stages_inside ? 1 : p->dp));
        int leave = 0;
        for (int stage = 1; stage < p->pp; stage++)
            leave += (stage - 1) * apart / 8 != stage * apart / 8;
        const double boundaries = (double)p->pp - 1;
        const double share = (slow == BETWEEN_NODES ? leave : boundaries - leave) / boundaries;
        const double bytes = 2 * tokens_of(&w) * (double)w.m.d_model / (double)p->tp;
        /* m sends of each chunk in each pass, and to the other end and back; the former hide behind
         * no more than all the work there is, and then delay it by a share */
        const double chunks = 2.0 * microbatches_of(p) * (double)p->vpp;
        const double times = chunks + 2 * boundaries;
        const double each = share * bytes / rate;
        const bool hidden = w.f.overlaps_sends && p->vpp > 1;
        const double delays = hidden ? chunks * k(&w, SP_C_CONTENTION) * each : 0;
        const struct sp_step_time t = estimate(&w);
        const double hides = hidden ? t.step - t.pp_comm : 0;
        assert_true(t.pp_comm <= times * each + delays + 1e-4 * times + 1e-9 * times * each);
        assert_true(t.pp_comm >=
                    times * each + delays - hides - 1e-4 * times - 1e-9 * times * each);
        compared[slow] += share > 0;
    }
    print_message("%d inside, %d between nodes\n", compared[0], compared[1]);
    assert_true(compared[0] >= 500 && compared[1] >= 500);
}

/* The names of a torus's axes make no difference. */
static void axes_in_any_order(void **state)
{
    int compared = 0;
    (void)state;
    srand(22);
    for (int i = 0; i < 20000; i++) {
        struct world w;
        if (!draw(&w, true, true))
            continue;
        w.hw.chip.peak_flops_per_s[SP_BF16] = w.hw.chip.peak_flops_per_s[SP_FP8] = 4e14;
        w.hw.chip.hbm_bytes_per_s = 2e12;
        w.hw.network.link_bytes_per_s = 9e10;
        w.hw.network.hop_latency_s = 1e-6;
        w.hw.network.dcn_bytes_per_s_per_host = 2.5e10;
        const double step = estimate(&w).step;
        struct world turned = w;
        for (int axis = 0; axis < 2; axis++) {
            turned.hw.shape.axis[axis] = w.hw.shape.axis[1 - axis];
            turned.p.tp_axes[axis] = w.p.tp_axes[1 - axis];
        }
        assert_close(estimate(&turned).step, step, 1e-12);
        compared++;
    }
    assert_true(compared >= 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives_of_layers),
        cmocka_unit_test(one_copy_a_node),
        cmocka_unit_test(collectives_of_replicas),
        cmocka_unit_test(collectives_of_a_torus),
        cmocka_unit_test(sends),
        cmocka_unit_test(axes_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
