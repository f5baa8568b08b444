/* The words that a runs CSV may hold where it holds no number: each is one of a table, in any case,
 * and may have a remark behind it ("ZeRO-1 (not stated in the table)"). */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "runs/runs_internal.h"

/* Whether `text` begins with `word` as a word of its own. */
static bool begins(const char *text, const char *word)
{
    const size_t n = strlen(word);
    return strncasecmp(text, word, n) == 0 && !isalnum((unsigned char)text[n]);
}

static bool unknown(struct sp_row_reader *r, const char *column, const char *expected)
{
    return sp_fail(r->error, SP_INPUT, "%s: row %zu, column %s: \"%s\" is not known; expected %s",
                   sp_safe(r->origin), r->row + 1, column, sp_safe(sp_row_text(r, column)),
                   expected);
}

bool sp_row_flag(struct sp_row_reader *r, const char *column, bool fallback, bool *value)
{
    static const char *const words[][2] = {
        {"0", "1"}, {"0.0", "1.0"}, {"false", "true"}, {"no", "yes"}, {"off", "on"}};
    const char *const text = sp_row_text(r, column);
    *value = fallback;
    if (text[0] == '\0')
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int on = 0; on < 2; on++)
            if (strcasecmp(text, words[i][on]) == 0) {
                *value = on == 1;
                return true;
            }
    return unknown(r, column, "0 or 1");
}

bool sp_row_zero(struct sp_row_reader *r, int *zero)
{
    static const struct {
        const char *word;
        int zero;
    } words[] = {
        {"none", 0},       {"ddp", 0},           {"0", 0},    {"1", 1},     {"2", 2}, {"3", 3},
        {"full_shard", 3}, {"shard_grad_op", 2}, {"fsdp", 3}, {"fsdp2", 3},
    };
    const char *text = sp_row_text(r, "fsdp_zero");
    *zero = 0;
    if (text[0] == '\0')
        return true;
    if (strncasecmp(text, "zero", 4) == 0) /* "ZeRO-3", "zero3", "ZeRO 3" */
        text += 4 + (text[4] != '\0' && strchr("- _", text[4]) && isdigit((unsigned char)text[5]));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins(text, words[i].word)) {
            *zero = words[i].zero;
            return true;
        }
    return unknown(r, "fsdp_zero", "none, ZeRO-0 to ZeRO-3, or FSDP");
}

bool sp_row_dtype(struct sp_row_reader *r, enum sp_dtype *dtype)
{
    static const struct {
        const char *word;
        enum sp_dtype dtype;
    } others[] = {{"bfloat16", SP_BF16}, {"float16", SP_FP16}, {"float32", SP_FP32},
                  {"mxfp8", SP_FP8},     {"mxfp4", SP_FP4},    {"nvfp4", SP_FP4}};
    const char *const text = sp_row_text(r, "precision");
    *dtype = SP_BF16;
    if (text[0] == '\0')
        return true;
    for (int i = 0; i < SP_DTYPES; i++)
        if (begins(text, sp_dtype_names[i])) {
            *dtype = (enum sp_dtype)i;
            return true;
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins(text, others[i].word)) {
            *dtype = others[i].dtype;
            return true;
        }
    return unknown(r, "precision", "bf16, fp16, fp8, mxfp8, nvfp4, fp32 or tf32");
}

const char *const sp_memory_level_names[] = {"live", "reserved", "device", "closed-form"};

bool sp_row_level(struct sp_row_reader *r, enum sp_memory_level *level)
{
    const char *const text = sp_row_text(r, "memory_level");
    *level = SP_NO_LEVEL;
    if (text[0] == '\0')
        return true;
    for (int i = 0; i < SP_NO_LEVEL; i++)
        if (strcasecmp(text, sp_memory_level_names[i]) == 0) {
            *level = (enum sp_memory_level)i;
            return true;
        }
    return unknown(r, "memory_level", "live, reserved, device or closed-form");
}

/* Words of the recompute column. The policy is of the words that come first in this list; a cell
 * begins with words that stand alone, others say what a selective one does. */
#define FULL .qkv = 1, .core = 1, .out = 1, .up = 1, .down = 1, .norms = 1
static const struct {
    const char *word;
    bool alone;
    struct sp_recompute recompute;
    double layers;
} policies[] = {
    {"every 2nd layer", true, {FULL}, 0.5},
    {"full (layer input offloaded)", true, {FULL, .offload = true}, 1},
    {"full", true, {FULL}, 1},
    {"none", true, {.qkv = 0}, 0},
    {"minimal", true, {.core = 1, .norms = 1}, 1},
    {"context, mlpwo",
     false,
     {.qkv = 1, .core = 1, .out = 1, .up = 1, .norms = 1, .offload = true},
     1},
    {"layer input saved, qkv remat",
     false,
     {.qkv = 1, .core = 1, .out = 1, .up = 1, .norms = 1},
     1},
    {"custom offload",
     true,
     {.qkv = 1, .core = 1, .out = 1, .up = 1, .norms = 1, .offload = true},
     1},
    {"qkv", false, {.core = 1, .out = 1, .up = 1, .norms = 1, .offload = true}, 1},
};
#undef FULL

/* The name of a policy of `step --remat` that begins the text, "selective" being the framework's;
 * NULL: none does. */
static const char *policy_of(const char *text, const char *selective)
{
    if (begins(text, "selective"))
        return selective;
    for (int i = 0; i < SP_POLICIES; i++)
        if (begins(text, sp_policy_names[i]))
            return sp_policy_names[i];
    return NULL;
}

bool sp_row_recompute(struct sp_row_reader *r, struct sp_run *run)
{
    const char *const text = sp_row_text(r, "recompute");
    run->recompute_stated = text[0] != '\0';
    const char *const name = policy_of(text, run->framework.selective);
    struct sp_plan *const plan = &run->plan;
    bool known = name != NULL;
    plan->recompute_layers = 1;
    if (!run->recompute_stated)
        return true;
    for (size_t i = 0; i < sizeof policies / sizeof *policies && !known; i++)
        known = policies[i].alone && begins(text, policies[i].word);
    if (!known)
        return unknown(r, "recompute",
                       "none, selective, full, every 2nd layer, or a policy of step --remat");
    const struct sp_policy *const policy = name ? sp_find_policy(name) : NULL;
    const bool bare = name && strcasecmp(text, name) == 0; /* a policy's name and no remark */
    for (size_t i = 0; i < sizeof policies / sizeof *policies && !bare; i++)
        if (begins(text, "none") ? strcmp(policies[i].word, "none") == 0
                                 : strcasestr(text, policies[i].word) != NULL) {
            plan->recompute = policies[i].recompute;
            plan->recompute_layers = policies[i].layers;
            return true;
        }
    if (policy)
        plan->recompute = policy->recompute;
    return true;
}
