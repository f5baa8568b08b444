/* Layers on the stages of a pipeline. */
#include <math.h>
#include <string.h>

#include <scaleplan/plan.h>

#include "core/layers/layer_kinds.h"
#include "core/plan/stages.h"
#include "core/require.h"

/* Boundaries of a pipeline: the first `left` stages have `each` + 1 layers, the others `each`, and
 * the first one `table` fewer; or with `share` != 0 a stage ends with the layer at which the
 * weights pass `share` times its number. Of stages with ends of their own the first `first` layers
 * and the last `last` are not counted. */
struct cuts {
    int64_t layers, stages, each, left, table, first, last;
    double share;
};

/* Weights per stage in layers; the head counts by its weights. */
static double share_of_weights(const struct sp_model *model, int64_t stages)
{
    const double D = (double)model->d_model;
    const double head = D * (double)sp_head_outputs(model);
    const double layer = 4 * D * D + (model->gated_mlp ? 3 : 2) * D * (double)model->d_ff;
    return ((double)model->layers * layer + head) / (double)stages / layer;
}

/* Stages with ends of their own: the others share what these leave. */
static struct cuts cuts_between(int64_t layers, const struct sp_stage_split *s)
{
    const int64_t inner = s->stages - (s->first > 0) - (s->last > 0);
    const int64_t shared = layers - s->first - s->last, stages = inner > 0 ? inner : 1;
    return (struct cuts){.layers = layers,
                         .stages = s->stages,
                         .each = shared / stages,
                         .left = shared % stages,
                         .first = s->first,
                         .last = s->last};
}

static struct cuts cuts_of(const struct sp_model *model, const struct sp_stage_split *split)
{
    const int64_t L = model->layers, stages = split->stages, left = L % stages;
    if (split->first > 0 || split->last > 0)
        return cuts_between(L, split);
    /* Megatron counts table and head as one layer each if only that divides. Layouts with modules
     * that predict further tokens count a layer and a head for each, and the model's own head:
     * DeepSeek-V3, 61 + 1 + 2 = 64 on 2 to 16 stages */
    const int64_t n = model->mtp_layers, all = L + (n > 0 ? 1 + 2 * n : 2);
    const bool ends = left != 0 && all % stages == 0 && all / stages * (stages - 1) <= L;
    return (struct cuts){
        .layers = L,
        .stages = stages,
        .each = ends ? all / stages : L / stages,
        .left = ends ? 0 : left,
        .table = ends && n == 0,
        .share = split->balance == SP_BALANCE_EVEN ? 0 : share_of_weights(model, stages)};
}

/* Layers before the boundary in front of stage `stage`. */
static int64_t boundary(const struct cuts *c, int64_t stage)
{
    if (stage == 0)
        return 0;
    if (stage >= c->stages)
        return c->layers;
    if (c->share == 0) {
        const int64_t at = stage - (c->first > 0);
        return c->first + c->each * at + (at < c->left ? at : c->left) - c->table;
    }
    const double closed = floor(c->share * (double)stage) + 1;
    return closed < (double)c->layers ? (int64_t)closed : c->layers;
}

static void kind_of(const struct sp_model *model, const struct cuts *cuts, int64_t stage,
                    struct sp_stage_kind *kind)
{
    const int64_t from = boundary(cuts, stage), until = boundary(cuts, stage + 1);
    sp_count_layers(model, from, until, &kind->layers);
    sp_count_still_layers(model, from, until, &kind->still);
    kind->first = stage == 0;
    kind->last = stage == cuts->stages - 1;
    kind->present = 0;
    for (int i = 0; i < SP_LAYER_KINDS; i++)
        kind->present |= (unsigned)(kind->layers.of[i] > 0) << i;
}

struct sp_stage_kind sp_kind_of_stage(const struct sp_model *model,
                                      const struct sp_stage_split *split, int64_t stage)
{
    sp_require(stage >= 0 && stage < split->stages, "the stage must be one of the stages");
    const struct cuts cuts = cuts_of(model, split);
    struct sp_stage_kind kind;
    kind_of(model, &cuts, stage, &kind);
    return kind;
}

struct sp_layer_counts sp_layers_of_stage(const struct sp_model *model,
                                          const struct sp_stage_split *split, int64_t stage)
{
    sp_require(stage >= 0 && stage < split->stages, "the stage must be one of the stages");
    return sp_kind_of_stage(model, split, stage).layers;
}

static bool same_kind(const struct sp_stage_kind *a, const struct sp_stage_kind *b)
{
    bool same = a->present == b->present && a->first == b->first && a->last == b->last;
    for (unsigned left = a->present; left && same;) {
        const int i = sp_take_kind(&left);
        same = a->layers.of[i] == b->layers.of[i] && a->still.of[i] == b->still.of[i];
    }
    return same;
}

/* From this layer on, all layers have one kind and are trained alike; the encoder is before
 * them. */
static int64_t alike_from(const struct sp_model *model)
{
    const struct sp_moe *const moe = &model->moe;
    if (model->pattern[0] || moe->every > 1 || model->tuning.trainable == SP_TRAIN_LAST)
        return model->layers;
    return moe->experts > 0 && moe->dense_layers > 1 ? moe->dense_layers : 1;
}

/* Index of the kind of a stage, added to the map if new. The last of SP_STAGE_KINDS stands for all
 * that do not fit. */
static uint8_t map_stage(const struct sp_model *model, const struct cuts *cuts, int64_t stage,
                         struct sp_stage_map *map)
{
    struct sp_stage_kind *const kind = &map->kind[map->kinds];
    int at = 0;
    kind_of(model, cuts, stage, kind);
    while (at < map->kinds && !same_kind(&map->kind[at], kind))
        at++;
    if (at == SP_STAGE_KINDS)
        return SP_STAGE_KINDS - 1;
    if (at == map->kinds)
        map->stage[map->kinds++] = stage;
    return (uint8_t)at;
}

/* Number of consecutive stages with as many layers as this one, the last stage excluded. */
static int64_t stages_of_a_size(const struct cuts *cuts, int64_t stage)
{
    if (cuts->share == 0 && stage >= cuts->table && cuts->first == 0 &&
        cuts->last == 0) { /* even: those with a layer more come first */
        const int64_t alike = stage < cuts->left ? cuts->left : cuts->stages - 1;
        return alike > stage ? alike - stage : 1;
    }
    int64_t last = boundary(cuts, stage + 1), next = stage + 1;
    const int64_t size = last - boundary(cuts, stage);
    for (; next < cuts->stages - 1; next++) {
        const int64_t until = boundary(cuts, next + 1);
        if (until - last != size)
            break;
        last = until;
    }
    return next - stage;
}

int64_t sp_even_layers(const struct sp_model *model, int64_t stages)
{
    sp_require(stages >= 1, "stages must be at least 1");
    const int64_t L = model->layers;
    return L % stages == 0 ? L / stages : (L + 2) % stages == 0 ? (L + 2) / stages : 0;
}

/* Even stages. If pp divides L + 2 but not L, embedding and head count as a layer each, as Megatron
 * allows (Llama 3 405B: 126 layers on 16 stages). Else the first stages take the remainder.
 * nanotron balances by cost. */
void sp_map_stages(const struct sp_model *model, const struct sp_stage_split *split,
                   struct sp_stage_map *map)
{
    const int64_t stages = split->stages;
    sp_require(stages >= 1 && stages <= SP_MAX_STAGES, "there must be 1 to SP_MAX_STAGES stages");
    const struct cuts cuts = cuts_of(model, split);
    const int64_t alike = alike_from(model);
    int64_t same;
    map->stages = stages;
    map->kinds = 0;
    for (int64_t stage = 0; stage < stages; stage += same) {
        same = boundary(&cuts, stage) >= alike ? stages_of_a_size(&cuts, stage) : 1;
        memset(&map->of[stage], map_stage(model, &cuts, stage, map), (size_t)same);
    }
}

struct sp_stage_split sp_split_of(const struct sp_plan *plan, enum sp_balance balance)
{
    return (struct sp_stage_split){plan->pp, plan->first_layers, plan->last_layers, balance};
}

bool sp_ends_leave_layers(int64_t layers, const struct sp_plan *plan)
{
    const int64_t first = plan->first_layers, last = plan->last_layers;
    if (first == 0 && last == 0)
        return true;
    const int64_t inner = plan->pp - (first > 0) - (last > 0), left = layers - first - last;
    return plan->pp > 1 && left >= inner && (inner > 0 || left == 0);
}

/* == Layouts by hand == */

/* A layout's text as it is read: chunks that are closed, and the layers of the open one. */
struct layout {
    int64_t chunks, open, stages;
    int64_t of[SP_MAX_STAGES]; /* layers of each stage: chunk i is on stage i mod stages */
};

enum { MOST_CHUNKS = 1 << 16 };

/* The number behind a star; 1 without a star, 0 for none that can be meant. */
static int64_t repeats(const char **at)
{
    int64_t times = 0;
    if (**at != '*')
        return 1;
    for (++*at; **at >= '0' && **at <= '9' && times < MOST_CHUNKS; ++*at)
        times = 10 * times + (**at - '0');
    return times;
}

static bool put_letter(struct layout *l, char letter)
{
    if (letter == 't')
        l->of[l->chunks % l->stages]++;
    else if (letter == '|')
        l->chunks++;
    return letter && strchr("EtmL|", letter) && l->chunks < MOST_CHUNKS;
}

/* Reads one letter or a group in brackets, which may not nest, and how often it stands there. */
static bool read_group(struct layout *l, const char **at)
{
    const bool group = **at == '(';
    const char *const from = *at + group;
    const char *const end = group ? strchr(from, ')') : from + 1;
    if (!end)
        return false;
    const size_t n = (size_t)(end - from);
    *at = end + group;
    const int64_t times = repeats(at);
    for (int64_t k = 0; k < times; k++)
        for (size_t i = 0; i < n; i++)
            if (!put_letter(l, from[i]))
                return false;
    return times > 0;
}

bool sp_read_layout(const char *text, const struct sp_model *model, int64_t stages, int64_t *first,
                    int64_t *last)
{
    struct layout l = {.stages = stages};
    int64_t sum = 0;
    if (stages < 1 || stages > SP_MAX_STAGES)
        return false;
    while (*text)
        if (!read_group(&l, &text))
            return false;
    const int64_t chunks = l.chunks + 1;
    for (int64_t s = 0; s < stages; s++)
        sum += l.of[s];
    if (sum != model->layers || chunks % stages != 0)
        return false;
    *first = *last = 0;
    struct sp_stage_split split = {.stages = stages};
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        const struct cuts even = cuts_of(model, &split);
        int64_t s = 0;
        while (s < stages && boundary(&even, s + 1) - boundary(&even, s) == l.of[s])
            s++;
        if (s == stages)
            return true;
        split.first = *first = l.of[0];
        split.last = *last = l.of[stages - 1];
    }
    return false;
}
