/* A whole training run: days, energy, cost, failures, drives, learning rate, a loss to reach. */
#ifndef SCALEPLAN_TRAINING_H
#define SCALEPLAN_TRAINING_H

#include <stdbool.h>

#include <scaleplan/fit.h>
#include <scaleplan/laws.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == The run ==
 *
 * A whole training run: time, energy, money, and what failures cost.
 */

/* What checkpoints and failures do to a run. All times in s; mtbf_s is of the whole machine. */
struct sp_goodput {
    double write_s;    /* delta: time to write a checkpoint that stops the work */
    double interval_s; /* tau: work between two checkpoints */
    double mtbf_s;     /* M: mean time between failures of the machine */
    double restart_s;  /* R: time from a failure to running again */
};

/* Daly's higher-order optimal interval. s. Daly 2006, equation 37:
 * sqrt(2 delta M) (1 + sqrt(delta / 2M) / 3 + delta / 18M) - delta for delta < 2M, else M. */
double sp_daly_interval_s(double write_s, double mtbf_s);

/* Share of the wall time that is useful work: writing costs delta / (tau + delta), a failure loses
 * half an interval and the restart. 1 when nothing is written and nothing fails; never below 0.
 * First-order model of Young 1974. */
double sp_goodput(const struct sp_goodput *run);

/* A device that is bought. */
struct sp_owned {
    double capex_usd;   /* with its share of the machine */
    double years;       /* until it is written off */
    double in_use;      /* share of the hours that it works, above 0 */
    double watts;       /* while it works, the building's share included */
    double usd_per_kwh; /* of energy */
};

/* What an hour of use costs its owner: capex / (8766 years in_use) + watts usd_per_kwh / 1000. USD.
 * A year has 8766 hours. Barroso, Hoelzle and Ranganathan 2018, chapter 6: capital and energy. */
double sp_owned_usd_per_h(const struct sp_owned *owned);

/*
 * == Drives ==
 *
 * Storage behind a machine: drives that feed its input pipeline, hold its data and checkpoints, and
 * wear.
 */

/* A drive. */
struct sp_drive {
    char name[64];
    double read_bytes_per_s, write_bytes_per_s; /* of long transfers */
    double capacity_bytes;
    double endurance_bytes; /* that may be written before it is worn; NAN: not published */
};

/* What a run asks of its drives. */
struct sp_data_need {
    double tokens_per_s;    /* of all devices */
    double bytes_per_token; /* as it lies on the drives */
    double tokens;          /* of the data set, read once */
    double written_bytes;   /* by the whole run: its checkpoints */
};

/* What the drives of all hosts give, and the loaders that stand between. */
struct sp_data_source {
    double drives;             /* of all hosts */
    double loader_bytes_per_s; /* that all hosts' input pipelines pass on; INFINITY: any */
    const struct sp_drive *drive;
};

struct sp_data_flow {
    double needed_bytes_per_s, offered_bytes_per_s;
    double share;      /* needed over offered */
    bool bound;        /* loading binds: needed is above offered */
    double data_bytes; /* of the data set */
    double room_bytes; /* of all drives */
    bool holds;        /* the data set has room */
    double worn;       /* written over endurance of all drives; NAN: not published */
};

/* Whether drives feed a run. Bytes and rates; the slower of drives and loaders counts. */
struct sp_data_flow sp_data_flow(const struct sp_data_need *need,
                                 const struct sp_data_source *source);

/* A tier that a step offloads to: drives of a host, shared by its devices. */
struct sp_drive_tier {
    double transfer_s; /* there and back once a step: written, and read again */
    double bytes;      /* of all devices of a host */
    double room_bytes; /* of its drives */
    bool holds;
    double steps; /* until the drives are worn; NAN: not published */
};

/* The tier of `drives` drives for `devices` devices of a host that each put `bytes` there.
 * ZeRO-Infinity, Rajbhandari et al. 2021, section 3: bandwidth and capacity of NVMe. */
struct sp_drive_tier sp_drive_tier(const struct sp_drive *drive, double drives, double devices,
                                   double bytes);

/*
 * == Optimizer steps ==
 *
 * Schedules of the learning rate. Adam's corrections, weight decay, clipping and the batch of a
 * step are closed forms: forms/learning.def.
 */

/* How the learning rate falls after the warmup. */
enum sp_lr_decay { SP_DECAY_COSINE, SP_DECAY_LINEAR, SP_DECAY_CONSTANT };

/* How the peak follows the batch. */
enum sp_lr_rule { SP_LR_FIXED, SP_LR_LINEAR, SP_LR_SQRT };

/* Peak for a batch of `batch` where `base_lr` is right for `base_batch`: base_lr times their ratio
 * (Goyal et al. 2017, section 2.1), or its root (Krizhevsky 2014, section 5), or base_lr. */
double sp_scaled_lr(enum sp_lr_rule rule, double base_lr, double batch, double base_batch);

/* Linear warmup from 0 to peak_lr over warmup_steps, then decay to min_lr at total_steps, and
 * min_lr from there on. */
struct sp_lr_schedule {
    double peak_lr, min_lr;
    double warmup_steps, total_steps; /* total_steps: NAN for a constant rate */
    enum sp_lr_decay decay;
};

/* Share of the decay that is still to come at a step, 1 right after the warmup to 0 at the end:
 * cosine (1 + cos(pi x))/2 (Loshchilov & Hutter 2017, SGDR, equation 5), linear 1 - x, where x is
 * the share of the steps after the warmup that are done. */
double sp_lr_decay_left(const struct sp_lr_schedule *schedule, double step);

/* Learning rate of optimizer step `step`: step 0 is before the first update, warmup_steps the
 * first at the peak. */
double sp_lr_at(const struct sp_lr_schedule *schedule, double step);

/*
 * == Time to a loss ==
 *
 * How soon, and for how much, a machine brings a model to a loss: throughput by the closed forms of
 * `fit`, convergence by a scaling law and the trade of steps against batch.
 */

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

/* Batches of one sequence per chip and powers of two of it, up to 16 noise scales. Returns how many
 * of at most `room`. */
int sp_batches_to_loss(const struct sp_loss_question *question, struct sp_loss_point *points,
                       int room);

/* The machine's sizes, doubling from one chip, each with the batch that is soonest there; sizes
 * that hold no plan are left out. Returns how many of at most `room`. */
int sp_machines_to_loss(const struct sp_loss_question *question, struct sp_loss_point *points,
                        int room);

/* The point with the shortest time, and the one with the fewest chip-seconds, among those that fit;
 * -1 when none does. */
int sp_soonest(const struct sp_loss_point *points, int count);
int sp_cheapest(const struct sp_loss_point *points, int count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
