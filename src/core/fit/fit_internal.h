/* Shared by the files of the closed forms; not installed. */
#ifndef SP_FIT_INTERNAL_H
#define SP_FIT_INTERNAL_H

#include <scaleplan/fit.h>
#include <scaleplan/memory.h>

/* A strategy of degree 1 in everything, nothing judged yet. */
struct sp_strategy sp_new_strategy(enum sp_strategy_kind kind);

/* The terms for another machine of the same chips, `in->hw`; those of model, recipe and chip are
 * copied from `t`. */
struct sp_fit_terms sp_fit_terms_on(struct sp_fit_terms t, const struct sp_fit_input *in);

/* Calls `visit` with every mesh of a strategy, with degrees and bandwidths set but not loads. */
typedef void sp_mesh_visitor(struct sp_strategy *s, void *context);

/* The textbook's meshes: any factorisation whose TP degree passes sp_tp_divides. */
void sp_each_rule_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                       enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context);

/* Sets sequences and context parallelism of a strategy whose degrees are set, and ep to 1: whole
 * sequences on every replica, for a batch within 5 % with the least cp, else for the closest batch;
 * or the textbook's values. */
void sp_seat_sequences(struct sp_strategy *s, const struct sp_fit_input *in);

/* The next larger degree of expert parallelism that divides shards and experts; 0: none. */
int64_t sp_next_ep(const struct sp_fit_input *in, const struct sp_strategy *s, int64_t ep);

/* Adds the loads of context and expert parallelism to those of weights and TP. */
void sp_add_runs_loads(struct sp_strategy *s, const struct sp_fit_input *in,
                       const struct sp_fit_terms *t);

/* Whether the plan of a judged strategy is valid; true for the textbook's. */
bool sp_strategy_runs(const struct sp_fit_input *in, const struct sp_strategy *s);

/* Weights are gathered in 16 bits. */
#define SP_GATHERED_BYTES 2.0

/* Most micro-batches per replica: one per sequence, at least 1. */
int64_t sp_most_microbatches(double sequences);

/* Live bytes that fit on a chip under a strategy, without allocator slack and runtime. */
double sp_live_capacity(const struct sp_strategy *s, const struct sp_fit_terms *t);

/* Peak bytes of a micro-batch of `tokens` tokens without a pipeline: the larger of a layer's
 * backward pass and the loss. */
double sp_peak_of_tokens(const struct sp_strategy *s, double tokens);

/* Fills framework memory, bytes and the memory verdict; micro-batches and policy must be set. */
void sp_fill_memory(struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t);

/* The layers of the input's model: those it has, or listed in `room`. */
const struct sp_layers *sp_layers_of_fit(const struct sp_fit_input *in, struct sp_layers *room);

/* A model's layers on a device under a strategy's degrees. */
struct sp_strategy_layers {
    const struct sp_framework *framework; /* NULL: unknown, nothing is listed */
    struct sp_layers layers;              /* unless the input has them */
    struct sp_rank_layers mine;           /* of the input's layers, or these */
};
void sp_list_strategy(const struct sp_strategy *s, const struct sp_fit_input *in,
                      struct sp_strategy_layers *listed);

/* Fills micro-batches, bytes and the memory verdict; degrees, chunks, policy and keeps_weights must
 * be set. */
void sp_judge_memory(struct sp_strategy *s, const struct sp_fit_input *in,
                     const struct sp_fit_terms *t, const struct sp_strategy_layers *listed);

/* Sets the framework's memory and the unevenness of the fullest stage; degrees and policy must be
 * set. Without a framework, unevenness counts whole layers only. */
void sp_judge_stages(struct sp_strategy *s, const struct sp_fit_input *in,
                     const struct sp_fit_terms *t, const struct sp_strategy_layers *listed);

/* Whether replicas hold whole weights, so that none are gathered. */
bool sp_is_whole(const struct sp_strategy *s);

/* Loads of all links for the strategy's degrees. */
void sp_judge_loads(struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t);

/* Times of a strategy; loads, micro-batches, gathers and unevenness must be set. */
void sp_judge_times(struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t);

/* Fills loads, times, memory and verdicts of a strategy whose degrees and bandwidths are set. */
void sp_judge(struct sp_strategy *s, const struct sp_fit_input *in, const struct sp_fit_terms *t);

/* The same, without the stages of a plan, if the strategy ranks above `rival`; else it need not
 * exist. A pipeline gets the interleaving depth in 1 .. L/p with the shortest step. NULL: no rival.
 */
void sp_judge_against(struct sp_strategy *s, const struct sp_fit_input *in,
                      const struct sp_fit_terms *t, const struct sp_strategy *rival);

/* The same of the interleaving depth that is set. */
void sp_judge_depth(struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t, const struct sp_strategy *rival);

/* The least of a figure of the loads over the degrees of expert parallelism, with one gather a
 * step: a bound that needs no memory. */
double sp_least_of_loads(struct sp_strategy s, const struct sp_fit_input *in,
                         const struct sp_fit_terms *t,
                         double of(const struct sp_strategy *, const struct sp_fit_terms *,
                                   enum sp_overlap));

/* Whether a rival ranks above the strategy, whatever its memory: it alone runs, or it fits and is
 * faster than the strategy can be. */
bool sp_ranks_below(const struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t, const struct sp_strategy *rival);

/* Sets what sp_judge_against leaves out. */
void sp_judge_kept(struct sp_strategy *s, const struct sp_fit_input *in,
                   const struct sp_fit_terms *t);

/* Load if collectives take turns; the levels of a switched network still pipeline. */
double sp_serial_load(const double link[SP_LINKS]);

/* Whether `a` ranks above `b`: see sp_fit_best. */
bool sp_better(const struct sp_strategy *a, const struct sp_strategy *b);

/* Whether a mesh is worth laying out, with rates of its groups that no layout exceeds. */
typedef bool sp_mesh_hope(const struct sp_strategy *s, const void *context);

/* Calls `visit` with given degrees on switches, or with every layout on the axes of slices that no
 * other layout beats. */
void sp_each_given_mesh(const struct sp_fit_input *in, const struct sp_degrees *degrees,
                        sp_mesh_hope *hopes, sp_mesh_visitor *visit, void *context);

/* All products of degrees of the strategies in `allowed` that the machine's axes or switches hold.
 */
void sp_each_real_mesh(const struct sp_fit_input *in, unsigned allowed, sp_mesh_hope *hopes,
                       sp_mesh_visitor *visit, void *context);

/* Stages that lie in different slices: the greatest common divisor. */
int64_t sp_stages_of_slices(int64_t stages, int64_t slices);

#endif
