/* Properties of the estimate, on many random plans. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "config/load.h"
#include "draws.h"

static uint64_t state;

static uint64_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static int64_t one_of(const int64_t *values, size_t n)
{
    return values[next() % n];
}
#define PICK(...)                                                                                  \
    one_of((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

struct sample {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_framework_file framework;
    struct sp_profile profile;
    struct sp_plan plan;
};

static struct sp_hardware machines[8];
static struct sp_framework_file frameworks[5];
static struct sp_precision precisions[5];

static int load_all(void **unused)
{
    static const char *const names[] = {"h100-64", "a100-128", "b200-32",   "v5p-128",
                                        "v5e-64",  "h100-512", "v5p-256x2", "gb200-72"};
    static const char *const kinds[] = {"nemo", "megatron", "torchtitan", "maxtext", "nanotron"};
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    (void)unused;
    for (int i = 0; i < 8; i++)
        if (!sp_load_hardware(names[i], &none, &machines[i], &error))
            fail_msg("%s", error.text);
    for (int i = 0; i < 5; i++)
        if (!sp_load_framework(kinds[i], &none, &frameworks[i], &error) ||
            !sp_load_precision(frameworks[i].framework.precision, &none, &precisions[i], &error))
            fail_msg("%s", error.text);
    return 0;
}

static void make_model(struct sp_model *m)
{
    *m = (struct sp_model){.name = "random",
                           .layers = PICK(8, 16, 24, 30, 48, 80),
                           .d_model = PICK(2048, 4096, 8192, 12288),
                           .d_ff = PICK(8192, 14336, 28672),
                           .heads = PICK(16, 32, 64),
                           .kv_heads = 8,
                           .head_dim = 128,
                           .vocab = PICK(32000, 50257, 128256),
                           .gated_mlp = next() % 2,
                           .norms_per_layer = 2};
    if (next() % 3 == 0)
        m->moe = (struct sp_moe){.experts = PICK(8, 64),
                                 .top_k = PICK(1, 2, 8),
                                 .d_ff_expert = PICK(2048, 4096),
                                 .every = PICK(1, 2),
                                 .shared_experts = PICK(0, 1),
                                 .dense_layers = PICK(0, 1, 3),
                                 .d_ff_dense = m->d_ff};
}

static void make_plan(struct sample *s)
{
    const int64_t N = sp_chips(&s->hw);
    struct sp_plan *const p = &s->plan;
    do {
        *p = (struct sp_plan){.tp = PICK(1, 2, 4, 8),
                              .pp = PICK(1, 1, 2, 4, 8),
                              .vpp = 1,
                              .cp = PICK(1, 1, 1, 2, 4),
                              .ep = s->model.moe.experts > 0 ? PICK(1, 2, 4, 8) : 1,
                              .etp = 1,
                              .zero = (int)PICK(0, 1, 2, 3),
                              .sequence_parallel = next() % 2,
                              .micro_batch = PICK(1, 2, 4),
                              .batch = N * PICK(1, 2, 4, 16),
                              .seq = PICK(2048, 4096, 8192),
                              .recompute = sp_policies[next() % SP_POLICIES].recompute,
                              .recompute_layers = (double)PICK(0, 1, 2) / 2,
                              .schedule = (enum sp_schedule)PICK(SP_GPIPE, SP_1F1B, SP_ZB_H1,
                                                                 SP_INTERLEAVED, SP_DUALPIPE),
                              .dtype = next() % 3 == 0 ? SP_FP8 : SP_BF16,
                              .imbalance = (double)PICK(10, 12) / 10,
                              .stages_inside = next() % 2};
        if (p->schedule == SP_INTERLEAVED)
            p->vpp = 2;
        p->dp = N / (p->tp * p->pp * p->cp);
        p->shards = p->dp * p->cp;
    } while (p->dp < 1 || sp_check_plan(&s->model, p, N, s->hw.slices) != SP_PLAN_OK);
}

static void make_sample(struct sample *s)
{
    const size_t kind = next() % 5;
    bool own;
    s->hw = machines[next() % 8];
    s->framework = frameworks[kind];
    s->precision = precisions[kind];
    sp_profile_for(&s->hw, &s->framework.framework, NULL, 0, &s->profile, &own);
    for (int i = 0; i < SP_CONSTANTS; i++) { /* anywhere inside the bounds */
        const double share = (double)(next() % 1000) / 999;
        s->profile.value[i] =
            sp_constants[i].low * pow(sp_constants[i].high / sp_constants[i].low, share);
    }
    make_model(&s->model);
    make_plan(s);
}

static struct sp_step_inputs inputs(const struct sample *s)
{
    return (struct sp_step_inputs){&s->model,   &s->hw,   &s->precision, &s->framework.framework,
                                   &s->profile, &s->plan, NULL};
}

static double step_of(const struct sample *s)
{
    const struct sp_step_inputs in = inputs(s);
    return sp_estimate_step(&in).step;
}

/* Over a million random (model, machine, plan) in all tests. */
static int samples(void)
{
    return 200000 / one_in();
}

/* Parts are non-negative and sum to the whole; no step is below 6 P B / (N C). */
static void parts_and_ideal(void **unused)
{
    struct sample s;
    (void)unused;
    state = 1;
    for (int i = 0; i < samples(); i++) {
        make_sample(&s);
        const struct sp_step_inputs in = inputs(&s);
        const struct sp_step_time t = sp_estimate_step(&in);
        const double parts[] = {t.matmul,  t.attention, t.elementwise, t.recompute, t.launch,
                                t.offload, t.tp_comm,   t.cp_comm,     t.ep_comm,   t.dp_comm,
                                t.pp_comm, t.bubble,    t.optimizer,   t.straggler};
        double sum = 0;
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            assert_true(isfinite(parts[k]) && parts[k] >= -1e-12 * t.step);
            sum += parts[k];
        }
        assert_close(sum, t.step, 1e-12);
        const double active = sp_count_params(&s.model).active;
        const enum sp_dtype dtype = sp_compute_dtype(&s.hw.chip, s.plan.dtype);
        const double ideal = 6 * active * (double)s.plan.batch * (double)s.plan.seq /
                             ((double)sp_chips(&s.hw) * s.hw.chip.peak_flops_per_s[dtype]);
        assert_true(t.step >= ideal * (1 - 1e-12));
    }
}

/* Results prepared once by a search are bit-identical, and its bounds hold. */
static void staged_and_bounds(void **unused)
{
    struct sample s;
    static struct sp_stage_map map;
    static struct sp_staged staged;
    static struct sp_estimate estimate;
    (void)unused;
    state = 2;
    for (int i = 0; i < samples(); i++) {
        make_sample(&s);
        const struct sp_step_inputs in = inputs(&s);
        const double step = sp_estimate_step(&in).step;
        struct sp_layers layers;
        sp_list_model(&s.model, &layers);
        struct sp_rank_layers mine;
        struct sp_prepared prepared;
        sp_layers_on_rank(&layers, &s.plan, &s.framework.framework, &mine);
        sp_prepare_step(&in, &mine, &prepared);
        const struct sp_stage_split split =
            sp_split_of(&s.plan, (enum sp_balance)s.framework.framework.balance);
        sp_map_stages(&s.model, &split, &map);
        sp_stage_times(&in, &prepared, &map, &staged);
        sp_estimate(&in, SP_FLOPS_FULL, NULL, &estimate);
        for (int64_t at = 0; at < map.stages; at++) {
            const struct sp_stage_time *const one = &estimate.kind[estimate.map.of[at]];
            const struct sp_stage_time *const kind = &staged.kind[map.of[at]].time;
            const struct sp_stage_memory memory =
                sp_memory_of_stage(&s.model, &s.precision, &s.plan, in.framework, at);
            assert_true(one->matmul == kind->matmul && one->elementwise == kind->elementwise);
            assert_memory_equal(&estimate.stage[at], &memory, sizeof memory);
            assert_true(memory.live <= estimate.memory.live);
        }
        assert_true(estimate.time.step == step);
        assert_true(sp_estimate_prepared(&in, &prepared).step == step);
        assert_true(sp_estimate_staged(&in, &prepared, &map, &staged).step == step);
        assert_true(sp_least_step_s(&in, &prepared) <= step);
        assert_true(sp_least_staged_s(&in, &prepared, &map, &staged) <= step);
        assert_true(sp_least_flow_s(&in, &prepared, &map, &staged) <= step);
    }
}

/* A machine better in one respect never lengthens a step. */
static void better_machines(void **unused)
{
    struct sample s, better;
    (void)unused;
    state = 3;
    for (int i = 0; i < samples(); i++) {
        make_sample(&s);
        const double step = step_of(&s);
        double *const rates[] = {
            &better.hw.chip.hbm_bytes_per_s,       &better.hw.network.link_bytes_per_s,
            &better.hw.network.domain_bytes_per_s, &better.hw.network.scaleout_bytes_per_s,
            &better.hw.chip.pcie_bytes_per_s,      &better.hw.network.dcn_bytes_per_s_per_host,
        };
        for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
            better = s;
            *rates[k] *= 1.5;
            assert_true(step_of(&better) <= step * (1 + 1e-12));
        }
        better = s;
        for (int d = 0; d < SP_DTYPES; d++)
            better.hw.chip.peak_flops_per_s[d] *= 1.5;
        assert_true(step_of(&better) <= step * (1 + 1e-12));
        better = s;
        if (better.model.moe.experts == 0 && better.model.layers > 2 * s.plan.pp * s.plan.vpp) {
            better.model.layers -= s.plan.pp * s.plan.vpp; /* the split stays as it was */
            assert_true(step_of(&better) <= step * (1 + 1e-12));
        }
    }
}

/* All rates doubled and all waits halved: half the time, so the code has no hidden wait. */
static void scale_invariance(void **unused)
{
    struct sample s;
    int switched = 0, staged = 0;
    (void)unused;
    state = 4;
    for (int i = 0; i < samples(); i++) {
        make_sample(&s);
        struct sp_network *const net = &s.hw.network;
        double *const rates[] = {&s.hw.chip.hbm_bytes_per_s,     &s.hw.chip.pcie_bytes_per_s,
                                 &net->link_bytes_per_s,         &net->domain_bytes_per_s,
                                 &net->dcn_bytes_per_s_per_host, &net->scaleout_bytes_per_s};
        double *const waits[] = {&net->hop_latency_s,
                                 &net->domain_latency_s,
                                 &net->scaleout_latency_s,
                                 &net->send_latency_s,
                                 &s.profile.value[SP_C_LAUNCH],
                                 &s.hw.chip.kernels.matmul[SP_KERNEL_BF16].launch_s,
                                 &s.hw.chip.kernels.collective[SP_ALL_GATHER].latency_s,
                                 &s.hw.chip.kernels.collective[SP_ALL_GATHER].rank_latency_s};
        const double step = step_of(&s);
        for (size_t k = 0; k < sizeof rates / sizeof *rates; k++)
            *rates[k] *= 2;
        for (size_t k = 0; k < sizeof waits / sizeof *waits; k++)
            *waits[k] /= 2;
        for (int d = 0; d < SP_DTYPES; d++)
            s.hw.chip.peak_flops_per_s[d] *= 2;
        assert_close(step_of(&s), step / 2, 1e-9);
        switched += net->kind == SP_SWITCHED && s.plan.tp > 1;
        staged += s.plan.pp > 1;
    }
    assert_true(switched > samples() / 10 && staged > samples() / 10);
}

/* Each wait is the network's: a send takes send_latency_s longer when that is longer, m sends of
 * each chunk in each pass and pp - 1 to the other end, unless work hides it; TP inside a domain
 * without measured collectives pays one ring step per other device, between domains one per domain.
 */
static void waits_of_the_network(void **unused)
{
    struct sample s, slower;
    int sends = 0, rings = 0;
    (void)unused;
    state = 14;
    for (int i = 0; i < samples(); i++) {
        make_sample(&s);
        sp_clear_kernels(&s.hw.chip.kernels);
        const struct sp_step_inputs in = inputs(&s), late = inputs(&slower);
        const struct sp_plan *const p = &s.plan;
        const struct sp_step_time t = sp_estimate_step(&in);
        slower = s;
        slower.hw.network.send_latency_s += 1e-3;
        const bool hidden = s.framework.framework.overlaps_sends && p->vpp > 1;
        const double passes = (double)(sp_plan_microbatches(p) * p->vpp) + (double)p->pp - 1;
        const double more = p->pp > 1 ? 2e-3 * passes : 0;
        const struct sp_step_time later = sp_estimate_step(&late);
        if (hidden) /* waits of CP rings hide more of the sends */
            assert_true(later.pp_comm + later.cp_comm >= t.pp_comm + t.cp_comm);
        else
            assert_close(1 + later.pp_comm, 1 + t.pp_comm + more, 1e-9);
        sends += more > 0;
        if (s.hw.network.kind != SP_SWITCHED || p->pp > 1 || s.model.moe.experts > 0 ||
            p->stages_inside || p->tp > s.hw.network.domain || s.hw.network.domain % p->tp != 0)
            continue;
        slower = s;
        slower.hw.network.scaleout_latency_s += 1e-3; /* TP stays inside a domain */
        assert_close(1 + sp_estimate_step(&late).tp_comm, 1 + t.tp_comm, 1e-12);
        slower = s;
        slower.hw.network.domain_latency_s += 1e-3;
        const double once = sp_estimate_step(&late).tp_comm - t.tp_comm;
        slower.hw.network.domain_latency_s += 1e-3;
        assert_close(1 + sp_estimate_step(&late).tp_comm - t.tp_comm, 1 + 2 * once, 1e-9);
        /* two blocks per layer, a gather and a scatter each, forward and backward, at the least */
        const double gathers =
            8 * (double)(s.model.layers * sp_plan_microbatches(p) * (p->tp - 1)) * 1e-3;
        const double exposed =
            s.framework.framework.overlaps_tp ? s.profile.value[SP_C_TP_EXPOSED] : 1;
        assert_true(once >= gathers * exposed * (1 - 1e-9));
        rings += p->tp > 1;
    }
    assert_true(sends > samples() / 10 && rings > samples() / 50);
}

/* Sizes that grow slightly lengthen a step slightly. */
static void continuity(void **unused)
{
    struct sample s, more;
    (void)unused;
    state = 5;
    for (int i = 0; i < samples(); i++) {
        make_sample(&s);
        const double step = step_of(&s);
        int64_t *const sizes[] = {&more.model.d_ff, &more.model.d_model, &more.model.vocab,
                                  &more.plan.seq};
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            more = s;
            const double before = (double)*sizes[k];
            *sizes[k] += 8;
            const double grown = (double)*sizes[k] / before;
            /* time grows at most with the square of a size (attention), a padded table with 128 tp
             */
            const double most = grown * grown + (k == 2 ? 128.0 * (double)s.plan.tp / before : 0);
            /* longer weight gradients fill more of a zero-bubble schedule's gaps */
            const bool fills = s.plan.schedule == SP_ZB_H1 || s.plan.schedule == SP_DUALPIPE;
            assert_true(step_of(&more) >= step * (1 - (fills ? 1e-4 : 1e-12)));
            assert_true(step_of(&more) <= step * most * (1 + 1e-6));
        }
    }
}

/* On a torus of 8 x 8 x 8 with rings, links of w: an exchange of V between the 4 chips of a TP
 * group takes 3/4 V over what enters a chip: one link on a line of 4, two in a 2 x 2 block, both
 * sides of the ring for 8 in a row. */
static void axes_of_tp(void **unused)
{
    struct sample s;
    const struct sp_sources none = {0};
    struct sp_error error = {0};
    static const struct {
        int64_t tp;
        int32_t box[3];
        double links;
    } ways[] = {{4, {4, 1, 1}, 1}, {4, {2, 2, 1}, 2}, {8, {8, 1, 1}, 2},
                {8, {2, 2, 2}, 3}, {8, {4, 2, 1}, 2}, {64, {8, 8, 1}, 4}};
    (void)unused;
    state = 8;
    make_sample(&s);
    assert_true(sp_load_hardware("v5p-512", &none, &s.hw, &error));
    s.model.moe = (struct sp_moe){0};
    s.model.heads = 64;
    s.model.d_ff = 8192;
    s.framework = frameworks[0];
    s.framework.framework.overlaps_tp = false;
    s.hw.network.hop_latency_s = 0;
    s.plan = (struct sp_plan){.pp = 1,
                              .vpp = 1,
                              .cp = 1,
                              .ep = 1,
                              .etp = 1,
                              .micro_batch = 1,
                              .batch = 512,
                              .seq = 4096,
                              .schedule = SP_1F1B,
                              .imbalance = 1,
                              .sequence_parallel = true};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        s.plan.tp = ways[i].tp;
        s.plan.dp = s.plan.shards = 512 / ways[i].tp;
        memcpy(s.plan.tp_axes, ways[i].box, sizeof s.plan.tp_axes);
        const struct sp_step_inputs in = inputs(&s);
        const struct sp_step_time t = sp_estimate_step(&in);
        /* two blocks per layer, two collectives forward and three backward, 2 bytes an element */
        const double V = 2.0 * 4096 * (double)s.model.d_model, n = (double)ways[i].tp;
        const double each =
            V * (n - 1) / n /
            (ways[i].links * s.hw.network.link_bytes_per_s * s.profile.value[SP_C_SCALE_UP]);
        assert_close(t.tp_comm, n * 2 * 5 * (double)s.model.layers * each, 1e-9);
    }
}

/* Memory is the sum of its parts in whole bytes on every stage; a higher ZeRO stage, more shards or
 * a smaller micro-batch never need more, except for gradients that accumulate only over several. */
static void memory_parts(void **unused)
{
    struct sample s, less;
    struct sp_stage_memory m, fullest, other;
    (void)unused;
    state = 6;
    for (int i = 0; i < samples() / 4; i++) {
        make_sample(&s);
        int64_t most = 0;
        const int64_t at =
            sp_fullest_stage(&s.model, &s.precision, &s.plan, &s.framework.framework, &fullest);
        for (int64_t stage = 0; stage < s.plan.pp; stage++) {
            m = sp_memory_of_stage(&s.model, &s.precision, &s.plan, &s.framework.framework, stage);
            assert_true(m.live == m.params + m.grads + m.optimizer + m.activations + m.buffers);
            assert_true(m.params >= 0 && m.live <= m.reserved && m.reserved <= m.device);
            most = m.live > most ? m.live : most;
            if (stage == at)
                assert_memory_equal(&m, &fullest, sizeof m);
        }
        assert_true(most == fullest.live);
        less = s;
        less.plan.zero = s.plan.zero < 2 ? s.plan.zero + 1 : s.plan.zero; /* 3 gathers layers */
        sp_fullest_stage(&less.model, &less.precision, &less.plan, &less.framework.framework,
                         &other);
        assert_true(other.live <= fullest.live);
        less = s;
        less.plan.micro_batch = 1;
        less.plan.schedule = SP_1F1B;
        less.plan.vpp = 1;
        s.plan.schedule = SP_1F1B;
        s.plan.vpp = 1;
        sp_fullest_stage(&s.model, &s.precision, &s.plan, &s.framework.framework, &fullest);
        sp_fullest_stage(&less.model, &less.precision, &less.plan, &less.framework.framework,
                         &other);
        if (s.plan.pp == 1) /* besides gradients that accumulate once there are several */
            assert_true(other.live - other.grads <= fullest.live - fullest.grads);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_and_ideal),      cmocka_unit_test(staged_and_bounds),
        cmocka_unit_test(better_machines),      cmocka_unit_test(scale_invariance),
        cmocka_unit_test(waits_of_the_network), cmocka_unit_test(continuity),
        cmocka_unit_test(memory_parts),         cmocka_unit_test(axes_of_tp),
    };
    return cmocka_run_group_tests(tests, load_all, NULL);
}
