/* export: a plan as the options of a training framework, or a service as the command of its
 * engine's server. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/expected.h"
#include "cli/exported.h"
#include "cli/launched.h"
#include "cli/plan_rows.h"
#include "cli/server_launch.h"
#include "config/world.h"

/* clang-format off */
static const struct sp_taken options[] = {
    SP_TAKE(to, .choices = sp_export_choices),
    SP_TAKE(strict),
    SP_OPTIONS_FROM,
    SP_OPTIONS_PLANNED,
    SP_OPTIONS_SERVICE,
};
/* clang-format on */

struct export
{
    const char *to, *path; /* framework and version; file, or NULL */
    bool strict;
    struct sp_written written;
    const char *memory; /* the verdict on it */
};

static void put_options(struct sp_report *r, const struct export *s)
{
    sp_put_lines(r, SP_Q_EXPORT_TEXT, s->written.text);
}

static void put_lost(struct sp_report *r, const struct export *s)
{
    for (int i = 0; i < s->written.n_lost; i++) {
        sp_begin_row(r, "", "lost.%d", i);
        const char *lost = s->written.lost[i], *const kind = sp_lost_kind(&lost);
        sp_put_text(r, SP_Q_EXPORT_WHAT, "%s: %s", kind, lost);
    }
    sp_scope(r, "");
}

#define SP_PART export
#define SP_PART_OF struct export
#include "answer/put_rows.h"

/* The plan as the target writes it. */
static bool write_plan(const struct sp_args *args, const struct sp_sources *sources,
                       const struct sp_target *target, int version,
                       const struct sp_planned *planned, struct export *export,
                       struct sp_error *error)
{
    const struct sp_launched launched =
        sp_launched_of(planned, &planned->plan, sources, version, args->value.framework);
    return sp_write_launch(target, &launched, &export->written, error);
}

/* The file, and the report's text about it. */
static bool put(const struct export *export, struct sp_report *report, struct sp_error *error)
{
    const bool ok = !export->path || sp_put_file(report, export->path, export->written.text, error);
    put_export_rows(report, export);
    if (!export->path)
        sp_file_text(report, export->written.text);
    return ok;
}

/* The language that a suffix stands for; NULL: none, or an unknown one. */
static const char *language_of(const char *suffix)
{
    static const char *const known[][2] = {{".py", "Python"},
                                           {".toml", "TOML"},
                                           {".yaml", "YAML"},
                                           {".yml", "YAML"},
                                           {".json", "JSON"}};
    for (size_t i = 0; suffix && i < sizeof known / sizeof *known; i++)
        if (strcmp(suffix, known[i][0]) == 0)
            return known[i][1];
    return NULL;
}

/* Says so where the file's name promises another language than it holds. */
static void note_suffix(struct sp_report *report, const struct export *export)
{
    const char *const said = export->path ? language_of(strrchr(export->path, '.')) : NULL,
                      *const holds = language_of(export->written.suffix);
    if (said && holds && strcmp(said, holds) != 0)
        sp_note(report, "%s holds %s, which %s reads, not %s", sp_safe(export->path), holds,
                export->to, said);
}

/* The options of `step --from -` for what was written, in a world whose standard input it is; NULL:
 * they are refused. */
static struct sp_args *args_to_read(const struct sp_args *asked, const struct sp_plan *plan,
                                    struct sp_words *words, struct sp_world *world)
{
    static const enum sp_option_id alike[] = {SP_O_model,     SP_O_shape,      SP_O_hw,
                                              SP_O_network,   SP_O_profile,    SP_O_assume,
                                              SP_O_constants, SP_O_config_dir, SP_NO_OPTION};
    sp_add_word(words, "step");
    sp_add_option(words, "from", "-");
    sp_add_word(words, "--seq");
    sp_add_word(words, "%lld", (long long)plan->seq);
    sp_add_given(words, asked, alike);
    struct sp_args *const args = sp_args_of_words(words, asked);
    if (args)
        args->world = world;
    return args;
}

/* The estimate of the plan that `step --from` reads in what was written; false: it reads none. */
static bool estimate_written(const struct sp_args *asked, const struct sp_plan *plan,
                             const char *text, struct sp_estimate *estimate)
{
    struct sp_world world = {.pipes.input = fmemopen((void *)text, strlen(text), "r")};
    struct sp_error ignored = {0};
    struct sp_words words = {0};
    struct sp_launch *const launch = sp_must(calloc(1, sizeof *launch));
    struct sp_planned *const planned = sp_must(calloc(1, sizeof *planned));
    struct sp_args *const read = sp_new_args(&world), *const args =
                                                          args_to_read(asked, plan, &words, &world);
    bool ok = world.pipes.input && args && sp_take_launch(args, launch, read, &ignored);
    if (ok) {
        const struct sp_sources sources = sp_sources_of(read);
        ok = sp_plan_of(read, &sources, planned, &ignored);
    }
    if (ok) {
        const struct sp_step_inputs in = sp_inputs_of(planned);
        sp_estimate(&in, SP_FLOPS_6P, NULL, estimate);
    }
    if (world.pipes.input)
        fclose(world.pipes.input);
    free(args);
    free(read);
    free(planned);
    free(launch);
    sp_free_words(&words);
    sp_free_world(&world);
    return ok;
}

/* The memory of the plan, or of what is written of it where that is another, if it does not fit or
 * is tight; for a problem that is typed, with the search for one that fits. */
static void note_memory(const struct sp_args *args, struct sp_report *report,
                        const struct sp_estimate *e, bool as_written)
{
    char *const search =
        e->fits || as_written || !args->given.model ? NULL : sp_search_command(args);
    if (!e->fits && (search || as_written))
        sp_note(report, "the plan%s needs %s per device, which has %s, and does not fit; `%s` %s",
                as_written ? " as written" : "", sp_human_text((double)e->memory.device, SP_BYTES),
                sp_human_text(e->capacity_bytes, SP_BYTES), search ? search : "search --exportable",
                search ? "looks for one that does" : "looks at plans that can be written whole");
    else
        sp_note_memory(report, e);
    free(search);
}

static bool export_plan(const struct sp_args *args, const struct sp_sources *sources,
                        const struct sp_target *target, int version, struct export *export,
                        struct sp_report *report, struct sp_error *error)
{
    struct sp_planned planned = {0};
    struct sp_estimate estimate, written;
    if (!sp_plan_of(args, sources, &planned, error) ||
        !write_plan(args, sources, target, version, &planned, export, error))
        return false;
    const struct sp_step_inputs in = sp_inputs_of(&planned);
    sp_estimate(&in, SP_FLOPS_6P, NULL, &estimate);
    const bool other = !SP_IN_PAGE && export->written.n_lost > 0 &&
                       estimate_written(args, &planned.plan, export->written.text, &written) &&
                       written.memory.device != estimate.memory.device;
    export->memory = sp_verdict_names[estimate.verdict]; /* of the plan, as in every command */
    const bool ok = put(export, report, error);
    if (!SP_IN_PAGE) /* where no file is written */
        note_suffix(report, export);
    sp_note_batch(report, &planned);
    note_memory(args, report, other ? &written : &estimate, other);
    sp_note_refused(report, &planned);
    sp_put_resolved(report, args, &planned);
    return ok;
}

static bool export_service(const struct sp_args *typed, const struct sp_sources *sources,
                           const struct sp_target *target, struct export *export,
                           struct sp_report *report, struct sp_error *error)
{
    struct sp_args args;
    struct serve f;
    sp_copy_args(&args, typed);
    if (!typed->given.engine && !sp_take_text(&args, SP_O_engine, export->to, error))
        return false;
    args.given.engine = typed->given.engine;
    double *const degrees[] = {&args.value.tp, &args.value.pp, &args.value.ep, &args.value.etp};
    const bool given[] = {typed->given.tp, typed->given.pp, typed->given.ep, typed->given.etp};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (!given[i])
            *degrees[i] = NAN; /* in a plan they would be 1 */
    if (!sp_write_service(&args, sources, target, export->to, report, &f, &export->written, error))
        return false;
    export->memory = f.fits ? "yes" : "no";
    if (!typed->given.input || !typed->given.output)
        sp_note(report,
                "requests of %.0f + %.0f tokens, which set the longest one: --input and --output "
                "were not both given",
                f.service.input, f.service.output);
    return put(export, report, error);
}

/* A target that is a framework of ours is the framework of its plan where nothing else is said.
 * `name` is room for its name, which the options then point to. */
static bool take_framework(const char *to, const struct sp_sources *sources, struct sp_args *args,
                           char *name, size_t size, struct sp_error *error)
{
    snprintf(name, size, "%.*s", (int)strcspn(to, "@"), to);
    return args->given.framework ||
           !sp_config_named(SP_FRAMEWORKS, name, sources) || /* or an alias of another framework */
           sp_take_text(args, SP_O_framework, name, error);
}

static bool run(const struct sp_args *typed, struct sp_report *report, struct sp_error *error)
{
    struct sp_launch launch = {0};
    struct sp_args read;
    struct sp_args *const args = &read;
    char framework[64];
    int version;
    if (typed->value.to < 0)
        return sp_fail(
            error, SP_USAGE,
            "--to " SP_TARGETS(SP_TARGET_NAME, "|", "|") "|" SP_ENGINES(SP_TARGET_NAME, "|",
                                                                        "|") " is needed%s",
            typed->given.framework ? "; --framework selects the framework of the estimate" : "");
    if (!sp_take_launch(typed, &launch, &read, error))
        return false;
    const struct sp_sources sources = sp_sources_of(args);
    const struct sp_target *const target = sp_target_of(args->value.to, &version);
    struct export export = {.to = sp_export_choices[args->value.to],
                            .path = args->value.write,
                            .strict = args->given.strict};
    const bool serves = sp_is_server(target);
    const bool ok =
        sp_check_kind(args, serves, export.to, error) &&
        (serves || take_framework(export.to, &sources, args, framework, sizeof framework, error)) &&
        (serves ? export_service(args, &sources, target, &export, report, error)
                : export_plan(args, &sources, target, version, &export, report, error));
    free(export.written.text);
    if (ok && launch.format)
        sp_put_launch(report, &launch, NULL);
    return ok;
}

static const struct sp_example examples[] = {
    {"export --to megatron --model llama2-70b --hw h100-64 --tp 8 --pp 4 --vpp 5 --batch 128x4096",
     "arguments for pretrain_gpt.py"},
    {"export --to deepspeed --strict -o ds.json --model llama3-8b --hw h100-64 --zero 3",
     "a file, or exit code 1 if DeepSpeed cannot express the plan"},
    {"step --from ds.json --model llama3-8b --hw h100-64", "read it again"},
    {"export --to torchtitan --from pretrain.sh --hw h100-64",
     "a launch of another framework, written for this one"},
    {"export --to vllm --model llama3.1-70b --weights fp8 --hw h100-8 --input 2048 --output 512 "
     "--tpot 40ms",
     "a server command; `serve --from` reads it again"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_export = {
    .name = "export",
    .writes_other = true,
    .summary = "write a plan for a training framework, or a service for a server",
    .about = "Writes a plan, given as for `step`, for a framework, or a service, given as for "
             "`serve`, as a server command. What the target "
             "cannot express is a comment, \"cannot express: ...\", and is counted. Standard "
             "output is only the file: notes go to standard error, with --format json into the "
             "JSON, with -o FILE after the report. `step --from` reads"
             " launches of " SP_READABLE(
                 SP_TARGET_FRAMEWORK, ", ",
                 " and ") ", `serve --from` servers of " SP_ENGINES(SP_TARGET_FRAMEWORK, ", ",
                                                                    " and ") ".",
    SP_OPTIONS(options),
    .examples = examples,
    .failed_key = "refused",
    .run = run,
};
