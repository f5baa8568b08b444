/* What the readers and writers of src/launch share. */
#ifndef SP_LAUNCH_INTERNAL_H
#define SP_LAUNCH_INTERNAL_H

#include <stdio.h>

#include "launch/launch.h"

/* Adds an option of `step`; a remark. */
__attribute__((format(printf, 3, 4))) void
sp_launch_option(struct sp_launch *launch, const char *name, const char *format, ...);
__attribute__((format(printf, 2, 3))) void sp_launch_note(struct sp_launch *launch,
                                                          const char *format, ...);

/* "cannot express" of a writer. */
__attribute__((format(printf, 2, 3))) void sp_lose(struct sp_written *written, const char *format,
                                                   ...);

/* Options as a framework spells them: names and values, in the order of the file. */
struct sp_setting {
    char name[64], value[256];
    bool has_value;
    bool refused; /* an error has named it */
};
enum { SP_MAX_SETTINGS = 512 };
struct sp_settings {
    const char *origin;
    struct sp_setting at[SP_MAX_SETTINGS];
    int n;
};

/* The value of a setting (the last one of that name), NULL when it is not given. */
const char *sp_setting(const struct sp_settings *settings, const char *name);

/* Its whole number from 1 to 10^9 (from `least`), or `otherwise` when it is not given; adds an
 * error when it is no such number. */
int64_t sp_setting_whole(struct sp_settings *settings, const char *name, int64_t least,
                         int64_t otherwise, struct sp_error *error);
double sp_setting_number(struct sp_settings *settings, const char *name, double otherwise,
                         struct sp_error *error);
bool sp_setting_on(const struct sp_settings *settings, const char *name);

/* Takes name and value; false with an error when there are too many. */
bool sp_add_setting(struct sp_settings *settings, const char *name, const char *value,
                    struct sp_error *error);

/* What estimates depend on and no option of the framework says (see assumed.c): `assumed` holds
 * options of `step` by name. */
bool sp_read_assumed(const char *line, struct sp_settings *assumed, struct sp_launch *launch,
                     struct sp_error *error);
bool sp_read_assumed_lines(const char *text, struct sp_settings *assumed, struct sp_launch *launch,
                           struct sp_error *error);

/* Passes one of them on, where it is given. */
void sp_assume(const struct sp_settings *assumed, const char *name, struct sp_launch *launch);

/* Writes them between `before` and `after`, nothing where there are none. `framework`: what the
 * reader takes by itself, or NULL; `is_script_apart`: length and checkpoints are in the training
 * script. */
void sp_write_assumed(const struct sp_launched *l, const char *framework, bool is_script_apart,
                      const char *before, const char *after, FILE *out);

/* Whether the plan's recipe is the one of that name, with the matmuls that the name stands for:
 * FSDP's "fp32" is states in fp32 and matmuls in bf16, where --precision fp32 is both. */
bool sp_recipe_is(const struct sp_launched *l, const char *name);

/* Whether the layers' matmuls run in fp32 or TF32. */
bool sp_multiplies_in_fp32(const struct sp_plan *plan);

/* "fp32", or "fp32 with matmuls in bf16" where the recipe's name would mean others. */
const char *sp_recipe_text(const struct sp_launched *l);

/* Flags (--name) of a shell's script with their values; several values of one are joined by blanks.
 */
bool sp_read_flags(const char *text, struct sp_settings *settings, struct sp_error *error);

bool sp_read_megatron(const char *text, const char *origin, int64_t devices,
                      struct sp_launch *launch, struct sp_error *error);
bool sp_read_deepspeed(const cJSON *root, const char *origin, int64_t devices,
                       struct sp_launch *launch, struct sp_error *error);
bool sp_read_maxtext(const char *text, const char *origin, const struct sp_hardware *hw,
                     const struct sp_sources *sources, struct sp_launch *launch,
                     struct sp_error *error);

/* The writers put their text on `out`. What they cannot say they lose before the first line. */
void sp_write_megatron(const struct sp_launched *launched, struct sp_written *lost, FILE *out);
void sp_write_torchtitan(const struct sp_launched *launched, struct sp_written *lost, FILE *out);
void sp_write_deepspeed(const struct sp_launched *launched, struct sp_written *lost, FILE *out);
void sp_write_maxtext(const struct sp_launched *launched, struct sp_written *lost, FILE *out);
void sp_write_jax(const struct sp_launched *launched, struct sp_written *lost, FILE *out);

/* Lines "PREFIX cannot express: ..." for what was lost. */
void sp_write_lost(const struct sp_written *lost, const char *prefix, FILE *out);

/* "llama3-70b on h100-64 (64 devices: dp 8 tp 4 pp 2 ...)", for the first comment. */
void sp_write_title(const struct sp_launched *launched, FILE *out);

#endif
