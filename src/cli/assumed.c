/* Notes the assumptions of an answer. */
#include "cli/assumed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "cli/config_table.h"
#include "hf/huggingface.h"

/* Whether the shape or --set gives it. */
static bool is_typed(const char *shape, const struct sp_sources *sources, const char *key)
{
    char item[128];
    while (shape && sp_next_item(&shape, item, sizeof item))
        if (sp_cut_pair(item) && strcmp(item, key) == 0)
            return true;
    return sp_is_set(sources, &sp_model_table, key);
}

static void assume(char *words, size_t size, const char *what)
{
    sp_append(words, size, "%s%s", words[0] ? ", " : "", what);
}

static void note_shape(const char *shape, const struct sp_sources *sources,
                       struct sp_report *report)
{
    struct sp_model m;
    struct sp_error ignored = {0};
    char words[320] = "";
    if (!sp_model_from_shape(shape, sources, &m, &ignored) || !sp_model_has_shape(&m))
        return;
    const struct {
        const char *key;
        int64_t value;
    } whole[] = {
        {"d_ff", m.d_ff}, {"heads", m.heads}, {"head_dim", m.head_dim}, {"vocab", m.vocab}};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        char one[64];
        snprintf(one, sizeof one, "%s=%lld", whole[i].key, (long long)whole[i].value);
        if (!is_typed(shape, sources, whole[i].key))
            assume(words, sizeof words, one);
    }
    if (!is_typed(shape, sources, "gated_mlp"))
        assume(words, sizeof words, "gated_mlp=true (3 MLP matrices; GPT-2 and GPT-3 have 2)");
    if (!is_typed(shape, sources, "tied_embeddings") && m.vocab > 1)
        assume(words, sizeof words, "tied_embeddings=false (2 vocabulary tables)");
    if (words[0])
        sp_note(report, "assumed, as --shape does not give it: %s", words);
}

/* Notes values that a Hugging Face config leaves out, and the assumptions of --assume. */
static void note_config(const struct sp_json *json, const struct sp_sources *sources,
                        struct sp_report *report)
{
    struct sp_error ignored = {0};
    cJSON *const native = sp_from_huggingface(json, sources->assume, &ignored);
    for (int i = 0; native && sp_huggingface_remark(native, i); i++)
        sp_note(report, "%s", sp_huggingface_remark(native, i));
    cJSON_Delete(native);
}

static void note_file(const char *name, const struct sp_sources *sources, struct sp_report *report)
{
    struct sp_config config;
    struct sp_error ignored = {0};
    if (sp_is_builtin(SP_MODELS, name, sources) ||
        !sp_open_config(SP_MODELS, name, sources, &config, &ignored))
        return;
    const cJSON *const root = config.json.root;
    if (sp_reads_as_huggingface(root, sources->assume))
        note_config(&config.json, sources, report);
    else if (cJSON_GetObjectItemCaseSensitive(root, "layers") &&
             !cJSON_GetObjectItemCaseSensitive(root, "gated_mlp") &&
             !sp_is_set(sources, &sp_model_table, "gated_mlp"))
        sp_note(report,
                "assumed, as %s does not give it: gated_mlp=true (3 MLP matrices; GPT-2 and GPT-3 "
                "have 2)",
                sp_safe(name));
    sp_config_free(&config);
}

static bool is_builtin_machine(const char *spec, const struct sp_sources *sources)
{
    char name[256];
    snprintf(name, sizeof name, "%s", spec);
    sp_machine_name(spec, sources, name, sizeof name);
    return sp_is_builtin(SP_HARDWARE, name, sources);
}

/* Notes figures that no real chip has. They are not refused: 989 FLOP/s is a wrong unit, but an
 * imagined machine may have any figures. */
void sp_note_doubts(const char *spec, const struct sp_sources *sources, struct sp_report *report)
{
    struct sp_hardware hw;
    struct sp_error ignored = {0};
    if ((sources->n_sets == 0 && is_builtin_machine(spec, sources)) ||
        !sp_load_hardware(spec, sources, &hw, &ignored))
        return;
    for (const struct sp_likely *l = sp_likely_hardware; l->key; l++) {
        const struct sp_field *const field = sp_find_field(&sp_hardware_table, l->key);
        const double value = sp_field_number(field, &hw);
        if (value < l->min || value > l->max)
            sp_note(report, "%s: %s is %g %s; chips have %g to %g: is the unit right?",
                    sp_safe(spec), l->key, value, field->unit, l->min, l->max);
    }
}

/* Warns of a user's machine named like a built-in chip: profiles are chosen by name. */
static void note_name(const char *spec, const struct sp_sources *sources, struct sp_report *report)
{
    static const struct sp_sources builtin;
    struct sp_hardware hw;
    struct sp_error ignored = {0};
    if (!is_builtin_machine(spec, sources) && sp_load_hardware(spec, sources, &hw, &ignored) &&
        !hw.made_from[0] && sp_is_builtin(SP_HARDWARE, hw.name, &builtin))
        sp_note(report,
                "%s is named like the built-in %s, so that chip's fitted constants count as its "
                "own; with another name and no made_from they count as borrowed",
                sp_safe(spec), hw.name);
}

/* Notes what a count counts where another reading of the name is a factor off: a cloud's names of
 * slices may count cores, names of servers are counted in servers by those who buy them. */
static void note_count(const char *spec, const struct sp_sources *sources, struct sp_report *report)
{
    struct sp_hardware hw;
    struct sp_error ignored = {0};
    char name[256], cloud[64];
    const bool in_cloud = strncmp(spec, "tpu-", 4) == 0,
               servers = strncmp(spec, "dgx-", 4) == 0 || strncmp(spec, "hgx-", 4) == 0;
    if ((!in_cloud && !servers) || !sp_machine_name(spec, sources, name, sizeof name) ||
        !sp_load_hardware(spec, sources, &hw, &ignored))
        return;
    const long long count = (long long)sp_chips(&hw), node = hw.network.domain;
    sp_cloud_name(&hw, cloud, sizeof cloud);
    if (in_cloud && hw.network.cloud_counts_cores && hw.slices == 1)
        sp_note(report, "%s is %lld chips; the cloud counts cores and calls them %s", sp_safe(spec),
                count, cloud);
    if (servers)
        sp_note(report, "%s is %lld devices; %lld servers are %s-%lld", sp_safe(spec), count, count,
                sp_safe(name), count * node);
}

/* Figures of built-in machines that decide an answer and that nobody has checked against a source:
 * in a talk with a vendor they must not come as a surprise. */
struct recalled {
    int machines;
    char names[256], figures[256]; /* figures: of the last machine */
};

static void find_recalled(const char *spec, bool own_network, const struct sp_sources *sources,
                          struct recalled *found)
{
    struct sp_hardware hw;
    struct sp_config config;
    struct sp_error ignored = {0};
    char words[256] = "";
    if (!is_builtin_machine(spec, sources) || !sp_load_hardware(spec, sources, &hw, &ignored) ||
        !sp_open_config(SP_HARDWARE, hw.name, sources, &config, &ignored))
        return;
    const struct {
        const char *key, *words;
        bool counts;
    } figures[] = {
        {"chip.peak_flops_per_s.bf16", "bf16 peak", true},
        {"chip.peak_flops_per_s.fp8", "fp8 peak", true},
        {"chip.hbm_bytes", "memory", true},
        {"chip.hbm_bytes_per_s", "memory bandwidth", true},
        {"network.link_bytes_per_s", "bandwidth of a link", sp_chips(&hw) > 1},
        {"network.domain_bytes_per_s", "bandwidth inside a node", sp_chips(&hw) > 1},
        {"network.scaleout_bytes_per_s", "bandwidth between nodes",
         !own_network && sp_chips(&hw) > hw.network.domain},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s.source", figures[i].key);
        if (figures[i].counts && !sp_is_set(sources, &sp_hardware_table, figures[i].key) &&
            strcmp(sp_json_text(config.json.root, path), "recalled") == 0)
            assume(words, sizeof words, figures[i].words);
    }
    sp_config_free(&config);
    if (!words[0])
        return;
    found->machines++;
    assume(found->names, sizeof found->names, hw.name);
    snprintf(found->figures, sizeof found->figures, "%s", words);
}

/* Shown among the details: the answer remains the best available. */
static void note_recalled(const struct recalled *found, struct sp_report *report)
{
    const enum sp_where outside = sp_where_now(report);
    sp_stand_in(report, SP_DETAILS);
    if (found->machines == 1)
        sp_note(report, "%s: recalled, not read in a data sheet: %s (scaleplan show %s)",
                found->names, found->figures, found->names);
    else if (found->machines > 1)
        sp_note(report,
                "figures of %s are recalled, not read in a data sheet (scaleplan show NAME)",
                found->names);
    sp_stand_in(report, outside);
}

/* Notes lengths in thousands where a power of two may be meant: 128k is 128,000, and 128Ki is
 * 131,072, which is printed as 131 k. */
static void note_thousands(const char *option, const char *text, struct sp_report *report)
{
    const char *const times = text ? strrchr(text, 'x') : NULL, *const number =
                                                                    times ? times + 1 : text;
    char *end;
    const unsigned long n = number ? strtoul(number, &end, 10) : 0;
    if (n >= 4 && (n & (n - 1)) == 0 && strcmp(end, "k") == 0)
        sp_note(report, "%s %s: %luk is %lu, %luKi is %lu", option, sp_safe(text), n, 1000 * n, n,
                1024 * n);
}

void sp_note_assumed(const struct sp_args *args, struct sp_report *report)
{
    const struct sp_sources sources = sp_sources_of(args);
    const char *const shape = sp_option_taken(args, SP_O_shape) ? args->value.shape : NULL;
    const char *const model = sp_option_taken(args, SP_O_model) ? args->value.model : NULL;
    const char *machines = sp_option_taken(args, SP_O_hw) ? args->value.hw : NULL;
    char spec[256];
    if (args->given.mfu && args->value.mfu > 1)
        sp_note(report, "--mfu above 100 %% is possible only if the convention counts work that "
                        "the chip does not do (--convention full, frozen weights)");
    if (sp_option_taken(args, SP_O_seq) && args->given.seq)
        note_thousands("--seq", args->text[SP_O_seq], report);
    if (sp_option_taken(args, SP_O_batch) && args->given.batch &&
        strchr(args->text[SP_O_batch], 'x'))
        note_thousands("--batch", args->text[SP_O_batch], report);
    if (shape)
        note_shape(shape, &sources, report);
    if (model)
        note_file(model, &sources, report);
    const bool fitted = sp_option_taken(args, SP_O_profile) || sp_option_taken(args, SP_O_engine);
    const bool own_network = sp_option_taken(args, SP_O_network) && args->given.network;
    struct recalled recalled = {0};
    while (machines && sp_next_item(&machines, spec, sizeof spec)) {
        sp_note_doubts(spec, &sources, report);
        if (!sp_is_short_text(args)) /* a twelfth of the time of a `fit` */
            find_recalled(spec, own_network, &sources, &recalled);
        if (fitted)
            note_name(spec, &sources, report);
        note_count(spec, &sources, report);
    }
    note_recalled(&recalled, report);
}
