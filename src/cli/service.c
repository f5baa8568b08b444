/* The service described by options: degrees, formats and lengths, and their limits. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/names.h>
#include <scaleplan/plan.h>

#include "cli/service.h"

const char *const sp_serve_attentions[] = {"none", "causal", NULL};
const char *const sp_serve_percentiles[] = {"50", "90", "95", "99", NULL};
const char *const sp_serve_loads[] = {"all", "touched", NULL};

static double or_else(double given, double otherwise)
{
    return isnan(given) ? otherwise : given;
}

static double degree_of(const struct serve *f, enum sp_option_id id)
{
    return or_else(sp_number_at(f->args, id), 1);
}

static double chips_of(const struct serve_degrees *d)
{
    return d->tp * d->attention_dp * d->pp;
}

/* "4xtp4dp8ep8": instances (default 1) and their degrees in any order; without EP it follows from
 * the others. Blanks are left out. */
static bool read_degrees(const char *text, size_t n, struct serve_degrees *d)
{
    char word[80] = "", *times;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (used + 1 == sizeof word)
            return false;
        if (text[i] != ' ')
            word[used++] = text[i];
    }
    word[used] = '\0';
    text = word;
    const char *const end = word + used;
    *d = (struct serve_degrees){.instances = 1, .tp = 1, .attention_dp = 1, .pp = 1, .given = true};
    if (isdigit((unsigned char)*text)) {
        d->instances = (double)strtol(text, &times, 10);
        if (times >= end || *times != 'x' || !(d->instances >= 1 && d->instances <= 1e6))
            return false;
        text = times + 1;
    }
    const bool some = text < end;
    while (text < end) {
        double *const of[] = {&d->tp, &d->attention_dp, &d->pp, &d->ep};
        static const char *const names[] = {"tp", "dp", "pp", "ep"};
        size_t i = 0;
        while (i < 4 && strncmp(text, names[i], 2) != 0)
            i++;
        if (i == 4 || !isdigit((unsigned char)text[2]))
            return false;
        char *past;
        *of[i] = strtod(text + 2, &past);
        if (past > end || !(*of[i] >= 1 && *of[i] <= 1e6 && floor(*of[i]) == *of[i]))
            return false;
        text = past;
    }
    return some;
}

/* EP of a pool: a part of its ranks that divides the experts. */
static bool check_pool(const struct serve *f, const struct serve_degrees *d, struct sp_error *error)
{
    const double ranks = d->tp * d->attention_dp, E = (double)f->model.moe.experts;
    return d->ep == 0 ||
           (E > 0 && fmod(ranks, d->ep) == 0 &&
            fmod(E + or_else(f->args->value.redundant_experts, 0), d->ep) == 0) ||
           sp_fail(error, SP_INPUT,
                   "--disaggregate: ep%.0f must divide tp x dp, %.0f, and the experts of %s, %.0f",
                   d->ep, ranks, f->model.name, E);
}

/* --disaggregate P:D: the degrees of both pools; `auto` leaves them as they are. */
static bool read_split(const struct serve *f, struct serve_degrees *reads, struct serve_degrees *d,
                       struct sp_error *error)
{
    const char *const text = f->args->value.disaggregate;
    const char *const colon = text ? strchr(text, ':') : NULL;
    if (!f->is_split)
        return true;
    if (!colon || !read_degrees(text, (size_t)(colon - text), reads) ||
        !read_degrees(colon + 1, strlen(colon + 1), d))
        return sp_fail(
            error, SP_INPUT,
            "--disaggregate: \"%s\": expected auto, no, or degrees of prefill and decode "
            "instances, such as tp4:dp8 or 4xtp1:1xtp8",
            sp_safe(text));
    const double read = reads->instances * chips_of(reads), make = d->instances * chips_of(d);
    const double both = read + make, chips = (double)sp_chips(&f->hw);
    return fmod(chips, both) == 0 ||
           sp_fail(error, SP_INPUT, "--disaggregate %s: %.0f + %.0f chips are not the %.0f of %s",
                   sp_safe(text), read, make, chips, f->args->value.hw);
}

/* A model that generates tokens one by one from its own cache. */
static bool check_decoder(const struct serve *f, struct sp_error *error)
{
    const struct sp_model *const m = &f->model;
    if (m->bidirectional || m->denoised > 0)
        return sp_fail(
            error, SP_INPUT,
            "%s attends in both directions: it does not generate one token after another", m->name);
    return !sp_attends_to_encoder(m) ||
           sp_fail(error, SP_INPUT, "%s attends to an encoder; serving such models is not modelled",
                   m->name);
}

static bool check_tp(const struct serve *f, const struct serve_degrees *d, struct sp_error *error)
{
    const struct sp_model *const m = &f->model;
    if (!sp_model_has_shape(m) || fmod((double)m->heads, d->tp) == 0)
        return true;
    return sp_fail(error, SP_INPUT, "--tp %.0f does not divide the %lld heads of %s", d->tp,
                   (long long)m->heads, m->name);
}

/* Whether degrees determine the size of an instance; else it is the machine, or a replica's
 * share. */
static bool is_cut(const struct serve *f, const struct serve_degrees *d)
{
    return chips_of(d) > 1 || f->args->given.tp || f->is_split;
}

/* Chips of a stage, which experts and attention share. */
static double ranks_of(const struct serve *f, const struct serve_degrees *d)
{
    const double share = (double)sp_chips(&f->hw) / or_else(f->args->value.replicas, 1);
    return is_cut(f, d) ? d->tp * d->attention_dp : share;
}

static bool check_experts(const struct serve *f, const struct serve_degrees *d,
                          struct sp_error *error)
{
    const double ranks = ranks_of(f, d), E = (double)f->model.moe.experts;
    const double etp = degree_of(f, SP_O_etp), ep = or_else(f->args->value.ep, ranks / etp);
    const bool asked = f->args->given.ep || f->args->given.etp;
    if (E <= 0 && d->attention_dp > 1)
        return sp_fail(error, SP_INPUT,
                       "--attention-dp %.0f: %s has no experts, so each rank would hold the whole "
                       "MLP: use --replicas",
                       d->attention_dp, f->model.name);
    if (E <= 0)
        return !asked || sp_fail(error, SP_INPUT, "--ep, --etp: %s has no experts", f->model.name);
    if (ep * etp != ranks || floor(ep) != ep)
        return sp_fail(error, SP_INPUT,
                       "--ep %.6g x --etp %.0f must equal tp x attention-dp, %.6g x %.0f", ep, etp,
                       ranks / d->attention_dp, d->attention_dp);
    const double R = or_else(f->args->value.redundant_experts, 0);
    return !(asked || R > 0) || fmod(E + R, ep) == 0 ||
           sp_fail(
               error, SP_INPUT,
               "--ep %.0f does not divide the %.0f experts of %s: with --redundant-experts %.0f "
               "it does",
               ep, E + R, f->model.name, R + ep - fmod(E + R, ep));
}

/* The degrees given, or an instance of all chips of the machine, or of a replica. */
static bool take_degrees(struct serve *f, struct sp_error *error)
{
    static const enum sp_option_id ids[] = {SP_O_tp, SP_O_pp, SP_O_attention_dp, SP_O_ep, SP_O_etp};
    struct serve_degrees *const d = &f->degrees;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (f->args->given_at[ids[i]] && f->is_split)
            return sp_fail(error, SP_USAGE,
                           "--%s and the degrees of --disaggregate exclude each "
                           "other",
                           sp_option_name(ids[i]));
    if (f->is_split)
        return true;
    *d = (struct serve_degrees){.instances = 1,
                                .tp = degree_of(f, SP_O_tp),
                                .attention_dp = degree_of(f, SP_O_attention_dp),
                                .pp = degree_of(f, SP_O_pp)};
    d->given = f->args->given.tp || f->args->given.pp || f->args->given.attention_dp ||
               f->args->given.replicas;
    return true;
}

/* Chips of an instance and instances of the machine. */
static bool cut_machine(struct serve *f, const struct serve_degrees *reads, double *chips,
                        struct sp_error *error)
{
    const double all = (double)sp_chips(&f->hw), R = f->args->value.replicas;
    const struct serve_degrees *const d = &f->degrees;
    *chips = is_cut(f, d) ? chips_of(d) : all / or_else(R, 1);
    f->readers = f->is_split ? reads->instances / d->instances : 0;
    f->replicas = f->is_split ? all * d->instances /
                                    (*chips * d->instances + reads->instances * chips_of(reads))
                              : floor(all / *chips);
    f->group_chips = all / f->replicas;
    if (*chips < 1 || floor(*chips) != *chips || floor(f->replicas) != f->replicas ||
        f->replicas < 1)
        return sp_fail(error, SP_INPUT,
                       "the %.0f chips of --hw %s do not divide into instances of %.6g (tp x "
                       "attention-dp x pp, or --replicas)",
                       all, f->args->value.hw, *chips);
    if (!isnan(R) && R != f->replicas)
        return sp_fail(error, SP_INPUT, "--replicas %.0f: the degrees allow %.0f on %.0f chips", R,
                       f->replicas, all);
    return true;
}

void sp_take_part(struct serve *f, double chips)
{
    f->part = f->hw;
    if (chips == (double)sp_chips(&f->hw))
        return;
    f->part.slices = 1;
    f->part.chips_per_slice = (int64_t)chips;
    if (f->hw.network.kind == SP_TORUS &&
        !sp_find_shape(&f->hw.network, (int64_t)chips, &f->part.shape))
        f->part.shape = (struct sp_shape){{1, 1, 1}};
}

/* How the cache is stored. */
static void take_cache(struct serve *f)
{
    const int given = f->args->value.kv;
    const bool narrow = f->engine.narrow_cache && sp_storages[f->weights].bytes <= 1;
    const int own = narrow && f->model.kv == SP_STORED_BF16 ? SP_STORED_FP8 : f->model.kv;
    f->kv = (enum sp_storage)(given >= 0 ? given : own);
}

/* The format in which engines store a checkpoint's weights: for narrower arithmetic they quantise
 * those of 16 bits when they load them. */
static int stored_for_math(const struct serve *f, int stored)
{
    int narrow = stored;
    while (f->args->given.dtype && stored == SP_STORED_BF16 && narrow < SP_STORAGES &&
           (int)sp_storages[narrow].matmul != f->args->value.dtype)
        narrow++;
    return narrow < SP_STORAGES ? narrow : stored;
}

/* Formats of the weights: those of the options, else of the checkpoint and the arithmetic. */
static void take_weights(struct serve *f)
{
    const struct sp_option_values *const v = &f->args->value;
    const int checkpoint = stored_for_math(f, (int)f->model.weights);
    const int experts =
        v->weights >= 0 ? v->weights : stored_for_math(f, (int)f->model.expert_weights);
    f->weights = (enum sp_storage)(v->weights >= 0 ? v->weights : checkpoint);
    f->expert_weights = (enum sp_storage)(v->expert_weights >= 0 ? v->expert_weights : experts);
}

/* The profile of --profile; the name of the stack from which the pair borrows waits for the
 * engine. */
static bool take_profile(struct serve *f, const struct sp_sources *sources, struct sp_error *error)
{
    const char *const name = f->args->value.profile;
    if (!name)
        return true;
    if (!sp_model_has_shape(&f->model))
        return sp_fail(error, SP_INPUT, "--profile: the estimate needs a shape, not --params");
    f->own_profile = true;
    return sp_load_serving_profile(name, sources, &f->profile, error);
}

/* The engine's habits that count; the textbook has none. */
static bool take_engine(struct serve *f, const struct sp_sources *sources, struct sp_error *error)
{
    const char *const name = f->args->value.engine;
    f->engine = (struct sp_engine){
        .name = "none", .memory_fraction = 1, .block_tokens = 1, .reserves_answer = true};
    const char *const usual = f->profile.framework[0]          ? f->profile.framework
                              : f->hw.network.kind == SP_TORUS ? "jetstream"
                                                               : "vllm";
    const bool none = name ? strcmp(name, "none") == 0 : f->textbook;
    if (!none && !sp_load_engine(name ? name : usual, sources, &f->engine, error))
        return false;
    take_weights(f);
    take_cache(f);
    return true;
}

static bool check_kv(const struct serve *f, struct sp_error *error)
{
    const enum sp_storage kv = f->kv;
    if (sp_storages[kv].weights_only)
        return sp_fail(error, SP_INPUT,
                       "--kv %s is a weight format; a cache takes bf16, fp8 or int8",
                       sp_storage_names[kv]);
    if (f->model.mla.kv_lora_rank > 0 && sp_storages[kv].bytes < 1)
        return sp_fail(
            error, SP_INPUT,
            "--kv %s: no engine keeps the MLA latent below 8 bits; use bf16, fp8 or int8",
            sp_storage_names[kv]);
    if (sp_takes_pictures(&f->model))
        return sp_fail(error, SP_INPUT, "%s takes images and generates no tokens", f->model.name);
    if (f->args->given.kv_per_token && sp_model_has_shape(&f->model))
        return sp_fail(error, SP_USAGE, "--kv-per-token is for --params; the shape of %s gives it",
                       f->model.name);
    if (f->args->given.host_cache && !(sp_host_bytes_per_s(&f->hw.chip) > 0))
        return sp_fail(error, SP_INPUT,
                       "--host-cache: %s has no chip.pcie_bytes_per_s: give --set "
                       "hw.chip.pcie_bytes_per_s=BYTES/S",
                       f->hw.name);
    return f->args->value.prefix_hit < 1 ||
           sp_fail(error, SP_INPUT,
                   "--prefix-hit must be below 1: the last token of a prompt is always computed");
}

/* A rule that was chosen, or the one that the constants take: the first choice for the textbook. */
static int rule_of(const struct serve *f, int chosen)
{
    return chosen < 0 ? !f->textbook : chosen;
}

static void note_compute(const struct serve *f)
{
    const enum sp_dtype wanted = (enum sp_dtype)f->args->value.dtype;
    if (f->args->given.dtype && sp_compute_dtype(&f->hw.chip, wanted) != wanted)
        sp_note(f->report, "%s publishes no peak for %s: arithmetic is counted in %s", f->hw.name,
                sp_dtype_names[wanted], sp_dtype_names[sp_compute_dtype(&f->hw.chip, wanted)]);
    if (f->args->given.dtype && stored_for_math(f, (int)f->weights) != (int)f->weights)
        sp_note(f->report, "no engine multiplies %s weights in %s", sp_storage_names[f->weights],
                sp_dtype_names[wanted]);
}

/* The format of the multiplications: the stored one; in the textbook bf16, unless --dtype names
 * another. */
static enum sp_dtype math_of(const struct serve *f, enum sp_storage stored_as)
{
    if (f->args->given.dtype)
        return (enum sp_dtype)f->args->value.dtype;
    return f->textbook ? SP_BF16 : sp_math_of_stored(&f->hw.chip, stored_as);
}

static struct sp_service service_of(const struct serve *f, double chips)
{
    const struct sp_args *const args = f->args;
    const double context = args->value.context, input = f->input.mean, output = f->output.mean;
    const double seen = f->output.square / output; /* the answer to which a step belongs: longer
                                                      ones have more steps */
    const bool tp = f->is_split || args->given.tp;
    return (struct sp_service){
        .model = &f->model,
        .hw = &f->part,
        .chips = chips,
        .tp = tp ? f->degrees.tp : 0,
        .attention_dp = f->degrees.attention_dp,
        .weight_bytes = sp_storages[f->weights].bytes,
        .expert_bytes = sp_storages[f->expert_weights].bytes,
        .kv_bytes = sp_storages[f->kv].bytes,
        .kv_token_bytes = args->value.kv_per_token,
        .pp = f->degrees.pp,
        .ep = args->given.ep || args->given.etp
                  ? or_else(args->value.ep, ranks_of(f, &f->degrees) / degree_of(f, SP_O_etp))
                  : f->degrees.ep,
        .math = math_of(f, f->weights),
        .expert_math = math_of(f, f->expert_weights),
        .memory_fraction = or_else(args->value.memory_fraction, f->engine.memory_fraction),
        .fraction_of_free = f->engine.of_free,
        .keeps_all = f->engine.keeps_all,
        .buffer_bytes = f->engine.buffer_bytes,
        .separate = f->engine.separate_prompts,
        .poll_steps = f->engine.poll_steps,
        .most_running = or_else(args->value.max_running, 0),
        .redundant = or_else(args->value.redundant_experts, 0),
        .imbalance = or_else(args->value.imbalance, 0),
        .moe_overlap = args->value.moe_overlap == 1,
        .input = input,
        .output = output,
        .held_tokens = or_else(context, sp_held_tokens(&f->engine, input, seen)),
        .step_tokens = or_else(context, input + seen / 2),
        .block = or_else(args->value.block, f->engine.block_tokens),
        .prefix_hit = args->value.prefix_hit,
        .host_bytes_per_s = args->given.host_cache ? sp_host_bytes_per_s(&f->hw.chip) : 0,
        .by_layer = f->engine.fetches_by_layer,
        .chunk = or_else(args->value.chunk, f->engine.chunk_tokens),
        .mfu = args->value.mfu,
        .attention = rule_of(f, args->value.attention) == 1,
        .all_experts = rule_of(f, args->value.experts_loaded) == 0,
    };
}

/* Lengths of the requests. Those of a file stay pairs. */
static bool take_lengths(struct serve *f, const struct sp_sources *sources, struct sp_error *error)
{
    const char *const *const text = f->args->text;
    const struct sp_trace *in, *out;
    if (!sp_load_lengths(text[SP_O_input], "--input", SP_TRACE_INPUT, sources, &f->input, &in,
                         error))
        return false;
    const bool both = in && in->column[SP_TRACE_OUTPUT] && !f->args->given.output;
    f->output_text = text[both ? SP_O_input : SP_O_output];
    if (!sp_load_lengths(f->output_text, "--output", SP_TRACE_OUTPUT, sources, &f->output, &out,
                         error))
        return false;
    const bool pairs = !(in && out && in != out) && f->input.plus + f->output.plus == 0 &&
                       f->input.most + f->output.most == 0;
    f->rows = !pairs ? NULL : in ? in : out;
    if (f->args->given.max_response) { /* pairs of a file would be longer */
        if (f->output.kind == SP_LENGTHS_FIXED && f->output.mean > f->args->value.max_response)
            return sp_fail(error, SP_INPUT, "--max-response %.0f: all answers are longer (%.0f)",
                           f->args->value.max_response, f->output.mean);
        f->output.most = f->args->value.max_response;
        f->rows = NULL;
        sp_settle_lengths(&f->output);
    }
    return true;
}

/* The instance that reads prompts, which may have its own degrees. */
static struct sp_service reader_of(const struct serve *f, const struct serve_degrees *reads)
{
    struct sp_service reader = f->service;
    reader.drafts = 0;
    reader.draft_model = NULL;
    reader.most_running = 0;
    if (f->is_split) {
        reader.chips = chips_of(reads);
        reader.tp = reads->tp;
        reader.attention_dp = reads->attention_dp;
        reader.ep = reads->ep;
    }
    return reader;
}

bool sp_wants_simulation(const struct serve *f)
{
    return f->args->given.simulate || f->input.kind != SP_LENGTHS_FIXED ||
           f->output.kind != SP_LENGTHS_FIXED;
}

double sp_longest_request(const struct serve *f)
{
    return f->args->given.context ? f->service.step_tokens : f->service.input + f->service.output;
}

/* Share of the requests that are longer than the model allows, if their lengths differ and no
 * --context is given; else 0. Pairs of a file count as they are; other prompts and answers are
 * independent: the mean over the answers at equally spaced quantiles. */
static double share_too_long(const struct serve *f)
{
    enum { ANSWERS = 1000 };
    const double most = (double)f->model.max_seq;
    const bool differ = f->input.kind != SP_LENGTHS_FIXED || f->output.kind != SP_LENGTHS_FIXED;
    const bool pairs = f->rows && f->input.kind == f->output.kind;
    const size_t n = pairs ? f->rows->n : ANSWERS;
    double longer = 0;
    if (!differ || f->args->given.context || !(most > 0))
        return 0;
    for (size_t i = 0; i < n; i++)
        longer +=
            pairs ? f->rows->column[SP_TRACE_INPUT][i] + f->rows->column[SP_TRACE_OUTPUT][i] > most
                  : sp_lengths_over(&f->input, most - sp_lengths_quantile(
                                                          &f->output, ((double)i + 0.5) / ANSWERS));
    return longer / (double)n;
}

static void note_lengths(const struct serve *f)
{
    const double over = share_too_long(f);
    if (over >= 1e-4) /* the least that a share in words shows */
        sp_note(f->report, "%s of the requests exceed the maximum of %s, %lld (a last :MOST cuts)",
                sp_human_text(over, SP_FRACTION), f->model.name, (long long)f->model.max_seq);
    else
        sp_note_length(f->report, &f->model, sp_longest_request(f));
    if (!sp_model_has_shape(&f->model) && isnan(f->service.kv_token_bytes))
        sp_note(f->report,
                "the KV cache of a model without a shape is not counted: give --kv-per-token");
}

/* The pair's own profile, or one borrowed from its siblings, if the estimate knows the machine. */
static bool find_serving(struct serve *f, const struct sp_sources *sources, struct sp_error *error)
{
    const bool known = f->hw.network.kind == SP_SWITCHED && sp_model_has_shape(&f->model);
    if (f->textbook || !known)
        return true;
    if (!sp_load_serving(&f->hw, f->engine.name, sources, &f->profile, &f->own_profile, error))
        return false;
    return true;
}

/* The draft model, of the same tokens. */
static bool load_draft(struct serve *f, const struct sp_sources *sources, const char *name,
                       struct sp_error *error)
{
    if (!sp_load_model(name, sources, &f->draft_model, error))
        return false;
    if (sp_model_has_shape(&f->model) && f->draft_model.vocab != f->model.vocab)
        return sp_fail(error, SP_INPUT,
                       "--draft-model %s: its vocabulary of %lld differs from that of %s, %lld",
                       f->draft_model.name, (long long)f->draft_model.vocab, f->model.name,
                       (long long)f->model.vocab);
    f->service.draft_model = &f->draft_model;
    return true;
}

static bool check_drafts(const struct serve *f, struct sp_error *error)
{
    const bool a = f->args->given.acceptance, n = f->args->given.accepted;
    const bool k = f->args->given.draft_tokens;
    if (a && n)
        return sp_fail(error, SP_INPUT, "--acceptance and --accepted exclude each other");
    if ((a || n) && !k)
        return sp_fail(error, SP_USAGE, "--accept%s needs --draft-tokens K", a ? "ance" : "ed");
    if (k && !a && !n && f->args->given.draft_model)
        return sp_fail(error, SP_USAGE,
                       "--draft-model needs --acceptance FRACTION or --accepted N");
    if (n && f->args->value.accepted > f->args->value.draft_tokens + 1)
        return sp_fail(error, SP_INPUT, "--accepted: at most --draft-tokens + 1");
    return k || !f->args->given.draft_model ||
           sp_fail(error, SP_USAGE, "--draft-model needs --draft-tokens K");
}

/* Puts speculative decoding into the service; checks --draft-tokens and related options. */
static bool load_drafts(struct serve *f, const struct sp_sources *sources, struct sp_error *error)
{
    const char *const name = f->args->value.draft_model;
    const double k = f->args->value.draft_tokens;
    const double a = f->args->value.acceptance, n = f->args->value.accepted;
    if (!check_drafts(f, error) || (name && !load_draft(f, sources, name, error)))
        return false;
    if (isnan(k))
        return true;
    f->service.drafts = k;
    f->acceptance = f->model.speculative;
    if (!isnan(a) || !isnan(n) || !(f->acceptance.first > 0))
        f->acceptance = (struct sp_acceptance){or_else(a, isnan(n) ? SP_MEAN_ACCEPTANCE : NAN),
                                               f->textbook ? 1 : SP_LATER_ACCEPTANCE};
    f->service.accepted = or_else(n, sp_speculated_tokens(k, &f->acceptance));
    return true;
}

bool sp_load_service(struct serve *f, const struct sp_sources *sources, struct sp_error *error)
{
    return sp_model_of(f->args, sources, &f->model, error) &&
           (f->args->value.hw ||
            sp_fail(error, SP_USAGE, "--hw NAME[-CHIPS] is needed, such as v5p-4096 or h100-512%s",
                    f->args->value.from
                        ? ""
                        : "; for the cache alone: `scaleplan flops --model NAME --get "
                          "kv_bytes_per_token`")) &&
           sp_hardware_of(f->args, sources, &f->hw, error) && check_decoder(f, error) &&
           take_profile(f, sources, error) && take_engine(f, sources, error) &&
           sp_check_peak(&f->hw, math_of(f, f->weights), error) &&
           sp_settle_service(f, sources, error);
}

bool sp_settle_service(struct serve *f, const struct sp_sources *sources, struct sp_error *error)
{
    struct serve_degrees reads = {.instances = 1, .tp = 1, .attention_dp = 1, .pp = 1};
    const char *const split = f->args->value.disaggregate;
    double chips;
    f->pooled = split && strcmp(split, "no") != 0;
    f->is_split = f->pooled && strcmp(split, "auto") != 0;
    if (!take_degrees(f, error) || !read_split(f, &reads, &f->degrees, error) ||
        !check_tp(f, &f->degrees, error) || !check_tp(f, &reads, error) ||
        !check_experts(f, &f->degrees, error) ||
        (f->is_split && !check_experts(f, &reads, error)) || !check_pool(f, &reads, error) ||
        !check_pool(f, &f->degrees, error) || !cut_machine(f, &reads, &chips, error) ||
        !check_kv(f, error) || !sp_price_of(f->args, &f->hw, f->args->value.hw, &f->price, error))
        return false;
    if (!take_lengths(f, sources, error))
        return false;
    sp_take_part(f, chips);
    f->service = service_of(f, chips);
    if (!load_drafts(f, sources, error))
        return false;
    if (!f->profile.name[0] && !find_serving(f, sources, error))
        return false;
    sp_prepare_service(&f->service, &f->served);
    if (f->service.draft_model) {
        sp_prepare_draft(&f->service, &f->draft);
        f->served.draft = &f->draft;
    }
    const struct sp_service reader = reader_of(f, &reads);
    sp_prepare_service(&reader, &f->reader);
    note_compute(f);
    note_lengths(f);
    return true;
}
