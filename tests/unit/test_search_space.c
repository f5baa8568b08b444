/* The space of a search, enumerated independently: loops over all values of every dimension with
 * the rules of docs/search.md. Both must have the same plans. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <scaleplan/scaleplan.h>

enum { MOST = 400000 };

/* The fields that distinguish plans. */
struct key {
    int64_t tp, cp, pp, dp, vpp, ep, etp, micro_batch, zero, shards, policy, schedule;
    int64_t sequence_parallel, offload, stages_inside, box[SP_MAX_AXES];
    int64_t dispatch, moe_overlap, cuda_graph, cp_kind, modules;
};

struct keys {
    struct key *at;
    size_t n;
};

struct problem {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_framework framework;
    struct sp_profile profile;
    struct sp_search_space space;
};

static int64_t any(const int64_t *list, size_t n)
{
    return list[(size_t)rand() % n];
}
#define ANY(...)                                                                                   \
    any((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void draw_model(struct sp_model *m)
{
    *m = (struct sp_model){.layers = ANY(1, 2, 3, 4, 6, 8, 10),
                           .d_model = 64,
                           .d_ff = ANY(96, 128, 120),
                           .heads = ANY(4, 6, 8),
                           .kv_heads = ANY(1, 2),
                           .head_dim = 8,
                           .vocab = 1000,
                           .norms_per_layer = 2};
    if (rand() % 3 == 0)
        m->moe = (struct sp_moe){.experts = ANY(2, 4, 6),
                                 .top_k = 1,
                                 .d_ff_expert = ANY(24, 32, 36),
                                 .shared_experts = ANY(0, 1),
                                 .dense_layers = rand() % 2,
                                 .d_ff_dense = ANY(0, 120)};
}

static void draw_machine(struct sp_hardware *hw)
{
    static const struct sp_shape shapes[] = {
        {{2, 2, 1}}, {{2, 4, 1}}, {{2, 2, 2}}, {{2, 2, 4}}, {{4, 4, 1}}};
    const struct sp_shape shape = shapes[rand() % 5];
    const bool torus = rand() % 2;
    *hw = (struct sp_hardware){.slices = torus && rand() % 3 == 0 ? 2 : 1, .shape = shape};
    hw->chips_per_slice =
        torus ? shape.axis[0] * shape.axis[1] * shape.axis[2] : ANY(1, 2, 4, 6, 8, 12, 16);
    for (int dtype = 0; dtype < SP_DTYPES; dtype++)
        hw->chip.peak_flops_per_s[dtype] = 1e14;
    hw->chip.hbm_bytes_per_s = 1e12;
    hw->chip.pcie_bytes_per_s = 1e10;
    hw->network = (struct sp_network){.kind = torus ? SP_TORUS : SP_SWITCHED,
                                      .axes = 3,
                                      .link_bytes_per_s = 1e10,
                                      .chips_per_host = 4,
                                      .dcn_bytes_per_s_per_host = 1e9,
                                      .domain = 8,
                                      .domain_bytes_per_s = 1e11,
                                      .scaleout_bytes_per_s = 1e10};
}

static void draw_problem(struct problem *p)
{
    draw_model(&p->model);
    draw_machine(&p->hw);
    p->precision = (struct sp_precision){.weight_bytes = 2, .grad_bytes = 2};
    p->framework = (struct sp_framework){.reserved_factor = 1};
    for (int c = 0; c < SP_CONSTANTS; c++)
        p->profile.value[c] = sp_constants[c].gpu;
    p->space = (struct sp_search_space){
        .in = {&p->model, &p->hw, &p->precision, &p->framework, &p->profile, NULL, NULL},
        .seq = ANY(32, 48),
        .batch = ANY(4, 6, 8, 12),
        .dtype = SP_BF16,
        .imbalance = 1,
        .recompute_layers = 1,
        .most_bytes = INFINITY,
    };
    for (int i = 0; i < 4; i++)
        p->space.open.zero[i] = i == 0 || rand() % 2;
    for (int i = 0; i < SP_POLICIES; i++)
        p->space.open.policy[i] = i == 0 || rand() % 4 == 0;
    p->space.open.n_modules = rand() % 3;
    p->space.open.modules[0] = 1U << SP_MODULE_LAYERNORM;
    p->space.open.modules[1] = 1U << SP_MODULE_LAYERNORM | 1U << SP_MODULE_MOE;
    for (int i = 0; i < SP_SCHEDULES; i++)
        p->space.open.schedule[i] = rand() % 2;
    for (int i = 0; i < 2; i++) {
        p->space.open.sequence_parallel[i] = p->space.open.stages_inside[i] = true;
        p->space.open.offload[i] = i == 0 || rand() % 3 == 0;
        p->space.open.moe_overlap[i] = rand() % 2;
    }
    p->space.open.dispatch[rand() % SP_DISPATCHES] =
        p->space.open.dispatch[rand() % SP_DISPATCHES] = rand() % 2;
    p->space.open.cuda_graph[rand() % SP_CUDA_GRAPHS] = rand() % 2;
    p->space.open.cp_kind[rand() % SP_CP_KINDS] = p->space.open.cp_kind[rand() % SP_CP_KINDS] =
        rand() % 2;
    p->space.open.copies_kv_heads = rand() % 2;
    p->space.open.overlap.in_chunks = rand() % 2;
    p->space.open.overlap.refuses[rand() % SP_DISPATCHES] = rand() % 2;
    p->space.open.rounds = (enum sp_rounds)(rand() % SP_ROUNDS);
    p->space.even_stages = rand() % 2;
    p->space.whole_axes = rand() % 2;
}

/* --- the second count ------------------------------------------------------------------------- */

/* Whether TP cuts every head and every width it shards into equal parts. */
static bool cuts(const struct sp_model *m, int64_t tp, int64_t etp)
{
    if (m->heads % tp != 0)
        return false;
    for (int64_t layer = 0; layer < m->layers; layer++) {
        const bool experts = m->moe.experts > 0 && layer >= m->moe.dense_layers;
        if (experts &&
            (m->moe.shared_experts * m->moe.d_ff_expert % tp != 0 || m->moe.d_ff_expert % etp != 0))
            return false;
        if (!experts && (m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense : m->d_ff) % tp != 0)
            return false;
    }
    return m->moe.experts == 0 ||
           (m->moe.shared_experts * m->moe.d_ff_expert % tp == 0 && m->moe.d_ff_expert % etp == 0);
}

/* Whether a shard group of g devices per TP rank fills slices or divides one, and holds all of its
 * experts equally often. */
static bool shards_alike(const struct problem *p, const struct key *k, int64_t g)
{
    const int64_t slices = p->hw.slices, ranks = k->dp * k->cp, kinds = k->ep * k->etp;
    const int64_t here = k->dp % slices == 0 ? ranks / slices : ranks;
    int64_t held[64] = {0}, least = INT64_MAX, most = 0;
    if (ranks % g != 0 || (here % g != 0 && g % here != 0))
        return false;
    for (int64_t rank = 0; rank < g * k->tp; rank++)
        held[rank % kinds]++;
    for (int64_t kind = 0; kind < kinds; kind++) {
        most = held[kind] > most ? held[kind] : most;
        least = held[kind] > 0 && held[kind] < least ? held[kind] : least;
    }
    return least == most;
}

/* Replicas or stages span the slices; TP, CP and EP stay in one. */
static bool stays_in_slices(const struct problem *p, const struct key *k)
{
    const int64_t slices = p->hw.slices;
    const bool replicas = k->dp % slices == 0;
    if (!replicas && k->pp % slices != 0)
        return false;
    return k->dp * k->cp * k->tp / (replicas ? slices : 1) % (k->ep * k->etp) == 0;
}

static void put(struct keys *keys, const struct key *k)
{
    assert_true(keys->n < MOST);
    keys->at[keys->n++] = *k;
}

/* Experts that are recomputed whole hide no exchange: their first matmul is of full, alternate (all
 * grouped matmuls) and qkv. */
static bool hides_nothing(const struct key *k)
{
    return k->moe_overlap && (k->policy == SP_REMAT_FULL || k->policy == SP_REMAT_ALTERNATE ||
                              k->policy == SP_REMAT_QKV || k->policy == SP_REMAT_ATTENTION ||
                              (k->modules >> SP_MODULE_MOE & 1));
}

/* Stages that are one chunk hide no exchange where several are asked for: Megatron-Core's
 * combined schedule interleaves chunks, or has no stages. DualPipe's stages are two. */
static bool is_one_chunk(const struct problem *p, const struct key *k)
{
    return p->space.open.overlap.in_chunks && k->moe_overlap && k->pp > 1 && k->vpp == 1 &&
           k->schedule != SP_DUALPIPE;
}

/* Chunks take micro-batches in groups, each of at least the stages: Megatron-Core in groups of
 * exactly the stages, PyTorch in as many equal groups as there can be. */
static bool takes_groups(const struct problem *p, const struct key *k)
{
    const int64_t share = p->space.batch / k->dp / k->micro_batch;
    int64_t groups = 1;
    if (p->space.open.rounds == SP_ROUNDS_ANY || k->vpp == 1)
        return true;
    while ((groups + 1) * k->pp <= share)
        groups++;
    return p->space.open.rounds == SP_ROUNDS_ALIKE ? share % groups == 0 : share == groups * k->pp;
}

/* Policies, each with and without offload. */
static void put_policies(const struct problem *p, struct keys *keys, struct key k)
{
    for (k.policy = 0; k.policy < SP_POLICIES; k.policy++)
        for (k.offload = 0; k.offload < 2; k.offload++)
            if (p->space.open.policy[k.policy] && p->space.open.offload[k.offload] &&
                !hides_nothing(&k))
                put(keys, &k);
    k.policy = SP_REMAT_NONE;
    for (int i = 0; i < p->space.open.n_modules && p->space.open.policy[SP_REMAT_NONE]; i++)
        for (k.offload = 0; k.offload < 2; k.offload++) {
            k.modules = p->space.open.modules[i];
            if (p->space.open.offload[k.offload] && !hides_nothing(&k))
                put(keys, &k);
        }
}

/* Stages or replicas as neighbours; equal on a torus, or if there is only one of either. */
static void put_placements(const struct problem *p, struct keys *keys, struct key k)
{
    const bool differs = p->hw.network.kind == SP_SWITCHED && k.pp > 1 && k.dp * k.cp > 1;
    for (k.stages_inside = 0; k.stages_inside < (differs ? 2 : 1); k.stages_inside++)
        if (k.stages_inside == 0 || k.ep * k.etp <= k.tp * k.cp)
            put_policies(p, keys, k);
}

/* ZeRO over every group of more than one; over one where TP ranks hold the same experts, which they
 * can share. */
static void put_shardings(const struct problem *p, struct keys *keys, struct key k)
{
    const int64_t ranks = k.dp * k.cp;
    const bool alone = ranks == 1 && p->model.moe.experts > 0 && k.tp > k.ep * k.etp;
    for (k.zero = 0; k.zero < (ranks > 1 || alone ? 4 : 1); k.zero++)
        for (k.shards = k.zero > 0 && !alone ? 2 : 1; k.shards <= (k.zero > 0 ? ranks : 1);
             k.shards++)
            if (k.zero == 0 || (p->space.open.zero[k.zero] && shards_alike(p, &k, k.shards)))
                put_placements(p, keys, k);
}

/* Schedules, with the chunks that divide a stage's layers; the table and the head count as a layer
 * each where only that divides. Unequal stages have any number of chunks of a layer or more. */
static void put_schedules(const struct problem *p, struct keys *keys, struct key k)
{
    const int64_t L = p->model.layers;
    const int64_t even = L % k.pp == 0 ? L / k.pp : (L + 2) % k.pp == 0 ? (L + 2) / k.pp : 0;
    if (p->space.even_stages && even == 0)
        return;
    if (k.pp == 1) {
        k.schedule = SP_1F1B;
        k.vpp = 1;
        put_shardings(p, keys, k);
        return;
    }
    for (k.schedule = 0; k.schedule < SP_SCHEDULES; k.schedule++) {
        const bool chunks = k.schedule == SP_INTERLEAVED || k.schedule == SP_CIRCULAR;
        if (!p->space.open.schedule[k.schedule] || k.schedule == SP_NAIVE)
            continue;
        for (k.vpp = chunks ? 2 : 1; k.vpp <= (chunks ? L + 2 : 1); k.vpp++)
            if ((!chunks || (even == 0 ? k.vpp * k.pp <= L : even % k.vpp == 0 && k.vpp <= even)) &&
                !is_one_chunk(p, &k) && takes_groups(p, &k))
                put_shardings(p, keys, k);
    }
}

/* Execution options: the listed ones, or the framework's own (0). Without EP nothing is exchanged;
 * a single micro-batch has nothing to overlap. */
static bool is_open(const bool *listed, int64_t n, int64_t value)
{
    bool any = false;
    for (int64_t i = 0; i < n; i++)
        any = any || listed[i];
    return any ? listed[value] : value == 0;
}

/* Whether CP cuts tokens into halves that a causal mask leaves even, or, where heads are exchanged,
 * heads and the KV heads that there are or may be copied. */
static bool cuts_context(const struct problem *p, const struct key *k)
{
    const int64_t ranks = k->tp * k->cp, kv = p->model.kv_heads;
    if (k->cp > 1 && k->cp_kind != SP_CP_ULYSSES)
        return p->space.seq % (2 * k->cp) == 0;
    return k->cp == 1 || (p->model.heads % ranks == 0 &&
                          (kv % ranks == 0 || (p->space.open.copies_kv_heads && ranks % kv == 0)));
}

static void put_kinds(const struct problem *p, struct keys *keys, struct key k)
{
    for (k.cp_kind = 0; k.cp_kind < (k.cp > 1 ? SP_CP_KINDS : 1); k.cp_kind++)
        if ((k.cp == 1 || is_open(p->space.open.cp_kind, SP_CP_KINDS, k.cp_kind)) &&
            cuts_context(p, &k))
            put_schedules(p, keys, k);
}

static void put_executions(const struct problem *p, struct keys *keys, struct key k)
{
    const struct sp_search_space *const s = &p->space;
    const bool alone = k.dp * k.micro_batch == s->batch;
    for (k.cuda_graph = 0; k.cuda_graph < SP_CUDA_GRAPHS; k.cuda_graph++)
        for (k.dispatch = 0; k.dispatch < (k.ep > 1 ? SP_DISPATCHES : 1); k.dispatch++)
            for (k.moe_overlap = 0; k.moe_overlap < (k.ep > 1 && !alone ? 2 : 1); k.moe_overlap++)
                if (is_open(s->open.cuda_graph, SP_CUDA_GRAPHS, k.cuda_graph) &&
                    !(k.moe_overlap && s->open.overlap.refuses[k.dispatch]) &&
                    (k.ep == 1 || (is_open(s->open.dispatch, SP_DISPATCHES, k.dispatch) &&
                                   is_open(s->open.moe_overlap, 2, k.moe_overlap))))
                    put_kinds(p, keys, k);
}

static void put_experts(const struct problem *p, struct keys *keys, struct key k)
{
    const int64_t experts = p->model.moe.experts > 0 ? p->model.moe.experts : 1;
    for (k.ep = 1; k.ep <= experts; k.ep++)
        for (int wide = 0; wide < (experts > 1 && k.tp > 1 ? 2 : 1); wide++) {
            k.etp = wide ? k.tp : 1;
            if (experts % k.ep == 0 && cuts(&p->model, k.tp, k.etp) &&
                k.dp * k.cp * k.tp % (k.ep * k.etp) == 0 && stays_in_slices(p, &k))
                put_executions(p, keys, k);
        }
}

/* Every way to place TP on a torus; of axes of equal length the first takes the longer part. */
static void put_boxes(const struct problem *p, struct keys *keys, struct key k)
{
    const int32_t *const axis = p->hw.shape.axis;
    if (p->hw.network.kind == SP_SWITCHED || k.tp == 1) {
        put_experts(p, keys, k);
        return;
    }
    for (int64_t x = 1; x <= axis[0]; x++)
        for (int64_t y = 1; y <= axis[1]; y++)
            for (int64_t z = 1; z <= axis[2]; z++) {
                if (x * y * z != k.tp || axis[0] % x != 0 || axis[1] % y != 0 || axis[2] % z != 0 ||
                    (axis[0] == axis[1] && x < y) || (axis[1] == axis[2] && y < z))
                    continue;
                if (p->space.whole_axes && ((x != 1 && x != axis[0]) || (y != 1 && y != axis[1]) ||
                                            (z != 1 && z != axis[2])))
                    continue;
                k.box[0] = x;
                k.box[1] = y;
                k.box[2] = z;
                put_experts(p, keys, k);
            }
}

static void put_all(const struct problem *p, struct keys *keys)
{
    const int64_t N = sp_chips(&p->hw);
    struct key k = {0};
    for (k.tp = 1; k.tp <= N; k.tp++)
        for (k.cp = 1; k.cp * k.tp <= N; k.cp++)
            for (k.pp = 1; k.pp * k.cp * k.tp <= N; k.pp++) {
                k.dp = N / (k.tp * k.cp * k.pp);
                if (k.tp * k.cp * k.pp * k.dp != N || p->space.seq % k.cp != 0 ||
                    k.pp > p->model.layers)
                    continue;
                for (k.micro_batch = 1; k.micro_batch <= p->space.batch; k.micro_batch++)
                    for (k.sequence_parallel = k.tp > 1; k.sequence_parallel >= 0;
                         k.sequence_parallel--)
                        if (p->space.batch % (k.dp * k.micro_batch) == 0)
                            put_boxes(p, keys, k);
            }
}

/* --- the library's ---------------------------------------------------------------------------- */

static int policy_of(const struct sp_found *found)
{
    return (int)sp_plan_value(&found->plan, &sp_plan_fields[SP_FIELD_REMAT]);
}

static struct key key_of(const struct sp_found *f)
{
    const struct sp_plan *const p = &f->plan;
    struct key k = {.tp = p->tp,
                    .cp = p->cp,
                    .pp = p->pp,
                    .dp = p->dp,
                    .vpp = p->vpp,
                    .ep = p->ep,
                    .etp = p->etp,
                    .micro_batch = p->micro_batch,
                    .zero = p->zero,
                    .shards = p->zero > 0 ? p->shards : 1,
                    .policy = policy_of(f),
                    .schedule = p->schedule,
                    .sequence_parallel = p->sequence_parallel,
                    .offload = p->recompute.offload,
                    .stages_inside = p->stages_inside};
    for (int axis = 0; axis < SP_MAX_AXES; axis++)
        k.box[axis] = p->tp > 1 ? p->tp_axes[axis] : 0;
    k.modules = p->recompute.modules;
    k.cuda_graph = p->execution.cuda_graph;
    k.cp_kind = p->cp > 1 ? (int64_t)p->execution.cp_kind : 0;
    if (p->ep > 1) {
        k.dispatch = p->execution.dispatch;
        k.moe_overlap = p->execution.moe_overlap;
    }
    return k;
}

static void list_space(const struct problem *p, struct keys *keys)
{
    const struct sp_search_space *const s = &p->space;
    struct sp_found found;
    for (uint64_t group = 0; group < sp_search_groups(s); group++)
        for (uint64_t leaf = 0; sp_plan_at(s, group, leaf, &found); leaf++) {
            if (!s->open.policy[policy_of(&found)] ||
                !s->open.offload[found.plan.recompute.offload])
                continue; /* a closed policy has its places, but no plans */
            const struct key k = key_of(&found);
            if (hides_nothing(&k))
                continue;
            assert_int_equal(sp_check_plan(&p->model, &found.plan, sp_chips(&p->hw), p->hw.slices),
                             SP_PLAN_OK);
            put(keys, &k);
        }
}

static uint64_t evaluated(const struct problem *p)
{
    static struct sp_best best;
    const struct sp_search_rule rule = {.exhaustive = true, .limit = INFINITY};
    struct sp_search_counts counts = {0};
    best = (struct sp_best){.wanted = 1};
    for (uint64_t group = 0; group < sp_search_groups(&p->space); group++)
        sp_search_group(&p->space, group, &rule, &best, &counts);
    assert_int_equal(counts.total, counts.evaluated);
    return counts.total;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct key));
}

static void say(const char *who, const struct key *k)
{
    fail_msg("%s alone has tp %d cp %d pp %d dp %d vpp %d ep %d etp %d micro-batch %d ZeRO %d over "
             "%d, policy %d, schedule %d, sp %d, offload %d, inside %d, box %dx%dx%d",
             who, (int)k->tp, (int)k->cp, (int)k->pp, (int)k->dp, (int)k->vpp, (int)k->ep,
             (int)k->etp, (int)k->micro_batch, (int)k->zero, (int)k->shards, (int)k->policy,
             (int)k->schedule, (int)k->sequence_parallel, (int)k->offload, (int)k->stages_inside,
             (int)k->box[0], (int)k->box[1], (int)k->box[2]);
}

static void same_keys(struct keys *mine, struct keys *theirs)
{
    qsort(mine->at, mine->n, sizeof *mine->at, compare);
    qsort(theirs->at, theirs->n, sizeof *theirs->at, compare);
    for (size_t i = 0; i < mine->n || i < theirs->n; i++) {
        const int order = i == mine->n     ? 1
                          : i == theirs->n ? -1
                                           : compare(&mine->at[i], &theirs->at[i]);
        if (order < 0)
            say("the second count", &mine->at[i]);
        if (order > 0)
            say("the search", &theirs->at[i]);
    }
}

static void spaces(void **state)
{
    struct keys mine = {calloc(MOST, sizeof *mine.at), 0},
                theirs = {calloc(MOST, sizeof *theirs.at), 0};
    size_t all = 0, beyond_kv = 0, chunked = 0, experts = 0, boxes = 0;
    (void)state;
    assert_true(mine.at && theirs.at);
    srand(1);
    for (int i = 0; i < 50; i++) {
        static struct problem p;
        draw_problem(&p);
        assert_true(sp_open_space(&p.space));
        mine.n = theirs.n = 0;
        put_all(&p, &mine);
        list_space(&p, &theirs);
        same_keys(&mine, &theirs);
        assert_int_equal(evaluated(&p), mine.n);
        all += mine.n;
        for (size_t k = 0; k < mine.n; k++) {
            beyond_kv += mine.at[k].tp > p.model.kv_heads;
            chunked += mine.at[k].vpp == 2;
            experts += mine.at[k].ep > 1 && mine.at[k].etp > 1;
            boxes += mine.at[k].box[0] > 1 && mine.at[k].box[1] > 1;
        }
    }
    print_message(
        "%zu plans; %zu with more TP than KV heads, %zu with 2 chunks, %zu with EP and TP "
        "of experts, %zu boxes\n",
        all, beyond_kv, chunked, experts, boxes);
    assert_true(all > 100000 && beyond_kv > 1000 && chunked > 1000 && experts > 100 &&
                boxes > 1000);
    free(mine.at);
    free(theirs.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spaces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
