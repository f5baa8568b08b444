/* Shared by reading and writing torchtitan's options. */
#ifndef SP_LAUNCH_TORCHTITAN_H
#define SP_LAUNCH_TORCHTITAN_H

#include "launch/fields/rules.h"

/* A model that it trains. */
struct sp_titan_model {
    char folder[24], flavor[24], ours[SP_ROW_WORD];
    char config[SP_ROW_WORD];    /* the function of its config_registry */
    bool borrows;                /* that of another flavor, which is given this one's model */
    bool is_newest, is_released; /* the newest version has that; 0.2.2 has the model */
    bool in_8_bits;              /* the function's linear layers run in float8, scales of rows */
    int64_t tokens;              /* of a sequence at most */
    bool flex, varlen;           /* 0.2.2, the newest: takes no context parallelism */
};

/* The next model of a list that starts as NULL; false after the last. */
bool sp_next_titan_model(const struct sp_launch_words *words, const char **list,
                         struct sp_titan_model *out);

/* How many layers the table and the head count as on the first and last stage, and the layers of a
 * chunk; 0: not given. */
struct sp_titan_ends {
    int64_t first, last, each;
};

/* Layers of each stage; false: torchtitan refuses the ends. */
bool sp_titan_stages(int64_t layers, int64_t pp, int64_t vpp, const struct sp_titan_ends *ends,
                     int64_t of[SP_MAX_STAGES]);

/* The ends that give the plan's stages; false: there are none. */
bool sp_titan_ends_of(const struct sp_launched *launched, struct sp_titan_ends *ends);

/* Rules for options that train `row` and `model` (NULL: not known). */
struct sp_rules sp_titan_rules(const struct sp_settings *settings, bool newest, int64_t devices,
                               const struct sp_titan_model *row, const struct sp_model *model);

/* Writes a plan as torchtitan's options, for sp_target_torchtitan. */
void sp_write_torchtitan(const struct sp_launched *launched, FILE *out);

#endif
