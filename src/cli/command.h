/* A command: a row of the table in commands.c, one file each in src/commands. */
#ifndef SP_COMMAND_H
#define SP_COMMAND_H

#include <scaleplan/plan.h>

#include "config/load.h"
#include "pictures/plot.h"
#include "answer/report.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/words.h"

struct sp_example {
    const char *line, *what; /* the line after the program's name */
};

struct sp_command {
    const char *name, *summary;
    const char *operands; /* "NAME...", or NULL when it takes none */
    const char *about;    /* a paragraph for --help and the man page */
    const struct sp_taken *options;
    size_t n_options;
    const enum sp_option_id *without;  /* common options that mean nothing here; NULL: none */
    const struct sp_example *examples; /* NULL-terminated */
    const char *fits_key, *compute_bound_key; /* keys that --check judges; NULL: no --check */
    const char *asked_fits, *asked_bound;     /* those that it judges instead where the answer has
                                                 them: of a plan that was asked about */
    const char *bound_word;                   /* name of the second in --check */
    const char *bare_check;                   /* key that --check without a word judges */
    const char *limits_key; /* of limits that the answer is asked to keep: a "no" fails --check */
    const char *paper_key;  /* of answers about plans that nobody runs: no, unless --check names one
                               verdict; or NULL */
    const char *failed_key; /* a count: exit 1 when it is not 0, without --check too; or NULL */

    bool is_list;      /* its text has as many lines as there are answers */
    bool writes_other; /* -o FILE takes another file than the answer: a launch, a config */

    /* Whether run() reads back what it put: its report must take everything. */
    bool reads_report;

    /* Fills the report. Prints nothing. NULL: not in a page (SP_IN_SHELL). */
    bool (*run)(const struct sp_args *args, struct sp_report *report, struct sp_error *error);

    /* The picture of a filled report, for --plot; NULL: the command has none. Takes its numbers
     * from the report and from core. NULL with an error when there is nothing to draw. */
    struct sp_figure *(*plot)(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error);

    /* For commands that print rows as they arrive instead of making one report (argv[0] is the
     * command's name). `streams`: whether these words ask for rows. NULL: never. */
    bool (*streams)(int argc, char **argv, struct sp_world *world);
    enum sp_exit (*stream)(int argc, char **argv, struct sp_world *world,
                           const struct sp_output *to, struct sp_error *error);
};

/* Marks a function of a command that a page has no room for; it is NULL there. For functions of use
 * only where a person has files and a shell. The linker then drops everything that only such
 * functions call. */
#ifdef __wasi__
enum { SP_IN_PAGE = 1 };
#else
enum { SP_IN_PAGE = 0 };
#endif
#define SP_IN_SHELL(function) (SP_IN_PAGE ? NULL : (function))
#define SP_ABOUT_IN_SHELL(text) (SP_IN_PAGE ? "Needs a shell." : (text))
#define SP_EXAMPLES_IN_SHELL(examples) (SP_IN_PAGE ? &sp_no_example : (examples))
extern const struct sp_example sp_no_example; /* the end of an empty list */

/* Reports that it needs a shell: false, exit 4. */
bool sp_refuse_in_page(struct sp_error *error);

/* The --format that the ending of a file's name stands for; NULL: none. */
const char *sp_format_of_file(const char *path);

/* The options of a command in its struct. Compilation fails if a parsed command line has no room
 * for them, for those of a plan and of their limits that rows may stand for, and for the common
 * ones. */
enum { SP_COMMON_OPTIONS = 12 };
#define SP_OPTIONS(table)                                                                          \
    .options = (table),                                                                            \
    .n_options = sizeof(table) / sizeof *(table) +                                                 \
                 0 * sizeof(struct {                                                               \
                     int unused;                                                                   \
                     _Static_assert(sizeof(table) / sizeof *(table) + 2 * SP_PLAN_FIELDS +         \
                                            SP_COMMON_OPTIONS <=                                   \
                                        SP_MAX_OPTIONS,                                            \
                                    "more options than SP_MAX_OPTIONS");                           \
                 })

/* Every command, in the order of --help; see commands.c. */
extern const struct sp_command *const sp_commands[];
extern const size_t sp_n_commands;

/* The command of that name, or NULL with an error that suggests the nearest. */
const struct sp_command *sp_find_command(const char *name, struct sp_error *error);

/* Parses argv (argv[0] is the command's name) and, unless --help is given, fills the report. */
bool sp_run_command(const struct sp_command *command, int argc, char **argv, struct sp_args *args,
                    struct sp_report *report, struct sp_error *error);

/* Runs a command for one answer of many (a row, a line, a case), which writes no file and draws no
 * picture: an option that would is refused. */
bool sp_compute(const struct sp_command *command, int argc, char **argv, struct sp_args *args,
                struct sp_report *report, struct sp_error *error);
bool sp_only_computes(const struct sp_option *option, struct sp_error *error);

/* Room for a parsed command line, which is too large for the stack of a command inside a command;
 * free() it. */
struct sp_args *sp_new_args(struct sp_world *world);

/* Answers parsed options. */
bool sp_answer(const struct sp_command *command, struct sp_args *args, struct sp_report *report,
               struct sp_error *error);

/* Answers many command lines that ask for the same keys. If the keys are whole paths, a report
 * takes only those. Begins as {0}; sp_free_asker() it. */
struct sp_asker {
    struct sp_asked *asked;
    bool gave_up; /* a key was not a whole path: it may be the last parts of any */
};
void sp_free_asker(struct sp_asker *asker);

/* The report of parsed options, with all of it or with what `keys` (NULL: all) ask for; NULL with
 * an error. sp_report_free() it. */
struct sp_report *sp_answer_asked(struct sp_asker *asker, const struct sp_command *command,
                                  struct sp_args *args, const char *keys, struct sp_error *error);

/* The same for a command line that is not parsed yet. */
struct sp_report *sp_compute_asked(struct sp_asker *asker, const struct sp_command *command,
                                   int argc, char **argv, struct sp_args *args, const char *keys,
                                   struct sp_error *error);

/* Parses the options of a command line, without an answer. */
bool sp_parse_command(const struct sp_command *command, int argc, char **argv, struct sp_args *args,
                      struct sp_error *error);

/* Fills `options` with those of a command: its own, those of a plan's fields if its list has
 * SP_EACH_..., then the common ones. Returns their number. */
size_t sp_options_of(const struct sp_command *command, struct sp_option options[SP_MAX_OPTIONS]);

/* Option rows that several commands share. */
/* clang-format off */
#define SP_OPTION_MODEL SP_TAKE(model)
#define SP_OPTION_PARAMS SP_TAKE(params, .excludes = SP_THESE(SP_O_model, SP_O_shape))
#define SP_OPTION_SHAPE SP_TAKE(shape, .excludes = SP_THESE(SP_O_model))
#define SP_OPTION_HW SP_TAKE(hw)
#define SP_OPTION_NETWORK SP_TAKE(network, .needs = SP_THESE(SP_O_hw))
#define SP_OPTION_BATCH SP_TAKE(batch)
#define SP_OPTION_SEQ SP_TAKE(seq)
#define SP_OPTION_CONVENTION SP_TAKE(convention, .fallback = "6p")
/* The recipe and the policy that `step` takes; see sp_recipe_of and sp_remat_of. */
#define SP_OPTION_RECIPE SP_TAKE(precision)
#define SP_OPTION_REMAT_THAT_FITS SP_TAKE(remat, .choices = sp_remat_names)
#define SP_OPTION_REMAT(otherwise) SP_TAKE(remat, .fallback = otherwise, .choices = sp_remat_names)
#define SP_OPTION_RUN_TOKENS SP_TAKE(tokens)
#define SP_DEFAULT_SITE "typical"
/* The launch from which a plan comes: it is needed to say more about it. */
#define SP_OPTIONS_FROM SP_TAKE(from), SP_OPTIONS_OF_LAUNCH
#define SP_OPTIONS_OF_LAUNCH \
    SP_TAKE(recipe, .needs = SP_THESE(SP_O_from)), SP_TAKE(set_var, .needs = SP_THESE(SP_O_from))
#define SP_OPTIONS_PRICE SP_TAKE(price), SP_OPTIONS_CAPEX
#define SP_OPTIONS_CAPEX SP_TAKE(capex), \
    SP_TAKE(years, .fallback = "4", .needs = SP_THESE(SP_O_capex)), \
    SP_TAKE(in_use, .fallback = "100%", .needs = SP_THESE(SP_O_capex)), \
    SP_TAKE(usd_per_kwh, .fallback = "0.08", .needs = SP_THESE(SP_O_capex))

/* The power of devices, and what the building adds. */
#define SP_OPTIONS_POWER SP_TAKE(watts), SP_TAKE(pue, .fallback = "1")

/* Groups of options: a command has all of a group or none. sp_model_of, sp_hardware_of and
 * sp_batch_of read them. */
#define SP_OPTIONS_MODEL SP_OPTION_MODEL, SP_OPTION_SHAPE
#define SP_OPTIONS_SIZED_MODEL SP_OPTIONS_MODEL, SP_OPTION_PARAMS
#define SP_OPTIONS_MACHINE SP_OPTION_HW, SP_OPTION_NETWORK
#define SP_OPTIONS_BATCH SP_OPTION_BATCH, SP_OPTION_SEQ

#define SP_OPTION_PLOT SP_TAKE(plot), SP_OPTION_PLOT_WIDTH
#define SP_OPTION_PLOT_WIDTH SP_TAKE(plot_width, .needs = SP_THESE(SP_O_plot), .fallback = "900")
#define SP_OPTION_OVERLAP SP_TAKE(overlap, .fallback = "axes")
/* clang-format on */

/* The sources of a command line: --config-dir, --constants and --set. */
struct sp_sources sp_sources_of(const struct sp_args *args);

/* Loads --model, or makes a size-only model of --params, and applies --trainable if the command has
 * it; false with an error when neither or both are given. */
bool sp_model_of(const struct sp_args *args, const struct sp_sources *sources,
                 struct sp_model *model, struct sp_error *error);

/* Loads --hw, and replaces its scale-out network by --network. */
bool sp_hardware_of(const struct sp_args *args, const struct sp_sources *sources,
                    struct sp_hardware *hw, struct sp_error *error);

/* Whether a machine's text is a chip without a count: it ends in no "-8" or "-8x4". */
bool sp_is_bare_chip(const char *spec);

/* Replaces the network of a switched machine; a torus has none. */
bool sp_put_network(const char *network, const struct sp_sources *sources, struct sp_hardware *hw,
                    struct sp_error *error);

/* The default framework of a machine (NULL: of GPUs): MaxText on TPUs; on others torchtitan if
 * weights are sharded (ZeRO 3), else that of its file, or NeMo, which runs only on NVIDIA's. */
const char *sp_default_framework(const struct sp_hardware *hw, bool shards_weights);

/* The frameworks of the closed forms of `fit`: one for plans with whole weights, and one for plans
 * that shard them. */
struct sp_framework_pair {
    struct sp_framework whole, sharding;
};

/* Loads the frameworks for in->hw, with the allocator slack calibrated on that chip, for `in` to
 * point at; none with --constants textbook. */
bool sp_fit_frameworks_of(const struct sp_sources *sources, struct sp_framework_pair *pair,
                          struct sp_fit_input *in, struct sp_error *error);

/* Loads --precision, or by default the framework's recipe; the scaling book's with --constants
 * textbook. "fp8" means the framework's recipe of 8-bit runs, if its file names one and no file of
 * the user's is called so. */
bool sp_recipe_under(const struct sp_args *args, const struct sp_sources *sources,
                     const struct sp_framework *framework, struct sp_precision *precision,
                     struct sp_error *error);

/* Loads --precision, or the recipe of --framework or the machine's; without a machine that of GPUs,
 * and the scaling book's with --constants textbook. `hw` may be NULL. */
bool sp_recipe_of(const struct sp_args *args, const struct sp_sources *sources,
                  const struct sp_hardware *hw, struct sp_precision *precision,
                  struct sp_error *error);

/* Refuses a format in which the machine's chip publishes no peak, nor one of its fallback;
 * SP_DTYPES: a type that no chip multiplies. */
bool sp_check_peak(const struct sp_hardware *hw, enum sp_dtype wanted, struct sp_error *error);

/* --remat, or SP_REMATS: the lightest policy that fits; the scaling book's `mlp` with --constants
 * textbook. */
enum sp_remat sp_remat_of(const struct sp_args *args);

/* Bytes of an element of the KV cache: those of --kv, or --kv-bytes. */
double sp_kv_element_bytes(const struct sp_args *args);

/* Parses --batch ("3M", "1024x4096") and --seq over the model's defaults; `origin` is the source of
 * the batch. */
bool sp_batch_of(const struct sp_args *args, const struct sp_model *model, double *batch_tokens,
                 double *seq, const char **origin, struct sp_error *error);

/* Whether a length is above the model's maximum. */
bool sp_is_too_long(const struct sp_model *model, double seq);

/* Notes a length above the model's maximum; and puts that maximum too. */
void sp_note_length(struct sp_report *report, const struct sp_model *model, double seq);
void sp_put_length(struct sp_report *report, const struct sp_model *model, double seq);

/* Reads --documents, if it is given, packed into sequences of `seq`; the model and its
 * companions point at them unless each fills a sequence. */
bool sp_take_documents(const struct sp_args *args, const struct sp_sources *sources, double seq,
                       struct sp_model *model, struct sp_companions *companions,
                       struct sp_documents *documents, struct sp_error *error);

/* The batch of a plan: "256 sequences of 4096 tokens", or "256 images". */
const char *sp_batch_words(const struct sp_model *model, const struct sp_plan *plan,
                           struct sp_text *room);

/* Whether this number of replicas, each with micro-batches of this many sequences, share the batch;
 * else `why` gets the reason with the nearest batches that they share. */
bool sp_shares_batch(double sequences, double micro_batch, double replicas, char *why, size_t size);

/* A batch option in tokens, "4M" or "1024x4096", or with a length in *seq "1024x"; NAN when it is
 * not given. Its own length goes to *seq, unless that is NULL, and must equal --seq where both are
 * given. */
bool sp_tokens_of(const struct sp_args *args, enum sp_option_id id, double *tokens, double *seq,
                  struct sp_error *error);

/* Takes the name of --name, else that of the file of -o: "dir/my-cluster.json" -> "my-cluster";
 * else `name` stays. */
void sp_take_name(const struct sp_args *args, char *name, size_t size);

/* Refuses a --name that cannot be a name; NULL: not given. */
bool sp_check_name(const char *name, struct sp_error *error);

#endif
