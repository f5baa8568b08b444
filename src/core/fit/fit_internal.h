/* Shared by the files of the closed forms; not installed. */
#ifndef SP_FIT_INTERNAL_H
#define SP_FIT_INTERNAL_H

#include <scaleplan/fit.h>
#include <scaleplan/memory.h>

/* A strategy of degree 1 in everything, nothing judged yet. */
struct sp_strategy sp_new_strategy(enum sp_strategy_kind kind);

/* The terms of the same question on another machine of the same chips, `in->hw`: what the model,
 * the recipe and the chip give is taken from `t`. */
struct sp_fit_terms sp_fit_terms_on(struct sp_fit_terms t, const struct sp_fit_input *in);

/* Calls `visit` with every mesh of a strategy, its degrees and bandwidths set, its loads not. */
typedef void sp_mesh_visitor(struct sp_strategy *s, void *context);

/* The textbook's meshes: any factorisation whose TP degree passes sp_tp_divides. */
void sp_each_rule_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                       enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context);

/* Meshes on the machine's real axes. */
void sp_each_real_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                       enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context);

/* Bytes of a gathered weight: communication is in 16 bit. */
#define SP_GATHERED_BYTES 2.0

/* The most micro-batches that so many sequences of a replica make: one each, at least 1. */
int64_t sp_most_microbatches(double sequences);

/* Live bytes that a chip has room for under a strategy: beside its slack and its runtime. bytes. */
double sp_live_capacity(const struct sp_strategy *s, const struct sp_fit_terms *t);

/* Peak of a micro-batch of so many tokens without a pipeline: the longer of a layer's backward pass
 * and the loss. bytes. */
double sp_peak_of_tokens(const struct sp_strategy *s, double tokens);

/* Fills what the framework keeps, then the bytes and the verdict on memory, of a strategy whose
 * micro-batches and policy are set. */
void sp_fill_memory(struct sp_strategy *s, const struct sp_fit_input *in,
                    const struct sp_fit_terms *t);

/* A model's layers on a device of a strategy: of its degrees, whatever its policy. */
struct sp_strategy_layers {
    const struct sp_framework *framework; /* NULL: none is known, and nothing is listed */
    struct sp_layers layers;
    struct sp_rank_layers mine; /* of `layers` */
};
void sp_list_strategy(const struct sp_strategy *s, const struct sp_fit_input *in,
                      struct sp_strategy_layers *listed);

/* Fills micro-batches, bytes and the verdict on memory of a strategy whose degrees, chunks, policy
 * and keeping of weights are set. */
void sp_judge_memory(struct sp_strategy *s, const struct sp_fit_input *in,
                     const struct sp_fit_terms *t, const struct sp_strategy_layers *listed);

/* Fills loads, times, memory and verdicts of a strategy whose degrees and bandwidths are set. */
void sp_judge(struct sp_strategy *s, const struct sp_fit_input *in, const struct sp_fit_terms *t);

/* Loads of collectives that take turns: the levels of a switched network still work as one
 * pipeline. */
double sp_serial_load(const double link[SP_LINKS]);

/* Whether `a` beats `b`: see sp_fit_best. */
bool sp_better(const struct sp_strategy *a, const struct sp_strategy *b);

/* Lays replicas of shards of any degree on switches, or on whole axes of one slice; false where
 * they cannot be laid. Not judged yet. */
bool sp_lay_replicas(const struct sp_fit_input *in, const struct sp_degrees *degrees,
                     struct sp_strategy *s);

#endif
