/* Walks the kinds of layers that a model or a stage has: of 13 that are possible, one or two. */
#ifndef SP_LAYER_KINDS_H
#define SP_LAYER_KINDS_H

#include <scaleplan/layer.h>

/* Takes the lowest of a set of bits, which must not be empty. */
static inline int sp_take_kind(unsigned *left)
{
    const int kind = __builtin_ctz(*left);
    *left &= *left - 1;
    return kind;
}

/* Bits of the kinds of layers that a model has, without the ends. */
static inline unsigned sp_kinds_of(const struct sp_layers *layers)
{
    return layers->present & ((1U << SP_LAYER_KINDS) - 1);
}

#endif
