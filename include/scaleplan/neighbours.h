/* Plans one change away from a plan, with what the estimator says of them. */
#ifndef SCALEPLAN_NEIGHBOURS_H
#define SCALEPLAN_NEIGHBOURS_H

#include <scaleplan/plan_fields.h>
#include <scaleplan/step.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What a framework runs: the names that a changed plan may take. */
struct sp_repertoire {
    bool zero[4], policy[SP_POLICIES], schedule[SP_SCHEDULES];
    bool pipelines, offload, moe_overlap;
    bool dispatch[SP_DISPATCHES];
};

/* A changed plan. */
struct sp_neighbour {
    struct sp_plan plan;
    int changes; /* 1, or 2 where a factor moved from the first field to the second; and a schedule
                  */
    enum sp_plan_field_id field[3];
    double step_s;
    double device_bytes; /* of the fullest stage */
    bool fits;
};

/* Lists the valid plans one step from in->plan, the fastest first: a factor of two moved between
 * two degrees, a number twice or half as large, another of a field's names (the column `near` of
 * sp_plan_fields). What depends on a degree follows: the states stay shared by as large a part of
 * the replicas, without stages there are no chunks, TP keeps its sequence parallelism. A schedule,
 * recomputation, ZeRO stage or offload that the plan has not already is one that `runs` has (NULL:
 * any); new stages or chunks take a schedule of it. Returns how many. */
enum { SP_MAX_NEIGHBOURS = 96 };
size_t sp_find_neighbours(const struct sp_step_inputs *in, const struct sp_repertoire *runs,
                          struct sp_neighbour found[SP_MAX_NEIGHBOURS]);

/* Lists the changes after which a plan fits, the fastest first: another policy for all layers, a
 * higher ZeRO stage, a micro-batch halved until it is 1, and the least of two, four or eight
 * times the TP, stages or CP in place of replicas, with the states shared by all that are left.
 * `runs` as above. Returns how many. */
enum { SP_MAX_FIXES = 16 };
size_t sp_find_fixes(const struct sp_step_inputs *in, const struct sp_repertoire *runs,
                     struct sp_neighbour found[SP_MAX_FIXES]);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
