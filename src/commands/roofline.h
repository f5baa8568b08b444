/* Shared by the two files of `roofline`: one operation, and a whole model's. */
#ifndef SP_CMD_ROOFLINE_H
#define SP_CMD_ROOFLINE_H

#include "cli/command.h"

/* What the command knows after its options are read. */
struct roof {
    struct sp_hardware hw;
    struct sp_model model;
    struct sp_operands bytes;
    bool has_hw;
    double chips; /* that share the work */
    double C, W, r;
    double C_vector; /* of the vector unit; FLOP/s */
    bool on_vector;  /* the operation runs on that: C is its peak */
    const char *from;
    const struct sp_args *args;
    struct sp_report *report;
};

/* The numbers of one operation; the FLOPs and bytes are known. */
void sp_put_work(const struct roof *f, struct sp_work work);

/* Every matmul of a model for a batch of tokens on one chip, as a table. */
bool sp_put_operators(const struct roof *f, struct sp_error *error);

/* Every matmul of the list "512x4096x8192,512x8192x4096", as a table with its total. */
bool sp_put_matmuls(const struct roof *f, const char *list, struct sp_error *error);

/* Reads "BxDxF", D and F padded to multiples of `side`. */
bool sp_read_matmul(const char *text, double side, double dims[3], struct sp_error *error);

#endif
