/* Shared by the files of `batch`: tori, and switches. */
#ifndef SP_CMD_BATCH_H
#define SP_CMD_BATCH_H

#include "cli/command.h"

/* What the command knows after its options are read. */
struct batch {
    struct sp_hardware hw;
    struct sp_model model;
    double C, C_wire; /* of the matmuls, and what closed forms of 2-byte elements take */
    double N, S, B, T, F, D, r, wire, tp;
    double slice, pod; /* chips of a slice of --hw, and of a whole pod or node */
    double experts;    /* that there are to deal out; NAN: not said */
    double ep, top_k;  /* EP degree (NAN: not said), experts of a token */
    double d_expert;   /* width of one; NAN: not known */
    enum sp_overlap overlap;
    bool has_batch;
    struct sp_report *report;
};

/* One network and what follows from its bandwidth W: keys alpha.LEVEL, critical.dp.LEVEL, ... */
void sp_put_batch_level(const struct batch *f, const char *level, double W, const char *what);

/* Everything of a machine on switches. */
void sp_put_batch_switched(const struct batch *f, const struct sp_args *args);

#endif
