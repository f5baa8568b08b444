/* The steps of one layer on the chips. */
#ifndef SP_STUDY_LAYER_STEPS_H
#define SP_STUDY_LAYER_STEPS_H

#include <stdbool.h>

/* How a layer's two matrices Win[D,F] and Wout[F,D] are divided: the batch over X, with whole
 * weights (DP) or shards of them (FSDP), the matrices over Y (TP). */
enum sp_layer_plan { SP_LAYER_DP, SP_LAYER_FSDP, SP_LAYER_TP, SP_LAYER_DP_TP, SP_LAYER_FSDP_TP };

enum sp_layer_work { SP_DO_MATMUL, SP_DO_GATHER, SP_DO_SCATTER, SP_DO_REDUCE };

struct sp_layer_step {
    char what[48]; /* "Tmp[B_X,F_Y] = In[B_X,D] Win[D,F_Y]" */
    enum sp_layer_work work;
    bool backward, of_weights; /* of_weights: it moves a matrix, else an activation */
};

enum { SP_MOST_LAYER_STEPS = 24 };

/* The steps in their order, with X shards or replicas and TP over Y; a group of one chip has none.
 * Returns their number. Scaling book, "Training": algorithms of data parallelism, FSDP, TP and
 * both. */
int sp_layer_steps(enum sp_layer_plan plan, double X, double Y,
                   struct sp_layer_step steps[SP_MOST_LAYER_STEPS]);

/* Bytes that a collective moves through each chip, as in sp_layer_array_bytes. */
struct sp_moved_array {
    double times, rows, columns, parts;
};
struct sp_moved_array sp_moved_array(const struct sp_layer_step *step, double B, double D, double F,
                                     double X, double Y);

#endif
