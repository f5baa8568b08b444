/* Shared by the files of `train`: time, goodput and bill in train.c, loss in train_loss.c, data and
 * drives in train_data.c. */
#ifndef SP_CMD_TRAIN_H
#define SP_CMD_TRAIN_H

#include <scaleplan/laws.h>
#include <scaleplan/training.h>

#include "cli/companions.h"
#include "cli/price.h"

struct train {
    struct sp_companions companions; /* the model's tuning points here where there are some */
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    bool has_hw, has_model;
    enum sp_flop_convention convention;
    double flops_per_token; /* by the convention; NAN without a model */
    double P, P_trained, tokens, flops, N, C, mfu, batch, seq, seconds, goodput;
    double checkpoints; /* that the run writes; 0 where no interval is known */
    struct sp_scaling_law law;
    bool has_law;
    double law_params, target, noise; /* --loss, --noise-scale; NAN: not given */
    const char *origin;
    const struct sp_args *args;
    struct sp_report *report;
};

/* Reads --law, --loss and --noise-scale; --loss alone says how many tokens the run has, in batches
 * of f->batch. */
bool sp_read_loss(struct train *f, const struct sp_sources *sources, struct sp_error *error);

/* The loss that the run ends at; for --loss the batches and the machines that reach it. */
bool sp_put_loss(const struct train *f, const struct sp_sources *sources, struct sp_error *error);

/* What --storage gives against what the run needs. */
bool sp_put_data(const struct train *f, const struct sp_sources *sources, struct sp_error *error);

#endif
