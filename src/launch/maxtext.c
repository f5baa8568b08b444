/* MaxText: options as YAML (libyaml) or key=value words. Keys: MaxText/configs/base.yml. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "launch_internal.h"

/* Its names of models that bear others here; the rest have the same. */
static const char *const model_names[][2] = {
    {"llama3-405b", "llama3.1-405b"},   {"deepseek-v3", "deepseek3-671b"},
    {"deepseek-v2", "deepseek2-236b"},  {"deepseek-v2-lite", "deepseek2-16b"},
    {"llama4-scout", "llama4-17b-16e"}, {"llama4-maverick", "llama4-17b-128e"}};

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

/* The degree of an axis, inside of slices times between them; 0: left to MaxText (-1). */
static double degree_of(struct sp_settings *s, const char *axis, double otherwise,
                        struct sp_error *error)
{
    double product = 1;
    bool given = false, automatic = false;
    static const char *const levels[] = {"ici", "dcn"};
    for (int i = 0; i < 2; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s_parallelism", levels[i], axis);
        const char *const text = sp_setting(s, key);
        given = given || text;
        if (text && strcmp(text, "-1") == 0)
            automatic = true;
        else
            product *= (double)sp_setting_whole(s, key, 1, 1, error);
    }
    return automatic ? 0 : given ? product : otherwise;
}

static bool is_settled(struct sp_settings *s, const char *axis, double value,
                       struct sp_error *error)
{
    if (value > 0)
        return true;
    return sp_fail(error, SP_INPUT,
                   "%s: ici_%s_parallelism: -1 is understood for fsdp and data only",
                   sp_safe(s->origin), axis);
}

struct degrees {
    double tensor, context, expert, pipeline, fsdp, data; /* 0: left to MaxText */
};

static bool read_degrees(struct sp_settings *s, struct degrees *d, struct sp_launch *launch,
                         struct sp_error *error)
{
    *d = (struct degrees){
        .tensor = degree_of(s, "tensor", 1, error),
        .context = degree_of(s, "context", 1, error),
        .expert = degree_of(s, "expert", 1, error),
        .pipeline = degree_of(s, "pipeline", 1, error),
        .fsdp = degree_of(s, "fsdp", 0, error),
        .data = degree_of(s, "data", 1, error),
    };
    const double sequence = degree_of(s, "tensor_sequence", 1, error);
    if (!is_settled(s, "tensor", d->tensor, error) ||
        !is_settled(s, "context", d->context, error) ||
        !is_settled(s, "expert", d->expert, error) ||
        !is_settled(s, "pipeline", d->pipeline, error))
        return false;
    d->tensor *= fmax(sequence, 1);
    sp_launch_option(launch, "tp", "%.0f", d->tensor);
    sp_launch_option(launch, "cp", "%.0f", d->context);
    sp_launch_option(launch, "ep", "%.0f", d->expert);
    sp_launch_option(launch, "pp", "%.0f", d->pipeline);
    return true;
}

/* Which of fsdp and data share the replicas. */
static void read_sharding(const struct degrees *d, int64_t devices, struct sp_launch *launch)
{
    const double model = d->tensor * d->context * d->pipeline * d->expert;
    const double replicas = fmod((double)devices, model) == 0 ? (double)devices / model : 0;
    double fsdp = d->fsdp;
    if (fsdp == 0 && d->data > 0 && replicas > 0 && fmod(replicas, d->data) == 0)
        fsdp = replicas / d->data;
    sp_launch_option(launch, "zero", "%d", fsdp * d->expert == 1 && d->data != 1 ? 0 : 3);
    if (fsdp * d->expert > 1 && d->data != 1 && replicas != fsdp)
        sp_launch_option(launch, "fsdp", "%.0f", fsdp * d->expert * d->context);
}

static void read_batch(struct sp_settings *s, const struct degrees *d, int64_t devices,
                       int64_t jax_devices, struct sp_launch *launch, struct sp_error *error)
{
    const double each = sp_setting_number(s, "per_device_batch_size", 0, error);
    const int64_t steps = sp_setting_whole(s, "gradient_accumulation_steps", 1, 1, error);
    const int64_t pieces = sp_setting_whole(s, "num_pipeline_microbatches", -1, 0, error);
    const double at_once = each * (double)devices * (double)jax_devices;
    if (sp_setting(s, "max_target_length"))
        sp_launch_option(launch, "seq", "%lld",
                         (long long)sp_setting_whole(s, "max_target_length", 1, 1, error));
    const double replicas = (double)devices / (d->tensor * d->context * d->pipeline);
    const double parts = d->pipeline > 1 && pieces > 0 ? (double)pieces : d->pipeline;
    const double micro = replicas > 0 ? at_once / (replicas * parts) : 0;
    if (!(each > 0) || devices == 0) {
        sp_launch_note(launch, "per_device_batch_size is %s",
                       each > 0 ? "left out: the machine is not known" : "not given");
        return;
    }
    if (!(at_once * (double)steps < 1e15) || fabs(at_once - round(at_once)) > 1e-6 * at_once) {
        sp_fail(error, SP_INPUT,
                "%s: per_device_batch_size: %.0f devices times it make no whole number of "
                "sequences",
                sp_safe(s->origin), (double)devices * (double)jax_devices);
        return;
    }
    sp_launch_option(launch, "batch", "%.0fx", round(at_once) * (double)steps);
    sp_launch_option(launch, "micro-batch", "%.0f", fmax(1, floor(micro + 1e-6)));
}

static void read_pipeline(struct sp_settings *s, const struct degrees *d, struct sp_launch *launch,
                          struct sp_error *error)
{
    const int64_t repeats = sp_setting_whole(s, "num_pipeline_repeats", -1, 1, error);
    if (d->pipeline == 1)
        return;
    if (repeats > 1)
        sp_launch_option(launch, "vpp", "%lld", (long long)repeats);
    if (sp_setting(s, "num_layers_per_pipeline_stage") && repeats <= 1)
        sp_launch_note(launch, "num_layers_per_pipeline_stage: say num_pipeline_repeats or --vpp");
    sp_launch_option(launch, "schedule", "%s", repeats > 1 ? "circular" : "gpipe");
}

static void read_policy(struct sp_settings *s, struct sp_launch *launch)
{
    const char *const name = sp_setting(s, "remat_policy"), *const quantization =
                                                                sp_setting(s, "quantization");
    sp_launch_option(launch, "framework", "maxtext");
    if (quantization && strncmp(quantization, "fp8", 3) == 0)
        sp_launch_option(launch, "precision", "fp8");
    else if (quantization && quantization[0])
        sp_launch_note(launch, "not modelled: quantization %s", sp_safe(quantization));
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

/* The machine of compile_topology, a name of the cloud's. */
static bool read_machine(struct sp_settings *s, const struct sp_sources *sources, int64_t *devices,
                         int64_t *jax_devices, struct sp_launch *launch, struct sp_error *error)
{
    static struct sp_hardware hw;
    char spec[128];
    const char *const topology = sp_setting(s, "compile_topology");
    const int64_t slices = sp_setting_whole(s, "compile_topology_num_slices", 1, 1, error);
    if (!topology || !topology[0])
        return true;
    snprintf(spec, sizeof spec, slices > 1 ? "gcp:%.80sx%lld" : "gcp:%.80s", topology,
             (long long)slices);
    if (!sp_load_hardware(spec, sources, &hw, error))
        return false;
    sp_launch_option(launch, "hw", "%s", spec);
    *jax_devices = jax_devices_of(&hw);
    if (*devices == 0)
        *devices = sp_chips(&hw);
    return true;
}

bool sp_read_maxtext(const char *text, const char *origin, int64_t devices,
                     const struct sp_sources *sources, struct sp_launch *launch,
                     struct sp_error *error)
{
    static struct sp_settings settings;
    struct degrees degrees;
    const int before = error->lines;
    int64_t jax_devices = 1;
    settings.n = 0;
    settings.origin = origin;
    launch->format = "MaxText options";
    const char *const colon = strstr(text, ": ");
    if (!(colon ? read_yaml(text, &settings, error) : read_words(text, &settings, error)))
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
    const char *const model = sp_setting(&settings, "model_name");
    if (model && strcmp(model, "default") != 0)
        sp_launch_option(launch, "model", "%s", model);
    if (!read_machine(&settings, sources, &devices, &jax_devices, launch, error) ||
        !read_degrees(&settings, &degrees, launch, error))
        return false;
    if (fmod(degrees.fsdp, (double)jax_devices) == 0)
        degrees.fsdp /= (double)jax_devices;
    read_sharding(&degrees, devices, launch);
    read_batch(&settings, &degrees, devices, jax_devices, launch, error);
    read_pipeline(&settings, &degrees, launch, error);
    read_policy(&settings, launch);
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
    if (strcmp(l->precision, "jax12") != 0 && strcmp(l->precision, "fp8") != 0)
        sp_lose(lost, "precision recipe %s; weights in fp32, matmuls in bf16 stand for it",
                l->precision);
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
    } axes[] = {{"tensor", p->tp},   {"context", p->cp},
                {"expert", ep},      {"fsdp", p->zero < 3 ? 1 : group * jax},
                {"pipeline", p->pp}, {"data", p->dp / ep / group * (p->zero < 3 ? jax : 1)}};
    int64_t inside = (torus ? l->hw->chips_per_slice : l->hw->network.domain) * jax;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        const int64_t ici = gcd(inside, axes[i].degree);
        inside /= ici;
        if (axes[i].degree == 1 && i != 3)
            continue;
        fprintf(out, "ici_%s_parallelism: %lld\n", axes[i].name, (long long)ici);
        fprintf(out, "dcn_%s_parallelism: %lld\n", axes[i].name, (long long)(axes[i].degree / ici));
    }
    if (p->dp / ep / group == 1)
        fputs("dcn_data_parallelism: 1\n", out);
}

void sp_write_maxtext(const struct sp_launched *l, struct sp_written *lost, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    const char *model = l->model->name;
    char topology[64];
    for (size_t i = 0; i < sizeof model_names / sizeof *model_names; i++)
        if (strcmp(model_names[i][0], model) == 0)
            model = model_names[i][1];
    lose(l, lost);
    fputs("# MaxText options: ", out);
    sp_write_title(l, out);
    fputs("\n", out);
    sp_write_lost(lost, "#", out);
    fprintf(out, "model_name: %s\n", sp_safe(model));
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
    fputs("dtype: bfloat16\nweight_dtype: float32\n", out);
    if (strcmp(l->precision, "fp8") == 0)
        fputs("quantization: fp8\n", out);
}
