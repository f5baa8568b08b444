/* Megatron-LM: --moe-layer-freq, which layers have experts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "launch/megatron/megatron.h"

enum { MOST_LAYERS = 4096, DEEPEST = 8 };

/* A list in the language of the pattern, read so far. */
struct pattern {
    const char *at;
    bool experts[MOST_LAYERS];
    int64_t n;
    int depth;
};

static bool take(struct pattern *p, char c)
{
    p->at += strspn(p->at, " ");
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static bool read_item(struct pattern *p)
{
    p->at += strspn(p->at, " ");
    if ((*p->at != '0' && *p->at != '1') || p->n == MOST_LAYERS)
        return false;
    p->experts[p->n++] = *p->at++ == '1';
    return true;
}

/* "0, 1, 1]" */
static bool read_items(struct pattern *p)
{
    do {
        if (!read_item(p))
            return false;
    } while (take(p, ','));
    return take(p, ']');
}

/* Repeats the items from `first` on this many times. */
static bool repeat(struct pattern *p, int64_t first, int64_t times)
{
    const int64_t length = p->n - first;
    if (times < 0 || (length > 0 && times > (MOST_LAYERS - first) / length))
        return false;
    for (int64_t i = length; i < length * times; i++)
        p->experts[first + i] = p->experts[first + i % length];
    p->n = first + length * times;
    return true;
}

/* "[0]*3+([0]+[1])*2" */
static bool read_sum(struct pattern *p)
{
    if (++p->depth > DEEPEST)
        return false;
    do {
        const int64_t first = p->n;
        if (take(p, '(')) {
            if (!read_sum(p) || !take(p, ')'))
                return false;
        } else if (!take(p, '[') || !read_items(p)) {
            return false;
        }
        while (take(p, '*')) {
            char *end;
            p->at += strspn(p->at, " ");
            const int64_t times = *p->at >= '0' && *p->at <= '9' ? strtoll(p->at, &end, 10) : -1;
            if (times < 0 || !repeat(p, first, times))
                return false;
            p->at = end;
        }
    } while (take(p, '+'));
    p->depth--;
    return true;
}

/* A list, in quotes or not, or "0 1 1", which is how lists of YAML come. */
static bool read_pattern(struct pattern *p, const char *text)
{
    bool ok = true;
    *p = (struct pattern){.at = text + (*text == '\'')};
    const bool bare = *p->at == '0' || *p->at == '1';
    while (bare && ok && *p->at && *p->at != '\'')
        ok = read_item(p);
    return ok && (bare || read_sum(p)) && p->at[strspn(p->at, " '")] == '\0';
}

bool sp_list_moe_layers(const char *text, char *out, size_t size)
{
    struct pattern *const p = sp_must(calloc(1, sizeof *p));
    const bool ok = read_pattern(p, text) && p->n > 1 && 2 * (size_t)p->n <= size;
    for (int64_t i = 0; i < p->n && ok; i++)
        snprintf(out + 2 * i, 3, i + 1 < p->n ? "%d " : "%d", p->experts[i]);
    free(p);
    return ok;
}

/* Number of layers without experts in a frequency list, and whether they come first. False: the
 * text is not a list of this many layers. */
static bool count_pattern(const char *text, int64_t layers, int64_t *dense, bool *first)
{
    struct pattern *const p = sp_must(calloc(1, sizeof *p));
    const bool ok = read_pattern(p, text) && p->n == layers;
    *dense = 0;
    for (int64_t i = 0; i < p->n && ok; i++)
        *dense += !p->experts[i];
    *first = true;
    for (int64_t i = 0; i < *dense && ok; i++)
        *first = *first && !p->experts[i];
    free(p);
    return ok;
}

/* Layers 0, n, 2 n, ... have experts (get_moe_layer_pattern of Megatron-LM's gpt_layer_specs.py):
 * one more than layers / n where that leaves a remainder. */
static bool count_frequency(const char *text, int64_t layers, int64_t *every, int64_t *dense)
{
    char *end;
    *every = *text >= '1' && *text <= '9' ? strtoll(text, &end, 10) : 0;
    if (*every < 1 || *end != '\0' || *every > layers)
        return false;
    *dense = layers - (layers + *every - 1) / *every;
    return true;
}

/* Patterns keep their counts, not their order: a model has its dense layers first. One layer in n
 * means layers 0, n, 2n, ..., so 13 layers of frequency 2 have 7 with experts. */
void sp_read_moe_layers(struct sp_settings *s, char *out, size_t size)
{
    const char *const given = sp_setting(s, "--moe-layer-freq");
    char interval[32] = ""; /* of Megatron-DeepSpeed, which has experts in every other layer */
    if (sp_setting(s, "--deepspeed") || sp_setting(s, "--expert-interval"))
        snprintf(interval, sizeof interval, "%lld",
                 (long long)sp_setting_whole(s, "--expert-interval", 1, 2));
    const char *const text = given ? given : interval[0] ? interval : NULL;
    const int64_t layers = sp_setting_whole(s, "--num-layers", 1, 0);
    int64_t every = 0, dense = 0;
    bool first = false;
    if (!text)
        return;
    if (count_frequency(text, layers, &every, &dense)) {
        if (layers % every == 0) {
            sp_append(out, size, ",moe.every=%lld", (long long)every);
            return;
        }
    } else if (!count_pattern(text, layers, &dense, &first) || dense == layers) {
        sp_launch_note(s,
                       "--moe-layer-freq %.80s: not a list of 0 and 1 for %lld layers; read as "
                       "experts in every layer",
                       sp_safe(text), (long long)layers);
        return;
    }
    sp_append(out, size, ",moe.dense_layers=%lld", (long long)dense);
    if (!first)
        sp_launch_note(s, "--moe-layer-freq: read as %lld layers without experts before %lld with",
                       (long long)dense, (long long)(layers - dense));
}
