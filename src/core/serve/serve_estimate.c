/* The loop of requests around an engine's forward passes. */
#include <math.h>

#include <scaleplan/serve_estimate.h>

/* Rounds of the fixed point between decoding time and the number of decoding requests. */
enum { ROUNDS = 12 };

/* What the loop needs from the passes. */
struct loop {
    const struct sp_pass *pass, *draft;
    double context, output, ranks; /* ranks: prompts processed together */
    double drafts, accepted;       /* per step: drafts checked, tokens accepted */
    double prompt_s;               /* one prompt alone */
    double most_mixed_s;           /* most that prompts add to one step */
    double adds_s;                 /* added by a prompt to other requests' steps, per rank */
    double chunk_s;                /* most that it adds to one step */
    double steps_s, alone_s;       /* of a request alone: its steps; with its prompt */
    double least_s;                /* of the instance's time, that a prompt takes at any load */
    double first_s;                /* server overhead */
    bool apart;                    /* separate prefill */
};

/* A step of `decoding` sequences and its time per accepted token. */
static void take_step(const struct loop *l, double decoding, struct sp_serve_estimate *e)
{
    const struct sp_pass_load load = {
        .decode = decoding / l->pass->plan.pp, .context = l->context, .drafts = l->drafts};
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

/* Passes of a prompt: full chunks, whose tokens attend to half of the range on average, and the
 * last. */
static struct sp_pass_time prompt_of(const struct sp_pass *p, double *passes)
{
    const struct sp_service *const s = &p->served.service;
    const double input = s->input, hit = s->prefix_hit * input, computed = input - hit;
    const double chunk = s->chunk > 0 ? fmin(s->chunk, computed) : computed;
    const double full = ceil(computed / chunk) - 1, mean = hit + (full - 1) * chunk / 2;
    struct sp_pass_time t = part_of_prompt(p, hit + full * chunk, input, 1);
    *passes = full + 1;
    if (full > 0) {
        const struct sp_pass_time one = part_of_prompt(p, mean, mean + chunk, 0);
        add_parts(&t, &one, full);
    }
    return t;
}

/* Time of the instance that a prompt takes. s. */
static double prompts_s(const struct loop *l)
{
    return l->apart ? 0 : l->pass->value[SP_V_MIXED] * l->adds_s;
}

/* A step takes a chunk of prompts on each rank: part of one, or several that read the weights once.
 */
static double most_mixed_s(const struct loop *l)
{
    const struct sp_pass *const p = l->pass;
    const struct sp_service *const s = &p->served.service;
    const struct sp_pass_load nothing = {0};
    const double hit = s->prefix_hit * s->input, computed = s->input - hit;
    const double tokens = p->plan.attention_dp * s->chunk;
    const struct sp_pass_load several = {
        .prompts = tokens / computed, .prompt = tokens, .seen = (hit + s->input) / 2};
    if (l->apart || !(s->chunk > 0))
        return INFINITY;
    if (computed >= s->chunk)
        return prompts_s(l) * l->ranks * s->chunk / computed;
    return p->value[SP_V_MIXED] *
           (sp_pass_time(p, &several).total_s - sp_pass_time(p, &nothing).total_s);
}

/* Time that the prompts of others add to a step: with their part of the queue, and with the longer
 * steps, `longer_s` for an answer, no more than if each of them was served alone before: nobody
 * serves two more slowly than one after the other. */
static double mixed_s(const struct loop *l, double others, double queue, double longer_s)
{
    const double all = fmax(0, others * l->alone_s - queue - longer_s);
    return fmin(fmin(prompts_s(l) * others / l->output, all / fmax(1, l->output - 1)),
                l->most_mixed_s);
}

/* Iterates between the number of decoding requests and their duration; `mixed`: time that prompts
 * add per step. */
static void settle_decoding(const struct loop *l, double r, double mixed, double queue,
                            struct sp_serve_estimate *e)
{
    e->decoding = r;
    for (int i = 0; i < ROUNDS; i++) {
        take_step(l, e->decoding, e);
        e->tpot_s = e->token_s + mixed;
        e->ttft_s = l->first_s + l->prompt_s + e->token_s * l->accepted / 2 + queue;
        const double decode_s = (l->output - 1) * e->tpot_s;
        const double next = fmax(fmin(1, r), r * decode_s / (e->ttft_s + decode_s));
        if (l->apart ||
            fabs(next - e->decoding) <= 1e-4 * r) /* with separate prefill all of them decode */
            return;
        e->decoding = next;
    }
}

/* A request of r takes its prompt's time, mixed into steps, and its share of steps that all r could
 * be in, and no less than its prompt alone: in a second the instance does no more than a second of
 * these. For what is missing, requests wait for their prompts. */
static void conserve(const struct loop *l, double r, double steps_s, struct sp_serve_estimate *e)
{
    const double turn_s = fmax(r * l->least_s + steps_s, r * l->adds_s);
    e->ttft_s = fmax(e->ttft_s, turn_s - (l->output - 1) * e->tpot_s);
}

/* Settles r running requests (decoding, if prefill is separate); no queue. */
static void settle(const struct loop *l, double r, struct sp_serve_estimate *e)
{
    const double others = fmax(0, r - 1);
    const double queue = l->pass->value[SP_V_QUEUE] * others * l->adds_s;
    take_step(l, r, e);
    const double steps_s = (l->output - 1) * e->token_s; /* of an answer, if all r are in them */
    settle_decoding(l, r, mixed_s(l, others, queue, steps_s - l->steps_s), l->apart ? 0 : queue, e);
    if (!l->apart)
        conserve(l, r, steps_s, e);
    e->e2e_s = e->ttft_s + (l->output - 1) * e->tpot_s;
    e->requests_per_s = l->apart ? r / (l->output * e->tpot_s) : r / e->e2e_s;
    e->running = e->requests_per_s * e->e2e_s;
}

/* Settles c requests in both pools with prefill on several readers: b decode, and prompts that
 * finish prefill at the rate of answers queue for one another. */
static void settle_pools(const struct loop *l, const struct sp_requests *q,
                         struct sp_serve_estimate *e)
{
    const double reads = q->readers * e->prompts_per_s, c = q->in_flight;
    const double sent_s = fmax(0, q->transfer_s - l->prompt_s);
    double low = 0, high = fmin(c, e->most);
    for (int i = 0; i < 60 && high - low > 1e-9 * high; i++) {
        const double b = (low + high) / 2;
        settle(l, b, e);
        const double rho = e->requests_per_s / reads;
        const double wait = rho < 1 ? rho / (1 - rho) / (2 * reads) : INFINITY;
        if (e->requests_per_s * (e->e2e_s + sent_s + wait) < c)
            low = b;
        else
            high = b;
    }
    settle(l, low, e);
    e->e2e_s = c / e->requests_per_s; /* Little's law: a request that does not decode waits or is in
                                         prefill */
    e->ttft_s = e->e2e_s - (l->output - 1) * e->tpot_s;
    e->running = c;
}

/* Random arrivals: the number in flight is the arrivals during one request. */
static void take_rate(const struct loop *l, double rate, struct sp_serve_estimate *e)
{
    double low = 0, high = e->most;
    for (int i = 0; i < 60 && high - low > 1e-6 * e->most; i++) {
        const double r = (low + high) / 2;
        settle(l, r, e);
        if (e->requests_per_s < rate)
            low = r;
        else
            high = r;
    }
    settle(l, high, e);
    const double rho = rate * e->e2e_s / e->most;
    e->wait_s = rho < 1 ? rho / (1 - rho) * e->e2e_s / (2 * e->most) : INFINITY;
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

struct sp_serve_estimate sp_serve_estimate(const struct sp_pass *pass,
                                           const struct sp_requests *requests)
{
    const struct sp_pass_load nothing = {0};
    const struct sp_pass *const reader = requests->reader ? requests->reader : pass;
    const struct sp_service *const s = &pass->served.service;
    double passes;
    struct sp_serve_estimate e = {.prompt = prompt_of(reader, &passes),
                                  .most = sp_room_for_sequences(&pass->served),
                                  .apart = requests->reader != NULL};
    struct loop l = {.pass = pass,
                     .draft = requests->draft,
                     .drafts = s->drafts,
                     .accepted = s->drafts > 0 ? s->accepted : 1,
                     .context = s->step_tokens,
                     .output = s->output,
                     .ranks = reader->plan.attention_dp * reader->plan.pp,
                     .prompt_s = e.prompt.total_s,
                     .first_s = requests->direct ? 0 : pass->value[SP_V_FIRST],
                     .apart = e.apart};
    const double empty_s = passes * sp_pass_time(reader, &nothing).total_s;
    l.adds_s = fmax(0, l.prompt_s - empty_s) / l.ranks;
    l.least_s = fmax(fmin(1, pass->value[SP_V_MIXED]) * l.adds_s,
                     pass->served.prefill_flops / pass->served.C);
    l.most_mixed_s = most_mixed_s(&l);
    take_step(&l, 1, &e);
    l.steps_s = (l.output - 1) * e.token_s;
    l.alone_s = l.prompt_s / l.ranks + l.steps_s;
    l.chunk_s = l.apart ? 0 : l.adds_s * l.ranks / passes;
    e.prompts_per_s = l.ranks / l.prompt_s;
    if (requests->readers > 0 && !isnan(requests->in_flight)) {
        settle_pools(&l, requests, &e);
        e.most_requests_per_s = e.requests_per_s;
    } else if (isnan(requests->in_flight)) {
        settle(&l, e.most, &e);
        e.most_requests_per_s = e.requests_per_s;
        take_rate(&l, requests->rate, &e);
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
    e.stall_s = e.token_s * l.accepted + l.chunk_s;
    e.queue_s = fmax(0, e.ttft_s - l.first_s - l.prompt_s - e.token_s * l.accepted / 2);
    e.tokens_per_s = e.requests_per_s * l.output;
    e.prompt_share = fmin(1, prompts_s(&l) * e.requests_per_s);
    return e;
}
