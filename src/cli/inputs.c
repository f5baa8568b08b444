/* Inputs that several commands share. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/estimate.h>
#include <scaleplan/lengths.h>
#include <scaleplan/serve.h>

#include "base/number.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/tuning.h"
#include "config/lengths.h"

struct sp_sources sp_sources_of(const struct sp_args *args)
{
    return (struct sp_sources){
        .config_dir = args->value.config_dir,
        .textbook = args->value.constants == 1,
        .assume = args->value.assume,
        .sets = args->many,
        .n_sets = args->n_many,
        .world = args->world,
    };
}

/* Loads the named model, whichever part is trained. */
static bool load_model(const struct sp_args *args, const struct sp_sources *sources,
                       struct sp_model *model, struct sp_error *error)
{
    const char *const name = args->value.model, *const shape = args->value.shape;
    const double params = args->value.params;
    if (!name && !shape && isnan(params))
        return sp_fail(error, SP_USAGE,
                       "--model NAME (or --%s) is needed; names: `scaleplan list models`",
                       sp_option_taken(args, SP_O_params) ? "params N" : "shape KEY=VALUE,...");
    if (name)
        return sp_load_model(name, sources, model, error);
    if (shape)
        return sp_model_from_shape(shape, sources, model, error);
    *model = (struct sp_model){.params = params};
    snprintf(model->name, sizeof model->name, "%s parameters", args->text[SP_O_params]);
    return true;
}

bool sp_model_of(const struct sp_args *args, const struct sp_sources *sources,
                 struct sp_model *model, struct sp_error *error)
{
    return load_model(args, sources, model, error) && sp_take_tuning(args, sources, model, error);
}

bool sp_hardware_of(const struct sp_args *args, const struct sp_sources *sources,
                    struct sp_hardware *hw, struct sp_error *error)
{
    const char *const spec = args->value.hw, *const network = args->value.network;
    if (!spec)
        return sp_fail(error, SP_USAGE,
                       "--hw NAME[-CHIPS] is needed, such as v5p-4096 or h100-512; names: "
                       "`scaleplan list hardware`");
    return sp_load_hardware(spec, sources, hw, error) &&
           (!network || sp_put_network(network, sources, hw, error));
}

bool sp_is_bare_chip(const char *spec)
{
    const char *const count = strrchr(spec, '-');
    return !strpbrk(spec, "/,:") &&
           !(count && count[1] && count[1 + strspn(count + 1, "0123456789x")] == '\0');
}

bool sp_put_network(const char *network, const struct sp_sources *sources, struct sp_hardware *hw,
                    struct sp_error *error)
{
    struct sp_scaleout scaleout;
    if (hw->network.kind == SP_TORUS)
        return sp_fail(error, SP_INPUT,
                       "--network %s: %s is a torus and has no scale-out network to replace",
                       sp_safe(network), hw->name);
    const bool everywhere = strncmp(network, "all:", 4) == 0;
    if (!sp_load_scaleout(everywhere ? network + 4 : network, sources, &scaleout, error))
        return false;
    if (everywhere)
        sp_use_everywhere(hw, &scaleout);
    else
        sp_use_scaleout(&hw->network, &scaleout);
    hw->network.scaleout_given = true;
    return true;
}

/* Whether a batch is in tokens: "3M", "3Mtokens" and "3B" are; other units are an error. */
static bool counts_tokens(const char *text)
{
    const char *const unit = sp_unit_of_number(text);
    return !*unit || strcmp(unit, "tokens") == 0 ||
           (strcmp(unit, "B") == 0 && unit > text && strchr("0123456789.", unit[-1]));
}

/* "128x" is 128 sequences of the default length: launches count sequences, and some do not know the
 * length. */
static bool is_sequences(const char *text, double *sequences)
{
    char number[32];
    const size_t length = strlen(text);
    snprintf(number, sizeof number, "%.*s", length > 0 ? (int)length - 1 : 0, text);
    return length > 1 && length < sizeof number && text[length - 1] == 'x' &&
           sp_parse_count(number, sequences);
}

bool sp_tokens_of(const struct sp_args *args, enum sp_option_id id, double *tokens, double *seq,
                  struct sp_error *error)
{
    const char *text = args->text[id], *const name = sp_option_name(id);
    double dims[2];
    *tokens = NAN;
    if (!text)
        return true;
    if (seq && text[0] == '~') /* about that many: see struct sp_asked_batch */
        text++;
    if (seq && is_sequences(text, tokens)) {
        *tokens *= *seq;
    } else if (sp_parse_pair(text, dims)) {
        if (seq && args->given.seq && args->value.seq != dims[1])
            return sp_fail(error, SP_INPUT, "--%s %s: its length differs from --seq %s", name,
                           sp_safe(text), args->text[SP_O_seq]);
        *tokens = dims[0] * dims[1];
        if (seq)
            *seq = dims[1];
    } else if (!sp_parse_count(text, tokens) || !counts_tokens(text)) {
        return sp_fail(error, SP_INPUT,
                       "--%s: \"%s\" is neither tokens (3M, 4Mi) nor %sSEQUENCESxLENGTH "
                       "(1024x4096)%s",
                       name, sp_safe(text), seq ? "SEQUENCESx or " : "", sp_prefix_hint(text));
    }
    const int most = seq ? 15 : 18; /* a batch of sequences is worked with as a whole number */
    return (*tokens >= 1 && *tokens <= pow(10, most) && (!seq || (*seq >= 1 && *seq <= 1e12))) ||
           sp_fail(error, SP_INPUT, "--%s %s: expected from 1 to 10^%d tokens", name, sp_safe(text),
                   most);
}

bool sp_take_documents(const struct sp_args *args, const struct sp_sources *sources, double seq,
                       struct sp_model *model, struct sp_companions *companions,
                       struct sp_documents *documents, struct sp_error *error)
{
    struct sp_lengths lengths;
    const double room = args->given.pack ? args->value.pack : seq;
    if (!args->given.documents)
        return true;
    if (room < seq)
        return sp_fail(error, SP_INPUT, "--pack %.0f: the rows of --batch have %.0f tokens", room,
                       seq);
    if (!sp_model_has_shape(model))
        return sp_fail(error, SP_INPUT, "--documents: %s has no known shape", model->name);
    if (!sp_load_lengths(args->text[SP_O_documents], "--documents", SP_TRACE_INPUT, sources,
                         &lengths, NULL, error))
        return false;
    if (!sp_pack_documents(&lengths, room, seq, documents))
        return true;
    model->documents = documents;
    for (int i = 0; i < SP_COMPANION_ROLES; i++)
        companions->of[i].model.documents = documents;
    return true;
}

bool sp_batch_of(const struct sp_args *args, const struct sp_model *model, double *batch_tokens,
                 double *seq, const char **origin, struct sp_error *error)
{
    const double given_seq = args->value.seq;
    *seq = !isnan(given_seq)          ? given_seq
           : sp_takes_pictures(model) ? 1
           : model->seq > 0           ? (double)model->seq
                                      : 4096;
    if (isnan(given_seq) && model->seq == 0 && model->max_seq > 0 && *seq > (double)model->max_seq)
        *seq = (double)model->max_seq;
    *origin = args->value.batch ? "--batch" : model->batch_tokens > 0 ? "model file" : "default";
    *batch_tokens = model->batch_tokens > 0 ? model->batch_tokens : 4194304;
    if (args->value.batch && !sp_tokens_of(args, SP_O_batch, batch_tokens, seq, error))
        return false;
    return !sp_takes_pictures(model) || *seq == 1 ||
           sp_fail(error, SP_INPUT,
                   "%s takes images, which have no length: --batch 256 is 256 images", model->name);
}

const char *sp_batch_words(const struct sp_model *model, const struct sp_plan *plan,
                           struct sp_text *room)
{
    if (sp_takes_pictures(model))
        snprintf(room->s, sizeof room->s, "%lld images",
                 (long long)plan->batch * (long long)plan->seq);
    else
        snprintf(room->s, sizeof room->s, "%lld sequences of %lld tokens", (long long)plan->batch,
                 (long long)plan->seq);
    return room->s;
}

bool sp_shares_batch(double sequences, double micro_batch, double replicas, char *why, size_t size)
{
    const double at_once = micro_batch * replicas, below = floor(sequences / at_once) * at_once;
    char nearest[64] = "", micro[64] = "";
    if (below == sequences)
        return true;
    if (micro_batch > 1)
        snprintf(micro, sizeof micro, " in micro-batches of %.0f", micro_batch);
    if (below > 0)
        snprintf(nearest, sizeof nearest, "%.0f or ", below);
    snprintf(why, size,
             "%.6g sequences do not divide among %.0f replicas%s: use %s%.0f sequences, or other "
             "degrees",
             sequences, replicas, micro, nearest, below + at_once);
    return false;
}

double sp_kv_element_bytes(const struct sp_args *args)
{
    return args->given.kv_bytes ? args->value.kv_bytes : sp_storages[args->value.kv].bytes;
}

void sp_take_name(const struct sp_args *args, char *name, size_t size)
{
    const char *const given = args->value.name, *const output = args->value.write;
    const char *const path = output && strcmp(output, "-") == 0 ? NULL : output;
    const char *const slash = path ? strrchr(path, '/') : NULL;
    if (given || path)
        snprintf(name, size, "%s", given ? given : slash ? slash + 1 : path);
    char *const dot = given ? NULL : strrchr(name, '.');
    if (dot && path && strcmp(dot, ".json") == 0)
        *dot = '\0';
}

bool sp_check_name(const char *name, struct sp_error *error)
{
    return !name || (name[0] != '\0' && sp_is_printable(name, "")) ||
           sp_fail(error, SP_INPUT, "--name: \"%s\": expected printable UTF-8 text", sp_safe(name));
}

const char *sp_default_framework(const struct sp_hardware *hw, bool shards_weights)
{
    if (hw && hw->network.kind == SP_TORUS)
        return "maxtext";
    if (shards_weights)
        return "torchtitan";
    return hw && hw->framework[0] ? hw->framework : "nemo";
}

static bool load_framework_on(const struct sp_hardware *hw, bool shards_weights,
                              const struct sp_sources *sources, struct sp_framework *framework,
                              struct sp_error *error)
{
    const char *const name = sp_default_framework(hw, shards_weights);
    struct sp_framework_file file;
    double memory_factor;
    if (!sp_load_framework(name, sources, &file, error) ||
        !sp_load_memory_factor(hw, &file.framework, sources, &memory_factor, error))
        return false;
    *framework = file.framework;
    sp_use_memory_factor(memory_factor, framework);
    return true;
}

bool sp_fit_frameworks_of(const struct sp_sources *sources, struct sp_framework_pair *pair,
                          struct sp_fit_input *in, struct sp_error *error)
{
    if (sources->textbook)
        return true;
    in->framework = &pair->whole;
    in->sharding_framework = &pair->sharding;
    if (!load_framework_on(in->hw, false, sources, &pair->whole, error))
        return false;
    if (strcmp(sp_default_framework(in->hw, false), sp_default_framework(in->hw, true)) == 0) {
        pair->sharding = pair->whole;
        return true;
    }
    return load_framework_on(in->hw, true, sources, &pair->sharding, error);
}

/* The framework's recipe, as `step` takes it: with the textbook's 10 bytes, `fit` said yes to plans
 * that ran out of memory in `step` and `search`. */
static const char *default_recipe(const struct sp_sources *sources,
                                  const struct sp_framework *framework)
{
    if (sources->textbook)
        return "adam10";
    return framework->precision[0] ? framework->precision : "mixed18";
}

static const char *recipe_name(const char *given, const struct sp_sources *sources,
                               const struct sp_framework *framework)
{
    if (!given)
        return default_recipe(sources, framework);
    if (sp_config_named(SP_PRECISIONS, given, sources))
        return given;
    if (strcmp(given, sp_dtype_names[SP_BF16]) == 0)
        return default_recipe(sources, framework);
    return strcmp(given, sp_dtype_names[SP_FP8]) == 0 && framework->fp8_precision[0] &&
                   !sources->textbook
               ? framework->fp8_precision
               : given;
}

/* bf16 and fp8 are number formats; their recipe is the framework's. NVIDIA's fp8 recipes reduce
 * gradients in bf16 and keep weights in fp8 only, in 2 bytes per parameter, because matmuls on
 * Hopper also need the transposed copy. With Megatron-LM's 4-byte gradients 7 of 37 published plans
 * did not fit. A user's own file of that name is taken as it is. */
bool sp_recipe_under(const struct sp_args *args, const struct sp_sources *sources,
                     const struct sp_framework *framework, struct sp_precision *precision,
                     struct sp_error *error)
{
    const char *const name = recipe_name(args->value.precision, sources, framework);
    return sp_load_precision(name, sources, precision, error);
}

bool sp_recipe_of(const struct sp_args *args, const struct sp_sources *sources,
                  const struct sp_hardware *hw, struct sp_precision *precision,
                  struct sp_error *error)
{
    struct sp_framework_file file;
    const char *const name =
        args->value.framework ? args->value.framework : sp_default_framework(hw, false);
    return sp_load_framework(name, sources, &file, error) &&
           sp_recipe_under(args, sources, &file.framework, precision, error);
}

bool sp_check_peak(const struct sp_hardware *hw, enum sp_dtype wanted, struct sp_error *error)
{
    char own[80] = "";
    if (wanted != SP_DTYPES && sp_compute_dtype(&hw->chip, wanted) != SP_DTYPES)
        return true;
    for (int i = 0; i < SP_DTYPES; i++)
        if (!isnan(hw->chip.peak_flops_per_s[i]))
            sp_append(own, sizeof own, "%s%s", *own ? ", " : "", sp_dtype_names[i]);
    return sp_fail(error, SP_INPUT, "%s publishes no peak for %s; it has peaks for %s", hw->name,
                   wanted == SP_DTYPES ? "this element type" : sp_dtype_names[wanted], own);
}

enum sp_remat sp_remat_of(const struct sp_args *args)
{
    if (args->given.remat)
        return (enum sp_remat)args->value.remat;
    return args->value.constants == 1 ? SP_REMAT_MLP : SP_REMATS;
}

bool sp_is_too_long(const struct sp_model *model, double seq)
{
    return model->max_seq > 0 && seq > (double)model->max_seq;
}

void sp_note_length(struct sp_report *r, const struct sp_model *model, double seq)
{
    if (sp_is_too_long(model, seq))
        sp_note(r, "%.0f tokens exceed the maximum of %s, %lld", seq, model->name,
                (long long)model->max_seq);
}

void sp_put_length(struct sp_report *r, const struct sp_model *model, double seq)
{
    sp_put(r, SP_Q_MAX_SEQ, model->max_seq > 0 ? (double)model->max_seq : NAN);
    sp_note_length(r, model, seq);
}
