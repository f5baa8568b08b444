/* Finds configs by name, alias or file, and turns them into checked structs. */
#ifndef SP_LOAD_H
#define SP_LOAD_H

#include <stdbool.h>

#include <scaleplan/scaleplan.h>

#include "base/error.h"
#include "config/fields.h"
#include "config/kinds.h"
#include "config/ground.h"
#include "config/launch_words.h"
#include "config/log_words.h"
#include "config/sources.h"

/* A config compiled into the binary. */
struct sp_builtin {
    enum sp_config_kind kind;
    const char *name; /* file name without .json */
    const char *text;
    size_t length;
};
extern const struct sp_builtin sp_builtins[];
extern const size_t sp_n_builtins;

/* The text of a config. Free with sp_config_free. */
struct sp_config {
    struct sp_json json;
    char *owned; /* text read from a file, else NULL */
    char origin[256];
};

/* Opens a config of one kind by name, alias, file or "-" and parses it. */
bool sp_open_config(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                    struct sp_config *config, struct sp_error *error);
void sp_config_free(struct sp_config *config);

/* Devices of the system that an alias of a machine names, such as the rack of "gb200-nvl72=72"; 0:
 * it names a chip. */
int64_t sp_devices_of_alias(const char *name, const struct sp_sources *sources);

/* Whether a config of that name exists, not a file; and the same including aliases, which is slower
 * because aliases are inside the files. */
bool sp_config_named(enum sp_config_kind kind, const char *name, const struct sp_sources *sources);
bool sp_config_exists(enum sp_config_kind kind, const char *name, const struct sp_sources *sources);

/* Whether the name or alias opens a built-in config, not a file or user's config. Checks that only
 * warn for user files are errors for built-in ones. */
bool sp_is_builtin(enum sp_config_kind kind, const char *name, const struct sp_sources *sources);

/* Calls `visit` for every known name of a kind: user files first, then built-in ones. */
void sp_each_config(enum sp_config_kind kind, const struct sp_sources *sources,
                    void (*visit)(const char *name, void *context), void *context);

/* Offers the names of all kinds as candidates for a mistyped one. */
struct sp_nearest;
void sp_nearest_config(struct sp_nearest *nearest, const struct sp_sources *sources);

/* Loads a config of any kind into the struct of its kind; free() it. NULL with an error. */
void *sp_load_config(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                     struct sp_error *error);

/* Decode a parsed config of one kind and check that its values agree with each other. */
bool sp_decode_model(const struct sp_json *json, struct sp_model *model, struct sp_error *error);

/* Makes a model from "layers=64,d_model=4096,...": keys of the model file. Missing ones are derived
 * if one reading is natural (d_ff = 4 d_model, kv_heads = heads, head_dim = d_model / heads). */
bool sp_model_from_shape(const char *shape, const struct sp_sources *sources,
                         struct sp_model *model, struct sp_error *error);

/* Replaces a Hugging Face config by its native document; a native one stays unchanged. */
bool sp_nativise_model(struct sp_json *json, const struct sp_sources *sources,
                       struct sp_error *error);

/* Opens a config and decodes it by its kind's table, with --set, into `base`, and checks it. A
 * machine is a chip without a size then, and of a framework's words only the file counts. */
bool sp_load_fields(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                    void *base, struct sp_error *error);

/* Whether a built-in config has that name, and its fields, ignoring users' files. */
bool sp_has_builtin(enum sp_config_kind kind, const char *name);
bool sp_load_builtin(enum sp_config_kind kind, const char *name, void *base,
                     struct sp_error *error);

/* A trend, and its points as written. */
struct sp_trend_file {
    struct sp_trend trend;
    char points[2048];
};

/* Reads the points: "GPT-3 2020.41 3.14e23, PaLM 2022.26 540Bx780B". False with an error if one is
 * wrong, or if there are too many. */
bool sp_read_trend_points(struct sp_trend_file *file, struct sp_error *error);

/* The places of all files for that kind of network, and how many; free() them. An error if a file
 * is wrong. */
struct sp_place *sp_load_places(enum sp_network_kind network, const struct sp_sources *sources,
                                size_t *n, struct sp_error *error);

/* A framework's file: the facts that models use, and how to recognise its runs. */
struct sp_framework_file {
    struct sp_framework framework;
    char marks[256];    /* comma-separated; a run whose source contains one belongs to this
                           framework */
    char serves[16];    /* "gpu", "zero3" or "tpu": runs without a mark that are attributed to this
                           framework */
    char selective[16]; /* the framework's policy named selective */
    /* Supported names, comma-separated, for `search`; "": all. */
    char schedules[96], recompute[96], zero[16], dispatchers[64], cp_kinds[64],
        sequence_parallel[16];
    char cp_kinds_tpu[32], cp_kinds_plain[32]; /* "": none */
    char recompute_modules[96]; /* parts of a layer that it can recompute, in the order in which
                                   they are tried; "": none */
    char offload_modules[96];   /* inputs of a layer that it can keep in host memory; "": none */
    char offload_rules[96]; /* those of them that need other parts, or certain models; "": none */
    bool optimizer_offload; /* and a share of the optimizer */
    bool can_overlap_moe;
    bool overlap_in_chunks;       /* of stages only with several chunks each, or by DualPipe */
    char overlap_refuses[32];     /* dispatchers whose exchange it does not hide; "": none */
    bool whole_axes;              /* TP takes whole axes of a torus */
    bool even_stages;             /* pipeline stages must have equal numbers of layers */
    bool own_stages;              /* the layers of each stage can be set */
    bool offload;                 /* kept activations can be offloaded to the host */
    bool usual_sequence_parallel; /* with TP, if a run does not state it */
    int usual_micro_batch;        /* enum sp_usual_micro_batch, if a run does not state it */
};

/* The micro-batch of a framework with pipeline stages by default: a replica's whole share of the
 * batch, one sequence, or the share divided by the stages. */
enum sp_usual_micro_batch { SP_MICRO_SHARE, SP_MICRO_ONE, SP_MICRO_STAGES };

/* sp_load_model(spec, sources, model, error) and its like of each kind: a name, an alias or a file,
 * with --set, checked. A machine's spec is "v5p-4096", "v5p:16x16x16", "v5p-8960x2",
 * "gcp:v5p-8192", "h100-512", "my-chip.json-64" or "v5p"; a user's file of a framework's words
 * extends the built-in one of the same name and replaces options of the same name. */
#define SP_LOADER(kind, folder, name, noun, nouns, type, load, ...)                                \
    bool sp_load_##load(const char *spec, const struct sp_sources *sources, type *config,          \
                        struct sp_error *error);
SP_KINDS(SP_LOADER, )
#undef SP_LOADER

/* Loads every known profile, each name once; users' replace built-in ones. A broken profile is an
 * error, as are more than SP_MAX_PROFILES: skipping one would silently use another. */
enum { SP_MAX_PROFILES = 512 };
bool sp_load_profiles(const struct sp_sources *sources, struct sp_profile *profiles, size_t *n,
                      struct sp_error *error);

/* The profile of a chip and a framework: "CHIP-FRAMEWORK" if it exists (then `own`), else one that
 * borrows from the `n` known ones. */
void sp_profile_for(const struct sp_hardware *hw, const struct sp_framework *framework,
                    const struct sp_profile *known, size_t n, struct sp_profile *profile,
                    bool *own);

/* The profile of a chip and an engine: expected constants only; or with `borrows` those of
 * "CHIP-ENGINE" if it exists (then `own`), else borrowed. */
void sp_expect_serving_of(const struct sp_hardware *hw, const char *engine,
                          struct sp_profile *profile);
bool sp_load_serving(const struct sp_hardware *hw, const char *engine,
                     const struct sp_sources *sources, struct sp_profile *profile, bool *own,
                     struct sp_error *error);

/* The memory_factor of a stack's own profile; 1 without one (it is not borrowed). Reads at most one
 * file. */
bool sp_load_memory_factor(const struct sp_hardware *hw, const struct sp_framework *framework,
                           const struct sp_sources *sources, double *factor,
                           struct sp_error *error);

/* The same, from all profiles that sp_load_profiles finds. */
bool sp_load_stack(const struct sp_hardware *hw, const struct sp_framework *framework,
                   const struct sp_sources *sources, struct sp_profile *profile, bool *own,
                   struct sp_error *error);

/* Loads a chip by name, alias or file, without a size. */
bool sp_load_chip(const char *name, const struct sp_sources *sources, struct sp_hardware *hw,
                  struct sp_error *error);

/* Copies the name of a machine spec; true if the spec has more (size, shape, "gcp:"). */
bool sp_machine_name(const char *spec, const struct sp_sources *sources, char *name, size_t size);

/* Google Cloud's name of the slice ("v5p-8192"); "" if it has none. */
void sp_cloud_name(const struct sp_hardware *hw, char *out, size_t size);

/* "16x16x16", "64 nodes of 8". */
void sp_shape_name(const struct sp_hardware *hw, char *out, size_t size);

/* Whether --set sets that field. */
bool sp_is_set(const struct sp_sources *sources, const struct sp_field_table *table,
               const char *key);

/* Refuses --set paths with an unknown first part. */
bool sp_check_sets(const struct sp_sources *sources, struct sp_error *error);

#endif
