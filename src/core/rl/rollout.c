/* Generation of a batch of answers that starts together. */
#include <math.h>

#include <scaleplan/forms.h>
#include <scaleplan/rl.h>

#include "core/require.h"

const struct sp_rl_traits sp_rl_traits[SP_RL_ALGORITHMS] = {
    [SP_RL_GRPO] = {.reference = true, .groups = true},
    [SP_RL_PPO] = {.reference = true, .critic = true},
    [SP_RL_DAPO] = {.groups = true},
    [SP_RL_RLOO] = {.reference = true, .groups = true},
    [SP_RL_REINFORCE] = {.reference = true},
};

#define SP_RL_CONSTANT(id, key, unit, value, without, expected, spread, meaning)                   \
    {key, unit, value, without, expected, spread, meaning},
const struct sp_rl_constant_info sp_rl_constants[SP_RL_CONSTANTS] = {
#include <scaleplan/rl_constants.def>
};
#undef SP_RL_CONSTANT

/* The engine's estimate for a number of answers in flight. */
struct in_flight {
    double answer_s, rate, prompts_per_s;
    double step_s;   /* time of a step at the mean lengths */
    double decoding; /* share of them in a step */
};

static struct in_flight say(const struct sp_rollout *r, double running)
{
    const struct sp_serve_instance *const i = r->instance;
    if (i->estimated) {
        const struct sp_requests requests = sp_requests_of(i, r->load, running);
        const struct sp_serve_estimate e = sp_serve_estimate(&i->pass, &requests);
        return (struct in_flight){e.e2e_s, e.requests_per_s, e.prompts_per_s, e.token_s,
                                  e.decoding / running};
    }
    const struct sp_steady y = sp_steady(&i->served, NULL, running, NAN);
    return (struct in_flight){y.e2e_s, y.requests_per_s, y.prompts_per_s, y.step_s, 1};
}

/* A step of this many sequences with this much in the cache. */
static double step_s(const struct sp_rollout *r, double sequences, double context)
{
    const struct sp_serve_instance *const i = r->instance;
    if (i->estimated) {
        const struct sp_pass_load load = {.decode = sequences / i->pass.plan.pp,
                                          .context = context};
        return sp_pass_time(&i->pass, &load).total_s;
    }
    struct sp_service service = i->served.service;
    struct sp_served served;
    service.step_tokens = context;
    sp_prepare_service(&service, &served);
    return sp_decode_time(&served, sequences, 1).step_s;
}

/* Chance that any of n is longer if this share of them is. */
static double any_of(double n, double share)
{
    return share < 1 ? -expm1(n * log1p(-share)) : 1;
}

/* Steps from the second token to the end of the longest answer, between lengths that fewer and
 * fewer answers exceed; `decoding` of c answers take part in a step. */
static double course_s(const struct sp_rollout *r, double c, double decoding)
{
    enum { PER_HALVING = 16 };
    const double all = c * r->engines, input = r->instance->served.service.input;
    const double ratio = exp2(-1.0 / PER_HALVING), least = 1e-4 / all;
    double sum = 0, from = 1, over = 1;
    while ((over *= ratio) > least) {
        const double to = sp_lengths_quantile(r->output, 1 - over), middle = (from + to) / 2;
        const double share = sp_lengths_over(r->output, middle);
        if (!(to > from) || !(share > 0))
            continue;
        const double running = c * share / any_of(c, share);
        sum +=
            (to - from) * any_of(all, share) * step_s(r, decoding * running, input + middle - 0.5);
        from = to;
    }
    return sum;
}

/* Time in which engines generate the batch with this many answers in flight. */
static double work_s(const struct sp_rollout *r, const struct sp_rollout_time *t, double running)
{
    const double again = r->read_again > 0
                             ? sp_rl_reread_s(running, r->read_again,
                                              r->instance->served.service.input, t->prompts_per_s)
                             : 0;
    return sp_rl_work_s(r->longer, fmax(1, r->answers), say(r, running).rate) + again;
}

/* Answers in flight with which the work is least: more of them share steps, but more are read
 * again. Found by doubling and the golden section (Kiefer 1953); independent of `most_queued`, so
 * that more steps ahead are never slower. */
static double best_in_flight(const struct sp_rollout *r, const struct sp_rollout_time *t)
{
    enum { SECTIONS = 40 };
    const double golden = (sqrt(5) - 1) / 2, most = fmax(1, r->most);
    if (!(r->read_again > 0))
        return most;
    double best = 1, least = work_s(r, t, 1), next;
    while (best < most && (next = work_s(r, t, fmin(most, 2 * best))) < least) {
        best = fmin(most, 2 * best);
        least = next;
    }
    double low = log(fmax(1, best / 2)), high = log(fmin(most, 2 * best));
    for (int i = 0; i < SECTIONS; i++) {
        const double left = high - golden * (high - low), right = low + golden * (high - low);
        if (work_s(r, t, exp(left)) < work_s(r, t, exp(right)))
            high = right;
        else
            low = left;
    }
    return fmin(most, exp((low + high) / 2));
}

double sp_crowding(const struct sp_service *s, const struct sp_lengths *output, bool refilled)
{
    enum { PER_MEAN = 64, POINTS = 2 * PER_MEAN };
    const double step = output->mean / PER_MEAN;
    double kept[POINTS + 1], ends[POINTS + 1], renewed[POINTS + 1] = {1}, most = 0, over = 1;
    for (int i = 1; i <= POINTS; i++) {
        const double tokens = i * step, before = over;
        over = sp_lengths_over(output, tokens);
        ends[i] = before - over;
        kept[i] = sp_lengths_over(output, tokens * (1 - 1e-9)) *
                  sp_kv_bytes_of_sequence(s->model, s->input + tokens, s->kv_bytes);
        double here = kept[i], again = 0;
        for (int k = 1; k < i && refilled; k++)
            here += renewed[k] * kept[i - k];
        for (int k = 1; k <= i; k++)
            again += ends[k] * renewed[i - k];
        renewed[i] = again;
        most = fmax(most, here);
    }
    const double held = sp_kv_bytes_of_sequence(s->model, s->held_tokens, s->kv_bytes);
    return held > 0 ? fmax(1, most / held) : 1;
}

void sp_time_rollout(const struct sp_rollout *r, struct sp_rollout_time *t)
{
    sp_require(r->answers > 0 && r->engines > 0 && r->at_once > 0,
               "the numbers of answers, engines and slots must be positive");
    const double answers = fmax(1, r->answers), output = r->instance->served.service.output;
    const double c = fmin(answers, fmax(1, r->at_once));
    const struct in_flight start = say(r, c);
    *t = (struct sp_rollout_time){.at_once = c,
                                  .rounds = sp_rl_rounds(answers, c),
                                  .longest = sp_greatest_length(r->output, c * r->engines),
                                  .answer_s = start.answer_s,
                                  .prompts_per_s = start.prompts_per_s};
    t->first_s = start.answer_s - (output - 1) * start.step_s;
    t->course_s = course_s(r, c, start.decoding);
    t->batch_s = sp_rl_generation_s(r->longer, t->rounds, t->answer_s, t->first_s, t->course_s);
    t->full = fmin(fmax(1, r->most_queued), best_in_flight(r, t));
    t->work_s = work_s(r, t, t->full);
}

struct sp_rollout_pace sp_pace_rollout(const struct sp_rollout *r, double longest, double running)
{
    const struct in_flight f = say(r, fmin(fmax(1, running), fmax(1, r->most)));
    const double output = r->instance->served.service.output;
    return (struct sp_rollout_pace){
        r->longer * f.answer_s, sp_rl_latency_s(r->longer, f.answer_s, longest, output, f.step_s)};
}
