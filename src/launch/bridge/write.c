/* Megatron-Bridge: a plan as overrides of its ConfigContainer, in YAML. The settings are those of
 * Megatron-LM's arguments (sp_put_megatron), at the places of its file. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/list.h"
#include "launch/fields/assumed.h"
#include "launch/bridge/bridge.h"
#include "launch/megatron/megatron.h"

/* Bytes of a field's value. */
enum { FIELD = 256 };

/* The sections, and the class of those that a recipe has under another class, or as a name. */
static const struct {
    const char *name, *target, *latent;
} sections[] = {
    {"model", "megatron.bridge.models.gpt_provider.GPTModelProvider",
     "megatron.bridge.models.mla_provider.MLAModelProvider"},
    {"train", NULL, NULL},
    {"dataset", NULL, NULL},
    {"optimizer", NULL, NULL},
    {"ddp", NULL, NULL},
    {"dist", NULL, NULL},
    {"checkpoint", NULL, NULL},
    {"rerun_state_machine", NULL, NULL},
    {"mixed_precision", "megatron.bridge.training.mixed_precision.MixedPrecisionConfig",
     "megatron.bridge.training.mixed_precision.MixedPrecisionConfig"},
};

/* The argument of Megatron-LM that a field means by its own name, "--num-layers" of
 * model.num_layers. */
static void flag_of(const struct sp_launch_row *row, char *flag)
{
    const char *const dot = strrchr(row->name, '.'), *from = dot ? dot + 1 : row->name;
    for (int i = 0; i < 2 && dot; i++)
        *flag++ = '-';
    for (; *from; from++)
        *flag++ = dot && *from == '_' ? '-' : *from;
    *flag = '\0';
}

/* The value that given or missing arguments write into another field; false: none. */
static bool find_beside(const struct sp_launch_row *row, const struct sp_settings *s, char *value)
{
    const char *list = row->beside[0] ? row->beside : NULL;
    char item[96];
    while (sp_next_item(&list, item, sizeof item)) {
        char *const flag = item + strspn(item, " "), *const written = sp_cut_pair(flag);
        const bool absent = flag[0] == '!';
        if (!written || sp_has_setting(s, flag + absent) == absent)
            continue;
        const bool type = strncmp(written, "torch.", 6) == 0;
        snprintf(value, FIELD, type ? "{_target_: %s, _call_: false}" : "%s", written);
        return true;
    }
    return false;
}

/* The field's value according to these settings; false: they do not determine it. */
static bool find_field(const struct sp_launched *l, const struct sp_settings *s,
                       const struct sp_launch_row *row, char *value)
{
    struct sp_spelling as;
    char own[SP_ROW_NAME + 2];
    flag_of(row, own);
    const char *list = row->as[0] ? row->as : own;
    while (sp_next_spelling(&list, &as)) {
        const char *const said = sp_said(s, as.option);
        const struct sp_launch_row *const flag = sp_row_of(l->words[0], as.option);
        const char *const gives = as.when[0] ? as.when : flag && flag->takes_none ? "true" : said;
        if (said)
            snprintf(value, FIELD, "%s", gives);
        if (said)
            return true;
    }
    return find_beside(row, s, value);
}

static void put_list(const char *words, FILE *out)
{
    fputs("[", out);
    for (const char *at = words; *at; at++)
        if (*at == ' ')
            fputs(", ", out);
        else
            fputc(*at, out);
    fputs("]\n", out);
}

/* A list may be a pattern of layers, which is quoted, or a number of them. */
static void put_field(const struct sp_launch_row *row, const char *value, FILE *out)
{
    char layers[600];
    const bool pattern = value[0] == '\'' && sp_list_moe_layers(value, layers, sizeof layers);
    fprintf(out, "  %s: ", strchr(row->name, '.') + 1);
    if (row->is_list && (pattern || isalpha((unsigned char)value[0])))
        put_list(pattern ? layers : value, out);
    else
        fprintf(out, "%s\n", value);
}

static void put_section(const struct sp_launched *l, const struct sp_settings *s, size_t i,
                        FILE *out)
{
    const size_t n = strlen(sections[i].name);
    const char *const target =
        sp_said(s, "--multi-latent-attention") ? sections[i].latent : sections[i].target;
    bool any = false;
    for (int64_t j = 0; j < l->words[1]->options.rows.n; j++) {
        const struct sp_launch_row *const row = &l->words[1]->options.row[j];
        char value[FIELD];
        if (strncmp(row->name, sections[i].name, n) != 0 || row->name[n] != '.' ||
            !find_field(l, s, row, value))
            continue;
        if (!any)
            fprintf(out, "%s:\n", sections[i].name);
        if (!any && target)
            fprintf(out, "  _target_: %s\n", target);
        put_field(row, value, out);
        any = true;
    }
}

/* Marks the settings of Megatron-LM's arguments for which the configuration has a field. */
static void find_paths(const struct sp_launch_words *words, struct sp_settings *s)
{
    for (int i = 0; i < s->n; i++)
        s->at[i].read = false;
    for (int64_t j = 0; j < words->options.rows.n; j++) {
        const struct sp_launch_row *const row = &words->options.row[j];
        char own[SP_ROW_NAME + 2];
        struct sp_spelling as;
        flag_of(row, own);
        const char *list = row->as[0] ? row->as : own;
        while (sp_next_spelling(&list, &as))
            sp_setting(s, as.option);
    }
}

/* Settings of Megatron-LM's arguments that the configuration lacks. */
static void lose(const struct sp_launched *l, struct sp_settings *s)
{
    static const char model[] = "--window-size --window-attn-skip-freq --softmax-type";
    const int64_t positions = l->model->learned_positions;
    if (positions > l->plan->seq)
        sp_lose(l, "a table of %lld learned positions; it has as many as tokens, %lld",
                (long long)positions, (long long)l->plan->seq);
    find_paths(l->words[1], s);
    for (int i = 0; i < s->n; i++)
        if (s->at[i].name[0] && !s->at[i].read)
            sp_lose(l, sp_has_word(model, s->at[i].name) ? "later: %s" : "%s: it has no such field",
                    s->at[i].name);
}

/* Muon with sharded states is an optimizer with another name (recipes/utils/optimizer_utils.py):
 * the distributed optimizer itself has no Muon. */
static void spell_muon(struct sp_settings *s)
{
    const char *const optimizer = sp_said(s, "--optimizer");
    if (!sp_is(optimizer, "muon") || !sp_said(s, "--use-distributed-optimizer"))
        return;
    for (int i = 0; i < s->n; i++)
        if (sp_is(s->at[i].name, "--optimizer"))
            snprintf(s->at[i].value, sizeof s->at[i].value, "dist_muon");
        else if (sp_is(s->at[i].name, "--use-distributed-optimizer"))
            s->at[i].name[0] = '\0';
}

static void write(const struct sp_launched *l, FILE *out)
{
    struct sp_settings *const s = sp_settings_of(l);
    sp_put_megatron(l, s);
    lose(l, s);
    sp_lose_rules(l, &(struct sp_rules){.settings = s, .devices = sp_plan_devices(l->plan)});
    s->words = l->words[1];
    sp_lose_rules(l, &(struct sp_rules){.settings = s});
    spell_muon(s);
    sp_write_head(l, l->words[1], " settings", out);
    fputs("# over a recipe with its data, tokenizer and learning rate: "
          "process_config_with_overrides(vanilla_gpt_pretrain_config(), FILE)\n",
          out);
    sp_write_megatron_comments(l, out);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        put_section(l, s, i, out);
    free(s);
}

const struct sp_target sp_target_bridge = {.words = {"megatron", "bridge"},
                                           .format = "Megatron Bridge settings",
                                           .write = write,
                                           .suffix = ".yaml"};
