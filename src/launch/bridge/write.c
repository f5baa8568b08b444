/* Megatron-Bridge: a plan as overrides of its ConfigContainer, in YAML. What is said is what
 * Megatron-LM's arguments say (sp_put_megatron), at the places of sp_bridge_paths. */
#include <stdlib.h>
#include <string.h>

#include "launch/fields/assumed.h"
#include "launch/bridge/bridge.h"
#include "launch/megatron/megatron.h"

/* The sections, and the class of those that a recipe has as another one, or as a name. */
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

/* The argument's value where a row of the table says something of these settings, else NULL. */
static const char *said(const struct sp_settings *s, const struct sp_bridge_path *row)
{
    const bool absent = row->flag[0] == '!';
    const char *const value = sp_said(s, row->flag + absent);
    return !row->path ? NULL : !absent ? value : value ? NULL : "";
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

static void put_field(const struct sp_bridge_path *row, const char *value, FILE *out)
{
    char layers[600];
    const char *const gives = row->gives ? row->gives : value;
    const bool pattern = strcmp(gives, SP_BRIDGE_LAYERS) == 0;
    fprintf(out, "  %s: ", strchr(row->path, '.') + 1);
    if (strcmp(gives, SP_BRIDGE_LIST) == 0)
        put_list(value, out);
    else if (pattern && value[0] == '\'' && sp_list_moe_layers(value, layers, sizeof layers))
        put_list(layers, out);
    else
        fprintf(out, "%s\n", pattern ? value : gives);
}

static void put_section(const struct sp_settings *s, size_t i, FILE *out)
{
    const size_t n = strlen(sections[i].name);
    const char *const target =
        sp_said(s, "--multi-latent-attention") ? sections[i].latent : sections[i].target;
    bool any = false;
    for (size_t j = 0; j < sp_bridge_path_count; j++) {
        const struct sp_bridge_path *const row = &sp_bridge_paths[j];
        const char *const value = said(s, row);
        if (!value || strncmp(row->path, sections[i].name, n) != 0 || row->path[n] != '.')
            continue;
        if (!any)
            fprintf(out, "%s:\n", sections[i].name);
        if (!any && target)
            fprintf(out, "  _target_: %s\n", target);
        put_field(row, value, out);
        any = true;
    }
}

static bool has_path(const char *flag)
{
    for (size_t j = 0; j < sp_bridge_path_count; j++)
        if (strcmp(sp_bridge_paths[j].flag, flag) == 0)
            return true;
    return false;
}

/* What Megatron-LM's arguments say and the configuration does not. */
static void lose(const struct sp_launched *l, const struct sp_settings *s, struct sp_written *lost)
{
    const int64_t positions = l->model->learned_positions;
    if (positions > l->plan->seq)
        sp_lose(lost, "a table of %lld learned positions; it has as many as tokens, %lld",
                (long long)positions, (long long)l->plan->seq);
    for (int i = 0; i < s->n; i++)
        if (!has_path(s->at[i].name))
            sp_lose(lost, "%s, which Megatron-Bridge has no field for", s->at[i].name);
}

/* Muon with sharded states is an optimizer of its own name (recipes/utils/optimizer_utils.py): the
 * distributed optimizer itself has no Muon. */
static void spell_muon(struct sp_settings *s)
{
    const char *const optimizer = sp_said(s, "--optimizer");
    if (!optimizer || strcmp(optimizer, "muon") != 0 || !sp_said(s, "--use-distributed-optimizer"))
        return;
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->at[i].name, "--optimizer") == 0)
            snprintf(s->at[i].value, sizeof s->at[i].value, "dist_muon");
        else if (strcmp(s->at[i].name, "--use-distributed-optimizer") == 0)
            s->at[i].name[0] = '\0';
}

static void write(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    struct sp_settings *const s = calloc(1, sizeof *s); /* too large for the stack */
    struct sp_refusals refused;
    if (!s)
        abort();
    sp_put_megatron(l->words[0], l, s, lost);
    lose(l, s, lost);
    sp_check_megatron(l->words[0], s, SP_CORE_20, sp_plan_devices(l->plan), &refused);
    sp_lose_refusals("Megatron-LM", &refused, lost);
    spell_muon(s);
    sp_write_head(l, "Megatron-Bridge 0.7 settings", lost, out);
    fputs("# over a recipe with its data, tokenizer and learning rate: "
          "process_config_with_overrides(vanilla_gpt_pretrain_config(), FILE)\n",
          out);
    sp_write_megatron_comments(l, out);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        put_section(s, i, out);
    free(s);
}

const struct sp_target sp_target_bridge = {.words = {"megatron"}, .write = write};
