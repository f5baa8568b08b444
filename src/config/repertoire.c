/* The abilities of a framework on a machine, from its file. */
#include "config/repertoire.h"

#include <string.h>

#include <scaleplan/names.h>

#include "base/list.h"

/* Whether a comma-separated list has the word; an empty list has all. */
static bool lists(const char *list, const char *word)
{
    return list[0] == '\0' || sp_is_listed(list, word, '\0');
}

/* The modules of a list, in its order. */
static struct sp_module_ladder ladder_of(const char *list)
{
    struct sp_module_ladder ladder = {0};
    char item[32];
    while (sp_next_item(&list, item, sizeof item))
        for (int i = 0; i < SP_MODULES; i++)
            if (strcmp(sp_module_names[i], item + strspn(item, " ")) == 0 && ladder.n < SP_MODULES)
                ladder.rung[ladder.n++] = (enum sp_module)i;
    return ladder;
}

/* Tensors of a list, as bits. */
static unsigned away_of(const char *list)
{
    unsigned away = 0;
    for (int i = 0; i < SP_AWAYS && list[0]; i++)
        away |= (unsigned)lists(list, sp_away_names[i]) << i;
    return away;
}

struct sp_repertoire sp_framework_repertoire(const struct sp_framework_file *f,
                                             const struct sp_hardware *hw)
{
    struct sp_repertoire runs = {.pipelines = strcmp(f->schedules, "none") != 0,
                                 .modules = ladder_of(f->recompute_modules),
                                 .away = away_of(f->offload_modules),
                                 .optimizer_away = f->optimizer_offload,
                                 .uneven_stages = !f->even_stages,
                                 .own_stages = f->own_stages,
                                 .splits_axes = !f->whole_axes,
                                 .contexts = strcmp(f->cp_kinds, "none") != 0,
                                 .offload = f->offload && sp_host_bytes_per_s(&hw->chip) > 0};
    for (int i = 0; i < SP_SCHEDULES; i++)
        runs.schedule[i] = lists(f->schedules, sp_schedule_names[i]);
    for (int i = 0; i < SP_POLICIES; i++)
        runs.policy[i] = lists(f->recompute, sp_policy_names[i]);
    for (int i = 0; i < 4; i++)
        runs.zero[i] = lists(f->zero, sp_zero_names[i]);
    for (int i = 0; i < SP_DISPATCHES; i++) /* dispatchers that forward inside a node need
                                               switches */
        runs.dispatch[i] = lists(f->dispatchers, sp_dispatch_names[i]) &&
                           (hw->network.kind == SP_SWITCHED || i == SP_DISPATCH_ALLTOALL ||
                            i == SP_DISPATCH_ALLGATHER);
    for (int i = 0; i < SP_CP_KINDS; i++)
        runs.cp_kind[i] = lists(f->cp_kinds, sp_cp_kind_names[i]);
    for (int i = 0; i < 2; i++)
        runs.sequence_parallel[i] = lists(f->sequence_parallel, i ? "on" : "off");
    runs.moe_overlap = f->can_overlap_moe;
    runs.overlap.in_chunks = f->overlap_in_chunks;
    for (int i = 0; i < SP_DISPATCHES && f->overlap_refuses[0]; i++)
        runs.overlap.refuses[i] = lists(f->overlap_refuses, sp_dispatch_names[i]);
    runs.rounds = (enum sp_rounds)f->framework.rounds;
    runs.copies_kv_heads = f->framework.copies_kv_heads;
    return runs;
}

void sp_narrow_offload(const struct sp_framework_file *f, const struct sp_model *model,
                       struct sp_repertoire *runs)
{
    const struct {
        const char *word;
        bool is;
    } models[] = {{"mla", model->mla.kv_lora_rank > 0}, {"experts", model->moe.experts > 0}};
    const char *rules = f->offload_rules[0] ? f->offload_rules : NULL;
    char rule[48];
    while (sp_next_item(&rules, rule, sizeof rule)) {
        char *const with = strstr(rule, " with ");
        if (!with)
            continue;
        *with = '\0';
        const unsigned of = away_of(rule + strspn(rule, " "));
        const char *const needed = with + strlen(" with ");
        for (int i = 0; i < SP_AWAYS; i++)
            runs->away_needs[i] |= of >> i & 1 ? away_of(needed) : 0;
        for (size_t i = 0; i < sizeof models / sizeof *models; i++)
            if (strcmp(needed, models[i].word) == 0 && !models[i].is)
                runs->away &= ~of;
    }
}

void sp_narrow_contexts(const struct sp_framework_file *f, const struct sp_hardware *hw,
                        const struct sp_model *model, struct sp_repertoire *runs)
{
    const bool on_tpu = hw->network.kind == SP_TORUS;
    const bool is_plain =
        model->mla.kv_lora_rank == 0 && model->extra_attention_params_per_layer == 0;
    const char *const refused = !on_tpu ? f->cp_kinds_tpu : is_plain ? "" : f->cp_kinds_plain;
    for (int i = 0; i < SP_CP_KINDS && refused[0]; i++)
        runs->cp_kind[i] = runs->cp_kind[i] && !lists(refused, sp_cp_kind_names[i]);
}
