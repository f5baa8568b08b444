/* scaling: the model and tokens that a compute budget buys, by published scaling laws. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/training.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/read_file.h"
#include "cli/affordable.h"
#include "cli/plan_options.h"
#include "config/world.h"
#include "pictures/curves.h"
#include "study/laws.h"

static const struct sp_taken options[] = {
    SP_TAKE(flops, .alias = "compute"),
    SP_OPTIONS_SIZED_MODEL,
    SP_TAKE(tokens),
    SP_TAKE(unique_tokens, .needs = SP_THESE(SP_O_tokens)),
    SP_TAKE(loss),
    SP_TAKE(probabilities, .excludes = SP_THESE(SP_O_loss)),
    SP_TAKE(losses, .excludes = SP_THESE(SP_O_loss, SP_O_probabilities)),
    SP_TAKE(vocab),
    SP_TAKE(bytes_per_token),
    SP_TAKE(law, .fallback = "chinchilla"),
    SP_OPTION_PLOT,
    SP_OPTION_BATCH,
    SP_TAKE(noise_scale, .needs = SP_THESE(SP_O_batch)),
    SP_TAKE(year),
    SP_TAKE(since, .fallback = "2014"),
    SP_TAKE(compute_trend, .fallback = "training-compute"),
    SP_TAKE(algorithms_trend, .fallback = "algorithms"),
    SP_TAKE(from_batch, .needs = SP_THESE(SP_O_batch)),
    SP_TAKE(hw, .excludes = SP_THESE(SP_O_flops, SP_O_params, SP_O_tokens, SP_O_loss)),
    SP_TAKE(budget, .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(days, .alias = "deadline", .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(price, .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(site, .needs = SP_THESE(SP_O_hw), .fallback = SP_DEFAULT_SITE),
    SP_OPTION_NETWORK,
    SP_TAKE(seq, .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(framework, .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(precision, .needs = SP_THESE(SP_O_hw)),
};

static const struct sp_example examples[] = {
    {"scaling --flops 5.76e23", "optimal size and tokens by Chinchilla and other laws"},
    {"scaling --model llama3-8b --tokens 15T --law besiroglu",
     "loss of a model trained far beyond the optimum"},
    {"scaling --params 7B --loss 2.2 --get tokens", "tokens that reach a loss"},
    {"scaling --flops 1e21 --batch 4M --noise-scale 2M --from-batch 1M",
     "what a larger batch buys"},
    {"scaling --params 1B --tokens 100B --unique-tokens 25B", "four passes over the same text"},
    {"scaling --probabilities 0.5,0.25,0.125 --vocab 50257",
     "cross-entropy, perplexity, initial loss"},
    {"scaling --year 2023", "effective compute relative to 2014, and its share of compute"},
    {"scaling --budget 2M --days 60 --hw h100,b200 --price h100=2.2,b200=4",
     "the size, tokens and machine that a budget and a time buy"},
    {NULL, NULL},
};

/* The source of the budget. */
enum flops_from { FLOPS_GIVEN, FLOPS_OF_RUN, FLOPS_FOR_LOSS, FLOPS_FOR_PARAMS, FLOPS_FOR_TOKENS };

/* The question, and the values shown by the rows of scaling.def. */
struct scaling {
    const struct sp_option_values *v;
    struct sp_sources sources;
    struct sp_scaling_law law;
    struct sp_config file;     /* of the law; open while `has_file` */
    const char *source, *note; /* facts from the law's file; NULL: none */
    struct sp_law_power optimum;
    struct sp_scaling_run given, run, best; /* best: compute-optimal for the budget of the run */
    const char *params_given, *tokens_given, *flops_given; /* the text after each */
    double batch, from, noise;                             /* tokens; NAN: not given */
    double useful;      /* tokens of tiny batches that the run's tokens are worth */
    double year, since; /* year NAN: not given */
    double unique;      /* tokens of different text; NAN: all are */
    double base_params; /* compute-optimal for them, at most those of the run */
    double worth_N, worth_D;
    double least;   /* loss that the law allows */
    double entropy; /* nats per token: that of --probabilities or --losses, else the run's */
    struct sp_loss_curve curve; /* of --losses */
    double vocab;
    struct sp_trend_file compute, algorithms;
    struct sp_progress progress;
    struct sp_affordable found[SP_MOST_AFFORDABLE]; /* with --hw: one per machine, best first */
    double days, budget;                            /* most of the run; NAN: not given */
    int n_found, n_given;
    enum flops_from flops_from;
    bool has_params, has_tokens, has_loss; /* given */
    bool has_file, sum, kaplan, has_run, has_batch, has_year, shows_entropy, is_measured, too_low;
};

/* Whether a trend is extrapolated beyond the observed years. */
static bool is_beyond(const struct scaling *s, const struct sp_trend *t)
{
    const double first = (double)t->first_year, last = (double)t->last_year;
    return s->has_year && ((first > 0 && s->since < first) || (last > 0 && s->year > last + 1));
}

#define SP_PART scaling_machine
#define SP_PART_OF struct sp_affordable
#include "answer/put_rows.h"

static const struct sp_price *price_of(const void *found, int i)
{
    return &((const struct sp_affordable *)found)[i].price;
}

/* The best run, and the others beside it. */
static void put_machines(struct sp_report *report, const struct scaling *s)
{
    sp_scope(report, "best");
    put_scaling_machine_rows(report, s->found);
    sp_scope(report, "");
    sp_note_prices(report, s->found, s->n_found, price_of);
    for (int i = 0; i < s->n_found; i++) {
        sp_begin_row(report, s->found[i].hw, "machines.%d", i);
        put_scaling_machine_rows(report, &s->found[i]);
    }
    sp_scope(report, "");
}

#define SP_PART scaling_losses
#define SP_PART_OF struct sp_loss_curve
#include "answer/put_rows.h"

static void put_losses(struct sp_report *report, const struct scaling *s)
{
    if (!SP_IN_PAGE)
        put_scaling_losses_rows(report, &s->curve);
}

#define SP_PART scaling
#define SP_PART_OF struct scaling
#include "answer/put_rows.h"

#define SP_PART scaling_law
#define SP_PART_OF struct sp_law_answer
#include "answer/put_rows.h"

static bool take_size(const struct sp_args *args, struct scaling *s, struct sp_error *error)
{
    struct sp_model model;
    s->given.params = args->value.params;
    if (!args->given.model && !args->given.shape)
        return true;
    if (!sp_model_of(args, &s->sources, &model, error))
        return false;
    if (sp_takes_pictures(&model))
        return sp_fail(error, SP_INPUT, "%s takes images; these laws are for text", model.name);
    s->given.params = sp_params_of_law(&s->law, &model);
    if (isnan(s->vocab) && model.vocab > 0)
        s->vocab = (double)model.vocab;
    return true;
}

/* The mean of -ln p. */
static bool take_probabilities(const struct sp_args *args, struct scaling *s,
                               struct sp_error *error)
{
    const char *list = args->value.probabilities;
    char word[64];
    double sum = 0;
    int n = 0;
    s->entropy = NAN;
    s->is_measured = list != NULL;
    while (list && sp_next_item(&list, word, sizeof word)) {
        double p;
        if (!sp_parse_number(word, &p) || !(p > 0 && p <= 1))
            return sp_fail(error, SP_INPUT,
                           "--probabilities: \"%s\": expected a number above 0, up to 1",
                           sp_safe(word));
        sum -= log(p);
        s->entropy = sum / ++n;
    }
    return true;
}

/* The numbers of a text between blanks, commas and line ends; free() them. NULL with an error. */
static double *read_losses(const char *text, size_t *n, struct sp_error *error)
{
    static const char between[] = ", \t\r\n";
    double *losses = NULL;
    size_t room = 0;
    char word[64];
    for (*n = 0; text += strspn(text, between), *text; text += strcspn(text, between)) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(text, between), text);
        losses = sp_grow(losses, *n + 1, &room, sizeof *losses);
        if (!sp_parse_number(word, &losses[(*n)++])) {
            free(losses);
            sp_fail(error, SP_INPUT, "--losses: \"%s\", value %zu: expected a loss, such as 2.31",
                    sp_safe(word), *n);
            return NULL;
        }
    }
    if (*n >= SP_FEWEST_LOSSES)
        return losses;
    free(losses);
    sp_fail(error, SP_INPUT, "--losses: %zu values; expected at least %d", *n, SP_FEWEST_LOSSES);
    return NULL;
}

/* The course of a list, which has commas, or of a file. */
static bool take_losses(const char *list, struct scaling *s, struct sp_error *error)
{
    enum { MOST_BYTES = 1 << 28 };
    size_t n;
    if (!list)
        return true;
    if (SP_IN_PAGE)
        return sp_refuse_in_page(error);
    char *const text = strchr(list, ',') ? sp_make_text("%s", list)
                                         : sp_read_file(sp_pipes_of(s->sources.world), list,
                                                        MOST_BYTES, &n, error);
    double *const losses = text ? read_losses(text, &n, error) : NULL;
    free(text);
    if (losses)
        s->curve = sp_read_loss_curve(losses, n);
    free(losses);
    return losses != NULL;
}

/* The worth of repeated tokens of the same text, and the size of a run with that little text. */
static bool weigh_repeats(struct scaling *s, struct sp_error *error)
{
    if (isnan(s->unique))
        return true;
    if (s->law.form != SP_FORM_SUM)
        return sp_fail(error, SP_INPUT,
                       "--unique-tokens: the law %s has no separate terms for size and tokens; use "
                       "another --law",
                       sp_safe(s->law.name));
    const double of_unique =
        sp_law_optimal_params(&s->law, sp_law_flops_for_tokens(&s->law, s->unique));
    s->unique = fmin(s->unique, s->run.tokens);
    s->base_params = fmin(of_unique, s->run.params);
    s->worth_D = sp_worth_of_repeated_tokens(s->run.tokens, s->unique);
    s->worth_N = sp_worth_of_excess_params(s->run.params, s->base_params);
    return true;
}

static bool check_given(const struct scaling *s, struct sp_error *error)
{
    const struct sp_scaling_run *g = &s->given;
    const int n = !isnan(g->flops) + !isnan(g->params) + !isnan(g->tokens);
    const bool loss = !isnan(g->loss), buys = s->n_found > 0;
    if (!isnan(s->year) && s->year < s->since)
        return sp_fail(error, SP_USAGE, "--year %g is before --since %g", s->year, s->since);
    if (n == 0 && !loss && isnan(s->noise) && isnan(s->year) && !s->shows_entropy)
        return sp_fail(error, SP_USAGE,
                       "give --flops, --model, --params, --tokens or --loss, or --budget and "
                       "--days with --hw");
    if (!isnan(s->batch) && isnan(s->noise) && !buys)
        return sp_fail(error, SP_USAGE, "--batch needs --noise-scale, --loss or --hw");
    if (n > 2 || (loss && (n > 1 || !isnan(g->flops))))
        return sp_fail(error, SP_USAGE,
                       "give at most two of --flops, a size and --tokens; with --loss only a size "
                       "or --tokens");
    if (loss && s->law.form == SP_FORM_NONE)
        return sp_fail(error, SP_INPUT, "--loss: the law %s has no loss; use another --law",
                       sp_safe(s->law.name));
    return true;
}

static bool unreachable(const struct scaling *s, struct sp_error *error)
{
    const bool n = !isnan(s->given.params), d = !isnan(s->given.tokens);
    const double least =
        sp_law_loss(&s->law, n ? s->given.params : INFINITY, d ? s->given.tokens : INFINITY);
    return sp_fail(error, SP_INPUT,
                   "--loss %g: no %s reaches it by the law %s; its minimum is %.4g", s->given.loss,
                   n   ? "number of tokens"
                   : d ? "size"
                       : "budget",
                   sp_safe(s->law.name), least);
}

/* The run that --budget and --days buy on the machines of --hw. */
static bool take_best(const struct sp_args *args, struct scaling *s, struct sp_error *error)
{
    s->days = args->value.days;
    s->budget = args->value.budget;
    if (!args->given.hw)
        return take_size(args, s, error);
    if (isnan(s->days) && isnan(s->budget))
        return sp_fail(error, SP_USAGE, "--hw needs --budget or --days");
    s->n_found = sp_find_affordable(args, &s->sources, &s->law, s->found, error);
    if (s->n_found < 0)
        return false;
    if (!(s->found->flops > 0))
        return sp_fail(error, SP_INPUT, "no shape fits these machines within --budget and --days");
    s->given.params = s->found->params;
    s->given.tokens = s->found->tokens;
    return true;
}

static bool load(const struct sp_args *args, struct scaling *s, struct sp_error *error)
{
    s->v = &args->value;
    s->sources = sp_sources_of(args);
    s->given.flops = args->value.flops;
    s->given.tokens = args->value.tokens;
    s->given.loss = args->value.loss;
    s->noise = args->value.noise_scale;
    s->year = args->value.year;
    s->since = args->value.since;
    s->unique = args->value.unique_tokens;
    s->vocab = args->value.vocab;
    s->shows_entropy = args->given.probabilities || args->given.losses || args->given.vocab ||
                       args->given.bytes_per_token;
    if (!isnan(s->year) &&
        (!sp_load_trend(args->value.compute_trend, &s->sources, &s->compute, error) ||
         !sp_load_trend(args->value.algorithms_trend, &s->sources, &s->algorithms, error)))
        return false;
    if (!sp_load_law(args->value.law, &s->sources, &s->law, error) || !take_best(args, s, error) ||
        !sp_tokens_of(args, SP_O_batch, &s->batch, NULL, error) ||
        !sp_tokens_of(args, SP_O_from_batch, &s->from, NULL, error))
        return false;
    if (isnan(s->noise) && !isnan(s->batch) && !isnan(s->given.loss))
        s->noise = sp_critical_batch_of_loss(s->given.loss);
    if (!check_given(s, error) || !take_probabilities(args, s, error) ||
        !take_losses(args->value.losses, s, error))
        return false;
    s->run = sp_scaling_solve(&s->law, &s->given);
    if (!isnan(s->given.loss) && !isfinite(s->run.flops)) {
        if (!isnan(s->given.params) || !isnan(s->given.tokens))
            return unreachable(s, error);
        s->too_low = s->shows_entropy = true; /* a loss of other text, in its units */
        s->run.loss = s->given.loss;
        s->least = sp_law_loss(&s->law, INFINITY, INFINITY);
    }
    if (!s->is_measured)
        s->entropy = args->value.losses ? s->curve.mean : s->run.loss;
    return weigh_repeats(s, error);
}

/* Opens the law's file for its description; standard input has been read by then. */
static bool open_file(const struct sp_args *args, struct scaling *s, struct sp_error *error)
{
    s->has_file = strcmp(args->value.law, "-") != 0;
    if (!s->has_file)
        return true;
    if (!sp_open_config(SP_LAWS, args->value.law, &s->sources, &s->file, error))
        return false;
    const cJSON *const root = s->file.json.root;
    s->source = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "source"));
    s->note = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "note"));
    return true;
}

static enum flops_from flops_from(const struct scaling *s)
{
    if (!isnan(s->given.flops))
        return FLOPS_GIVEN;
    if ((s->has_params || s->has_tokens) && s->n_given > 1)
        return FLOPS_OF_RUN;
    return s->has_loss ? FLOPS_FOR_LOSS : s->has_params ? FLOPS_FOR_PARAMS : FLOPS_FOR_TOKENS;
}

/* Values of the rows beside the run. */
static void work_out(struct scaling *s)
{
    const struct sp_scaling_run *const given = &s->given, budget = {s->run.flops, NAN, NAN, NAN};
    s->sum = s->law.form == SP_FORM_SUM;
    s->kaplan = s->law.form == SP_FORM_KAPLAN;
    s->optimum = sp_law_power(&s->law);
    s->best = sp_scaling_solve(&s->law, &budget);
    s->has_params = !isnan(given->params);
    s->has_tokens = !isnan(given->tokens);
    s->has_loss = !isnan(given->loss);
    s->n_given = !isnan(given->flops) + s->has_params + s->has_tokens + s->has_loss;
    s->flops_from = flops_from(s);
    const char *const chosen = s->n_given == 1 ? " (optimal)" : "";
    s->params_given = !s->has_params             ? chosen
                      : s->n_found > 0           ? " (of the plan)"
                      : s->law.without_embedding ? " (given, without embedding)"
                                                 : " (given)";
    s->tokens_given = !s->has_tokens ? chosen : s->n_found > 0 ? " (of the plan)" : " (given)";
    s->flops_given = isnan(given->flops) ? "" : " (given)";
    s->has_run = isfinite(s->run.flops);
    s->has_batch = !isnan(s->noise);
    s->useful = sp_tokens_of_tiny_batches(s->run.tokens, s->batch, s->noise);
    s->has_year = !isnan(s->year);
    s->progress = sp_progress_between(&s->compute.trend, &s->algorithms.trend, s->since, s->year);
}

/* Every law's answer to the same budget. */
static void put_laws(const struct scaling *s, struct sp_report *report)
{
    enum { MOST = 64 };
    struct sp_law_answer answers[MOST];
    const size_t n = sp_laws_at(s->run.flops, &s->sources, answers, MOST);
    for (size_t i = 0; i < n; i++) {
        sp_begin_row(report, answers[i].name, "laws.%.63s", answers[i].name);
        put_scaling_law_rows(report, &answers[i]);
    }
    if (s->n_found > 0 || s->has_batch || !isnan(s->unique))
        sp_stand_in(report, SP_DETAILS);
    sp_list_table(report, "laws",
                  ": same budget by law, params, tokens, tokens_per_param: tokens/parameter, "
                  "loss: loss on the law's data");
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    struct scaling s = {0};
    struct sp_figure *figure = NULL;
    (void)report;
    if (!load(args, &s, error))
        return NULL;
    if (isfinite(s.run.flops) && isfinite(s.run.loss))
        figure = sp_draw_losses(&s.law, &s.run);
    else
        sp_fail(error, SP_INPUT, "--plot draws a loss: it needs a --law with a loss, and a budget");
    sp_free_affordable(s.found, s.n_found);
    return figure;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct scaling s = {0};
    if (!load(args, &s, error) || !open_file(args, &s, error))
        return false;
    work_out(&s);
    put_scaling_rows(report, &s);
    if (s.has_run)
        put_laws(&s, report);
    if (s.has_file)
        sp_config_free(&s.file);
    sp_free_affordable(s.found, s.n_found);
    return true;
}

const struct sp_command sp_cmd_scaling = {
    .name = "scaling",
    .summary = "what a compute budget buys: optimal size and tokens, loss, larger batches",
    .about = "Of budget, size and tokens, computes the third from two, the optimal two from one, "
             "or what reaches a loss, at 6 FLOPs per parameter and token. Laws are data "
             "(`scaleplan list laws`, --set law.loss.alpha=0.3392). --batch and --noise-scale give "
             "the extra steps and tokens of a batch; --hw, --budget and --days the shape, tokens "
             "and machine with the most compute for the money in time, planned by `search`.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
