/* Effect of checkpoints and failures on a run. */
#ifndef SP_STUDY_FAILURES_H
#define SP_STUDY_FAILURES_H

#include <stdbool.h>

#include <scaleplan/training.h>

/* A run; NAN: unknown. */
struct sp_failing_run {
    double seconds, devices;
    double bandwidth, read_s;               /* of storage; the time to read a checkpoint back */
    double write_s;                         /* of a checkpoint */
    double failures_per_day, device_mtbf_s; /* the first has precedence; without either nothing
                                               fails */
    double restart_s;
    double first_step_s; /* from the start to the first step */
    double interval_s;   /* between checkpoints; NAN: the best */
};

/* A run on a site, which starts and fails as its file says; `by_book`: it does neither. NAN: the
 * checkpoint is not known, the site's bandwidth, and a time to write the checkpoint at that. A
 * site's failures are assumed only where that time is known. */
struct sp_failing_run sp_run_on_site(const struct sp_site *site, bool by_book, double devices,
                                     double checkpoint_bytes, double bandwidth, double write_s);

struct sp_failures {
    struct sp_goodput cycle;
    bool fails, writes; /* writes: checkpoints cost time */
    bool is_free;       /* checkpoints cost nothing */
    double daly_interval_s, goodput, wall_s;
    double checkpoints; /* of the run; 0 if no interval is known */
};

/* Without failures only a given interval counts: the best one would be never. */
struct sp_failures sp_failures_of(const struct sp_failing_run *run);

/* Fewest devices with which a run takes at most `days` days by `wall_days` (INFINITY: it never
 * ends); `least` could if nothing failed. NAN: none. Failures cost more time the more devices there
 * are, so that beyond some number more devices do not help. */
double sp_devices_for_days(double days, double least,
                           double (*wall_days)(double devices, void *context), void *context);

#endif
