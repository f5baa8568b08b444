/* What reading and writing of torchtitan's options share. */
#ifndef SP_LAUNCH_TORCHTITAN_H
#define SP_LAUNCH_TORCHTITAN_H

#include "launch/fields/settings.h"

/* Versions in the order of SP_VERSIONS_OF_torchtitan: August 2026, and the newest release. */
enum sp_titan { SP_TITAN_MAIN, SP_TITAN_0_2_2 };

/* A model that it trains. */
struct sp_titan_model {
    const char *folder, *flavor, *ours;
    const char *config; /* the function of its config_registry; NULL: the newest version has none */
    bool released;      /* 0.2.2 has it */
    int64_t tokens;     /* of a sequence at most; 0: the version 0.2.2 does not check it */
    bool splits_sequence; /* 0.2.2 takes context parallelism */
    bool in_8_bits;       /* the function's linear layers run in float8, a scale for each row */
};
enum { SP_TITAN_MODELS = 18 };
extern const struct sp_titan_model sp_titan_models[SP_TITAN_MODELS];

/* What torchtitan itself refuses in its options, on so many devices (0: not known). `row` and
 * `model` are what it trains, NULL where that is not known. */
void sp_check_titan(const struct sp_settings *settings, enum sp_titan version, int64_t devices,
                    const struct sp_titan_model *row, const struct sp_model *model,
                    struct sp_refusals *refused);

enum sp_match sp_detect_torchtitan(const struct sp_launch_file *file);

bool sp_read_torchtitan(struct sp_launch_file *file, struct sp_launch *launch,
                        struct sp_error *error);

#endif
