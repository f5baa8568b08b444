/* export: a plan as the options of a training framework. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"
#include "cli/plan_rows.h"

/* clang-format off */
static const struct sp_taken options[] = {
    SP_TAKE(to, .choices = sp_export_choices),
    SP_TAKE(strict),
    SP_TAKE(write, .alias = "output"),
    SP_OPTIONS_PLANNED,
};
/* clang-format on */

struct export
{
    const char *to, *path; /* framework and version; file, or NULL */
    bool strict;
    struct sp_written written;
    struct sp_estimate estimate;
};

static void put_options(struct sp_report *r, const struct export *s)
{
    sp_put_lines(r, SP_Q_EXPORT_TEXT, s->written.text);
}

static void put_lost(struct sp_report *r, const struct export *s)
{
    for (int i = 0; i < s->written.n_lost; i++) {
        sp_begin_row(r, "", "lost.%d", i);
        sp_put_text(r, SP_Q_EXPORT_WHAT, "%s", s->written.lost[i]);
    }
    sp_scope(r, "");
}

#define SP_PART export
#define SP_PART_OF struct export
#include "answer/put_rows.h"

/* The plan as the target writes it. */
static bool write_plan(const struct sp_args *args, const struct sp_sources *sources,
                       const struct sp_planned *planned, struct export *export,
                       struct sp_error *error)
{
    const char *const framework = planned->framework.framework.name;
    int version;
    const struct sp_target *const target = sp_target_of(args->value.to, &version);
    const struct sp_launched launched = {
        .model = &planned->model,
        .hw = &planned->hw,
        .plan = &planned->plan,
        .sources = sources,
        .version = version,
        .remat = sp_plan_name(&planned->plan, &sp_plan_fields[SP_FIELD_REMAT]),
        .precision = &planned->precision,
        .framework = framework,
        .usual = planned->framework.framework.execution,
        .framework_given =
            sp_config_exists(SP_FRAMEWORKS, framework, sources) ? NULL : args->value.framework,
    };
    return sp_write_launch(target, &launched, &export->written, error);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    if (args->value.to < 0)
        return sp_fail(error, SP_USAGE, "--to " SP_TARGETS(SP_TARGET_NAME, "|", "|") " is needed");
    struct sp_planned planned = {0};
    if (!sp_plan_of(args, &sources, &planned, error))
        return false;
    struct export export = {.to = sp_export_choices[args->value.to],
                            .path = args->value.write,
                            .strict = args->given.strict};
    if (!write_plan(args, &sources, &planned, &export, error))
        return false;
    const struct sp_step_inputs in = sp_inputs_of(&planned);
    sp_estimate(&in, SP_FLOPS_6P, NULL, &export.estimate);
    const bool ok = !export.path || sp_put_file(report, export.path, export.written.text, error);
    put_export_rows(report, &export);
    if (!export.path)
        sp_file_text(report, export.written.text);
    sp_note_batch(report, &planned);
    sp_note_memory(report, &export.estimate);
    sp_put_resolved(report, args, &planned);
    free(export.written.text);
    return ok;
}

static const struct sp_example examples[] = {
    {"export --to megatron --model llama2-70b --hw h100-64 --tp 8 --pp 4 --vpp 5 --batch 128x4096",
     "arguments for pretrain_gpt.py"},
    {"export --to deepspeed --strict -o ds.json --model llama3-8b --hw h100-64 --zero 3",
     "a file, or exit code 1 where DeepSpeed has no option"},
    {"step --from ds.json --model llama3-8b --hw h100-64", "and in again"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_export = {
    .name = "export",
    .summary = "a plan as options of " SP_TARGETS(SP_TARGET_FRAMEWORK, ", ", " or "),
    .about = "Prints one plan, given as for `step`, in the form that a framework takes: an "
             "argument list, a Python recipe, JSON or YAML. What the framework has no option for "
             "stands in a comment, \"cannot express: ...\", and is counted. Standard output is the "
             "file and nothing else: notes go to standard error, with --format json into the JSON, "
             "and with -o FILE behind the report. `step --from` reads"
             " launches of " SP_READABLE(SP_TARGET_FRAMEWORK, ", ", " and ") ".",
    SP_OPTIONS(options),
    .examples = examples,
    .failed_key = "refused",
    .run = run,
};
