/* Explanations of a strategy in `fit`: reasons of its verdicts, and remedies. */
#ifndef SP_FIT_ROWS_H
#define SP_FIT_ROWS_H

#include <scaleplan/fit.h>

/* The reason for a verdict. */
enum sp_fit_why {
    SP_WHY_MEMORY,    /* it does not fit */
    SP_WHY_ALONE,     /* one chip */
    SP_WHY_FEW_NODES, /* TP beyond its largest degree, but on few enough nodes */
    SP_WHY_DEGREE,    /* TP */
    SP_WHY_CONTEXT,   /* CP's keys and values, without which it would keep up */
    SP_WHY_NO_SPLIT,  /* the closed form says yes, but no whole split achieves it */
    SP_WHY_NEVER,     /* at no batch */
    SP_WHY_TOKENS     /* tokens per chip against the critical batch */
};

/* The change that makes it compute-bound. */
enum sp_fit_remedy {
    SP_REMEDY_NONE,      /* nothing to change, or not known */
    SP_REMEDY_SEQUENCES, /* none: micro-batches have one sequence, and each gathers the weights */
    SP_REMEDY_GATHERS,   /* none: larger micro-batches do not fit, and each gathers the weights */
    SP_REMEDY_MESH,      /* another mesh of the strategy, at this batch */
    SP_REMEDY_BATCH,     /* a larger batch */
    SP_REMEDY_NO_ROOM,   /* a larger batch, which does not fit */
    SP_REMEDY_TP,        /* a smaller TP degree with FSDP */
    SP_REMEDY_FSDP,      /* no TP at all */
    SP_REMEDY_NETWORK    /* a faster network */
};

struct sp_fit_row {
    const struct sp_fit_input *in;
    const struct sp_fit_terms *t;
    struct sp_strategy s;
    double dp, fsdp, tp, pp, chunks, microbatches; /* of s, as doubles */
    double cp, ep, sequences;                      /* of s; sequences of a replica */
    double batch_shards, replicas;                 /* dp x fsdp; over cp */
    double batch_sequences;                        /* of the whole batch, as asked */
    double state_chips;                            /* chips per replica's state */
    double activations, activations_alive; /* of the whole batch; live per chip, 0 if unknown */
    double microbatch_sequences;           /* per replica and pass */
    double weight_counted;                 /* part of a weight in the recipe's state */
    double r;                              /* E/k times the relative traffic of its weights */
    double dcn_load, node_load, cross_load, critical_dcn;
    double last_round; /* micro-batches of the pipeline's last round */
    bool turns;        /* collectives take turns */

    enum sp_fit_why why;
    double at_once; /* tokens per chip between two gathers */
    double tp_most; /* largest TP degree that hides */

    double real_ratio;     /* load of this mesh on the real axes; NAN: impossible there */
    bool is_worse_on_axes; /* that load is larger */
    double critical_mixed; /* by the continuous rule; NAN */

    double chips_to_fit, accumulation, chips_fed, batch_needed; /* NAN: impossible */
    enum sp_remat remat_to_fit;                                 /* SP_REMATS: impossible */
    enum sp_fit_remedy remedy;
    struct sp_strategy other; /* mesh with the smallest critical batch */
    int64_t tp_degree;        /* of SP_REMEDY_TP */
    bool is_more_fed;         /* this batch keeps fewer chips busy than there are */
};

/* Fills a row for a strategy that exists, judged on real axes if `real_axes`, else by the closed
 * forms. */
void sp_fill_fit_row(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                     const struct sp_strategy *s, bool real_axes, struct sp_fit_row *row);

/* Fills in the mesh with those degrees on the real axes. */
void sp_fill_real_axes(struct sp_fit_row *row, const struct sp_degrees *degrees);

/* Bandwidth (bytes/s) at which exactly these devices gather; NAN for one device. */
double sp_machine_gather_bytes_per_s(const struct sp_hardware *hw);

/* Number of axes longer than one chip, and of those without wraparound. */
int sp_open_axes(const struct sp_hardware *hw, int *axes);

/* Least context parallelism with which `shards` shards can share the sequences. */
double sp_least_cp(double shards, double sequences);

#endif
