/* Training FLOPs per token by every convention. */
#ifndef SP_STUDY_TRAINING_FLOPS_H
#define SP_STUDY_TRAINING_FLOPS_H

#include <scaleplan/estimate.h>
#include <scaleplan/flops.h>

/* The model in sequences of `seq`, with its companions. */
struct sp_flops_question {
    const struct sp_model *model;
    const struct sp_companions *companions; /* NULL: none */
    double seq;
    enum sp_flop_convention scores; /* SP_FLOPS_FULL or SP_FLOPS_CAUSAL */
    enum sp_remat remat;
    bool count_embedding; /* the input table counts as a matmul */
};

/* Training FLOPs per token. */
struct sp_training_flops {
    struct sp_flops forward;
    double computed;             /* 6 P of what is computed */
    double computed_with_scores; /* the same with attention; NAN: no shape */
    double recomputed;           /* recomputed in the backward pass */
    double executed; /* the larger of both: 6 P counts a table of embeddings as a matmul */
    double hardware; /* executed plus recomputed */
    bool plain;      /* computed FLOPs equal 6 P of all parameters */
};

struct sp_training_flops sp_count_training_flops(const struct sp_flops_question *question);

#endif
