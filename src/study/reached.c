/* A collective over growing parts of a machine: as measured on its network, else through the
 * estimator's own. */
#include "study/reached.h"

#include <math.h>

#include <scaleplan/network.h>
#include <scaleplan/step.h>

/* Only replicas: the question of `step --curve` about the network. */
static double reached_s(const struct sp_hardware *hw, const struct sp_framework *framework,
                        const struct sp_profile *profile, enum sp_collective op, double bytes)
{
    const struct sp_model model = {.layers = 1};
    const struct sp_precision precision = {.weight_bytes = 2, .grad_bytes = 2};
    const struct sp_plan plan = {.execution = framework->execution,
                                 .dp = sp_chips(hw),
                                 .shards = 1,
                                 .tp = 1,
                                 .pp = 1,
                                 .vpp = 1,
                                 .cp = 1,
                                 .ep = 1,
                                 .etp = 1};
    const struct sp_step_inputs in = {&model, hw, &precision, framework, profile, &plan, NULL};
    const double all_reduce = sp_all_reduce_s(&in, bytes);
    return op == SP_ALL_REDUCE ? all_reduce : all_reduce / 2;
}

int sp_reached_over_nodes(const struct sp_hardware *hw, const char *framework,
                          const struct sp_sources *sources, enum sp_collective op, double bytes,
                          struct sp_reached *rows, int room, struct sp_error *error)
{
    const int64_t all = sp_chips(hw);
    struct sp_framework_file file;
    struct sp_profile profile;
    bool own;
    int n = 0;
    if (!sp_load_framework(framework, sources, &file, error) ||
        !sp_load_stack(hw, &file.framework, sources, &profile, &own, error))
        return -1;
    for (int64_t chips = hw->network.domain < all ? hw->network.domain : all;
         chips <= all && n < room; chips = 2 * chips < all || chips == all ? 2 * chips : all) {
        struct sp_hardware part = *hw;
        if (!sp_take_slice(&part, chips))
            continue;
        const struct sp_device_group group = sp_machine_group(&part);
        const struct sp_collective_time alone = sp_time_of_collective(op, bytes, &group);
        rows[n++] = (struct sp_reached){
            .devices = (double)chips,
            .bound_s = alone.throughput_s,
            .time_s = alone.curve.share > 0
                          ? alone.time_s
                          : reached_s(&part, &file.framework, &profile, op, bytes),
        };
    }
    return n;
}
