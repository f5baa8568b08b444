/* Megatron-Bridge and NeMo 2: fields as a recipe in Python sets them, by the names of
 * ConfigContainer. The object that a recipe sets fields of has a name of the author's; NeMo 2 has
 * what Megatron-Bridge calls model and train in trainer.strategy and data. Names: the guide from
 * Megatron-LM to Megatron-Bridge, NeMo 2's MegatronStrategy. */
#include <stdio.h>
#include <string.h>

#include "launch/bridge/bridge.h"

static const char sections[] = "model train ddp mixed_precision dataset optimizer dist checkpoint "
                               "rerun_state_machine peft trainer data optim";

/* Other names of fields, whole or up to a dot. */
static const struct {
    const char *name, *ours;
} others[] = {
    {"trainer.strategy.", "model."},
    {"data.global_batch_size", "train.global_batch_size"},
    {"data.micro_batch_size", "train.micro_batch_size"},
    {"data.seq_length", "dataset.seq_length"},
    {"dataset.sequence_length", "dataset.seq_length"},
};

/* Whether the first part of a dotted name is a section. */
static bool is_section(const char *name)
{
    char part[32];
    snprintf(part, sizeof part, "%.*s", (int)strcspn(name, "."), name);
    return sp_is_quiet(sections, part);
}

/* The bytes of "object." in front of a section's name; 0: there is none. */
static size_t object_of(const char *name)
{
    const char *const dot = strchr(name, '.');
    return dot && !is_section(name) && is_section(dot + 1) ? (size_t)(dot + 1 - name) : 0;
}

static bool rename_field(char *name, size_t size)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const size_t n = strlen(others[i].name);
        const bool whole = others[i].name[n - 1] != '.';
        if (strncmp(name, others[i].name, n) != 0 || (whole && name[n] != '\0'))
            continue;
        char rest[48];
        snprintf(rest, sizeof rest, "%s", name + n);
        snprintf(name, size, "%.23s%s", others[i].ours, rest);
        return true;
    }
    return false;
}

/* Turns parts of a recipe other than its fields, imports and the source of its object into names
 * that are passed over. */
static void pass_over(struct sp_settings *s, const char *object, size_t n)
{
    static const char *const imports[] = {"megatron.", "nemo", "torch"};
    for (int i = 0; i < s->n; i++) {
        char *const name = s->at[i].name;
        bool over = strncmp(name, object, n) == 0 && name[n] == '\0';
        for (size_t j = 0; j < sizeof imports / sizeof *imports; j++)
            over = over || strncmp(name, imports[j], strlen(imports[j])) == 0;
        if (over)
            snprintf(name, sizeof s->at[i].name, "_");
    }
}

bool sp_spell_bridge(struct sp_settings *s)
{
    char object[sizeof s->at->name] = "";
    bool is_recipe = false;
    for (int i = 0; i < s->n; i++) {
        char *const name = s->at[i].name;
        const size_t n = object_of(name);
        if (n > 0) {
            snprintf(object, sizeof object, "%.*s", (int)(n - 1), name);
            memmove(name, name + n, strlen(name + n) + 1);
        }
        is_recipe = rename_field(name, sizeof s->at[i].name) || is_recipe;
    }
    if (object[0])
        pass_over(s, object, strlen(object));
    return is_recipe;
}
