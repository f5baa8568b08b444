/* Launches of training frameworks as plans, and plans as launches. */
#ifndef SP_LAUNCH_H
#define SP_LAUNCH_H

#include "config/load.h"

#include <scaleplan/formats.h>
#include <scaleplan/plan.h>

/* The targets of `export`, in the order of --help: TARGET(row, name, framework, form). A row is
 * the const struct sp_target sp_target_<row> at the end of a format's file, the name the typed
 * word. NEXT comes between two rows and LAST before the last one, so that the rows also make
 * sentences. */
/* clang-format off */
#define SP_TARGETS(TARGET, NEXT, LAST) \
    TARGET(megatron, "megatron", "Megatron-LM", "arguments") NEXT \
    TARGET(bridge, "megatron-bridge", "Megatron-Bridge", "YAML") NEXT \
    TARGET(torchtitan, "torchtitan", "torchtitan", "a Python recipe") NEXT \
    TARGET(deepspeed, "deepspeed", "DeepSpeed", "JSON") NEXT \
    TARGET(maxtext, "maxtext", "MaxText", "YAML") NEXT \
    TARGET(accelerate, "accelerate", "accelerate", "YAML") LAST \
    TARGET(jax, "jax", "JAX", "mesh and specs")

/* Engines of services, in the same manner: `export` writes and `serve --from` reads their
 * commands. */
#define SP_ENGINES(TARGET, NEXT, LAST) \
    TARGET(vllm, "vllm", "vLLM", "a server's command") NEXT \
    TARGET(sglang, "sglang", "SGLang", "a server's command") LAST \
    TARGET(trtllm, "trtllm", "TensorRT-LLM", "a server's command")

/* The forms that `step --from` reads, in the order in which they are tried: the first that accepts a file reads it. */
#define SP_READABLE(TARGET, NEXT, LAST) \
    TARGET(megatron, "megatron", "Megatron-LM", "arguments of Megatron-LM") NEXT \
    TARGET(torchtitan, "torchtitan", "torchtitan", "options of torchtitan") NEXT \
    TARGET(neox, "neox", "GPT-NeoX", "a GPT-NeoX YAML") NEXT \
    TARGET(accelerate, "accelerate", "accelerate", "an accelerate YAML") NEXT \
    TARGET(trainer, "trainer", "Trainer", "arguments of Hugging Face's Trainer or axolotl") NEXT \
    TARGET(verl, "verl", "verl", "settings of verl") NEXT \
    TARGET(verl_sft, "verl-sft", "verl", "settings of verl's supervised tuning") NEXT \
    TARGET(nemo_rl, "nemo-rl", "NeMo-RL", "settings of NeMo-RL") NEXT \
    TARGET(openrlhf, "openrlhf", "OpenRLHF", "arguments of OpenRLHF") NEXT \
    TARGET(nanogpt, "nanogpt", "nanoGPT", "settings of nanoGPT") NEXT \
    TARGET(peft, "peft", "PEFT", "a PEFT adapter_config.json") NEXT \
    TARGET(deepspeed, "deepspeed", "DeepSpeed", "a DeepSpeed JSON") LAST \
    TARGET(maxtext, "maxtext", "MaxText", "options of MaxText")
/* clang-format on */

/* Columns of the rows, as text. */
#define SP_TARGET_NAME(row, name, framework, form) name
#define SP_TARGET_FRAMEWORK(row, name, framework, form) framework
#define SP_TARGET_NAME_FORM(row, name, framework, form) name " (" form ")"

struct sp_target;
/* The names that `export --to` takes, NULL-terminated: each name, followed by "name@version" for
 * each of its versions. */
extern const char *const sp_export_choices[];

/* The target with such a name, and the place of its version in that list. */
const struct sp_target *sp_target_of(int choice, int *version);

enum { SP_LAUNCH_UNREAD = 32, SP_LAUNCH_ROLLOUT = 64, SP_LAUNCH_REMARKS = 16 };
enum { SP_LAUNCH_OPTIONS = 48, SP_LAUNCH_NOTES = 64, SP_LAUNCH_LOSSES = 64, SP_LAUNCH_FILES = 3 };

/* A setting that decides an answer and was not read: the option that it decides, its name, value
 * and line (0: not known). */
struct sp_unread {
    char option[24], name[72], value[64];
    int line;
};

/* A launch as options of `step`, and its settings that have no option. */
struct sp_launch {
    const char *format; /* "Megatron-LM arguments", ...; NULL: none was recognised */
    struct {
        char name[24], value[768];
    } option[SP_LAUNCH_OPTIONS];
    int options;
    struct {
        char name[24], value[64];
    } rollout[SP_LAUNCH_ROLLOUT]; /* options of `rl`, and `apart`: devices that only generate */
    int n_rollout;
    char rollout_note[SP_LAUNCH_REMARKS][240]; /* facts of the rollout that `rl` does not model */
    int rollout_notes;
    bool etp_is_tp; /* experts are split like the rest: a typed TP degree also counts for them */
    char note[SP_LAUNCH_NOTES][240];
    int notes, refusals; /* those of the notes that the framework refuses */
    int64_t devices;     /* devices that it starts; 0: not stated */
    char two_sizes[200]; /* why its numbers of them contradict each other; "": they do not */
    struct {
        int64_t processes, machines, ids; /* 0: not stated */
        char name[72];
    } config;          /* of a file that starts them, if the command states no number */
    int64_t per_node;  /* those on each of several nodes; 0: not stated, or one node */
    char machine[128]; /* the chip that was typed without a count, with these; "": none was */
    struct sp_unread unread[SP_LAUNCH_UNREAD]; /* no answer unless these options are typed */
    int n_unread;
    bool serves;        /* it starts a server: options of `serve` */
    double longest;     /* most tokens of a request; 0: unknown */
    char no_model[160]; /* why it gives no model; "": it gives one, or the reason is unknown */
};

/* The settings of an engine's server: numbers that are not given are NAN, texts NULL. A value that
 * is `usual` is the engine's own default. */
struct sp_served_pool {
    double instances; /* of this command, on the machine */
    double tp, attention_dp, pp, ep;
};
struct sp_served_launch {
    const struct sp_sources *sources;
    const char *model, *hardware, *draft_model; /* names */
    struct sp_served_pool pool, reads; /* which of two pools: it generates, or reads its prompts */
    bool apart;                        /* `reads` is another pool */
    double experts;                    /* of a layer; 0: none */
    double sequences, length, chunk, memory_fraction, block, drafts;
    const char *weights, *kv; /* formats */
    bool stored; /* the checkpoint is not in 16 bits, so engines make other formats from it */
    bool usual_weights, usual_kv, usual_block;
    bool kv_lacks_chip; /* the chip has no such arithmetic */
    bool own_head;      /* the model itself predicts further tokens */
    double host;        /* chips of a host */
    struct {
        const char *name, *value;
    } asked[64]; /* options that were typed, for the comment about those that no engine has */
    int n_asked;
};

struct sp_settings;

/* Options typed for a launch: script variables with values, "NAME=VALUE", and which of several
 * trainings to read (NULL: not given). `over`: settings of the file above this one, whose values
 * can also be named; NULL: there are none. */
struct sp_typed_names {
    const char *recipe;
    bool trains; /* training is asked for: a server that the launch also starts does not count */
    const struct sp_settings *over;
    const char *at[64];
    int n;
};

/* The rollout's whole number of that name; 0 if the launch does not give it. */
int64_t sp_rollout_whole(const struct sp_launch *launch, const char *name);

/* Reads a file of SP_READABLE; `path` "-" is standard input. `hw` is NULL when it is not known yet.
 * What cannot be read as a number is an error. */
bool sp_read_launch(const char *path, const struct sp_hardware *hw,
                    const struct sp_sources *sources, const struct sp_typed_names *names,
                    struct sp_launch *launch, struct sp_error *error);

struct sp_written;

/* The built-in names of a model and a recipe. */
struct sp_shipped {
    bool has_model, has_precision;
    struct sp_model model;
    struct sp_precision precision;
};

/* A plan to be written. */
struct sp_launched {
    const struct sp_model *model;
    const struct sp_hardware *hw;
    const struct sp_plan *plan;
    const struct sp_sources *sources; /* of the frameworks' files; NULL: only built-in ones */
    /* Results of sp_open_launch_words and sp_find_shipped; NULL: sp_write_launch looks itself, */
    struct sp_launch_words *words[SP_LAUNCH_FILES];
    const struct sp_shipped *shipped;
    struct sp_written *written;    /* has room for the result */
    char recipe[128];              /* and expects the recipe in words */
    bool only_asks;                /* whether anything is lost: stops at the first loss */
    int version;                   /* of the target: its place in SP_VERSIONS_OF_... */
    const char *remat, *framework; /* names */
    struct sp_execution usual;     /* the framework's own behaviour where a plan states nothing */
    const struct sp_precision *precision; /* the recipe after its overrides */
    const char *framework_given; /* the typed text, if its name does not find it; or NULL */
};

/* A written plan: the framework's own form, for free(), and the parts that it cannot express. */
struct sp_written {
    char *text;
    const char *suffix; /* of a file's name: ".py"; NULL: any */
    char lost[SP_LAUNCH_LOSSES][160];
    int n_lost;
};

/* Why a part is lost; removes the reason's mark from the text. */
const char *sp_lost_kind(const char **lost);

/* Opens the files with a target's words, for many plans, and closes them. False with an error if
 * one is wrong; they are then closed. */
bool sp_open_launch_words(const struct sp_target *target, const struct sp_sources *sources,
                          struct sp_launch_words *words[SP_LAUNCH_FILES], struct sp_error *error);
void sp_close_launch_words(struct sp_launch_words *words[SP_LAUNCH_FILES]);

/* The same of the names of a model and a recipe. */
void sp_find_shipped(const struct sp_model *model, const struct sp_precision *precision,
                     struct sp_shipped *shipped);

/* False with an error if a framework's file cannot be read; `written` then has no text. */
bool sp_write_launch(const struct sp_target *target, const struct sp_launched *launched,
                     struct sp_written *written, struct sp_error *error);

/* The same of a service as an engine's command. */
bool sp_write_server(const struct sp_target *target, const struct sp_served_launch *launch,
                     struct sp_written *written, struct sp_error *error);

/* Whether a target is the command of a server. */
bool sp_is_server(const struct sp_target *target);

#endif
