/* The matmuls of a model, and what several operations come to. */
#ifndef SP_MODEL_MATMULS_H
#define SP_MODEL_MATMULS_H

#include <stddef.h>

#include <scaleplan/flops.h>
#include <scaleplan/model.h>

enum { SP_MOST_OPERATIONS = 32 };

/* Operations of one shape. */
struct sp_operation_row {
    char name[96];
    double count;        /* how often they are done */
    struct sp_work work; /* of one */
};

/* Every matmul of a forward pass over a batch of `tokens` in sequences of `seq`, those of one shape
 * in one row; returns how many rows. */
size_t sp_model_matmuls(const struct sp_model *model, double tokens, double seq,
                        struct sp_operands bytes, struct sp_operation_row rows[SP_MOST_OPERATIONS]);

/* What all rows come to, each as often as it is done. */
struct sp_operation_total {
    struct sp_work work;
    double lower_s; /* one after the other, each the longer of its arithmetic and its bytes */
};
struct sp_operation_total sp_total_of(const struct sp_operation_row *rows, size_t n, double C,
                                      double W);

#endif
