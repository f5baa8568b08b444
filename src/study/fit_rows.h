/* What `fit` says of a strategy beside core's numbers: why it fits and keeps up or not, and what
 * would turn each no into a yes. */
#ifndef SP_FIT_ROWS_H
#define SP_FIT_ROWS_H

#include <scaleplan/fit.h>

/* The reason for a verdict. */
enum sp_fit_why {
    SP_WHY_MEMORY,    /* it does not fit */
    SP_WHY_ALONE,     /* one chip */
    SP_WHY_FEW_NODES, /* TP beyond its largest degree, on few enough nodes to pass */
    SP_WHY_DEGREE,    /* TP */
    SP_WHY_NO_SPLIT,  /* the rule says yes, but no whole split gets there */
    SP_WHY_NEVER,     /* whatever the batch */
    SP_WHY_TOKENS     /* tokens per chip against the critical batch */
};

/* What would make it compute-bound. */
enum sp_fit_remedy {
    SP_REMEDY_NONE,      /* nothing to mend, or nothing that can be judged */
    SP_REMEDY_SEQUENCES, /* none: micro-batches are one sequence, weights are gathered for each */
    SP_REMEDY_GATHERS,   /* none: more do not fit at once, weights are gathered for each */
    SP_REMEDY_MESH,      /* another mesh of the strategy, at this batch */
    SP_REMEDY_BATCH,     /* a larger batch */
    SP_REMEDY_NO_ROOM,   /* a larger batch, which does not fit */
    SP_REMEDY_TP,        /* a smaller TP degree beside FSDP */
    SP_REMEDY_FSDP,      /* no TP at all */
    SP_REMEDY_NETWORK    /* a faster network */
};

struct sp_fit_row {
    const struct sp_fit_input *in;
    const struct sp_fit_terms *t;
    struct sp_strategy s;
    double dp, fsdp, tp, pp, chunks, microbatches; /* of s, as numbers */
    double batch_shards;                           /* dp x fsdp */
    double state_chips;                            /* that a replica's state is spread over */
    double activations, activations_alive; /* of the whole batch; of a chip, 0 where not known */
    double microbatch_sequences;           /* that a replica works on at once */
    double weight_counted;                 /* of a gathered weight in the recipe's state */
    double r;                              /* E/k times what its weights move */
    double dcn_load, node_load, cross_load, critical_dcn;
    double last_round; /* micro-batches of the pipeline's last round */
    bool turns;        /* collectives take turns */

    enum sp_fit_why why;
    double at_once; /* tokens per chip that are worked on between two gathers */
    double tp_most; /* largest TP degree that hides */

    double real_ratio;     /* load of the same mesh on the machine's real axes; NAN: none there */
    bool is_worse_on_axes; /* it is larger there */
    double critical_mixed; /* of the continuous rule; NAN */

    double chips_to_fit, accumulation, chips_fed, batch_needed; /* NAN: no number does */
    enum sp_remat remat_to_fit;                                 /* SP_REMATS: none does */
    enum sp_fit_remedy remedy;
    struct sp_strategy other; /* the mesh that needs the smallest batch */
    int64_t tp_degree;        /* of SP_REMEDY_TP */
    bool is_more_fed;         /* fewer chips would be kept busy by this batch */
};

/* Fills a row with a strategy that exists; `real_axes`: judged on the machine's own axes, else by
 * the rule. */
void sp_fill_fit_row(const struct sp_fit_input *in, const struct sp_fit_terms *t,
                     const struct sp_strategy *s, bool real_axes, struct sp_fit_row *row);

/* Fills what a mesh of those degrees is on the machine's real axes. */
void sp_fill_real_axes(struct sp_fit_row *row, const struct sp_degrees *degrees);

/* Bandwidth at which exactly these devices gather, bytes/s; NAN: one device. */
double sp_machine_gather_bytes_per_s(const struct sp_hardware *hw);

/* Axes longer than one chip, and those of them without wraparound. */
int sp_open_axes(const struct sp_hardware *hw, int *axes);

/* The least context parallelism with which that many shards share the sequences. */
double sp_least_cp(double shards, double sequences);

#endif
