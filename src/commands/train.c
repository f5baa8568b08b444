/* train: a whole run: steps, days, device-hours, energy, cost, goodput. */
#include <math.h>
#include <string.h>

#include <scaleplan/laws.h>
#include <scaleplan/training.h>

#include "cli/companions.h"
#include "cli/expected.h"
#include "cli/problem.h"
#include "cli/tuning.h"
#include "answer/utilisation.h"
#include "base/number.h"
#include "pictures/curves.h"
#include "study/failures.h"

static const struct sp_taken options[] = {
    SP_OPTIONS_SIZED_MODEL,
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_TAKE(tokens),
    SP_TAKE(total_steps, .alias = "steps", .excludes = SP_THESE(SP_O_tokens)),
    SP_TAKE(flops, .excludes = SP_THESE(SP_O_tokens, SP_O_total_steps)),
    SP_OPTIONS_MACHINE,
    SP_TAKE(devices),
    SP_TAKE(idle, .needs = SP_THESE(SP_O_hw),
            .excludes = SP_THESE(SP_O_devices, SP_O_loss, SP_O_curve)),
    SP_TAKE(peak),
    SP_TAKE(mfu, .fallback = "40%"),
    SP_TAKE(tokens_per_s, .excludes = SP_THESE(SP_O_mfu, SP_O_step_time)),
    SP_TAKE(step_time, .alias = "step", .excludes = SP_THESE(SP_O_mfu)),
    SP_TAKE(days),
    SP_OPTION_CONVENTION,
    SP_OPTIONS_BATCH,
    SP_TAKE(documents),
    SP_TAKE(micro_batch),
    SP_TAKE(dp),
    SP_OPTION_RECIPE,
    SP_OPTIONS_POWER,
    SP_TAKE(carbon, .fallback = "world"),
    SP_TAKE(home_kwh, .fallback = "10715"),
    SP_TAKE(rack_devices),
    SP_TAKE(rack_area, .needs = SP_THESE(SP_O_rack_devices)),
    SP_OPTIONS_PRICE,
    SP_TAKE(mtbf),
    SP_TAKE(failures_per_day),
    SP_TAKE(restart),
    SP_TAKE(site, .fallback = SP_DEFAULT_SITE),
    SP_TAKE(storage_bandwidth),
    SP_TAKE(checkpoint_time),
    SP_TAKE(interval),
    SP_TAKE(loss, .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(law, .fallback = "chinchilla"),
    SP_TAKE(noise_scale),
    SP_TAKE(storage, .needs = SP_THESE(SP_O_hw)),
    SP_TAKE(drives, .fallback = "8"),
    SP_TAKE(bytes_per_token, .fallback = "4"),
    SP_TAKE(loader_bandwidth),
    SP_OPTION_PLOT,
    SP_TAKE(curve, .needs = SP_THESE(SP_O_hw), .excludes = SP_THESE(SP_O_reference, SP_O_teacher)),
};

static const struct sp_example examples[] = {
    {"train --model llama3-70b --tokens 15T --hw v5p-8960", "days, device-hours, cost"},
    {"train --flops 6.3e24 --hw v5p --devices 18823 --mfu 50% --get days", "any number of devices"},
    {"train --model llama3-8b --tokens 15T --hw h100 --days 30 --get devices_needed",
     "devices needed to finish in time"},
    {"train --model llama3-405b --tokens 15.6T --hw h100-16384 --failures-per-day 8 "
     "--storage-bandwidth 2TB",
     "goodput with failures and checkpoints"},
    {NULL, NULL},
};

/* The source of the run's tokens. */
enum tokens_from { TOKENS_GIVEN, TOKENS_OF_DAYS, TOKENS_FOR_LOSS };

/* The question, and the values shown by the rows of train*.def. NAN: not given, or not known. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): one of it, its members by subject */
struct train {
    const struct sp_option_values *value;
    const struct sp_options_given *given;
    struct sp_companions companions; /* the model's tuning points here if there are some */
    struct sp_documents documents;   /* and the model here */
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_problem problem;
    bool has_hw, has_model, has_law, has_data;
    /* The work. */
    enum sp_flop_convention convention;
    double P, P_trained, tokens, flops, flops_per_token,
        with_scores; /* FLOPs of a token in the last one */
    enum tokens_from tokens_from;
    bool has_work, is_6p, is_tuned, has_beside;
    const char *work, *counted, *above_peak; /* work: the words for the counted FLOPs, with keys */
    /* The machine and the time. */
    double N, paid, C, mfu, measured_rate, batch, seq, seconds, steps, rate, dp, sequences;
    bool has_time, has_steps, has_run;                         /* has_run: a time above 0 */
    char why[160], on_offer[160], price_text[160];             /* why: the batch is not shared */
    double needed, useful_days, days_goodput, days_first_step; /* for --days, and on them */
    bool shares_batch, has_deadline, is_of_needed; /* all other figures are for those devices too */
    /* Failures, power and money; the textbook counts neither failures nor the start. */
    bool by_book, carbon_is_typed;
    struct sp_site site;
    struct sp_failures failures;
    double bytes_per_param, checkpoint, bandwidth, read, device_mtbf, first_step;
    double watts, power, racks, price_year;
    struct sp_grid grid;
    /* Data. */
    struct sp_drive drive;
    struct sp_data_source store;
    struct sp_data_need need;
    struct sp_data_flow flow;
    /* Loss. */
    struct sp_scaling_law law;
    double law_params, target, least_tokens, noise, noise_loss, useful;
    struct sp_expected *expected; /* the plan of `search`, where nobody says how fast the run is */
};

/* A way to a loss. */
struct way {
    struct sp_loss_point point;
    double least_tokens, noise, price;
};

#define SP_PART train_work
#define SP_PART_OF struct train
#include "answer/put_rows.h"

static void put_purchase(struct sp_report *r, const struct train *f)
{
    sp_put_purchase(r, f->has_hw ? f->hw.name : "device", &f->problem.price, f->paid,
                    f->failures.wall_s);
}

static void put_expected(struct sp_report *r, const struct train *f)
{
    sp_put_expected(r, f->expected, f->tokens, f->problem.price.usd_per_h);
}

#define SP_PART train
#define SP_PART_OF struct train
#include "answer/put_rows.h"
#define SP_PART train_curve
#define SP_PART_OF struct sp_fit_point
#include "answer/put_rows.h"

#define SP_PART train_point
#define SP_PART_OF struct way
#include "answer/put_rows.h"

static bool load_model(const struct sp_args *args, const struct sp_sources *sources,
                       struct train *f, struct sp_error *error)
{
    f->has_model = args->value.model || args->value.shape || args->given.params;
    f->has_hw = args->value.hw != NULL;
    f->P = f->P_trained = f->flops_per_token = NAN;
    if (f->has_model || args->given.curve || (isnan(f->flops) && !args->given.micro_batch)) {
        if (!sp_model_of(args, sources, &f->model, error))
            return false;
        const struct sp_params params = sp_count_params(&f->model);
        f->P = params.active;
        f->P_trained = params.trained;
    }
    const struct sp_hardware *const hw = f->has_hw ? &f->hw : NULL;
    if ((hw && !sp_hardware_of(args, sources, &f->hw, error)) ||
        !sp_take_companions(args, sources, hw, &f->model, &f->companions, error) ||
        !sp_recipe_of(args, sources, hw, &f->precision, error) ||
        !sp_problem_of(args, &f->model, hw, &f->problem, error) ||
        !sp_take_documents(args, sources, f->problem.batch.seq, &f->model, &f->companions,
                           &f->documents, error))
        return false;
    f->batch = f->problem.batch.tokens;
    f->seq = f->problem.batch.seq;
    if (f->has_model)
        f->flops_per_token = sp_tuned_flops(&f->model, 1, f->seq, f->convention) +
                             sp_companion_flops(&f->companions, 1, f->seq, f->convention);
    return true;
}

/* Devices, their peak, and the utilisation: --mfu, or that of a measured speed. */
static bool take_machine(const struct sp_args *args, struct train *f, struct sp_error *error)
{
    const enum sp_dtype wanted = (enum sp_dtype)f->precision.compute_dtype;
    const double devices = args->value.devices, step = args->value.step_time;
    f->N = !isnan(devices) ? devices : f->has_hw ? (double)(sp_chips(&f->hw) - f->problem.idle) : 1;
    f->C = args->value.peak;
    if (isnan(f->C) && f->has_hw) {
        if (!sp_check_peak(&f->hw, wanted, error))
            return false;
        f->C = f->hw.chip.peak_flops_per_s[sp_compute_dtype(&f->hw.chip, wanted)];
    }
    f->measured_rate = isnan(step) ? args->value.tokens_per_s : sp_tokens_over_time(f->batch, step);
    f->mfu = isnan(f->measured_rate)
                 ? args->value.mfu
                 : sp_utilisation(f->flops_per_token, f->measured_rate, f->N, f->C);
    return true;
}

/* --law, --loss and --noise-scale; --loss alone determines the tokens of the run. */
static bool take_loss(const struct sp_args *args, const struct sp_sources *sources, struct train *f,
                      struct sp_error *error)
{
    f->target = args->value.loss;
    f->noise = args->value.noise_scale;
    f->has_law = !isnan(f->target) || args->given.law || f->given->noise_scale;
    if (!f->has_law)
        return true;
    if (!f->has_model)
        return sp_fail(error, SP_USAGE, "--loss needs --model or --params");
    if (!sp_load_law(args->value.law, sources, &f->law, error))
        return false;
    f->law_params = sp_params_of_law(&f->law, &f->model);
    if (isnan(f->target))
        return true;
    f->least_tokens = sp_law_tokens_for_loss(&f->law, f->law_params, f->target);
    if (isnan(f->least_tokens))
        return sp_fail(error, SP_INPUT,
                       "--loss %g: unreachable with any number of tokens by the law %s", f->target,
                       sp_safe(f->law.name));
    if (!f->given->noise_scale)
        f->noise = sp_critical_batch_of_loss(f->target);
    if (isnan(f->flops) && isnan(f->tokens)) {
        f->tokens_from = TOKENS_FOR_LOSS;
        f->tokens = sp_tokens_in_batches(f->least_tokens, f->batch, f->noise);
    }
    return true;
}

/* The inputs of checkpoints and failures. */
static bool take_site(const struct sp_args *args, const struct sp_sources *sources, struct train *f,
                      struct sp_error *error)
{
    f->by_book = sources->textbook;
    f->bytes_per_param = sp_checkpoint_bytes_per_param(&f->precision);
    f->checkpoint = sp_checkpoint_state_bytes(f->P_trained, f->bytes_per_param);
    return sp_load_site(args->value.site, sources, &f->site, error);
}

/* Start and failures of f->seconds on f->N devices. */
static void work_out_failures(struct train *f)
{
    const struct sp_option_values *const v = f->value;
    struct sp_failing_run run =
        sp_run_on_site(&f->site, f->by_book, f->N, f->checkpoint, v->storage_bandwidth,
                       f->given->checkpoint_time ? v->checkpoint_time : NAN);
    run.seconds = f->seconds;
    run.failures_per_day = v->failures_per_day;
    run.interval_s = v->interval;
    if (f->given->mtbf)
        run.device_mtbf_s = v->mtbf;
    if (f->given->restart)
        run.restart_s = v->restart;
    f->bandwidth = run.bandwidth;
    f->read = run.read_s;
    f->first_step = run.first_step_s;
    f->device_mtbf = run.device_mtbf_s;
    f->failures = sp_failures_of(&run);
}

static bool find_goodput(struct train *f, struct sp_error *error)
{
    work_out_failures(f);
    if (f->failures.fails && isnan(f->failures.cycle.write_s))
        return sp_fail(error, SP_USAGE, "goodput needs --checkpoint-time or a model");
    return f->failures.goodput > 0 || sp_fail(error, SP_INPUT,
                                              "no goodput: failures every %s (--mtbf is of one "
                                              "device, in seconds; 5 years are 5y)",
                                              sp_human_text(f->failures.cycle.mtbf_s, SP_SECONDS));
}

/* The part of --days that trains on f->N devices. */
static void take_useful_days(struct train *f)
{
    f->days_goodput = f->failures.goodput, f->days_first_step = f->first_step;
    f->useful_days = sp_useful_days(f->problem.days, f->days_goodput, f->days_first_step);
}

/* The tokens that --days allow, less the start and the time of checkpoints and failures. */
static bool take_tokens_of_days(struct train *f, struct sp_error *error)
{
    f->tokens_from = TOKENS_OF_DAYS;
    if (!find_goodput(f, error))
        return false;
    take_useful_days(f);
    f->tokens = sp_tokens_of_days(f->useful_days, f->flops_per_token, f->N, f->C, f->mfu);
    return f->tokens > 0 || sp_fail(error, SP_INPUT, "--days end before the first step");
}

/* Days of the run on this number of devices, all overheads included; INFINITY if it never ends. */
static double wall_days_on(double devices, void *context)
{
    struct train *const f = context;
    f->N = devices;
    f->seconds = sp_run_s(f->flops, f->N, f->C, f->mfu);
    work_out_failures(f);
    return f->failures.goodput > 0 ? sp_days_of_seconds(f->failures.wall_s) : INFINITY;
}

/* The devices that make the run in --days, and the machine on offer that has as many: where --hw
 * names a chip without a count, the run is theirs. */
static void take_deadline(const struct sp_args *args, struct train *f)
{
    const double devices = f->N;
    f->has_deadline = !isnan(f->problem.days) && !isnan(f->C) && f->mfu > 0 && f->flops > 0 &&
                      (args->given.tokens || args->given.total_steps || args->given.flops);
    if (!f->has_deadline)
        return;
    const double days = f->problem.days,
                 most = sp_devices_for_deadline(f->flops, f->C, f->mfu, days);
    f->needed = sp_devices_for_days(days, most, wall_days_on, f);
    if (!isnan(f->needed) && wall_days_on(f->needed, f) <= days)
        take_useful_days(f);
    const bool sold = f->has_hw && f->needed <= 1e9;
    const int64_t wanted = sold ? (int64_t)f->needed + f->problem.idle : 0,
                  offered = sold ? sp_nearest_chips(&f->hw.network, wanted, true) : 0;
    f->is_of_needed = offered > 0 && !args->given.devices && isnan(f->measured_rate) &&
                      sp_chips(&f->hw) == 1 && sp_is_bare_chip(args->value.hw) &&
                      sp_take_devices(&f->hw, offered);
    f->N = f->is_of_needed ? (double)offered : devices;
    if (offered > 0)
        snprintf(f->on_offer, sizeof f->on_offer, "%s-%lld", f->hw.name, (long long)offered);
}

static bool load(const struct sp_args *args, const struct sp_sources *sources, struct train *f,
                 struct sp_error *error)
{
    f->tokens = args->value.tokens;
    f->flops = args->value.flops;
    f->convention = (enum sp_flop_convention)args->value.convention;
    if (isnan(f->flops) && isnan(f->tokens) && !args->given.total_steps &&
        !args->given.micro_batch && !args->given.curve && !args->given.days && !args->given.loss)
        return sp_fail(error, SP_USAGE,
                       "--tokens N (or --flops N, --days N or --loss L) is needed");
    if (!load_model(args, sources, f, error) || !take_machine(args, f, error))
        return false;
    if (args->given.total_steps)
        f->tokens = sp_tokens_of_steps(args->value.total_steps, f->batch);
    if (args->given.days && isnan(f->C))
        return sp_fail(error, SP_USAGE, "--days needs a machine: --hw, or --peak and --devices");
    if (!take_loss(args, sources, f, error) || !take_site(args, sources, f, error) ||
        (args->given.days && isnan(f->flops) && isnan(f->tokens) && !take_tokens_of_days(f, error)))
        return false;
    if (!args->given.flops)
        f->flops = sp_flops_of_tokens(f->flops_per_token, f->tokens);
    take_deadline(args, f);
    return true;
}

/* The meaning of the work's FLOPs, in a text with keys. */
static const char *work_text(const struct train *f)
{
    if (isnan(f->P))
        return "";
    if (f->has_model && sp_takes_pictures(&f->model))
        return ": three times the forward FLOPs of {tokens} images";
    if (f->is_6p)
        return ": 6 x {params_active} parameters x {tokens} tokens";
    if (f->has_beside)
        return ": computation for {tokens} tokens, other models' forward passes included";
    if (f->is_tuned)
        return ": computation for {tokens} tokens, with frozen weights";
    return f->convention == SP_FLOPS_6P
               ? ": 6 per parameter and token of {tokens}; the encoder by its own tokens"
               : ": matmuls and scores of {tokens} tokens";
}

static void work_out_work(struct train *f)
{
    f->has_work = !isnan(f->flops);
    f->is_tuned = f->has_model && f->model.tuning.trainable != SP_TRAIN_ALL;
    f->has_beside = f->model.tuning.companions != NULL;
    /* For every parameter: those of an encoder count by its tokens. */
    f->is_6p = f->convention == SP_FLOPS_6P && !f->is_tuned && !f->has_beside &&
               !(f->has_model && f->model.encoder.layers > 0);
    if (f->has_model) /* causal, as `step` counts */
        f->with_scores = sp_tuned_flops(&f->model, 1, f->seq, SP_FLOPS_CAUSAL);
    f->work = work_text(f);
    f->counted = f->given->flops ? "the FLOPs given" : sp_counted_of(&f->model, f->convention);
}

static bool work_out_time(const struct sp_args *args, struct train *f, struct sp_error *error)
{
    const double micro = args->value.micro_batch;
    f->has_time = f->has_work && !isnan(f->C);
    if (f->has_time && isnan(f->mfu))
        return sp_fail(error, SP_USAGE, "a measured speed needs --model or --params");
    f->seconds = f->has_time ? sp_run_s(f->flops, f->N, f->C, f->mfu) : 0;
    f->paid = f->N + (double)f->problem.idle;
    f->has_run = f->seconds > 0;
    f->has_steps = f->has_time && !isnan(f->tokens);
    f->steps = sp_optimizer_steps(f->tokens, f->batch);
    f->rate = sp_tokens_over_time(f->tokens, f->seconds);
    f->above_peak = f->has_time ? sp_above_peak(f->mfu, f->convention) : NULL;
    f->dp = isnan(args->value.dp) ? f->N : args->value.dp;
    f->sequences = sp_sequences_of(f->batch, f->seq);
    f->shares_batch =
        (isnan(micro) && isnan(args->value.dp)) ||
        sp_shares_batch(f->sequences, isnan(micro) ? 1 : micro, f->dp, f->why, sizeof f->why);
    return true;
}

/* An unknown value that --get asks for is refused. */
static bool check_known(const struct sp_args *args, const struct train *f, struct sp_error *error)
{
    const char *const get = args->value.get;
    if (isnan(f->watts) && get && (strstr(get, "power_w") || strstr(get, "energy_")))
        return sp_fail(error, SP_INPUT, "the power of this device is not published; give --watts");
    if (isnan(f->problem.price.usd_per_h) && get && strstr(get, "cost_usd"))
        return sp_fail(error, SP_INPUT, "no list price of this device is known; give --price");
    return true;
}

/* Power, energy and cost. */
static bool work_out_bill(const struct sp_args *args, const struct sp_sources *sources,
                          struct train *f, struct sp_error *error)
{
    const double watts = args->value.watts;
    const struct sp_hardware *const hw = f->has_hw ? &f->hw : NULL;
    const char *const spec = f->has_hw ? args->value.hw : "";
    const struct sp_price *const price = &f->problem.price;
    if (!sp_grid_of(args->value.carbon, sources, &f->grid, &f->carbon_is_typed, error) ||
        !sp_check_price(args, &hw, &spec, f->has_hw ? 1 : 0, error))
        return false;
    sp_price_text(price, f->price_text, sizeof f->price_text);
    f->price_year = price->year > 0 ? (double)price->year : NAN;
    f->watts = !isnan(watts) ? watts : f->has_hw ? f->hw.chip.tdp_w : NAN;
    f->power = sp_power_w(f->N, f->watts, args->value.pue);
    f->racks = sp_racks(f->paid, args->value.rack_devices);
    return check_known(args, f, error);
}

/* Whether drives and loaders supply the run, hold its data and outlast it. */
static bool work_out_data(const struct sp_args *args, const struct sp_sources *sources,
                          struct train *f, struct sp_error *error)
{
    f->has_data = args->given.storage;
    if (!f->has_data)
        return true;
    if (isnan(f->tokens))
        return sp_fail(error, SP_USAGE, "--storage needs --model and --tokens");
    if (!sp_load_drive(args->value.storage, sources, &f->drive, error))
        return false;
    const double loader = args->value.loader_bandwidth,
                 host = (double)sp_chips_per_host(&f->hw.network);
    f->store = (struct sp_data_source){
        .drives = sp_of_all_hosts(f->N, host, args->value.drives),
        .loader_bytes_per_s = isnan(loader) ? INFINITY : sp_of_all_hosts(f->N, host, loader),
        .drive = &f->drive};
    const double written = sp_written_bytes(f->failures.checkpoints, f->checkpoint);
    f->need = (struct sp_data_need){f->rate, args->value.bytes_per_token, f->tokens, written};
    f->flow = sp_data_flow(&f->need, &f->store);
    return true;
}

/* The loss that the run ends at. */
static void work_out_loss(struct train *f)
{
    if (!f->has_law)
        return;
    f->noise_loss = isnan(f->target) ? sp_law_loss(&f->law, f->law_params, f->tokens) : f->target;
    if (!f->given->noise_scale)
        f->noise = sp_critical_batch_of_loss(f->noise_loss);
    f->useful = sp_tokens_of_tiny_batches(f->tokens, f->batch, f->noise);
}

/* The question to `fit`, with the frameworks that it points to. */
static bool fit_input(const struct train *f, const struct sp_sources *sources,
                      struct sp_framework_pair *frameworks, struct sp_fit_input *in,
                      struct sp_error *error)
{
    *in = (struct sp_fit_input){.model = &f->model,
                                .hw = &f->hw,
                                .precision = &f->precision,
                                .batch_tokens = f->batch,
                                .seq = f->seq,
                                .remat = SP_REMATS,
                                .exact_groups = !sources->textbook};
    return sp_fit_frameworks_of(sources, frameworks, in, error);
}

enum { POINTS = 40 };

/* A list of points; one is marked "soonest" or "cheapest". */
static void put_points(const struct train *f, const struct sp_loss_point *points, int n,
                       const char *list, int marked, const char *mark, struct sp_report *r)
{
    struct way way = {
        .least_tokens = f->least_tokens, .noise = f->noise, .price = f->problem.price.usd_per_h};
    for (int i = 0; i < n; i++) {
        sp_begin_row(r, i == marked ? mark : "", "%s.%d", list, i);
        way.point = points[i];
        put_train_point_rows(r, &way);
    }
    if (marked >= 0) {
        sp_scope(r, mark);
        way.point = points[marked];
        put_train_point_rows(r, &way);
    }
    sp_list_table(r, list,
                  ": , devices, batch_tokens, tokens, steps, step_s, days, cost_usd, >fits");
}

/* How soon, and at what cost, --loss is reached. */
static bool put_ways(const struct train *f, const struct sp_sources *sources, struct sp_report *r,
                     struct sp_error *error)
{
    struct sp_loss_point points[POINTS];
    struct sp_framework_pair frameworks;
    struct sp_fit_input in;
    if (!fit_input(f, sources, &frameworks, &in, error))
        return false;
    const struct sp_loss_question question = {
        .fit = &in, .mfu = f->mfu, .least_tokens = f->least_tokens, .noise = f->noise};
    int n = sp_batches_to_loss(&question, points, POINTS);
    put_points(f, points, n, "batches", sp_soonest(points, n), "soonest", r);
    n = sp_machines_to_loss(&question, points, POINTS);
    put_points(f, points, n, "machines", sp_cheapest(points, n), "cheapest", r);
    return true;
}

/* Strong scaling: the best plan of fit on the sizes on offer, doubling up to the machine. */
static bool put_curve(const struct train *f, const struct sp_sources *sources, struct sp_report *r,
                      struct sp_error *error)
{
    struct sp_fit_point points[POINTS];
    struct sp_framework_pair frameworks;
    struct sp_fit_input in;
    if (!fit_input(f, sources, &frameworks, &in, error))
        return false;
    const int n = sp_fit_curve(&in, points, POINTS);
    for (int i = 0; i < n; i++) {
        char chips[24];
        snprintf(chips, sizeof chips, "%lld", (long long)points[i].chips);
        sp_begin_row(r, chips, "curve.%d", i);
        put_train_curve_rows(r, &points[i]);
    }
    sp_list_table(r, "curve", ": devices, step_s, efficiency, serial_share, strategy");
    return true;
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    char title[SP_PLOT_TEXT];
    if (!args->given.curve)
        return sp_draw_ways(report, error);
    snprintf(title, sizeof title,
             "Strong scaling of %.50s on %.50s: the same batch on more devices",
             args->value.model ? args->value.model : "the model", args->value.hw);
    return sp_draw_strong_scaling(report, title);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct train f = {.value = &args->value, .given = &args->given, .useful_days = NAN};
    if (!load(args, &sources, &f, error))
        return false;
    work_out_work(&f);
    if (!work_out_time(args, &f, error))
        return false;
    if (f.has_run && (!find_goodput(&f, error) || !work_out_bill(args, &sources, &f, error) ||
                      !work_out_data(args, &sources, &f, error)))
        return false;
    work_out_loss(&f);
    sp_count_images(report, sp_takes_pictures(&f.model));
    put_train_work_rows(report, &f);
    if (f.has_work) {
        sp_put_length(report, &f.model, f.seq);
        sp_put_tuning(report, &f.model);
        sp_put_companion_work(report, args, &f.companions, NULL);
    }
    /* the default MFU says nothing of this model on this machine: the plan of `search` does */
    if (f.has_steps && isnan(f.measured_rate) && isnan(f.target) && !f.given->peak &&
        !f.given->devices && !f.given->days && !f.given->curve)
        f.expected = sp_expect_run(args, report, &f.model);
    put_train_rows(report, &f);
    sp_free_expected(f.expected);
    return (isnan(f.target) || put_ways(&f, &sources, report, error)) &&
           (!args->given.curve || put_curve(&f, &sources, report, error));
}

const struct sp_command sp_cmd_train = {
    .name = "train",
    .summary = "a training run: steps, days, device-hours, energy, cost, goodput",
    .about = "Computes the duration of a training run at an MFU or measured speed; its cost in "
             "device-hours, energy and money; losses to checkpoints and failures; the accumulation "
             "steps of a batch; strong scaling with devices.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
