/* Shared by the formats of src/launch: their rows, settings in a framework's spelling, options and
 * remarks of a launch that is read, and losses of one that is written. */
#ifndef SP_LAUNCH_SETTINGS_H
#define SP_LAUNCH_SETTINGS_H

#include <stdio.h>

#include "launch/fields/quiet.h"
#include "launch/launch.h"

enum { SP_MAX_SETTINGS = 1024, SP_MAX_ABSENT = 256, SP_SETTING_NAME = 96 };

/* Options in a framework's spelling: names and values, in the order of the file. */
struct sp_setting {
    char name[SP_SETTING_NAME], value[256];
    const char *said; /* the option under which it was given; NULL: its own name */
    char gap[96];     /* the unknown part of the value, "" if all is known */
    char by[96];      /* the variable on which it depends; "" if unknown */
    int tail;         /* where the known text after the last unknown part begins; 0: nowhere */
    int first;        /* letters of its first word, which may contain blanks; 0: it is one word */
    int line;         /* 0: not known */
    int gap_line;
    bool read;    /* a reader has asked for it */
    bool needed;  /* and for its value */
    bool refused; /* an error has named it */
    bool cut;     /* the value was longer than there is room for */
    bool usual;   /* it belongs to the framework's own file, below those of the launch */
};
struct sp_settings {
    const char *origin;
    const struct sp_launch_words *words; /* the rows by which they are read */
    const char
        *core; /* rows of the settings that decide an answer (core.h); NULL: none are known */
    struct sp_launch *launch; /* destination of their values; NULL: they are written */
    struct sp_error *error;   /* and of their faults */
    int n, n_absent;
    int command; /* the script being read: 1 + its place; 0: none */
    struct sp_setting at[SP_MAX_SETTINGS];
    char absent[SP_MAX_ABSENT][SP_SETTING_NAME]; /* asked for, but not given */
};

struct sp_program;

/* A file being read: as text, as JSON if it is a JSON object (else NULL), for a machine (NULL: not
 * known yet), and as settings. `assumed`: see assumed.h. */
struct sp_launch_file {
    const char *origin, *text;
    const cJSON *json;
    const struct sp_hardware *hw;
    const struct sp_sources *sources;
    struct sp_script *script;                       /* NULL: it is not a shell script */
    const struct sp_program *program;               /* that runs it */
    const char *recipe;                             /* which training of several; NULL: not given */
    const struct sp_typed_names *names;             /* that were typed */
    bool started;                                   /* a command of a script starts it */
    struct sp_launch_words *words[SP_LAUNCH_FILES]; /* of its format */
    struct sp_settings settings; /* of YAML, TOML or JSON; else what its reader takes */
    struct sp_settings assumed;
};

/* How well a file fits a format. */
enum sp_match { SP_NO_MATCH, SP_POSSIBLE, SP_LIKELY, SP_CERTAIN };

/* A framework's form of a launch: written, read, or both; a missing function is NULL. */
struct sp_target {
    const char *words[SP_LAUNCH_FILES]; /* names of files in configs/launch, or NULL */

    /* Puts the plan on `out`. Losses are found before the first line is written. */
    void (*write)(const struct sp_launched *launched, FILE *out);

    const char *suffix;  /* of a file's name: ".yaml"; NULL: any */
    const char *program; /* the program that starts a server; NULL: it trains */
    bool takes_tf32;     /* fp32 without an option, as in JAX; PyTorch multiplies in fp32 */

    const char *format; /* a description of the file: "Megatron-LM arguments" */
    /* NULL: only the program or the keys identify it, by configs/launch/programs.json. */
    enum sp_match (*detect)(const struct sp_launch_file *file);
    bool (*read)(struct sp_launch_file *file);
};

/* New settings, empty, for free(): of the file, words, launch and errors of others, or those with
 * which a plan is written. */
struct sp_settings *sp_new_settings(const struct sp_settings *like);
struct sp_settings *sp_settings_of(const struct sp_launched *launched);

/* Whether the question about a written plan is answered: something is lost. */
bool sp_is_settled(const struct sp_launched *launched);

/* Adds an error about the settings' file, and returns false. */
__attribute__((format(printf, 2, 3))) bool sp_fail_in(const struct sp_settings *settings,
                                                      const char *format, ...);

/* Takes name and value (NULL: none); false with an error when there are too many. */
bool sp_add_setting(struct sp_settings *settings, const char *name, const char *value);

/* The same with everything known about a setting elsewhere: its value, its line, its gap. */
bool sp_copy_setting(struct sp_settings *to, const struct sp_setting *from, const char *name);

/* The same with all settings of another file that this one lacks. */
bool sp_copy_lacking(struct sp_settings *to, const struct sp_settings *from);

/* The same for a composed value; text beyond the room is left out. */
__attribute__((format(printf, 3, 4))) void
sp_make_setting(struct sp_settings *settings, const char *name, const char *format, ...);

/* The same for a whole number, and for a setting that is present without a value, or absent. */
void sp_make_whole(struct sp_settings *settings, const char *name, int64_t value);
void sp_make_switch(struct sp_settings *settings, const char *name, bool on);

/* The value of a setting (the last of that name), NULL if it is not given. All settings of that
 * name count as read, and the value as needed. */
const char *sp_setting(struct sp_settings *settings, const char *name);

/* The same for a file's name: an unknown beginning of its path does no harm. */
const char *sp_setting_file(struct sp_settings *settings, const char *name);

/* The same for a launcher's option, copied to `out`: the words after it belong to the script. */
const char *sp_launcher_file(struct sp_settings *settings, const char *name, char *out,
                             size_t size);

/* The known part of a value after its last unknown part; NULL: nothing. */
const char *sp_said_tail(const struct sp_settings *settings, const char *name);

/* Whether a reader has asked for the setting. */
bool sp_was_read(const struct sp_settings *settings, const char *name);

/* Whether the launch sets it, not only the framework's own file below it. */
bool sp_chooses(struct sp_settings *settings, const char *name);

/* Whether there is one of that name, without marking it as read. */
bool sp_has_setting(const struct sp_settings *settings, const char *name);

/* The same if the value decides nothing, so that it may be unknown. */
const char *sp_peek_setting(struct sp_settings *settings, const char *name);

/* The last value of that name if it is known, without marking it as read; NULL: none. And a number
 * of it, or NAN; a whole one from 1 to 10^12, or `otherwise`. For checks, which need no value. */
const char *sp_said(const struct sp_settings *settings, const char *name);
double sp_said_number(const struct sp_settings *settings, const char *name);
int64_t sp_said_whole(const struct sp_settings *settings, const char *name, int64_t otherwise);

/* Whether a list separated by blanks or commas contains the word; NULL contains none. */
bool sp_has_word(const char *list, const char *word);

/* Refuses, by name and line, every setting whose value is needed but unknown, or longer than its
 * room. */
bool sp_refuse_gaps(struct sp_settings *settings);

/* "run.sh:12", or the file's name where the line is not known (0). */
void sp_put_place(const struct sp_settings *settings, int line, char *out, size_t size);

/* A setting's number, or `otherwise` if it is not given; adds an error if it is not a finite
 * number. */
double sp_setting_number(struct sp_settings *settings, const char *name, double otherwise);

/* A setting's whole number from `least` to 10^9, or `otherwise`; adds an error if it is not one. */
int64_t sp_setting_whole(struct sp_settings *settings, const char *name, int64_t least,
                         int64_t otherwise);

/* Whether it has that value, in letters of any size. */
bool sp_setting_is(struct sp_settings *settings, const char *name, const char *value);

/* Whether it is given with a value other than a word for false; and whether it is given with
 * one. */
bool sp_setting_on(struct sp_settings *settings, const char *name);
bool sp_setting_off(struct sp_settings *settings, const char *name);

/* Whether it names where to offload: neither a word for false nor none. */
bool sp_setting_away(struct sp_settings *settings, const char *name);

/* A model's file or name as models are named here: "models/llama3_70B.yaml" is "llama3-70b". */
void sp_spell_model(const char *name, char *out, size_t size);

/* Adds an option of `step` to the settings' launch: a text, or a whole number. */
__attribute__((format(printf, 3, 4))) void
sp_launch_option(const struct sp_settings *settings, const char *name, const char *format, ...);
void sp_launch_whole(const struct sp_settings *settings, const char *name, int64_t value);

/* Adds the number of devices that a launch starts: `all` on that many nodes together or, if that is
 * 0, `gpus` on each. */
void sp_launch_devices(struct sp_launch *launch, int64_t nodes, int64_t all, int64_t gpus);

/* Reports why a launch gives no model: the cause, before "give --model". */
__attribute__((format(printf, 2, 3))) void sp_launch_no_model(const struct sp_settings *settings,
                                                              const char *format, ...);

/* Adds a remark to it, or to any launch. */
__attribute__((format(printf, 2, 3))) void sp_launch_note(const struct sp_settings *settings,
                                                          const char *format, ...);
__attribute__((format(printf, 2, 3))) void sp_add_note(struct sp_launch *launch, const char *format,
                                                       ...);

/* Adds the state of an optimizer, unless it is Adam's two moments, as an option: `name` is the
 * value under `key` in the file, `momentum` that of SGD. An unknown optimizer is an error: counting
 * it as Adam would be a guess. */
void sp_read_optimizer(const struct sp_settings *settings, const char *key, const char *name,
                       double momentum);

/* Records a part of a plan that is lost, and the reason: the framework has no option for it, or
 * ("code: ") code has to do it, or ("later: ") the program does not write it yet. */
void sp_put_lost(const struct sp_written *written, const char *before, const char *after,
                 FILE *out);

/* Adds such a loss to the written launch; "model: " refuses it, because another model would be
 * trained. */
__attribute__((format(printf, 2, 3))) void sp_lose(const struct sp_launched *launched,
                                                   const char *format, ...);

/* Writes "llama3-70b on h100-64 (64 devices: dp 8 tp 4 pp 2 ...)". */
void sp_write_title(const struct sp_launched *launched, FILE *out);

/* Whether the layers' matmuls run in fp32 or TF32. */
bool sp_multiplies_in_fp32(const struct sp_plan *plan);

/* Whether the plan's states are those of the built-in recipe of that name, whatever the format of
 * its matmuls. */
bool sp_states_are(const struct sp_launched *launched, const char *name);

/* Whether the plan's recipe is that one, with the matmuls that the name implies: FSDP's "fp32"
 * means states in fp32 and matmuls in bf16, --precision fp32 means both in fp32. */
bool sp_recipe_is(const struct sp_launched *launched, const char *name);

/* "fp32", or "fp32 with matmuls in bf16" if the recipe's name would imply others, or a remark that
 * it was changed. */
void sp_recipe_text(const struct sp_launched *launched, char *text, size_t size);

#endif
