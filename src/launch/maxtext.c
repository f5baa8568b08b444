/* MaxText: options as YAML (libyaml) or key=value words. Keys: MaxText/configs/base.yml. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "launch_internal.h"

/* Models that it has a configuration of (MaxText/configs/models), by their names here and there. */
static const char *const model_names[][2] = {
    {"llama2-7b", "llama2-7b"},
    {"llama2-13b", "llama2-13b"},
    {"llama2-70b", "llama2-70b"},
    {"llama3-8b", "llama3-8b"},
    {"llama3-70b", "llama3-70b"},
    {"llama3.1-8b", "llama3.1-8b"},
    {"llama3.1-70b", "llama3.1-70b"},
    {"llama3-405b", "llama3.1-405b"},
    {"llama4-scout", "llama4-17b-16e"},
    {"llama4-maverick", "llama4-17b-128e"},
    {"mistral-7b", "mistral-7b"},
    {"mixtral-8x7b", "mixtral-8x7b"},
    {"mixtral-8x22b", "mixtral-8x22b"},
    {"deepseek-v3", "deepseek3-671b"},
    {"deepseek-v2", "deepseek2-236b"},
    {"deepseek-v2-lite", "deepseek2-16b"},
    {"kimi-k2", "kimi-k2-1t"},
    {"gemma-2b", "gemma-2b"},
    {"gemma-7b", "gemma-7b"},
    {"gemma2-2b", "gemma2-2b"},
    {"gemma2-9b", "gemma2-9b"},
    {"gemma2-27b", "gemma2-27b"},
    {"gemma3-27b", "gemma3-27b"},
    {"qwen3-8b", "qwen3-8b"},
    {"qwen3-32b", "qwen3-32b"},
    {"qwen3-30b-a3b", "qwen3-30b-a3b"},
    {"qwen3-235b-a22b", "qwen3-235b-a22b"},
    {"gpt-oss-20b", "gpt-oss-20b"},
    {"gpt-oss-120b", "gpt-oss-120b"},
    {"gpt3-175b", "gpt3-175b"},
};

/* Dimensions of a model that it has no configuration of, and what base.yml has for them. */
static const struct {
    const char *key, *field;
    size_t offset;
    int64_t otherwise;
} dimensions[] = {
    {"base_num_decoder_layers", "layers", offsetof(struct sp_model, layers), 16},
    {"base_emb_dim", "d_model", offsetof(struct sp_model, d_model), 2048},
    {"base_mlp_dim", "d_ff", offsetof(struct sp_model, d_ff), 7168},
    {"base_num_query_heads", "heads", offsetof(struct sp_model, heads), 16},
    {"base_num_kv_heads", "kv_heads", offsetof(struct sp_model, kv_heads), 16},
    {"head_dim", "head_dim", offsetof(struct sp_model, head_dim), 128},
    {"vocab_size", "vocab", offsetof(struct sp_model, vocab), 32000},
};
enum { DIMENSIONS = sizeof dimensions / sizeof *dimensions };

/* Its recompute policies. */
static const struct {
    const char *name, *remat;
    bool offload, exact;
} policies[] = {
    {"full", "full", false, true},
    {"minimal", "dots", false, true},
    {"minimal_with_context", "none", false, true},
    {"minimal_offloaded", "dots", true, true},
    {"save_qkv_proj", "qkv", false, true},
    {"qkv_proj_offloaded", "qkv", true, true},
    {"save_dot_except_mlp", "mlp", false, true},
    {"save_dot_with_context_except_mlp", "mlp", false, false},
    {"save_dot_except_mlpwi", "mlp", false, false},
    {"save_out_proj", "full", false, false},
    {"custom", "full", false, false},
};

static int64_t jax_devices_of(const struct sp_hardware *hw)
{
    return hw->network.jax_devices_per_chip > 0 ? hw->network.jax_devices_per_chip : 1;
}

/* Top-level scalars of a YAML document; what is nested is passed over. */
static bool read_yaml(const char *text, struct sp_settings *settings, struct sp_error *error)
{
    yaml_parser_t parser;
    yaml_event_t event;
    char key[64] = "";
    int depth = 0;
    bool ok = true, done = false;
    if (!yaml_parser_initialize(&parser))
        return sp_fail(error, SP_INTERNAL, "out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    while (ok && !done) {
        if (!yaml_parser_parse(&parser, &event)) {
            ok = sp_fail(error, SP_INPUT, "%s:%zu:%zu: %s", sp_safe(settings->origin),
                         parser.problem_mark.line + 1, parser.problem_mark.column + 1,
                         parser.problem ? parser.problem : "not YAML");
            break;
        }
        const bool opens =
            event.type == YAML_MAPPING_START_EVENT || event.type == YAML_SEQUENCE_START_EVENT;
        const bool closes =
            event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT;
        done = event.type == YAML_STREAM_END_EVENT;
        if (opens)
            depth++;
        if (closes)
            depth--;
        if (depth > SP_JSON_MAX_DEPTH)
            ok = sp_fail(error, SP_INPUT, "%s: nested deeper than %d", sp_safe(settings->origin),
                         SP_JSON_MAX_DEPTH);
        if ((opens && depth == 2) || (event.type == YAML_ALIAS_EVENT && depth == 1)) {
            key[0] = '\0';
        } else if (event.type == YAML_SCALAR_EVENT && depth == 1) {
            const char *const value = (const char *)event.data.scalar.value;
            if (!key[0]) {
                snprintf(key, sizeof key, "%s", value);
            } else {
                ok = ok && sp_add_setting(settings, key, value, error);
                key[0] = '\0';
            }
        }
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return ok;
}

/* key=value words; other words (a command, its script) are passed over. */
static bool read_words(const char *text, struct sp_settings *settings, struct sp_error *error)
{
    while (*text) {
        char word[320];
        text += strspn(text, " \t\r\n\\'\"");
        const size_t n = strcspn(text, *text == '#' ? "\n" : " \t\r\n\\'\"");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), text);
        text += n;
        char *const equals = strchr(word, '=');
        if (word[0] == '#' || !equals || equals == word)
            continue;
        *equals = '\0';
        if (!sp_add_setting(settings, word, equals + 1, error))
            return false;
    }
    return true;
}

/* Axes of its mesh. Several stand for one degree of a plan; `as` says so where that is not all they
 * mean, and "" that nothing here stands for them. */
enum degree { TENSOR, CONTEXT, EXPERT, PIPELINE, FSDP, DATA, DEGREES };
static const struct {
    const char *name;
    enum degree degree;
    const char *as;
} axes[] = {
    {"tensor", TENSOR, NULL},
    {"tensor_sequence", TENSOR, NULL},
    {"tensor_transpose", TENSOR, "tensor"},
    {"context", CONTEXT, NULL},
    {"sequence", CONTEXT, "context"},
    {"expert", EXPERT, NULL},
    {"pipeline", PIPELINE, NULL},
    {"fsdp", FSDP, NULL},
    {"fsdp_transpose", FSDP, NULL},
    {"data", DATA, NULL},
    {"autoregressive", DATA, ""},
    {"context_autoregressive", DATA, ""},
};
enum { AXES = sizeof axes / sizeof *axes };

/* Axes inside of slices and between them. base.yml leaves one of each level to it (-1). */
static const struct {
    const char *name, *automatic;
} levels[] = {{"ici", "fsdp"}, {"dcn", "data"}};

/* A mesh as far as the options say it: the degree of each axis; `left` is the axis of each level
 * that takes the rest of the devices, or -1. */
struct mesh {
    double degree[2][AXES], product[2];
    int left[2];
};

/* The axes of one level; false with an error. */
static bool read_level(struct sp_settings *s, int level, struct mesh *mesh, struct sp_error *error)
{
    char key[64];
    const int before = error->lines;
    mesh->product[level] = 1;
    mesh->left[level] = -1;
    for (int i = 0; i < AXES; i++) {
        snprintf(key, sizeof key, "%s_%s_parallelism", levels[level].name, axes[i].name);
        const char *const text = sp_setting(s, key);
        const bool left = text && strcmp(text, "-1") == 0;
        mesh->degree[level][i] = left ? 1 : fmax(1, (double)sp_setting_whole(s, key, 1, 1, error));
        mesh->product[level] *= mesh->degree[level][i];
        if (left && mesh->left[level] >= 0)
            return sp_fail(error, SP_INPUT,
                           "%s: %s_%s_parallelism and %s are both -1; one axis takes the rest",
                           sp_safe(s->origin), levels[level].name, axes[mesh->left[level]].name,
                           key);
        if (left)
            mesh->left[level] = i;
    }
    for (int i = 0; i < AXES && mesh->left[level] < 0; i++) {
        snprintf(key, sizeof key, "%s_%s_parallelism", levels[level].name, axes[i].name);
        if (strcmp(axes[i].name, levels[level].automatic) == 0 && !sp_setting(s, key))
            mesh->left[level] = i;
    }
    return error->lines == before;
}

/* Gives the axes that are left to MaxText what `devices` leave, and checks that the mesh is all of
 * them. On a torus slices are a fact; elsewhere what is between domains is the reader's to say. */
static bool close_mesh(struct mesh *mesh, const struct sp_hardware *hw, double devices,
                       const char *origin, struct sp_error *error)
{
    const bool torus = hw->network.kind == SP_TORUS;
    const double between = torus                ? (double)hw->slices
                           : mesh->left[0] >= 0 ? mesh->product[1]
                                                : floor(devices / mesh->product[0]);
    const double have[2] = {devices / fmax(1, between), between};
    static const char *const noun[] = {"devices of a slice", "slices"};
    for (int level = 0; level < 2; level++) {
        const double rest = have[level] / mesh->product[level];
        const bool left = mesh->left[level] >= 0;
        if (left ? rest != floor(rest) || rest < 1 : rest != 1)
            return sp_fail(error, SP_INPUT,
                           "%s: the %s_*_parallelism make %.0f%s, which %s the %.0f %s of %s",
                           sp_safe(origin), levels[level].name, mesh->product[level],
                           left ? " and a rest (-1)" : "", left ? "does not divide" : "is not",
                           have[level], noun[level], sp_safe(hw->name));
        if (left)
            mesh->degree[level][mesh->left[level]] = rest;
    }
    return true;
}

/* Degrees of a plan, in chips: where a chip is two devices to JAX, one of the axes that shard or
 * replicate runs over them. */
static bool degrees_of(const struct mesh *mesh, int64_t jax_devices, double degree[DEGREES],
                       const char *origin, struct sp_error *error)
{
    static const enum degree over_cores[] = {FSDP, DATA, EXPERT};
    for (int i = 0; i < DEGREES; i++)
        degree[i] = 1;
    for (int i = 0; i < AXES; i++)
        degree[axes[i].degree] *= mesh->degree[0][i] * mesh->degree[1][i];
    const double cores = (double)jax_devices;
    for (size_t i = 0; i < sizeof over_cores / sizeof *over_cores; i++)
        if (fmod(degree[over_cores[i]], cores) == 0) {
            degree[over_cores[i]] /= cores;
            return true;
        }
    return sp_fail(error, SP_INPUT,
                   "%s: %.0f devices of a chip that no fsdp, data or expert axis runs over",
                   sp_safe(origin), cores);
}

static bool read_degrees(struct sp_settings *s, const struct sp_hardware *hw, int64_t jax_devices,
                         double degree[DEGREES], struct sp_launch *launch, struct sp_error *error)
{
    static const struct {
        const char *option;
        enum degree degree;
    } options[] = {{"tp", TENSOR}, {"cp", CONTEXT}, {"ep", EXPERT}, {"pp", PIPELINE}};
    struct mesh mesh;
    if (!read_level(s, 0, &mesh, error) || !read_level(s, 1, &mesh, error) ||
        (hw &&
         !close_mesh(&mesh, hw, (double)sp_chips(hw) * (double)jax_devices, s->origin, error)) ||
        !degrees_of(&mesh, jax_devices, degree, s->origin, error))
        return false;
    for (int i = 0; i < AXES; i++)
        if (axes[i].as && mesh.degree[0][i] * mesh.degree[1][i] > 1)
            sp_launch_note(launch,
                           axes[i].as[0] ? "%s_parallelism: read as %s_parallelism"
                                         : "not modelled: %s_parallelism%s",
                           axes[i].name, axes[i].as);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        sp_launch_option(launch, options[i].option, "%.0f", degree[options[i].degree]);
    return true;
}

/* Weights shard over fsdp, expert and context axes (logical_axis_rules of base.yml, "embed"). */
static void read_sharding(const double degree[DEGREES], const struct sp_hardware *hw,
                          struct sp_launch *launch)
{
    const double shards = degree[FSDP] * degree[EXPERT] * degree[CONTEXT];
    const double all = shards * degree[DATA], slices = hw ? (double)hw->slices : 1;
    const double usual = slices > 1 && fmod(all, slices) == 0 ? all / slices : all;
    const bool replicas = shards == 1 && degree[DATA] > 1;
    sp_launch_option(launch, "zero", "%d", replicas ? 0 : 3);
    if (!replicas && shards != usual)
        sp_launch_option(launch, "fsdp", "%.0f", shards);
}

static void read_batch(struct sp_settings *s, const double degree[DEGREES],
                       const struct sp_hardware *hw, int64_t jax_devices, struct sp_launch *launch,
                       struct sp_error *error)
{
    const double each = sp_setting_number(s, "per_device_batch_size", 0, error);
    const int64_t steps = sp_setting_whole(s, "gradient_accumulation_steps", 1, 1, error);
    const int64_t pieces = sp_setting_whole(s, "num_pipeline_microbatches", -1, 0, error);
    const double devices = hw ? (double)sp_chips(hw) * (double)jax_devices : 0;
    const double at_once = each * devices;
    sp_launch_option(launch, "seq", "%lld",
                     (long long)sp_setting_whole(s, "max_target_length", 1, 2048, error));
    if (!sp_setting(s, "max_target_length"))
        sp_launch_note(launch, "max_target_length is not given: 2048, as base.yml has it");
    const double replicas = degree[FSDP] * degree[DATA] * degree[EXPERT];
    const double parts = degree[PIPELINE] > 1 && pieces > 0 ? (double)pieces : degree[PIPELINE];
    if (!(each > 0) || devices == 0) {
        sp_launch_note(launch, "per_device_batch_size is %s",
                       each > 0 ? "left out: the machine is not known" : "not given");
        return;
    }
    if (!(at_once * (double)steps < 1e15) || fabs(at_once - round(at_once)) > 1e-6 * at_once) {
        sp_fail(error, SP_INPUT,
                "%s: per_device_batch_size: %.0f devices times it make no whole number of "
                "sequences",
                sp_safe(s->origin), devices);
        return;
    }
    const double micro = at_once / (replicas * parts);
    sp_launch_option(launch, "batch", "%.0fx", round(at_once) * (double)steps);
    sp_launch_option(launch, "micro-batch", "%.0f", fmax(1, floor(micro + 1e-6)));
}

static void read_pipeline(struct sp_settings *s, bool stages, struct sp_launch *launch,
                          struct sp_error *error)
{
    const int64_t repeats = sp_setting_whole(s, "num_pipeline_repeats", -1, 1, error);
    if (!stages)
        return;
    if (repeats > 1)
        sp_launch_option(launch, "vpp", "%lld", (long long)repeats);
    if (sp_setting(s, "num_layers_per_pipeline_stage") && repeats <= 1)
        sp_launch_note(launch, "num_layers_per_pipeline_stage: say num_pipeline_repeats or --vpp");
    sp_launch_option(launch, "schedule", "%s", repeats > 1 ? "circular" : "gpipe");
}

static void read_precision(const struct sp_settings *s, struct sp_launch *launch)
{
    const char *const quantization = sp_setting(s, "quantization"),
                      *const dtype = sp_setting(s, "dtype"),
                      *const weights = sp_setting(s, "weight_dtype");
    const bool fp8 = quantization && strncmp(quantization, "fp8", 3) == 0,
               full = dtype && strcmp(dtype, "float32") == 0;
    sp_launch_option(launch, "precision", "%s", fp8 ? "fp8" : full ? "fp32" : "jax12");
    if (quantization && quantization[0] && !fp8)
        sp_launch_note(launch, "not modelled: quantization %s", sp_safe(quantization));
    if (dtype && !full && strcmp(dtype, "bfloat16") != 0)
        sp_launch_note(launch, "not modelled: dtype %s; read as bfloat16", sp_safe(dtype));
    if (weights && strcmp(weights, "float32") != 0)
        sp_launch_note(launch, "not modelled: weight_dtype %s; read as float32", sp_safe(weights));
}

static void read_policy(struct sp_settings *s, struct sp_launch *launch)
{
    const char *const name = sp_setting(s, "remat_policy");
    if (sp_setting_on(s, "optimizer_memory_host_offload"))
        sp_launch_note(launch, "not modelled: optimizer_memory_host_offload");
    if (sp_setting_on(s, "parameter_memory_host_offload"))
        sp_launch_note(launch, "not modelled: parameter_memory_host_offload");
    if (!name)
        return;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        if (strcmp(policies[i].name, name) != 0)
            continue;
        sp_launch_option(launch, "remat", "%s", policies[i].remat);
        if (policies[i].offload)
            sp_launch_option(launch, "offload", "on");
        if (!policies[i].exact)
            sp_launch_note(launch, "remat_policy %s: read as %s", name, policies[i].remat);
        return;
    }
    sp_launch_note(launch, "remat_policy %s: not known; inferred instead", sp_safe(name));
}

/* The machine of compile_topology, a name of the cloud's. What is typed wins. */
static bool read_machine(struct sp_settings *s, const struct sp_sources *sources,
                         const struct sp_hardware **hw, struct sp_launch *launch,
                         struct sp_error *error)
{
    static struct sp_hardware named;
    char spec[128];
    const char *const topology = sp_setting(s, "compile_topology");
    const int64_t slices = sp_setting_whole(s, "compile_topology_num_slices", 1, 1, error);
    if (!topology || !topology[0])
        return true;
    snprintf(spec, sizeof spec, slices > 1 ? "gcp:%.80sx%lld" : "gcp:%.80s", topology,
             (long long)slices);
    if (!sp_load_hardware(spec, sources, &named, error))
        return false;
    sp_launch_option(launch, "hw", "%s", spec);
    if (!*hw)
        *hw = &named;
    return true;
}

/* Whether the launch's model is a mixture of experts, as far as the file tells. */
static bool is_mixture(struct sp_settings *s, const struct sp_sources *sources,
                       const struct sp_launch *launch, struct sp_error *error)
{
    static struct sp_model model;
    struct sp_error unknown = {0};
    for (int i = 0; i < launch->options; i++)
        if (strcmp(launch->option[i].name, "model") == 0 &&
            sp_load_model(launch->option[i].value, sources, &model, &unknown))
            return model.moe.experts > 0;
    return sp_setting_whole(s, "num_experts", 1, 1, error) > 1;
}

/* A model by its dimensions: gated, RMSNorm, as Llama. */
static void read_shape(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    char out[700] = "name=options";
    const size_t size = sizeof out;
    const char *const decoder = sp_setting(s, "decoder_block");
    const int64_t experts = sp_setting_whole(s, "num_experts", 1, 1, error);
#define ADD(...) snprintf(out + strlen(out), size - strlen(out), __VA_ARGS__)
    for (int i = 0; i < DIMENSIONS; i++)
        ADD(",%s=%lld", dimensions[i].field,
            (long long)sp_setting_whole(s, dimensions[i].key, 1, dimensions[i].otherwise, error));
    if (sp_setting_on(s, "logits_via_embedding"))
        ADD(",tied_embeddings=true");
    if (sp_setting_on(s, "use_qk_norm"))
        ADD(",qk_norm=head");
    if (experts > 1)
        ADD(",moe.experts=%lld,moe.top_k=%lld", (long long)experts,
            (long long)sp_setting_whole(s, "num_experts_per_tok", 1, 1, error));
    if (experts > 1 && sp_setting(s, "base_moe_mlp_dim"))
        ADD(",moe.d_ff_expert=%lld",
            (long long)sp_setting_whole(s, "base_moe_mlp_dim", 1, 1, error));
#undef ADD
    sp_launch_option(launch, "shape", "%s", out);
    if (decoder && strncmp(decoder, "llama", 5) != 0 && strncmp(decoder, "qwen3", 5) != 0 &&
        strncmp(decoder, "mi", 2) != 0)
        sp_launch_note(launch, "decoder_block %s: its dimensions, read as a block of Llama",
                       sp_safe(decoder));
}

/* The model of its name, with the dimensions that override_model_config puts over it; or one of
 * dimensions alone. */
static void read_model(struct sp_settings *s, struct sp_launch *launch, struct sp_error *error)
{
    const char *model = sp_setting(s, "model_name");
    const bool overrides = sp_setting_on(s, "override_model_config");
    bool given = false;
    for (int i = 0; i < DIMENSIONS; i++)
        given = given || sp_setting(s, dimensions[i].key);
    if (!model || strcmp(model, "default") == 0) {
        if (given)
            read_shape(s, launch, error);
        return;
    }
    for (size_t i = 0; i < sizeof model_names / sizeof *model_names; i++)
        if (strcmp(model_names[i][1], model) == 0)
            model = model_names[i][0];
    sp_launch_option(launch, "model", "%s", model);
    for (int i = 0; i < DIMENSIONS; i++)
        if (overrides && sp_setting(s, dimensions[i].key))
            sp_launch_option(launch, "set", "model.%s=%lld", dimensions[i].field,
                             (long long)sp_setting_whole(s, dimensions[i].key, 1,
                                                         dimensions[i].otherwise, error));
    if (given && !overrides)
        sp_launch_note(launch,
                       "dimensions beside model_name %s count with override_model_config "
                       "alone",
                       sp_safe(model));
}

/* Whether a line outside of comments starts with a key of YAML, "word:" and a blank. */
static bool is_yaml(const char *text)
{
    while (*text) {
        text += strspn(text, " \t");
        const char *const end = text + strcspn(text, ": \t\r\n#=");
        if (end > text && *end == ':' && (end[1] == '\0' || strchr(" \t\r\n", end[1])))
            return true;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return false;
}

bool sp_read_maxtext(const char *text, const char *origin, const struct sp_hardware *hw,
                     const struct sp_sources *sources, struct sp_launch *launch,
                     struct sp_error *error)
{
    static struct sp_settings settings, assumed;
    double degree[DEGREES];
    const int before = error->lines;
    settings.n = assumed.n = 0;
    settings.origin = assumed.origin = origin;
    launch->format = "MaxText options";
    if (!(is_yaml(text) ? read_yaml(text, &settings, error) : read_words(text, &settings, error)) ||
        !sp_read_assumed_lines(text, &assumed, launch, error))
        return false;
    bool known = false;
    for (int i = 0; i < settings.n; i++)
        known = known || strstr(settings.at[i].name, "_parallelism") ||
                strcmp(settings.at[i].name, "per_device_batch_size") == 0;
    if (!known)
        return sp_fail(error, SP_INPUT,
                       "%s: neither arguments of Megatron-LM, nor a DeepSpeed JSON, nor options of "
                       "MaxText (such as ici_fsdp_parallelism or per_device_batch_size)",
                       sp_safe(origin));
    read_model(&settings, launch, error);
    if (!read_machine(&settings, sources, &hw, launch, error))
        return false;
    const int64_t jax_devices = hw ? jax_devices_of(hw) : 1;
    if (!read_degrees(&settings, hw, jax_devices, degree, launch, error))
        return false;
    if (degree[EXPERT] > 1 || is_mixture(&settings, sources, launch, error))
        sp_launch_option(launch, "etp", "%.0f", degree[TENSOR]);
    read_sharding(degree, hw, launch);
    read_batch(&settings, degree, hw, jax_devices, launch, error);
    read_pipeline(&settings, degree[PIPELINE] > 1, launch, error);
    read_precision(&settings, launch);
    read_policy(&settings, launch);
    if (sp_setting(&assumed, "framework"))
        sp_assume(&assumed, "framework", launch);
    else
        sp_launch_option(launch, "framework", "maxtext");
    sp_assume(&assumed, "imbalance", launch);
    return error->lines == before;
}

static const char *policy_name(const struct sp_launched *l)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (policies[i].exact && strcmp(policies[i].remat, l->remat) == 0 &&
            policies[i].offload == l->plan->recompute.offload)
            return policies[i].name;
    return NULL;
}

static void lose(const struct sp_launched *l, struct sp_written *lost)
{
    const struct sp_plan *const p = l->plan;
    const int64_t m = sp_plan_microbatches(p);
    if (p->zero == 1 || p->zero == 2)
        sp_lose(lost, "ZeRO %d; it shards everything (fsdp) or nothing (data)", p->zero);
    if (p->tp > 1 && !p->sequence_parallel)
        sp_lose(lost, "TP without sequence parallelism; its tensor axis shards activations too");
    if (p->zero == 0 && p->cp > 1)
        sp_lose(lost, "weights on every device with CP; its context axis shards them");
    if (p->stages_inside)
        sp_lose(lost, "stages as neighbours (--placement pp-inside)");
    if (l->model->moe.experts > 0 && p->etp != p->tp)
        sp_lose(lost, "experts split %lld ways beside TP %lld; its tensor axis splits them too",
                (long long)p->etp, (long long)p->tp);
    if (p->zero == 0 && p->ep > 1)
        sp_lose(lost, "experts without shards; its expert axis shards all weights");
    if (p->pp == 1 && p->vpp > 1)
        sp_lose(lost, "chunks of layers without pipeline stages");
    if (p->dp % p->ep != 0)
        sp_lose(lost, "experts over %lld of %lld replicas; its expert axis is a part of them",
                (long long)p->ep, (long long)p->dp);
    if (p->zero == 3 && p->shards < p->dp * p->cp && p->shards % (p->cp * p->ep) != 0)
        sp_lose(lost, "shard groups of %lld", (long long)p->shards);
    if (p->pp > 1 && p->schedule != (p->vpp > 1 ? SP_CIRCULAR : SP_GPIPE))
        sp_lose(lost, "this pipeline schedule; its pipeline is circular, or GPipe without repeats");
    if (p->pp > 1 && m % p->pp != 0)
        sp_lose(lost, "%lld micro-batches; it takes multiples of the %lld stages", (long long)m,
                (long long)p->pp);
    if (p->batch % (p->dp * p->micro_batch) != 0)
        sp_lose(lost, "a batch that replicas and micro-batches do not divide");
    if (!policy_name(l))
        sp_lose(lost, "recompute policy %s%s", l->remat,
                p->recompute.offload ? " with offload" : "");
    if (p->recompute_layers < 1)
        sp_lose(lost, "recompute of a share of the layers");
    if (!sp_recipe_is(l, "jax12") && !sp_recipe_is(l, "fp8") && !sp_recipe_is(l, "fp32"))
        sp_lose(lost, "precision recipe %s; weights in fp32, matmuls in bf16 stand for it",
                sp_recipe_text(l));
}

/* Its name of the model, NULL when it has no configuration of one of these dimensions. */
static const char *model_name(const struct sp_model *m)
{
    struct sp_error error = {0};
    static struct sp_model ours;
    const struct sp_sources builtin = {0};
    const struct sp_params here = sp_count_params(m);
    size_t i = 0;
    const size_t n = sizeof model_names / sizeof *model_names;
    while (i < n && strcmp(model_names[i][0], m->name) != 0)
        i++;
    if (i == n || !sp_load_model(m->name, &builtin, &ours, &error))
        return NULL;
    const struct sp_params there = sp_count_params(&ours);
    for (int k = 0; k < DIMENSIONS; k++)
        if (memcmp((const char *)m + dimensions[k].offset,
                   (const char *)&ours + dimensions[k].offset, sizeof(int64_t)) != 0)
            return NULL;
    return here.total == there.total && here.active == there.active ? model_names[i][1] : NULL;
}

/* What a model of dimensions alone cannot be. */
static void lose_model(const struct sp_model *m, struct sp_written *lost)
{
    const struct {
        bool is;
        const char *what;
    } kinds[] = {
        {m->moe.experts > 0, "a mixture of experts"},
        {m->mla.kv_lora_rank > 0, "multi-head latent attention"},
        {!m->gated_mlp, "an MLP without a gate"},
        {m->norm != SP_NORM_RMS || m->norms_per_layer != 2 || m->embedding_norm, "other norms"},
        {m->qk_norm == SP_QK_NORM_FULL, "norms over all heads of queries and keys"},
        {m->qkv_bias || m->o_bias || m->mlp_bias || m->lm_head_bias, "biases"},
        {m->parallel_attention, "attention and MLP side by side"},
        {m->learned_positions > 0, "learned positions"},
        {m->extra_attention_params_per_layer > 0, "further attention weights"},
        {m->sliding_window > 0, "sliding windows"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is)
            sp_lose(lost, "%s: it has no configuration of this model, only of its dimensions",
                    kinds[i].what);
}

static void write_shape(const struct sp_model *m, FILE *out)
{
    fprintf(out, "model_name: default\ndecoder_block: %s\n",
            m->qk_norm == SP_QK_NORM_HEAD ? "qwen3" : "llama2");
    for (int i = 0; i < DIMENSIONS; i++) {
        int64_t value;
        memcpy(&value, (const char *)m + dimensions[i].offset, sizeof value);
        fprintf(out, "%s: %lld\n", dimensions[i].key, (long long)value);
    }
    fprintf(out, "mlp_activations: [silu, linear]\nlogits_via_embedding: %s\n",
            m->tied_embeddings ? "True" : "False");
    if (m->qk_norm == SP_QK_NORM_HEAD)
        fputs("use_qk_norm: True\n", out);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Every axis inside of slices (nodes of a switched machine) as far as it divides, then between. */
static void write_axes(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const int64_t jax = jax_devices_of(l->hw);
    const bool torus = l->hw->network.kind == SP_TORUS;
    const int64_t ep = p->dp % p->ep == 0 ? p->ep : 1;
    const int64_t group = p->zero < 3                     ? 1
                          : p->shards % (p->cp * ep) == 0 ? p->shards / p->cp / ep
                                                          : p->dp / ep;
    const struct {
        const char *name;
        int64_t degree;
    } written[] = {{"tensor", p->tp},   {"context", p->cp},
                   {"expert", ep},      {"fsdp", p->zero < 3 ? 1 : group * jax},
                   {"pipeline", p->pp}, {"data", p->dp / ep / group * (p->zero < 3 ? jax : 1)}};
    int64_t inside = (torus ? l->hw->chips_per_slice : l->hw->network.domain) * jax;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const int64_t ici = gcd(inside, written[i].degree);
        inside /= ici;
        if (written[i].degree == 1 && i != 3)
            continue;
        fprintf(out, "ici_%s_parallelism: %lld\n", written[i].name, (long long)ici);
        fprintf(out, "dcn_%s_parallelism: %lld\n", written[i].name,
                (long long)(written[i].degree / ici));
    }
    if (p->dp / ep / group == 1)
        fputs("dcn_data_parallelism: 1\n", out);
}

void sp_write_maxtext(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const char *const model = model_name(l->model);
    char topology[64];
    lose(l, lost);
    if (!model)
        lose_model(l->model, lost);
    fputs("# MaxText options: ", out);
    sp_write_title(l, out);
    fputs("\n", out);
    sp_write_lost(lost, "#", out);
    sp_write_assumed(l, "maxtext", false, "# ", "\n", out);
    if (model)
        fprintf(out, "model_name: %s\n", model);
    else
        write_shape(l->model, out);
    sp_cloud_name(l->hw, topology, sizeof topology);
    if (topology[0])
        fprintf(out, "compile_topology: %s\ncompile_topology_num_slices: %lld\n", topology,
                (long long)l->hw->slices);
    write_axes(l, out);
    const int64_t m = sp_plan_microbatches(p), steps = p->pp > 1 ? 1 : m;
    const double devices = (double)(sp_plan_devices(p) * jax_devices_of(l->hw));
    fprintf(out, "per_device_batch_size: %.12g\n", (double)p->batch / (double)steps / devices);
    fprintf(out, "gradient_accumulation_steps: %lld\n", (long long)steps);
    fprintf(out, "max_target_length: %lld\n", (long long)p->seq);
    if (p->pp > 1)
        fprintf(out, "num_pipeline_microbatches: %lld\nnum_pipeline_repeats: %lld\n", (long long)m,
                (long long)p->vpp);
    if (policy_name(l))
        fprintf(out, "remat_policy: %s\n", policy_name(l));
    fprintf(out, "dtype: %s\nweight_dtype: float32\n",
            sp_multiplies_in_fp32(p) ? "float32" : "bfloat16");
    if (p->dtype == SP_FP8)
        fputs("quantization: fp8\n", out);
}
