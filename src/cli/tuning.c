/* --trainable, --lora-rank, --lora-targets, --base-format. */
#include "cli/tuning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/flops.h>
#include <scaleplan/layer.h>
#include <scaleplan/serve.h>

#include "base/list.h"
#include "base/number.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/shapeless.h"

const char *const sp_base_formats[] = {"bf16", "fp8", "int8", "nf4", "nf4-double", NULL};

/* Bytes of a weight in each of them, scales included. Dettmers et al. 2023, "QLoRA", section 3:
 * blocks of 64 weights with a scale of 4 bytes; or with a scale of one byte, and one more of 4
 * bytes for every 256 scales. */
static double base_bytes(int format)
{
    const double bytes[] = {sp_storages[SP_STORED_BF16].bytes, sp_storages[SP_STORED_FP8].bytes,
                            sp_storages[SP_STORED_INT8].bytes, 0.5 + 4.0 / 64,
                            sp_storages[SP_STORED_NF4].bytes};
    return bytes[format];
}

/* A word for some bits. */
struct bits {
    const char *name;
    unsigned bits;
};

#define BIT(target) (1U << (target))
#define QKV (BIT(SP_LORA_Q) | BIT(SP_LORA_K) | BIT(SP_LORA_V))
#define ATTENTION (QKV | BIT(SP_LORA_O))
#define MLP (BIT(SP_LORA_GATE) | BIT(SP_LORA_UP) | BIT(SP_LORA_DOWN))

static const struct bits targets[] = {
    {"q", BIT(SP_LORA_Q)},
    {"k", BIT(SP_LORA_K)},
    {"v", BIT(SP_LORA_V)},
    {"o", BIT(SP_LORA_O)},
    {"qkv", QKV},
    {"gate", BIT(SP_LORA_GATE)},
    {"up", BIT(SP_LORA_UP)},
    {"down", BIT(SP_LORA_DOWN)},
    {"attention", ATTENTION},
    {"fused", BIT(SP_LORA_FUSED)},
    {"all-linear", ATTENTION | MLP},
};
enum { TARGETS = sizeof targets / sizeof *targets };

static const struct bits parts[] = {
    {"embeddings", BIT(SP_PART_EMBEDDING)},
    {"attention", BIT(SP_PART_ATTENTION)},
    {"mlp", BIT(SP_PART_MLP)},
    {"experts", BIT(SP_PART_EXPERTS)},
    {"norms", BIT(SP_PART_NORM)},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* Reads the bits of a list of words; false with the first unknown word and its nearest. */
static bool read_bits(const char *list, const struct bits *words, int n, unsigned *found,
                      char unknown[64], struct sp_nearest *nearest)
{
    while (list && sp_next_item(&list, unknown, 64)) {
        int i = 0;
        *nearest = (struct sp_nearest){.wanted = unknown};
        while (i < n && strcmp(words[i].name, unknown) != 0)
            sp_nearest_offer(nearest, words[i++].name);
        if (i == n)
            return false;
        *found |= words[i].bits;
    }
    return true;
}

static bool read_targets(const char *list, unsigned *found, struct sp_error *error)
{
    char item[64];
    struct sp_nearest nearest;
    return read_bits(list, targets, TARGETS, found, item, &nearest) ||
           sp_fail(error, SP_INPUT,
                   "--lora-targets: unknown projection \"%s\"%s: q, k, v, qkv, o, gate, up, down, "
                   "attention, all-linear, fused",
                   sp_safe(item), sp_nearest_hint(&nearest));
}

/* "last:4", the last layers. */
static bool read_last(const char *text, const struct sp_model *m, struct sp_tuning *t,
                      struct sp_error *error)
{
    double last;
    t->trainable = SP_TRAIN_LAST;
    if (!sp_parse_number(text, &last) || last < 1 || last != floor(last) || last > 1e6)
        return sp_fail(error, SP_INPUT, "--trainable last:%s: expected last:N, N from 1",
                       sp_safe(text));
    t->last = (int64_t)last;
    if (m->mean_d_ff > 0)
        return sp_fail(error, SP_INPUT, "--trainable last: the MLPs of %s differ", m->name);
    return !sp_model_has_shape(m) || t->last <= m->layers ||
           sp_fail(error, SP_INPUT, "--trainable last:%lld: %s has %lld layers", (long long)t->last,
                   m->name, (long long)m->layers);
}

/* Reads --trainable; if it is left out, options of adapters imply lora. */
static bool read_trainable(const struct sp_args *args, const struct sp_model *m,
                           struct sp_tuning *t, struct sp_error *error)
{
    const char *const text = args->value.trainable;
    const bool adapters = args->given.lora_rank || args->given.lora_targets;
    char item[64];
    struct sp_nearest nearest;
    if (!text || strcmp(text, "all") == 0) {
        t->trainable = !text && adapters ? SP_TRAIN_LORA : SP_TRAIN_ALL;
        return true;
    }
    if (strcmp(text, "lora") == 0 || strcmp(text, "none") == 0) {
        t->trainable = text[0] == 'l' ? SP_TRAIN_LORA : SP_TRAIN_LAST;
        return true;
    }
    if (strncmp(text, "last:", 5) == 0)
        return read_last(text + 5, m, t, error);
    t->trainable = SP_TRAIN_PARTS;
    if (read_bits(text, parts, PARTS, &t->parts, item, &nearest))
        return true;
    sp_nearest_offer(&nearest, "all");
    sp_nearest_offer(&nearest, "lora");
    sp_nearest_offer(&nearest, "none");
    return sp_fail(error, SP_INPUT,
                   "--trainable: unknown part \"%s\"%s: all, lora, none, last:N, or a list of "
                   "embeddings, attention, mlp, experts, norms",
                   sp_safe(item), sp_nearest_hint(&nearest));
}

/* Refuses options that need something frozen, or adapters. */
static bool check_kin(const struct sp_args *args, const struct sp_tuning *t, struct sp_error *error)
{
    static const struct {
        enum sp_option_id id;
        bool lora;
    } kin[] = {{SP_O_lora_rank, true}, {SP_O_lora_targets, true}, {SP_O_base_format, false}};
    const char *const text = args->value.trainable;
    for (size_t i = 0; i < sizeof kin / sizeof *kin; i++)
        if (args->given_at[kin[i].id] &&
            (kin[i].lora ? t->trainable != SP_TRAIN_LORA : t->trainable == SP_TRAIN_ALL))
            return sp_fail(error, SP_INPUT, "--%s: with --trainable %s %s",
                           sp_option_name(kin[i].id), text ? sp_safe(text) : "all",
                           kin[i].lora ? "there are no adapters" : "no weight is frozen");
    return true;
}

/* Reads which part of a model with a known shape is trained, if not all of it. */
static bool take_adapters(const struct sp_args *args, struct sp_tuning *t, struct sp_error *error)
{
    const int format = args->value.base_format;
    const double rank = args->value.lora_rank;
    t->base_bytes = format >= 0 ? base_bytes(format) : 0;
    if (t->trainable != SP_TRAIN_LORA)
        return true;
    t->lora_rank = isnan(rank) ? 16 : (int64_t)rank;
    if (!read_targets(args->value.lora_targets, &t->targets, error))
        return false;
    if ((t->targets & (ATTENTION | MLP)) == 0)
        t->targets |= ATTENTION | MLP;
    return true;
}

bool sp_take_tuning(const struct sp_args *args, const struct sp_sources *sources,
                    struct sp_model *m, struct sp_error *error)
{
    struct sp_tuning t = {0};
    if (!sp_option_taken(args, SP_O_trainable))
        return true;
    if (!read_trainable(args, m, &t, error) || !check_kin(args, &t, error))
        return false;
    if (t.trainable == SP_TRAIN_ALL)
        return true;
    const char *const said = args->given.trainable ? args->value.trainable : "lora";
    if (sp_option_taken(args, SP_O_params) && args->given.params)
        return sp_refuse_size("parts to train need", args, sources, error);
    if (!sp_model_has_shape(m))
        return sp_fail(error, SP_INPUT, "--trainable %s: %s has no known shape", sp_safe(said),
                       m->name);
    if (!take_adapters(args, &t, error))
        return false;
    m->tuning = t;
    return t.trainable == SP_TRAIN_LAST || sp_count_params(m).trained > 0 ||
           sp_fail(error, SP_INPUT, "--trainable %s: %s has no such part", sp_safe(said), m->name);
}

/* Appends the words of all set bits. */
static void append_words(const struct bits *words, int n, unsigned set, char *out, size_t size)
{
    for (int i = 0; i < n; i++)
        if ((words[i].bits & (words[i].bits - 1)) == 0 && (set & words[i].bits) != 0)
            sp_append(out, size, " %s", words[i].name);
}

void sp_tuning_text(const struct sp_model *m, char out[SP_TUNING_TEXT])
{
    const struct sp_tuning *const t = &m->tuning;
    out[0] = '\0';
    switch (t->trainable) {
    case SP_TRAIN_LORA:
        snprintf(out, SP_TUNING_TEXT, "adapters of rank %lld on", (long long)t->lora_rank);
        append_words(targets, TARGETS, t->targets, out, SP_TUNING_TEXT);
        break;
    case SP_TRAIN_PARTS:
        append_words(parts, PARTS, t->parts, out, SP_TUNING_TEXT);
        memmove(out, out + 1, strlen(out));
        strncat(out, " alone", SP_TUNING_TEXT - strlen(out) - 1);
        break;
    case SP_TRAIN_LAST:
        if (t->last == 0)
            snprintf(out, SP_TUNING_TEXT, "none (forward pass only)");
        else
            snprintf(out, SP_TUNING_TEXT, "the last %lld layers", (long long)t->last);
        break;
    default:
        break;
    }
}

/* Notes adapters of a higher rank than a matmul has. */
static void note_rank(struct sp_report *r, const struct sp_model *m)
{
    struct sp_layers layers;
    sp_list_model(m, &layers);
    const double most = sp_most_lora_rank(&layers);
    if ((double)m->tuning.lora_rank > most)
        sp_note(r, "a rank above %.0f exceeds the narrowest projection with an adapter", most);
}

void sp_put_tuning(struct sp_report *r, const struct sp_model *m)
{
    char words[SP_TUNING_TEXT];
    if (m->tuning.trainable == SP_TRAIN_ALL)
        return;
    const struct sp_params p = sp_count_params(m);
    sp_tuning_text(m, words);
    sp_put_text(r, SP_Q_TUNING_WHAT, "%s", words);
    note_rank(r, m);
    sp_put(r, SP_Q_TUNING_TRAINED, p.trained);
    sp_put(r, SP_Q_TUNING_FROZEN, p.total + p.adapters - p.trained);
    sp_put(r, SP_Q_TUNING_ADAPTERS, p.adapters);
    sp_put(r, SP_Q_TUNING_FACTOR, sp_tuning_flops(&p, 1) / p.active);
    sp_line(r, "trained    {trainable}: {trained_params} parameters, {frozen_params} frozen; "
               "{flops_factor} FLOPs per active parameter and token");
}
