/* The loop of requests around an engine's forward passes. */
#include <math.h>

#include <scaleplan/serve_estimate.h>

/* Trials for the prompts of a step; each reduces the error to a fifth at most, and mostly to much
 * less. */
enum { TRIALS = 60 };
#define SETTLED 1e-6

/* Inputs of the loop from the passes, for one pipeline stage's share of requests. */
struct loop {
    const struct sp_pass *pass, *draft;
    double context, output, ranks; /* ranks: prompts processed together */
    double drafts, accepted;       /* per step: drafts checked, tokens accepted */
    double computed, seen;         /* tokens of a prompt that are not cached; attended to, mean */
    double lump, most;             /* of a prompt, and at most, in a step of a rank */
    double least_s;                /* of a token of a prompt, at the peak */
    double prompt_s;               /* one prompt alone */
    double first_s;                /* server overhead, and the part of a fetch that no pass hides */
    double fetches_per_s;          /* most prompts that come from the host */
    double first_wave;             /* share of the requests that all come at once at the start */
    bool apart;                    /* separate prefill */
};

/* A step of `decoding` sequences and its time per accepted token. */
static void take_step(const struct loop *l, double decoding, struct sp_serve_estimate *e)
{
    const struct sp_pass_load load = {
        .decode = decoding, .context = l->context, .drafts = l->drafts};
    struct sp_pass_load draft = load;
    draft.drafts = 0;
    e->step = sp_pass_time(l->pass, &load);
    const double drafts_s = l->draft ? l->drafts * sp_pass_time(l->draft, &draft).total_s : 0;
    e->token_s = (e->step.total_s + drafts_s) / l->accepted;
}

static void add_parts(struct sp_pass_time *sum, const struct sp_pass_time *t, double times)
{
    sum->matmul_s += times * t->matmul_s;
    sum->experts_s += times * t->experts_s;
    sum->attention_s += times * t->attention_s;
    sum->elementwise_s += times * t->elementwise_s;
    sum->comm_s += times * t->comm_s;
    sum->launch_s += times * t->launch_s;
    sum->total_s += times * t->total_s;
}

/* Pass over tokens `from` to `to` of a prompt per attention-DP rank. */
static struct sp_pass_time part_of_prompt(const struct sp_pass *p, double from, double to,
                                          double prompts)
{
    const double d = p->plan.attention_dp;
    const struct sp_pass_load load = {
        .prompts = prompts * d, .prompt = d * (to - from), .seen = (from + to) / 2};
    return sp_pass_time(p, &load);
}

/* Tokens of a prompt that are cached: at most all but the last, whose logits are needed. */
static double cached_tokens(const struct sp_service *s)
{
    return fmax(0, fmin(s->prefix_hit * s->input, s->input - 1));
}

/* Passes of a prompt: full chunks, whose tokens attend to half of the range on average, and the
 * last. */
static struct sp_pass_time prompt_of(const struct sp_pass *p)
{
    const struct sp_service *const s = &p->served.service;
    const double input = s->input, hit = cached_tokens(s), computed = input - hit;
    const double chunk = s->chunk > 0 ? fmin(s->chunk, computed) : computed;
    const double full = ceil(computed / chunk) - 1, mean = hit + (full - 1) * chunk / 2;
    struct sp_pass_time t = part_of_prompt(p, hit + full * chunk, input, 1);
    if (full > 0) {
        const struct sp_pass_time one = part_of_prompt(p, mean, mean + chunk, 0);
        add_parts(&t, &one, full);
    }
    return t;
}

/* A step of `decoding` sequences, alone and with `tokens` of prompts on each rank. */
struct mixed {
    double alone_s, adds_s;
};

/* Prompts share a pass with the sequences that decode: it reads the weights once and launches each
 * kernel once. Engines that do not mix them run a separate pass for prompts. The arithmetic of
 * prompts cannot hide behind reads without limit: it takes no less than its time at the peak. */
static struct mixed mix(const struct loop *l, double decoding, double tokens)
{
    const bool separate = l->pass->served.service.separate;
    struct sp_serve_estimate e;
    take_step(l, decoding, &e);
    const struct sp_pass_load load = {.decode = separate ? 0 : decoding,
                                      .context = l->context,
                                      .drafts = l->drafts,
                                      .prompts = l->ranks * tokens / l->computed,
                                      .prompt = l->ranks * tokens,
                                      .seen = l->seen};
    const double with_s = sp_pass_time(l->pass, &load).total_s;
    const double adds = separate ? with_s : with_s - e.step.total_s;
    return (struct mixed){e.token_s * l->accepted, fmax(adds, l->ranks * tokens * l->least_s)};
}

/* How r requests delay each other if `prompts` of them start in a step: for one of them, the others
 * are present whenever it is not alone. */
struct turn {
    double every_s; /* from step to step */
    double token_s, first_s, e2e_s;
    double decoding; /* sequences of a step that it decodes in */
    double steps_per_s;
    double share; /* share of the time that prompts take */
};

/* The mean step, if a share `some` of the steps decodes and the others only read prompts. */
static struct mixed mean_of(const struct loop *l, const struct mixed *m, double lump, double some)
{
    if (some >= 1)
        return *m;
    struct mixed none = mix(l, 0, lump);
    if (lump <= l->lump) {
        const double idle_s = l->pass->served.service.separate ? 0 : none.alone_s;
        none.adds_s = l->prompt_s * lump / l->computed - idle_s;
    }
    return (struct mixed){some * m->alone_s + (1 - some) * none.alone_s,
                          some * m->adds_s + (1 - some) * none.adds_s};
}

/* Prompts ahead of a request's own, if other prompts take this share of the time for prompts and
 * all together take `load`: half of a random queue if there is time, otherwise all the others. */
static double wait_for(double others, double load)
{
    return others / (1 - others) * (1 + load * load) / 2;
}

static struct turn take_turn(const struct loop *l, double r, double prompts)
{
    const struct sp_service *const s = &l->pass->served.service;
    const double others = 1 - 1 / fmax(1, r), steps = (l->output - 1) / l->accepted;
    const double tokens = prompts * l->computed / l->ranks; /* of prompts, on a rank in a step */
    const double lump = fmax(l->lump, tokens), share = tokens / lump;
    struct turn t = {.decoding = fmin(1, steps) + others * prompts * steps};
    /* after an answer of one token, a further one would take a step */
    const struct mixed own = mix(l, steps > 0 ? t.decoding : 1, lump);
    const struct mixed m = mean_of(l, &own, lump, prompts * steps);
    const double whole_s = m.adds_s + (s->separate ? 0 : m.alone_s);
    const double own_s = fmax(1, l->computed / lump) * whole_s; /* of its prompt in their steps */
    const double packed_s = /* of a prompt among many that fill chunks */
        l->computed / l->ranks * (m.alone_s / l->most + m.adds_s / lump);
    t.every_s = m.alone_s + share * m.adds_s;
    const double load =
        prompts * packed_s / t.every_s; /* share of the time that prompts can have */
    t.share = share * m.adds_s / t.every_s;
    t.steps_per_s = fmin(1, prompts * steps + share) / t.every_s;
    t.token_s = (own.alone_s + others * share * own.adds_s) / l->accepted;
    t.first_s = l->first_s + l->prompt_s;
    /* half of a step that decodes, and of the steps between checks for requests; the rest of a
     * step with prompts is part of the wait for them */
    const double late_s = (m.alone_s + fmax(0, s->poll_steps - 1) * t.every_s) / 2;
    /* each of the others starts once during a request's own time, some of them while it decodes */
    const double before =
        fmin(wait_for(others * load, load), others * fmax(0, r - prompts * steps));
    t.first_s += others * (late_s + fmax(0, own_s - l->prompt_s)) +
                 (before + l->first_wave * (r - 1) / 2) * packed_s;
    t.e2e_s = t.first_s + (l->output - 1) * t.token_s;
    return t;
}

/* Requests in flight if `prompts` start in each step, minus r: Little's law. Almost linear in
 * `prompts`, since the steps of an answer do not depend on their duration. */
static double excess(const struct turn *t, double r, double prompts)
{
    return prompts * t->e2e_s / t->every_s - r;
}

/* Finds the state in which as many requests start in a step as end. A step takes at most a chunk on
 * each rank. By the method of Illinois: the excess rises with the prompts of a step, from -r for
 * none. */
static struct turn settle_turn(const struct loop *l, double r)
{
    const double steps = (l->output - 1) / l->accepted;
    const double most = fmin(l->most * l->ranks / l->computed, 2 * r / (1 + steps));
    double low = 0, high = fmin(most, r / (1 + steps)); /* mostly enough */
    struct turn t = take_turn(l, r, high);
    double over = excess(&t, r, high), under = -r;
    if (over < 0 && high < most) {
        low = high;
        under = over;
        high = most;
        t = take_turn(l, r, high);
        over = excess(&t, r, high);
    }
    for (int i = 0, side = 0; i < TRIALS && over > 0 && high - low > SETTLED * high; i++) {
        const double next = (low * over - high * under) / (over - under);
        t = take_turn(l, r, next);
        const double e = excess(&t, r, next);
        if (fabs(e) < SETTLED * r)
            break;
        if (e > 0) {
            high = next;
            over = e;
            under /= side > 0 ? 2 : 1;
            side = 1;
        } else {
            low = next;
            under = e;
            over /= side < 0 ? 2 : 1;
            side = -1;
        }
    }
    return t;
}

/* Settles r running requests (decoding, if prefill is separate); no queue. Stages of a pipeline
 * count as separate instances, each with its share. */
static void settle(const struct loop *l, double r, struct sp_serve_estimate *e)
{
    const double lanes = l->pass->plan.pp;
    if (l->apart) {
        e->decoding = r;
        take_step(l, r / lanes, e);
        e->tpot_s = e->token_s;
        e->ttft_s = l->first_s + l->prompt_s + e->token_s * l->accepted / 2;
        e->steps_per_s = lanes / (e->token_s * l->accepted);
    } else {
        const struct turn t = settle_turn(l, fmax(1, r / lanes));
        const double decoding = fmax(1, t.decoding); /* answers of one token have no step */
        take_step(l, decoding, e);
        e->decoding = fmin(r, lanes * decoding);
        e->tpot_s = t.token_s;
        e->ttft_s = t.first_s;
        e->prompt_share = t.share;
        e->steps_per_s = lanes * t.steps_per_s;
    }
    e->e2e_s = e->ttft_s + (l->output - 1) * e->tpot_s;
    const double late_s = l->apart ? 0 : r / l->fetches_per_s - e->e2e_s;
    if (late_s > 0) { /* prompts wait for the hosts' links */
        e->ttft_s += late_s;
        e->e2e_s += late_s;
    }
    e->requests_per_s = l->apart ? r / (l->output * e->tpot_s) : r / e->e2e_s;
    e->running = e->requests_per_s * e->e2e_s;
}

/* Mean wait of randomly arriving prompts for readers of which `reads` finish per second. */
static double wait_to_read(double rate, double reads)
{
    const double rho = rate / reads;
    return rho < 1 ? rho / (1 - rho) / (2 * reads) : INFINITY;
}

/* Settles c requests in both pools with prefill on several readers: b decode, and prompts that
 * finish prefill at the rate of answers queue for one another. By Little's law, a request that is
 * neither decoding nor being read or sent is waiting. */
static void settle_pools(const struct loop *l, const struct sp_requests *q,
                         struct sp_serve_estimate *e)
{
    const double reads = q->readers * e->prompts_per_s, c = q->in_flight;
    const double sent_s = fmax(0, q->transfer_s - l->prompt_s);
    double low = 0, high = fmin(c, e->most);
    for (int i = 0; i < 60 && high - low > 1e-9 * high; i++) {
        const double b = (low + high) / 2;
        settle(l, b, e);
        const double wait_s = wait_to_read(e->requests_per_s, reads);
        if (e->requests_per_s * (e->e2e_s + sent_s + wait_s) < c)
            low = b;
        else
            high = b;
    }
    settle(l, low, e);
    e->ttft_s += sent_s;
    e->e2e_s += sent_s;
    e->wait_s = fmax(0, c / e->requests_per_s - e->e2e_s);
    e->waiting = e->requests_per_s * e->wait_s;
    e->running = c - e->waiting;
}

/* Random arrivals: the number in flight is the arrivals during one request, and the number
 * decoding is the arrivals while one decodes. Requests wait for a slot, and for a reader of
 * another pool. */
static void take_rate(const struct loop *l, const struct sp_requests *q,
                      struct sp_serve_estimate *e)
{
    const double reads = q->readers > 0 ? q->readers * e->prompts_per_s : INFINITY;
    const double rate = q->rate;
    double low = 0, high = e->most;
    settle(l, high, e);
    e->most_requests_per_s = fmin(e->requests_per_s, reads);
    for (int i = 0; i < 60 && high - low > 1e-6 * e->most; i++) {
        const double r = (low + high) / 2;
        settle(l, r, e);
        if (e->requests_per_s < rate)
            low = r;
        else
            high = r;
    }
    settle(l, high, e);
    const double sent_s = l->apart ? fmax(0, q->transfer_s - l->prompt_s) : 0;
    const double place_s = l->apart ? l->output * e->tpot_s : e->e2e_s;
    const double rho = rate * place_s / e->most;
    e->wait_s = rho < 1 ? rho / (1 - rho) * place_s / (2 * e->most) : INFINITY;
    if (isfinite(reads))
        e->wait_s += wait_to_read(rate, reads);
    if (!l->apart && isfinite(l->fetches_per_s))
        e->wait_s += wait_to_read(rate, l->fetches_per_s);
    e->ttft_s += sent_s;
    e->e2e_s += sent_s;
    e->waiting = rate * e->wait_s;
    e->requests_per_s = rate;
    e->running = rate * e->e2e_s;
}

/* Means over a benchmark of `all` requests in waves of r and a rest: equal requests start and end
 * together, unlike the varying lengths of a steady state. */
static void take_waves(const struct loop *l, double r, double all, struct sp_serve_estimate *e)
{
    const double waves = floor(all / r), rest = all - waves * r;
    struct sp_serve_estimate last = *e;
    if (rest >= 1)
        settle(l, rest, &last);
    e->requests_per_s = all / (waves * e->e2e_s + (rest >= 1 ? last.e2e_s : 0));
}

static struct loop loop_of(const struct sp_pass *pass, const struct sp_requests *requests,
                           struct sp_serve_estimate *e)
{
    const struct sp_pass *const reader = requests->reader ? requests->reader : pass;
    const struct sp_served *const v = &pass->served;
    const struct sp_service *const s = &v->service;
    const double hit = cached_tokens(s);
    struct loop l = {.pass = pass,
                     .draft = requests->draft,
                     .drafts = s->drafts,
                     .accepted = s->drafts > 0 ? s->accepted : 1,
                     .context = s->step_tokens,
                     .output = s->output,
                     .ranks = reader->plan.attention_dp,
                     .computed = s->input - hit,
                     .seen = (hit + s->input) / 2,
                     .first_s = requests->direct ? 0 : pass->value[SP_V_FIRST],
                     .apart = requests->reader != NULL};
    const double at_once = fmin(requests->in_flight, fmax(1, e->most));
    /* waves of equal requests that a table of throughputs has last as long as a steady state */
    l.first_wave = requests->all > 0 && !requests->direct ? fmin(1, at_once / requests->all) : 0;
    e->prompt = prompt_of(reader);
    l.prompt_s = e->prompt.total_s;
    const double fetch_s = reader->served.fetch_s;
    l.first_s += s->by_layer ? fmax(0, fetch_s - l.prompt_s) : fetch_s;
    l.fetches_per_s = reader->served.fetches_per_s;
    l.most = s->chunk > 0 ? s->chunk : l.computed;
    l.lump = fmin(l.most, l.computed);
    l.least_s = pass->plan.pp * v->prefill_flops / v->C / l.computed;
    return l;
}

struct sp_serve_estimate sp_serve_estimate(const struct sp_pass *pass,
                                           const struct sp_requests *requests)
{
    struct sp_serve_estimate e = {.most = sp_room_for_sequences(&pass->served),
                                  .apart = requests->reader != NULL};
    const struct loop l = loop_of(pass, requests, &e);
    const double lanes = (requests->reader ? requests->reader : pass)->plan.pp;
    e.prompts_per_s = fmin(lanes * l.ranks / l.prompt_s, l.fetches_per_s);
    if (requests->readers > 0 && !isnan(requests->in_flight)) {
        settle_pools(&l, requests, &e);
        e.most_requests_per_s = e.requests_per_s;
    } else if (isnan(requests->in_flight)) {
        take_rate(&l, requests, &e);
    } else {
        const double all = requests->all > 0 ? requests->all : INFINITY;
        const double c = fmin(requests->in_flight, all), r = fmin(c, fmax(1, e.most));
        settle(&l, r, &e);
        if (isfinite(all))
            take_waves(&l, floor(r), all, &e);
        e.waiting = c - r;
        e.wait_s = e.waiting / r * e.e2e_s;
        e.most_requests_per_s = e.requests_per_s;
    }
    e.ttft_s += e.wait_s;
    e.e2e_s += e.wait_s;
    e.stall_s =
        e.token_s * l.accepted + (l.apart ? 0 : mix(&l, e.decoding / pass->plan.pp, l.lump).adds_s);
    e.queue_s = fmax(0, e.ttft_s - l.first_s - l.prompt_s);
    e.tokens_per_s = e.requests_per_s * l.output;
    return e;
}
