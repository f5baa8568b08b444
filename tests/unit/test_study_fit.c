/* The reasons and remedies of `fit`: what each says is tried on the strategy itself. */
#include "asked.h"

#include <string.h>

#include "fit_case.h"
#include "study/fit_rows.h"

/* A problem whose model and machine are drawn. */
static void draw_case(struct fit_case *c)
{
    static const char *const models[] = {"llama3-8b", "llama2-13b", "llama3-70b", "mixtral-8x7b"},
                             *const machines[] = {"v5p-64",   "v5p-512", "v5e-256",
                                                  "h100-8",   "h100-64", "h100-512",
                                                  "v5p-64x2", "h100-1",  "v5e-16x8"};
    const size_t model = draw(4), machine = draw(9);
    const double batch = 4096 * ceil(spread(16, 8000));
    load_case(c, models[model], machines[machine], batch, 4096);
    c->in.accumulate = (int64_t)draw(3);
    c->in.overlap = draw(2) ? SP_OVERLAP_AXES : SP_OVERLAP_NONE;
    c->in.remat = draw(2) ? SP_REMAT_FULL : SP_REMAT_MLP;
    if (draw(2))
        c->hw.chip.hbm_usable_bytes = c->hw.chip.hbm_bytes = spread(1e9, 1e12);
    if (draw(2))
        c->hw.network.link_bytes_per_s *= spread(0.01, 1);
    if (draw(2))
        c->hw.network.scaleout_bytes_per_s *= spread(0.01, 1);
    c->t = sp_fit_terms(&c->in);
}

static struct sp_strategy strategy_at(const struct fit_case *c, enum sp_strategy_kind kind,
                                      bool real, double batch)
{
    struct sp_fit_input in = c->in;
    in.batch_tokens = batch;
    const struct sp_fit_terms t = sp_fit_terms(&in);
    return real ? sp_fit_best(&in, &t, 1u << kind) : sp_fit_strategy(&in, &t, kind);
}

/* What a reason means. */
static void check_why(const struct sp_fit_row *row, const struct fit_case *c)
{
    const struct sp_strategy *const s = &row->s;
    const double at_once = c->t.B / c->t.N / s->loads.gathers;
    const bool keeps_up = at_once >= s->critical_tokens_per_chip;
    assert_close(row->at_once, at_once, 1e-12);
    assert_int_equal(row->why == SP_WHY_MEMORY, !s->fits);
    switch (row->why) {
    case SP_WHY_MEMORY:
        break;
    case SP_WHY_ALONE:
        assert_true(c->t.N == 1);
        break;
    case SP_WHY_FEW_NODES:
        assert_true(s->kind == SP_TP && s->compute_bound && (double)s->tp > row->tp_most);
        break;
    case SP_WHY_DEGREE:
        assert_true(s->kind == SP_TP && (!s->compute_bound || (double)s->tp <= row->tp_most));
        break;
    case SP_WHY_CONTEXT:
        assert_true(s->kind != SP_TP && !s->compute_bound && keeps_up && s->cp > 1);
        break;
    case SP_WHY_NO_SPLIT:
        assert_true(s->kind != SP_TP && !s->compute_bound && keeps_up && s->cp == 1);
        break;
    case SP_WHY_NEVER:
        assert_true(s->kind != SP_TP && isinf(s->critical_tokens_per_chip));
        break;
    default:
        assert_true(s->kind != SP_TP && isfinite(s->critical_tokens_per_chip));
        assert_true(s->compute_bound || !keeps_up);
    }
}

/* Whether TP of a degree on these chips divides chips, heads and MLP, and hides. */
static bool is_usable(const struct fit_case *c, int64_t degree)
{
    const double W = c->hw.network.kind == SP_TORUS ? c->t.W : c->hw.network.domain_bytes_per_s;
    const bool hides = (double)degree * c->t.C <= c->t.F * W * (1 + 1e-12);
    return hides && sp_chips(&c->hw) % degree == 0 && c->model.heads % degree == 0 &&
           c->model.d_ff % degree == 0;
}

/* A remedy is tried: the batch it asks for is enough, and the reason why there is none holds. */
static void check_remedy(const struct sp_fit_row *row, const struct fit_case *c, bool real)
{
    const struct sp_strategy *const s = &row->s;
    struct sp_strategy then;
    assert_true(!s->compute_bound || row->remedy == SP_REMEDY_NONE);
    switch (row->remedy) {
    case SP_REMEDY_NONE:
        assert_true(s->compute_bound || (!s->fits && s->loads.gathers > 1));
        break;
    case SP_REMEDY_BATCH:
    case SP_REMEDY_NO_ROOM:
        assert_true(row->batch_needed > c->t.B);
        then = strategy_at(c, s->kind, real, row->batch_needed * (1 + 1e-6));
        assert_int_equal(row->remedy == SP_REMEDY_BATCH,
                         then.exists && then.compute_bound && (then.fits || !s->fits));
        break;
    case SP_REMEDY_SEQUENCES:
    case SP_REMEDY_GATHERS:
        assert_true(s->loads.gathers > 1 && !(row->batch_needed > c->t.B));
        assert_int_equal(row->remedy == SP_REMEDY_SEQUENCES, s->pp > 1);
        break;
    case SP_REMEDY_MESH:
        assert_true(s->loads.gathers <= 1 && !(row->batch_needed > c->t.B));
        break;
    case SP_REMEDY_TP:
    case SP_REMEDY_FSDP:
        assert_true(s->kind == SP_TP && isinf(row->batch_needed));
        assert_int_equal(row->remedy == SP_REMEDY_TP, row->tp_degree > 1);
        break;
    case SP_REMEDY_NETWORK:
        assert_true(s->kind != SP_TP && isinf(row->batch_needed));
        then = strategy_at(c, s->kind, real, 1e15);
        assert_true(!then.exists || !then.compute_bound);
        break;
    }
    if (c->hw.network.kind != SP_TORUS) /* a node is where TP hides */
        for (int64_t degree = row->tp_degree > 1 ? row->tp_degree + 1 : 2;
             degree <= c->hw.network.domain; degree++)
            assert_false(is_usable(c, degree));
    if (row->tp_degree > 1)
        assert_true(sp_chips(&c->hw) % row->tp_degree == 0 && c->model.heads % row->tp_degree == 0);
}

/* Numbers of a row from the degrees of its strategy. */
static void check_numbers(const struct sp_fit_row *row, const struct fit_case *c, bool real)
{
    const struct sp_strategy *const s = &row->s;
    const int64_t m = s->microbatches, rest = s->pp > 0 ? m % s->pp : 0;
    assert_close(row->batch_shards, (double)s->dp * (double)s->fsdp, 0);
    assert_close(row->replicas, floor((double)(s->dp * s->fsdp) / (double)s->cp), 0);
    assert_close(row->batch_sequences, c->t.B / 4096, 1e-12);
    assert_close(row->state_chips, (double)sp_chips(&c->hw) / (double)s->dp, 1e-12);
    assert_close(row->last_round, (double)(rest > 0 ? rest : s->pp), 0);
    const double sequences = sp_replica_sequences(&c->in, s);
    assert_close(row->sequences, sequences, 0);
    double each = 0; /* the least whole number of them that m micro-batches hold */
    while (m > 1 && each * (double)m < sequences - 1e-9)
        each++;
    assert_close(row->microbatch_sequences, m > 1 ? each : sequences, 0);
    assert_int_equal(row->turns, c->in.overlap == SP_OVERLAP_NONE);
    assert_close(row->tp_most, c->t.F * c->t.W / c->t.C, 1e-12);
    assert_close(row->weight_counted, c->t.weight_bytes == 2 ? 2 : 0, 0);
    assert_close(row->r, c->t.r * (s->kind == SP_DP ? c->t.gradients_alone : 1), 1e-12);
    const bool fed = row->remedy != SP_REMEDY_NONE && row->chips_fed < (double)sp_chips(&c->hw) &&
                     c->hw.slices == 1 && s->loads.gathers <= 1 &&
                     (s->kind == SP_DP || s->kind == SP_FSDP);
    assert_int_equal(row->is_more_fed, fed);
    assert_true(isnan(row->chips_fed) || row->chips_fed >= 1);
    const struct sp_strategy *const o = &row->other;
    if (o->exists) /* with the least batch: of the same chips; by the closed forms HSDP has a slice
                      or a node each */
        assert_int_equal(o->dp * o->fsdp * o->tp * o->pp, sp_chips(&c->hw));
    if (o->exists && s->kind == SP_HSDP && !real)
        assert_int_equal(o->fsdp * o->tp, c->hw.network.kind == SP_TORUS ? c->hw.chips_per_slice
                                                                         : c->hw.network.domain);
    assert_true(!s->fits || (isnan(row->accumulation) && row->remat_to_fit == SP_REMATS));
}

static void reasons_and_remedies(void **state)
{
    (void)state;
    int whys[SP_WHY_TOKENS + 1] = {0}, remedies[SP_REMEDY_NETWORK + 1] = {0};
    static struct fit_case c;
    for (int i = 0; i < 500; i++) {
        draw_case(&c);
        for (int kind = 0; kind < SP_STRATEGIES; kind++)
            for (int real = 0; real < 2; real++) {
                const struct sp_strategy s =
                    strategy_at(&c, (enum sp_strategy_kind)kind, real, c.t.B);
                struct sp_fit_row row;
                if (!s.exists)
                    continue;
                sp_fill_fit_row(&c.in, &c.t, &s, real, &row);
                check_why(&row, &c);
                check_remedy(&row, &c, real);
                check_numbers(&row, &c, real);
                whys[row.why]++;
                remedies[row.remedy]++;
            }
    }
    for (int k = 0; k <= SP_WHY_TOKENS; k++) /* two need exact groups, or CP */
        assert_true(whys[k] > 0 || k == SP_WHY_FEW_NODES || k == SP_WHY_CONTEXT);
    for (int k = 0; k <= SP_REMEDY_NETWORK; k++)
        assert_true(remedies[k] > 10);
}

/* The rate of a gather over these devices: of 4 nodes of 8 the slower of W_gpu 8/7 and W_node 4/3;
 * none of one. */
static void gathers_of_a_machine(void **state)
{
    (void)state;
    struct sp_hardware hw = {.chips_per_slice = 32, .slices = 1};
    hw.network = (struct sp_network){.kind = SP_SWITCHED,
                                     .domain = 8,
                                     .domain_bytes_per_s = 400e9,
                                     .scaleout_bytes_per_s = 25e9,
                                     .hop_latency_s = NAN,
                                     .fabric = {.nodes_per_su = NAN}};
    assert_close(sp_machine_gather_bytes_per_s(&hw), 200e9 * 4 / 3, 1e-14);
    hw.chips_per_slice = 8;
    assert_close(sp_machine_gather_bytes_per_s(&hw), 400e9 * 8 / 7, 1e-14);
    hw.chips_per_slice = 1;
    assert_true(isnan(sp_machine_gather_bytes_per_s(&hw)));
    assert_close(sp_least_cp(64, 24), 3, 0);
    assert_close(sp_least_cp(64, 32), 2, 0);
}

/* Axes longer than a chip, and those of them that are lines: on v5e only 16 closes a ring. */
static void open_axes(void **state)
{
    (void)state;
    static const struct {
        struct sp_shape shape;
        int axes, open;
    } rows[] = {{{{16, 16, 1}}, 2, 0}, {{{8, 16, 1}}, 2, 1}, {{{8, 4, 1}}, 2, 2},
                {{{16, 1, 1}}, 1, 0},  {{{2, 1, 1}}, 1, 1},  {{{1, 1, 1}}, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sp_hardware hw = {.slices = 1};
        int axes = -1;
        hw.network.kind = SP_TORUS;
        hw.network.wrap = SP_WRAP_AXIS16;
        hw.shape = rows[i].shape;
        assert_int_equal(sp_open_axes(&hw, &axes), rows[i].open);
        assert_int_equal(axes, rows[i].axes);
        hw.network.kind = SP_SWITCHED;
        assert_int_equal(sp_open_axes(&hw, &axes), 0);
        assert_int_equal(axes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_and_remedies),
        cmocka_unit_test(gathers_of_a_machine),
        cmocka_unit_test(open_axes),
    };
    return cmocka_run_group_tests_name("study_fit", tests, NULL, NULL);
}
