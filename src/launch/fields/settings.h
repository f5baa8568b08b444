/* Shared by the formats of src/launch: their rows, settings as frameworks spell them, options and
 * remarks of a launch that is read, and losses of one that is written. */
#ifndef SP_LAUNCH_SETTINGS_H
#define SP_LAUNCH_SETTINGS_H

#include <stdio.h>

#include "launch/launch.h"

/* Options as a framework spells them: names and values, in the order of the file. */
struct sp_setting {
    char name[96], value[256];
    const char *said; /* the option that it was given as; NULL: by its name */
    char gap[96];     /* what in the value is not known, "" if all is */
    char by[96];      /* the variable on which it depends; "" if unknown */
    int tail;         /* where what is known behind the last of it begins; 0: nothing */
    int first;        /* letters of its first word, which may hold blanks; 0: it is one word */
    int line;         /* 0: not known */
    int gap_line;
    bool read;    /* a reader has looked for it */
    bool needed;  /* and for its value */
    bool refused; /* an error has named it */
    bool cut;     /* the value was longer than there is room for */
    bool usual;   /* it is of the framework's own file, under those of the launch */
};
enum { SP_MAX_SETTINGS = 1024 };
struct sp_settings {
    const char *origin;
    const struct sp_launch_words *words; /* that they are read by */
    const char *core;         /* rows of what decides an answer (core.h); NULL: none are known */
    struct sp_launch *launch; /* where their values go; NULL: they are written */
    struct sp_error *error;   /* and what is wrong with them */
    struct sp_setting at[SP_MAX_SETTINGS];
    int n;
    int command; /* of a script, that is read: 1 + its place; 0: none */
};

struct sp_program;

/* A file that is read: as text, as JSON where it is an object of it (else NULL), for a machine
 * (NULL: not known yet), and as settings. `assumed`: see assumed.h. */
struct sp_launch_file {
    const char *origin, *text;
    const cJSON *json;
    const struct sp_hardware *hw;
    const struct sp_sources *sources;
    const struct sp_script *script;                 /* NULL: it is no shell's script */
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

/* A framework's form of a launch: written, read, or both; the function that it lacks is NULL. */
struct sp_target {
    const char *words[SP_LAUNCH_FILES]; /* names of files in configs/launch, or NULL */

    /* Puts the plan on `out`. Losses are found before the first line is written. */
    void (*write)(const struct sp_launched *launched, FILE *out);

    const char *program; /* what starts a server; NULL: it trains */
    bool takes_tf32;     /* for fp32 without being told, as JAX does; PyTorch multiplies in fp32 */

    const char *format; /* what was read: "Megatron-LM arguments" */
    /* NULL: only the program or the keys tell, by configs/launch/programs.json. */
    enum sp_match (*detect)(const struct sp_launch_file *file);
    bool (*read)(struct sp_launch_file *file);
};

/* Settings without any, for free(): of the file, words, launch and errors of others, or those that
 * a plan is written as. */
struct sp_settings *sp_new_settings(const struct sp_settings *like);
struct sp_settings *sp_settings_of(const struct sp_launched *launched);

/* Whether all that is asked of a plan to be written is known: something is lost. */
bool sp_is_settled(const struct sp_launched *launched);

/* Adds an error of the file that the settings are of, and returns false. */
__attribute__((format(printf, 2, 3))) bool sp_fail_in(const struct sp_settings *settings,
                                                      const char *format, ...);

/* Takes name and value (NULL: none); false with an error when there are too many. */
bool sp_add_setting(struct sp_settings *settings, const char *name, const char *value);

/* The same with all that is known of a setting elsewhere: its value, its line, its gap. */
bool sp_copy_setting(struct sp_settings *to, const struct sp_setting *from, const char *name);

/* The same with all settings of another file that this one lacks. */
bool sp_copy_lacking(struct sp_settings *to, const struct sp_settings *from);

/* The same of a value that is put together; what has no room is left out. */
__attribute__((format(printf, 3, 4))) void
sp_make_setting(struct sp_settings *settings, const char *name, const char *format, ...);

/* The same of a whole number, and of one that is there without a value, or not at all. */
void sp_make_whole(struct sp_settings *settings, const char *name, int64_t value);
void sp_make_switch(struct sp_settings *settings, const char *name, bool on);

/* The value of a setting (the last one of that name), NULL when it is not given. All of that name
 * count as read, and the value as needed. */
const char *sp_setting(struct sp_settings *settings, const char *name);

/* The same of a file's name: what of its path is not known in front of the name does no harm. */
const char *sp_setting_file(struct sp_settings *settings, const char *name);

/* The same of a launcher's option, copied to `out`: the words behind it are the script's. */
const char *sp_launcher_file(struct sp_settings *settings, const char *name, char *out,
                             size_t size);

/* What of a value is known behind the last part of it that is not; NULL: nothing. */
const char *sp_said_tail(const struct sp_settings *settings, const char *name);

/* Whether a reader has asked for it. */
bool sp_was_read(const struct sp_settings *settings, const char *name);

/* Whether the launch says it, and not only the framework's own file under it. */
bool sp_chooses(struct sp_settings *settings, const char *name);

/* Whether there is one of that name, without a trace that it was asked for. */
bool sp_has_setting(const struct sp_settings *settings, const char *name);

/* The same where the value decides nothing: it may be one that nothing tells. */
const char *sp_peek_setting(struct sp_settings *settings, const char *name);

/* The last value of that name if it is known, without a trace that it was asked for; NULL: none.
 * And a number of it, or NAN; a whole one from 1 to 10^12, or `otherwise`. For checks, which need
 * nothing. */
const char *sp_said(const struct sp_settings *settings, const char *name);
double sp_said_number(const struct sp_settings *settings, const char *name);
int64_t sp_said_whole(const struct sp_settings *settings, const char *name, int64_t otherwise);

/* Whether a list that blanks or commas divide has the word; a list of NULL has none. */
bool sp_has_word(const char *list, const char *word);

/* Whether a name is of a list of names parted by blanks, where "log-*" is all that start so
 * and "*-vit" all that end so. */
bool sp_is_quiet(const char *quiet, const char *name);

/* Refuses, by name and line, every setting whose value is needed and not known, or longer than
 * there is room for. */
bool sp_refuse_gaps(struct sp_settings *settings);

/* Names in a remark, as many as have room, what no reader asked for: neither of `quiet` (names
 * parted by blanks, "log-*" for all that start so) nor marked as read. `prefix` stands in front of
 * names in the file and not in the list. A setting that decides an answer is harmless only by its
 * whole name; without its option there is no answer. */
void sp_note_unread(struct sp_settings *settings, const char *prefix, const char *quiet);

/* A setting's number, or `otherwise` when it is not given; adds an error when it is no finite
 * number. */
double sp_setting_number(struct sp_settings *settings, const char *name, double otherwise);

/* A setting's whole number from `least` to 10^9, or `otherwise`; adds an error when it is none. */
int64_t sp_setting_whole(struct sp_settings *settings, const char *name, int64_t least,
                         int64_t otherwise);

/* Whether it has that value, in letters of any size. */
bool sp_setting_is(struct sp_settings *settings, const char *name, const char *value);

/* Whether it is given, and not as a word for false; and whether it is given as one. */
bool sp_setting_on(struct sp_settings *settings, const char *name);
bool sp_setting_off(struct sp_settings *settings, const char *name);

/* A model's file or name as models are named here: "models/llama3_70B.yaml" is "llama3-70b". */
void sp_spell_model(const char *name, char *out, size_t size);

/* Adds an option of `step` to the settings' launch: a text, or a whole number. */
__attribute__((format(printf, 3, 4))) void
sp_launch_option(const struct sp_settings *settings, const char *name, const char *format, ...);
void sp_launch_whole(const struct sp_settings *settings, const char *name, int64_t value);

/* The devices that a launch starts: `all` on that many nodes together, or where that is 0 `gpus` on
 * each. */
void sp_launch_devices(struct sp_launch *launch, int64_t nodes, int64_t all, int64_t gpus);

/* Says why a launch says no model: the cause, before "give --model". */
__attribute__((format(printf, 2, 3))) void sp_launch_no_model(const struct sp_settings *settings,
                                                              const char *format, ...);

/* Adds a remark to it, or to any launch. */
__attribute__((format(printf, 2, 3))) void sp_launch_note(const struct sp_settings *settings,
                                                          const char *format, ...);
__attribute__((format(printf, 2, 3))) void sp_add_note(struct sp_launch *launch, const char *format,
                                                       ...);

/* Adds the state of an optimizer, if it is not Adam's two moments, as an option: `name` is what
 * the file says under `key`, `momentum` that of SGD. An error where it is no optimizer that is
 * known: to count it as Adam would be a guess. */
void sp_read_optimizer(const struct sp_settings *settings, const char *key, const char *name,
                       double momentum);

/* Puts what of a plan is lost, and why: the framework has no option for it, or ("code: ") code has
 * to do it, or ("later: ") nothing here writes it yet. */
void sp_put_lost(const struct sp_written *written, const char *before, const char *after,
                 FILE *out);

/* Adds such a loss to what is written; "model: " refuses it, as another model would be trained. */
__attribute__((format(printf, 2, 3))) void sp_lose(const struct sp_launched *launched,
                                                   const char *format, ...);

/* Writes "llama3-70b on h100-64 (64 devices: dp 8 tp 4 pp 2 ...)". */
void sp_write_title(const struct sp_launched *launched, FILE *out);

/* Whether the layers' matmuls run in fp32 or TF32. */
bool sp_multiplies_in_fp32(const struct sp_plan *plan);

/* Whether the plan's states are those of the recipe that ships under that name, whatever the format
 * of its matmuls. */
bool sp_states_are(const struct sp_launched *launched, const char *name);

/* Whether the plan's recipe is that one, with the matmuls that the name stands for: FSDP's "fp32"
 * is states in fp32 and matmuls in bf16, where --precision fp32 is both. */
bool sp_recipe_is(const struct sp_launched *launched, const char *name);

/* "fp32", or "fp32 with matmuls in bf16" where the recipe's name would mean others, or that it was
 * changed. */
void sp_recipe_text(const struct sp_launched *launched, char *text, size_t size);

#endif
