/* The best of all plans of a model on a machine, and the plans one change away from one. */
#ifndef SCALEPLAN_SEARCH_H
#define SCALEPLAN_SEARCH_H

#include <scaleplan/plan.h>
#include <scaleplan/step.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == The search ==
 *
 * The best of all plans of a model on a machine: an exhaustive search with proven bounds.
 */

/* The plans that are looked at: every combination of the values that are open and pass
 * sp_check_plan, and beyond it
 *   - tp, cp, pp, dp multiply to the devices; dp x micro-batch divides the batch;
 *   - chunks (vpp) divide the layers of a stage;
 *   - etp is 1 or tp;
 *   - on a torus every way to lay tp over the axes, each part dividing its axis; axes of one length
 *     are alike;
 *   - sequence parallelism may be left out with tp > 1 only, placement differs on switched machines
 *     with pp > 1 and dp cp > 1 only, ZeRO and its shard groups (the divisors of dp cp) where dp cp
 *     is above 1 only: plans that are the same are counted once;
 *   - offload takes a known link to the host;
 *   - dispatchers and the overlap of the experts' exchange differ with ep > 1 only, and the overlap
 *     with several micro-batches; recipes of 8-bit matmuls where there are any. Where none of them
 *     is listed, the framework's own counts. */

/* A degree: the values that are allowed, none listed for all, and the largest. */
enum { SP_SEARCH_VALUES = 32 };
struct sp_degree {
    int n;
    int64_t value[SP_SEARCH_VALUES];
    int64_t most; /* 0: any */
};

enum sp_objective { SP_LEAST_STEP, SP_LEAST_MEMORY };

enum {
    SP_SEARCH_LISTED = 256,
    SP_SEARCH_SPLITS = 64,
    SP_SEARCH_FLOWS = 96,
    SP_SEARCH_TOP = 64,
    SP_SEARCH_BOXES = 24,
    SP_SEARCH_EXECUTIONS = 96
};

/* A schedule and its chunks. */
struct sp_flow {
    enum sp_schedule schedule;
    int64_t vpp;
};

/* A problem. Fill it, then sp_open_space. */
struct sp_search_space {
    struct sp_step_inputs in; /* its plan is put in place of */
    int64_t seq, batch;
    enum sp_dtype dtype;
    double imbalance, recompute_layers;
    struct sp_degree tp, pp, vpp, cp, ep, etp, dp, micro_batch, shards;
    bool zero[4], policy[SP_POLICIES], schedule[SP_SCHEDULES];
    bool sequence_parallel[2], offload[2], stages_inside[2], moe_overlap[2]; /* index: off, on */
    bool dispatch[SP_DISPATCHES], cuda_graph[SP_CUDA_GRAPHS], fp8_recipe[SP_FP8_RECIPES];
    double most_bytes; /* device bytes of a plan that counts */
    enum sp_objective objective;

    /* Found by sp_open_space: the model's lists, and values of the outer dimensions, in rising
     * order. */
    struct sp_layers layers;
    int n_divisor, n_tp, n_cp, n_ep, n_micro, n_pp, n_executions;
    int n_boxes; /* room for ways to lay TP over a torus; 1 on switched machines */
    struct sp_execution execution[SP_SEARCH_EXECUTIONS]; /* the framework's own first */
    int64_t divisor[SP_SEARCH_LISTED];                   /* of the devices */
    int64_t tps[SP_SEARCH_LISTED], cps[SP_SEARCH_LISTED], eps[SP_SEARCH_LISTED],
        micros[SP_SEARCH_LISTED], pps[SP_SEARCH_SPLITS];
    struct sp_stage_map maps[SP_SEARCH_SPLITS];
    int n_flow[SP_SEARCH_SPLITS];
    struct sp_flow flow[SP_SEARCH_SPLITS][SP_SEARCH_FLOWS];
};

/* Lists the values. The batch and the sequence must be positive. False when the machine or the
 * batch has more divisors than there is room for (SP_SEARCH_LISTED, SP_SEARCH_SPLITS,
 * SP_SEARCH_FLOWS), or the model's shape is not known. */
bool sp_open_space(struct sp_search_space *space);

/* Groups of plans that share tp and its axes, cp, ep, etp, micro-batch, sequence parallelism and
 * execution: what a search is divided into. */
uint64_t sp_search_groups(const struct sp_search_space *space);

/* Whether a group holds plans that are likely good: sequence parallelism where there is TP, experts
 * not divided by TP, the least context parallelism, the experts' exchange overlapped where it can
 * be.
 */
bool sp_is_likely_group(const struct sp_search_space *space, uint64_t group);

/* A plan that was found. Ordered by value and then by its place in the space, which no number of
 * threads or shards changes. */
struct sp_found {
    double value;  /* of the objective */
    double step_s; /* sp_estimate_step's, to the last bit */
    double bytes;  /* device bytes of the fullest stage: sp_fullest_stage's */
    uint64_t group, leaf;
    struct sp_plan plan;
};

/* Plans that no other beats in both step time and memory, the fastest first. */
enum { SP_SEARCH_FRONT = 512 };
struct sp_front {
    int n;
    bool full; /* there were more points than there is room for */
    struct sp_found found[SP_SEARCH_FRONT];
};

/* The best so far, best first. */
struct sp_best {
    int n, wanted;          /* at most SP_SEARCH_TOP */
    bool meshes;            /* at most one plan of each (tp, cp, pp, ep, etp) */
    struct sp_front *front; /* kept in place of the list; or NULL */
    struct sp_found found[SP_SEARCH_TOP];
};

/* Puts a plan in its place. At most SP_SEARCH_TOP plans must be wanted. */
void sp_keep(struct sp_best *best, const struct sp_found *found);
void sp_merge_best(struct sp_best *best, const struct sp_best *other);

/* What became of the plans; the last four add up to `total`. */
struct sp_search_counts {
    uint64_t total;
    uint64_t evaluated; /* memory and time */
    uint64_t no_memory; /* evaluated memory is over the limit: its time does not matter */
    uint64_t by_memory; /* a lower bound of a whole branch's memory is over the limit */
    uint64_t by_time;   /* a lower bound of a branch's objective is above what is kept already */
};
void sp_add_counts(struct sp_search_counts *counts, const struct sp_search_counts *other);

/* How sp_search_group looks through a group. */
struct sp_search_rule {
    bool exhaustive; /* evaluate everything; no bounds */
    bool seeding;    /* only the plans that are likely good, to find a first limit */
    double limit; /* value that enough plans elsewhere are known to reach; INFINITY: none known */
    const struct sp_front *known; /* points elsewhere, when a front is looked for; or NULL */
};

/* Looks through one group: plans that could be among the wanted ones go to `best`. What is there
 * already counts as known; counts depend on nothing else where it is empty. The group must be below
 * sp_search_groups. Bounds: sp_least_step_s for all plans of a policy, sp_least_staged_s and the
 * least memory (all states sharded, fewest micro-batches in flight) for all that share a split into
 * stages. */
void sp_search_group(const struct sp_search_space *space, uint64_t group,
                     const struct sp_search_rule *rule, struct sp_best *best,
                     struct sp_search_counts *counts);

/* The plan at a place of the space, evaluated; false when there is none. */
bool sp_plan_at(const struct sp_search_space *space, uint64_t group, uint64_t leaf,
                struct sp_found *found);

/*
 * == Neighbours ==
 *
 * Plans one change away from a plan, with what the estimator says of them.
 */

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
 * any); new stages or chunks take a schedule of it. The plan must pass sp_check_plan. Returns how
 * many. */
enum { SP_MAX_NEIGHBOURS = 96 };
size_t sp_find_neighbours(const struct sp_step_inputs *in, const struct sp_repertoire *runs,
                          struct sp_neighbour found[SP_MAX_NEIGHBOURS]);

/* Lists the changes after which a plan fits, the fastest first: another policy for all layers, a
 * higher ZeRO stage, a micro-batch halved until it is 1, and the least of two, four or eight times
 * the TP, stages or CP in place of replicas, with the states shared by all that are left. `runs` as
 * above. The plan must pass sp_check_plan. Returns how many. */
enum { SP_MAX_FIXES = 16 };
size_t sp_find_fixes(const struct sp_step_inputs *in, const struct sp_repertoire *runs,
                     struct sp_neighbour found[SP_MAX_FIXES]);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
