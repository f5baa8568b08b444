/* The best placement, degrees and staleness of a step of reinforcement learning. */
#include "cli/rl_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/text.h"
#include "study/nearby.h"

/* Beyond it answers are of weights that nobody trains on. */
enum { MOST_AHEAD = 8 };

enum { MOST_STAGES = 16, MOST_EXPERTS = 64, MOST_ENGINE = 64, EIGHTHS = 8 };

struct search {
    const struct sp_args *typed;
    struct sp_rl_sides *sides;
    struct sp_rl_answer *answer;
    struct sp_args *args; /* of the place that is worked out */
    struct sp_report *apart;
    struct sp_rl_found *found;
    int64_t devices, host, experts, most_stale;
};

bool sp_take_rl_choice(const struct sp_args *typed, const struct sp_rl_choice *c,
                       struct sp_args *args, struct sp_error *error)
{
    const struct {
        enum sp_option_id id;
        int64_t value;
    } numbers[] = {{SP_O_tp, c->tp},
                   {SP_O_pp, c->pp},
                   {SP_O_ep, c->ep},
                   {SP_O_gen_tp, c->gen_tp},
                   {SP_O_stale, c->stale}};
    sp_copy_args(args, typed);
    bool ok = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && ok; i++)
        if (!typed->given_at[numbers[i].id] || numbers[i].id == SP_O_stale)
            ok = sp_take_number(args, numbers[i].id, (double)numbers[i].value, error);
    if (ok && c->train > 0 && !typed->given.split && !typed->given.gen_hw) {
        snprintf(args->numeral[SP_O_split], sizeof *args->numeral, "%lld:%lld", (long long)c->train,
                 (long long)c->generate);
        ok = sp_take_text(args, SP_O_split, args->numeral[SP_O_split], error);
    }
    return ok;
}

static void describe(const struct search *s, struct sp_rl_found *f)
{
    const struct sp_rl_choice *const c = &f->best;
    f->words[0] = '\0';
    if (c->generate > 0)
        sp_append(f->words, sizeof f->words, "--split %lld:%lld --stale %lld ", (long long)c->train,
                  (long long)c->generate, (long long)c->stale);
    else if (c->train > 0)
        sp_append(f->words, sizeof f->words, "--stale %lld ", (long long)c->stale);
    sp_append(f->words, sizeof f->words, "--tp %lld --pp %lld ", (long long)c->tp,
              (long long)c->pp);
    if (s->experts > 0)
        sp_append(f->words, sizeof f->words, "--ep %lld ", (long long)c->ep);
    sp_append(f->words, sizeof f->words, "--gen-tp %lld", (long long)c->gen_tp);
}

/* Evaluates a placement for each number of steps ahead; NAN: refused. Else how long training
 * takes by itself, which no engine changes. */
static double work_out(struct search *s, struct sp_rl_choice c)
{
    struct sp_error refused = {0};
    double training = NAN;
    c.stale = c.train > 0 ? s->most_stale : 0;
    s->found->tried++;
    if (sp_take_rl_choice(s->typed, &c, s->args, &refused) &&
        sp_load_sides(s->args, s->apart, s->sides, &refused)) {
        const int64_t most = c.stale;
        for (c.stale = 0; c.stale <= most; c.stale++) {
            s->sides->asked.stale = (double)c.stale;
            sp_estimate_rl(&s->sides->asked, s->answer);
            training = s->answer->training_s + s->sides->asked.overhead_s;
            if (!s->answer->fits || !(s->answer->step_s < s->found->step_s))
                continue;
            s->found->step_s = s->answer->step_s;
            s->found->best = c;
        }
    }
    sp_free_sides(s->sides);
    return training;
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

/* All engines for one training. */
static void try_engines(struct search *s, struct sp_rl_choice c)
{
    const struct sp_option_values *const v = &s->typed->value;
    const int64_t generate = s->typed->given.gen_hw ? MOST_ENGINE
                             : c.train > 0          ? c.generate
                                                    : s->devices;
    const int64_t most = generate < MOST_ENGINE ? generate : MOST_ENGINE;
    bool slower = false;
    bool more = begin(s, SP_O_gen_tp, v->gen_tp, &c.gen_tp);
    for (; more; more = next(s, SP_O_gen_tp, most, &c.gen_tp)) {
        s->found->asked++;
        slower = slower || work_out(s, c) >= s->found->step_s;
        if (slower) { /* the others are as slow or slower */
            while (next(s, SP_O_gen_tp, most, &c.gen_tp))
                s->found->asked++;
            return;
        }
    }
}

/* All degrees of training on this number of devices. */
static void try_training(struct search *s, int64_t train, int64_t generate)
{
    const struct sp_option_values *const v = &s->typed->value;
    const int64_t devices = train > 0 ? train : s->devices;
    struct sp_rl_choice c = {.train = train, .generate = generate};
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

/* Colocated, or this number of devices for each side. */
static void try_places(struct search *s)
{
    const struct sp_options_given *const g = &s->typed->given;
    const int64_t eighth = s->devices / EIGHTHS > 0 ? s->devices / EIGHTHS : 1;
    const int64_t unit =
        s->devices >= 2 * s->host ? (eighth + s->host - 1) / s->host * s->host : eighth;
    long long train, generate;
    if (g->gen_hw)
        try_training(s, s->devices, 0);
    else if (g->split && sscanf(s->typed->value.split, "%lld:%lld", &train, &generate) == 2)
        try_training(s, train, generate);
    else
        try_training(s, 0, 0);
    if (g->gen_hw || g->split || g->colocate)
        return;
    for (int64_t part = unit; part < s->devices; part += unit)
        try_training(s, part, s->devices - part);
}

/* More steps ahead of the best, as long as each is faster by SP_WORTH_NAMING: older answers are a
 * question of learning, which the user decides. */
static void look_further_ahead(struct search *s)
{
    struct sp_error refused = {0};
    struct sp_rl_choice c = s->found->best;
    double least = s->found->step_s;
    if (s->typed->given.stale || c.train == 0 ||
        !sp_take_rl_choice(s->typed, &c, s->args, &refused))
        return;
    if (sp_load_sides(s->args, s->apart, s->sides, &refused))
        for (c.stale++; c.stale <= MOST_AHEAD; c.stale++) {
            s->sides->asked.stale = (double)c.stale;
            sp_estimate_rl(&s->sides->asked, s->answer);
            if (!s->answer->fits || s->answer->step_s * (1 + SP_WORTH_NAMING) >= least)
                break;
            s->found->more_stale = c.stale;
            least = s->found->more_stale_s = s->answer->step_s;
        }
    sp_free_sides(s->sides);
}

bool sp_search_rl(const struct sp_args *typed, struct sp_rl_found *found, struct sp_error *error)
{
    struct sp_hardware hw;
    struct sp_model model;
    const struct sp_sources sources = sp_sources_of(typed);
    if (!typed->value.hw)
        return sp_fail(error, SP_USAGE, "--hw NAME-CHIPS is needed, such as h100-64");
    if (!typed->given.prompts)
        return sp_fail(error, SP_USAGE, "--prompts N is needed: prompts per step");
    if (!sp_hardware_of(typed, &sources, &hw, error) ||
        !sp_model_of(typed, &sources, &model, error))
        return false;
    struct search s = {.typed = typed,
                       .sides = sp_must(calloc(1, sizeof *s.sides)),
                       .answer = sp_must(calloc(1, sizeof *s.answer)),
                       .args = sp_new_args(typed->world),
                       .apart = sp_report_new("rl"),
                       .found = found,
                       .devices = sp_chips(&hw),
                       .host = sp_chips_per_host(&hw.network),
                       .experts = model.moe.experts,
                       .most_stale = typed->given.stale ? (int64_t)typed->value.stale : 1};
    *found = (struct sp_rl_found){.step_s = INFINITY};
    try_places(&s);
    if (found->step_s < INFINITY) {
        describe(&s, found);
        look_further_ahead(&s);
    }
    free(s.sides);
    free(s.answer);
    free(s.args);
    sp_report_free(s.apart);
    return found->step_s < INFINITY ||
           sp_fail(error, SP_INPUT, "--search: none of %.0f plans fits on %s", found->asked,
                   hw.name);
}
