/* flops: parameters and FLOPs by part, and conversions between FLOPs, time and utilisation. */
#include <math.h>
#include <string.h>

#include "cli/companions.h"
#include "cli/tuning.h"
#include "answer/utilisation.h"
#include <scaleplan/lengths.h>
#include "pictures/parts.h"
#include "study/training_flops.h"

static const char *const masks[] = {"full", "causal", NULL};

static const struct sp_taken options[] = {
    SP_OPTIONS_SIZED_MODEL,
    SP_OPTIONS_TUNING,
    SP_OPTIONS_COMPANIONS,
    SP_OPTIONS_BATCH,
    SP_TAKE(documents),
    SP_OPTION_REMAT("none"),
    SP_TAKE(attention, .fallback = "full", .choices = masks),
    SP_TAKE(count_embedding),
    SP_OPTION_PLOT,
    SP_TAKE(kv, .fallback = "bf16"),
    SP_TAKE(kv_bytes, .excludes = SP_THESE(SP_O_kv)),
    SP_TAKE(tokens),
    SP_TAKE(flops),
    SP_OPTIONS_MACHINE,
    SP_TAKE(devices),
    SP_TAKE(dtype, .fallback = "bf16"),
    SP_TAKE(peak),
    SP_TAKE(tokens_per_s),
    SP_TAKE(device_hours, .needs = SP_THESE(SP_O_tokens)),
    SP_TAKE(mfu),
    SP_TAKE(hfu),
};

static const struct sp_example examples[] = {
    {"flops --model llama3-70b", "parameters and FLOPs by part"},
    {"flops --model llama3-70b --tokens 15T --get flops", "FLOPs of a training run"},
    {"flops --params 7e9 --hw h100 --tokens-per-s 10000 --get mfu", "MFU of a measured speed"},
    {NULL, NULL},
};

/* The source of the speed; the last one given counts. */
enum rate_from { RATE_GIVEN, RATE_OF_HOURS, RATE_OF_MFU, RATE_OF_HFU };

/* The question, and the values shown by the rows of flops.def and flops_params.def. */
struct flops {
    double asked_seq; /* that is listed among the others; NAN: none */
    struct sp_model model;
    struct sp_companions companions; /* the model's tuning points here if there are some */
    struct sp_documents documents;   /* the model points here if there are some */
    struct sp_params params;
    struct sp_training_flops of; /* a token */
    struct sp_scores parts[SP_MOST_SCORES];
    int kinds; /* how many of them */
    bool shaped, causal, asks_step, has_lengths;
    bool has_beside, is_tuned; /* other models run alongside it; they run, or something is frozen */
    enum sp_flop_convention scores;
    double batch, seq, width, heads; /* tokens, tokens, d_model, heads */
    double rule_params, two_p, six_p, kv_bytes;
    double overtakes, overtakes_mlp, equals_projections; /* tokens; INFINITY: never */
    double tokens, run_flops;                            /* of the whole run */
    bool has_run, is_run_given;
    double C, N; /* FLOP/s of a device, devices */
    double hours, mfu, hfu, rate;
    bool has_rate;
    enum rate_from rate_from;
    const char *above_mfu, *above_with_attention, *above_hfu; /* why above 100 %; NULL: not */
};

/* Attention at a sequence length. */
struct length {
    double seq, width, heads;
    struct sp_flops forward;
};

#define SP_PART flops_params
#define SP_PART_OF struct flops
#include "answer/put_rows.h"

#define SP_PART flops_seq
#define SP_PART_OF struct length
#include "answer/put_rows.h"

/* Groups of layers with the same attention. */
struct scores {
    struct sp_scores of;
    double seq, rest; /* tokens; after the last whole chunk */
    bool packed;      /* with documents all are means over tokens */
    double entries;   /* of the sequence, where some stand for many tokens */
};

static const char *const reaches[SP_REACHES] = {
    [SP_REACH_ALL] = "the whole sequence",
    [SP_REACH_WINDOW] = "a window of the last tokens",
    [SP_REACH_CHUNK] = "its chunk of tokens",
    [SP_REACH_BOTH_SIDES] = "a window around it",
    [SP_REACH_PICKED] = "tokens that an indexer picks",
    [SP_REACH_ENTRIES] = "entries of many tokens",
    [SP_REACH_RECURRENCE] = "a state, or further streams",
};

#define SP_PART flops_scores
#define SP_PART_OF struct scores
#include "answer/put_rows.h"

static void put_scores(struct sp_report *report, const struct flops *f)
{
    for (int i = 0; i < f->kinds; i++) {
        const double W = f->parts[i].mixer.window;
        const double c = f->parts[i].mixer.ratio;
        const struct scores scores = {f->parts[i], f->seq, W > 0 ? fmod(f->seq, W) : 0,
                                      f->model.documents != NULL,
                                      c > 0 ? sp_entries(c, f->seq) : 0};
        sp_begin_row(report, "", "scores.%d", i);
        put_flops_scores_rows(report, &scores);
    }
    sp_scope(report, "");
}

/* Powers of 4 from 1 Ki to 1 Mi tokens with `asked` (NAN: none) at its place. Their number. */
enum { MOST_LENGTHS = 7 };
static int list_lengths(double asked, double out[MOST_LENGTHS])
{
    int n = 0;
    double below = 0;
    for (int power = 10; power <= 20; power += 2) {
        const double seq = ldexp(1, power);
        if (asked > below && asked < seq)
            out[n++] = asked;
        out[n++] = below = seq;
    }
    if (asked > below)
        out[n++] = asked;
    return n;
}

/* Attention's share over sequence lengths. */
static void put_lengths(struct sp_report *report, const struct flops *f)
{
    double seq[MOST_LENGTHS];
    const int n = list_lengths(f->asked_seq, seq);
    for (int i = 0; i < n; i++) {
        const struct length length = {
            seq[i], f->width, f->heads,
            sp_forward_flops_per_token(&f->model, seq[i], f->causal, false)};
        sp_begin_row(report, "", "by_seq.%d", i);
        put_flops_seq_rows(report, &length);
    }
    sp_scope(report, "");
}

#define SP_PART flops
#define SP_PART_OF struct flops
#include "answer/put_rows.h"

static bool load_peak(const struct sp_args *args, const struct sp_sources *sources, struct flops *f,
                      struct sp_error *error)
{
    const double devices = args->value.devices, peak = args->value.peak;
    struct sp_hardware hw;
    f->N = isnan(devices) ? 1 : devices;
    f->C = peak;
    if (args->value.hw) {
        if (!sp_hardware_of(args, sources, &hw, error))
            return false;
        if (isnan(devices))
            f->N = (double)sp_chips(&hw);
        const enum sp_dtype wanted = (enum sp_dtype)args->value.dtype;
        if (isnan(peak) && !sp_check_peak(&hw, wanted, error))
            return false;
        if (isnan(peak))
            f->C = hw.chip.peak_flops_per_s[sp_compute_dtype(&hw.chip, wanted)];
    }
    const bool wants =
        args->given.tokens_per_s || args->given.device_hours || args->given.mfu || args->given.hfu;
    if (wants && isnan(f->C))
        return sp_fail(error, SP_USAGE, "a utilisation needs --hw NAME or --peak FLOP/s");
    return true;
}

static void count(const struct sp_args *args, struct flops *f)
{
    const struct sp_flops_question question = {
        .model = &f->model,
        .companions = &f->companions,
        .seq = f->seq,
        .scores = f->scores,
        .remat = (enum sp_remat)args->value.remat,
        .count_embedding = args->given.count_embedding,
    };
    f->params = sp_count_params(&f->model);
    f->of = sp_count_training_flops(&question);
    f->shaped = sp_model_has_shape(&f->model);
    f->has_lengths = f->shaped && !sp_takes_pictures(&f->model);
    f->kinds = f->shaped ? sp_list_scores(&f->model, f->seq, f->causal, f->parts) : 0;
    f->has_beside = args->given.reference || args->given.teacher;
    f->is_tuned = f->model.tuning.trainable != SP_TRAIN_ALL || f->model.tuning.companions;
    f->width = (double)f->model.d_model;
    f->heads = (double)f->model.heads;
    f->rule_params = sp_rule_params(&f->model, &f->params, f->seq);
    f->two_p = sp_two_p(f->rule_params);
    f->six_p = sp_six_p(f->rule_params);
    f->kv_bytes = sp_kv_bytes_per_token(&f->model, sp_kv_element_bytes(args));
    f->overtakes = sp_attention_crossover_tokens(&f->model, f->causal);
    f->overtakes_mlp = sp_attention_overtakes_mlp_tokens(&f->model, f->seq, f->causal);
    f->equals_projections = sp_scores_equal_projections_tokens(&f->model, f->causal);
}

/* Why the speed exceeds the abilities of the devices, counting these FLOPs per token; else NULL. */
static const char *above_peak(const struct flops *f, double flops_per_token,
                              enum sp_flop_convention convention)
{
    return sp_above_peak(sp_utilisation(flops_per_token, f->rate, f->N, f->C), convention);
}

/* The FLOPs of the run and the speed, from the options. */
static void convert(const struct sp_args *args, struct flops *f)
{
    f->tokens = args->value.tokens;
    f->is_run_given = args->given.flops;
    f->run_flops =
        f->is_run_given ? args->value.flops : sp_flops_of_tokens(f->of.computed, f->tokens);
    f->has_run = !isnan(f->run_flops);
    f->hours = args->value.device_hours;
    f->mfu = args->value.mfu;
    f->hfu = args->value.hfu;
    f->rate = args->value.tokens_per_s;
    if (!isnan(f->hours)) {
        f->rate_from = RATE_OF_HOURS;
        f->rate = sp_rate_of_device_hours(f->tokens, f->N, f->hours);
    }
    if (!isnan(f->mfu)) {
        f->rate_from = RATE_OF_MFU;
        f->rate = sp_rate_of_utilisation(f->mfu, f->N, f->C, f->of.computed);
    }
    if (!isnan(f->hfu)) {
        f->rate_from = RATE_OF_HFU;
        f->rate = sp_rate_of_utilisation(f->hfu, f->N, f->C, f->of.hardware);
    }
    f->has_rate = !isnan(f->rate);
    f->above_mfu = above_peak(f, f->of.computed, SP_FLOPS_6P);
    f->above_with_attention = above_peak(f, f->of.computed_with_scores, f->scores);
    f->above_hfu = above_peak(f, f->of.hardware, f->scores);
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct flops f = {.causal = args->value.attention == 1};
    const char *origin;
    f.scores = f.causal ? SP_FLOPS_CAUSAL : SP_FLOPS_FULL;
    if (!args->value.model && !args->value.shape && !args->given.params && args->given.flops)
        f.model = (struct sp_model){.name = "given FLOPs", .params = NAN};
    else if (!sp_model_of(args, &sources, &f.model, error))
        return false;
    if (!sp_take_companions(args, &sources, NULL, &f.model, &f.companions, error) ||
        !load_peak(args, &sources, &f, error) ||
        !sp_batch_of(args, &f.model, &f.batch, &f.seq, &origin, error) ||
        !sp_take_documents(args, &sources, f.seq, &f.model, &f.companions, &f.documents, error))
        return false;
    f.asked_seq = args->given.seq || args->given.batch ? f.seq : NAN;
    f.asks_step = args->given.batch;
    count(args, &f);
    convert(args, &f);
    sp_count_images(report, sp_takes_pictures(&f.model));
    put_flops_params_rows(report, &f);
    sp_put_tuning(report, &f.model);
    if (f.has_beside)
        sp_put_companion_work(report, args, &f.companions, NULL);
    put_flops_rows(report, &f);
    return true;
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    (void)args;
    struct sp_figure *const figure = sp_draw_flops(report);
    if (figure->n_panels > 0)
        return figure;
    sp_figure_free(figure);
    sp_fail(error, SP_INPUT, "--plot draws a model by part: it needs a --model or a --shape");
    return NULL;
}

const struct sp_command sp_cmd_flops = {
    .name = "flops",
    .summary = "parameters and FLOPs by part, MFU and PF-days",
    .about = "Counts parameters and FLOPs of a model by part, exactly and by the 6P rule, the "
             "share of attention and the length at which it overtakes the MLP, and the cost of "
             "recomputation. Converts between FLOPs, tokens/s, device-hours, MFU and HFU.",
    SP_OPTIONS(options),
    .examples = examples,
    .run = run,
    .plot = plot,
};
