/* train: a whole run: steps, days, device-hours, energy, cost, goodput. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tuning.h"
#include "commands/train.h"
#include "commands/utilisation.h"

static const struct sp_taken options[] = {
    SP_OPTIONS_SIZED_MODEL,
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_TAKE(tokens),
    SP_TAKE(flops),
    SP_OPTIONS_MACHINE,
    SP_TAKE(devices),
    SP_TAKE(peak),
    SP_TAKE(mfu, .fallback = "40%"),
    SP_TAKE(tokens_per_s),
    SP_TAKE(step_time, .alias = "step"),
    SP_TAKE(days),
    SP_OPTION_CONVENTION,
    SP_OPTIONS_BATCH,
    SP_TAKE(micro_batch),
    SP_TAKE(dp),
    SP_OPTION_RECIPE,
    SP_TAKE(watts),
    SP_TAKE(pue, .fallback = "1"),
    SP_TAKE(home_kwh, .fallback = "10715"),
    SP_TAKE(rack_devices),
    SP_TAKE(rack_area),
    SP_OPTIONS_PRICE,
    SP_TAKE(mtbf),
    SP_TAKE(failures_per_day),
    SP_TAKE(restart, .fallback = "300"),
    SP_TAKE(storage_bandwidth),
    SP_TAKE(checkpoint_time),
    SP_TAKE(interval),
    SP_TAKE(loss),
    SP_TAKE(law, .fallback = "chinchilla"),
    SP_TAKE(noise_scale),
    SP_TAKE(storage),
    SP_TAKE(drives, .fallback = "8"),
    SP_TAKE(bytes_per_token, .fallback = "4"),
    SP_TAKE(loader_bandwidth),
    SP_TAKE(curve),
};

static const struct sp_example examples[] = {
    {"scaleplan train --model llama3-70b --tokens 15T --hw v5p-8960", "days, device-hours, cost"},
    {"scaleplan train --flops 6.3e24 --hw v5p --devices 18823 --mfu 50% --get days",
     "any number of devices"},
    {"scaleplan train --model llama3-8b --tokens 15T --hw h100 --days 30 --get devices_needed",
     "devices that make it in time"},
    {"scaleplan train --model llama3-405b --tokens 15.6T --hw h100-16384 --failures-per-day 8 "
     "--storage-bandwidth 2TB",
     "goodput with failures and checkpoints"},
    {NULL, NULL},
};

/* MFU from --mfu, or from a measured speed. Where weights are frozen --mfu counts what is computed:
 * 40 % of 6 P would hide what freezing saves. */
static double utilisation(const struct train *f)
{
    const double rate = f->args->value.tokens_per_s, step = f->args->value.step_time;
    if (!isnan(rate))
        return sp_utilisation(f->flops_per_token, rate, f->N, f->C);
    if (!isnan(step))
        return sp_utilisation(f->flops_per_token, f->batch / step, f->N, f->C);
    return f->args->value.mfu;
}

static bool load(struct train *f, const struct sp_sources *sources, struct sp_error *error)
{
    const struct sp_args *args = f->args;
    const double devices = args->value.devices, peak = args->value.peak;
    f->tokens = args->value.tokens;
    f->flops = args->value.flops;
    f->has_model = args->value.model || args->value.shape || args->given.params;
    f->has_hw = args->value.hw != NULL;
    if (args->given.curve && (args->given.reference || args->given.teacher))
        return sp_fail(error, SP_USAGE,
                       "--curve is of the closed forms of `fit`, which know no model beside");
    if (isnan(f->flops) && isnan(f->tokens) && !args->given.micro_batch && !args->given.curve &&
        !args->given.days && !args->given.loss)
        return sp_fail(error, SP_USAGE,
                       "--tokens N (or --flops N, --days N or --loss L) is needed");
    f->P = f->P_trained = f->flops_per_token = NAN;
    if (f->has_model || (isnan(f->flops) && !args->given.micro_batch)) {
        if (!sp_model_of(args, sources, &f->model, error))
            return false;
        const struct sp_params params = sp_count_params(&f->model);
        f->P = params.active;
        f->P_trained = params.trained;
    }
    if ((f->has_hw && !sp_hardware_of(args, sources, &f->hw, error)) ||
        !sp_take_companions(args, sources, f->has_hw ? &f->hw : NULL, &f->model, &f->companions,
                            error))
        return false;
    if (!sp_recipe_of(args, sources, f->has_hw ? &f->hw : NULL, &f->precision, error) ||
        !sp_batch_of(args, &f->model, &f->batch, &f->seq, &f->origin, error))
        return false;
    f->N = !isnan(devices) ? devices : f->has_hw ? (double)sp_chips(&f->hw) : 1;
    f->C = peak;
    if (isnan(peak) && f->has_hw) {
        const enum sp_dtype dtype =
            sp_compute_dtype(&f->hw.chip, (enum sp_dtype)f->precision.compute_dtype);
        f->C = f->hw.chip.peak_flops_per_s[dtype];
    }
    f->convention = (enum sp_flop_convention)args->value.convention;
    if (f->has_model)
        f->flops_per_token = sp_tuned_flops(&f->model, 1, f->seq, f->convention) +
                             sp_companion_flops(&f->companions, 1, f->seq, f->convention);
    if (args->given.days && isnan(f->C))
        return sp_fail(error, SP_USAGE, "--days needs a machine: --hw, or --peak and --devices");
    if (!sp_read_loss(f, sources, error))
        return false;
    if (isnan(f->flops) && isnan(f->tokens))
        f->tokens =
            86400 * args->value.days / sp_run_s(f->flops_per_token, f->N, f->C, utilisation(f));
    if (isnan(f->flops))
        f->flops = f->flops_per_token * f->tokens;
    return true;
}

static void put_accumulation(struct train *f)
{
    struct sp_report *r = f->report;
    const double micro = f->args->value.micro_batch, given = f->args->value.dp;
    const double dp = isnan(given) ? f->N : given, sequences = f->batch / f->seq;
    char why[160];
    sp_put(r, SP_Q_TRAIN_SEQUENCES, sequences);
    if ((!isnan(micro) || !isnan(given)) &&
        !sp_shares_batch(sequences, isnan(micro) ? 1 : micro, dp, why, sizeof why))
        sp_note(r, "--batch: %s", why);
    if (isnan(micro))
        return;
    sp_symbol(r, "micro_batch", micro, "sequences", "option --micro-batch");
    sp_symbol(r, "dp", dp, "", "data-parallel degree");
    sp_put(r, SP_Q_TRAIN_ACCUMULATION, sequences / (micro * dp));
    sp_line(r, "accumulation {grad_accumulation} micro-steps of %s sequences on %s replicas",
            sp_human_text(micro, SP_COUNT), sp_human_text(dp, SP_COUNT));
}

/* Whether some of the model is frozen. */
static bool is_tuned(const struct train *f)
{
    return f->has_model && f->model.tuning.trainable != SP_TRAIN_ALL;
}

/* Whether models work forward beside it. */
static bool has_beside(const struct train *f)
{
    return f->model.tuning.companions != NULL;
}

/* Whether FLOPs are 6 P a token, for every parameter: those of an encoder count by its tokens. */
static bool is_6p(const struct train *f)
{
    return f->convention == SP_FLOPS_6P && !is_tuned(f) && !has_beside(f) &&
           !(f->has_model && f->model.encoder.layers > 0);
}

/* What is to be computed. */
static void put_work(const struct train *f)
{
    struct sp_report *r = f->report;
    sp_symbol(r, "tokens_trained", f->tokens, "tokens", "option --tokens");
    sp_symbol(r, "run_flops", f->flops, "FLOPs", "option --flops");
    if (!isnan(f->P))
        sp_put(r, SP_Q_TRAIN_PARAMS, f->P);
    if (!isnan(f->tokens))
        sp_put(r, SP_Q_TRAIN_TOKENS, f->tokens);
    sp_symbol(r, "flops_per_token", f->flops_per_token, "FLOPs", "training, counting %s",
              sp_counted_flops[f->convention]);
    sp_put(r,
           f->args->given.flops ? SP_Q_TRAIN_FLOPS_GIVEN
           : is_6p(f)           ? SP_Q_TRAIN_FLOPS
                                : SP_Q_TRAIN_FLOPS_SCORES,
           f->flops);
    sp_put(r, SP_Q_TRAIN_PFDAYS, sp_pf_days(f->flops));
    sp_put(r, SP_Q_TRAIN_PETA, f->flops / 1e15);
    sp_line(r, "work         {flops}, {pf_days} PF-days%s",
            isnan(f->P)     ? ""
            : is_6p(f)      ? ": 6 x {params_active} parameters x {tokens} tokens"
            : has_beside(f) ? ": what is computed of {tokens} tokens, forward passes beside it too"
            : is_tuned(f)   ? ": what is computed of {tokens} tokens where some weights are frozen"
            : f->convention == SP_FLOPS_6P
                ? ": 6 a parameter and token of {tokens}, those of the encoder by its own tokens"
                : ": matmuls and scores of {tokens} tokens");
    sp_put_tuning(r, &f->model);
    sp_put_companion_work(r, f->args, &f->companions, NULL);
    if (has_beside(f))
        sp_note(
            r, "MFU counts what is computed, forward passes of the models beside it too: it is the "
               "mfu_computed of `step`");
    else if (is_tuned(f))
        sp_note(r,
                "MFU counts what is computed where some weights are frozen: it is the mfu_computed "
                "of `step`, whose mfu counts as if all were trained");
}

static bool put_time(struct train *f, struct sp_error *error)
{
    struct sp_report *r = f->report;
    if (isnan(f->flops))
        return true;
    put_work(f);
    if (isnan(f->C))
        return true;
    f->mfu = utilisation(f);
    if (isnan(f->mfu))
        return sp_fail(error, SP_USAGE, "a measured speed needs the model (--model or --params)");
    f->seconds = sp_run_s(f->flops, f->N, f->C, f->mfu);
    sp_symbol(r, "utilisation", f->mfu, "", "model FLOPs utilisation");
    sp_put(r, SP_Q_TRAIN_DEVICES, f->N);
    sp_put(r, SP_Q_TRAIN_PEAK, f->C);
    sp_put(r, SP_Q_TRAIN_MFU, f->mfu);
    sp_put_text(r, SP_Q_TRAIN_CONVENTION, "%s", sp_flop_conventions[f->convention]);
    sp_put(r, SP_Q_TRAIN_SECONDS, f->seconds);
    sp_put(r, SP_Q_TRAIN_DAYS, f->seconds / 86400);
    sp_put(r, SP_Q_TRAIN_YEARS, f->seconds / (365 * 86400));
    sp_put(r, SP_Q_TRAIN_HOURS, f->N * f->seconds / 3600);
    if (!isnan(f->tokens)) {
        sp_put(r, SP_Q_TRAIN_BATCH, f->batch);
        sp_put(r, SP_Q_TRAIN_TOKENS_DEVICE, f->batch / f->N);
        sp_put(r, SP_Q_TRAIN_STEPS, f->tokens / f->batch);
        sp_put(r, SP_Q_TRAIN_STEP, f->seconds / (f->tokens / f->batch));
        sp_put(r, SP_Q_TRAIN_RATE, f->tokens / f->seconds);
        sp_put(r, SP_Q_TRAIN_SAMPLES, f->tokens / f->seconds / f->seq);
    }
    const bool given = isnan(f->args->value.tokens_per_s) && isnan(f->args->value.step_time);
    sp_line(r,
            "machine      {devices} devices of {peak_flops_per_s} at {mfu} MFU (%s), counting %s",
            given ? "--mfu" : "from the measured speed",
            f->args->given.flops           ? "the FLOPs given"
            : is_tuned(f) || has_beside(f) ? "what is computed"
                                           : sp_counted_flops[f->convention]);
    sp_note_utilisation(r, "the MFU", f->mfu, f->convention);
    sp_line(r, "steps        {steps} of {batch_tokens} tokens (%s), {step_s} each", f->origin);
    sp_line(r, "time         {days} days, {device_hours} device-hours");
    return true;
}

/* The devices that make the run in --days, and the machine on offer that has as many. */
static void put_deadline(struct train *f)
{
    struct sp_report *r = f->report;
    const double days = f->args->value.days;
    if (isnan(days) || (!f->args->given.tokens && !f->args->given.flops))
        return;
    const double needed = sp_run_s(f->flops, 1, f->C, f->mfu) / (86400 * days);
    const int64_t offered = f->has_hw && needed <= 1e9
                                ? sp_nearest_chips(&f->hw.network, (int64_t)ceil(needed), true)
                                : 0;
    char machine[120] = "";
    if (offered > 0)
        snprintf(machine, sizeof machine, "; %s-%lld is on offer", f->hw.name, (long long)offered);
    sp_symbol(r, "deadline", days, "days", "option --days");
    sp_put(r, SP_Q_TRAIN_NEEDED, needed);
    sp_line(r, "deadline     %s days take %s devices at this MFU%s", sp_human_text(days, SP_DAYS),
            sp_human_text(ceil(needed), SP_COUNT), machine);
}

/* What checkpoints of so long and failures every M seconds leave of the time. */
static void put_failures(struct train *f, double write, double M, double given_interval)
{
    struct sp_report *r = f->report;
    const double restart = f->args->value.restart;
    const struct sp_goodput run = {
        write, isnan(given_interval) ? sp_best_interval_s(write, M, restart) : given_interval, M,
        restart};
    sp_symbol(r, "delta", write, "s", "time to write a checkpoint");
    sp_symbol(r, "M", M, "s", "mean time between failures of the machine");
    f->goodput = sp_goodput(&run);
    f->checkpoints = floor(f->seconds / run.interval_s);
    sp_put(r, SP_Q_TRAIN_WRITE, write);
    sp_put(r, SP_Q_TRAIN_MTBF, M);
    sp_put(r, SP_Q_TRAIN_YOUNG, sp_young_interval_s(write, M));
    sp_put(r, SP_Q_TRAIN_DALY, sp_daly_interval_s(write, M));
    sp_put(r, SP_Q_TRAIN_INTERVAL, run.interval_s);
    sp_line(r, "failures     one in {mtbf_s}; a checkpoint takes {checkpoint.write_s}, one every "
               "{checkpoint.interval_s} (Young {checkpoint.young_interval_s}, Daly "
               "{checkpoint.daly_interval_s})");
}

/* Checkpoints and failures. */
static bool put_goodput(struct train *f, struct sp_error *error)
{
    struct sp_report *r = f->report;
    const double mtbf = f->args->value.mtbf, per_day = f->args->value.failures_per_day;
    const double storage = f->args->value.storage_bandwidth;
    const double given_write = f->args->value.checkpoint_time;
    const double given_interval = f->args->value.interval;
    const double M = !isnan(per_day) ? 86400 / per_day
                     : isnan(mtbf)   ? INFINITY
                                     : sp_machine_mtbf_s(mtbf, f->N);
    const double per_param = sp_state_bytes_per_param(&f->precision) - f->precision.grad_bytes;
    const double bytes = f->P_trained * per_param;
    const double write = !isnan(given_write) ? given_write : bytes / storage;
    f->goodput = 1;
    f->checkpoints = 0;
    if (!isnan(bytes)) {
        sp_symbol(r, "P_trained", f->P_trained, "parameters", "all parameters that are trained");
        sp_symbol(r, "bytes_per_param", per_param, "bytes", "state without gradients, %s",
                  f->precision.name);
        sp_put(r, SP_Q_TRAIN_CHECKPOINT, bytes);
    }
    if (isfinite(M) && isnan(write))
        return sp_fail(error, SP_USAGE,
                       "goodput needs the time of a checkpoint: --storage-bandwidth (with a model) "
                       "or --checkpoint-time");
    if (!isfinite(M) && write > 0 && !isnan(given_interval)) {
        const struct sp_goodput run = {write, given_interval, M, 0};
        sp_symbol(r, "delta", write, "s", "time to write a checkpoint");
        f->goodput = sp_goodput(&run);
        f->checkpoints = floor(f->seconds / run.interval_s);
        sp_put(r, SP_Q_TRAIN_WRITE, write);
        sp_put(r, SP_Q_TRAIN_INTERVAL, given_interval);
        sp_line(r, "checkpoints  one takes {checkpoint.write_s}, every {checkpoint.interval_s}; no "
                   "failures (--mtbf)");
    }
    if (isfinite(M))
        put_failures(f, write, M, given_interval);
    if (f->goodput <= 0)
        return sp_fail(error, SP_INPUT,
                       "the machine fails before it has done any work: no goodput");
    sp_put(r, SP_Q_TRAIN_GOODPUT, f->goodput);
    if (f->seconds > 0) {
        sp_put(r, SP_Q_TRAIN_WALL, f->seconds / f->goodput);
        sp_put(r, SP_Q_TRAIN_WALL_DAYS, f->seconds / f->goodput / 86400);
        sp_line(r, "goodput      {goodput}: {wall_days} days of wall time");
    }
    return true;
}

/* Homes of the same power, racks and their floor. Racks and floor have no defaults, because they
 * differ between buildings with the same chip. */
static bool put_building(const struct train *f, double watts, struct sp_error *error)
{
    struct sp_report *r = f->report;
    const double home = f->args->value.home_kwh;
    const double rack = f->args->value.rack_devices, area = f->args->value.rack_area;
    if (isnan(rack) && !isnan(area))
        return sp_fail(error, SP_USAGE, "--rack-area needs --rack-devices");
    sp_symbol(r, "home_kwh", home, "kWh", "option --home-kwh, of a year");
    sp_symbol(r, "rack", rack, "", "option --rack-devices");
    sp_symbol(r, "area", area, "m^2", "option --rack-area");
    sp_put(r, SP_Q_TRAIN_HOMES, sp_homes(watts, home));
    sp_put(r, SP_Q_TRAIN_RACKS, ceil(f->N / rack));
    sp_put(r, SP_Q_TRAIN_FLOOR, ceil(f->N / rack) * area);
    sp_line(r, "             as much as {building.homes} homes (--home-kwh)");
    sp_line(r, "racks        {building.racks} (--rack-devices)%s",
            isnan(area) ? "" : ", {building.floor_m2} m^2 of floor (--rack-area)");
    return true;
}

/* Power, energy and cost. Where watts or price are unknown they are null, with a note, so that the
 * days are still printed; asked for by --get, they are refused. */
static bool put_bill(struct train *f, struct sp_error *error)
{
    struct sp_report *r = f->report;
    const double given_watts = f->args->value.watts;
    const double watts = !isnan(given_watts) ? given_watts : f->has_hw ? f->hw.chip.tdp_w : NAN;
    const struct sp_hardware *const hw = f->has_hw ? &f->hw : NULL;
    const char *const spec = f->has_hw ? f->args->value.hw : "";
    struct sp_price paid;
    char words[160];
    if (!sp_price_of(f->args, hw, spec, &paid, error) ||
        !sp_check_price(f->args, &hw, &spec, f->has_hw ? 1 : 0, error))
        return false;
    sp_price_text(&paid, words, sizeof words);
    const double price = paid.usd_per_h;
    const double pue = f->args->value.pue, wall = f->seconds / f->goodput;
    sp_symbol(r, "watts", watts, "W", "one device");
    sp_symbol(r, "pue", pue, "", "option --pue");
    sp_symbol(r, "price", price, "USD/h", "one device");
    sp_put(r, SP_Q_TRAIN_WATTS, f->N * watts * pue);
    sp_put(r, SP_Q_TRAIN_ENERGY_WH, f->N * watts * pue * wall / 3600);
    sp_put(r, SP_Q_TRAIN_ENERGY, f->N * watts * pue * wall / 3.6e9);
    sp_put(r, SP_Q_TRAIN_COST, f->N * wall / 3600 * price);
    sp_line(r, "power        {power_w}, {energy_wh} in all (devices only, --watts, --pue)");
    if (!put_building(f, f->N * watts * pue, error))
        return false;
    sp_put_price(r, &paid, SP_Q_TRAIN_PRICE, SP_Q_TRAIN_PRICE_YEAR, SP_Q_TRAIN_PRICE_SOURCE);
    sp_line(r, "cost         {cost_usd} at a price of a device-hour of %s", words);
    const char *const get = f->args->value.get;
    if (isnan(watts) && get && (strstr(get, "power_w") || strstr(get, "energy_")))
        return sp_fail(error, SP_INPUT, "the power of this device is not published; give --watts");
    if (isnan(price) && get && strstr(get, "cost_usd"))
        return sp_fail(error, SP_INPUT, "no list price of this device is known; give --price");
    if (isnan(watts))
        sp_note(r, "the power of this device is not published: no energy; give --watts");
    if (isnan(price))
        sp_note(r, "no list price of this device is known: no cost; give --price");
    return true;
}

/* Strong scaling: the best plan of fit on the sizes on offer, doubling up to the machine. */
static bool put_curve(struct train *f, const struct sp_sources *sources, struct sp_error *error)
{
    static const struct sp_column columns[] = {{NULL, "devices", true},
                                               {"step_s", "ideal step", false},
                                               {"efficiency", "efficiency", false},
                                               {"strategy", "strategy", true}};
    enum { POINTS = 32 };
    struct sp_row rows[POINTS] = {0};
    struct sp_fit_point points[POINTS];
    if (!f->has_hw || !f->has_model)
        return sp_fail(error, SP_USAGE, "--curve needs --model and --hw");
    struct sp_framework_pair frameworks;
    struct sp_fit_input in = {.model = &f->model,
                              .hw = &f->hw,
                              .precision = &f->precision,
                              .batch_tokens = f->batch,
                              .seq = f->seq,
                              .remat = SP_REMATS,
                              .exact_groups = !sources->textbook};
    if (!sp_fit_frameworks_of(sources, &frameworks, &in, error))
        return false;
    const int n = sp_fit_curve(&in, points, POINTS);
    for (int i = 0; i < n; i++) {
        const struct sp_strategy *const best = &points[i].best;
        snprintf(rows[i].label, sizeof rows[i].label, "%lld", (long long)points[i].chips);
        snprintf(rows[i].prefix, sizeof rows[i].prefix, "curve.%d", i);
        sp_scope(f->report, rows[i].prefix);
        sp_put(f->report, SP_Q_TRAIN_DEVICES_CURVE, (double)points[i].chips);
        sp_put(f->report, SP_Q_TRAIN_CURVE_STEP, best->step_with_bubble_s);
        sp_put(f->report, SP_Q_TRAIN_CURVE_EFFICIENCY, points[i].efficiency);
        sp_put_text(f->report, SP_Q_TRAIN_CURVE_STRATEGY, "%s%s", sp_strategy_names[best->kind],
                    best->fits ? "" : " (does not fit)");
    }
    sp_scope(f->report, "");
    sp_line(f->report, " ");
    sp_table(f->report, columns, sizeof columns / sizeof columns[0], rows, (size_t)n);
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct train f = {.args = args, .report = report};
    if (!load(&f, &sources, error))
        return false;
    sp_symbol(report, "P", f.P, "parameters", "parameters that one token passes");
    sp_symbol(report, "N", f.N, "devices", "devices");
    sp_symbol(report, "C", f.C, "FLOP/s", "peak of one device");
    sp_symbol(report, "B", f.batch, "tokens", "batch (%s)", f.origin);
    sp_symbol(report, "T", f.seq, "tokens", "sequence length");
    if (!put_time(&f, error))
        return false;
    if (f.model.sample_flops > 0)
        sp_note(report, "a token of %s is a sample of %s forward (model.sample_flops)",
                f.model.name, sp_human_text(f.model.sample_flops, SP_FLOPS));
    put_accumulation(&f);
    if (f.seconds > 0) {
        put_deadline(&f);
        if (!put_goodput(&f, error))
            return false;
        if (!put_bill(&f, error) || !sp_put_data(&f, &sources, error))
            return false;
    }
    if (!sp_put_loss(&f, &sources, error))
        return false;
    return !args->given.curve || put_curve(&f, &sources, error);
}

const struct sp_command sp_cmd_train = {
    .name = "train",
    .summary = "a whole run: steps, days, device-hours, energy, cost, goodput",
    .about = "How long a training run takes at a utilisation or a measured speed, what it costs in "
             "device-hours, energy and money, what checkpoints and failures take away, how many "
             "micro-steps a "
             "batch is accumulated over, and how the step scales with the number of devices.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
