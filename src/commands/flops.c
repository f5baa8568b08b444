/* flops: parameters and FLOPs by part, and conversions between FLOPs, time and utilisation. */
#include <math.h>
#include <string.h>

#include "cli/companions.h"
#include "cli/tuning.h"
#include "commands/utilisation.h"

static const char *const masks[] = {"full", "causal", NULL};

static const struct sp_taken options[] = {
    SP_OPTIONS_SIZED_MODEL,
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_OPTIONS_BATCH,
    SP_OPTION_REMAT("none"),
    SP_TAKE(attention, .fallback = "full", .choices = masks),
    SP_TAKE(count_embedding),
    SP_TAKE(kv_bytes, .fallback = "2"),
    SP_TAKE(tokens),
    SP_TAKE(flops),
    SP_OPTIONS_MACHINE,
    SP_TAKE(devices),
    SP_TAKE(dtype, .fallback = "bf16"),
    SP_TAKE(peak),
    SP_TAKE(tokens_per_s),
    SP_TAKE(device_hours),
    SP_TAKE(mfu),
    SP_TAKE(hfu),
};

static const struct sp_example examples[] = {
    {"scaleplan flops --model llama3-70b", "parameters and FLOPs by part"},
    {"scaleplan flops --model llama3-70b --tokens 15T --get flops", "FLOPs of a training run"},
    {"scaleplan flops --params 7e9 --hw h100 --tokens-per-s 10000 --get mfu",
     "utilisation of a measured speed"},
    {NULL, NULL},
};

struct flops {
    struct sp_model model;
    struct sp_params params;
    struct sp_flops forward;
    double batch, seq, C, N, recomputed;
    double counted, computed; /* training of a token by 6P: as if all were trained, and what is */
    double counted_with_scores, per_token; /* the same with attention; NAN without a shape */
    bool plain;                            /* 6P of every parameter is what is computed */
    enum sp_flop_convention mask;
    struct sp_companions companions; /* the model's tuning points here where there are some */
    struct sp_report *report;
};

static void put_params(const struct flops *f)
{
    struct sp_report *r = f->report;
    sp_put_text(r, SP_Q_FLOPS_MODEL, "%s", f->model.name);
    sp_put(r, SP_Q_FLOPS_PARAMS, f->params.total);
    sp_put(r, SP_Q_FLOPS_PARAMS_ACTIVE, f->params.active);
    sp_put(r, SP_Q_FLOPS_PARAMS_EMBEDDING, f->params.embedding);
    sp_put(r, SP_Q_FLOPS_PARAMS_ATTENTION, f->params.attention);
    sp_put(r, SP_Q_FLOPS_PARAMS_MLP, f->params.mlp);
    sp_put(r, SP_Q_FLOPS_PARAMS_EXPERTS, f->params.experts);
    sp_put(r, SP_Q_FLOPS_PARAMS_ROUTER, f->params.router);
    sp_put(r, SP_Q_FLOPS_PARAMS_NORM, f->params.norm);
    if (sp_model_has_shape(&f->model)) {
        sp_put(r, SP_Q_FLOPS_PARAMS_SHARE, f->params.attention / f->params.total);
        sp_put(r, SP_Q_FLOPS_PARAMS_LAYER_SHARE,
               f->params.attention / (f->params.total - f->params.embedding));
    }
    sp_line(r, "parameters   {params.total} in all, {params.active} active: embedding "
               "{params.embedding}, attention {params.attention}, MLP {params.mlp}, experts "
               "{params.experts}, norms {params.norm}");
    sp_put_tuning(r, &f->model);
}

/* The models that work forward beside it, and what a token costs with them. */
static void put_beside(const struct flops *f, const struct sp_args *args)
{
    struct sp_report *const r = f->report;
    if (!args->given.reference && !args->given.teacher)
        return;
    sp_put_companion_work(r, args, &f->companions, NULL);
    sp_put(r, SP_Q_FLOPS_BESIDE, f->computed);
    sp_line(r, "             {flops_with_models_beside} a token with what works beside it");
}

/* A length that windows keep attention from ever reaching is null. */
static void put_length(struct sp_report *r, enum sp_quantity_id id, double tokens)
{
    if (isfinite(tokens))
        sp_put(r, id, tokens);
    else
        sp_put_null(r, id);
}

/* Lengths at which attention costs as much as other matmuls; returns that of all of them. tokens.
 */
static double put_lengths(const struct flops *f, bool causal)
{
    struct sp_report *r = f->report;
    const double overtakes = sp_attention_crossover_tokens(&f->model, causal);
    put_length(r, SP_Q_FLOPS_OVERTAKES, overtakes);
    sp_put(r, SP_Q_FLOPS_OVERTAKES_RULE, 8 * (double)f->model.d_model);
    put_length(r, SP_Q_FLOPS_OVERTAKES_MLP,
               sp_attention_overtakes_mlp_tokens(&f->model, f->seq, causal));
    put_length(r, SP_Q_FLOPS_SCORES_PROJ, sp_scores_equal_projections_tokens(&f->model, causal));
    return overtakes;
}

static void put_counts(const struct flops *f, bool causal, double kv_bytes)
{
    struct sp_report *r = f->report;
    const struct sp_flops *w = &f->forward;
    const bool shaped = sp_model_has_shape(&f->model);
    const double per_token = f->per_token, six_p = 6 * f->params.active;
    sp_put(r, SP_Q_FLOPS_SEQ, f->seq);
    sp_put(r, SP_Q_FLOPS_BATCH, f->batch);
    sp_put(r, SP_Q_FLOPS_FORWARD_2P, 2 * f->params.active);
    sp_put(r, SP_Q_FLOPS_TOKEN_6P, six_p);
    sp_put(r, SP_Q_FLOPS_STEP_6P, sp_training_flops(f->params.active, f->batch));
    if (!shaped)
        return;
    sp_symbol(r, "mlp_flops", w->mlp, "FLOPs", "MLPs, a token forward");
    sp_symbol(r, "projection_flops", w->projections, "FLOPs", "projections, a token forward");
    sp_symbol(r, "attention_flops", w->attention, "FLOPs", "scores and values, a token forward");
    sp_symbol(r, "unembedding_flops", w->unembedding, "FLOPs", "output head, a token forward");
    sp_symbol(r, "embedding_flops", w->embedding, "FLOPs", "input table, if counted");
    sp_put(r, SP_Q_FLOPS_MLP, w->mlp);
    sp_put(r, SP_Q_FLOPS_PROJECTIONS, w->projections);
    sp_put(r, SP_Q_FLOPS_ATTENTION, w->attention);
    sp_put(r, f->model.encoder.layers > 0 ? SP_Q_FLOPS_ENDS : SP_Q_FLOPS_UNEMBEDDING,
           w->unembedding);
    sp_put(r, SP_Q_FLOPS_EMBEDDING, w->embedding);
    sp_put(r, SP_Q_FLOPS_FORWARD, w->total);
    sp_put(r, f->plain ? SP_Q_FLOPS_TOKEN : SP_Q_FLOPS_TOKEN_TUNED, per_token);
    sp_put(r, SP_Q_FLOPS_STEP, per_token * f->batch);
    sp_put(r, SP_Q_FLOPS_EXACT_RATIO, per_token / six_p);
    sp_put(r, SP_Q_FLOPS_ATTENTION_SHARE, w->attention / w->total);
    sp_put(r, SP_Q_FLOPS_ATTENTION_MATMULS, w->attention / (w->mlp + w->projections));
    sp_put(r, SP_Q_FLOPS_ATTENTION_BLOCK,
           (w->projections + w->attention) / (w->mlp + w->projections + w->attention));
    sp_symbol(r, "a", (double)f->model.heads, "", "heads");
    sp_put(r, SP_Q_FLOPS_ATTENTION_ACT,
           sp_selective_saved_share(f->seq, (double)f->model.d_model, (double)f->model.heads));
    sp_put(r, SP_Q_FLOPS_MLP_SHARE, w->mlp / (w->mlp + w->projections));
    sp_put(r, SP_Q_FLOPS_MLP_SHARE_ALL, w->mlp / (w->mlp + w->projections + w->attention));
    const double overtakes = put_lengths(f, causal);
    sp_put(r, SP_Q_FLOPS_RECOMPUTED, f->recomputed);
    sp_put(r, SP_Q_FLOPS_RECOMPUTED_STEP, f->recomputed * f->batch);
    sp_put(r, SP_Q_FLOPS_REMAT_FACTOR, 1 + f->recomputed / per_token);
    sp_put(r, SP_Q_FLOPS_REMAT_RULE, 8.0 / 6);
    sp_put(r, SP_Q_FLOPS_SELECTIVE, sp_selective_flop_overhead(f->seq, (double)f->model.d_model));
    sp_put(r, SP_Q_FLOPS_KV, sp_kv_bytes_per_token(&f->model, kv_bytes));
    sp_line(r,
            "a token      forward {forward_flops_per_token}: MLP {forward.mlp_flops}, projections "
            "{forward.projection_flops}, scores and values {forward.attention_flops} "
            "({attention_share}; %s attention at {seq} tokens), output head "
            "{forward.unembedding_flops}",
            causal ? "causal" : "full");
    sp_line(r, "             training {flops_per_token} against 6P = {six_p_flops_per_token}: "
               "{exact_over_6p} of it");
    sp_line(r, "a step       {flops_per_step} on {batch_tokens} tokens; %s",
            f->recomputed > 0
                ? "recomputation of whole blocks (--remat) makes it {recompute_factor} times that"
                : "nothing is run again (--remat)");
    if (!isfinite(overtakes))
        sp_line(
            r, "attention    never costs as much as the weight matmuls: its windows keep it below");
    else
        sp_line(r, "attention    costs as much as the weight matmuls from "
                   "{attention_overtakes_tokens} tokens (rule 8D: "
                   "{attention_overtakes_rule_tokens}), as its projections from "
                   "{scores_equal_projections_tokens}");
}

static void put_length_row(const struct flops *f, bool causal, double seq, struct sp_row *row,
                           int at)
{
    const double D = (double)f->model.d_model, a = (double)f->model.heads;
    const struct sp_flops w = sp_forward_flops_per_token(&f->model, seq, causal, false);
    snprintf(row->prefix, sizeof row->prefix, "by_seq.%d", at);
    sp_scope(f->report, row->prefix);
    sp_symbol(f->report, "T", seq, "tokens", "sequence length");
    sp_put(f->report, SP_Q_FLOPS_ROW_SEQ, seq);
    sp_put(f->report, SP_Q_FLOPS_ROW_SHARE, w.attention / w.total);
    sp_put(f->report, SP_Q_FLOPS_ROW_OVER, w.attention / w.mlp);
    sp_put(f->report, SP_Q_FLOPS_ROW_ACT, sp_selective_saved_share(seq, D, a));
}

/* Attention's share from 1 Ki to 1 Mi tokens, and at the length that was asked about. */
static void put_by_seq(const struct flops *f, bool causal, bool asked)
{
    static const struct sp_column columns[] = {
        {"seq", "tokens", false},
        {"attention_share", "attention's share", false},
        {"attention_over_mlp", "attention / MLP", false},
        {"attention_activation_share", "of activations, unfused", false}};
    enum { ROWS = 6 };
    struct sp_row rows[ROWS + 1] = {0};
    int n = 0;
    double below = 0;
    if (!sp_model_has_shape(&f->model))
        return;
    for (int power = 10; power <= 20; power += 2) {
        const double seq = ldexp(1, power);
        if (asked && f->seq > below && f->seq < seq) {
            put_length_row(f, causal, f->seq, &rows[n], n);
            n++;
        }
        put_length_row(f, causal, seq, &rows[n], n);
        n++;
        below = seq;
    }
    if (asked && f->seq > below) {
        put_length_row(f, causal, f->seq, &rows[n], n);
        n++;
    }
    sp_scope(f->report, "");
    sp_line(f->report, " ");
    sp_table(f->report, columns, sizeof columns / sizeof columns[0], rows, (size_t)n);
}

/* Tokens, FLOPs and PF-days of a whole run. */
static void put_run(const struct flops *f, const struct sp_args *args)
{
    struct sp_report *r = f->report;
    const double tokens = args->value.tokens, given = args->value.flops;
    const double flops = isnan(given) ? f->computed * tokens : given;
    if (isnan(flops))
        return;
    sp_symbol(r, "tokens_trained", tokens, "tokens", "option --tokens");
    sp_symbol(r, "run_flops", flops, "FLOPs", "option --flops");
    if (!isnan(tokens))
        sp_put(r, SP_Q_FLOPS_TOKENS, tokens);
    sp_put(r,
           !isnan(given) ? SP_Q_FLOPS_RUN_GIVEN
           : f->plain    ? SP_Q_FLOPS_RUN
                         : SP_Q_FLOPS_RUN_TUNED,
           flops);
    if (isnan(given) && sp_model_has_shape(&f->model))
        sp_put(r, SP_Q_FLOPS_RUN_EXACT, f->per_token * tokens);
    sp_put(r, SP_Q_FLOPS_PETA, flops / 1e15);
    sp_put(r, SP_Q_FLOPS_PFDAYS, sp_pf_days(flops));
    sp_line(r, "a run        {flops}, {pf_days} PF-days");
}

/* Tokens/s over all devices as the options say it; NAN where none does. */
static double rate_of(const struct flops *f, const struct sp_args *args)
{
    const double hours = args->value.device_hours, tokens = args->value.tokens;
    const double mfu = args->value.mfu;
    const double hfu = args->value.hfu;
    double rate = args->value.tokens_per_s;
    if (!isnan(hours))
        rate = tokens * f->N / (hours * 3600);
    if (!isnan(mfu))
        rate = mfu * f->N * f->C / f->counted;
    if (!isnan(hfu))
        rate = hfu * f->N * f->C / (f->per_token + f->recomputed);
    return rate;
}

/* Utilisations that attention's scores count in. */
static void put_with_scores(const struct flops *f, double rate)
{
    struct sp_report *r = f->report;
    const double with_scores = sp_utilisation(f->counted_with_scores, rate, f->N, f->C);
    const double hardware = sp_utilisation(f->per_token + f->recomputed, rate, f->N, f->C);
    sp_put(r, f->plain ? SP_Q_FLOPS_MFU_EXACT : SP_Q_FLOPS_MFU_EXACT_COUNTED, with_scores);
    sp_put(r, SP_Q_FLOPS_HFU, hardware);
    if (f->plain)
        sp_note_utilisation(r, "the MFU with attention", with_scores, f->mask);
    sp_note_utilisation(r, "the HFU", hardware, f->mask);
}

static void put_speed(const struct flops *f, const struct sp_args *args)
{
    struct sp_report *r = f->report;
    const double rate = rate_of(f, args);
    if (isnan(rate))
        return;
    sp_put(r, SP_Q_FLOPS_PEAK, f->C);
    sp_put(r, SP_Q_FLOPS_DEVICES, f->N);
    sp_put(r, SP_Q_FLOPS_RATE, rate);
    sp_put(r, SP_Q_FLOPS_RATE_DEVICE, rate / f->N);
    sp_put(r, f->plain ? SP_Q_FLOPS_MFU : SP_Q_FLOPS_MFU_COUNTED,
           sp_utilisation(f->counted, rate, f->N, f->C));
    const double computed = sp_utilisation(f->computed, rate, f->N, f->C);
    sp_note_utilisation(r, "the MFU", computed, SP_FLOPS_6P);
    if (sp_model_has_shape(&f->model))
        put_with_scores(f, rate);
    sp_put(r, f->plain ? SP_Q_FLOPS_TFLOPS : SP_Q_FLOPS_TFLOPS_COUNTED, f->counted * rate / f->N);
    sp_line(r,
            "speed        {tokens_per_s} on {devices} devices of {peak_flops_per_s}: MFU {mfu} "
            "(6P), {mfu_with_attention} with %s, HFU {hfu}",
            sp_counted_flops[f->mask]);
    if (f->model.tuning.trainable == SP_TRAIN_ALL && !f->model.tuning.companions)
        return;
    sp_put(r, SP_Q_TUNING_MFU, computed);
    sp_line(
        r, "             {mfu_computed} of what is computed: the MFU that `train --mfu` takes; the "
           "MFU counts as if all were trained, and nothing beside");
}

static bool load_peak(const struct sp_args *args, const struct sp_sources *sources, struct flops *f,
                      struct sp_error *error)
{
    const double devices = args->value.devices, peak = args->value.peak;
    const bool wants =
        args->given.tokens_per_s || args->given.device_hours || args->given.mfu || args->given.hfu;
    struct sp_hardware hw;
    f->N = isnan(devices) ? 1 : devices;
    f->C = peak;
    if (args->given.device_hours && !args->given.tokens)
        return sp_fail(error, SP_USAGE, "--device-hours needs the --tokens trained in them");
    if (args->value.hw) {
        if (!sp_hardware_of(args, sources, &hw, error))
            return false;
        if (isnan(devices))
            f->N = (double)sp_chips(&hw);
        const enum sp_dtype wanted = (enum sp_dtype)args->value.dtype;
        const enum sp_dtype dtype = sp_compute_dtype(&hw.chip, wanted);
        if (isnan(peak) && dtype == SP_DTYPES)
            return sp_fail(error, SP_INPUT, "%s publishes no peak of %s", hw.name,
                           sp_dtype_names[wanted]);
        if (isnan(peak))
            f->C = hw.chip.peak_flops_per_s[dtype];
    }
    if (wants && isnan(f->C))
        return sp_fail(error, SP_USAGE, "--hw NAME or --peak FLOP/s is needed for a utilisation");
    return true;
}

/* What training a token takes by each way of counting, and what is run again of the layers that a
 * gradient passes. */
static void count_training(struct flops *f, enum sp_remat remat)
{
    struct sp_report *r = f->report;
    const bool shaped = sp_model_has_shape(&f->model);
    const struct sp_flops still =
        sp_still_flops_per_token(&f->model, f->seq, f->mask == SP_FLOPS_CAUSAL);
    struct sp_flops passed = f->forward;
    passed.mlp -= still.mlp;
    passed.projections -= still.projections;
    passed.attention -= still.attention;
    passed.total -= still.total;
    const double table = 3 * f->forward.embedding;
    f->counted = sp_model_flops(&f->model, 1, f->seq, SP_FLOPS_6P);
    f->computed = sp_tuned_flops(&f->model, 1, f->seq, SP_FLOPS_6P) +
                  sp_companion_flops(&f->companions, 1, f->seq, SP_FLOPS_6P);
    f->plain = !(f->computed < 6 * f->params.active || f->computed > 6 * f->params.active);
    f->recomputed = sp_recomputed_flops_per_token(&passed, remat);
    f->counted_with_scores = f->per_token = NAN;
    if (shaped) {
        f->counted_with_scores = sp_model_flops(&f->model, 1, f->seq, f->mask) + table;
        f->per_token = sp_tuned_flops(&f->model, 1, f->seq, f->mask) + table +
                       sp_companion_flops(&f->companions, 1, f->seq, f->mask);
    }
    sp_symbol(r, "counted", f->counted, "FLOPs", "training of a token, 6 a parameter");
    sp_symbol(r, "counted_with_scores", f->counted_with_scores, "FLOPs",
              "training of a token, attention counted, as if all were trained");
    sp_symbol(r, "computed", f->computed, "FLOPs",
              "training of a token, 6 a parameter less what is not computed of frozen ones, with "
              "forward passes of models beside");
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    const bool causal = args->value.attention == 1;
    struct flops f = {.report = report, .mask = causal ? SP_FLOPS_CAUSAL : SP_FLOPS_FULL};
    const char *origin;
    if (!args->value.model && !args->value.shape && !args->given.params && args->given.flops)
        f.model = (struct sp_model){.name = "given FLOPs", .params = NAN};
    else if (!sp_model_of(args, &sources, &f.model, error))
        return false;
    if (!sp_take_companions(args, &sources, NULL, &f.model, &f.companions, error) ||
        !load_peak(args, &sources, &f, error) ||
        !sp_batch_of(args, &f.model, &f.batch, &f.seq, &origin, error))
        return false;
    f.params = sp_count_params(&f.model);
    f.forward = sp_forward_flops_per_token(&f.model, f.seq, causal, args->given.count_embedding);
    count_training(&f, (enum sp_remat)args->value.remat);
    sp_symbol(report, "P_active", f.params.active, "parameters",
              "parameters that one token passes");
    sp_symbol(report, "B", f.batch, "tokens", "batch (%s)", origin);
    sp_symbol(report, "T", f.seq, "tokens", "sequence length");
    sp_symbol(report, "D", (double)f.model.d_model, "", "d_model");
    sp_symbol(report, "V", (double)f.model.vocab, "", "vocabulary");
    sp_symbol(report, "N", f.N, "devices", "devices");
    sp_symbol(report, "C", f.C, "FLOP/s", "peak of one device");
    put_params(&f);
    put_beside(&f, args);
    put_counts(&f, causal, args->value.kv_bytes);
    put_run(&f, args);
    put_speed(&f, args);
    put_by_seq(&f, causal, args->given.seq || args->given.batch);
    return true;
}

const struct sp_command sp_cmd_flops = {
    .name = "flops",
    .summary = "parameters and FLOPs by part, MFU and PF-days",
    .about = "Counts parameters and FLOPs of a model by part, exactly and by the 6P rule, "
             "attention's share and "
             "where it overtakes the MLP, what recomputation adds, and converts between FLOPs, "
             "tokens per "
             "second, device-hours, MFU and HFU.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
};
