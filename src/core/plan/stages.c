/* Layers on the stages of a pipeline. */
#include <math.h>
#include <string.h>

#include <scaleplan/plan.h>

#include "core/layers/layer_kinds.h"
#include "core/plan/stages.h"
#include "core/require.h"

/* Boundaries of a pipeline: the first `left` stages have `each` + 1 layers, the others `each`, and
 * the first one `table` fewer; or, if `share` != 0, a stage ends with the layer at which the
 * weights exceed `share` times its number. If the stages at the ends have given sizes, their
 * `first` and `last` layers are not counted. With `own`, each stage's number is given there. */
struct cuts {
    int64_t layers, stages, each, left, table, first, last;
    double share;
    const int16_t *own;
    bool apart; /* modules for further tokens, on the stage before the last */
};

/* Weights per stage in layers; the head counts by its weights. */
static double share_of_weights(const struct sp_model *model, int64_t stages)
{
    const double D = (double)model->d_model;
    const double head = D * (double)sp_head_outputs(model);
    const double layer = 4 * D * D + (model->gated_mlp ? 3 : 2) * D * (double)model->d_ff;
    return ((double)model->layers * layer + head) / (double)stages / layer;
}

/* Stages with given sizes at the ends: the others share the remaining layers. */
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
    if (split->own)
        return (struct cuts){.layers = L,
                             .stages = stages,
                             .own = split->own->layers,
                             .apart = split->own->modules_apart};
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
    if (c->own) {
        int64_t before = 0;
        for (int64_t i = 0; i < stage; i++)
            before += c->own[i];
        return before;
    }
    if (c->share == 0) {
        const int64_t at = stage - (c->first > 0);
        return c->first + c->each * at + (at < c->left ? at : c->left) - c->table;
    }
    const double closed = floor(c->share * (double)stage) + 1;
    return closed < (double)c->layers ? (int64_t)closed : c->layers;
}

void sp_kind_between(const struct sp_model *model, int64_t from, int64_t until, bool first,
                     bool last, struct sp_stage_kind *kind)
{
    kind->first = first;
    kind->last = last;
    kind->copy = last && !first;
    sp_count_layers(model, from, until, &kind->layers);
    sp_count_still_layers(model, from, until, &kind->still);
    /* stages at the ends may have no layer, only the modules before or after all layers */
    kind->layers.of[SP_LAYER_ENCODER] = first ? model->encoder.layers : 0;
    kind->layers.of[SP_LAYER_MTP] = last ? model->mtp_layers : 0;
    if (model->tuning.trainable == SP_TRAIN_LAST)
        kind->still.of[SP_LAYER_ENCODER] = kind->layers.of[SP_LAYER_ENCODER];
    kind->present = 0;
    for (int i = 0; i < SP_LAYER_KINDS; i++)
        kind->present |= (unsigned)(kind->layers.of[i] > 0) << i;
}

void sp_put_modules_apart(const struct sp_model *model, bool here, struct sp_stage_kind *kind)
{
    const bool still = model->tuning.trainable == SP_TRAIN_LAST && model->tuning.last == 0;
    kind->layers.of[SP_LAYER_MTP] = here ? model->mtp_layers : 0;
    kind->still.of[SP_LAYER_MTP] = here && still ? model->mtp_layers : 0;
    kind->copy = here || (kind->last && model->tied_embeddings);
    kind->present &= ~(1U << SP_LAYER_MTP);
    kind->present |= (unsigned)(kind->layers.of[SP_LAYER_MTP] > 0) << SP_LAYER_MTP;
}

static void kind_of(const struct sp_model *model, const struct cuts *cuts, int64_t stage,
                    struct sp_stage_kind *kind)
{
    sp_kind_between(model, boundary(cuts, stage), boundary(cuts, stage + 1), stage == 0,
                    stage == cuts->stages - 1, kind);
    if (cuts->apart)
        sp_put_modules_apart(model, stage == cuts->stages - 2, kind);
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

int64_t sp_alike_from(const struct sp_model *model)
{
    const struct sp_moe *const moe = &model->moe;
    if (model->pattern[0] || moe->every > 1 || model->tuning.trainable == SP_TRAIN_LAST)
        return model->layers;
    return moe->experts > 0 && moe->dense_layers > 1 ? moe->dense_layers : 1;
}

/* Index of the kind of a stage, added to the map if new. The last of SP_STAGE_KINDS represents all
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

/* Number of consecutive stages with as many layers as this one, excluding the last stage, and the
 * one before it if it has separate modules. */
static int64_t stages_of_a_size(const struct cuts *cuts, int64_t stage)
{
    if (!cuts->own && cuts->share == 0 && stage >= cuts->table && cuts->first == 0 &&
        cuts->last == 0) { /* even: those with a layer more come first */
        const int64_t alike = stage < cuts->left ? cuts->left : cuts->stages - 1;
        return alike > stage ? alike - stage : 1;
    }
    int64_t last = boundary(cuts, stage + 1), next = stage + 1;
    const int64_t size = last - boundary(cuts, stage);
    for (; next < cuts->stages - 1 - cuts->apart; next++) {
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
    const int64_t alike = sp_alike_from(model);
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
    return (struct sp_stage_split){plan->pp, plan->first_layers, plan->last_layers, balance,
                                   plan->own.n > 0 ? &plan->own : NULL};
}

bool sp_ends_leave_layers(int64_t layers, const struct sp_plan *plan)
{
    const int64_t first = plan->first_layers, last = plan->last_layers;
    if (first == 0 && last == 0)
        return true;
    const int64_t inner = plan->pp - (first > 0) - (last > 0), left = layers - first - last;
    return plan->pp > 1 && left >= inner && (inner > 0 || left == 0);
}

/* Separate modules have a stage to themselves or share it with layers. It is not the first, and
 * only the last stage follows it, which then has no layer after it. */
static bool modules_fit(const struct sp_model *model, const struct sp_plan *plan)
{
    const struct sp_own_stages *const own = &plan->own;
    return !own->modules_apart ||
           (model->mtp_layers > 0 && own->n > 2 && (plan->vpp > 1 || own->layers[own->n - 1] == 0));
}

bool sp_own_stages_fit(const struct sp_model *model, const struct sp_plan *plan)
{
    const struct sp_own_stages *const own = &plan->own;
    int64_t sum = 0;
    if (own->n == 0)
        return true;
    if (own->n != plan->pp || own->n > SP_OWN_STAGES ||
        plan->first_layers + plan->last_layers > 0 || !modules_fit(model, plan))
        return false;
    for (int64_t s = 0; s < own->n; s++) {
        const bool at_an_end =
            own->n > 1 && (s == 0 || s == own->n - 1 || (own->modules_apart && s == own->n - 2));
        if (own->layers[s] < !at_an_end)
            return false;
        sum += own->layers[s];
    }
    return sum == model->layers;
}

/* == Layouts by hand == */

/* A layout's text while it is read: closed chunks, and letters. */
struct layout {
    int64_t chunks, letters, tables, modules, losses;
    int64_t stages, of[SP_MAX_STAGES]; /* layers of each stage: chunk i is on stage i mod stages */
    int64_t at_module, to_module,
        at_loss; /* chunks of the first and last module, and of the loss */
    bool behind; /* a layer follows a module */
};

_Static_assert((int)SP_OWN_STAGES <= (int)SP_STAGE_KINDS,
               "each stage with its own layers needs its own kind");
enum { MOST_LETTERS = 1 << 16, DEEPEST_GROUP = 4 };

/* The number after a star; 1 without a star, 0 if it makes no sense. */
static int64_t repeats(const char **at)
{
    int64_t times = 0;
    if (**at != '*')
        return 1;
    for (++*at; **at >= '0' && **at <= '9' && times < MOST_LETTERS; ++*at)
        times = 10 * times + (**at - '0');
    return times;
}

static bool put_letter(struct layout *l, char letter)
{
    if (letter == ',') /* Megatron reads past commas */
        return true;
    l->behind |= letter == 't' && l->modules > 0;
    if (letter == 't')
        l->of[l->chunks % l->stages]++;
    else if (letter == '|')
        l->chunks++;
    else if (letter == 'E')
        l->tables += 1 + (l->letters > 0); /* one, before all others */
    else if (letter == 'm')
        l->at_module = l->modules++ == 0 ? l->chunks : l->at_module;
    else if (letter == 'L')
        l->at_loss = l->losses++ == 0 ? l->chunks : l->at_loss;
    l->to_module = letter == 'm' ? l->chunks : l->to_module;
    return letter && strchr("EtmL|", letter) && ++l->letters < MOST_LETTERS;
}

/* Reads letters and bracketed groups with their repetitions, up to the end or to the bracket that
 * closes the group. */
static bool read_letters(struct layout *l, const char **at, int depth)
{
    while (**at && **at != ')') {
        const char *const from = *at;
        const bool group = *from == '(';
        const int64_t before = l->letters;
        for (int64_t k = 0, times = 1; k < times; k++) {
            const char *here = from + 1;
            if (group ? depth == 0 || !read_letters(l, &here, depth - 1) || *here++ != ')' ||
                            l->letters == before
                      : !put_letter(l, *from))
                return false;
            times = repeats(&here);
            *at = here;
            if (times == 0)
                return false;
        }
    }
    return true;
}

/* Letters on this many stages. */
static bool read_layout(const char *text, int64_t stages, struct layout *l)
{
    *l = (struct layout){.stages = stages};
    return read_letters(l, &text, DEEPEST_GROUP) && *text == '\0' && l->tables == 1 &&
           l->losses > 0;
}

int64_t sp_layout_chunks(const char *text)
{
    struct layout l;
    return read_layout(text, 1, &l) ? l.chunks + 1 : 0;
}

/* "7,8,8,9" or, with modules for further tokens on the stage before the last, "7,8,8m,0". */
static bool read_list(const char *text, int64_t stages, struct layout *l)
{
    bool more = true;
    *l = (struct layout){.stages = stages};
    for (; more && l->chunks < stages; l->chunks++) {
        const char *const from = text;
        for (; *text >= '0' && *text <= '9' && l->of[l->chunks] < MOST_LETTERS; text++)
            l->of[l->chunks] = 10 * l->of[l->chunks] + (*text - '0');
        if (text == from)
            return false;
        if (*text == 'm') {
            l->at_module = l->chunks;
            l->modules++;
            text++;
        }
        more = *text == ',';
        if (*text && !more)
            return false;
        text += more;
    }
    return !more && l->chunks == stages && l->modules <= 1;
}

/* Converts a list to letters: an m means all modules, which are otherwise on the last stage. */
static void spell_list(const struct sp_model *model, struct layout *l)
{
    l->chunks--;
    l->at_loss = l->chunks;
    l->to_module = l->at_module = l->modules > 0 ? l->at_module : l->chunks;
    if (l->modules == 0 || model->mtp_layers > 0)
        l->modules = model->mtp_layers;
}

/* Whether the stages are as the split has them. */
static bool is_split(const struct layout *l, const struct sp_model *model,
                     const struct sp_stage_split *split)
{
    const struct cuts cuts = cuts_of(model, split);
    int64_t s = 0;
    while (s < l->stages && boundary(&cuts, s + 1) - boundary(&cuts, s) == l->of[s])
        s++;
    return s == l->stages;
}

/* The fault of a letter that the model does not have, or has on another stage; NULL: nothing. */
static const char *misplaced(const struct layout *l, const struct sp_model *model)
{
    if ((l->chunks + 1) % l->stages != 0)
        return "the stages do not divide its chunks";
    if (l->modules != model->mtp_layers)
        return "its modules for further tokens (m) are not as many as the model's";
    if (l->modules > 0 && (l->to_module != l->at_module || l->behind))
        return "modules for further tokens (m) are in one chunk, behind all layers (t)";
    if (l->modules > 0 && l->at_module != l->chunks &&
        (l->at_module != l->chunks - 1 || l->stages < 3))
        return "modules for further tokens (m) outside the last two chunks, or on the first stage, "
               "are not modelled";
    if (l->at_loss != l->chunks)
        return "losses (L) outside the last chunk are not modelled";
    return NULL;
}

const char *sp_read_stages(const char *text, const struct sp_model *model,
                           const struct sp_stage_split *usual, struct sp_own_stages *own)
{
    const int64_t stages = usual->stages;
    const bool letters = strchr(text, 't') != NULL;
    struct layout l;
    int64_t sum = 0;
    *own = (struct sp_own_stages){0};
    if (stages < 1 || stages > SP_MAX_STAGES)
        return "no such number of stages is possible";
    if (!(letters ? read_layout : read_list)(text, stages, &l))
        return letters ? "expected letters such as Et*3|(tt|)*6tL: E first, L last"
                       : "expected a number of layers for every stage (pp), such as 7,8,8,9";
    if (!letters)
        spell_list(model, &l);
    const char *const wrong = misplaced(&l, model);
    const bool apart = l.modules > 0 && l.at_module == l.chunks - 1;
    for (int64_t s = 0; s < stages; s++)
        sum += l.of[s];
    if (wrong || sum != model->layers)
        return wrong ? wrong : "its stages do not have as many layers as the model";
    if (!apart && is_split(&l, model, usual))
        return NULL;
    if (stages > SP_OWN_STAGES)
        return "sizes can be given for at most 32 stages";
    own->n = (int16_t)stages;
    own->modules_apart = apart;
    for (int64_t s = 0; s < stages; s++)
        own->layers[s] = (int16_t)l.of[s];
    return NULL;
}
