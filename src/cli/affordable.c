/* The size, tokens and machine that a budget and a deadline buy. */
#include "cli/affordable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/forms.h>

#include "base/json.h"
#include "base/list.h"
#include "base/memory.h"
#include "cli/searching.h"
#include "cli/words.h"
#include "study/failures.h"
#include "study/shapes.h"

/* Rounds on a machine: a shape's own FLOPs change the law's size, which may then be nearest to
 * another shape. */
enum { MOST_SHAPES = 4 };

enum { MOST_KNOWN = 256 };

/* The numbers of devices that are tried range from this share of the number that spends the budget
 * in time to as many times more. */
#define LEAST_SHARE 0.75
#define MOST_DEVICES 1e6

/* A batch that no odd factor of the devices shares. */
#define ROUND_BATCH (INT64_C(1) << 30)

enum { MOST_COUNTS = 2 * SP_MAX_VARIANTS };

/* Utilisation assumed for the first size. */
#define FIRST_MFU 0.4

/* The question, and the machine being tried. */
struct buying {
    const struct sp_args *asked;
    const struct sp_sources *sources;
    const struct sp_scaling_law *law;
    double budget, days; /* INFINITY: no limit */
    struct sp_site site;
    struct sp_hardware hw;
    struct sp_price price;
    char usd_per_h[32];                      /* only the typed price of that machine; "": none */
    struct sp_known_shape shape[MOST_KNOWN]; /* none where the model is given */
    size_t shapes;
};

/* The options of the question with a machine and a model in them; free() it. */
static struct sp_args *args_of(const struct buying *b, const char *hw, const char *model)
{
    struct sp_args *const args = sp_new_args(NULL);
    sp_copy_args(args, b->asked);
    args->value.hw = args->text[SP_O_hw] = hw;
    args->given.hw = true;
    if (b->usd_per_h[0])
        args->value.price = args->text[SP_O_price] = b->usd_per_h;
    if (model) {
        args->value.model = args->text[SP_O_model] = model;
        args->given.model = true;
    }
    return args;
}

/* Command lines that ask the same question: machine and model by name, numbers in full. */
static void write_lines(const struct buying *b, const struct sp_searching *s,
                        const struct sp_plan *plan, struct sp_affordable *a)
{
    static const enum sp_option_id of_search[] = {SP_O_model,     SP_O_shape,     SP_O_network,
                                                  SP_O_framework, SP_O_precision, SP_O_config_dir,
                                                  SP_NO_OPTION};
    static const enum sp_option_id of_train[] = {SP_O_model,     SP_O_shape, SP_O_config_dir,
                                                 SP_O_precision, SP_O_site,  SP_NO_OPTION};
    struct sp_words search = {0}, train = {0};
    struct sp_words *const both[] = {&search, &train};
    sp_add_word(&search, "search");
    sp_add_word(&train, "train");
    sp_add_given(&search, b->asked, of_search);
    sp_add_given(&train, b->asked, of_train);
    for (int i = 0; i < 2; i++) {
        if (a->model[0])
            sp_add_option(both[i], "model", a->model);
        sp_add_option(both[i], "hw", a->hw);
        sp_add_word(both[i], "--batch");
        sp_add_word(both[i], "%lldx%lld", (long long)plan->batch, (long long)plan->seq);
        sp_add_word(both[i], "--tokens");
        sp_add_word(both[i], "%.0f", a->tokens);
        if (b->usd_per_h[0])
            sp_add_option(both[i], "price", b->usd_per_h);
    }
    char rate[32];
    sp_format_double(sp_tokens_over_time(a->batch_tokens, a->run_step_s), rate, sizeof rate);
    sp_add_option(&train, "tokens-per-s", rate);
    a->search = sp_shell_line(&search);
    a->train = sp_shell_line(&train);
    a->step = sp_step_line(s, s->of.machine[0], plan, NULL);
    sp_free_words(&search);
    sp_free_words(&train);
}

/* The steps of a run that keeps the limits with its start, checkpoints and failures, as `train`
 * counts them. */
static void take_steps(const struct buying *b, const struct sp_planned *p, struct sp_affordable *a)
{
    const double bytes = sp_checkpoint_state_bytes(sp_count_params(&p->model).trained,
                                                   sp_checkpoint_bytes_per_param(&p->precision));
    const struct sp_failing_run run =
        sp_run_on_site(&b->site, b->sources->textbook, a->devices, bytes, NAN, NAN);
    a->first_step_s = run.first_step_s;
    a->goodput = sp_failures_of(&run).goodput;
    a->within_days = sp_days_within(b->days, b->budget, a->devices, b->price.usd_per_h);
    a->useful_days = sp_useful_days(a->within_days, a->goodput, a->first_step_s);
    a->steps = sp_steps_within(a->useful_days, a->run_step_s);
    a->tokens = sp_tokens_of_steps(a->steps, a->batch_tokens);
    a->seconds = a->steps * a->run_step_s;
    a->wall_s = sp_wall_s(a->seconds, a->goodput, a->first_step_s);
}

/* The run of the first plan of a finished search. */
static void take_first(const struct buying *b, const struct sp_searching *s,
                       struct sp_affordable *a)
{
    const struct sp_candidate *const m = s->of.machine[0];
    struct sp_planned planned;
    struct sp_estimate e;
    sp_planned_of(&m->base, &m->result.best.found[0], &planned);
    sp_estimate_planned(&planned, SP_FLOPS_6P, SP_WITH_RANGE | SP_WITH_RATES, &e);
    a->devices = (double)sp_chips(&planned.hw);
    a->params = sp_params_of_law(b->law, &planned.model);
    a->step_s = e.time.step;
    a->run_step_s = sp_run_step_s(&s->of, &m->result.best.found[0]);
    a->low_s = e.low_s;
    a->high_s = e.high_s;
    a->mfu = e.rates.mfu;
    a->batch_tokens = sp_batch_tokens((double)planned.plan.batch, (double)planned.plan.seq);
    a->usd_per_step = sp_cost_usd(a->devices, a->run_step_s, b->price.usd_per_h);
    take_steps(b, &planned, a);
    a->flops = sp_training_flops(a->params, a->tokens);
    write_lines(b, s, &planned.plan, a);
}

/* Searches for plans of a model on a machine, with any batch close to the requested one. The run
 * computes nothing if no plan fits. */
static bool run_of(const struct buying *b, const char *hw, const char *model,
                   struct sp_affordable *a, struct sp_error *error)
{
    struct sp_searching s;
    struct sp_args *const args = args_of(b, hw, model[0] ? model : NULL);
    bool ok = sp_open_search(args, b->sources, NULL, &s, error);
    *a = (struct sp_affordable){.price = b->price, .budget = b->budget, .most_days = b->days};
    if (ok) {
        s.of.machine[0]->base.problem.batch.is_about = true;
        sp_look(&s, 0);
        sp_finish_search(&s.of);
        snprintf(a->hw, sizeof a->hw, "%s", hw);
        snprintf(a->model, sizeof a->model, "%s", model);
        if (s.of.machine[0]->result.best.n > 0)
            take_first(b, &s, a);
    }
    sp_close_search(&s.of);
    free(args);
    return ok;
}

/* The nearest known shape to a size; NULL if one of the fewer than MOST_SHAPES shapes tried before
 * it has that name. */
static const struct sp_known_shape *next_shape(const struct buying *b, double params,
                                               const struct sp_known_shape **before, int n)
{
    const struct sp_known_shape *nearest = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < b->shapes; i++) {
        const double apart = fabs(log(b->shape[i].params / params));
        if (apart < least) {
            least = apart;
            nearest = &b->shape[i];
        }
    }
    for (int i = 0; i < n; i++)
        if (before[i] == nearest)
            return NULL;
    return nearest;
}

/* The run on a machine whose shape is nearest to the law's size for the FLOPs that it computes.
 * *params is the size to begin with, and becomes the last one. */
static bool settle(const struct buying *b, const char *hw, double *params, struct sp_affordable *a,
                   struct sp_error *error)
{
    const struct sp_known_shape *tried[MOST_SHAPES];
    *a = (struct sp_affordable){0};
    if (b->shapes == 0)
        return run_of(b, hw, "", a, error);
    for (int i = 0; i < MOST_SHAPES; i++) {
        const struct sp_known_shape *const shape = next_shape(b, *params, tried, i);
        if (!shape)
            break;
        tried[i] = shape;
        sp_free_affordable(a, 1);
        if (!run_of(b, hw, shape->name, a, error))
            return false;
        *params = a->flops > 0 ? sp_law_optimal_params(b->law, a->flops) : shape->params / 2;
    }
    return true;
}

/* The numbers of devices from `least` to the first that is at least `most`, those with fewer odd
 * factors than any larger. */
static int list_between(const struct buying *b, double least, double most, int64_t *counts)
{
    struct sp_hardware hw = b->hw;
    struct sp_variant list[SP_MAX_VARIANTS];
    const int64_t exact = (int64_t)fmin(fmax(ceil(most), 1), MOST_DEVICES);
    const int64_t above = sp_nearest_chips(&hw.network, exact, true);
    const struct sp_tolerance tolerance = {.least = (int64_t)ceil(least), .batch = ROUND_BATCH};
    if (!sp_take_slice(&hw, above > 0 ? above : sp_nearest_chips(&hw.network, exact, false)))
        return 0;
    const int n = sp_list_variants(&hw, &tolerance, list);
    for (int i = 0; i < n; i++)
        counts[i] = list[i].devices;
    return n;
}

/* The numbers of devices to try: the typed one, else those near the number that spends the budget
 * in time. Fewer devices leave money unspent, more take less time. */
static int list_counts(const struct buying *b, const char *typed, int64_t counts[MOST_COUNTS])
{
    counts[0] = sp_chips(&b->hw);
    if (sp_is_counted(&b->hw, typed))
        return 1;
    const double exact = sp_devices_for_budget(b->budget, b->price.usd_per_h, b->days);
    const int n = list_between(b, LEAST_SHARE * exact, exact, counts);
    return n + list_between(b, exact + 1, exact / LEAST_SHARE, counts + n);
}

/* The run with most FLOPs on a machine of --hw. */
static bool buy_on(struct buying *b, const char *typed, struct sp_affordable *best,
                   struct sp_error *error)
{
    int64_t counts[MOST_COUNTS] = {0};
    const int n = list_counts(b, typed, counts);
    double params = sp_law_optimal_params(
        b->law, FIRST_MFU * (double)counts[0] * b->hw.chip.peak_flops_per_s[SP_BF16] * 86400 *
                    fmin(b->days, b->budget / ((double)counts[0] * 24 * b->price.usd_per_h)));
    *best = (struct sp_affordable){0};
    for (int i = 0; i < n; i++) {
        char hw[128];
        struct sp_hardware of = b->hw;
        struct sp_affordable one;
        snprintf(hw, sizeof hw, "%s", typed);
        if (counts[i] != sp_chips(&of) && sp_take_devices(&of, counts[i]))
            sp_name_machine(&of, typed, hw, sizeof hw);
        if (!settle(b, hw, &params, &one, error))
            return false;
        if (i == 0 || one.flops > best->flops) {
            const struct sp_affordable before = *best;
            *best = one;
            one = before;
        }
        sp_free_affordable(&one, 1);
    }
    return true;
}

/* The machine of --hw, and the price of an hour of one of its devices. */
static bool open_machine(struct buying *b, const char *typed, struct sp_error *error)
{
    b->usd_per_h[0] = '\0';
    struct sp_args *const args = args_of(b, typed, NULL);
    const bool ok = sp_hardware_of(args, b->sources, &b->hw, error) &&
                    sp_price_of(args, &b->hw, typed, &b->price, error);
    free(args);
    if (!ok)
        return false;
    if (b->price.is_typed)
        sp_format_double(b->price.usd_per_h, b->usd_per_h, sizeof b->usd_per_h);
    if (isfinite(b->budget) && isnan(b->price.usd_per_h))
        return sp_fail(error, SP_INPUT, "no price for %s: give --price %s=USD", b->hw.name,
                       b->hw.name);
    return (isfinite(b->budget) && isfinite(b->days)) || sp_is_counted(&b->hw, typed) ||
           sp_fail(error, SP_USAGE,
                   "--hw %s: give a number of devices, such as %s-512, or both --budget and --days",
                   sp_safe(typed), b->hw.name);
}

static int by_flops(const void *a, const void *b)
{
    const struct sp_affordable *const x = a, *const y = b;
    return (x->flops < y->flops) - (x->flops > y->flops);
}

int sp_find_affordable(const struct sp_args *args, const struct sp_sources *sources,
                       const struct sp_scaling_law *law,
                       struct sp_affordable found[SP_MOST_AFFORDABLE], struct sp_error *error)
{
    const double budget = args->value.budget, days = args->value.days;
    const char *list = args->value.hw;
    char typed[128];
    int n = 0;
    struct sp_hardware *const hw = sp_must(calloc(SP_MOST_AFFORDABLE, sizeof *hw));
    const struct sp_hardware *machines[SP_MOST_AFFORDABLE];
    const char *specs[SP_MOST_AFFORDABLE];
    struct buying *const b = sp_must(calloc(1, sizeof *b));
    memset(found, 0, SP_MOST_AFFORDABLE * sizeof *found);
    *b = (struct buying){.asked = args,
                         .sources = sources,
                         .law = law,
                         .budget = isnan(budget) ? INFINITY : budget,
                         .days = isnan(days) ? INFINITY : days};
    if (!sp_load_site(args->value.site, sources, &b->site, error)) {
        free(hw);
        free(b);
        return -1;
    }
    if (!args->given.model && !args->given.shape)
        b->shapes = sp_nearest_shapes(1, law, sources, b->shape, MOST_KNOWN);
    while (sp_next_item(&list, typed, sizeof typed)) {
        if (n == SP_MOST_AFFORDABLE)
            sp_fail(error, SP_INPUT, "--hw: more than %d machines", SP_MOST_AFFORDABLE);
        else if (open_machine(b, typed, error) && buy_on(b, typed, &found[n], error)) {
            hw[n] = b->hw;
            machines[n] = &hw[n];
            specs[n] = found[n].hw;
            n++;
        }
        if (error->lines > 0)
            break;
    }
    if (error->lines == 0)
        sp_check_price(args, machines, specs, n, error);
    free(hw);
    free(b);
    if (error->lines > 0) {
        sp_free_affordable(found, SP_MOST_AFFORDABLE);
        return -1;
    }
    qsort(found, (size_t)n, sizeof *found, by_flops);
    return n;
}

void sp_free_affordable(struct sp_affordable *found, int n)
{
    for (int i = 0; i < n; i++) {
        free(found[i].search);
        free(found[i].step);
        free(found[i].train);
        found[i].search = found[i].step = found[i].train = NULL;
    }
}
