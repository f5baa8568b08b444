/* export: a plan as the options of a training framework. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"
#include "cli/plan_options.h"

/* clang-format off */
static const struct sp_option options[] = {
    {.name = "to", .metavar = "FRAMEWORK", .kind = SP_CHOICE, .choices = sp_export_choices,
     .help = SP_TARGETS(SP_TARGET_NAME_FORM, ", ", " or ") "; @VERSION behind it for another than the newest"},
    {.name = "strict", .kind = SP_FLAG, .help = "exit code 1 when the framework cannot express all of the plan"},
    {.name = "output", .metavar = "FILE", .kind = SP_TEXT, .help = "write it there, also -o FILE (default: print it)"},
    SP_OPTIONS_PLANNED,
};
/* clang-format on */

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    static struct sp_planned planned;
    static struct sp_written written;
    const struct sp_sources sources = sp_sources_of(args);
    const int choice = sp_choice_of(args, "to");
    int version;
    const char *const path = sp_text_of(args, "output");
    if (choice < 0)
        return sp_fail(error, SP_USAGE, "--to " SP_TARGETS(SP_TARGET_NAME, "|", "|") " is needed");
    if (!sp_plan_of(args, &sources, &planned, error))
        return false;
    const struct sp_target *const target = sp_target_of(choice, &version);
    const struct sp_launched launched = {
        .model = &planned.model,
        .hw = &planned.hw,
        .plan = &planned.plan,
        .sources = &sources,
        .version = version,
        .remat = sp_plan_name(&planned.plan, &sp_plan_fields[SP_FIELD_REMAT]),
        .precision = &planned.precision,
        .framework = planned.framework.framework.name,
        .framework_given =
            sp_config_exists(SP_FRAMEWORKS, planned.framework.framework.name, &sources)
                ? NULL
                : sp_text_of(args, "framework"),
    };
    if (!sp_write_launch(target, &launched, &written, error))
        return false;
    const bool ok = !path || sp_put_file(report, path, written.text, error);
    sp_put_text(report, SP_Q_EXPORT_TO, "%s", sp_export_choices[choice]);
    sp_put_lines(report, SP_Q_EXPORT_TEXT, written.text);
    sp_put(report, SP_Q_EXPORT_LOST, written.n_lost);
    sp_put(report, SP_Q_EXPORT_STRICT, sp_given(args, "strict") ? written.n_lost : 0);
    if (path)
        sp_put_text(report, SP_Q_EXPORT_WRITTEN, "%s", path);
    else
        sp_put_null(report, SP_Q_EXPORT_WRITTEN);
    for (int i = 0; i < written.n_lost; i++) {
        char prefix[24];
        snprintf(prefix, sizeof prefix, "lost.%d", i);
        sp_scope(report, prefix);
        sp_put_text(report, SP_Q_EXPORT_WHAT, "%s", written.lost[i]);
    }
    sp_scope(report, "");
    if (path)
        sp_line(report, "written    {written}; {cannot_express} parts of the plan not expressed");
    else
        sp_block(report, written.text);
    sp_note_batch(report, &planned);
    free(written.text);
    return ok;
}

static const struct sp_example examples[] = {
    {"scaleplan export --to megatron --model llama2-70b --hw h100-64 --tp 8 --pp 4 --vpp 5 "
     "--batch 128x4096",
     "arguments for pretrain_gpt.py"},
    {"scaleplan export --to deepspeed --strict -o ds.json --model llama3-8b --hw h100-64 --zero 3",
     "a file, or exit code 1 where DeepSpeed has no option"},
    {"scaleplan step --from ds.json --model llama3-8b --hw h100-64", "and in again"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_export = {
    .name = "export",
    .summary = "a plan as options of " SP_TARGETS(SP_TARGET_FRAMEWORK, ", ", " or "),
    .about = "Prints one plan, given as for `step`, in the form that a framework takes: an "
             "argument list, a Python recipe, JSON or YAML. What the framework has no option for "
             "stands in a comment, \"cannot express: ...\", and is counted. `step --from` "
             "reads launches of " SP_READABLE(SP_TARGET_FRAMEWORK, ", ", " and ") ".",
    SP_OPTIONS(options),
    .examples = examples,
    .failed_key = "refused",
    .run = run,
};
