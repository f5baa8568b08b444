/* Shared by `memory` and its picture. */
#ifndef SP_CMD_MEMORY_H
#define SP_CMD_MEMORY_H

#include "cli/companions.h"

/* What --offload names, in the order of its choices. */
enum { OFFLOAD_OPTIMIZER, OFFLOAD_PARAMS, OFFLOAD_ACTIVATIONS };

/* What the command knows after its options are read. */
struct memory {
    struct sp_companions companions; /* the model's tuning points here where there are some */
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_params params;
    struct sp_spread spread;
    enum sp_remat remat;
    bool has_hw;
    double batch, seq, devices;
    bool batch_assumed; /* nobody said how many tokens */
    const struct sp_args *args;
    struct sp_report *report;
};

/* Bytes of one device. */
struct device_memory {
    struct sp_footprint states;
    double activations; /* NAN: none are claimed for a model of unknown shape */
    double gpt_layer;   /* one layer of one micro-batch by --rule korthikanti; else NAN */
    double freed;       /* what --offload moved to the host: it is in no other part */
    double beside[SP_COMPANION_ROLES]; /* weights of the models that work forward beside it */
    double buffers; /* those that are not in the place of activations, and a teacher's logits */
    double total;   /* states, buffers and the activations that are claimed */
    enum sp_quantity_id rule; /* the quantity that says where the activations come from */
};

/* Words of --offload. */
extern const char *const sp_offloads[];

/* What --offload moves, how long that takes, and whether the tier has room. */
bool sp_put_offload(const struct memory *f, const struct device_memory *m, struct sp_error *error);

/* Reads the options; false with an error. */
bool sp_read_memory(const struct sp_args *args, struct memory *f, struct sp_error *error);

/* What one device holds of the plan in `f`. */
struct device_memory sp_memory_of_device(const struct memory *f);

#endif
