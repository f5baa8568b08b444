/* Kept, recomputed and moved tensors, chosen together: against every plan of small spaces; the
 * memory that modules free and their cost against published runs. */
#include "check.h"
#include "asked.h"

#include <stdlib.h>

#include <scaleplan/estimate.h>
#include <scaleplan/search.h>

#include "study/resolve.h"
#include "study/space.h"

/* Every plan of the space, timed one by one as `step` times a plan. */
struct all {
    const struct sp_planned *p;
    double most_bytes, least_s, looked_at;
    bool by_stage;
};

/* Whether each stage has room, from the first, with most micro-batches in flight, to the last. */
static bool fits_stages(const struct sp_planned *p, double most_bytes)
{
    for (int64_t stage = 0; stage < p->plan.pp; stage++)
        if ((double)sp_memory_of_stage(&p->model, &p->precision, &p->plan, &p->framework.framework,
                                       stage)
                .device > most_bytes)
            return false;
    return true;
}

static void look_at(struct all *all, const struct sp_recompute *r, double optimizer)
{
    struct sp_planned p;
    struct sp_stage_memory m;
    sp_copy_planned(&p, all->p);
    p.plan.recompute = *r;
    p.plan.optimizer_away = optimizer;
    const struct sp_step_inputs in = sp_inputs_of(&p);
    const double step = sp_evaluate(&in, &m);
    const bool fits =
        all->by_stage ? fits_stages(&p, all->most_bytes) : (double)m.device <= all->most_bytes;
    all->looked_at++;
    if (fits && step < all->least_s)
        all->least_s = step;
}

/* Megatron-Core's rules, where the space has them: attn_proj waits in host memory only with
 * core_attn, and nothing of a layer that is recomputed whole. */
static bool is_allowed(const struct sp_kept_space *space, unsigned away, double down)
{
    const bool alone = (away >> SP_AWAY_ATTN_PROJ & 1) && !(away >> SP_AWAY_CORE_ATTN & 1);
    return (away & ~space->away) == 0 && !(space->needs[SP_AWAY_ATTN_PROJ] && alone) &&
           !(space->keeps_inputs && down > 0 && away != 0);
}

static void move_any(struct all *all, const struct sp_kept_space *space, struct sp_recompute r)
{
    const int parts = space->optimizer_parts;
    for (unsigned away = 0; away < 1U << SP_AWAYS; away++)
        for (int part = 0; part <= parts && is_allowed(space, away, r.down); part++) {
            r.away = away;
            r.offload = away != 0;
            look_at(all, &r, parts > 0 ? (double)part / parts : 0);
        }
}

static double least_of_all(const struct sp_planned *p, const struct sp_kept_space *space,
                           double most_bytes, bool by_stage, double *looked_at)
{
    struct all all = {p, most_bytes, INFINITY, 0, by_stage};
    for (int policy = 0; policy < SP_POLICIES; policy++)
        for (unsigned set = 0; set < 1U << SP_MODULES; set++) {
            struct sp_recompute r = sp_policies[policy].recompute;
            r.modules = set;
            if (space->policy[policy] && (set & ~space->modules) == 0 &&
                (set == 0 || policy == SP_REMAT_NONE))
                move_any(&all, space, r);
        }
    *looked_at += all.looked_at;
    return all.least_s;
}

/* From the least memory that any plan needs to the most. */
static void compare(const char *line, struct sp_kept_space space)
{
    struct sp_planned p;
    struct sp_kept_found found;
    struct sp_stage_memory m;
    double looked_at = 0;
    int fit = 0;
    read_plan(line, &p);
    const struct sp_step_inputs in = sp_inputs_of(&p);
    p.plan.recompute = sp_policies[SP_REMAT_NONE].recompute;
    sp_evaluate(&in, &m);
    for (double share = 0.2; share < 1.05; share += 0.1) {
        const double most = share * (double)m.device;
        const double least = least_of_all(&p, &space, most, false, &looked_at);
        const bool any = sp_choose_kept(&in, &space, most, &found);
        assert_true(any == isfinite(least));
        if (!any)
            continue;
        fit++;
        assert_close(found.step_s, least, 0);
        assert_true(found.device_bytes <= most);
        p.plan.recompute = found.recompute;
        p.plan.optimizer_away = found.optimizer_away;
        struct sp_stage_memory own;
        assert_close(sp_evaluate(&in, &own), found.step_s, 0);
        assert_close((double)own.device, found.device_bytes, 0);
        p.plan.recompute = sp_policies[SP_REMAT_NONE].recompute;
        p.plan.optimizer_away = 0;
    }
    print_message("%s: %d of 9 limits have a plan, %.0f looked at\n", line, fit, looked_at);
    assert_true(fit >= 3);
}

static void every_plan(void **state)
{
    (void)state;
    const struct sp_kept_space dense = {
        .policy = {[SP_REMAT_NONE] = true, [SP_REMAT_DOTS] = true, [SP_REMAT_FULL] = true},
        .modules = 1U << SP_MODULE_LAYERNORM | 1U << SP_MODULE_MLP | 1U << SP_MODULE_CORE_ATTN,
        .away = 1U << SP_AWAY_ATTN_NORM | 1U << SP_AWAY_QKV_LINEAR | 1U << SP_AWAY_CORE_ATTN |
                1U << SP_AWAY_ATTN_PROJ | 1U << SP_AWAY_MLP_NORM | 1U << SP_AWAY_MLP,
        .optimizer_parts = 4};
    const struct sp_kept_space mixture = {
        .policy = {[SP_REMAT_NONE] = true, [SP_REMAT_FULL] = true},
        .modules = 1U << SP_MODULE_LAYERNORM | 1U << SP_MODULE_MOE_ACT |
                   1U << SP_MODULE_MLA_UP_PROJ | 1U << SP_MODULE_SHARED_EXPERTS,
        .away = 1U << SP_AWAY_CORE_ATTN | 1U << SP_AWAY_ATTN_PROJ | 1U << SP_AWAY_EXPERT_FC1 |
                1U << SP_AWAY_MOE_ACT};
    compare("step --model llama3-8b --hw h100-8 --framework megatron --batch 64x8192 --tp 2 "
            "--micro-batch 2 --remat none",
            dense);
    compare("step --model llama3-70b --hw h100-64 --framework megatron --batch 128x8192 --tp 8 "
            "--pp 4 --micro-batch 2 --remat none",
            dense);
    compare("step --model deepseek-v3 --hw gb200-256 --framework megatron --batch 2048x4096 "
            "--pp 8 --ep 32 --micro-batch 1 --remat none --moe-overlap on",
            mixture);
    struct sp_kept_space ruled = dense;
    ruled.needs[SP_AWAY_ATTN_PROJ] = 1U << SP_AWAY_CORE_ATTN;
    ruled.keeps_inputs = true;
    compare("step --model llama3-8b --hw h100-8 --framework megatron --batch 64x8192 --tp 2 "
            "--micro-batch 2 --remat none",
            ruled);
}

/* The micro-batch and all else together: for each micro-batch the best choice, with memory to
 * spare; what is taken is the best of these, or a simpler one within a hundredth. */
static void with_micro_batch(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "step --model llama3-8b --hw h100-8 --framework megatron --batch 64x8192 --tp 2 ",
        "step --model llama3-70b --hw h100-64 --framework megatron --batch 128x8192 --tp 8 --pp 4 ",
        "step --model qwen3-30b-a3b --hw h100-16 --framework megatron --batch 256x4096 --ep 8 ",
        "step --model llama3-8b --hw v5p-16 --framework maxtext --batch 256x4096 "};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int fit = 0;
        for (int gb = 32; gb <= 96; gb += 16) {
            char line[LINE];
            struct sp_planned p;
            struct sp_kept_found found;
            struct sp_dimensions open = {0};
            double least = INFINITY;
            snprintf(line, sizeof line,
                     "%s--micro-batch 1 --remat none --set hw.chip.hbm_bytes=%de9", lines[i], gb);
            read_plan(line, &p);
            const struct sp_repertoire runs = sp_repertoire_of(&p, false);
            const struct sp_framework *const f = &p.framework.framework;
            const double most =
                sp_most_bytes(f->memory_residual, sp_capacity_bytes(&p.hw.chip), SP_VERDICT_YES);
            sp_open_dimensions(&p, &runs, false, &open);
            open.n_modules = sp_module_sets(&p.model, &runs.modules, open.modules);
            const struct sp_kept_space space = sp_kept_space_of(&open, &runs, true);
            struct sp_planned own;
            sp_copy_planned(&own, &p);
            const struct sp_step_inputs in = sp_inputs_of(&own);
            for (int64_t micro = 1; micro <= p.plan.batch / p.plan.dp; micro++) {
                own.plan.micro_batch = micro;
                if (p.plan.batch / p.plan.dp % micro == 0 &&
                    sp_choose_kept(&in, &space, most, &found))
                    least = fmin(least, found.step_s);
            }
            struct sp_said said = {.open_modules = true, .open_away = true, .runs = &runs};
            for (int field = 0; field < SP_PLAN_FIELDS; field++)
                said.given[field] = field != SP_FIELD_MICRO && field != SP_FIELD_REMAT &&
                                    field != SP_FIELD_MODULES && field != SP_FIELD_OFFLOAD &&
                                    field != SP_FIELD_OFFLOAD_MODULES &&
                                    field != SP_FIELD_OPTIMIZER_OFFLOAD;
            p.plan.micro_batch = 1;
            sp_resolve_settings(&said, &p);
            struct sp_stage_memory memory;
            const struct sp_step_inputs taken = sp_inputs_of(&p);
            const double step = sp_evaluate(&taken, &memory);
            if (!isfinite(least))
                continue;
            fit++;
            assert_true((double)memory.device <= most);
            assert_true(step >= least * (1 - 1e-12) && step <= 1.01 * least);
        }
        assert_true(fit >= 2);
    }
}

/* One choice for all stages, as launches have it, is the fastest of those that each stage has room
 * for: the first has most micro-batches in flight, the last has the head. */
static void every_stage(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "step --model llama3-70b --hw h100-64 --framework megatron --batch 128x8192 --tp 8 --pp 4 "
        "--micro-batch 2 --remat none",
        "step --model llama3-8b --hw h100-64 --framework megatron --batch 64x8192 --tp 1 --pp 8 "
        "--schedule gpipe --micro-batch 1 --remat none"};
    const struct sp_kept_space space = {.policy = {[SP_REMAT_NONE] = true, [SP_REMAT_FULL] = true},
                                        .modules = 1U << SP_MODULE_LAYERNORM | 1U << SP_MODULE_MLP,
                                        .away = 1U << SP_AWAY_QKV_LINEAR | 1U << SP_AWAY_CORE_ATTN |
                                                1U << SP_AWAY_ATTN_PROJ};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct sp_planned p;
        struct sp_kept_found found;
        double looked_at = 0;
        int fit = 0;
        read_plan(lines[i], &p);
        const struct sp_step_inputs in = sp_inputs_of(&p);
        const double all =
            (double)sp_memory_of_stage(&p.model, &p.precision, &p.plan, &p.framework.framework, 0)
                .device;
        for (double share = 0.3; share < 1; share += 0.05) {
            const double least = least_of_all(&p, &space, share * all, true, &looked_at);
            const bool any = sp_choose_kept(&in, &space, share * all, &found);
            assert_true(any == isfinite(least));
            if (any)
                assert_close(found.step_s, least, 0);
            fit += any;
        }
        assert_true(fit >= 3);
    }
}

/* With a given recomputation, only the plan itself remains, if it fits. */
static void given(void **state)
{
    struct sp_planned p;
    struct sp_kept_found all, none;
    (void)state;
    read_plan("step --model llama3-8b --hw h100-8 --framework megatron --batch 64x8192 --tp 2 "
              "--micro-batch 2 --remat full",
              &p);
    const struct sp_step_inputs in = sp_inputs_of(&p);
    const struct sp_kept_space own = {.is_given = true};
    assert_true(sp_choose_kept(&in, &own, INFINITY, &all));
    assert_close(all.step_s, sp_estimate_step(&in).step, 0);
    assert_false(sp_choose_kept(&in, &own, all.device_bytes - 1, &none));
}

/* NVIDIA/Megatron-LM PR 1752: the input of qkv offloaded frees 1,437.8 of 1,440 MB of a first
 * stage, whose step goes from 1,249.7 to 1,253.8 ms. Here: 4 micro-batches in flight of 20 layers,
 * each with 2 bytes for 8,192 tokens of 8,192 channels over 8 ranks. */
static void qkv_input(void **state)
{
    (void)state;
#define PLAN                                                                                       \
    "step --model llama3-70b --hw h100-64 --framework megatron --batch 128x8192 --tp 8 --pp 4 "    \
    "--micro-batch 1 --remat none "
    const double whole = 4. * 20 * 2 * 8192 * 8192 / 8;
    const double freed = ask_for(PLAN, "stages.0.activations_bytes") -
                         ask_for(PLAN "--offload-modules qkv_linear", "stages.0.activations_bytes");
    assert_close(freed / whole, 1437.8 / 1440, 0.1);
    assert_close(ask_for(PLAN "--offload-modules qkv_linear", "step_s") / ask_for(PLAN, "step_s"),
                 1253.8 / 1249.7, 0.1);
    assert_close(ask_for(PLAN "--offload-modules qkv_linear", "step_s") / ask_for(PLAN, "step_s"),
                 1253.8 / 1249.7, 0.01);
}

/* NVIDIA-NeMo/RL PR 3628, Qwen3-0.6B on an H100: 0.752 s, 1.187 with half of the optimizer on the
 * host and 1.678 with all of it. The last one gave the rate of the host, the middle one is a
 * prediction. */
static void half_of_the_optimizer(void **state)
{
    (void)state;
#define SMALL                                                                                      \
    "step --model qwen3-0.6b --hw h100-1 --framework megatron --batch 8x4096 --remat none "        \
    "--optimizer-offload "
    const double none = ask_for(SMALL "0", "step_s");
    assert_close(0.752 + ask_for(SMALL "0.5", "step_s") - none, 1.187, 0.1);
    assert_close(0.752 + ask_for(SMALL "1", "step_s") - none, 1.678, 0.1);
    assert_close(ask_for(SMALL "0.5", "memory.optimizer_bytes"),
                 ask_for(SMALL "0", "memory.optimizer_bytes") / 2, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan),  cmocka_unit_test(with_micro_batch),
        cmocka_unit_test(every_stage), cmocka_unit_test(given),
        cmocka_unit_test(qkv_input),   cmocka_unit_test(half_of_the_optimizer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
