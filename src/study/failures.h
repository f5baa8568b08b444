/* What checkpoints and failures do to a run. */
#ifndef SP_STUDY_FAILURES_H
#define SP_STUDY_FAILURES_H

#include <stdbool.h>

#include <scaleplan/training.h>

/* A run; NAN: not known. */
struct sp_failing_run {
    double seconds, devices;
    double write_s;                         /* of a checkpoint */
    double failures_per_day, device_mtbf_s; /* the first counts; without both nothing fails */
    double restart_s;
    double interval_s; /* work between two checkpoints; NAN: the best */
};

struct sp_failures {
    struct sp_goodput cycle;
    bool fails, writes; /* writes: checkpoints cost time */
    bool is_free;       /* neither work nor writing lies between two checkpoints */
    double daly_interval_s, goodput, wall_s;
    double checkpoints; /* that the run writes; 0 where no interval is known */
};

/* Without failures only an interval that was given counts: the best one is never to write. */
struct sp_failures sp_failures_of(const struct sp_failing_run *run);

#endif
