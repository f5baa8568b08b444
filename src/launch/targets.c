/* The table of frameworks: what is written, what is read, and how a file's reader is found. */
#include <stdlib.h>
#include <string.h>

#include "config/world.h"
#include "launch/fields/rows.h"
#include "launch/shell/script.h"
#include "launch/formats/syntax.h"
#include "launch/shell/world.h"

/* clang-format off */
#define DECLARE(row, name, framework, form) extern const struct sp_target sp_target_##row;
#define POINT(row, name, framework, form) &sp_target_##row
#define COMMA ,
SP_TARGETS(DECLARE, , )
SP_READABLE(DECLARE, , )
#define VERSION(name, version) , #name "@" version
#define CHOICES(row, name, framework, form) name SP_VERSIONS_OF_##row(VERSION)
static const struct sp_target *const targets[] = {SP_TARGETS(POINT, COMMA, COMMA)};
const char *const sp_export_choices[] = {SP_TARGETS(CHOICES, COMMA, COMMA), NULL};
static const struct sp_target *const readable[] = {SP_READABLE(POINT, COMMA, COMMA)};
/* clang-format on */

const struct sp_target *sp_target_of(int choice, int *version)
{
    int named = choice, before = 0;
    while (strchr(sp_export_choices[named], '@'))
        named--;
    for (int i = 0; i < named; i++)
        before += !strchr(sp_export_choices[i], '@');
    *version = choice > named ? choice - named - 1 : 0;
    return targets[before];
}

static void close_words(struct sp_launch_words *words[])
{
    for (int i = 0; i < SP_LAUNCH_FILES; i++)
        free(words[i]);
}

/* Opens a format's files of words; close_words() them. False with an error where one is wrong. */
static bool open_words(const struct sp_target *target, const struct sp_sources *sources,
                       struct sp_launch_words *words[], struct sp_error *error)
{
    bool ok = true;
    for (int i = 0; i < SP_LAUNCH_FILES; i++) {
        words[i] = ok && target->words[i] ? sp_words_of(target->words[i], sources, error) : NULL;
        ok = ok && (words[i] || !target->words[i]);
    }
    if (!ok)
        close_words(words);
    return ok;
}

/* What no writer here puts into words of a model: frameworks build these by code of their own. */
static void lose_encoder(const struct sp_model *m, struct sp_written *lost)
{
    if (m->encoder.layers > 0)
        sp_lose(lost, "the model's encoder or tower: the file describes its decoder alone");
    if (m->bidirectional)
        sp_lose(lost, "attention in both directions: the file describes a decoder");
}

/* How layers run, where no option of the framework's file says it. */
static void lose_execution(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    const struct sp_execution *const e = &p->execution;
    const bool experts = l->model->moe.experts > 0;
    if (p->recompute.modules != 0 && !sp_says(l, "recompute-modules"))
        sp_lose(lost, "modules that run again (--recompute-modules)");
    if (p->offload_layers > 0 && !sp_says(l, "offload-layers"))
        sp_lose(lost, "activations of some layers in the host's memory (--offload-layers)");
    if (experts && ((e->dispatch != SP_DISPATCH_ALLTOALL && !sp_says(l, "dispatch")) ||
                    (e->moe_overlap && !sp_says(l, "moe-overlap"))))
        sp_lose(lost, "how tokens reach their experts (--dispatch, --moe-overlap)");
    if (e->cuda_graph != SP_CUDA_GRAPH_NONE && !sp_says(l, "cuda-graph"))
        sp_lose(lost, "CUDA graphs (--cuda-graph)");
    if (!sp_says(l, "fp8-recipe") && p->dtype == SP_FP8 && e->fp8_recipe != SP_FP8_TENSORWISE)
        sp_lose(lost, "how 8-bit matmuls are scaled (--fp8-recipe)");
}

/* Matmuls in a format that the chip has no units for: frameworks refuse to start, or emulate. */
static void lose_format(const struct sp_launched *l, struct sp_written *lost)
{
    const enum sp_dtype wanted = l->plan->dtype;
    if (wanted == SP_FP8 && sp_compute_dtype(&l->hw->chip, wanted) != wanted)
        sp_lose(lost, "matmuls in 8 bits on %s, which has none in fp8", l->hw->name);
}

bool sp_write_launch(const struct sp_target *target, const struct sp_launched *launched,
                     struct sp_written *written, struct sp_error *error)
{
    size_t size;
    struct sp_launched l = *launched;
    *written = (struct sp_written){0};
    if (!open_words(target, launched->sources, l.words, error))
        return false;
    sp_recipe_text(launched, l.recipe, sizeof l.recipe);
    FILE *const out = open_memstream(&written->text, &size);
    if (!out)
        abort();
    if (launched->plan->tp_axes[0] > 0) /* every framework leaves it to the mesh it builds */
        sp_lose(written, "where TP groups lie on the torus (--tp-axes)");
    lose_encoder(launched->model, written);
    lose_execution(&l, written);
    lose_format(launched, written);
    target->write(&l, written, out);
    if (fclose(out) != 0)
        abort();
    close_words(l.words);
    return true;
}

/* Reads it as the format that it fits best. */
static bool read_as_best(struct sp_launch_file *file, struct sp_launch *launch,
                         struct sp_error *error)
{
    const struct sp_target *best = NULL;
    enum sp_match most = SP_NO_MATCH;
    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
        const enum sp_match match = readable[i]->detect(file);
        if (match > most) {
            best = readable[i];
            most = match;
        }
    }
    if (!best)
        return sp_fail(error, SP_INPUT,
                       "%s: neither " SP_READABLE(SP_TARGET_FORM, ", nor ", ", nor "),
                       sp_safe(file->origin));
    launch->format = best->format;
    if (!open_words(best, file->sources, file->words, error))
        return false;
    const bool ok = best->read(file, launch, error);
    close_words(file->words);
    return ok &&
           (launch->options < SP_LAUNCH_OPTIONS ||
            sp_fail(error, SP_INPUT, "%s: says %d options of a plan or more, for which is no room",
                    sp_safe(file->origin), SP_LAUNCH_OPTIONS));
}

/* Reads a shell's script. */
static bool read_script(const char *text, const struct sp_typed_names *names,
                        struct sp_launch_file *file, struct sp_launch *launch,
                        struct sp_error *error)
{
    struct sp_script script;
    bool ok = sp_read_script(text, names->at, names->n, file->origin, &script, launch, error);
    file->script = &script;
    launch->devices = ok ? sp_devices_of_script(&script, text) : 0;
    ok = ok && read_as_best(file, launch, error);
    sp_free_script(&script);
    file->script = NULL;
    return ok;
}

static bool read_json(const char *text, size_t length, const struct sp_typed_names *names,
                      struct sp_launch_file *file, struct sp_launch *launch, struct sp_error *error)
{
    struct sp_json json;
    struct sp_error none = {0};
    if (!sp_json_parse(text, length, file->origin, &json, error))
        return false;
    file->json = json.root;
    sp_read_yaml(text, names, &file->settings, NULL, &none); /* which JSON is, but for tabs */
    const bool ok = read_as_best(file, launch, error);
    sp_json_free(&json);
    return ok;
}

/* A manifest of Kubernetes holds scripts, which are what is read then. */
static bool read_yaml(const char *text, const struct sp_typed_names *names,
                      struct sp_launch_file *file, struct sp_launch *launch, struct sp_error *error)
{
    char *scripts = NULL;
    bool ok = sp_read_yaml(text, names, &file->settings, &scripts, error);
    if (ok && sp_setting(&file->settings, "apiVersion") && sp_setting(&file->settings, "kind")) {
        file->settings.n = 0;
        ok = read_script(scripts, names, file, launch, error);
    } else {
        ok = ok && read_as_best(file, launch, error);
    }
    free(scripts);
    return ok;
}

static bool read_text(const char *text, size_t length, const struct sp_typed_names *names,
                      struct sp_launch_file *file, struct sp_launch *launch, struct sp_error *error)
{
    file->text = text;
    if (strlen(text) != length)
        return sp_fail(error, SP_INPUT, "%s: holds a zero byte; expected text",
                       sp_safe(file->origin));
    if (text[strspn(text, " \t\r\n")] == '\0')
        return sp_fail(error, SP_INPUT, "%s: the file is empty, expected a launch",
                       sp_safe(file->origin));
    switch (sp_syntax_of(text)) {
    case SP_JSON:
        return read_json(text, length, names, file, launch, error);
    case SP_YAML:
        return read_yaml(text, names, file, launch, error);
    case SP_TOML:
        return sp_read_toml(text, &file->settings, error) && read_as_best(file, launch, error);
    case SP_PYTHON:
        return sp_read_recipe(text, &file->settings, error) && read_as_best(file, launch, error);
    case SP_SHELL:
        break;
    }
    return read_script(text, names, file, launch, error);
}

/* A launch becomes options of `step`, which are parsed before the typed ones: one parser, one set
 * of defaults, and typed options win. */
bool sp_read_launch(const char *path, const struct sp_hardware *hw,
                    const struct sp_sources *sources, const struct sp_typed_names *names,
                    struct sp_launch *launch, struct sp_error *error)
{
    size_t length;
    *launch = (struct sp_launch){0};
    char *const text =
        sp_read_file(sp_pipes_of(sources->world), path, SP_JSON_MAX_BYTES, &length, error);
    if (!text)
        return false;
    struct sp_launch_file *const file = calloc(1, sizeof *file); /* too large for the stack */
    if (!file)
        abort();
    file->origin = strcmp(path, "-") == 0 ? "standard input" : path;
    file->settings.origin = file->assumed.origin = file->origin;
    file->hw = hw;
    file->sources = sources;
    const bool ok = read_text(text, length, names, file, launch, error);
    free(file);
    free(text);
    return ok;
}
