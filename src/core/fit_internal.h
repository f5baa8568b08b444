/* Shared by the files of the closed forms; not installed. */
#ifndef SP_FIT_INTERNAL_H
#define SP_FIT_INTERNAL_H

#include <scaleplan/activations.h>
#include <scaleplan/fit.h>

/* A strategy of degree 1 in everything, nothing judged yet. */
struct sp_strategy sp_new_strategy(enum sp_strategy_kind kind);

/* Calls `visit` with every mesh of a strategy, its degrees and bandwidths set, its loads not. */
typedef void sp_mesh_visitor(struct sp_strategy *s, void *context);

/* The textbook's meshes: any factorisation whose TP degree passes sp_tp_divides. */
void sp_each_rule_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                       enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context);

/* Meshes on the machine's real axes. */
void sp_each_real_mesh(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                       enum sp_strategy_kind kind, sp_mesh_visitor *visit, void *context);

/* Fills loads, times, memory and verdicts of a strategy whose degrees and bandwidths are set. */
void sp_judge(struct sp_strategy *s, const struct sp_fit_input *in, const struct sp_fit_terms *t);

/* Loads of collectives that take turns: the levels of a switched network still work as one
 * pipeline. */
double sp_serial_load(const double link[SP_LINKS]);

/* Whether `a` beats `b`: see sp_fit_best. */
bool sp_better(const struct sp_strategy *a, const struct sp_strategy *b);

#endif
