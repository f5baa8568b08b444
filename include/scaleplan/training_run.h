/* A whole training run: what failures cost, and what a device costs its owner. Its closed forms are
 * rows of forms/run.def. */
#ifndef SCALEPLAN_TRAINING_RUN_H
#define SCALEPLAN_TRAINING_RUN_H

#include <scaleplan/forms.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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

/* The price of a device-hour at which a run on one machine costs what it costs on another: N_a T_a
 * price_a / (N_b T_b) for N devices that take T. USD. */
double sp_break_even_usd_per_h(double devices, double seconds, double other_devices,
                               double other_seconds, double other_usd_per_h);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
