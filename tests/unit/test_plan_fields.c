/* The table of a plan's fields: each value is stored in its own member. */
#include "check.h"

#include <string.h>

#include <scaleplan/names.h>
#include <scaleplan/plan.h>
#include <scaleplan/profile.h>

static void fields_lie_where_their_names_say(void **state)
{
    (void)state;
    struct sp_plan p = {.dp = 2,
                        .shards = 3,
                        .tp = 4,
                        .pp = 5,
                        .vpp = 6,
                        .cp = 7,
                        .ep = 8,
                        .etp = 9,
                        .zero = 3,
                        .micro_batch = 10,
                        .sequence_parallel = true,
                        .recompute = {.core = 1, .offload = true, .modules = 5, .away = 130},
                        .optimizer_away = 0.75,
                        .offload_layers = 11,
                        .first_layers = 12,
                        .last_layers = 13,
                        .execution = {SP_DISPATCH_HYBRIDEP, true, SP_CUDA_GRAPH_FULL,
                                      SP_FP8_ROWWISE, SP_KERNEL_UNFUSED, SP_LOGITS_CHUNKED,
                                      SP_DP_OVERLAP_GRADIENTS, 0.25, SP_CP_ULYSSES, 1.25},
                        .recompute_layers = 0.5,
                        .schedule = SP_ZB_H2,
                        .dtype = SP_FP8,
                        .imbalance = 1.5,
                        .stages_inside = true};
    static const struct {
        const char *name;
        double value;
    } known[] = {{"dp", 2},
                 {"fsdp", 3},
                 {"tp", 4},
                 {"pp", 5},
                 {"vpp", 6},
                 {"cp", 7},
                 {"ep", 8},
                 {"etp", 9},
                 {"zero", 3},
                 {"micro-batch", 10},
                 {"sp", 1},
                 {"remat", 1},
                 {"offload", 1},
                 {"schedule", 5},
                 {"dtype", 4},
                 {"imbalance", 1.5},
                 {"placement", 1},
                 {"remat-layers", 0.5},
                 {"tp-axes", NAN},
                 {"offload-layers", 11},
                 {"stage-layers", NAN},
                 {"first-layers", 12},
                 {"last-layers", 13},
                 {"recompute-modules", 5}, /* the first and the third */
                 {"offload-modules", 130}, /* the second and the last */
                 {"optimizer-offload", 0.75},
                 {"dispatch", 2},
                 {"moe-overlap", 1},
                 {"cuda-graph", 2},
                 {"fp8-recipe", 3},
                 {"attention-kernel", 1},
                 {"cp-kind", 2},
                 {"logits", 2},
                 {"dp-overlap", 1},
                 {"dropout", 0.25},
                 {"capacity", 1.25}};
    assert_int_equal(SP_PLAN_FIELDS, sizeof known / sizeof *known);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int at = 0;
        while (at < SP_PLAN_FIELDS && strcmp(sp_plan_fields[at].name, known[i].name) != 0)
            at++;
        assert_int_not_equal(at, SP_PLAN_FIELDS);
        assert_close(sp_plan_value(&p, &sp_plan_fields[at]), known[i].value, 0);
    }
}

static void a_value_put_in_changes_its_field_alone(void **state)
{
    (void)state;
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        const struct sp_plan_field *const field = &sp_plan_fields[i];
        struct sp_plan p = {.recompute = {.offload = field->kind != SP_PLAN_SWITCH}}, before = p;
        if (field->kind == SP_PLAN_AXES || field->kind == SP_PLAN_STAGES)
            continue;
        sp_set_plan_value(&p, field, 1);
        assert_close(sp_plan_value(&p, field), 1, 0);
        for (int k = 0; k < SP_PLAN_FIELDS; k++)
            if (k != i)
                assert_close(sp_plan_value(&p, &sp_plan_fields[k]),
                             sp_plan_value(&before, &sp_plan_fields[k]), 0);
    }
}

/* Shares that match no policy: half of the attention core. */
static void shares_of_no_policy_have_no_name(void **state)
{
    (void)state;
    const struct sp_plan p = {.recompute = {.core = 0.5}};
    assert_true(isnan(sp_plan_value(&p, &sp_plan_fields[SP_FIELD_REMAT])));
}

static void names_are_those_of_the_policies(void **state)
{
    (void)state;
    for (int i = 0; i < SP_POLICIES; i++)
        assert_ptr_equal(sp_find_policy(sp_policy_names[i]), &sp_policies[i]);
    assert_null(sp_policy_names[SP_POLICIES]);
    assert_null(sp_schedule_names[SP_SCHEDULES]);
    assert_null(sp_dtype_names[SP_DTYPES]);
    assert_null(sp_module_names[SP_MODULES]);
    assert_null(sp_dispatch_names[SP_DISPATCHES]);
    assert_null(sp_cuda_graph_names[SP_CUDA_GRAPHS]);
    assert_null(sp_fp8_recipe_names[SP_FP8_RECIPES]);
    assert_null(sp_attention_kernel_names[SP_ATTENTION_KERNELS]);
    assert_null(sp_cp_kind_names[SP_CP_KINDS]);
    assert_null(sp_cp_gather_names[SP_CP_GATHERS]);
    assert_null(sp_logits_names[SP_LOGITS_KINDS]);
    assert_null(sp_dp_overlap_names[SP_DP_OVERLAPS]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_lie_where_their_names_say),
        cmocka_unit_test(a_value_put_in_changes_its_field_alone),
        cmocka_unit_test(shares_of_no_policy_have_no_name),
        cmocka_unit_test(names_are_those_of_the_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
