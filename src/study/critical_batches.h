/* Critical batches and degrees of a machine's networks. */
#ifndef SP_CRITICAL_BATCHES_H
#define SP_CRITICAL_BATCHES_H

#include <scaleplan/fit.h>

struct sp_critical_batches;

/* One network, with keys alpha.LEVEL, critical.dp.LEVEL, ... */
struct sp_critical_level {
    const struct sp_critical_batches *of;
    const char *key; /* LEVEL: 1, 2, 3 torus axes, node, cross */
    const char *name;
    double W;         /* bytes/s */
    double critical;  /* tokens per chip */
    double tp_max;    /* TP degree; NAN: MLP width unknown */
    bool tp_is_split; /* TP spans nodes, so no single level carries it */
};

/* Values are NAN if unknown or undefined on the machine. */
struct sp_critical_batches {
    /* question */
    struct sp_hardware hw;
    double C, C_wire;              /* peak of the matmuls; equivalent for closed forms with 2-byte
                                      elements */
    double N, S, B, T, F, D, r, b; /* as in forms/critical_batch.def */
    double tp, pp, fsdp;           /* NAN: not given */
    double experts, ep, top_k, d_expert; /* experts, EP degree, experts per token, expert width */
    double capacity;                     /* of an expert over the mean load */
    enum sp_overlap overlap;
    bool has_batch, has_widths, lists_layer; /* batch given; D and F known; --layer */

    /* answer */
    struct sp_critical_level levels[SP_MAX_AXES];
    int n_levels;
    double slice, pod; /* chips per slice, and per whole pod or node */
    double tokens_per_chip, tokens_per_slice, sequences;
    double W_1; /* one torus axis, or inside a node */

    /* FSDP x TP on a torus of several axes */
    double W_X, W_Y, turns, critical_mixed, x_opt, x_pow2;
    struct sp_split split;
    bool has_split;

    /* the axes of this slice, and its data-centre network */
    double W_slice, critical_slice, W_dcn, critical_dcn;
    bool closes; /* all axes are rings */

    /* expert parallelism on a torus */
    bool has_experts, has_box; /* EP is asked for; the axes have a box of that size */
    double exchange, d_ff_torus;

    /* switches */
    double W_gpu, W_node, domain;
    double W_machine, W_machine_node, W_machine_cross,
        critical_machine;                          /* for exactly these devices */
    double exact_tp, tp_nodes, W_tp, exact_tp_max; /* TP of exactly that degree */
    double mp_nodes, critical_replica, d_ff_switched;

    double X, Y; /* FSDP and TP degrees for the printed traffic per layer */
    double stationary_x;
};

/* Computes the answer from the question. */
void sp_find_critical_batches(struct sp_critical_batches *s);

#endif
