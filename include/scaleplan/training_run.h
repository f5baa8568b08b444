/* A whole training run: time, energy, money, and what failures cost. */
#ifndef SCALEPLAN_TRAINING_RUN_H
#define SCALEPLAN_TRAINING_RUN_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Time of `flops` FLOPs on `devices` devices of that peak at a utilisation `mfu`. s.
 * Scaling book, "Training": FLOPs / (N C MFU). */
double sp_run_s(double flops, double devices, double peak_flops_per_s, double mfu);

/* What checkpoints and failures do to a run. All times in s; mtbf_s is of the whole machine. */
struct sp_goodput {
    double write_s;    /* delta: time to write a checkpoint that stops the work */
    double interval_s; /* tau: work between two checkpoints */
    double mtbf_s;     /* M: mean time between failures of the machine */
    double restart_s;  /* R: time from a failure to running again */
};

/* Young's optimal interval, sqrt(2 delta M). s. Young 1974. */
double sp_young_interval_s(double write_s, double mtbf_s);

/* Daly's higher-order optimal interval. s. Daly 2006, equation 37:
 * sqrt(2 delta M) (1 + sqrt(delta / 2M) / 3 + delta / 18M) - delta for delta < 2M, else M. */
double sp_daly_interval_s(double write_s, double mtbf_s);

/* The time between checkpoints that sp_goodput is largest at: with c = interval + write its
 * derivative -1 / (2 M) + (1 - R / M) write / c^2 is 0 at c = sqrt(2 write (M - R)). s */
double sp_best_interval_s(double write_s, double mtbf_s, double restart_s);

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

/* Homes that take as much energy in a year as `watts` all the time, each kwh_per_year: a year has
 * 8766 hours. */
double sp_homes(double watts, double kwh_per_year);

/* Mean time between failures of `devices` devices that each have one of `device_mtbf_s`. s. */
double sp_machine_mtbf_s(double device_mtbf_s, double devices);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
