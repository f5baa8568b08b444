/* An engine's scheduler, event by event. */
#include <math.h>

#include <scaleplan/serve_simulation.h>

#include "core/require.h"

struct engine {
    const struct sp_pass *pass;
    const struct sp_traffic *traffic;
    struct sp_running *running; /* a heap by `ends` of those that generate */
    struct sp_running *reading; /* those with unread prompts, in order of arrival */
    size_t most, generate, read;
    size_t stride; /* of the rows of a trace */
    double lanes, ranks, accepted;
    double least_s;    /* of a prompt's token at the peak */
    double free;       /* bytes of cache */
    double now, steps; /* s; steps so far */
    double context;    /* cached tokens of those that generate, in total */
    /* what comes next */
    struct sp_running next;
    double reaches; /* earliest time at which it may start; INFINITY: not sent yet */
    uint64_t lengths, arrivals;
    double *sent; /* ring buffer of a closed loop: when the waiting requests were sent */
    size_t in_flight, first_sent, n_sent;
    /* what is measured */
    const struct sp_simulation_room *room;
    struct sp_simulated *result;
    double began, ended, counted_s, worked_s, present_s;
    size_t done, several;
};

static bool is_closed(const struct engine *e)
{
    return !isnan(e->traffic->requests.in_flight) && !e->traffic->arrivals;
}

static bool is_measured(const struct engine *e, size_t number)
{
    return number >= e->traffic->skipped && number < e->traffic->skipped + e->traffic->counted;
}

/* Whether requests that are measured, and no later ones, have begun: the time that counts. */
static bool counts(const struct engine *e)
{
    return is_measured(e, e->next.number - (e->next.number > 0));
}

/* Bytes of the cache that a request keeps. */
static double bytes_of(const struct sp_pass *p, double tokens)
{
    const struct sp_service *const s = &p->served.service;
    return p->served.copies * sp_cache_bytes_of_sequence(s, sp_paged_tokens(tokens, s->block)) +
           p->served.state;
}

static double held_bytes(const struct engine *e, const struct sp_running *r)
{
    const struct sp_traffic *const t = e->traffic;
    const double own = r->input + (t->reserves ? r->output : r->output / 2);
    const double tokens = isnan(t->context) ? own : t->context;
    return bytes_of(e->pass, tokens) +
           (t->requests.draft ? bytes_of(t->requests.draft, tokens) : 0);
}

/* When the next request is sent: when another ends, at a row's time, or at random. */
static double time_of_next(struct engine *e)
{
    const struct sp_traffic *const t = e->traffic;
    const size_t row = e->next.number * e->stride;
    if (t->arrivals)
        return row < t->rows ? t->arrivals[row] - t->arrivals[0] : INFINITY;
    if (!is_closed(e))
        return e->next.sent - log(sp_draw_share(&e->arrivals)) * e->lanes / t->requests.rate;
    if (e->next.number < e->in_flight)
        return 0;
    if (e->n_sent == 0)
        return INFINITY;
    const double sent = e->sent[e->first_sent];
    e->first_sent = (e->first_sent + 1) % e->in_flight;
    e->n_sent--;
    return sent;
}

/* The time of the next request, if it is known now. */
static void await(struct engine *e)
{
    const double sent = time_of_next(e);
    e->reaches = INFINITY;
    if (!isfinite(sent))
        return;
    e->next.sent = sent;
    e->reaches = sent + (e->traffic->requests.direct ? 0 : e->pass->value[SP_V_FIRST]);
    if (e->next.number == e->traffic->skipped)
        e->began = sent;
    if (e->next.number == e->traffic->skipped + e->traffic->counted)
        e->ended = sent;
}

/* Lengths of the `number`-th request. */
static void draw_next(struct engine *e, size_t number)
{
    const struct sp_traffic *const t = e->traffic;
    const size_t row = t->rows > 0 ? number * e->stride % t->rows : 0;
    const double hit = e->pass->served.service.prefix_hit;
    e->next.number = number;
    e->next.input = t->inputs ? t->inputs[row] : sp_draw_length(&t->input, &e->lengths);
    e->next.output = t->outputs ? t->outputs[row] : sp_draw_length(&t->output, &e->lengths);
    e->next.read = hit * e->next.input;
    e->next.bytes = held_bytes(e, &e->next);
    await(e);
}

/* Takes a slot for the next request if one is free now. */
static bool admit(struct engine *e)
{
    const size_t all = e->generate + e->read;
    if (e->reaches > e->now || all == e->most || (all > 0 && e->next.bytes > e->free))
        return false;
    e->free -= e->next.bytes;
    e->reading[e->read++] = e->next;
    draw_next(e, e->next.number + 1);
    return true;
}

static void put(struct engine *e, struct sp_running r)
{
    size_t at = e->generate++;
    for (; at > 0 && e->running[(at - 1) / 2].ends > r.ends; at = (at - 1) / 2)
        e->running[at] = e->running[(at - 1) / 2];
    e->running[at] = r;
}

static struct sp_running take_first(struct engine *e)
{
    const struct sp_running first = e->running[0], last = e->running[--e->generate];
    size_t at = 0;
    for (size_t child = 1; child < e->generate; child = 2 * at + 1) {
        if (child + 1 < e->generate && e->running[child + 1].ends < e->running[child].ends)
            child++;
        if (e->running[child].ends >= last.ends)
            break;
        e->running[at] = e->running[child];
        at = child;
    }
    e->running[at] = last;
    return first;
}

static void measure(struct engine *e, const struct sp_running *r)
{
    const struct sp_simulation_room *const room = e->room;
    room->ttft[e->done] = r->first - r->sent;
    room->e2e[e->done++] = e->now - r->sent;
    e->result->tokens_in += r->input;
    e->result->tokens_out += r->output;
    if (r->output > 1)
        room->tpot[e->several++] = (e->now - r->first) / (r->output - 1);
}

/* The end of a request: its slot is free, and in a closed loop another one is sent. */
static void finish(struct engine *e, const struct sp_running *r)
{
    e->free += r->bytes;
    if (is_measured(e, r->number))
        measure(e, r);
    if (!is_closed(e))
        return;
    e->sent[(e->first_sent + e->n_sent++) % e->in_flight] = e->now;
    if (isinf(e->reaches))
        await(e);
}

static double steps_of(const struct engine *e, const struct sp_running *r)
{
    return ceil((r->output - 1) / e->accepted - 1e-9);
}

/* Its first token. */
static void begin(struct engine *e, struct sp_running r)
{
    const double steps = steps_of(e, &r);
    r.first = e->now;
    r.ends = e->steps + steps;
    if (steps <= 0) {
        finish(e, &r);
        return;
    }
    e->context += r.input + 1;
    put(e, r);
}

/* Time in which passes run, or none. */
static void advance(struct engine *e, double seconds, bool works)
{
    e->now += seconds;
    if (!counts(e))
        return;
    e->counted_s += seconds;
    e->worked_s += works ? seconds : 0;
    e->present_s += seconds * (double)(e->generate + e->read);
}

/* Ends the requests whose last token it was. */
static void finish_all(struct engine *e)
{
    while (e->generate > 0 && e->running[0].ends <= e->steps) {
        const struct sp_running r = take_first(e);
        e->context -= r.input + 1 + steps_of(e, &r) * e->accepted;
        finish(e, &r);
    }
    if (e->generate == 0)
        e->context = 0;
}

/* Mean context of all that generate, `steps` steps from now. */
static double context_of(const struct engine *e, double steps)
{
    const double own = e->context / (double)e->generate + steps * e->accepted;
    return isnan(e->traffic->context) ? own : e->traffic->context;
}

/* Time of the draft model in a step. */
static double drafts_s(const struct engine *e, double steps)
{
    const struct sp_pass *const draft = e->traffic->requests.draft;
    const struct sp_pass_load load = {.decode = (double)e->generate,
                                      .context = context_of(e, steps)};
    return draft ? e->pass->served.service.drafts * sp_pass_time(draft, &load).total_s : 0;
}

/* A step of all that generate, `steps` steps from now. */
static double step_s(const struct engine *e, double steps)
{
    const struct sp_pass_load load = {.decode = (double)e->generate,
                                      .context = context_of(e, steps),
                                      .drafts = e->pass->served.service.drafts};
    return sp_pass_time(e->pass, &load).total_s + drafts_s(e, steps);
}

/* Time of as many steps of the same sequences, by their mean context. */
static double steps_s(const struct engine *e, double steps)
{
    return steps * step_s(e, (steps - 1) / 2);
}

/* Fewest steps, at most `most`, that last until a time: found by bisection, starting at the
 * estimate from the last trial's mean step. */
static double steps_until(const struct engine *e, double time, double most)
{
    const double wait = time - e->now;
    double low = 0, high = most, mean_s = step_s(e, 0);
    while (high - low > 1 && isfinite(wait)) {
        const double steps = fmin(high - 1, fmax(low + 1, floor(wait / mean_s)));
        const double seconds = steps_s(e, steps);
        mean_s = seconds / steps;
        if (seconds >= wait)
            high = steps;
        else
            low = steps;
    }
    return high;
}

/* Steps without prompts, up to the end of a request or the arrival of one that could start. */
static void generate(struct engine *e)
{
    const double most = e->running[0].ends - e->steps;
    const bool place = e->next.bytes <= e->free && e->generate < e->most;
    const double steps = place ? steps_until(e, e->reaches, most) : most;
    advance(e, steps_s(e, steps), true);
    e->steps += steps;
    e->context += steps * e->accepted * (double)e->generate;
    finish_all(e);
}

/* Prompts of a step: their parts, in order. */
static struct sp_pass_load take_prompts(struct engine *e)
{
    const double chunk = e->pass->served.service.chunk, part = chunk > 0 ? chunk : INFINITY;
    const double all = chunk > 0 ? chunk * e->ranks : INFINITY;
    struct sp_pass_load load = {0};
    double largest = 0, seen = 0;
    for (size_t i = 0; load.prompt < all && (chunk > 0 || (double)i < e->ranks); i++) {
        if (i == e->read && !admit(e))
            break;
        struct sp_running *const r = &e->reading[i];
        const double tokens = fmin(fmin(r->input - r->read, part), all - load.prompt);
        seen += tokens * (r->read + tokens / 2);
        load.prompt += tokens;
        r->read += tokens;
        load.prompts += r->read >= r->input;
        largest = fmax(largest, tokens);
    }
    if (load.prompt > 0) {
        /* ranks work in step: each takes as long as the one with the largest part */
        const double even = fmax(1, e->ranks * largest / load.prompt);
        load.seen = seen / load.prompt;
        load.prompt *= even;
        load.prompts *= even;
    }
    return load;
}

/* First tokens of the requests whose prompts are read; the others stay in order. */
static void begin_all(struct engine *e)
{
    size_t left = 0;
    for (size_t i = 0; i < e->read; i++) {
        const struct sp_running r = e->reading[i];
        if (r.read < r.input)
            e->reading[left++] = r;
        else
            begin(e, r);
    }
    e->read = left;
}

/* One step with prompts, and with all requests that generate, unless prompts run in separate
 * passes. */
static void read_prompts(struct engine *e, const struct sp_pass_load *prompts)
{
    const bool mixes = e->generate > 0 && !e->pass->served.service.separate;
    struct sp_pass_load load = *prompts;
    double seconds = 0;
    if (mixes) {
        load.decode = (double)e->generate;
        load.context = context_of(e, 0);
        load.drafts = e->pass->served.service.drafts;
        seconds = step_s(e, 0) + prompts->prompt * e->least_s;
        seconds = fmax(seconds, sp_pass_time(e->pass, &load).total_s + drafts_s(e, 0));
        e->steps++;
    } else
        seconds = sp_pass_time(e->pass, &load).total_s;
    advance(e, seconds, true);
    if (mixes) {
        e->context += e->accepted * (double)e->generate;
        finish_all(e);
    }
    begin_all(e);
}

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* The value that this many values do not exceed, by Hoare's selection; orders the values around it.
 */
static double nth(double *values, size_t n, size_t wanted)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        const double pivot = values[(low + high) / 2];
        size_t i = low, j = high;
        while (true) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            swap(&values[i++], &values[j--]);
        }
        if (wanted <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[wanted];
}

static double percentile(double *values, size_t n, double share)
{
    return nth(values, n, (size_t)fmax(0, ceil(share * (double)n) - 1));
}

static struct sp_percentiles summarise(double *values, size_t n)
{
    double sum = 0;
    if (n == 0)
        return (struct sp_percentiles){NAN, NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return (struct sp_percentiles){.mean = sum / (double)n,
                                   .p50 = percentile(values, n, 0.5),
                                   .p90 = percentile(values, n, 0.9),
                                   .p95 = percentile(values, n, 0.95),
                                   .p99 = percentile(values, n, 0.99)};
}

static void prepare(struct engine *e)
{
    const struct sp_traffic *const t = e->traffic;
    const struct sp_pass *const p = e->pass;
    const struct sp_served *const v = &p->served;
    const struct sp_service *const s = &v->service;
    const double draft = t->requests.draft ? t->requests.draft->served.weights : 0;
    e->lanes = p->plan.pp;
    e->stride = t->arrivals ? (size_t)(e->lanes * fmax(1, t->share)) : 1;
    e->ranks = p->plan.attention_dp;
    e->accepted = s->drafts > 0 ? s->accepted : 1;
    e->least_s = e->lanes * v->prefill_flops / v->C / fmax(1, s->input * (1 - s->prefix_hit));
    e->free = (v->capacity - v->weights - draft) / e->lanes;
    e->most = (size_t)fmax(1, sp_at_once(s, (double)e->most * e->lanes) / e->lanes);
    e->in_flight = is_closed(e) ? (size_t)fmax(1, round(t->requests.in_flight / e->lanes)) : 0;
    e->lengths = t->seed;
    e->arrivals = ~t->seed; /* a separate state, so that lengths do not change who arrives when */
    draw_next(e, 0);
}

void sp_simulate_serving(const struct sp_pass *pass, const struct sp_traffic *traffic,
                         const struct sp_simulation_room *room, struct sp_simulated *result)
{
    sp_require(room->most > 0, "the memory must hold at least one request");
    sp_require(traffic->counted > 0, "the number of measured requests must be positive");
    struct engine e = {.pass = pass,
                       .traffic = traffic,
                       .running = room->running,
                       .reading = room->running + room->most,
                       .most = room->most,
                       .sent = room->sent,
                       .room = room,
                       .result = result,
                       .ended = NAN};
    *result = (struct sp_simulated){0};
    prepare(&e);
    while (e.done < traffic->counted) {
        const struct sp_pass_load prompts = take_prompts(&e);
        if (prompts.prompt > 0)
            read_prompts(&e, &prompts);
        else if (e.generate > 0)
            generate(&e);
        else if (isfinite(e.reaches))
            advance(&e, fmax(0, e.reaches - e.now), false);
        else
            break;
    }
    const double n = (double)e.done, seconds = (isnan(e.ended) ? e.now : e.ended) - e.began;
    result->ttft = summarise(room->ttft, e.done);
    result->tpot = summarise(room->tpot, e.several);
    result->e2e = summarise(room->e2e, e.done);
    result->requests = n;
    result->tokens_in /= n;
    result->tokens_out /= n;
    result->requests_per_s = e.lanes * n / seconds;
    result->tokens_per_s = result->requests_per_s * result->tokens_out;
    result->running = e.lanes * e.present_s / e.counted_s;
    result->busy = e.worked_s / e.counted_s;
}
