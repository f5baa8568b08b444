/* Search over all plans of a model on a machine, and neighbours of a plan. */
#ifndef SCALEPLAN_SEARCH_H
#define SCALEPLAN_SEARCH_H

#include <scaleplan/plan.h>
#include <scaleplan/step.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Known ground ==
 *
 * How far a plan is from any measured run.
 */

/* Places of measured runs. */
struct sp_ground {
    size_t n;
    const struct sp_place *places;
};

/* Octaves to the nearest of them; 0 if no run has a model of this kind, because then no plan is
 * nearer than another. */
double sp_octaves_away(const struct sp_ground *ground, const struct sp_place *place);

/* Standard deviation (of the logarithm) that the error of the step gains per octave from measured
 * runs: between pairs of measured runs of one series (publication, stack, model, devices), with
 * their publication left out of the fit, the difference of the errors grows as sqrt(a^2 + (0.04
 * octaves)^2); tests/tools/ground.c. */
#define SP_ERROR_PER_OCTAVE 0.036

/* Mean of the largest of 14 standard normal numbers: the error may grow in either direction of each
 * dimension, and a search ends where the estimate is the most optimistic. Harter 1961, "Expected
 * values of normal order statistics", table 1. */
#define SP_BEST_OF_DIRECTIONS 1.7034

/* Expected over estimated step time (at least 1) of the best of many plans, by their octaves from
 * measured runs. */
double sp_doubt(double octaves);

/*
 * == The search ==
 *
 * Finds the best of all plans; bounds skip only plans that cannot win.
 */

/* The searched plans: all combinations of open values that pass sp_check_plan, and
 *   - tp cp pp dp equals the devices; dp x micro-batch divides the batch;
 *   - chunks (vpp) divide the layers of a stage;
 *   - etp is 1 or tp;
 *   - on a torus, TP takes a divisor of each axis; axes of equal length are alike;
 *   - no option varies if it has no effect: sequence parallelism needs tp > 1; placement needs
 *     switches, pp > 1 and dp cp > 1; ZeRO and shard groups (divisors of dp cp) need dp cp > 1;
 *     dispatchers and overlap of the expert exchange need ep > 1, overlap several micro-batches
 *     too; kinds of CP need cp > 1, and dynamic needs documents; 8-bit recipes need 8-bit matmuls.
 * Without a list, the framework's own option is used;
 *   - offload needs a known host link. */

/* Allowed values of a degree, none listed for all, and the largest. */
enum { SP_SEARCH_VALUES = 32 };
struct sp_degree {
    int n;
    int64_t value[SP_SEARCH_VALUES];
    int64_t most; /* 0: no limit */
};

enum sp_objective { SP_LEAST_STEP, SP_LEAST_MEMORY };

enum {
    SP_SEARCH_LISTED = 256,
    SP_SEARCH_SPLITS = 64,
    SP_SEARCH_FLOWS = 96,
    SP_SEARCH_TOP = 64,
    SP_SEARCH_BOXES = 24,
    SP_SEARCH_EXECUTIONS = 4 * 128
};

/* A schedule with its number of chunks. */
struct sp_flow {
    enum sp_schedule schedule;
    int64_t vpp;
};

/* The choices open to sp_choose_kept. */
struct sp_kept_space {
    bool policy[SP_POLICIES]; /* recomputations */
    unsigned modules;         /* under the policy none each of these too (bits of sp_module) */
    bool is_given;            /* none of those: the plan's own recomputation */
    unsigned away; /* tensors that may wait in host memory independently (bits of sp_away); 0:
                      as in the plan */
    unsigned needs[SP_AWAYS]; /* tensors that wait there whenever one of them does */
    bool keeps_inputs;        /* the inputs of layers that are recomputed whole do not wait there */
    int optimizer_parts; /* the hosts' share of the optimizer is 0, 1/n, ... 1; 0: the plan's */
    double most_s;       /* longest step of interest; 0: any */
};

/* Allowed values of fields that are not degrees. */
struct sp_dimensions {
    struct sp_overlap_limits overlap;
    enum sp_rounds rounds;
    bool zero[4], policy[SP_POLICIES], schedule[SP_SCHEDULES];
    int n_modules;
    unsigned modules[SP_MODULES]; /* sets of modules recomputed under the policy none */
    bool sequence_parallel[2], offload[2], stages_inside[2], moe_overlap[2]; /* off, on */
    bool copies_kv_heads; /* Ulysses may put copies of a KV head on several ranks */
    bool dispatch[SP_DISPATCHES], cuda_graph[SP_CUDA_GRAPHS], fp8_recipe[SP_FP8_RECIPES],
        cp_kind[SP_CP_KINDS];
    bool chooses_kept; /* one more way to recompute: the best that sp_choose_kept finds of `kept`
                          for the rest of the plan and the limit of memory */
    struct sp_kept_space kept;
};

/* A search problem. Fill it, then call sp_open_space. */
struct sp_search_space {
    struct sp_step_inputs in; /* the plan is ignored */
    int64_t seq, batch;
    enum sp_dtype dtype;
    double imbalance, recompute_layers;
    struct sp_degree tp, pp, vpp, cp, ep, etp, dp, micro_batch, shards;
    struct sp_dimensions open;
    bool whole_axes;   /* on a torus TP takes whole axes */
    bool even_stages;  /* only numbers of stages that divide the layers (sp_even_layers) */
    double most_bytes; /* limit of device bytes */
    enum sp_objective objective;
    const struct sp_ground *ground; /* measured runs: steps are ranked by their expected time
                                       there (sp_doubt), and of plans within SP_SIMPLER the
                                       simplest is known; NULL: ranked by the estimate alone */

    /* Decides whether a plan counts; called only for plans that would be kept; NULL: every plan
     * counts. May be called from several threads at once. */
    bool (*admits)(const struct sp_plan *plan, const void *context);
    const void *context;

    /* Set by sp_open_space: the model's lists, and the values of the outer loops in rising
     * order. */
    struct sp_layers layers;
    int n_divisor, n_tp, n_cp, n_ep, n_micro, n_pp, n_executions;
    int n_boxes; /* ways to place TP on a torus; 1 with switches */
    struct sp_execution execution[SP_SEARCH_EXECUTIONS]; /* the framework's own first */
    int64_t divisor[SP_SEARCH_LISTED];                   /* divisors of the number of devices */
    int64_t tps[SP_SEARCH_LISTED], cps[SP_SEARCH_LISTED], eps[SP_SEARCH_LISTED],
        micros[SP_SEARCH_LISTED], pps[SP_SEARCH_SPLITS];
    struct sp_stage_map maps[SP_SEARCH_SPLITS];
    /* flows whose stages are one chunk come first, those with chunks (vpp) last */
    int n_flow[SP_SEARCH_SPLITS], n_whole[SP_SEARCH_SPLITS], n_chunked[SP_SEARCH_SPLITS];
    struct sp_flow flow[SP_SEARCH_SPLITS][SP_SEARCH_FLOWS];
};

/* Whether a plan may recompute these operators. A plan that hides the exchange of experts does not
 * recompute whole layers: that backward pass has no part of the forward pass to hide it
 * (Megatron-Core refuses it). DualPipe has another micro-batch's forward pass there. The plan's
 * degrees, schedule and execution options count. */
bool sp_may_recompute(const struct sp_plan *plan, const struct sp_recompute *recompute);

/* The `at`-th way to recompute, policies first, then sets of modules; false if the dimensions do
 * not allow it, or sp_may_recompute. There are SP_POLICIES + SP_MODULES. */
enum { SP_WAYS_TO_RECOMPUTE = (int)SP_POLICIES + (int)SP_MODULES };
bool sp_recompute_at(const struct sp_dimensions *open, const struct sp_plan *plan, int at,
                     struct sp_recompute *recompute);

/* Lists the values. The batch and the sequence must be positive. False if the machine or batch has
 * more divisors than SP_SEARCH_LISTED, SP_SEARCH_SPLITS or SP_SEARCH_FLOWS hold, or the model has
 * no shape. */
bool sp_open_space(struct sp_search_space *space);

/* Number of groups, the units of work of a search: plans with the same tp and axes, cp, ep, etp,
 * micro-batch, sequence parallelism and execution options. */
uint64_t sp_search_groups(const struct sp_search_space *space);

/* Whether a group probably has good plans: sequence parallelism with TP, experts not divided by TP,
 * least context parallelism, overlapped expert exchange if possible. */
bool sp_is_likely_group(const struct sp_search_space *space, uint64_t group);

/* How much more than the best expected step a simpler plan may take: less than the noise of one
 * machine's runs (1 to 2 %). */
#define SP_SIMPLER 1.01

/* A plan's complexity, compared in this order: the kinds of parallelism (TP, stages, CP, EP), the
 * stages, recomputed modules and offload, chunks. */
uint64_t sp_plan_complexity(const struct sp_plan *plan);

/* A plan found. Ordered by value, then by place in the space, so that the result does not depend on
 * the number of threads or shards. */
struct sp_found {
    double value;  /* the objective; of a step with `ground` times sp_doubt */
    double step_s; /* equal to sp_estimate_step's in every bit */
    double bytes;  /* device bytes of the fullest stage */
    uint64_t group, leaf;
    struct sp_plan plan;
};

/* The Pareto front of step time and memory, fastest first. */
enum { SP_SEARCH_FRONT = 512 };
struct sp_front {
    int n;
    bool full; /* there were more points than room */
    struct sp_found found[SP_SEARCH_FRONT];
};

/* The best plans so far, best first. */
enum { SP_SEARCH_SIMPLE = 64 };
struct sp_best {
    int n, wanted;          /* wanted: at most SP_SEARCH_TOP */
    bool meshes;            /* keep one plan per (tp, cp, pp, ep, etp) */
    struct sp_front *front; /* filled instead of the list; or NULL */
    bool grounded;          /* keep the next two */
    int n_simple;
    struct sp_found found[SP_SEARCH_TOP];
    struct sp_found simple[SP_SEARCH_SIMPLE]; /* no plan is both simpler and better, best first */
    struct sp_found fastest;                  /* by the estimate alone; step_s 0: none yet */
};

/* Inserts a plan. At most SP_SEARCH_TOP plans must be requested. */
void sp_keep(struct sp_best *best, const struct sp_found *found);
void sp_merge_best(struct sp_best *best, const struct sp_best *other);

/* Makes the simplest plan within SP_SIMPLER of the best the first of the list; only for a
 * grounded list with a plan. */
void sp_put_simplest_first(struct sp_best *best);

/* Outcomes of plans; the last four add up to `total`. */
struct sp_search_counts {
    uint64_t total;
    uint64_t evaluated; /* memory and time computed */
    uint64_t no_memory; /* memory above the limit, or of a choice as fast as needed; time not
                           computed */
    uint64_t by_memory; /* in a branch whose lower bound of memory is above the limit */
    uint64_t by_time;   /* in a branch whose lower bound of the objective is above the best kept */
};
void sp_add_counts(struct sp_search_counts *counts, const struct sp_search_counts *other);

/* How sp_search_group searches. */
struct sp_search_rule {
    bool exhaustive;       /* evaluate every plan, without bounds */
    bool seeding;          /* only probably good plans, to find a first limit */
    double limit;          /* value that enough plans elsewhere reach; INFINITY: none known */
    double least, fastest; /* with `ground`: least value and step elsewhere; INFINITY: none known */
    const struct sp_front *known; /* points found elsewhere in a search for a front; or NULL */
};

/* Searches one group and inserts plans into `best`, whose content also bounds the search; with an
 * empty `best`, counts depend only on the group and rule. The group must be below
 * sp_search_groups. Bounds: sp_least_step_s for all plans of a policy; sp_least_staged_s and the
 * least memory (all states sharded, fewest micro-batches in flight) for plans with the same split
 * into stages. */
void sp_search_group(const struct sp_search_space *space, uint64_t group,
                     const struct sp_search_rule *rule, struct sp_best *best,
                     struct sp_search_counts *counts);

/* Evaluates the plan at a place of the space; false if there is none. */
bool sp_plan_at(const struct sp_search_space *space, uint64_t group, uint64_t leaf,
                struct sp_found *found);

/*
 * == Neighbours ==
 *
 * Plans one change away from a plan, with their estimates.
 */

/* The names that a framework supports, and that a changed plan may use. */
struct sp_repertoire {
    bool zero[4], policy[SP_POLICIES], schedule[SP_SCHEDULES];
    struct sp_module_ladder modules;
    unsigned away; /* tensors that it can keep in host memory separately: bits of sp_away */
    unsigned away_needs[SP_AWAYS]; /* tensors that wait there together with one of these */
    bool optimizer_away;           /* it can also keep a share of the optimizer there */
    bool splits_axes;              /* on a torus TP can take parts of axes */
    bool own_stages;               /* the layers of each stage can be set */
    bool pipelines, uneven_stages, contexts, offload, moe_overlap, copies_kv_heads;
    bool sequence_parallel[2]; /* off, on */
    bool dispatch[SP_DISPATCHES], cp_kind[SP_CP_KINDS];
    struct sp_overlap_limits overlap;
    enum sp_rounds rounds;
};

/* A changed plan. */
struct sp_neighbour {
    struct sp_plan plan;
    int changes; /* 1, or 2 if a factor moved between two fields or a schedule changed with its
                    chunks */
    enum sp_plan_field_id field[3];
    double step_s;
    double device_bytes; /* of the fullest stage */
    enum sp_verdict verdict;
};

/* Fills the fields that a change leaves open if the plan came from typed options, not from a point
 * of a space: sets the other fields of changed->plan; false if the change makes no plan. `of` is
 * the callback's own data. */
struct sp_settling {
    bool (*settle)(void *of, struct sp_neighbour *changed);
    void *of;
};

/* Lists the valid plans one step from in->plan, fastest first; returns their number. A step moves a
 * factor of two between two degrees, doubles or halves a number, or takes another name (column
 * `near` of sp_plan_fields). Dependent fields follow: the sharded share of replicas is kept, one
 * stage has one chunk, TP keeps its sequence parallelism. New schedules, recomputation, ZeRO stages
 * and offload are limited to `runs` (NULL: any); new stages or chunks use one of its schedules.
 * `settling` (NULL: none) has the last word on the fields that did not change. The plan must pass
 * sp_check_plan. */
enum { SP_MAX_NEIGHBOURS = 96 };
size_t sp_find_neighbours(const struct sp_step_inputs *in, const struct sp_repertoire *runs,
                          const struct sp_settling *settling,
                          struct sp_neighbour found[SP_MAX_NEIGHBOURS]);

/* Lists changes that make a plan fit, fastest first; returns their number: another policy for all
 * layers, a higher ZeRO stage, the micro-batch halved down to 1, or the least of 2, 4 or 8 times
 * more TP, stages or CP instead of replicas, with states shared by the remaining replicas. `runs`
 * and `settling` as above. The plan must pass sp_check_plan. */
enum { SP_MAX_FIXES = 16 };
size_t sp_find_fixes(const struct sp_step_inputs *in, const struct sp_repertoire *runs,
                     const struct sp_settling *settling, struct sp_neighbour found[SP_MAX_FIXES]);

/*
 * == Kept, recomputed, or in host memory ==
 *
 * A plan's activations by module, and a share of its optimizer.
 */

struct sp_kept_found {
    struct sp_recompute recompute;
    double optimizer_away;
    double step_s, device_bytes; /* of the fullest stage */
};

/* The choices open to a framework: all modules of the dimensions; with `moves` also tensors and a
 * share of the optimizer. */
struct sp_repertoire;
struct sp_kept_space sp_kept_space_of(const struct sp_dimensions *open,
                                      const struct sp_repertoire *runs, bool moves);

/* Finds the least step of all choices that need at most `most_bytes`, and among equal ones that
 * with the least memory; false: there is none. Exact, for all stages alike: tries recomputations in
 * the order of their steps until one alone takes longer than the best; with each it tries every set
 * of tensors except supersets of a sufficient one, because copies never shorten a step. The plan
 * must pass sp_check_plan. */
bool sp_choose_kept(const struct sp_step_inputs *in, const struct sp_kept_space *space,
                    double most_bytes, struct sp_kept_found *found);

/*
 * == Layouts ==
 *
 * The layers of each stage with which a plan's step is the shortest.
 */

/* A layout, with its step and the device bytes of its fullest stage. */
struct sp_layout_found {
    struct sp_own_stages own;
    double step_s, device_bytes;
};

/* Workspace of sp_layout_room_bytes. */
struct sp_layout_room;
size_t sp_layout_room_bytes(void);

/* Finds the layout with the least step among those that need at most `most_bytes`, and among equals
 * the one with the least memory. Each stage has consecutive layers, at least one in every chunk but
 * the last, and in the first of stages with one chunk. None: no step is below than_s (INFINITY:
 * any). Unknown: more than SP_OWN_STAGES stages or 256 layers, a model that runs alongside the
 * trained one, or too little room. The plan must pass sp_check_plan. Its own layers of stages are
 * ignored. */
enum sp_layout_outcome { SP_LAYOUT_FOUND, SP_LAYOUT_NONE, SP_LAYOUT_UNKNOWN };
enum sp_layout_outcome sp_find_layout(const struct sp_step_inputs *in, double most_bytes,
                                      double than_s, struct sp_layout_room *room,
                                      struct sp_layout_found *found);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
