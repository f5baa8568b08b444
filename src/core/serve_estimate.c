/* The loop of requests around an engine's forward passes. */
#include <math.h>

#include <scaleplan/serve_estimate.h>

/* Rounds of the fixed point between how long requests decode and how many do so at once. */
enum { ROUNDS = 12 };

double sp_most_running(const struct sp_pass *p, double input, double output)
{
    const struct sp_served *const v = &p->served;
    const struct sp_service *const s = &v->service;
    const double tokens = input + (s->reserves_answer ? output : output / 2);
    double bytes = 0;
    for (int k = 0; k < p->kinds; k++)
        bytes += p->kind[k].layers * sp_mixer_kept_bytes(&p->kind[k].mixer, tokens, s->kv_bytes);
    const double room = v->capacity - v->weights - SP_SERVING_BUFFERS * s->chips;
    return room > 0 ? room / (v->copies * bytes) : 0;
}

/* What the loop needs of the passes. */
struct loop {
    const struct sp_pass *pass;
    double input, output, ranks; /* the latter: prompts that are read at once */
    double prompt_s;             /* a prompt alone */
    double adds_s;               /* what a prompt adds to the steps of the others, of each rank */
    double first_s;              /* of the server */
    bool apart;                  /* prompts are read by another instance */
};

static struct sp_pass_time step_of(const struct loop *l, double decoding)
{
    const struct sp_pass_load load = {.decode = decoding / l->pass->plan.pp,
                                      .context = l->input + l->output / 2};
    return sp_pass_time(l->pass, &load);
}

/* Each rank of attention's data parallelism reads one. */
static struct sp_pass_time prompt_of(const struct sp_pass *p, double input)
{
    const double d = p->plan.attention_dp, hit = p->served.service.prefix_hit * input;
    const double computed = input - hit;
    const struct sp_pass_load load = {
        .prompts = d, .prompt = d * computed, .seen = hit + computed / 2};
    return sp_pass_time(p, &load);
}

/* What a prompt takes of the instance's time. s. */
static double prompts_s(const struct loop *l)
{
    return l->apart ? 0 : l->pass->value[SP_V_MIXED] * l->adds_s;
}

/* Rounds between how many decode and how long that takes; `mixed` is what prompts add to a step. */
static void settle_decoding(const struct loop *l, double r, double mixed, double queue,
                            struct sp_serve_estimate *e)
{
    e->decoding = r;
    for (int i = 0; i < ROUNDS; i++) {
        e->step = step_of(l, e->decoding);
        e->tpot_s = e->step.total_s + mixed;
        e->ttft_s = l->first_s + l->prompt_s + e->step.total_s / 2 + queue;
        const double decode_s = (l->output - 1) * e->tpot_s;
        const double next = fmax(fmin(1, r), r * decode_s / (e->ttft_s + decode_s));
        if (l->apart || fabs(next - e->decoding) <= 1e-4 * r) /* apart all of them generate */
            return;
        e->decoding = next;
    }
}

/* r requests that run, or that generate where prompts are read apart; nobody waits. */
static void settle(const struct loop *l, double r, struct sp_serve_estimate *e)
{
    const double others = fmax(0, r - 1);
    const double queue = l->pass->value[SP_V_QUEUE] * others * l->adds_s;
    settle_decoding(l, r, prompts_s(l) * others / l->output, l->apart ? 0 : queue, e);
    e->e2e_s = e->ttft_s + (l->output - 1) * e->tpot_s;
    e->requests_per_s = l->apart ? r / (l->output * e->tpot_s) : r / e->e2e_s;
    e->running = e->requests_per_s * e->e2e_s;
}

/* Requests come at random: as many are in flight as come while one is served. */
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

struct sp_serve_estimate sp_serve_estimate(const struct sp_pass *pass,
                                           const struct sp_requests *requests)
{
    const struct sp_pass_load nothing = {0};
    const struct sp_pass *const reader = requests->reader ? requests->reader : pass;
    struct sp_serve_estimate e = {.prompt = prompt_of(reader, requests->input),
                                  .most = sp_most_running(pass, requests->input, requests->output)};
    struct loop l = {.pass = pass,
                     .input = requests->input,
                     .output = requests->output,
                     .ranks = reader->plan.attention_dp * reader->plan.pp,
                     .prompt_s = e.prompt.total_s,
                     .first_s = requests->direct ? 0 : pass->value[SP_V_FIRST],
                     .apart = requests->reader != NULL};
    l.adds_s = fmax(0, l.prompt_s - sp_pass_time(reader, &nothing).total_s) / l.ranks;
    e.prompts_per_s = l.ranks / l.prompt_s;
    if (isnan(requests->in_flight)) {
        settle(&l, e.most, &e);
        e.most_requests_per_s = e.requests_per_s;
        take_rate(&l, requests->rate, &e);
    } else {
        const double c = requests->in_flight, r = fmin(c, fmax(1, e.most));
        settle(&l, r, &e);
        e.waiting = c - r;
        e.wait_s = e.waiting / r * e.e2e_s;
        e.most_requests_per_s = e.requests_per_s;
    }
    e.ttft_s += e.wait_s;
    e.e2e_s += e.wait_s;
    e.tokens_per_s = e.requests_per_s * l.output;
    e.prompt_share = fmin(1, prompts_s(&l) * e.requests_per_s);
    return e;
}
