/* A whole training run: time, energy, cost, failures, drives, learning rate, time to a loss. */
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
 */

/* Checkpoints and failures of a run. Times in s; mtbf_s is the whole machine's. */
struct sp_goodput {
    double write_s;    /* delta: time of a checkpoint that blocks training */
    double interval_s; /* tau: work between checkpoints */
    double mtbf_s;     /* M: mean time between failures of the machine */
    double restart_s;  /* R: time from a failure to running again */
};

/* Daly's higher-order optimal interval (s): sqrt(2 delta M) (1 + sqrt(delta / 2M) / 3 + delta /
 * 18M) - delta for delta < 2M, else M. Daly 2006, equation 37. */
double sp_daly_interval_s(double write_s, double mtbf_s);

/* Share of wall time that is useful work: checkpoints cost delta / (tau + delta), a failure half an
 * interval and the restart. 1 without both; never below 0. First-order model of Young 1974. */
double sp_goodput(const struct sp_goodput *run);

/* An owned device. */
struct sp_owned {
    double capex_usd;   /* its share of the machine included */
    double years;       /* until written off */
    double in_use;      /* share of hours in use, above 0 */
    double watts;       /* in use, the building's share included */
    double usd_per_kwh; /* of energy */
};

/* Energy (USD) per hour of use: sp_power_usd_per_h; 0 where energy is free, whatever the power. */
double sp_energy_usd_per_h(const struct sp_owned *owned);

/* Owner's cost (USD) per hour of use: sp_capital_usd_per_h and sp_energy_usd_per_h, without
 * interest, staff and building, which capex_usd can include. */
double sp_owned_usd_per_h(const struct sp_owned *owned);

/* Share of the hours in use from which an owned device costs less than one rented by the hour:
 * sp_break_even_use. Above 1 it never does; INFINITY where its energy alone costs the rent. */
double sp_break_even_in_use(const struct sp_owned *owned, double rent_usd_per_h);

/* An electric grid. */
struct sp_grid {
    char name[64];
    double carbon_kg_per_kwh; /* CO2 equivalents of a kWh, averaged over the year */
    int64_t year;
    char source[160];
};

/* A place that runs jobs: how often it interrupts them, and how long a start takes. */
struct sp_site {
    char name[64];
    double device_mtbf_s;        /* time between interruptions of a job per device of it */
    char failures_source[160];   /* of device_mtbf_s, with its year */
    double storage_bytes_per_s;  /* of checkpoints, per device, written or read */
    double launch_s;             /* from the scheduler to the first line of the program */
    double compile_s;            /* of the step */
    double connect_s_per_device; /* communicators: grows with the devices */
    double loader_s;             /* until the first batch arrives */
};

/*
 * == Drives ==
 *
 * Storage of a machine: input data, checkpoints, wear.
 */

/* A drive. */
struct sp_drive {
    char name[64];
    double read_bytes_per_s, write_bytes_per_s; /* sustained rates */
    double capacity_bytes;
    double endurance_bytes; /* bytes written until worn out; NAN: not published */
};

/* A run's demand on its drives. */
struct sp_data_need {
    double tokens_per_s;    /* all devices */
    double bytes_per_token; /* as stored */
    double tokens;          /* of the data set, read once */
    double written_bytes;   /* by the whole run: checkpoints */
};

/* Drives of all hosts, and the input pipelines. */
struct sp_data_source {
    double drives;             /* of all hosts */
    double loader_bytes_per_s; /* of all input pipelines; INFINITY: no limit */
    const struct sp_drive *drive;
};

struct sp_data_flow {
    double needed_bytes_per_s, offered_bytes_per_s;
    double share;      /* demand over supply */
    bool bound;        /* loading binds: demand exceeds supply */
    double data_bytes; /* of the data set */
    double room_bytes; /* of all drives */
    bool holds;        /* the data set fits */
    double worn;       /* bytes written over endurance of all drives; NAN: not published */
};

/* Whether the drives supply a run: the slower of drives and loaders counts. */
struct sp_data_flow sp_data_flow(const struct sp_data_need *need,
                                 const struct sp_data_source *source);

/* Offload to the drives of a host, shared by its devices. */
struct sp_drive_tier {
    double transfer_s; /* write and read back once per step */
    double bytes;      /* of all devices of a host */
    double room_bytes; /* of its drives */
    bool holds;
    double steps; /* until the drives are worn out; NAN: not published */
};

/* Offload of `bytes` per device from `devices` devices to `drives` drives of a host. ZeRO-Infinity,
 * Rajbhandari et al. 2021, section 3. */
struct sp_drive_tier sp_drive_tier(const struct sp_drive *drive, double drives, double devices,
                                   double bytes);

/*
 * == Optimizer steps ==
 *
 * Schedules of the learning rate. Adam's corrections, weight decay, clipping and the batch are
 * closed forms: forms/learning.def.
 */

/* Decay after the warmup. */
enum sp_lr_decay {
    SP_DECAY_COSINE,
    SP_DECAY_LINEAR,
    SP_DECAY_CONSTANT,
    SP_DECAY_WSD,  /* warmup, stable, decay: linear over the last share of the steps */
    SP_DECAY_ISQRT /* with the inverse square root of the step, without end */
};

/* Whether the decay ends at total_steps. */
bool sp_lr_decay_ends(enum sp_lr_decay decay);

/* How the peak scales with the batch. */
enum sp_lr_rule { SP_LR_FIXED, SP_LR_LINEAR, SP_LR_SQRT };

/* Peak learning rate for `batch`, given base_lr for base_batch: times the ratio of batches (Goyal
 * et al. 2017, section 2.1), its square root (Krizhevsky 2014, section 5), or 1. */
double sp_scaled_lr(enum sp_lr_rule rule, double base_lr, double batch, double base_batch);

/* Linear warmup from 0 to peak_lr, decay to min_lr at total_steps, constant after that. */
struct sp_lr_schedule {
    double peak_lr, min_lr;
    double warmup_steps, total_steps; /* total_steps NAN: constant rate */
    double cooldown;                  /* of SP_DECAY_WSD: share of total_steps that decays */
    enum sp_lr_decay decay;
};

/* Remaining share of the decay at a step, from 1 after the warmup to 0 at the end, with x the share
 * of decay steps done: cosine (1 + cos(pi x))/2 (Loshchilov & Hutter 2017, SGDR, equation 5),
 * linear 1 - x; of WSD, x is the share of the cooldown done (Hu et al. 2024, MiniCPM); sqrt(warmup
 * / step) (Vaswani et al. 2017, section 5.3). */
double sp_lr_decay_left(const struct sp_lr_schedule *schedule, double step);

/* Learning rate at `step`: 0 is before the first update, warmup_steps the first step at the
 * peak. */
double sp_lr_at(const struct sp_lr_schedule *schedule, double step);

/* Adam's moments of one parameter, before the correction of their bias. */
struct sp_adam_moments {
    double m, v;
};

/* The moments after `steps` steps of the same gradient from moments of 0: g (1 - beta1^t) and g^2
 * (1
 * - beta2^t). Kingma & Ba 2015, section 3. */
struct sp_adam_moments sp_adam_same_gradient(double gradient, double steps, double beta1,
                                             double beta2);

/* The course of a training run's loss, from its values in order. */
struct sp_loss_curve {
    double window;       /* values in a window: half of all, at most 1000 */
    double mean;         /* of the last window */
    double slope, error; /* of the least-squares line through it, per value; standard error */
    bool rises;          /* the slope is more than two standard errors above 0 */
    double least;        /* lowest mean of a window */
    double since_least;  /* values after that window */
    double spikes;       /* values at least 7 standard deviations above the mean of the window
                            before them. Team OLMo 2025, "2 OLMo 2 Furious", section 3 */
};

enum { SP_FEWEST_LOSSES = 8 };

/* The losses must be at least SP_FEWEST_LOSSES. */
struct sp_loss_curve sp_read_loss_curve(const double *losses, size_t count);

/*
 * == Time to a loss ==
 *
 * Time and cost to train to a loss: throughput by the closed forms of `fit`, convergence by a
 * scaling law and the trade of steps against batch.
 */

/* The problem: `fit`'s input, whose batch is ignored, and the run. */
struct sp_loss_question {
    const struct sp_fit_input *fit;
    double mfu;          /* of a compute-bound step */
    double least_tokens; /* to reach the loss with batches far below the noise scale */
    double noise;        /* gradient noise scale, tokens */
};

/* A batch, or a machine with its best batch. */
struct sp_loss_point {
    int64_t chips;
    double batch;   /* tokens */
    double tokens;  /* least_tokens (1 + batch / noise) */
    double steps;   /* tokens / batch */
    double step_s;  /* of the best plan, at the MFU or network-bound */
    double seconds; /* steps x step_s */
    bool fits;      /* the best plan fits */
};

/* The run with a batch of `batch` tokens. McCandlish et al. 2018, section 2.3. */
struct sp_loss_point sp_run_to_loss(const struct sp_loss_question *question, double batch);

/* Runs with batches of one sequence per chip and its doublings up to 16 noise scales; returns their
 * number, at most `room`. */
int sp_batches_to_loss(const struct sp_loss_question *question, struct sp_loss_point *points,
                       int room);

/* Runs on the machine's sizes, doubling from one chip, each with its fastest batch; sizes without a
 * plan are skipped. Returns their number, at most `room`. */
int sp_machines_to_loss(const struct sp_loss_question *question, struct sp_loss_point *points,
                        int room);

/* Index of the fastest point that fits, and of the one with the fewest chip-seconds; -1 if none
 * fits. */
int sp_soonest(const struct sp_loss_point *points, int count);
int sp_cheapest(const struct sp_loss_point *points, int count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
