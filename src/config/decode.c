/* Decodes configs into structs and checks that their values agree with each other. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "hf/huggingface.h"
#include "hf/refuse.h"
#include "config/load.h"
#include "config/read.h"

/* "model., hw., precision., law., framework., profile. or engine." */
static void name_prefixes(char *out, size_t size)
{
    size_t used = 0, left = 0;
    for (int k = 0; k < SP_CONFIG_KINDS; k++)
        left += sp_config_kinds[k].sets;
    for (int k = 0; k < SP_CONFIG_KINDS && used < size; k++)
        if (sp_config_kinds[k].sets)
            used +=
                (size_t)snprintf(out + used, size - used, "%s.%s", sp_config_kinds[k].table->name,
                                 --left > 1  ? ", "
                                 : left == 1 ? " or "
                                             : "");
}

bool sp_check_sets(const struct sp_sources *sources, struct sp_error *error)
{
    for (int i = 0; i < sources->n_sets; i++) {
        const char *const set = sources->sets[i];
        bool known = false;
        for (int k = 0; k < SP_CONFIG_KINDS; k++) {
            const char *const prefix = sp_config_kinds[k].table->name;
            const size_t n = strlen(prefix);
            known =
                known || (sp_config_kinds[k].sets && strncmp(set, prefix, n) == 0 && set[n] == '.');
        }
        if (!strchr(set, '='))
            return sp_fail(error, SP_USAGE,
                           "--set %s: expected PATH=VALUE, such as hw.chip.hbm_bytes=80GiB",
                           sp_safe(set));
        if (!known) {
            char prefixes[160];
            name_prefixes(prefixes, sizeof prefixes);
            return sp_fail(error, SP_INPUT, "--set %s: expected a path under %s", sp_safe(set),
                           prefixes);
        }
    }
    return true;
}

/* Applies every --set whose path starts with the table's name. */
static bool apply_sets(const struct sp_field_table *table, const struct sp_sources *sources,
                       void *base, struct sp_error *error)
{
    const size_t n = strlen(table->name);
    for (int i = 0; i < sources->n_sets; i++) {
        const char *const set = sources->sets[i], *const equals = strchr(set, '=');
        char path[128];
        if (strncmp(set, table->name, n) != 0 || set[n] != '.' || !equals)
            continue;
        const int length = (int)(equals - set) - (int)n - 1;
        if (length < 0 || length >= (int)sizeof path)
            return sp_fail(error, SP_INPUT, "--set %s: unknown value", sp_safe(set));
        snprintf(path, sizeof path, "%.*s", length, set + n + 1);
        if (!sp_set_field(table, path, equals + 1, base, error))
            return false;
    }
    return true;
}

bool sp_is_set(const struct sp_sources *sources, const struct sp_field_table *table,
               const char *key)
{
    char path[160];
    const int n = snprintf(path, sizeof path, "%s.%s=", table->name, key);
    for (int i = 0; i < sources->n_sets; i++)
        if (strncmp(sources->sets[i], path, (size_t)n) == 0)
            return true;
    return false;
}

/* A required value and its key. */
struct needed {
    const char *key;
    bool given;
};

/* Checks required values. A missing key gets the place of the object that lacks it. */
static bool check_needed(const struct needed *needed, size_t n, const struct sp_json *json,
                         const char *table, const char *why, struct sp_error *error)
{
    for (size_t i = 0; i < n; i++)
        if (!needed[i].given)
            return sp_fail(error, SP_INPUT, "%s: %s.%s is missing, %s",
                           sp_json_place(json, needed[i].key), table, needed[i].key, why);
    return true;
}

static bool check_moe(const struct sp_model *m, const struct sp_json *json, struct sp_error *error)
{
    const struct sp_moe *moe = &m->moe;
    if (moe->experts == 0) {
        if (moe->top_k || moe->d_ff_expert)
            return sp_fail(error, SP_INPUT, "%s: model.moe.experts is missing",
                           sp_json_place(json, "moe"));
        return true;
    }
    const struct needed needed[] = {{"moe.top_k", moe->top_k > 0},
                                    {"moe.d_ff_expert", moe->d_ff_expert > 0}};
    if (!check_needed(needed, 2, json, "model", "a mixture of experts needs it", error))
        return false;
    if (moe->top_k > moe->experts)
        return sp_fail(error, SP_INPUT, "%s: model.moe.top_k is larger than model.moe.experts",
                       sp_json_place(json, "moe.top_k"));
    if (moe->dense_layers > m->layers)
        return sp_fail(error, SP_INPUT, "%s: model.moe.dense_layers is larger than model.layers",
                       sp_json_place(json, "moe.dense_layers"));
    return true;
}

/* Number of mixers besides attention. */
static int other_mixers(const struct sp_model *m)
{
    return (m->linear.heads > 0) + (m->state_space.state > 0 && !m->state_space.parallel) +
           (m->local.heads > 0) + (m->short_conv > 0) + m->sparse.shared;
}

static bool check_widths(const struct sp_model *m, const struct sp_json *json,
                         struct sp_error *error)
{
    const struct sp_state_space *const x = &m->state_space;
    const struct needed linear[] = {{"linear_attention.key_dim", m->linear.key_dim > 0},
                                    {"linear_attention.value_dim", m->linear.value_dim > 0}};
    const struct needed states[] = {{"state_space.inner", x->inner > 0},
                                    {"state_space.dt_rank", x->heads > 0 || x->dt_rank > 0}};
    const struct needed local[] = {{"local_attention.kv_heads", m->local.kv_heads > 0},
                                   {"local_attention.head_dim", m->local.head_dim > 0}};
    const struct needed sparse[] = {
        {"sparse_attention.index_heads", m->sparse.index_heads > 0},
        {"sparse_attention.index_head_dim", m->sparse.index_head_dim > 0},
        {"mla.kv_lora_rank", m->mla.kv_lora_rank > 0}};
    const char *const why = "its kind of layer needs it";
    return (m->linear.heads == 0 || check_needed(linear, 2, json, "model", why, error)) &&
           (x->state == 0 || check_needed(states, 2, json, "model", why, error)) &&
           (m->local.heads == 0 || check_needed(local, 2, json, "model", why, error)) &&
           (m->sparse.top_k == 0 || check_needed(sparse, 3, json, "model", why, error));
}

/* What is wrong with a pattern or its mixers; NULL: nothing. */
static const char *fault_of_pattern(const struct sp_model *m)
{
    const int mixers = other_mixers(m);
    const bool named = strpbrk(m->pattern, "LMl") != NULL;
    if (m->pattern[strspn(m->pattern, SP_PATTERN_LETTERS)])
        return "expected letters of " SP_PATTERN_LETTERS;
    if (mixers > 1)
        return "the model has more than one of linear_attention, state_space, local_attention, "
               "short_conv and sparse_attention.shared";
    if (named && mixers == 0)
        return "L and M need linear_attention, state_space, local_attention, short_conv or "
               "sparse_attention.shared";
    if (!named && mixers == 1)
        return "no layer is an L or M, which stand for linear_attention, state_space, "
               "local_attention, short_conv or sparse_attention.shared";
    if ((strchr(m->pattern, 'S') != NULL) != (m->shared.sets > 0))
        return "layers S and shared_block.sets need each other";
    if (strchr(m->pattern, 'l') && m->local.heads == 0)
        return "l needs local_attention";
    if (strpbrk(m->pattern, "aSl") && (m->moe.experts > 0 || m->mla.kv_lora_rank > 0))
        return "a, l and S have no experts and no latents";
    return strchr(m->pattern, 'E') && m->moe.experts == 0 ? "E needs moe.experts" : NULL;
}

static bool check_pattern(const struct sp_model *m, const struct sp_json *json,
                          struct sp_error *error)
{
    const char *const fault = fault_of_pattern(m);
    return fault ? sp_fail(error, SP_INPUT, "%s: model.pattern: %s", sp_json_place(json, "pattern"),
                           fault)
                 : check_widths(m, json, error);
}

static bool check_encoder(const struct sp_model *m, const struct sp_json *json,
                          struct sp_error *error)
{
    const struct sp_encoder *const e = &m->encoder;
    const struct needed needed[] = {
        {"encoder.d_model", e->d_model > 0},
        {"encoder.d_ff", e->d_ff > 0},
        {"encoder.heads", e->heads > 0},
        {"encoder.head_dim", e->head_dim > 0},
        {"encoder.projector_in", e->projectors == 0 || e->projector_in > 0}};
    const bool attends = m->cross_attention || strchr(m->pattern, 'X');
    if (e->layers == 0)
        return (!attends && e->d_model == 0) ||
               sp_fail(error, SP_INPUT, "%s: model.encoder.layers is missing",
                       sp_json_place(json, "encoder"));
    if (e->kv_heads > 0 && e->heads % e->kv_heads != 0)
        return sp_fail(error, SP_INPUT, "%s: model.encoder.kv_heads must divide its heads",
                       sp_json_place(json, "encoder.kv_heads"));
    return check_needed(needed, sizeof needed / sizeof *needed, json, "model",
                        "an encoder needs it", error);
}

static bool check_model(const struct sp_model *m, const struct sp_json *json,
                        struct sp_error *error)
{
    const struct needed shape[] = {
        {"d_model", m->d_model > 0},   {"d_ff", m->d_ff > 0},
        {"heads", m->heads > 0},       {"kv_heads", m->kv_heads > 0},
        {"head_dim", m->head_dim > 0}, {"vocab", m->vocab > 0 || m->patch > 0}};
    if (!sp_model_has_shape(m)) {
        if (m->params > 0 && m->d_model == 0)
            return true;
        return sp_fail(
            error, SP_INPUT,
            "%s: model.layers is missing; a model is given by its shape (layers, d_model, "
            "...) or by \"params\" alone",
            sp_json_place(json, ""));
    }
    if (!check_needed(shape, sizeof shape / sizeof *shape, json, "model",
                      "a model with layers needs it", error))
        return false;
    if (m->sample_flops > 0)
        return sp_fail(error, SP_INPUT,
                       "%s: model.sample_flops belongs to models without a shape; this one has "
                       "layers",
                       sp_json_place(json, "sample_flops"));
    if (m->params > 0)
        return sp_fail(error, SP_INPUT,
                       "%s: model.params belongs to models without a shape; this one has layers",
                       sp_json_place(json, "params"));
    if (m->heads % m->kv_heads != 0)
        return sp_fail(error, SP_INPUT, "%s: model.kv_heads must divide model.heads",
                       sp_json_place(json, "kv_heads"));
    if (!check_moe(m, json, error) || !check_pattern(m, json, error) ||
        !check_encoder(m, json, error))
        return false;
    if (sp_count_params(m).total > 1e15)
        return sp_fail(error, SP_INPUT, "%s: the model has more than 10^15 parameters",
                       sp_json_place(json, ""));
    return true;
}

/* Fills in missing values of other mixers. */
static void derive_mixers(struct sp_model *m)
{
    if (m->linear.key_heads == 0)
        m->linear.key_heads = m->linear.heads;
    if (m->encoder.kv_heads == 0)
        m->encoder.kv_heads = m->encoder.heads;
    if (m->encoder.head_dim == 0 && m->encoder.heads > 0 &&
        m->encoder.d_model % m->encoder.heads == 0)
        m->encoder.head_dim = m->encoder.d_model / m->encoder.heads;
    if (m->state_space.groups == 0 && m->state_space.heads > 0)
        m->state_space.groups = 1;
}

static bool decode_model(const struct sp_json *json, const struct sp_sources *sources,
                         struct sp_model *model, struct sp_error *error)
{
    *model = (struct sp_model){0};
    if (!sp_decode(&sp_model_table, json, false, model, error))
        return false;
    if (sources && !apply_sets(&sp_model_table, sources, model, error))
        return false;
    if (model->moe.experts > 0 && model->moe.every == 0)
        model->moe.every = 1;
    /* defaults of plain attention: equal head widths, no shared keys */
    if (model->kv_heads == 0)
        model->kv_heads = model->heads;
    derive_mixers(model);
    if (model->head_dim == 0 && model->heads > 0 && model->d_model % model->heads == 0)
        model->head_dim = model->d_model / model->heads;
    if (model->d_ff == 0) /* all layers may be MoE */
        model->d_ff = model->moe.d_ff_dense > 0 ? model->moe.d_ff_dense : model->moe.d_ff_expert;
    const cJSON *norms = cJSON_GetObjectItemCaseSensitive(json->root, "norms_per_layer");
    if (!norms && model->norms_per_layer == 0)
        model->norms_per_layer = 2;
    return check_model(model, json, error);
}

/* Fills in values that a typed shape leaves out. */
static void derive_shape(struct sp_model *m)
{
    if (m->layers == 0)
        return;
    if (m->d_ff == 0)
        m->d_ff = m->moe.d_ff_expert > 0 ? m->moe.d_ff_expert : 4 * m->d_model;
    if (m->heads == 0 && m->head_dim > 0)
        m->heads = m->d_model / m->head_dim;
    if (m->heads == 0)
        m->heads = m->d_model >= 128 ? m->d_model / 128 : 1;
    if (m->kv_heads == 0)
        m->kv_heads = m->heads;
    if (m->head_dim == 0)
        m->head_dim = m->d_model / m->heads;
    if (m->vocab == 0)
        m->vocab = 1;
}

/* Defaults: d_ff = 4 d_model, head_dim 128, kv_heads = heads, gated MLP, vocabulary 1; a note names
 * those taken. Most recent models are gated, and files have the same default. */
bool sp_model_from_shape(const char *shape, const struct sp_sources *sources,
                         struct sp_model *model, struct sp_error *error)
{
    *model = (struct sp_model){.norms_per_layer = 2, .gated_mlp = true};
    snprintf(model->name, sizeof model->name, "%.60s", shape);
    char key[128];
    while (shape && *shape) {
        const char *const here = shape;
        sp_next_item(&shape, key, sizeof key);
        const char *const value = sp_cut_pair(key);
        if (!value)
            return sp_fail(error, SP_INPUT,
                           "--shape: \"%s\": expected KEY=VALUE,KEY=VALUE such as "
                           "layers=64,d_model=4096,d_ff=16384,heads=32",
                           sp_safe(here));
        if (!sp_set_field(&sp_model_table, key, value, model, error))
            return false;
    }
    if (!apply_sets(&sp_model_table, sources, model, error))
        return false;
    if (model->moe.experts > 0 && model->moe.every == 0)
        model->moe.every = 1;
    if (model->moe.experts > 0 && model->moe.d_ff_expert == 0)
        model->moe.d_ff_expert = model->d_ff > 0 ? model->d_ff : 4 * model->d_model;
    derive_shape(model);
    derive_mixers(model);
    return check_model(model, &(struct sp_json){.origin = "--shape"}, error);
}

bool sp_decode_model(const struct sp_json *json, struct sp_model *model, struct sp_error *error)
{
    return decode_model(json, NULL, model, error);
}

bool sp_nativise_model(struct sp_json *json, const struct sp_sources *sources,
                       struct sp_error *error)
{
    if (!sp_reads_as_huggingface(json->root, sources->assume))
        return !sp_hf_is_other_file(json, error);
    cJSON *const native = sp_from_huggingface(json, sources->assume, error);
    if (!native)
        return false;
    cJSON_Delete(json->root);
    json->root = native;
    return true;
}

bool sp_read_model(const char *spec, const struct sp_sources *sources, struct sp_model *model,
                   struct sp_error *error)
{
    struct sp_config config;
    if (!sp_open_config(SP_MODELS, spec, sources, &config, error))
        return false;
    const bool ok = sp_nativise_model(&config.json, sources, error) &&
                    decode_model(&config.json, sources, model, error);
    sp_config_free(&config);
    return ok;
}

bool sp_read_precision(const char *spec, const struct sp_sources *sources,
                       struct sp_precision *precision, struct sp_error *error)
{
    struct sp_config config;
    *precision = (struct sp_precision){.compute_dtype = SP_BF16};
    if (!sp_open_config(SP_PRECISIONS, spec, sources, &config, error))
        return false;
    const bool ok =
        sp_decode(&sp_precision_table, &config.json, sources->textbook, precision, error) &&
        apply_sets(&sp_precision_table, sources, precision, error);
    sp_config_free(&config);
    return ok;
}

bool sp_read_scaleout(const char *spec, const struct sp_sources *sources,
                      struct sp_scaleout *scaleout, struct sp_error *error)
{
    struct sp_config config;
    *scaleout = (struct sp_scaleout){0};
    if (!sp_open_config(SP_NETWORKS, spec, sources, &config, error))
        return false;
    bool ok = sp_decode(&sp_network_table, &config.json, sources->textbook, scaleout, error);
    if (ok && isnan(scaleout->bytes_per_s))
        ok = sp_fail(error, SP_INPUT, "%s: network.bytes_per_s is missing",
                     sp_json_place(&config.json, "bytes_per_s"));
    sp_config_free(&config);
    return ok;
}

bool sp_read_framework(const char *spec, const struct sp_sources *sources,
                       struct sp_framework_file *file, struct sp_error *error)
{
    struct sp_config config;
    *file = (struct sp_framework_file){0};
    if (!sp_open_config(SP_FRAMEWORKS, spec, sources, &config, error))
        return false;
    const bool ok = sp_decode(&sp_framework_table, &config.json, sources->textbook, file, error) &&
                    apply_sets(&sp_framework_table, sources, file, error);
    sp_config_free(&config);
    return ok;
}

bool sp_read_profile(const char *spec, const struct sp_sources *sources, struct sp_profile *profile,
                     struct sp_error *error)
{
    struct sp_config config;
    *profile = (struct sp_profile){0};
    if (!sp_open_config(SP_PROFILES, spec, sources, &config, error))
        return false;
    const bool ok = sp_decode(&sp_profile_table, &config.json, sources->textbook, profile, error) &&
                    apply_sets(&sp_profile_table, sources, profile, error);
    sp_config_free(&config);
    return ok;
}

bool sp_read_serving_profile(const char *spec, const struct sp_sources *sources,
                             struct sp_profile *profile, struct sp_error *error)
{
    struct sp_config config;
    *profile = (struct sp_profile){.serves = true, .memory_factor = 1, .machine_factor = 1};
    if (!sp_open_config(SP_SERVING, spec, sources, &config, error))
        return false;
    const bool ok = sp_decode(&sp_serving_table, &config.json, sources->textbook, profile, error) &&
                    apply_sets(&sp_serving_table, sources, profile, error);
    sp_config_free(&config);
    return ok;
}

bool sp_read_kernels(const char *spec, const struct sp_sources *sources, struct sp_kernels *kernels,
                     struct sp_error *error)
{
    struct sp_config config;
    sp_clear_kernels(kernels);
    if (!sp_open_config(SP_KERNELS, spec, sources, &config, error))
        return false;
    const bool ok = sp_decode(&sp_kernels_table, &config.json, sources->textbook, kernels, error);
    sp_config_free(&config);
    return ok;
}

/* Loads the kernels of the chip's name, else of its family, else none. */
static bool find_kernels(struct sp_hardware *hw, const struct sp_sources *sources,
                         struct sp_error *error)
{
    const char *const names[] = {hw->name, hw->family};
    sp_clear_kernels(&hw->chip.kernels);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][0] && sp_config_named(SP_KERNELS, names[i], sources))
            return sp_read_kernels(names[i], sources, &hw->chip.kernels, error);
    return true;
}

bool sp_load_fields(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                    void *base, struct sp_error *error)
{
    struct sp_config config;
    const struct sp_field_table *const table = sp_config_kinds[kind].table;
    if (!sp_open_config(kind, spec, sources, &config, error))
        return false;
    const bool ok = sp_decode(table, &config.json, sources->textbook, base, error) &&
                    apply_sets(table, sources, base, error);
    sp_config_free(&config);
    return ok;
}

bool sp_read_drive(const char *spec, const struct sp_sources *sources, struct sp_drive *storage,
                   struct sp_error *error)
{
    *storage = (struct sp_drive){0};
    return sp_load_fields(SP_DRIVES, spec, sources, storage, error);
}

bool sp_read_engine(const char *spec, const struct sp_sources *sources, struct sp_engine *engine,
                    struct sp_error *error)
{
    *engine = (struct sp_engine){0};
    return sp_load_fields(SP_ENGINES, spec, sources, engine, error);
}

/* Checks that a format's bits form a valid range. */
static bool check_number_format(const struct sp_number_format *f, struct sp_error *error)
{
    const char *const name = sp_safe(f->name);
    if (f->bits < 1 + f->exponent_bits + f->mantissa_bits)
        return sp_fail(error, SP_INPUT,
                       "format %s: a sign, %" PRId64 " bits of exponent and %" PRId64
                       " of mantissa are more than its %" PRId64 " bits",
                       name, f->exponent_bits, f->mantissa_bits, f->bits);
    if ((f->block > 0) != (f->scale_bits > 0))
        return sp_fail(error, SP_INPUT, "format %s: block and scale_bits go together", name);
    return true;
}

bool sp_read_number_format(const char *spec, const struct sp_sources *sources,
                           struct sp_number_format *format, struct sp_error *error)
{
    *format = (struct sp_number_format){0};
    return sp_load_fields(SP_FORMATS, spec, sources, format, error) &&
           check_number_format(format, error);
}

static bool check_law(const struct sp_scaling_law *law, const struct sp_json *json,
                      struct sp_error *error)
{
    const struct needed ratio[] = {{"optimum.tokens_per_param", !isnan(law->tokens_per_param)}};
    const struct needed power[] = {{"optimum.coefficient", !isnan(law->coefficient)},
                                   {"optimum.exponent", !isnan(law->exponent)}};
    const struct needed exponents[] = {{"loss.alpha", !isnan(law->alpha)},
                                       {"loss.beta", !isnan(law->beta)}};
    const struct needed sum[] = {
        {"loss.E", !isnan(law->E)}, {"loss.A", !isnan(law->A)}, {"loss.B", !isnan(law->B)}};
    const struct needed kaplan[] = {{"loss.N_c", !isnan(law->N_c)}, {"loss.D_c", !isnan(law->D_c)}};
    if (law->rule == SP_RULE_RATIO &&
        !check_needed(ratio, 1, json, "law", "its rule needs it", error))
        return false;
    if ((law->rule == SP_RULE_PARAMS_POWER || law->rule == SP_RULE_TOKENS_POWER) &&
        !check_needed(power, 2, json, "law", "its rule needs it", error))
        return false;
    if (law->rule == SP_RULE_MINIMUM && law->form != SP_FORM_SUM)
        return sp_fail(error, SP_INPUT, "%s: law.optimum.rule minimum needs law.loss.form sum",
                       sp_json_place(json, "optimum.rule"));
    if (law->form == SP_FORM_NONE)
        return true;
    return check_needed(exponents, 2, json, "law", "its loss needs it", error) &&
           (law->form == SP_FORM_SUM
                ? check_needed(sum, 3, json, "law", "its loss needs it", error)
                : check_needed(kaplan, 2, json, "law", "its loss needs it", error));
}

bool sp_read_law(const char *spec, const struct sp_sources *sources, struct sp_scaling_law *law,
                 struct sp_error *error)
{
    struct sp_config config;
    *law = (struct sp_scaling_law){0};
    if (!sp_open_config(SP_LAWS, spec, sources, &config, error))
        return false;
    const bool ok = sp_decode(&sp_law_table, &config.json, sources->textbook, law, error) &&
                    apply_sets(&sp_law_table, sources, law, error) &&
                    check_law(law, &config.json, error);
    sp_config_free(&config);
    return ok;
}

static bool check_hardware(const struct sp_hardware *hw, const struct sp_json *json,
                           struct sp_error *error)
{
    const struct sp_network *net = &hw->network;
    const struct needed chip[] = {
        {"chip.peak_flops_per_s", sp_compute_dtype(&hw->chip, SP_BF16) != SP_DTYPES},
        {"chip.hbm_bytes", !isnan(hw->chip.hbm_bytes)},
        {"chip.hbm_bytes_per_s", !isnan(hw->chip.hbm_bytes_per_s)}};
    const struct needed torus[] = {{"network.axes", net->axes > 0},
                                   {"network.link_bytes_per_s", !isnan(net->link_bytes_per_s)},
                                   {"network.chips_per_host", net->chips_per_host > 0},
                                   {"network.shapes", net->n_shapes > 0}};
    const struct needed switched[] = {
        {"network.domain", net->domain > 0},
        {"network.domain_bytes_per_s", !isnan(net->domain_bytes_per_s)},
        {"network.scaleout_bytes_per_s", !isnan(net->scaleout_bytes_per_s)}};
    if (!check_needed(chip, 3, json, "hw", "every chip needs it", error))
        return false;
    return net->kind == SP_TORUS
               ? check_needed(torus, 4, json, "hw", "a torus needs it", error)
               : check_needed(switched, 3, json, "hw", "a switched network needs it", error);
}

static bool decode_hardware(const struct sp_json *json, bool textbook,
                            const struct sp_sources *sources, struct sp_hardware *hw,
                            struct sp_error *error)
{
    *hw = (struct sp_hardware){.slices = 1, .chips_per_slice = 1, .shape = {{1, 1, 1}}};
    if (!sp_decode(&sp_hardware_table, json, textbook, hw, error))
        return false;
    if (sources && !apply_sets(&sp_hardware_table, sources, hw, error))
        return false;
    /* --set of the memory sets the usable memory too, which verdicts use */
    if (sources && sp_is_set(sources, &sp_hardware_table, "chip.hbm_bytes") &&
        !sp_is_set(sources, &sp_hardware_table, "chip.hbm_usable_bytes"))
        hw->chip.hbm_usable_bytes = NAN;
    return check_hardware(hw, json, error);
}

bool sp_load_chip(const char *name, const struct sp_sources *sources, struct sp_hardware *hw,
                  struct sp_error *error)
{
    struct sp_config config;
    if (!sp_open_config(SP_HARDWARE, name, sources, &config, error))
        return false;
    const bool ok = decode_hardware(&config.json, sources->textbook, sources, hw, error) &&
                    find_kernels(hw, sources, error);
    sp_config_free(&config);
    return ok;
}
