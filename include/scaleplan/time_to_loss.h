/* How soon, and for how much, a machine brings a model to a loss: throughput by the closed forms of
 * `fit`, convergence by a scaling law and the trade of steps against batch. */
#ifndef SCALEPLAN_TIME_TO_LOSS_H
#define SCALEPLAN_TIME_TO_LOSS_H

#include <scaleplan/fit.h>
#include <scaleplan/scaling_law.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What is asked: `fit`'s input, whose batch does not matter, and the run. */
struct sp_loss_question {
    const struct sp_fit_input *fit;
    double mfu;          /* of a step whose network keeps up */
    double least_tokens; /* that reach the loss in batches far below the noise scale */
    double noise;        /* gradient noise scale, tokens */
};

/* A batch, or a machine with its best batch. */
struct sp_loss_point {
    int64_t chips;
    double batch;   /* tokens */
    double tokens;  /* least_tokens (1 + batch / noise) */
    double steps;   /* tokens / batch */
    double step_s;  /* of the best plan, at the MFU or as long as its network takes */
    double seconds; /* steps x step_s */
    bool fits;      /* the best plan does */
};

/* The run in batches of `batch` tokens. McCandlish et al. 2018, section 2.3. */
struct sp_loss_point sp_run_to_loss(const struct sp_loss_question *question, double batch);

/* Batches of one sequence per chip and powers of two of it, up to 16 noise scales. Returns their
 * number, at most `room`. */
int sp_batches_to_loss(const struct sp_loss_question *question, struct sp_loss_point *points,
                       int room);

/* The machine's sizes, doubling from one chip, each with the batch that is soonest there; sizes
 * that hold no plan are left out. Returns their number, at most `room`. */
int sp_machines_to_loss(const struct sp_loss_question *question, struct sp_loss_point *points,
                        int room);

/* The point with the shortest time, and the one with the fewest chip-seconds, among those that fit;
 * -1 when none does. */
int sp_soonest(const struct sp_loss_point *points, int n);
int sp_cheapest(const struct sp_loss_point *points, int n);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
