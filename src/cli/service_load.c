/* The load of a service: sequences that run, or requests that arrive. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/service.h"

static double or_else(double given, double otherwise)
{
    return isnan(given) ? otherwise : given;
}

struct sp_steady sp_state_of_service(const struct serve *f)
{
    if (f->instance.estimated)
        return sp_steady_of_estimate(&f->served, &f->said);
    return sp_steady(&f->served, f->load.apart ? &f->reader : NULL, sp_at_once(&f->service, f->B),
                     f->load.step_s);
}

double sp_generating(const struct serve *f)
{
    return f->holds_weights && f->instance.estimated ? f->said.decoding
                                                     : sp_at_once(&f->service, f->B);
}

double sp_holding(const struct serve *f)
{
    return f->is_split ? sp_generating(f) : sp_at_once(&f->service, f->B);
}

bool sp_service_fits(const struct serve *f)
{
    return f->holds_weights &&
           (!(f->served.kv_held > 0) || sp_holding(f) <= sp_most_sequences(&f->served));
}

bool sp_serves(const struct serve *f)
{
    const struct sp_steady y = sp_state_of_service(f);
    return sp_service_fits(f) && sp_in_time(f, &y, &f->load);
}

int sp_find_serve_points(const struct serve *f, struct sp_serve_point points[SP_SERVE_POINTS])
{
    const double machine = (double)sp_chips(&f->hw);
    const bool known = f->served.kv_held > 0 || f->args->given.concurrency;
    if (!known)
        return 0;
    struct sp_serve_load load = f->load;
    load.apart = f->args->given.step_time; /* instances that do both */
    load.readers = 0;
    if (f->args->given.front)
        return sp_serve_front(&f->service, &load, machine, !f->textbook, points);
    return sp_serve_points(&f->service, &load, machine, !f->textbook, points);
}

bool sp_arrives_by_rows(const struct serve *f)
{
    const bool given = f->args->given.concurrency || f->args->given.rate;
    return f->rows && f->rows->column[SP_TRACE_ARRIVAL] && f->rows->n > 1 && !given;
}

/* Chips of a stage that share each head. */
static double tp_of(const struct serve *f)
{
    return f->service.tp > 0 ? f->service.tp
                             : f->service.chips / (f->degrees.attention_dp * f->degrees.pp);
}

static bool divides_heads(const struct serve *f)
{
    return fmod((double)f->model.heads, tp_of(f)) == 0;
}

/* The instance of the load. Heads that its chips do not divide leave the estimate to its points. */
static void prepare_instance(struct serve *f)
{
    struct sp_serve_load load = f->load;
    if (!divides_heads(f))
        load.profile = NULL;
    sp_prepare_instance(&f->service, &load, &f->instance);
    f->served = f->instance.served;
    if (!f->is_split)
        return;
    sp_prepare_instance(&f->reader.service, &load, &f->reading);
    f->load.reading = &f->reading;
    f->load.readers = f->readers;
    f->load.transfer_s =
        sp_pools(&f->reader, &f->served, 1, 1, 1, (double)sp_chips(&f->hw)).transfer_s;
}

/* More requests arrive than the instance serves. */
static bool refuse_rate(struct serve *f, double rate, double most, struct sp_error *error)
{
    f->is_overrun = true;
    f->most_served = most;
    return sp_fail(error, SP_INPUT,
                   "--rate %.6g: this machine serves at most %.3g requests/s%s in instances of "
                   "%.0f chip%s",
                   rate, sp_round_down(most), sp_has_limits(&f->load) ? " in time" : "",
                   f->service.chips, f->service.chips == 1 ? "" : "s");
}

/* Chips of the machine for each of its instances, idle ones among them; one chip stands for any
 * number, so none of it is idle. */
static double share_of_machine(const struct serve *f, double used)
{
    const double all = (double)sp_chips(&f->hw);
    return all > 1 ? all / f->replicas : used;
}

/* Makes one of the listed instances the subject of the answer. */
static void take_point(struct serve *f, const struct sp_serve_point *p)
{
    f->service.chips = p->chips;
    f->service.tp = f->degrees.tp = p->tp;
    f->service.attention_dp = f->degrees.attention_dp = p->attention_dp;
    f->replicas = p->replicas;
    f->group_chips = share_of_machine(f, p->chips);
    sp_take_part(f, p->chips);
    sp_prepare_service(&f->service, &f->served);
}

/* Takes the best division of the machine into pools. The slower pool limits how many sequences
 * generate. */
static void take_split(struct serve *f)
{
    const struct sp_serve_split *const split = &f->split;
    struct sp_service reader = f->reader.service;
    reader.chips = split->reads.chips;
    reader.tp = split->reads.tp;
    reader.attention_dp = split->reads.attention_dp;
    sp_prepare_service(&reader, &f->reader);
    take_point(f, &split->generates);
    f->is_split = f->is_best = f->pooled = f->load.apart = true;
    f->replicas = split->generators;
    f->readers = split->readers / split->generators;
    f->group_chips = share_of_machine(f, split->generates.chips + f->readers * reader.chips);
}

/* Whether degrees and the number of instances are open. */
static bool is_open(const struct serve *f)
{
    const bool experts = f->args->given.ep || f->args->given.etp;
    const bool given = (!isnan(f->load.concurrency) || f->load.rate > 0) && !f->load.apart;
    return !(f->degrees.given || f->is_split || f->textbook || experts || sp_chips(&f->hw) == 1 ||
             !isnan(f->load.step_s)) &&
           (f->served.kv_held > 0 || given);
}

/* Whether pools are asked for, or may be better than instances that do both: within a limit of the
 * first token, which queues for the pool that reads. */
static bool tries_split(const struct serve *f)
{
    const enum sp_serve_objective goal = f->load.objective;
    return isnan(f->load.concurrency) &&
           (f->load.apart ||
            (f->may_split && !f->args->given.disaggregate && isfinite(f->load.ttft_s) &&
             f->load.profile && (goal == SP_SERVE_THROUGHPUT || goal == SP_SERVE_COST) &&
             !f->args->given.front && !sp_wants_simulation(f)));
}

/* Pools need a router and a network between them: nobody asked for them if they do not serve a
 * tenth more. */
#define PAYS 1.1

/* Takes the best instance by --objective, or the best split; returns its requests/s, 0 if none
 * serves the load. */
static double take_best(struct serve *f)
{
    struct sp_serve_point points[SP_SERVE_POINTS];
    const double machine = (double)sp_chips(&f->hw);
    const bool found =
        !f->load.apart && sp_serve_points(&f->service, &f->load, machine, true, points) > 0;
    const double together =
        found ? sp_total_of_instances(points[0].steady.requests_per_s, points[0].replicas) : 0;
    if (!(found && f->load.rate > 0) && tries_split(f) &&
        sp_best_split(&f->service, &f->load, machine, true, &f->split) &&
        f->split.requests_per_s > PAYS * together) {
        take_split(f);
        return f->split.requests_per_s;
    }
    if (found)
        take_point(f, &points[0]);
    return together;
}

/* None serves anything in time: the whole machine is one instance, or if its chips do not divide
 * the heads, the fastest that does. */
static void take_late(struct serve *f)
{
    const struct sp_serve_load asked = f->load;
    if (divides_heads(f))
        return;
    f->load.tpot_s = f->load.ttft_s = INFINITY;
    f->load.rate = 0;
    f->load.objective = SP_SERVE_LATENCY;
    take_best(f);
    f->load = asked;
}

/* Takes the best where degrees are open. If none serves --rate, refuses it with the most that is
 * served. */
static bool choose_instance(struct serve *f, struct sp_error *error)
{
    const double rate = f->load.rate;
    if (!is_open(f) || take_best(f) > 0)
        return true;
    f->load.rate = 0;
    const double most = rate > 0 ? take_best(f) : 0;
    f->load.rate = rate;
    if (most > 0)
        return refuse_rate(f, rate, most, error);
    take_late(f);
    return true;
}

/* Sequences of an instance that generates as many answers as its share of the split. */
static double sequences_of_split(const struct serve *f)
{
    const double rate = f->split.requests_per_s / f->split.generators;
    double low = 0, high = f->split.generates.sequences;
    if (f->split.generates.steady.requests_per_s <= rate * (1 + 1e-9))
        return high;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (sp_state_of(&f->instance, &f->load, middle).requests_per_s < rate)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Sequences that arrive at --rate. */
static bool take_rate(struct serve *f, struct sp_error *error)
{
    const struct sp_served *const reader = f->load.apart ? &f->reader : NULL;
    const double rate = f->load.rate, fit = sp_most_sequences(&f->served);
    double most = 0;
    if (f->instance.estimated) {
        struct sp_requests requests = sp_requests_of(&f->instance, &f->load, NAN);
        requests.rate = rate / f->replicas;
        f->said = sp_serve_estimate(&f->instance.pass, &requests);
        f->B = f->said.running;
        most = f->replicas * f->said.most_requests_per_s;
        if (isfinite(f->said.wait_s))
            return true;
    } else {
        const double in_time =
            sp_sequences_within(&f->served, reader, fit, f->load.tpot_s, f->load.step_s);
        f->B =
            sp_sequences_at_rate(&f->served, reader, in_time, rate / f->replicas, f->load.step_s);
        if (isfinite(f->B))
            return true;
        if (in_time > 0)
            most =
                f->replicas * sp_steady(&f->served, reader, in_time, f->load.step_s).requests_per_s;
    }
    return refuse_rate(f, rate, most, error);
}

/* The sequences of --concurrency, or as many as fit within the limits. */
static void take_concurrency(struct serve *f)
{
    f->B = isnan(f->load.concurrency) && !(f->served.kv_held > 0) ? 1
           : !f->is_best           ? sp_sequences_of_load(&f->instance, &f->load, f->replicas)
           : f->instance.estimated ? f->split.generates.sequences
                                   : sequences_of_split(f);
    if (!(f->B > 0)) /* one sequence, to tell how far it is from fitting, or from the limit */
        f->B = 1;
    sp_take_sequences(f, f->B);
}

void sp_take_sequences(struct serve *f, double sequences)
{
    f->B = sequences;
    if (!f->instance.estimated || f->load.rate > 0)
        return;
    const struct sp_requests requests = sp_requests_of(&f->instance, &f->load, f->B);
    f->said = sp_serve_estimate(&f->instance.pass, &requests);
}

static bool check_load(const struct serve *f, struct sp_error *error)
{
    if (f->args->given.concurrency && f->args->given.rate)
        return sp_fail(error, SP_INPUT, "--concurrency and --rate exclude each other");
    if (f->args->given.ttft && !(f->load.profile && isnan(f->load.step_s)))
        return sp_fail(error, SP_INPUT,
                       "--ttft needs the estimate, which needs a profile of chip and engine: "
                       "closed forms have no queue");
    return true;
}

bool sp_check_slo(const struct serve *f, struct sp_error *error)
{
    const struct sp_args *const args = f->args;
    const bool limited = args->given.ttft || args->given.tpot || args->given.rate;
    return limited || !args->value.check || !strstr(args->value.check, "slo") ||
           sp_arrives_by_rows(f) ||
           sp_fail(error, SP_USAGE, "--check slo needs limits: give --ttft, --tpot or --rate");
}

/* The sequences of a load on a prepared instance. */
static bool place_load(struct serve *f, struct sp_error *error)
{
    prepare_instance(f);
    f->holds_weights =
        f->served.weights + (f->served.draft ? f->draft.weights : 0) <= f->served.capacity;
    if (f->holds_weights && f->load.rate > 0)
        return take_rate(f, error);
    take_concurrency(f);
    return true;
}

/* Mean rate of the requests of a file. */
static double rate_of_rows(const struct serve *f)
{
    const double *const at = f->rows->column[SP_TRACE_ARRIVAL];
    const double span = at[f->rows->n - 1] - at[0], gaps = (double)(f->rows->n - 1);
    return span > 0 ? gaps / span : 0;
}

bool sp_load_sequences(struct serve *f, struct sp_error *error)
{
    f->load = (struct sp_serve_load){
        .concurrency = f->args->value.concurrency,
        .objective = (enum sp_serve_objective)f->args->value.objective,
        .rate = or_else(f->args->value.rate, 0),
        .tpot_s = or_else(f->args->value.tpot, INFINITY),
        .ttft_s = or_else(f->args->value.ttft, INFINITY),
        .percentile = strtod(sp_serve_percentiles[f->args->value.percentile], NULL),
        .step_s = f->args->value.step_time,
        .apart = f->pooled || f->args->given.step_time,
        .profile = f->profile.name[0] ? &f->profile : NULL,
    };
    if (!check_load(f, error))
        return false;
    if (sp_arrives_by_rows(f))
        f->load.rate = rate_of_rows(f);
    if (!choose_instance(f, error))
        return false;
    if (f->load.profile && !divides_heads(f))
        sp_note(f->report,
                "%.0f chips do not divide the %lld heads of %s: the estimate is for the instances "
                "listed, or for --tp",
                tp_of(f), (long long)f->model.heads, f->model.name);
    return place_load(f, error);
}

/* Requests per second beyond which the queue of placed requests grows without end. */
static double most_of_queue(const struct serve *f)
{
    return sp_total_of_instances(f->instance.estimated ? f->said.most_requests_per_s
                                                       : sp_state_of_service(f).requests_per_s,
                                 f->replicas);
}

bool sp_load_most(struct serve *f, struct sp_error *error)
{
    const double rate = f->load.rate;
    if (!f->is_overrun)
        return false;
    *error = (struct sp_error){0};
    f->load.rate = 0;
    const bool placed = choose_instance(f, error) && place_load(f, error);
    if (sp_has_limits(&f->load) && placed) /* a queue that does not grow may still be too slow */
        f->most_served =
            sp_serves(f) ? sp_total_of_instances(sp_state_of_service(f).requests_per_s, f->replicas)
                         : 0;
    else
        f->most_served = fmax(f->most_served, most_of_queue(f));
    f->load.rate = rate;
    return placed;
}

/* Whether a machine with this number of chips, divided into instances, serves the load. */
static bool serves_on(const struct serve *f, double chips)
{
    struct sp_serve_point points[SP_SERVE_POINTS];
    const int n = sp_serve_points(&f->service, &f->load, chips, true, points);
    for (int i = 0; i < n; i++)
        if (points[i].chips <= chips) /* one chip without a count means any number */
            return true;
    return false;
}

/* Number of chips below which no machine serves --rate, each at the highest rate of the best
 * instance. The margin allows for the small difference between the sequences that run and those
 * that arrive. */
static double least_to_serve(const struct serve *f)
{
    struct sp_serve_point points[SP_SERVE_POINTS];
    struct sp_serve_load full = f->load;
    full.rate = 0;
    full.concurrency = NAN;
    full.ttft_s = INFINITY;
    full.objective = SP_SERVE_COST;
    if (sp_serve_points(&f->service, &full, 1, true, points) == 0)
        return NAN;
    return fmax(1, floor(0.9 * f->load.rate * points[0].chips / points[0].steady.requests_per_s));
}

double sp_fewest_to_serve(const struct serve *f)
{
    enum { TIMES = 8 }; /* try at most this multiple of the minimum */
    const struct sp_network *const net = &f->hw.network;
    if (!(f->load.rate > 0) || f->degrees.given || f->args->given.disaggregate || f->load.apart ||
        f->textbook || !(f->served.kv_held > 0) || sp_wants_simulation(f))
        return NAN;
    const double least = least_to_serve(f);
    const double most = fmax(TIMES * least, 4 * (double)net->domain);
    if (!(least <= most) || least > (double)INT32_MAX)
        return NAN;
    for (int64_t chips = sp_nearest_chips(net, (int64_t)least, true);
         chips > 0 && (double)chips <= most; chips = sp_nearest_chips(net, chips + 1, true))
        if (serves_on(f, (double)chips))
            return (double)chips;
    return NAN;
}

bool sp_move_service(const struct serve *from, const struct sp_hardware *hw, struct serve *f)
{
    const double groups = (double)sp_chips(hw) / from->group_chips, replicas = round(groups);
    struct sp_error more_come = {0}; /* than are served */
    if (replicas < 1 || fabs(replicas - groups) > 1e-9 * groups ||
        replicas > fmax(from->replicas, from->load.concurrency))
        return false;
    *f = *from;
    f->hw = *hw;
    f->replicas = replicas;
    sp_take_part(f, f->service.chips);
    f->service.hw = f->reader.service.hw = &f->part;
    if (f->load.apart) {
        const struct sp_service reader = f->reader.service;
        sp_prepare_service(&reader, &f->reader);
    }
    return place_load(f, &more_come);
}
