/* Collectives of a layer under TP with sequence parallelism: a gather and a scatter each of two
 * blocks in both passes, and the inputs again where a first matmul learns, by adapters of any rank
 * too. */
#include "asked.h"

#include <scaleplan/estimate.h>
#include <scaleplan/layer.h>

#include "cli/plan_options.h"
#include "core/step/step_internal.h"

static double collectives_of(const char *more)
{
    static char copy[LINE];
    static struct sp_args args;
    static struct sp_planned p;
    static struct sp_layers layers;
    struct sp_error error = {0};
    char line[LINE];
    snprintf(line, sizeof line,
             "step --model llama3-8b --hw h100-8 --batch 16x4096 --tp 2 --micro-batch 1 --remat "
             "none%s",
             more);
    read_line(line, copy, &args);
    const struct sp_sources sources = sp_sources_of(&args);
    if (!sp_plan_of(&args, &sources, &p, &error))
        fail_msg("%s: %s", line, error.text);
    const struct sp_step_inputs in = sp_inputs_of(&p);
    sp_list_model(&p.model, &layers);
    return sp_tp_collectives(&in, &layers.list[SP_LAYER_DENSE]);
}

static void inputs_that_learn(void **state)
{
    (void)state;
    assert_close(collectives_of(""), 4 * 2 + 2, 0);
    assert_close(collectives_of(" --sp off"), 2 * 2, 0);
    for (int rank = 1; rank <= 4; rank++) {
        char more[80];
        snprintf(more, sizeof more, " --lora-rank %d", rank);
        assert_close(collectives_of(more), 4 * 2 + 2, 0);
        snprintf(more, sizeof more, " --lora-rank %d --lora-targets q,k,v", rank);
        assert_close(collectives_of(more), 4 * 2 + 1, 0);
        snprintf(more, sizeof more, " --lora-rank %d --lora-targets down", rank);
        assert_close(collectives_of(more), 4 * 2, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inputs_that_learn)};
    return cmocka_run_group_tests_name("adapters", tests, NULL, NULL);
}
