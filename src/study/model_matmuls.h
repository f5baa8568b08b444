/* The matmuls of a model, and totals of operations. */
#ifndef SP_MODEL_MATMULS_H
#define SP_MODEL_MATMULS_H

#include <stddef.h>

#include <scaleplan/flops.h>
#include <scaleplan/model.h>

enum { SP_MOST_OPERATIONS = 32 };

/* Operations of one shape. */
struct sp_operation_row {
    char name[96];
    double count;        /* number of operations */
    struct sp_work work; /* per operation */
};

/* All matmuls of a forward pass over `tokens` tokens in sequences of `seq`, one row per shape;
 * returns the number of rows. */
size_t sp_model_matmuls(const struct sp_model *model, double tokens, double seq,
                        struct sp_operands bytes, struct sp_operation_row rows[SP_MOST_OPERATIONS]);

/* Totals over rows with their counts. */
struct sp_operation_total {
    struct sp_work work;
    double lower_s;   /* sequentially, each the longer of arithmetic and transfer */
    double shorter_s; /* the sum of the other times: what can hide */
};
struct sp_operation_total sp_total_of(const struct sp_operation_row *rows, size_t n, double C,
                                      double W);

#endif
