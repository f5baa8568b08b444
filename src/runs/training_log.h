/* Step time and peak memory of a run from its training log. */
#ifndef SP_TRAINING_LOG_H
#define SP_TRAINING_LOG_H

#include "config/load.h"
#include "runs/runs.h"
#include "study/planned.h"

/* The run's model and batch, with which a log's lines are compared. */
struct sp_logged_run {
    double batch;   /* sequences of a step */
    double tokens;  /* of a step */
    double devices; /* that share them */
};

struct sp_training_log {
    char dialect[64];     /* of configs/logs */
    size_t lines;         /* that are a step */
    size_t others;        /* of those, with another batch: a ramp of batch sizes */
    size_t warm_up;       /* of the rest, the first, slower ones */
    double step_s;        /* median of the remaining steps */
    double low_s, high_s; /* bounds of 80 % of them */
    double memory_bytes;  /* peak of the fullest rank; NAN: not printed */
    enum sp_memory_level level;
};

/* Reads a log of any dialect of configs/logs. False with an error where no line is a step, where
 * all steps have another batch than the run, or where fewer than three are left. */
bool sp_read_training_log(const char *path, const struct sp_sources *sources,
                          const struct sp_logged_run *run, struct sp_training_log *log,
                          struct sp_error *error);

/* The run described by a plan and its log, named after the log's file. */
struct sp_run sp_run_of_log(const struct sp_planned *planned, const struct sp_training_log *log,
                            const char *path);

#endif
