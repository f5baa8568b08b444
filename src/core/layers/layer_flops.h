/* FLOPs of a model whose layers are listed: those of flops.h, for callers that have the lists. */
#ifndef SP_LAYER_FLOPS_H
#define SP_LAYER_FLOPS_H

#include <scaleplan/flops.h>
#include <scaleplan/layer.h>

struct sp_flops sp_forward_flops_of(const struct sp_layers *layers, double seq, bool causal,
                                    bool count_embedding);
struct sp_flops sp_still_flops_of(const struct sp_layers *layers, double seq, bool causal);
double sp_model_flops_of(const struct sp_layers *layers, double tokens, double seq,
                         enum sp_flop_convention convention);
double sp_tuned_flops_of(const struct sp_layers *layers, double tokens, double seq,
                         enum sp_flop_convention convention);

#endif
