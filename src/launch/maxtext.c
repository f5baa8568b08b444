/* MaxText: options as a plan. */
#include <math.h>
#include <string.h>

#include "launch/assumed.h"
#include "launch/maxtext.h"
#include "launch/shell.h"

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

static void read_precision(struct sp_settings *s, struct sp_launch *launch)
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
    for (size_t i = 0; i < SP_MAXTEXT_POLICIES; i++) {
        if (strcmp(sp_maxtext_policies[i].name, name) != 0)
            continue;
        sp_launch_option(launch, "remat", "%s", sp_maxtext_policies[i].remat);
        if (sp_maxtext_policies[i].offload)
            sp_launch_option(launch, "offload", "on");
        if (!sp_maxtext_policies[i].exact)
            sp_launch_note(launch, "remat_policy %s: read as %s", name,
                           sp_maxtext_policies[i].remat);
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
    for (int i = 0; i < SP_MAXTEXT_DIMENSIONS; i++)
        ADD(",%s=%lld", sp_maxtext_dimensions[i].field,
            (long long)sp_setting_whole(s, sp_maxtext_dimensions[i].key, 1,
                                        sp_maxtext_dimensions[i].otherwise, error));
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
    for (int i = 0; i < SP_MAXTEXT_DIMENSIONS; i++)
        given = given || sp_setting(s, sp_maxtext_dimensions[i].key);
    if (!model || strcmp(model, "default") == 0) {
        if (given)
            read_shape(s, launch, error);
        return;
    }
    for (size_t i = 0; i < SP_MAXTEXT_MODELS; i++)
        if (strcmp(sp_maxtext_models[i][1], model) == 0)
            model = sp_maxtext_models[i][0];
    sp_launch_option(launch, "model", "%s", model);
    for (int i = 0; i < SP_MAXTEXT_DIMENSIONS; i++)
        if (overrides && sp_setting(s, sp_maxtext_dimensions[i].key))
            sp_launch_option(launch, "set", "model.%s=%lld", sp_maxtext_dimensions[i].field,
                             (long long)sp_setting_whole(s, sp_maxtext_dimensions[i].key, 1,
                                                         sp_maxtext_dimensions[i].otherwise,
                                                         error));
    if (given && !overrides)
        sp_launch_note(launch,
                       "dimensions beside model_name %s count with override_model_config "
                       "alone",
                       sp_safe(model));
}

/* Whether an option's name is MaxText's own. */
static bool is_own(const char *name)
{
    static const char *const own[] = {
        "per_device_batch_size", "base_emb_dim",          "remat_policy", "base_num_decoder_layers",
        "max_target_length",     "override_model_config", "decoder_block"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i], name) == 0)
            return true;
    const char *const end = strstr(name, "_parallelism");
    return (strncmp(name, "ici_", 4) == 0 || strncmp(name, "dcn_", 4) == 0) && end &&
           end[strlen("_parallelism")] == '\0';
}

/* Whether a word is one of its options, "name=value". */
static bool tells(const char *word)
{
    char name[64];
    const size_t n = strcspn(word, "=");
    if (word[n] != '=' || n >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    return is_own(name);
}

static enum sp_match detect(const struct sp_launch_file *file)
{
    if (file->script)
        return sp_count_telling(file->script, tells, true) > 0 ? SP_CERTAIN : SP_NO_MATCH;
    for (int i = 0; i < file->settings.n && !file->json; i++)
        if (is_own(file->settings.at[i].name))
            return SP_CERTAIN;
    return SP_NO_MATCH;
}

static bool read(struct sp_launch_file *file, struct sp_launch *launch, struct sp_error *error)
{
    struct sp_settings *const s = &file->settings, *const assumed = &file->assumed;
    const struct sp_hardware *hw = file->hw;
    double degree[DEGREES];
    const int before = error->lines;
    if ((file->script && !sp_read_pairs(file->script, tells, s, launch, error)) ||
        !sp_read_assumed_lines(file->text, assumed, launch, error))
        return false;
    read_model(s, launch, error);
    if (!read_machine(s, file->sources, &hw, launch, error))
        return false;
    const int64_t jax_devices = hw ? sp_jax_devices_of(hw) : 1;
    if (!sp_read_mesh(s, hw, jax_devices, degree, launch, error))
        return false;
    launch->etp_is_tp = true; /* base.yml's rules have one tensor axis for every "mlp" */
    if (degree[EXPERT] > 1 || is_mixture(s, file->sources, launch, error))
        sp_launch_option(launch, "etp", "%.0f", degree[TENSOR]);
    read_sharding(degree, hw, launch);
    read_batch(s, degree, hw, jax_devices, launch, error);
    read_pipeline(s, degree[PIPELINE] > 1, launch, error);
    read_precision(s, launch);
    if (sp_setting(s, "opt_type"))
        sp_read_optimizer("opt_type", sp_setting(s, "opt_type"), 0, file->origin, launch, error);
    read_policy(s, launch);
    if (sp_setting(assumed, "framework"))
        sp_assume(assumed, "framework", launch);
    else
        sp_launch_option(launch, "framework", "maxtext");
    sp_assume(assumed, "imbalance", launch);
    return sp_refuse_gaps(s, error) && error->lines == before;
}

const struct sp_target sp_target_maxtext = {
    .write = sp_write_maxtext,
    .format = "MaxText options",
    .detect = detect,
    .read = read,
};
