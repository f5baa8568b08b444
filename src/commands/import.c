/* import: a Hugging Face config as a native model file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hf/huggingface.h"
#include "hf/numbers.h"
#include "config/world.h"
#include "base/text.h"
#include "cli/command.h"

static const struct sp_taken options[] = {
    SP_TAKE(write, .alias = "output"),
    SP_TAKE(name),
};

/* What a config makes: the model, and its file as text for free(). */
struct import {
    struct sp_report *report;
    struct sp_model model;
    struct sp_params params;
    const char *path; /* of the native file; NULL: none */
    bool assumed;     /* --assume says the family */
    char *text;
};

#define SP_PART import
#define SP_PART_OF struct import
#include "answer/put_rows.h"

static bool refuse_native(const struct sp_json *json, struct sp_error *error)
{
    return sp_fail(error, SP_INPUT,
                   "%s: this is a native model file already: --model takes it as it is",
                   json->origin);
}

static bool convert(const struct sp_json *json, const struct sp_sources *sources, const char *name,
                    struct import *import, struct sp_error *error)
{
    if (sp_is_native_model(json->root))
        return refuse_native(json, error);
    cJSON *const native = sp_from_huggingface(json, sources->assume, error);
    if (!native)
        return false;
    for (int i = 0; sp_huggingface_remark(native, i); i++)
        sp_note(import->report, "%s", sp_huggingface_remark(native, i));
    if (name)
        cJSON_ReplaceItemInObjectCaseSensitive(native, "name", cJSON_CreateString(name));
    const struct sp_json document = {.root = native, .origin = json->origin};
    import->text = cJSON_Print(native);
    if (import->text)
        sp_make_printable(import->text, "\n\t"); /* names of the config are others' text */
    const bool ok = sp_decode_model(&document, &import->model, error);
    cJSON_Delete(native);
    return ok && (import->text || sp_fail(error, SP_INTERNAL, "out of memory"));
}

/* Reads the one operand; import->text is for free() whatever the result. */
static bool import_of(const struct sp_args *args, struct import *import, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    size_t length;
    struct sp_json json;
    if (args->n_operands != 1)
        return sp_fail(error, SP_USAGE,
                       "one config is needed: scaleplan import config.json [-o model.json]");
    if (sources.n_sets > 0)
        return sp_fail(error, SP_USAGE, "--set changes nothing here; edit the file instead");
    if (!sp_check_name(args->value.name, error))
        return false;
    const char *const path = args->operands[0];
    char *const text =
        sp_read_file(sp_pipes_of(args->world), path, SP_JSON_MAX_BYTES, &length, error);
    if (!text)
        return false;
    const char *const origin = strcmp(path, "-") == 0 ? "standard input" : path;
    sp_hf_take_infinities(text, length);
    bool ok = sp_json_parse(text, length, origin, &json, error);
    if (ok) {
        ok = convert(&json, &sources, args->value.name, import, error);
        sp_json_free(&json);
    }
    free(text);
    return ok;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct import import = {
        .report = report, .path = args->value.write, .assumed = sp_sources_of(args).assume != NULL};
    char *line = NULL;
    bool ok = import_of(args, &import, error);
    if (ok && import.path)
        ok = asprintf(&line, "%s\n", import.text) > 0 &&
             sp_put_file(report, import.path, line, error);
    free(line);
    free(import.text);
    if (!ok)
        return false;
    import.params = sp_count_params(&import.model);
    put_import_rows(report, &import);
    return true;
}

static const struct sp_example examples[] = {
    {"import config.json -o my-model.json", "a model file to read, edit and keep"},
    {"import config.json -o - | jq .moe", "the same to standard output"},
    {"fit --model config.json --hw h100-64", "or use the config as it is"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_import = {
    .name = "import",
    .summary = "a Hugging Face config as a native model file",
    .operands = "CONFIG.json",
    .about =
        "Reads an unchanged Hugging Face config.json of the families that `scaleplan list "
        "families` "
        "names, says how many parameters it makes, and writes the native model file. The class "
        "that "
        "the config names decides what stands after the layers: the head of a language model, a "
        "row for each label of a classifier, or nothing. Architectures that are not known are "
        "refused; --assume reads them as a family that is. What is assumed or not counted is a "
        "note, and stands in the file. Every command's --model takes such a config as it is.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
