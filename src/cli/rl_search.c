/* The best placement, degrees and staleness of a step of reinforcement learning. */
#include "cli/rl_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/text.h"
#include "study/nearby.h"

/* Further ahead, answers come from weights that are too old to train on. */
enum { MOST_AHEAD = 8, EACH_AHEAD = 16 };

enum { MOST_STAGES = 16, MOST_EXPERTS = 64, MOST_ENGINE = 64, EIGHTHS = 8, MOST_ENGINES = 128 };

/* Relative error of a sum whose parts are added in another order. */
#define ROUNDED 1e-12

/* The time of a side, whatever the other does; INFINITY: it is impossible. Engines include the time
 * of new weights: `work_s` for engines that are kept full, on separate devices; `batch_s` for a
 * batch. */
struct alone {
    double training_s, work_s, batch_s;
};

struct engine {
    int64_t tp, pp, attention_dp, ep;
    struct alone takes;
};

struct search {
    const struct sp_args *typed;
    struct sp_rl_sides *sides;
    struct sp_rl_answer *answer;
    struct sp_args *args; /* of the placement being evaluated */
    struct sp_report *apart;
    const struct sp_hardware *hw;
    struct sp_rl_found *found;
    int64_t devices, host, experts;
    int64_t most_stale, looked_stale; /* steps ahead of the answer, and of plans looked at beside */
    int64_t gen_devices;              /* of --gen-hw */
    struct engine engine[MOST_ENGINES];
    int n;
    double ran; /* places that both sides took */
    struct sp_error
        why;           /* of the first that training alone refused, or else of the largest engine */
    int64_t why_chips; /* of that engine */
    bool why_has_engines;
};

bool sp_take_rl_choice(const struct sp_args *typed, const struct sp_rl_choice *c,
                       struct sp_args *args, struct sp_error *error)
{
    const struct {
        enum sp_option_id id;
        int64_t value, unsaid; /* unsaid: the value of an option that is left out */
    } numbers[] = {{SP_O_tp, c->tp, 0},         {SP_O_pp, c->pp, 0},
                   {SP_O_ep, c->ep, 0},         {SP_O_gen_tp, c->gen_tp, 0},
                   {SP_O_gen_pp, c->gen_pp, 1}, {SP_O_gen_attention_dp, c->gen_attention_dp, 1},
                   {SP_O_gen_ep, c->gen_ep, 0}, {SP_O_stale, c->stale, -1}};
    sp_copy_args(args, typed);
    bool ok = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && ok; i++)
        if (numbers[i].value != numbers[i].unsaid &&
            (!typed->given_at[numbers[i].id] || numbers[i].id == SP_O_stale))
            ok = sp_take_number(args, numbers[i].id, (double)numbers[i].value, error);
    if (ok && c->train > 0 && !typed->given.split && !typed->given.gen_hw) {
        snprintf(args->numeral[SP_O_split], sizeof *args->numeral, "%lld:%lld", (long long)c->train,
                 (long long)c->generate);
        ok = sp_take_text(args, SP_O_split, args->numeral[SP_O_split], error);
    }
    return ok;
}

/* A choice as options. */
static void describe(const struct search *s, const struct sp_rl_choice *c, char words[SP_RL_WORDS])
{
    words[0] = '\0';
    if (c->generate > 0)
        sp_append(words, SP_RL_WORDS, "--split %lld:%lld --stale %lld ", (long long)c->train,
                  (long long)c->generate, (long long)c->stale);
    else if (c->train > 0)
        sp_append(words, SP_RL_WORDS, "--stale %lld ", (long long)c->stale);
    sp_append(words, SP_RL_WORDS, "--tp %lld --pp %lld ", (long long)c->tp, (long long)c->pp);
    if (s->experts > 0)
        sp_append(words, SP_RL_WORDS, "--ep %lld ", (long long)c->ep);
    sp_append(words, SP_RL_WORDS, "--gen-tp %lld", (long long)c->gen_tp);
    if (c->gen_pp > 1)
        sp_append(words, SP_RL_WORDS, " --gen-pp %lld", (long long)c->gen_pp);
    if (c->gen_attention_dp > 1)
        sp_append(words, SP_RL_WORDS, " --gen-attention-dp %lld", (long long)c->gen_attention_dp);
    if (c->gen_ep > 0)
        sp_append(words, SP_RL_WORDS, " --gen-ep %lld", (long long)c->gen_ep);
}

/* Tries another number of steps ahead. States on devices that sleep do not affect the engine;
 * others take from its memory. */
static void add_sides(struct alone *s, const struct sp_rl_asked *a, const struct sp_rl_answer *r)
{
    const bool sleeps = !a->colocated || a->sleep == SP_RL_SLEEP_BOTH;
    const bool runs =
        r->places >= 1 &&
        r->memory_generation <= sp_capacity_bytes(&a->instance->served.service.hw->chip);
    const bool trains = r->memory_training <= r->training.limit_bytes;
    const double least = sleeps && !runs ? INFINITY : 0, refit = r->part_s[SP_RL_REFIT];
    s->training_s = trains ? r->training_s + a->overhead_s : INFINITY;
    s->work_s = a->colocated ? least : fmin(s->work_s, fmax(least, r->work_s + refit));
    s->batch_s = sleeps ? fmax(least, r->part_s[SP_RL_GENERATION] + refit) : 0;
}

/* No more than the step of both sides together. */
static double least_of(const struct alone *training, const struct alone *engine, int64_t ahead)
{
    const double both = training->training_s + engine->batch_s;
    return fmax(fmax(training->training_s, engine->work_s), both / (double)(ahead + 1));
}

/* The next number of steps ahead that is tried: each up to 16, then doubled, and the most. */
static int64_t further(int64_t stale, int64_t most)
{
    const int64_t next = stale < EACH_AHEAD ? stale + 1 : 2 * stale;
    return stale < most && next > most ? most : next;
}

/* Keeps the refusal that says most: engines are often too small, training is refused by what is
 * typed. */
static void keep_refusal(struct search *s, const struct sp_rl_choice *c,
                         const struct sp_error *refused)
{
    const int64_t chips = c->gen_tp * c->gen_pp * c->gen_attention_dp;
    if (s->why_has_engines || (!s->sides->has_engines && chips < s->why_chips))
        return;
    s->why = *refused;
    s->why_chips = chips;
    s->why_has_engines = s->sides->has_engines;
}

static void keep(struct sp_rl_choice c, double step_s, struct sp_rl_choice *best, double *best_s)
{
    if (!(step_s < *best_s))
        return;
    *best_s = step_s;
    *best = c;
}

/* Evaluates a placement for each number of steps ahead. */
static struct alone work_out(struct search *s, struct sp_rl_choice c)
{
    struct sp_error refused = {0};
    struct alone alone = {INFINITY, INFINITY, 0};
    const int64_t most = c.train > 0 ? s->looked_stale : 0;
    c.stale = most;
    s->found->tried++;
    const bool runs = sp_take_rl_choice(s->typed, &c, s->args, &refused) &&
                      sp_load_sides(s->args, s->apart, s->sides, &refused);
    s->ran += runs;
    if (!runs)
        keep_refusal(s, &c, &refused);
    if (runs)
        for (c.stale = 0; c.stale <= most; c.stale = further(c.stale, most)) {
            s->sides->asked.stale = (double)c.stale;
            sp_estimate_rl(&s->sides->asked, s->answer);
            add_sides(&alone, &s->sides->asked, s->answer);
            if (s->answer->fits && c.stale <= s->most_stale)
                keep(c, s->answer->step_s, &s->found->best, &s->found->step_s);
            else if (s->answer->fits)
                keep(c, s->answer->step_s, &s->found->ahead, &s->found->ahead_s);
        }
    else if (s->sides->has_engines)
        alone.work_s = 0;
    else
        alone.training_s = 0;
    sp_free_sides(s->sides);
    return alone;
}

/* The next power of two of an open degree; a typed degree only once. */
static bool begin(const struct search *s, enum sp_option_id id, double typed, int64_t *value)
{
    *value = s->typed->given_at[id] ? (int64_t)typed : 1;
    return true;
}

static bool next(const struct search *s, enum sp_option_id id, int64_t most, int64_t *value)
{
    *value *= 2;
    return !s->typed->given_at[id] && *value <= most;
}

/* Experts are split like everything else, or each is on one rank of all. */
static void add_engine(struct search *s, int64_t devices, struct engine e)
{
    const struct sp_options_given *const g = &s->typed->given;
    const int64_t chips = e.tp * e.pp * e.attention_dp;
    const int64_t typed = (g->gen_tp ? e.tp : 1) * (g->gen_pp ? e.pp : 1) *
                          (g->gen_attention_dp ? e.attention_dp : 1);
    const bool open = !g->gen_ep && s->experts > 0 && e.attention_dp == 1 && e.tp > 1;
    if ((chips > MOST_ENGINE && chips > typed) || devices % chips != 0)
        return;
    s->engine[s->n++] = e;
    e.ep = e.tp;
    if (open)
        s->engine[s->n++] = e;
}

static void list_engines(struct search *s, int64_t devices)
{
    const struct sp_option_values *const v = &s->typed->value;
    const int64_t most_dp = s->experts > 0 ? MOST_ENGINE : 1;
    struct engine e = {0};
    s->n = 0;
    bool dp = begin(s, SP_O_gen_attention_dp, v->gen_attention_dp, &e.attention_dp);
    for (; dp; dp = next(s, SP_O_gen_attention_dp, most_dp, &e.attention_dp)) {
        bool pp = begin(s, SP_O_gen_pp, v->gen_pp, &e.pp);
        for (; pp; pp = next(s, SP_O_gen_pp, MOST_STAGES, &e.pp)) {
            bool tp = begin(s, SP_O_gen_tp, v->gen_tp, &e.tp);
            for (; tp; tp = next(s, SP_O_gen_tp, MOST_ENGINE, &e.tp))
                add_engine(s, devices, e);
        }
    }
}

/* All engines for one training. */
static void try_engines(struct search *s, struct sp_rl_choice c)
{
    struct alone trains = {0, 0, 0};
    const int64_t ahead = c.train > 0 ? s->looked_stale : 0;
    s->found->asked += s->n;
    for (int i = 0; i < s->n; i++) {
        struct engine *const e = &s->engine[i];
        const double least = least_of(&trains, &e->takes, ahead);
        if (least >= s->found->step_s * (1 + ROUNDED) || !isfinite(least))
            continue;
        c.gen_tp = e->tp;
        c.gen_pp = e->pp;
        c.gen_attention_dp = e->attention_dp;
        c.gen_ep = e->ep;
        const struct alone alone = work_out(s, c);
        trains.training_s = fmax(trains.training_s, alone.training_s);
        e->takes.work_s = fmax(e->takes.work_s, alone.work_s);
        e->takes.batch_s = fmax(e->takes.batch_s, alone.batch_s);
    }
}

/* All degrees of training on this number of devices. */
static void try_training(struct search *s, int64_t train, int64_t generate)
{
    const struct sp_option_values *const v = &s->typed->value;
    const int64_t devices = train > 0 ? train : s->devices;
    struct sp_rl_choice c = {.train = train, .generate = generate};
    list_engines(s, s->gen_devices > 0 ? s->gen_devices : train > 0 ? generate : devices);
    bool tp = begin(s, SP_O_tp, v->tp, &c.tp);
    for (; tp; tp = next(s, SP_O_tp, s->host < devices ? s->host : devices, &c.tp)) {
        bool pp = begin(s, SP_O_pp, v->pp, &c.pp);
        for (; pp; pp = next(s, SP_O_pp, MOST_STAGES, &c.pp)) {
            const int64_t most_ep = s->experts < MOST_EXPERTS ? s->experts : MOST_EXPERTS;
            bool ep = begin(s, SP_O_ep, v->ep, &c.ep);
            for (; ep; ep = next(s, SP_O_ep, most_ep, &c.ep))
                if (devices % (c.tp * c.pp) == 0)
                    try_engines(s, c);
        }
    }
}

/* Whether a side may have this part of the machine: an eighth or more of them, whole hosts (as many
 * as an eighth has, rounded up, or more times that), or a power of two below a host. */
static bool is_part(const struct search *s, int64_t part)
{
    const int64_t eighth = s->devices / EIGHTHS > 0 ? s->devices / EIGHTHS : 1;
    const int64_t hosts = (eighth + s->host - 1) / s->host * s->host;
    const int64_t least = part < s->devices - part ? part : s->devices - part;
    return part % eighth == 0 || part % hosts == 0 ||
           (least < s->host && (least & (least - 1)) == 0);
}

/* Colocated, or with this number of devices for each side. */
static void try_places(struct search *s)
{
    const struct sp_options_given *const g = &s->typed->given;
    long long train, generate;
    if (g->gen_hw)
        try_training(s, s->devices, 0);
    else if (g->split && sscanf(s->typed->value.split, "%lld:%lld", &train, &generate) == 2)
        try_training(s, train, generate);
    else
        try_training(s, 0, 0);
    if (g->gen_hw || g->split || g->colocate)
        return;
    for (int64_t part = 1; part < s->devices; part++)
        if (is_part(s, part) && sp_can_split(s->hw, part, s->devices - part))
            try_training(s, part, s->devices - part);
}

/* Offers steps ahead that nobody asked for, as long as each is faster by SP_WORTH_NAMING: whether
 * answers of older weights are acceptable is a question of learning, which the user decides. */
static void look_further_ahead(struct search *s)
{
    struct sp_error refused = {0};
    struct sp_rl_found *const f = s->found;
    struct sp_rl_choice c = f->ahead;
    if (!(f->ahead_s * (1 + SP_WORTH_NAMING) < f->step_s)) {
        f->ahead_s = NAN;
        return;
    }
    if (sp_take_rl_choice(s->typed, &c, s->args, &refused) &&
        sp_load_sides(s->args, s->apart, s->sides, &refused))
        for (c.stale++; c.stale <= MOST_AHEAD; c.stale++) {
            s->sides->asked.stale = (double)c.stale;
            sp_estimate_rl(&s->sides->asked, s->answer);
            if (!s->answer->fits || s->answer->step_s * (1 + SP_WORTH_NAMING) >= f->ahead_s)
                break;
            keep(c, s->answer->step_s, &f->ahead, &f->ahead_s);
        }
    sp_free_sides(s->sides);
    describe(s, &f->ahead, f->ahead_words);
}

static bool refuse(const struct search *s, struct sp_error *error)
{
    if (s->found->asked == 0)
        return sp_fail(error, SP_INPUT,
                       "--search: the given degrees divide no part of the %lld devices of %s",
                       (long long)s->devices, s->hw->name);
    if (s->ran == 0)
        return sp_fail(error, SP_INPUT, "--search: none of %.0f plans can run: %s", s->found->asked,
                       s->why.text);
    return sp_fail(error, SP_INPUT, "--search: none of %.0f plans fits on %s", s->found->asked,
                   s->hw->name);
}

bool sp_search_rl(const struct sp_args *typed, struct sp_rl_found *found, struct sp_error *error)
{
    struct sp_hardware hw, engines;
    struct sp_model model;
    const struct sp_sources sources = sp_sources_of(typed);
    if (!typed->value.hw)
        return sp_fail(error, SP_USAGE, "--hw NAME-CHIPS is needed, such as h100-64");
    if (!typed->given.prompts)
        return sp_fail(error, SP_USAGE, "--prompts N is needed: prompts per step");
    if (!sp_hardware_of(typed, &sources, &hw, error) ||
        (typed->given.gen_hw &&
         !sp_load_hardware(typed->value.gen_hw, &sources, &engines, error)) ||
        !sp_model_of(typed, &sources, &model, error))
        return false;
    struct search s = {.typed = typed,
                       .sides = sp_must(calloc(1, sizeof *s.sides)),
                       .answer = sp_must(calloc(1, sizeof *s.answer)),
                       .args = sp_new_args(typed->world),
                       .apart = sp_report_new("rl"),
                       .found = found,
                       .hw = &hw,
                       .devices = sp_chips(&hw),
                       .host = sp_chips_per_host(&hw.network),
                       .experts = model.moe.experts,
                       .gen_devices = typed->given.gen_hw ? sp_chips(&engines) : 0,
                       .most_stale = (int64_t)typed->value.stale};
    s.looked_stale = typed->given.stale ? s.most_stale : s.most_stale + 1;
    *found = (struct sp_rl_found){.step_s = INFINITY, .ahead_s = INFINITY};
    try_places(&s);
    if (found->step_s < INFINITY) {
        describe(&s, &found->best, found->words);
        look_further_ahead(&s);
    } else
        refuse(&s, error);
    free(s.sides);
    free(s.answer);
    free(s.args);
    sp_report_free(s.apart);
    return found->step_s < INFINITY;
}
