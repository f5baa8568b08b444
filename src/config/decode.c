/* Decodes configs into structs and checks that their values agree with each other. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "hf/huggingface.h"
#include "hf/refuse.h"
#include "config/load.h"

/* "model., hw., precision., law., framework., profile. or engine." */
static void name_prefixes(char *out, size_t size)
{
    size_t left = 0;
    out[0] = '\0';
    for (int k = 0; k < SP_CONFIG_KINDS; k++)
        left += sp_config_kinds[k].sets;
    for (int k = 0; k < SP_CONFIG_KINDS; k++)
        if (sp_config_kinds[k].sets)
            sp_append(out, size, "%s.%s", sp_config_kinds[k].table->name,
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
        if (!sp_set_field(table, "--set", path, equals + 1, base, error))
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

/* A rule between values of a file: the key to blame if it does not hold, and the message; NULL:
 * that it is missing. */
struct rule {
    const char *key;
    bool holds;
    const char *otherwise;
};

/* Checks a table's rules in order; `why` names the field that needs a missing value. A missing key
 * gets the place of the object that lacks it. */
static bool check_rules(const struct rule *rules, size_t n, const struct sp_json *json,
                        const char *table, const char *why, struct sp_error *error)
{
    for (size_t i = 0; i < n; i++) {
        const struct rule *const r = &rules[i];
        if (r->holds)
            continue;
        const char *const place = sp_json_place(json, r->key);
        return r->otherwise ? sp_fail(error, SP_INPUT, "%s: %s.%s", place, table, r->otherwise)
                            : sp_fail(error, SP_INPUT, "%s: %s.%s is missing (%s)", place, table,
                                      r->key, why);
    }
    return true;
}
#define CHECK(rules, json, table, why, error)                                                      \
    check_rules(rules, sizeof(rules) / sizeof *(rules), json, table, why, error)

static bool check_moe(const struct sp_model *m, const struct sp_json *json, struct sp_error *error)
{
    const struct sp_moe *moe = &m->moe;
    const bool routed = moe->experts > 0;
    const struct rule rules[] = {
        {"moe", routed || (!moe->top_k && !moe->d_ff_expert), "moe.experts is missing"},
        {"moe.top_k", !routed || moe->top_k > 0, NULL},
        {"moe.d_ff_expert", !routed || moe->d_ff_expert > 0, NULL},
        {"moe.top_k", !routed || moe->top_k <= moe->experts,
         "moe.top_k is larger than model.moe.experts"},
        {"moe.dense_layers", !routed || moe->dense_layers <= m->layers,
         "moe.dense_layers is larger than model.layers"}};
    return CHECK(rules, json, "model", "needed by a mixture of experts", error);
}

static bool check_reach(const struct sp_model *m, const struct sp_json *json,
                        struct sp_error *error)
{
    const bool local = m->sliding_window > 0 || m->attention_chunk > 0;
    const struct rule rules[] = {
        {"attention_chunk", m->attention_chunk == 0 || m->sliding_window == 0,
         "attention_chunk and model.sliding_window exclude each other"},
        {"global_first", local || m->global_first == 0,
         "global_first needs model.sliding_window or model.attention_chunk"},
        {"global_first", m->global_first <= m->layers, "global_first is larger than model.layers"}};
    return CHECK(rules, json, "model", "needed by local attention", error);
}

/* Number of mixers besides attention. */
static int other_mixers(const struct sp_model *m)
{
    return (m->linear.heads > 0) + (m->state_space.state > 0 && !m->state_space.parallel) +
           (m->local.heads > 0) + (m->short_conv > 0) + m->sparse.shared + m->sparse.others +
           (m->compressed.far_ratio > 0);
}

static bool check_widths(const struct sp_model *m, const struct sp_json *json,
                         struct sp_error *error)
{
    const struct sp_state_space *const x = &m->state_space;
    const struct sp_compressed_attention *const c = &m->compressed;
    const bool linear = m->linear.heads > 0, states = x->state > 0, local = m->local.heads > 0,
               sparse = m->sparse.top_k > 0, entries = c->output_rank > 0;
    const struct rule widths[] = {
        {"linear_attention.key_dim", !linear || m->linear.key_dim > 0, NULL},
        {"linear_attention.value_dim", !linear || m->linear.value_dim > 0, NULL},
        {"state_space.inner", !states || x->inner > 0, NULL},
        {"state_space.dt_rank", !states || x->heads > 0 || x->dt_rank > 0, NULL},
        {"local_attention.kv_heads", !local || m->local.kv_heads > 0, NULL},
        {"local_attention.head_dim", !local || m->local.head_dim > 0, NULL},
        {"sparse_attention.index_heads", !sparse || m->sparse.index_heads > 0, NULL},
        {"sparse_attention.index_head_dim", !sparse || m->sparse.index_head_dim > 0, NULL},
        {"head_gates", !m->head_gates || !m->attention_gate,
         "head_gates and model.attention_gate exclude each other"},
        {"compressed_attention.output_groups",
         !entries || (c->output_groups > 0 && m->heads % c->output_groups == 0),
         "compressed_attention.output_groups must divide model.heads"},
        {"compressed_attention.query_rank", !entries || c->query_rank > 0, NULL},
        {"sliding_window", !entries || m->sliding_window > 0, NULL},
        {"kv_heads", !entries || m->kv_heads == 1, "compressed_attention needs kv_heads 1"},
        {"sparse_attention.top_k", c->ratio == 0 || sparse, NULL},
        {"compressed_attention.output_rank",
         entries || (c->ratio == 0 && c->far_ratio == 0 && !strchr(m->pattern, 'W')), NULL},
        {"mla", !entries || m->mla.kv_lora_rank == 0,
         "compressed_attention and mla exclude each other"}};
    return CHECK(widths, json, "model", "needed by its kind of layer", error);
}

/* The fault of a pattern or its mixers; NULL: none. */
static const char *fault_of_pattern(const struct sp_model *m)
{
    const int mixers = other_mixers(m);
    const bool named = strpbrk(m->pattern, "LMl") != NULL;
    if (m->pattern[strspn(m->pattern, SP_PATTERN_LETTERS)])
        return "expected letters of " SP_PATTERN_LETTERS;
    if (mixers > 1)
        return "the model has more than one of linear_attention, state_space, local_attention, "
               "short_conv, sparse_attention.shared or .others, compressed_attention.far_ratio";
    if (named && mixers == 0)
        return "L and M need linear_attention, state_space, local_attention, short_conv, "
               "sparse_attention.shared or .others, or compressed_attention.far_ratio";
    if (!named && mixers == 1)
        return "linear_attention, state_space, local_attention, short_conv, "
               "sparse_attention.shared or .others, and compressed_attention.far_ratio need "
               "layers L or M";
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
    const bool none = e->layers == 0, attends = m->cross_attention || strchr(m->pattern, 'X');
    const struct rule rules[] = {
        {"encoder", !none || (!attends && e->d_model == 0), "encoder.layers is missing"},
        {"encoder.kv_heads", none || e->kv_heads == 0 || e->heads % e->kv_heads == 0,
         "encoder.kv_heads must divide its heads"},
        {"encoder.d_model", none || e->d_model > 0, NULL},
        {"encoder.d_ff", none || e->d_ff > 0, NULL},
        {"encoder.heads", none || e->heads > 0, NULL},
        {"encoder.head_dim", none || e->head_dim > 0, NULL},
        {"encoder.projector_in", none || e->projectors == 0 || e->projector_in > 0, NULL}};
    return CHECK(rules, json, "model", "needed by an encoder", error);
}

/* Blocks of convolutions stand alone: every other key of a shape would have no effect. */
static bool check_convolution(const struct sp_model *m, const struct sp_json *json,
                              struct sp_error *error)
{
    static const char known[] = "name,aliases,family,layers,pattern,convolution,labels,training,"
                                "source,note,$schema,published_params,published_rounded";
    const struct sp_convolution *const c = &m->convolution;
    const struct rule rules[] = {
        {"layers", m->layers > 0, NULL},
        {"convolution.image", c->image > 0, NULL},
        {"convolution.expansion", c->expansion > 0, NULL},
        {"labels", m->labels > 0, NULL},
        {"d_model", m->d_model == 0 && m->d_ff == 0 && m->heads == 0 && m->vocab == 0,
         "convolution leaves no room for d_model, d_ff, heads or vocab"},
        {"pattern",
         (int64_t)strlen(m->pattern) == m->layers && *m->pattern == SP_STAGE_BLOCK &&
             strspn(m->pattern, "BN") == strlen(m->pattern) &&
             sp_convolution_stages(m) <= SP_CONVOLUTION_STAGES,
         "pattern needs a letter for each of model.layers: B, or N for the first of up to 3 more "
         "stages"},
        {"convolution.groups", c->width % c->groups == 0,
         "convolution.groups must divide convolution.width"}};
    for (const cJSON *item = json->root->child; item; item = item->next)
        if (!sp_is_listed(known, item->string, '\0'))
            return sp_fail(error, SP_INPUT, "%s: model.%s has no meaning with convolution",
                           sp_json_place(json, item->string), item->string);
    return CHECK(rules, json, "model", "needed by convolutions", error);
}

static bool check_model(const struct sp_model *m, const struct sp_json *json,
                        struct sp_error *error)
{
    const struct rule rules[] = {
        {"d_model", m->d_model > 0, NULL},
        {"d_ff", m->d_ff > 0, NULL},
        {"heads", m->heads > 0, NULL},
        {"kv_heads", m->kv_heads > 0, NULL},
        {"head_dim", m->head_dim > 0, NULL},
        {"vocab", m->vocab > 0 || m->patch > 0, NULL},
        {"learned_positions", m->patch == 0 || m->learned_positions > 0, NULL},
        {"sample_flops", !(m->sample_flops > 0), "sample_flops is for models without layers"},
        {"params", !(m->params > 0), "params is for models without layers"},
        {"kv_heads", m->kv_heads == 0 || m->heads % m->kv_heads == 0,
         "kv_heads must divide model.heads"}};
    if (!sp_model_has_shape(m))
        return (m->params > 0 && m->d_model == 0) ||
               sp_fail(error, SP_INPUT,
                       "%s: model.layers is missing; give a shape (layers, d_model, ...) or only "
                       "\"params\"",
                       sp_json_place(json, ""));
    if (!CHECK(rules, json, "model", "needed by a model with layers", error) ||
        !check_reach(m, json, error) || !check_moe(m, json, error) ||
        !check_pattern(m, json, error) || !check_encoder(m, json, error))
        return false;
    return sp_count_params(m).total <= 1e15 ||
           sp_fail(error, SP_INPUT, "%s: the model has more than 10^15 parameters",
                   sp_json_place(json, ""));
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

/* Completes a convolutional network: its last channels, and a head on their means. */
static bool finish_convolution(struct sp_model *model, const struct sp_json *json,
                               struct sp_error *error)
{
    struct sp_convolution *const c = &model->convolution;
    c->groups = c->groups > 0 ? c->groups : 1;
    c->stem = c->stem > 0 ? c->stem : c->width;
    if (!check_convolution(model, json, error))
        return false;
    model->d_model = (c->width * c->expansion) << (sp_convolution_stages(model) - 1);
    model->head = SP_HEAD_SCORE;
    model->lm_head_bias = model->no_final_norm = true;
    return true;
}

/* Completes a model by the defaults of plain attention: equal head widths, no shared keys. */
static bool finish_model(struct sp_model *model, const struct sp_json *json, struct sp_error *error)
{
    if (sp_is_convolutional(model))
        return finish_convolution(model, json, error);
    if (model->moe.experts > 0 && model->moe.every == 0)
        model->moe.every = 1;
    if (model->kv_heads == 0)
        model->kv_heads = model->heads;
    if (model->expert_weights == SP_STORED_BF16)
        model->expert_weights = model->weights;
    derive_mixers(model);
    if (model->head_dim == 0 && model->heads > 0 && model->d_model % model->heads == 0)
        model->head_dim = model->d_model / model->heads;
    if (model->d_ff == 0) /* all layers may be MoE */
        model->d_ff = model->moe.d_ff_dense > 0 ? model->moe.d_ff_dense : model->moe.d_ff_expert;
    if (!cJSON_GetObjectItemCaseSensitive(json->root, "norms_per_layer") &&
        model->norms_per_layer == 0)
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
    if (m->head_dim == 0 && m->d_model % m->heads == 0)
        m->head_dim = m->d_model / m->heads;
    if (m->vocab == 0)
        m->vocab = 1;
}

/* Defaults: d_ff = 4 d_model, head_dim 128, kv_heads = heads, gated MLP, vocabulary 1; a note names
 * those taken. Most recent models are gated, and files have the same default. Sizes go by the names
 * of Hugging Face configs too. */
bool sp_model_from_shape(const char *shape, const struct sp_sources *sources,
                         struct sp_model *model, struct sp_error *error)
{
    *model = (struct sp_model){.norms_per_layer = 2, .gated_mlp = true};
    snprintf(model->name, sizeof model->name, "%s",
             strlen(shape) < sizeof model->name ? shape : "the model of --shape");
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
        const char *const native = sp_hf_native_of(key);
        const char *const whole =
            native ? native : sp_key_in(SP_ROOM, &sp_model_table, "moe", key, value);
        if (!sp_set_field(&sp_model_table, "--shape", whole, value, model, error))
            return false;
    }
    if (!apply_sets(&sp_model_table, sources, model, error))
        return false;
    if (model->moe.experts > 0 && model->moe.every == 0)
        model->moe.every = 1;
    if (model->moe.experts > 0 && model->moe.d_ff_expert == 0)
        model->moe.d_ff_expert = model->d_ff > 0 ? model->d_ff : 4 * model->d_model;
    derive_shape(model);
    if (model->head_dim == 0 && model->heads > 0)
        return sp_fail(error, SP_INPUT,
                       "--shape: %" PRId64 " heads do not divide d_model %" PRId64
                       ": give head_dim",
                       model->heads, model->d_model);
    derive_mixers(model);
    return check_model(model, &(struct sp_json){.origin = "--shape"}, error);
}

bool sp_decode_model(const struct sp_json *json, struct sp_model *model, struct sp_error *error)
{
    *model = (struct sp_model){0};
    return sp_decode(&sp_model_table, json, false, model, error) &&
           finish_model(model, json, error);
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

static bool check_law(const struct sp_scaling_law *law, const struct sp_json *json,
                      struct sp_error *error)
{
    const bool ratio = law->rule == SP_RULE_RATIO, least = law->rule == SP_RULE_MINIMUM,
               power = !ratio && !least, sum = law->form == SP_FORM_SUM,
               kaplan = !sum && law->form != SP_FORM_NONE;
    const struct rule rules[] = {
        {"optimum.tokens_per_param", !ratio || !isnan(law->tokens_per_param), NULL},
        {"optimum.coefficient", !power || !isnan(law->coefficient), NULL},
        {"optimum.exponent", !power || !isnan(law->exponent), NULL},
        {"optimum.rule", !least || sum, "optimum.rule minimum needs law.loss.form sum"}};
    const struct rule terms[] = {{"loss.alpha", !(sum || kaplan) || !isnan(law->alpha), NULL},
                                 {"loss.beta", !(sum || kaplan) || !isnan(law->beta), NULL},
                                 {"loss.E", !sum || !isnan(law->E), NULL},
                                 {"loss.A", !sum || !isnan(law->A), NULL},
                                 {"loss.B", !sum || !isnan(law->B), NULL},
                                 {"loss.N_c", !kaplan || !isnan(law->N_c), NULL},
                                 {"loss.D_c", !kaplan || !isnan(law->D_c), NULL}};
    return CHECK(rules, json, "law", "needed by its rule", error) &&
           CHECK(terms, json, "law", "needed by its loss", error);
}

static bool check_hardware(const struct sp_hardware *hw, const struct sp_json *json,
                           struct sp_error *error)
{
    const struct sp_network *net = &hw->network;
    const bool torus = net->kind == SP_TORUS;
    const struct rule chip[] = {
        {"chip.peak_flops_per_s", sp_compute_dtype(&hw->chip, SP_BF16) != SP_DTYPES, NULL},
        {"chip.hbm_bytes", !isnan(hw->chip.hbm_bytes), NULL},
        {"chip.hbm_bytes_per_s", !isnan(hw->chip.hbm_bytes_per_s), NULL}};
    const struct rule network[] = {
        {"network.axes", !torus || net->axes > 0, NULL},
        {"network.link_bytes_per_s", !torus || !isnan(net->link_bytes_per_s), NULL},
        {"network.chips_per_host", !torus || net->chips_per_host > 0, NULL},
        {"network.shapes", !torus || net->n_shapes > 0, NULL},
        {"network.domain", torus || net->domain > 0, NULL},
        {"network.domain_bytes_per_s", torus || !isnan(net->domain_bytes_per_s), NULL},
        {"network.scaleout_bytes_per_s", torus || !isnan(net->scaleout_bytes_per_s), NULL}};
    return CHECK(chip, json, "hw", "needed by every chip", error) &&
           CHECK(network, json, "hw",
                 torus ? "needed by a torus, the default of network.kind"
                       : "needed by a switched network",
                 error);
}

static bool finish_hardware(struct sp_hardware *hw, const struct sp_json *json,
                            const struct sp_sources *sources, struct sp_error *error)
{
    hw->slices = hw->chips_per_slice = 1;
    hw->shape = (struct sp_shape){{1, 1, 1}};
    /* --set of the memory sets the usable memory too, which verdicts use */
    if (sp_is_set(sources, &sp_hardware_table, "chip.hbm_bytes") &&
        !sp_is_set(sources, &sp_hardware_table, "chip.hbm_usable_bytes"))
        hw->chip.hbm_usable_bytes = NAN;
    return check_hardware(hw, json, error);
}

static bool finish_trend(struct sp_trend_file *file, struct sp_error *error)
{
    if (file->trend.factor == 1)
        return sp_fail(error, SP_INPUT, "trend %s: the factor must not be 1",
                       sp_safe(file->trend.name));
    return sp_read_trend_points(file, error);
}

/* Fills in values that no field gives, and checks that the values agree with each other. */
static bool finish(enum sp_config_kind kind, const struct sp_json *json,
                   const struct sp_sources *sources, void *config, struct sp_error *error)
{
    switch (kind) {
    case SP_MODELS:
        return finish_model(config, json, error);
    case SP_HARDWARE:
        return finish_hardware(config, json, sources, error);
    case SP_NETWORKS: {
        const struct sp_scaleout *const network = config;
        const struct rule rules[] = {
            {"bytes_per_s", !isnan(network->bytes_per_s), "bytes_per_s is missing"}};
        return CHECK(rules, json, "network", "", error);
    }
    case SP_LAWS:
        return check_law(config, json, error);
    case SP_SERVING: {
        struct sp_profile *const profile = config;
        profile->serves = true;
        profile->memory_factor = profile->machine_factor = 1;
        return true;
    }
#ifndef __wasi__ /* the page reads no user's profile */
    case SP_PROFILES:
        return sp_finish_seen_runs(config, error);
#endif
    case SP_FORMATS:
        return check_number_format(config, error);
    case SP_TRENDS:
        return finish_trend(config, error);
    case SP_LOGS: {
        const struct sp_log_words *const log = config;
        return log->step_time[0] || log->device_rate[0] ||
               sp_fail(error, SP_INPUT, "log %s: step_time or device_rate is needed",
                       sp_safe(log->name));
    }
    case SP_GROUNDS:
        return sp_finish_ground(config, error);
    default:
        return true;
    }
}

bool sp_load_fields(enum sp_config_kind kind, const char *spec, const struct sp_sources *sources,
                    void *base, struct sp_error *error)
{
    struct sp_config config;
    const struct sp_config_kind_info *const info = &sp_config_kinds[kind];
    if (!sp_open_config(kind, spec, sources, &config, error))
        return false;
    if (kind == SP_KERNELS)
        sp_clear_kernels(base); /* a file has some curves */
    const bool textbook = sources->textbook && kind != SP_MODELS,
               ok = (kind != SP_MODELS || sp_nativise_model(&config.json, sources, error)) &&
                    sp_decode(info->table, &config.json, textbook, base, error) &&
                    (!info->sets || apply_sets(info->table, sources, base, error)) &&
                    finish(kind, &config.json, sources, base, error);
    sp_config_free(&config);
    return ok;
}

/* Loads the kernels of the chip's name, of the chip that it was made from or of its family, or
 * none. */
static bool find_kernels(struct sp_hardware *hw, const struct sp_sources *sources,
                         struct sp_error *error)
{
    const char *const names[] = {hw->name, hw->made_from, hw->family};
    sp_clear_kernels(&hw->chip.kernels);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][0] && sp_config_named(SP_KERNELS, names[i], sources))
            return sp_load_fields(SP_KERNELS, names[i], sources, &hw->chip.kernels, error);
    return true;
}

bool sp_load_chip(const char *name, const struct sp_sources *sources, struct sp_hardware *hw,
                  struct sp_error *error)
{
    *hw = (struct sp_hardware){0};
    return sp_load_fields(SP_HARDWARE, name, sources, hw, error) &&
           find_kernels(hw, sources, error);
}
