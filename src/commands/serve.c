/* serve: a model that answers requests: what fits, the least times, what limits it, what it
 * costs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/names.h>

#include "base/memory.h"
#include "base/text.h"
#include "pictures/page.h"
#include "cli/launched.h"
#include "cli/service.h"
#include "pictures/report_data.h"
#include "pictures/serving.h"
#include "study/serve_curves.h"

/* clang-format off */
static const struct sp_taken options[] = {
    SP_TAKE(from),
    SP_TAKE(set_var, .needs = SP_THESE(SP_O_from)),
    SP_OPTIONS_MODEL,
    SP_OPTION_PARAMS,
    SP_TAKE(kv_per_token),
    SP_TAKE(hw),
    SP_OPTION_NETWORK,
    SP_TAKE(tp),
    SP_TAKE(pp),
    SP_TAKE(ep),
    SP_TAKE(etp),
    SP_TAKE(dtype),
    SP_TAKE(profile),
    SP_OPTIONS_SERVICE,
    SP_TAKE(front, .alias = "pareto"),
    SP_TAKE(top, .fallback = "10"),
    SP_TAKE(check),
    SP_TAKE(report),
    SP_OPTIONS_PRICE,
    SP_OPTION_PLOT,
    SP_OPTIONS_POWER,
};
/* clang-format on */

static const struct sp_example examples[] = {
    {"serve --model llama3-70b --hw h100-8 --input 2048 --output 512", "what fits, and how fast"},
    {"serve --model llama3-70b --hw h100-8 --weights fp8 --kv fp8 --tpot 20ms",
     "the most sequences at 20 ms per token"},
    {"serve --model llama3-70b --hw h200-8 --weights fp8 --engine trtllm --rate 6 --ttft 1s --tpot "
     "30ms --percentile 99 --check slo",
     "whether 6 requests per second meet the limits"},
    {"serve --model gpt-oss-120b --hw h200-8,b200-8 --tpot 20ms --objective "
     "cost",
     "machines compared by cost per million tokens"},
    {"serve --model llama3-70b --hw h100-16 --weights fp8 --input 8192 --disaggregate auto",
     "prompts on separate chips"},
    {"serve --from serve.sh --hw h100-8", "the command of a vLLM, SGLang or TensorRT-LLM server"},
    {"serve --model deepseek-v3 --hw h200-32 --front", "the Pareto front of degrees and batches"},
    {NULL, NULL},
};

struct part {
    double s;
    const char *name;
};

/* The values shown by the rows of serve.def; NAN where a machine that does not hold the weights, or
 * a pair without measured runs, has no number. */
struct shown {
    const struct serve *f;
    const struct sp_service *of;
    const struct sp_served *v;
    struct sp_steady y, ideal; /* by --step-time or the estimate, and by the closed forms */
    struct sp_decode_time least;
    struct sp_prefill_time prompt, prompt_elsewhere; /* of the instance that reads prompts */
    struct sp_serve_estimate e;
    struct sp_token_cost cost;
    struct sp_expert_chances chances;
    struct sp_read_weights read;
    struct sp_speculation speculation;
    struct sp_pools pools;
    double C, W, hbm, held_tokens, params, cache, free_bytes, kv_known, kv_read, weights_read;
    double draft_weights, draft_kv, weight_share, max_context, min_slice;
    double at_once, held; /* sequences that run; those that a machine has to hold */
    double mlp_bytes, expert_ratio, critical_context, d_ff, width, layers, W_tp, W_all;
    double limited_tpot_s, limited_ttft_s, tpot_range, ttft_range, prompts_s;
    double generating;      /* sequences of a step; NAN: the instance does not hold the weights */
    double prompts;         /* of a step */
    double prompts_at_once; /* that the ranks of attention's data parallelism read */
    enum { STATED, ALIKE, EACH_LESS } law; /* of the drafts */
    double step_B, watts, pue, acceptance, best_drafts, estimated_gain;
    double readers, generators, requests_together;
    enum sp_dtype dtype;
    bool experts_apart, in_time, keeps_tpot, keeps_ttft, is_loaded, said, drafts, pooled;
    bool is_undivided; /* pools are asked for, and the machine holds one instance; one chip stands
                          for any number */
    const char *bound, *prompt_bound, *longest_part, *lender;
    char verdict[640], price_words[160], split_words[256], limit[160], asked[256], assumed[256],
        hidden[192];
    struct sp_serve_point points[SP_SERVE_POINTS];
    int n_points, n_shown;
    const char *first_token; /* its key in a point */
};

/* The instances of other sizes. */
static void put_points(struct sp_report *r, const struct shown *s)
{
    for (int i = 0; i < s->n_shown; i++) {
        sp_begin_row(r, "", "points.%d", i);
        sp_put_serve_point(
            s->f, &s->points[sp_shown_point(i, s->n_shown, s->n_points, s->f->args->given.front)]);
    }
    sp_scope(r, "");
}

static void put_purchase(struct sp_report *r, const struct shown *s)
{
    sp_put_purchase(r, s->f->hw.name, &s->f->price, NAN, NAN);
}

/* For the short text. */
static const char *words_of_bound(const char *bound)
{
    return *bound == 'k'   ? "reading the cache"
           : *bound == 'w' ? "reading the weights"
           : *bound == 'm' ? "arithmetic"
                           : "the communication of TP";
}

#define SP_PART serve
#define SP_PART_OF struct shown
#include "answer/put_rows.h"

/* Makes a struct of doubles unknown. */
static void forget(void *doubles, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(double))
        memcpy((char *)doubles + i, &(double){NAN}, sizeof(double));
}

static void say_verdict(const struct shown *s, char *out, size_t size)
{
    const struct serve *const f = s->f;
    const double held = sp_holding(f), cache = sp_cache_held(held, fmax(0, s->v->kv_held));
    const double lacks = s->v->weights + cache - s->v->capacity;
    if (!f->holds_weights)
        snprintf(out, size, "No: the weights take %s; %s has %s for weights and cache",
                 sp_human_text(s->v->weights, SP_BYTES), f->hw.name,
                 sp_human_text(s->v->capacity, SP_BYTES));
    else if (!f->fits)
        snprintf(out, size, "No: weights and the cache of %s sequences exceed the memory by %s",
                 sp_human_text(held, SP_COUNT), sp_human_text(lacks, SP_BYTES));
    else if (s->is_undivided)
        snprintf(out, size, "No: %s is one instance, which cannot separate prefill from decode",
                 f->args->value.hw);
    else
        sp_say_serving(f, &s->y, s->in_time, out, size);
}

static const char *bound_of(const struct sp_decode_time *t, double tp_s)
{
    if (tp_s > t->step_s)
        return "ici";
    const double most = fmax(t->kv_s, fmax(t->weights_s, t->math_s));
    return most == t->kv_s ? "kv" : most == t->weights_s ? "weights" : "math";
}

static struct part longest_part(const struct sp_pass_time *t)
{
    const struct part parts[] = {{t->matmul_s, "matmuls"},      {t->experts_s, "experts"},
                                 {t->attention_s, "attention"}, {t->elementwise_s, "elementwise"},
                                 {t->comm_s, "collectives"},    {t->launch_s, "launches"}};
    struct part longest = {-1, ""};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].s > longest.s)
            longest = parts[i];
    return longest;
}

/* "limit      --tpot; step 7.44 ms (at least 3.21 ms): launches 3.08 ms" */
static void say_limit(struct shown *s)
{
    const struct sp_pass_time *const t = &s->e.step;
    const struct part first = longest_part(t);
    const char *const limit = s->f->holds_weights ? sp_limit_of(s->f) : "";
    const size_t size = sizeof s->limit;
    snprintf(s->limit, size, *limit ? "limit      %s; step " : "step       ", limit);
    const double least = s->drafts ? s->speculation.step_s : s->least.step_s;
    if (s->said)
        sp_append(s->limit, size, "%s (at least %s): %s %s", sp_human_text(t->total_s, SP_SECONDS),
                  sp_human_text(least, SP_SECONDS), first.name, sp_human_text(first.s, SP_SECONDS));
    else
        sp_append(s->limit, size, "bound by %s", words_of_bound(s->bound));
}

/* The memory of the instance, and of other sizes. */
static void weigh(struct shown *s)
{
    const struct serve *const f = s->f;
    const struct sp_served *const v = s->v, *const draft = v->draft;
    s->hbm = sp_capacity_bytes(&f->hw.chip);
    s->params = sp_count_params(&f->model).total;
    s->held_tokens = sp_paged_tokens(s->of->held_tokens, s->of->block);
    s->at_once = sp_at_once(s->of, f->B);
    s->cache = sp_cache_held(s->at_once, v->kv_held);
    s->free_bytes = sp_room_for_cache(v->capacity, v->weights);
    s->kv_known = v->kv_held > 0 ? v->kv_held : NAN;
    s->kv_read = fmax(0, v->kv_read);
    s->draft_weights = draft ? draft->weights : 0;
    s->draft_kv = draft ? draft->kv_held : 0;
    s->weight_share = s->of->fraction_of_free ? s->of->memory_fraction : 1;
    s->max_context = f->holds_weights ? sp_most_context(v, s->at_once) : NAN;
    /* a machine whose room is below one sequence serves none */
    const bool lacks_one = f->holds_weights && !f->fits;
    s->is_loaded = v->kv_held > 0 && (!isnan(f->load.concurrency) || lacks_one);
    s->held = fmax(1, s->at_once);
    s->min_slice =
        sp_smallest_slice(&f->hw.network, sp_chips_to_hold(v, s->is_loaded ? s->held : 0));
}

/* The batches at which the limit changes, and the highest useful tensor parallelism. */
static void bound(struct shown *s)
{
    const struct sp_model *const m = &s->f->model;
    const bool shape = sp_model_has_shape(m);
    s->mlp_bytes = s->v->experts > 0 ? s->of->expert_bytes : s->of->weight_bytes;
    s->expert_ratio = sp_expert_ratio(m);
    s->critical_context = sp_critical_batch_of_context(s->v);
    s->d_ff = sp_active_d_ff(m);
    s->width = shape ? (double)m->d_model : NAN;
    s->layers = shape ? (double)m->layers : NAN;
    s->W_tp = sp_tp_link_bytes_per_s(&s->f->part, &s->W_all);
    if (s->d_ff > 0)
        snprintf(s->hidden, sizeof s->hidden,
                 "; TP communication is hidden up to TP {tp_max.ici} for prompts (behind "
                 "arithmetic), %s for this step (behind weight reads)",
                 sp_max_decode_tp(s->step_B, s->d_ff, s->W, s->W_tp) < 1 ? "never"
                                                                         : "{tp_max.hbm}");
}

/* The lower bounds, the state, and the lines of the estimate. */
static void time_service(struct shown *s)
{
    static const char *const lenders[SP_KNOWN] = {
        "", "its engine on other chips", "its chip under other engines", "other chips and engines"};
    const struct serve *const f = s->f;
    const double tp_s = sp_decode_tp_s(&f->model, s->step_B, s->W_tp);
    s->generating = s->step_B;
    s->chances = sp_expert_chances(s->v->expert_share, s->v->expert_variance);
    s->read = sp_read_weights(s->v, s->step_B);
    s->weights_read = sp_weights_read_bytes(s->v, s->step_B);
    s->least = sp_decode_time(s->v, s->step_B, 1);
    s->prompt = sp_prefill_time(s->v);
    s->prompt_elsewhere = sp_prefill_time(&f->reader);
    s->ideal = sp_steady(s->v, f->load.apart ? &f->reader : NULL, s->step_B, NAN);
    s->prompts = f->load.apart ? 0 : sp_prompts_of_step(s->step_B, s->of->output);
    s->bound = bound_of(&s->least, tp_s);
    s->prompt_bound = s->prompt.math_s >= s->prompt.weights_s ? "math" : "weights";
    if (!s->said)
        return;
    s->e = f->said;
    s->prompts_s = s->y.tpot_s - s->y.step_s;
    s->prompts_at_once = f->instance.pass.plan.attention_dp;
    s->longest_part = longest_part(&s->e.step).name;
    s->lender = lenders[f->profile.known];
    s->tpot_range = sp_serving_range_log(&f->profile, &f->model, SP_LATENCY_TPOT);
    s->ttft_range = sp_serving_range_log(&f->profile, &f->model, SP_LATENCY_TTFT);
}

/* Each given limit by itself. */
static void limit(struct shown *s)
{
    const struct serve *const f = s->f;
    struct sp_serve_load tpot = f->load, ttft = f->load;
    tpot.ttft_s = ttft.tpot_s = INFINITY;
    s->keeps_tpot = f->holds_weights && sp_in_time(f, &s->y, &tpot);
    s->keeps_ttft = f->holds_weights && sp_in_time(f, &s->y, &ttft);
    s->limited_tpot_s = sp_limited_latency_s(f, SP_LATENCY_TPOT, s->y.tpot_s);
    s->limited_ttft_s = sp_limited_latency_s(f, SP_LATENCY_TTFT, s->y.ttft_s);
}

static void pay(struct shown *s)
{
    const struct serve *const f = s->f;
    const struct sp_served *const reader = f->pooled ? &f->reader : NULL;
    const double given = f->args->value.watts;
    s->watts = isnan(given) ? f->hw.chip.tdp_w : given;
    s->pue = f->args->value.pue;
    sp_price_text(&f->price, s->price_words, sizeof s->price_words);
    struct sp_serve_load load = f->load;
    load.readers = f->readers;
    if (!f->holds_weights)
        return;
    const struct sp_token_cost working =
        s->said ? sp_estimated_token_cost(s->v, reader, &load, &f->said)
                : sp_token_cost(s->v, &f->reader, s->step_B, s->y.step_s);
    s->cost = sp_cost_with_idle(working, sp_working_chips(f), f->group_chips);
}

/* Estimated time between tokens without drafts over the time with them, for as many requests. */
static double estimated_gain(const struct serve *f)
{
    struct sp_pass plain = f->instance.pass;
    struct sp_requests requests = sp_requests_of(&f->instance, &f->load, f->said.running);
    plain.served.service.drafts = 0;
    requests.draft = NULL;
    return sp_ratio_of_times(sp_serve_estimate(&plain, &requests).tpot_s, f->said.tpot_s);
}

static void speculate(struct shown *s)
{
    const struct serve *const f = s->f;
    s->drafts = f->holds_weights && s->of->drafts > 0;
    if (!s->drafts)
        return;
    s->acceptance = f->acceptance.first;
    s->law = isnan(s->acceptance) ? STATED : f->acceptance.later == 1 ? ALIKE : EACH_LESS;
    s->speculation = sp_speculation(s->v, s->v->draft, s->step_B, s->of->drafts, s->of->accepted);
    s->best_drafts = sp_best_drafts(s->v, s->v->draft, s->step_B, &f->acceptance);
    s->estimated_gain = s->said ? estimated_gain(f) : NAN;
}

/* "3xtp4", "1xtp2dp8", as --disaggregate takes them. */
static void name_pool(double instances, const struct sp_serve_point *p, char *out, size_t size)
{
    sp_append(out, size, "%.0fxtp%.0f", instances, p->tp > 0 ? p->tp : p->chips);
    if (p->attention_dp > 1)
        sp_append(out, size, "dp%.0f", p->attention_dp);
}

/* The best division of the machine, against its best instances that do both. */
static void divide(struct shown *s)
{
    const struct serve *const f = s->f;
    struct sp_serve_point together[SP_SERVE_POINTS];
    struct sp_serve_load both = f->load;
    both.apart = false;
    both.rate = both.readers = 0;
    both.objective = SP_SERVE_THROUGHPUT;
    name_pool(f->split.readers, &f->split.reads, s->split_words, sizeof s->split_words);
    sp_append(s->split_words, sizeof s->split_words, ":");
    name_pool(f->split.generators, &f->split.generates, s->split_words, sizeof s->split_words);
    if (sp_serve_points(s->of, &both, (double)sp_chips(&f->hw), true, together) > 0)
        s->requests_together =
            sp_total_of_instances(together[0].steady.requests_per_s, together[0].replicas);
}

/* Prompts on separate chips: --disaggregate P:D, as often as the machine holds them. */
static void pool(struct shown *s)
{
    const struct serve *const f = s->f;
    const double all = (double)sp_chips(&f->hw);
    s->pooled = f->holds_weights && f->pooled;
    if (!s->pooled)
        return;
    s->pools = sp_pools(&f->reader, s->v, s->step_B, s->y.prompts_per_s, s->y.step_s, all);
    s->readers = f->is_split ? f->replicas * f->readers : s->pools.prefill;
    s->generators = f->is_split ? f->replicas : s->pools.decode;
    s->is_undivided = all > 1 && isnan(s->readers);
    s->in_time = s->in_time && !s->is_undivided;
    if (f->is_best)
        divide(s);
}

static void put_service(struct serve *f)
{
    sp_simulate(f);
    struct shown s = {.f = f, .of = &f->service, .v = &f->served};
    const struct sp_steady y = sp_state_of_service(f);
    f->fits = sp_service_fits(f);
    f->fewest = sp_fewest_to_serve(f);
    s.in_time = f->holds_weights && !f->is_overrun && sp_in_time(f, &y, &f->load);
    s.said = f->holds_weights && f->instance.estimated;
    s.C = f->served.peak;
    s.experts_apart = f->served.experts > 0 && f->expert_weights != f->weights;
    s.dtype = sp_compute_dtype(&f->hw.chip, f->service.math);
    s.W = f->hw.chip.hbm_bytes_per_s;
    s.longest_part = s.lender = s.bound = s.prompt_bound = "";
    s.weights_read = s.generating = s.prompts = s.prompts_s = s.prompts_at_once = NAN;
    s.read = (struct sp_read_weights){NAN, NAN, NAN};
    s.tpot_range = s.ttft_range = s.acceptance = s.requests_together = NAN;
    s.step_B = sp_generating(f);
    forget(&s.y, sizeof s.y);
    forget(&s.ideal, sizeof s.ideal);
    forget(&s.least, sizeof s.least);
    forget(&s.prompt, sizeof s.prompt);
    forget(&s.prompt_elsewhere, sizeof s.prompt_elsewhere);
    forget(&s.e, sizeof s.e);
    forget(&s.cost, sizeof s.cost);
    weigh(&s);
    bound(&s);
    if (f->holds_weights) {
        s.y = y;
        time_service(&s);
    }
    limit(&s);
    pay(&s);
    speculate(&s);
    pool(&s);
    say_verdict(&s, s.verdict, sizeof s.verdict);
    say_limit(&s);
    sp_say_inputs(f, true, s.asked, sizeof s.asked);
    sp_say_inputs(f, false, s.assumed, sizeof s.assumed);
    if (!f->degrees.given && !f->args->given.disaggregate)
        s.n_points = sp_find_serve_points(f, s.points);
    s.n_shown = (int)fmin(s.n_points, f->args->value.top);
    s.first_token = f->load.profile && isnan(f->load.step_s) ? "ttft_s" : "ideal.ttft_s";
    put_serve_rows(f->report, &s);
}

static bool write_page(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    static const struct sp_page_fact facts[] = {
        {"between tokens", "tpot_s"},
        {"80 % range: from", "tpot_low_s"},
        {"to", "tpot_high_s"},
        {"to the first token", "ttft_s"},
        {"80 % range: from", "ttft_low_s"},
        {"to", "ttft_high_s"},
        {"between tokens, at least", "ideal.step_s"},
        {"tokens per second", "tokens_per_s"},
        {"requests per second", "requests_per_s"},
        {"devices of an instance", "devices"},
        {"sequences at once", "batch"},
        {"room for sequences", "max_batch"},
        {"weights", "weights_bytes"},
        {"room for weights and cache", "capacity_bytes"},
        {"USD per million tokens read", "cost_usd_per_mtoken.input"},
        {"generated", "cost_usd_per_mtoken.output"},
        {"tokens in", "input"},
        {"tokens out", "output"},
    };
    static const struct sp_page_fact assumed[] = {{"engine", "engine"},
                                                  {"profile", "profile"},
                                                  {"number format of matmuls", "dtype"},
                                                  {"cache", "kv_format"}};
    static const struct sp_page_fact columns[] = {
        {"devices", "devices"},
        {"machine", "hw"},
        {"TP", "tp"},
        {"sequences", "batch"},
        {"between tokens", "tpot_s"},
        {"first token", "ttft_s"},
        {"tokens/s per user", "tokens_per_s_per_user"},
        {"tokens/s per device", "tokens_per_s_per_device"}};
    char title[200];
    if (!args->value.report)
        return true;
    const char *const verdict = sp_find(report, "verdict")->text;
    snprintf(title, sizeof title, "Serving %.60s on %.100s",
             args->value.model ? args->value.model : sp_report_text(report, SP_Q_SERVE_MODEL),
             args->value.hw);
    const struct sp_page page = {
        .title = title,
        .verdict = verdict,
        .yes = strncmp(verdict, "Yes", 3) == 0,
        .scope = "",
        .plan_title = "The service",
        .facts = facts,
        .n_facts = sizeof facts / sizeof *facts,
        .list = {"Instances", "points", columns, sizeof columns / sizeof *columns, NULL, NULL, 0},
        .assumptions = assumed,
        .n_assumptions = sizeof assumed / sizeof *assumed};
    return sp_write_page(report, &page, args->value.report, error);
}

static bool answer(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    if (args->value.hw && strchr(args->value.hw, ','))
        return sp_compare_serving(args, report, error) && write_page(args, report, error);
    struct serve f = {
        .args = args, .report = report, .may_split = true, .textbook = sources.textbook};
    if (!sp_load_service(&f, &sources, error) ||
        (!sp_load_sequences(&f, error) && !sp_load_most(&f, error)) || !sp_check_slo(&f, error))
        return false;
    put_service(&f);
    return write_page(args, report, error);
}

static bool run(const struct sp_args *typed, struct sp_report *report, struct sp_error *error)
{
    struct sp_launch launch = {0};
    struct sp_args args;
    if (!typed->value.from)
        return answer(typed, report, error);
    if (!sp_take_launch(typed, &launch, &args, error) || !answer(&args, report, error))
        return false;
    sp_put_launch(report, &launch, NULL);
    return true;
}

/* clang-format off */
static const struct { const char *step, *rate; enum sp_look look; } looks[SP_SERVE_CURVES] = {
    [SP_CURVE_CACHE] = {"cache read", "cache read", SP_SKY},
    [SP_CURVE_WEIGHTS] = {"weights read", "weights read", SP_GREEN},
    [SP_CURVE_ARITHMETIC] = {"arithmetic", "arithmetic", SP_ORANGE},
    [SP_CURVE_LEAST] = {"step at least", "at most", SP_BLACK},
    [SP_CURVE_ESTIMATE] = {"step by the estimate", "by the estimate", SP_BLUE},
    [SP_CURVE_BETWEEN] = {"between tokens", "", SP_VERMILION},
};
/* clang-format on */

/* Reads the service of the options again, with notes into a report that is discarded. */
static bool read_curves(const struct sp_args *args, struct sp_serve_curves *curves, double *B,
                        struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct serve *const f = sp_must(calloc(1, sizeof *f));
    *f = (struct serve){
        .args = args, .report = sp_report_new("serve"), .textbook = sources.textbook};
    const bool known =
        sp_load_service(f, &sources, error) && sp_load_sequences(f, error) && f->holds_weights;
    if (known)
        sp_curves_of_service(&f->served, &f->instance, &f->load, f->B, curves);
    *B = f->B;
    sp_report_free(f->report);
    free(f);
    return known;
}

static struct sp_service_mark mark_of(const struct sp_report *r, size_t i)
{
    return (struct sp_service_mark){sp_listed_text(r, "points", i, SP_Q_SERVE_POINT_HW),
                                    sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_CHIPS),
                                    sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_TP),
                                    sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_DP),
                                    sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_USER),
                                    sp_listed_number(r, "points", i, SP_Q_SERVE_POINT_DEVICE)};
}

static struct sp_figure *plot_service(const struct sp_args *args, const struct sp_report *report,
                                      struct sp_error *error)
{
    struct sp_service_mark marks[SP_SERVE_POINTS];
    struct sp_serve_curves curves = {.fits = NAN};
    struct sp_service_curve steps[SP_SERVE_CURVES], rates[SP_SERVE_CURVES];
    double B = NAN;
    size_t n = 0;
    for (; n < SP_SERVE_POINTS &&
           !isnan(sp_listed_number(report, "points", n, SP_Q_SERVE_POINT_CHIPS));
         n++)
        marks[n] = mark_of(report, n);
    const bool over_batch = !strchr(args->value.hw, ',') && read_curves(args, &curves, &B, error);
    if (error->lines == 0 && n == 0 && !over_batch)
        sp_fail(error, SP_INPUT, "--plot: the answer has no instance to draw");
    if (error->lines > 0)
        return NULL;
    for (int c = 0; c < SP_SERVE_CURVES; c++) {
        steps[c] = (struct sp_service_curve){looks[c].step, looks[c].look, c < SP_CURVE_LEAST,
                                             curves.seconds[c], c == SP_CURVE_BETWEEN};
        rates[c] = (struct sp_service_curve){looks[c].rate, looks[c].look, c < SP_CURVE_LEAST,
                                             curves.rate[c], false};
    }
    const struct sp_service_panel panels[] = {
        {"time of a step", "s", "a decode step", steps, SP_SERVE_CURVES},
        {"tokens per second", "", "the roofline of its tokens", rates, SP_CURVE_BETWEEN}};
    const char *const model = sp_report_text(report, SP_Q_SERVE_MODEL);
    return sp_plot_service(
        &(struct sp_service_picture){.model = *model ? model : args->value.model,
                                     .hw = args->value.hw,
                                     .marks = marks,
                                     .n_marks = n,
                                     .batch = curves.batch,
                                     .n_batches = SP_CURVE_BATCHES,
                                     .panels = panels,
                                     .n_panels = over_batch ? 2 : 0,
                                     .runs = B,
                                     .fits = curves.fits,
                                     .tpot_s = sp_keyed_number(report, "tpot_s"),
                                     .tpot_low_s = sp_keyed_number(report, "tpot_low_s"),
                                     .tpot_high_s = sp_keyed_number(report, "tpot_high_s")});
}

static struct sp_figure *plot(const struct sp_args *typed, const struct sp_report *report,
                              struct sp_error *error)
{
    struct sp_launch launch = {0};
    struct sp_args args;
    return sp_take_launch(typed, &launch, &args, error) ? plot_service(&args, report, error) : NULL;
}

const struct sp_command sp_cmd_serve = {
    .name = "serve",
    .summary = "serving a model: what fits, latency and throughput, cost",
    .about = "Whether a model and its cache fit, how many requests it answers within limits, by "
             "closed forms that no engine beats and an estimate with its 80 % range, what limits "
             "it, and the cost of a million tokens. Without degrees, the best instances.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "fits",
    .compute_bound_key = "slo.met",
    .bound_word = "slo",
    .run = run,
    .plot = plot,
};
