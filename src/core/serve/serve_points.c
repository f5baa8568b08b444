/* A machine divided into instances of every size, and the front of their batches. */
#include <math.h>
#include <stddef.h>

#include <scaleplan/serve_estimate.h>

/* State of a listing: the question and the points found. */
struct listing {
    const struct sp_service *service;
    const struct sp_serve_load *load;
    double machine_chips;
    bool degrees, front;
    /* sizes divide the machine; leave some of its chips idle; or share it with other instances */
    enum { WHOLE, IDLE, POOL } parts;
    enum sp_serve_objective order;
    struct sp_serve_point *points;
    int n;
};

double sp_serve_score(const struct sp_serve_point *p, enum sp_serve_objective objective)
{
    const double scores[SP_SERVE_OBJECTIVES] = {
        [SP_SERVE_THROUGHPUT] = 1 / p->tokens_per_s_per_chip,
        [SP_SERVE_LATENCY] = p->steady.tpot_s,
        [SP_SERVE_TTFT] = p->steady.ttft_s,
        [SP_SERVE_COST] = p->paid_chips / p->steady.requests_per_s};
    return scores[objective];
}

double sp_chip_seconds_of_token(const struct sp_serve_point *p, double input, double output)
{
    return p->paid_chips / p->steady.requests_per_s / (input + output);
}

int sp_shown_point(int i, int shown, int n, bool front)
{
    return front && shown > 1 ? i * (n - 1) / (shown - 1) : i;
}

/* Less by more than a rounding error: among equal instances the smaller, listed first, stays
 * first. */
static bool is_less(double a, double b)
{
    return a < b * (1 - 1e-9);
}

/* Sizes arrive in rising order: of equals the smaller stays first. */
static void insert(struct listing *l, const struct sp_serve_point *point)
{
    int at = l->n++;
    while (at > 0 &&
           is_less(sp_serve_score(point, l->order), sp_serve_score(&l->points[at - 1], l->order))) {
        l->points[at] = l->points[at - 1];
        at--;
    }
    l->points[at] = *point;
}

bool sp_serve_covers(const struct sp_serve_point *a, const struct sp_serve_point *b)
{
    return !is_less(b->steady.tpot_s, a->steady.tpot_s) &&
           !is_less(a->tokens_per_s_per_chip, b->tokens_per_s_per_chip);
}

/* Inserts a point unless another covers it; drops those that it covers. */
static void keep(struct listing *l, const struct sp_serve_point *point)
{
    int left = 0;
    for (int i = 0; i < l->n; i++)
        if (sp_serve_covers(&l->points[i], point))
            return;
    for (int i = 0; i < l->n; i++)
        if (!sp_serve_covers(point, &l->points[i]))
            l->points[left++] = l->points[i];
    l->n = left;
    if (l->n < SP_SERVE_POINTS)
        insert(l, point);
}

/* Adds a point with a known state if it is within the limits. Batches are powers of two per
 * attention rank, and the largest that fits; between them the closed form is nearly linear. */
static void try_state(struct listing *l, struct sp_serve_point point)
{
    point.tokens_per_s_per_chip = point.steady.tokens_per_s / point.paid_chips;
    if (!sp_keeps_limits(&point.steady, l->load))
        return;
    if (l->front)
        keep(l, &point);
    else if (l->n < SP_SERVE_POINTS)
        insert(l, &point);
}

/* Adds the point with `sequences` if they fit within the limits. */
static void try_batch(struct listing *l, const struct sp_serve_instance *v,
                      struct sp_serve_point point, double sequences)
{
    if (!(sequences > 0 &&
          sp_at_once(&v->served.service, sequences) <= sp_most_sequences(&v->served)))
        return;
    point.sequences = sequences;
    point.steady = sp_state_of(v, l->load, sequences);
    try_state(l, point);
}

/* Adds the point in which each instance takes its share of the arriving requests. */
static void try_rate(struct listing *l, const struct sp_serve_instance *v,
                     struct sp_serve_point point)
{
    const double rate = l->load->rate / point.replicas;
    if (sp_most_sequences(&v->served) >= 1 &&
        sp_state_at_rate(v, l->load, rate, &point.sequences, &point.steady))
        try_state(l, point);
}

/* The service of an instance of this size. */
static struct sp_service service_of(const struct sp_service *service,
                                    const struct sp_serve_point *point)
{
    struct sp_service one = *service;
    one.chips = point->chips;
    one.tp = point->tp;
    one.attention_dp = point->attention_dp;
    return one;
}

static void try_instance(struct listing *l, const struct sp_serve_point *point)
{
    const struct sp_service one = service_of(l->service, point);
    struct sp_serve_instance v;
    sp_prepare_instance(&one, l->load, &v);
    if (l->load->rate > 0) {
        try_rate(l, &v, *point);
        return;
    }
    const double most = sp_sequences_of_load(&v, l->load, point->replicas);
    for (double B = point->attention_dp; l->front && isnan(l->load->concurrency) && B < most;
         B *= 2)
        try_batch(l, &v, *point, B);
    try_batch(l, &v, *point, most);
}

/* Tries all degrees of an instance size. */
static void try_size(struct listing *l, struct sp_serve_point point)
{
    const struct sp_model *const m = l->service->model;
    const double most = l->degrees && m->moe.experts > 0 ? point.chips : 1;
    point.attention_dp = 1;
    if (!l->degrees) {
        try_instance(l, &point);
        return;
    }
    for (; point.attention_dp <= most; point.attention_dp++) {
        point.tp = point.chips / point.attention_dp;
        if (floor(point.tp) == point.tp && fmod((double)m->heads, point.tp) == 0)
            try_instance(l, &point);
    }
}

static int64_t largest(const struct sp_network *net, double machine_chips)
{
    if (machine_chips > 1)
        return (int64_t)machine_chips;
    return net->kind == SP_TORUS ? sp_shape_chips(&net->pod_shape) : 4 * net->domain;
}

static int list_points(struct listing *l)
{
    const struct sp_network *const net = &l->service->hw->network;
    const bool whole = l->machine_chips > 1;
    const int64_t most = largest(net, l->machine_chips);
    for (int64_t size = 1; size > 0 && size <= most; size = sp_nearest_chips(net, size + 1, true)) {
        const int64_t replicas = whole ? most / size : 1;
        const bool paid = whole && l->parts == IDLE;
        const struct sp_serve_point point = {.chips = (double)size,
                                             .paid_chips = paid ? (double)most / (double)replicas
                                                                : (double)size,
                                             .replicas = (double)replicas};
        if (!whole || l->parts != WHOLE || most % size == 0)
            try_size(l, point);
    }
    return l->n;
}

/* Lists the sizes that divide the machine; if none does, those that leave some chips idle: of three
 * chips an engine takes two. */
static int list_or_idle(struct listing *l)
{
    if (list_points(l) > 0)
        return l->n;
    l->parts = IDLE;
    return list_points(l);
}

int sp_serve_points(const struct sp_service *service, const struct sp_serve_load *load,
                    double machine_chips, bool degrees,
                    struct sp_serve_point points[SP_SERVE_POINTS])
{
    struct listing l = {.service = service,
                        .load = load,
                        .machine_chips = machine_chips,
                        .degrees = degrees && sp_model_has_shape(service->model),
                        .order = load->objective,
                        .points = points};
    return list_or_idle(&l);
}

int sp_serve_front(const struct sp_service *service, const struct sp_serve_load *load,
                   double machine_chips, bool degrees,
                   struct sp_serve_point points[SP_SERVE_POINTS])
{
    struct sp_serve_load full = *load;
    full.objective = SP_SERVE_THROUGHPUT; /* to the most that fit */
    struct listing l = {.service = service,
                        .load = &full,
                        .machine_chips = machine_chips,
                        .degrees = degrees && sp_model_has_shape(service->model),
                        .front = true,
                        .order = SP_SERVE_LATENCY,
                        .points = points};
    return list_or_idle(&l);
}

/* Lists instances of every size up to the machine's, with prompts processed elsewhere. */
static int list_parts(const struct sp_service *service, const struct sp_serve_load *load,
                      double machine_chips, bool degrees, struct sp_serve_point *points)
{
    struct listing l = {.service = service,
                        .load = load,
                        .machine_chips = machine_chips,
                        .degrees = degrees && sp_model_has_shape(service->model),
                        .parts = POOL,
                        .order = load->objective,
                        .points = points};
    return list_points(&l);
}

/* A prompt alone on an instance: its attention-DP ranks process as many together. */
static double prompt_s(const struct sp_serve_point *p)
{
    return p->attention_dp / p->steady.prompts_per_s;
}

/* Whether the first token is in time with prompts from the other kind. */
static bool reads_in_time(const struct sp_serve_load *load, const struct sp_serve_point *reads,
                          const struct sp_serve_point *generates)
{
    struct sp_steady y = generates->steady;
    y.ttft_s += prompt_s(reads) - prompt_s(generates);
    return sp_keeps_limits(&y, load);
}

/* The search for a division of a machine: the kinds of instances, and the best so far. */
struct division {
    const struct sp_service *service;
    const struct sp_serve_load *load; /* its limits; a rate that must be served, or 0 */
    double chips;
    struct sp_serve_point reads[SP_SERVE_POINTS], generates[SP_SERVE_POINTS];
    int n_reads, n_generates;
    bool estimated; /* prompts queue */
    double even;    /* requests/s of the best for evenly spaced requests */
    struct sp_serve_split best;
};

/* Serves as much as its limits allow, or the rate; false if it does not. Prompts queue, so that
 * neither pool is fully used. */
static bool serve_split(const struct division *d, struct sp_serve_split *s)
{
    struct sp_service reads = service_of(d->service, &s->reads);
    const struct sp_service generates = service_of(d->service, &s->generates);
    struct sp_serve_load load = *d->load;
    struct sp_serve_instance reader, generator;
    struct sp_serve_point *const p = &s->generates;
    reads.drafts = 0;
    reads.draft_model = NULL;
    load.readers = s->readers / s->generators;
    sp_prepare_instance(&reads, &load, &reader);
    sp_prepare_instance(&generates, &load, &generator);
    load.reading = &reader;
    load.transfer_s = sp_pools(&reader.served, &generator.served, 1, 1, 1, d->chips).transfer_s;
    if (load.rate > 0) {
        s->requests_per_s = load.rate;
        return sp_state_at_rate(&generator, &load, load.rate / s->generators, &p->sequences,
                                &p->steady) &&
               sp_keeps_limits(&p->steady, &load);
    }
    p->sequences = sp_sequences_of_load(&generator, &load, 1);
    if (!(p->sequences > 0))
        return false;
    p->steady = sp_state_of(&generator, &load, p->sequences);
    s->requests_per_s = s->generators * p->steady.requests_per_s;
    return true;
}

/* Tries a division. It serves no more than its slower pool does if requests come evenly spaced; by
 * the estimate, whose instances run a number between two whole ones, some more. */
static void try_split(struct division *d, struct sp_serve_split *s)
{
    const double even = s->requests_per_s, more = 1 + 1 / s->generates.sequences;
    const bool rated = d->load->rate > 0;
    const double asked = rated ? d->load->rate : d->best.requests_per_s;
    if (is_less(d->even, even) && reads_in_time(d->load, &s->reads, &s->generates))
        d->even = even;
    if (!d->estimated && d->even < even)
        return;
    if (d->estimated &&
        (even * more < asked || (rated && d->best.generators > 0) || !serve_split(d, s)))
        return;
    if (is_less(d->best.requests_per_s, s->requests_per_s))
        d->best = *s;
}

/* Tries all numbers of all kinds of instances. */
static bool find_split(struct division *d)
{
    d->best = (struct sp_serve_split){.requests_per_s = 0};
    for (int g = 0; g < d->n_generates; g++)
        for (int r = 0; r < d->n_reads; r++) {
            const struct sp_serve_point *const reads = &d->reads[r], *const makes =
                                                                         &d->generates[g];
            for (double n = 1; n * makes->chips + reads->chips <= d->chips; n++) {
                const double readers = floor((d->chips - n * makes->chips) / reads->chips);
                const double even =
                    fmin(readers * reads->steady.prompts_per_s, n * makes->steady.requests_per_s);
                struct sp_serve_split s = {*reads, *makes, readers, n, even, NAN};
                try_split(d, &s);
            }
        }
    return d->best.generators > 0;
}

bool sp_best_split(const struct sp_service *service, const struct sp_serve_load *load,
                   double machine_chips, bool degrees, struct sp_serve_split *best)
{
    struct sp_serve_load full = *load, any;
    full.concurrency = NAN;
    full.rate = 0;
    full.apart = true;
    full.objective = SP_SERVE_THROUGHPUT;
    struct division d = {.service = service,
                         .load = &full,
                         .chips = machine_chips,
                         .estimated = load->profile && isnan(load->step_s)};
    struct sp_serve_load evenly = full;
    evenly.ttft_s = INFINITY; /* of a pair: reads_in_time */
    any = evenly;
    any.tpot_s = INFINITY;
    any.concurrency = 1; /* a prompt without a queue */
    any.objective = SP_SERVE_TTFT;
    d.n_reads = list_parts(service, &any, machine_chips, degrees, d.reads);
    d.n_generates = list_parts(service, &evenly, machine_chips, degrees, d.generates);
    bool found = find_split(&d);
    if (found && load->rate > 0 && d.estimated) {
        full.rate = load->rate;
        found = serve_split(&d, &d.best) || find_split(&d);
    }
    *best = d.best;
    best->even_requests_per_s = d.even;
    return found;
}
