/* FLOPs of training of a token, by every way of counting. */
#ifndef SP_STUDY_TRAINING_FLOPS_H
#define SP_STUDY_TRAINING_FLOPS_H

#include <scaleplan/estimate.h>
#include <scaleplan/flops.h>

/* What is counted: the model in sequences of `seq`, with the models that work beside it. */
struct sp_flops_question {
    const struct sp_model *model;
    const struct sp_companions *companions; /* NULL: none */
    double seq;
    enum sp_flop_convention scores; /* SP_FLOPS_FULL or SP_FLOPS_CAUSAL */
    enum sp_remat remat;
    bool count_embedding; /* the input table counts as a matmul */
};

/* FLOPs of a token. */
struct sp_training_flops {
    struct sp_flops forward;
    double counted, computed; /* by 6 P: as if all were trained, and what is computed */
    double counted_with_scores, computed_with_scores; /* the same with attention; NAN: no shape */
    double recomputed;                                /* run again by the backward pass */
    double hardware;                                  /* computed_with_scores and recomputed */
    bool plain; /* 6 P of every parameter is what is computed */
};

struct sp_training_flops sp_count_training_flops(const struct sp_flops_question *question);

#endif
