/* Goals of serving: the values that `serve` gives for a machine. */
#include <math.h>
#include <string.h>

#include "cli/goal.h"

/* Arguments for `serve`: those of its options that are given here. */
static bool take_words(const struct sp_args *args, struct sp_args *service, struct sp_error *error)
{
    char *words[] = {"serve", NULL};
    const struct sp_command *const serve = sp_find_command(words[0], error);
    if (!serve || !sp_parse_command(serve, 1, words, service, error))
        return false;
    for (size_t i = 0; i < service->n_options; i++) {
        const struct sp_option *const option = &service->options[i];
        if (args->given_at[option->id] && option->kind != SP_MANY && option->kind != SP_FLAG &&
            option->kind != SP_MAYBE &&
            !sp_take_text(service, option->id, args->text[option->id], error))
            return false;
    }
    for (int i = 0; i < args->n_many; i++)
        service->many[service->n_many++] = args->many[i];
    service->world = args->world;
    return true;
}

/* Options of a training run have no meaning for a service. */
static bool check_words(const struct sp_args *args, const struct sp_args *service,
                        struct sp_error *error)
{
    static const enum sp_option_id own[] = {SP_O_goal, SP_O_vary, SP_O_delta, SP_O_replan};
    for (size_t i = 0; i < args->n_options; i++) {
        const enum sp_option_id id = args->options[i].id;
        bool known = !args->given_at[id] || sp_option_taken(service, id);
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            known = known || id == own[k];
        if (!known)
            return sp_fail(error, SP_USAGE, "--%s is for training goals", args->options[i].name);
    }
    return true;
}

/* The options that the goal needs, and the load that --replan needs. */
static bool check_goal(const struct sp_aim *aim, struct sp_error *error)
{
    const struct sp_serve_load *const load = &aim->asked;
    if (aim->of.kind == SP_AIM_SERVED_COST && !(aim->serve.price.usd_per_h > 0))
        return sp_fail(error, SP_INPUT, "--for usd-per-mtoken: %s has no list price: give --price",
                       aim->serve.hw.name);
    if (!aim->of.replan)
        return true;
    if (aim->serve.degrees.given && aim->inverse)
        return sp_fail(error, SP_USAGE,
                       "--replan searches for the best degrees: omit --tp, --pp, --attention-dp "
                       "and --replicas");
    return aim->of.kind == SP_AIM_SERVED || aim->of.kind == SP_AIM_SERVED_COST ||
           !isnan(load->concurrency) ||
           sp_fail(error, SP_USAGE,
                   "--replan with --for tpot or ttft needs --concurrency: otherwise one request at "
                   "a time is fastest");
}

/* A service keeps the instances and sequences that it has on the unchanged machine: with more
 * memory more sequences would run and tokens would come more slowly, so tpot would not be monotone
 * in any figure. More chips are more of the same instances. */
bool sp_take_service(struct sp_aim *aim, struct sp_error *error)
{
    if (aim->of.power_prior)
        return sp_fail(error, SP_USAGE,
                       "--power-prior is for training goals: serving constants do not depend on "
                       "figures of the chip");
    if (!take_words(aim->args, &aim->service, error) ||
        !check_words(aim->args, &aim->service, error))
        return false;
    const struct sp_sources sources = sp_sources_of(&aim->service);
    struct sp_report *const notes = sp_report_new("serve");
    struct serve *const f = &aim->serve;
    *f = (struct serve){.args = &aim->service, .report = notes, .textbook = sources.textbook};
    const bool loaded = sp_load_service(f, &sources, error) && sp_load_sequences(f, error);
    f->report = NULL;
    sp_report_free(notes);
    if (!loaded)
        return false;
    aim->asked = f->load;
    f->load.concurrency = f->B * f->replicas; /* the sequences that the unchanged machine holds */
    f->hw.chip.price_usd_per_h = f->price.usd_per_h;
    aim->demand.peaks[sp_compute_dtype(&f->hw.chip, f->service.math)] = true;
    return check_goal(aim, error);
}

/* The goal's value in state `y`, with `chips` per replica. */
static double value_of(const struct sp_aim *aim, const struct sp_steady *y, double replicas,
                       double chips, double usd_per_h)
{
    const struct sp_service *const s = &aim->serve.service;
    switch (aim->of.kind) {
    case SP_AIM_TPOT:
        return y->tpot_s;
    case SP_AIM_TTFT:
        return y->ttft_s;
    case SP_AIM_SERVED_COST:
        return sp_usd_per_mtoken(
            sp_chip_seconds_of_token(&(struct sp_serve_point){.paid_chips = chips, .steady = *y},
                                     s->input, s->output),
            usd_per_h);
    default:
        return replicas * y->tokens_per_s;
    }
}

/* Whether the instance can run its load. In the estimate, requests may wait for a slot as long as
 * at least one runs; but not if the goal is the time between tokens: fewer running requests would
 * be faster, and less memory better. */
static bool runs(const struct sp_aim *aim, const struct serve *f)
{
    const double most = sp_most_sequences(&f->served);
    const bool may_wait = f->instance.estimated && aim->of.kind != SP_AIM_TPOT;
    return f->holds_weights && most >= (may_wait ? 1 : f->B);
}

void sp_note_service(struct sp_report *r, const struct sp_aim *aim)
{
    const struct serve *const f = &aim->serve;
    const double most = f->holds_weights ? sp_most_sequences(&f->served) : 0;
    if (f->B > most)
        sp_note(r, "an instance has room for %.0f of its %.4g sequences%s", most, f->B,
                runs(aim, f) ? ": the others wait" : ", and fewer do not meet the goal");
}

static bool is_less(const struct sp_aim *aim, double a, double b)
{
    return aim->demand.at_least ? a > b : a < b;
}

/* The best value of all instances of `serve` that fit on the machine, if it is better than `value`.
 * Latencies need --concurrency: one request at a time is the fastest on every machine. */
static double value_replanned(const struct sp_aim *aim, const struct sp_hardware *hw, double value)
{
    static const enum sp_serve_objective objectives[SP_AIMS] = {
        [SP_AIM_TPOT] = SP_SERVE_LATENCY,
        [SP_AIM_TTFT] = SP_SERVE_TTFT,
        [SP_AIM_SERVED] = SP_SERVE_THROUGHPUT,
        [SP_AIM_SERVED_COST] = SP_SERVE_COST,
    };
    struct sp_serve_point points[SP_SERVE_POINTS];
    struct sp_service service = aim->serve.service;
    struct sp_serve_load load = aim->asked;
    const double chips = (double)sp_chips(hw);
    service.hw = hw;
    service.chips = chips;
    if (chips == 1) /* there is one instance */
        return value;
    load.objective = objectives[aim->of.kind];
    if (sp_serve_points(&service, &load, chips, !aim->serve.textbook, points) == 0)
        return value;
    const double best = value_of(aim, &points[0].steady, points[0].replicas, points[0].chips,
                                 hw->chip.price_usd_per_h);
    return isnan(value) || is_less(aim, best, value) ? best : value;
}

double sp_value_of_service(const struct sp_hardware *hw, void *context)
{
    const struct sp_aim *const aim = context;
    struct serve f;
    double value = NAN;
    if (sp_move_service(&aim->serve, hw, &f)) {
        const struct sp_steady y = sp_state_of_service(&f);
        value = runs(aim, &f)
                    ? value_of(aim, &y, f.replicas, f.group_chips, hw->chip.price_usd_per_h)
                : aim->demand.at_least ? 0
                                       : INFINITY;
    }
    return aim->of.replan ? value_replanned(aim, hw, value) : value;
}
