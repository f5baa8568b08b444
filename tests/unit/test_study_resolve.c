/* The settings that a plan leaves open against every one of them, timed as `step` times a plan; and
 * what is said of degrees that do not make the devices. */
#include "asked.h"

#include <string.h>

#include <scaleplan/estimate.h>
#include <scaleplan/search.h>

#include "study/resolve.h"
#include "study/space.h"

enum { EXTRAS = 3 };

/* The best plans so far: with memory to spare and tightly, by the extras that they have, and the
 * one of the least memory. */
struct all {
    double limit[2], step_s[2][EXTRAS], least_bytes, least_s;
    int looked_at;
};

static void look_at(struct all *all, const struct sp_planned *p)
{
    struct sp_stage_memory memory;
    const struct sp_step_inputs in = sp_inputs_of(p);
    const double step = sp_evaluate(&in, &memory), bytes = (double)memory.device;
    const int extras = (p->plan.recompute.modules != 0) + p->plan.recompute.offload;
    all->looked_at++;
    for (int i = 0; i < 2; i++)
        if (bytes <= all->limit[i])
            all->step_s[i][extras] = fmin(all->step_s[i][extras], step);
    if (bytes < all->least_bytes || (bytes == all->least_bytes && step < all->least_s)) {
        all->least_bytes = bytes;
        all->least_s = step;
    }
}

static void try_recomputations(struct all *all, struct sp_planned *p,
                               const struct sp_dimensions *open)
{
    for (int at = 0; at < SP_WAYS_TO_RECOMPUTE; at++)
        for (int offload = 0; offload < 2; offload++) {
            if (!open->offload[offload] || !sp_recompute_at(open, &p->plan, at, &p->plan.recompute))
                continue;
            p->plan.recompute.offload = offload;
            look_at(all, p);
        }
}

static bool takes_rounds(const struct sp_planned *p, const struct sp_dimensions *open,
                         int64_t microbatches)
{
    return p->plan.vpp == 1 || sp_takes_rounds(open->rounds, microbatches, p->plan.pp);
}

static void try_executions(struct all *all, struct sp_planned *p, const struct sp_dimensions *open,
                           bool micro_is_open)
{
    const struct sp_execution own = p->plan.execution;
    const int64_t share = p->plan.batch / p->plan.dp, micro_given = p->plan.micro_batch;
    bool any_takes =
        false; /* chunks want micro-batches in rounds of the stages, if there are such */
    for (int64_t micro = 1; micro <= share; micro++)
        any_takes = any_takes || (share % micro == 0 && takes_rounds(p, open, share / micro));
    for (int kind = 0; kind < SP_CP_KINDS; kind++)
        for (int dispatch = 0; dispatch < SP_DISPATCHES; dispatch++)
            for (int overlap = 0; overlap < 2; overlap++)
                for (int64_t micro = 1; micro <= (micro_is_open ? share : 1); micro++) {
                    struct sp_execution *const e = &p->plan.execution;
                    const bool rings = p->plan.cp > 1, exchanges = p->plan.ep > 1;
                    e->cp_kind = (enum sp_cp_kind)kind;
                    e->dispatch = (enum sp_dispatch)dispatch;
                    e->moe_overlap = overlap;
                    p->plan.micro_batch = micro_is_open ? micro : micro_given;
                    if ((rings ? !open->cp_kind[kind] : kind != (int)own.cp_kind) ||
                        (exchanges ? !open->dispatch[dispatch] : dispatch != (int)own.dispatch) ||
                        (exchanges ? !open->moe_overlap[overlap]
                                   : overlap != (int)own.moe_overlap) ||
                        share % p->plan.micro_batch != 0 ||
                        (micro_is_open && any_takes && !takes_rounds(p, open, share / micro)) ||
                        !sp_may_overlap(&open->overlap, &p->plan) ||
                        (rings && !sp_cp_divides(&p->model, &p->plan, open->copies_kv_heads)) ||
                        sp_check_plan(&p->model, &p->plan, sp_chips(&p->hw), p->hw.slices) !=
                            SP_PLAN_OK)
                        continue;
                    try_recomputations(all, p, open);
                }
}

/* The least step with the fewest extras within 1 % of the least of all; NAN: none. */
static double taken(const double step_s[EXTRAS], int *extras)
{
    const double least = fmin(step_s[0], fmin(step_s[1], step_s[2]));
    for (int i = 0; i < EXTRAS && isfinite(least); i++)
        if (step_s[i] <= 1.01 * least) {
            *extras = i;
            return step_s[i];
        }
    return NAN;
}

/* Degrees, memories and frameworks drawn; micro-batch open or not. */
static void settings_by_trying_all(void **state)
{
    (void)state;
    static const char *const frameworks[] = {"nemo", "megatron", "torchtitan", "maxtext"};
    int spare = 0, tight = 0, least = 0, extra = 0;
    for (int i = 0; i < 150; i++) {
        char line[LINE];
        const bool moe = draw(4) == 0, micro_is_open = draw(2);
        const size_t f = moe ? draw(2) : draw(4);
        const int tp = 1 << draw(3), cp = 1 << draw(2), pp = f == 3 ? 1 : 1 << draw(2);
        const int vpp = pp > 1 && draw(2) ? 2 : 1;
        const int ep = moe && tp * cp * pp <= 8 ? 4 : 1, gb = (moe ? 60 : 8) + (int)draw(60);
        snprintf(
            line, sizeof line,
            "step --model %s --hw h100-32 --framework %s --batch %dx4096 --tp %d --cp %d "
            "--pp %d --vpp %d --ep %d --micro-batch 1 --remat none --set hw.chip.hbm_bytes=%de9",
            moe ? "mixtral-8x7b" : "llama3-8b", frameworks[f], 32 << draw(3), tp, cp, pp, vpp, ep,
            gb);
        struct sp_planned p, all_of;
        struct sp_dimensions open;
        read_plan(line, &p);
        const struct sp_repertoire runs = sp_repertoire_of(&p, false);
        const double capacity = sp_capacity_bytes(&p.hw.chip),
                     residual = p.framework.framework.memory_residual;
        struct all all = {.limit = {sp_most_bytes(residual, capacity, SP_VERDICT_YES),
                                    sp_most_bytes(residual, capacity, SP_VERDICT_TIGHT)},
                          .least_bytes = INFINITY,
                          .least_s = INFINITY};
        for (int k = 0; k < 2 * EXTRAS; k++)
            all.step_s[k / EXTRAS][k % EXTRAS] = INFINITY;
        sp_open_dimensions(&p, &runs, false, &open);
        const bool names_chunks = draw(2);
        if (!names_chunks)
            open.overlap.in_chunks = false;
        sp_copy_planned(&all_of, &p);
        try_executions(&all, &all_of, &open, micro_is_open);
        struct sp_said said = {.runs = &runs};
        for (int field = 0; field < SP_PLAN_FIELDS; field++)
            said.given[field] = field <= SP_FIELD_SHARDS;
        said.given[SP_FIELD_MICRO] = !micro_is_open;
        said.given[SP_FIELD_VPP] = names_chunks;
        sp_resolve_settings(&said, &p);
        struct sp_stage_memory memory;
        const struct sp_step_inputs in = sp_inputs_of(&p);
        const double step = sp_evaluate(&in, &memory), bytes = (double)memory.device;
        const int extras = (p.plan.recompute.modules != 0) + p.plan.recompute.offload;
        int want_extras = -1;
        double want = taken(all.step_s[0], &want_extras);
        spare += !isnan(want);
        if (isnan(want)) {
            want = taken(all.step_s[1], &want_extras);
            tight += !isnan(want);
        }
        if (isnan(want)) {
            least++;
            assert_close(bytes, all.least_bytes, 0);
            want = all.least_s;
        } else {
            assert_int_equal(extras, want_extras);
            extra += extras > 0;
        }
        if (!sp_test_is_close(step, want, 1e-12))
            fail_msg("%s: %.9g s, of all %d %.9g s", line, step, all.looked_at, want);
    }
    print_message("%d with memory to spare, %d tight, %d too large; %d with extras\n", spare, tight,
                  least, extra);
    assert_true(spare > 20 && least > 3 && extra > 2);
}

/* A micro-batch is open from two sequences of a replica on, unless it is given, or by a launch. */
static void micro_batches_left_open(void **state)
{
    (void)state;
    for (int share = 1; share <= 3; share++)
        for (int given = 0; given < 2; given++)
            for (int launch = 0; launch < 2; launch++) {
                const struct sp_plan plan = {.batch = 8 * share, .dp = 8};
                struct sp_said said = {.is_launch = launch};
                said.given[SP_FIELD_MICRO] = given;
                assert_int_equal(sp_opens_micro_batch(&said, &plan),
                                 share > 1 && !given && !launch);
            }
}

static void refused(const char *line, const char *words)
{
    struct sp_args args;
    struct sp_error error = {0};
    assert_null(answer_or(line, &args, &error));
    if (!strstr(error.text, words))
        fail_msg("%s: %s", line, error.text);
}

/* Degrees that make other devices, and the machine that has them, up to 10^9. */
static void degrees_of_another_machine(void **state)
{
    (void)state;
    refused("step --model llama3-8b --hw h100-8 --tp 8 --dp 2 --batch 16x8192",
            "the degrees multiply to 16 devices, h100 has 8; --hw h100-16 has them");
    refused("step --model llama3-8b --hw h100-8 --tp 16 --batch 16x8192",
            "the degrees multiply to 16 devices, h100 has 8; --hw h100-16 has them");
    refused("step --model llama3-8b --hw h100-8 --tp 8 --dp 524288 --batch 1048576x512",
            "the degrees multiply to 4194304 devices, h100 has 8; --hw h100-4194304 has them");
    refused("step --model llama3-8b --hw h100-8 --tp 4 --dp 3 --batch 12x8192",
            "the degrees multiply to 12 devices, h100 has 8");
    refused("step --model llama3-8b --hw h100-8 --tp 3 --batch 16x8192",
            "tp 3 x pp 1 x cp 1 does not divide the 8 devices of h100");
    refused("step --model llama3-8b --hw h100-8 --tp 2 --dp 3 --batch 12x8192",
            "tp 2 x pp 1 x cp 1 x the given dp does not make the 8 devices of h100");
}

/* Replicas are what the other degrees leave, and TP what given replicas leave. */
static void degrees_left_open(void **state)
{
    (void)state;
    for (int dp = 1; dp <= 16; dp *= 2)
        for (int pp = 1; pp * dp <= 16; pp *= 2) {
            char line[LINE];
            snprintf(line, sizeof line,
                     "step --model llama3-8b --hw h100-16 --batch 64x4096 --dp %d --pp %d", dp, pp);
            assert_close(ask_for(line, "tp"), 16.0 / (dp * pp), 0);
            snprintf(line, sizeof line,
                     "step --model llama3-8b --hw h100-16 --batch 64x4096 --tp %d --pp %d", dp, pp);
            assert_close(ask_for(line, "dp"), 16.0 / (dp * pp), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_by_trying_all),
        cmocka_unit_test(micro_batches_left_open),
        cmocka_unit_test(degrees_of_another_machine),
        cmocka_unit_test(degrees_left_open),
    };
    return cmocka_run_group_tests_name("study_resolve", tests, NULL, NULL);
}
