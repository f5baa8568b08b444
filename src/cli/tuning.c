/* --trainable, --lora-rank, --lora-targets, --base-format. */
#include "cli/tuning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/flops.h>
#include <scaleplan/serve.h>

#include "base/list.h"
#include "base/suggest.h"

const char *const sp_trainable_names[] = {"all", "lora",    "embeddings", "attention",
                                          "mlp", "experts", NULL};
const char *const sp_base_formats[] = {"bf16", "fp8", "int8", "nf4", "nf4-double", NULL};

/* Bytes of a weight in each of them, scales included. Dettmers et al. 2023, "QLoRA", section 3:
 * blocks of 64 weights with a scale of 4 bytes, or with one of a byte whose own blocks of 256 have
 * a scale of 4 bytes. */
static double base_bytes(int format)
{
    const double bytes[] = {sp_storages[SP_STORED_BF16].bytes, sp_storages[SP_STORED_FP8].bytes,
                            sp_storages[SP_STORED_INT8].bytes, 0.5 + 4.0 / 64,
                            sp_storages[SP_STORED_NF4].bytes};
    return bytes[format];
}

#define BIT(target) (1U << (target))
#define QKV (BIT(SP_LORA_Q) | BIT(SP_LORA_K) | BIT(SP_LORA_V))
#define ATTENTION (QKV | BIT(SP_LORA_O))
#define MLP (BIT(SP_LORA_GATE) | BIT(SP_LORA_UP) | BIT(SP_LORA_DOWN))

static const struct {
    const char *name;
    unsigned targets;
} targets[] = {
    {"q", BIT(SP_LORA_Q)},
    {"k", BIT(SP_LORA_K)},
    {"v", BIT(SP_LORA_V)},
    {"o", BIT(SP_LORA_O)},
    {"qkv", QKV},
    {"gate", BIT(SP_LORA_GATE)},
    {"up", BIT(SP_LORA_UP)},
    {"down", BIT(SP_LORA_DOWN)},
    {"attention", ATTENTION},
    {"all-linear", ATTENTION | MLP},
};
enum { TARGETS = sizeof targets / sizeof *targets };

static bool read_targets(const char *list, unsigned *found, struct sp_error *error)
{
    char item[64];
    while (list && sp_next_item(&list, item, sizeof item)) {
        struct sp_nearest nearest = {.wanted = item};
        int i = 0;
        while (i < TARGETS && strcmp(targets[i].name, item) != 0)
            sp_nearest_offer(&nearest, targets[i++].name);
        if (i == TARGETS)
            return sp_fail(error, SP_INPUT,
                           "--lora-targets: \"%s\" is no projection%s: q, k, v, qkv, o, gate, up, "
                           "down, attention, all-linear",
                           sp_safe(item), sp_nearest_hint(&nearest));
        *found |= targets[i].targets;
    }
    return true;
}

/* Options that mean something only where something is frozen, or for adapters. */
static bool check_kin(const struct sp_args *args, int trainable, struct sp_error *error)
{
    static const struct {
        const char *name;
        bool lora;
    } kin[] = {{"lora-rank", true}, {"lora-targets", true}, {"base-format", false}};
    for (size_t i = 0; i < sizeof kin / sizeof *kin; i++)
        if (sp_given(args, kin[i].name) &&
            (kin[i].lora ? trainable != SP_TRAIN_LORA : trainable == SP_TRAIN_ALL))
            return sp_fail(error, SP_INPUT, "--%s: with --trainable %s %s", kin[i].name,
                           sp_trainable_names[trainable],
                           kin[i].lora ? "there are no adapters" : "no weight is frozen");
    return true;
}

bool sp_take_tuning(const struct sp_args *args, struct sp_model *m, struct sp_error *error)
{
    if (!sp_takes(args, "trainable"))
        return true;
    const bool adapters = sp_given(args, "lora-rank") || sp_given(args, "lora-targets");
    const int given = sp_choice_of(args, "trainable"), format = sp_choice_of(args, "base-format");
    const int trainable = given >= 0 ? given : adapters ? SP_TRAIN_LORA : SP_TRAIN_ALL;
    const double rank = sp_number_of(args, "lora-rank");
    if (!check_kin(args, trainable, error))
        return false;
    if (trainable == SP_TRAIN_ALL)
        return true;
    if (!sp_model_has_shape(m))
        return sp_fail(error, SP_INPUT, "--trainable %s: the shape of %s is not known",
                       sp_trainable_names[trainable], m->name);
    m->tuning = (struct sp_tuning){.trainable = trainable,
                                   .base_bytes = format >= 0 ? base_bytes(format) : 0};
    if (trainable == SP_TRAIN_LORA) {
        m->tuning.lora_rank = isnan(rank) ? 16 : (int64_t)rank;
        if (!read_targets(sp_text_of(args, "lora-targets"), &m->tuning.targets, error))
            return false;
        if (m->tuning.targets == 0)
            m->tuning.targets = ATTENTION | MLP;
    }
    return sp_count_params(m).trained > 0 ||
           sp_fail(error, SP_INPUT, "--trainable %s: %s has none of that, nothing would be trained",
                   sp_trainable_names[trainable], m->name);
}

void sp_tuning_text(const struct sp_model *m, char out[SP_TUNING_TEXT])
{
    static const char *const names[SP_LORA_TARGETS] = {"",  "q",    "k",  "v",
                                                       "o", "gate", "up", "down"};
    const struct sp_tuning *const t = &m->tuning;
    size_t used = 0;
    out[0] = '\0';
    if (t->trainable == SP_TRAIN_ALL)
        return;
    if (t->trainable != SP_TRAIN_LORA) {
        snprintf(out, SP_TUNING_TEXT, "%s alone", sp_trainable_names[t->trainable]);
        return;
    }
    used =
        (size_t)snprintf(out, SP_TUNING_TEXT, "adapters of rank %lld on", (long long)t->lora_rank);
    for (int i = SP_LORA_Q; i < SP_LORA_TARGETS; i++)
        if (t->targets >> i & 1)
            used += (size_t)snprintf(out + used, SP_TUNING_TEXT - used, " %s", names[i]);
}

void sp_put_tuning(struct sp_report *r, const struct sp_model *m)
{
    char words[SP_TUNING_TEXT];
    if (m->tuning.trainable == SP_TRAIN_ALL)
        return;
    const struct sp_params p = sp_count_params(m);
    sp_tuning_text(m, words);
    sp_put_text(r, SP_Q_TUNING_WHAT, "%s", words);
    sp_put(r, SP_Q_TUNING_TRAINED, p.trained);
    sp_put(r, SP_Q_TUNING_FROZEN, p.total + p.adapters - p.trained);
    sp_put(r, SP_Q_TUNING_ADAPTERS, p.adapters);
    sp_put(r, SP_Q_TUNING_FACTOR, sp_tuning_flops(&p, 1) / p.active);
    sp_line(r,
            "trained    {trainable}: {params.trainable} of parameters, {params.frozen} are frozen; "
            "{flops_factor} FLOPs an active parameter and token");
}
