/* MaxText: options as a plan. */
#include <math.h>
#include <string.h>

#include "base/text.h"

#include "launch/fields/assumed.h"
#include "launch/maxtext/maxtext.h"
#include "launch/shell/flags.h"
#include "launch/fields/unread.h"

/* Weights shard over fsdp, expert and context axes (logical_axis_rules of base.yml, "embed"), where
 * other rules do not leave them whole. The tensor axis is TP with sequence parallelism, because
 * MaxText's logical axes also shard activations over it. The expert axis is a part of dp and shards
 * all weights. */
static void read_sharding(struct sp_settings *s, const double degree[DEGREES],
                          const struct sp_maxtext_rules *rules, const struct sp_hardware *hw)
{
    const double shards = degree[FSDP] * (rules->experts_shard ? degree[EXPERT] : 1) *
                          (rules->context_shards ? degree[CONTEXT] : 1);
    const double all = degree[FSDP] * degree[EXPERT] * degree[CONTEXT] * degree[DATA],
                 slices = hw ? (double)hw->slices : 1;
    const double usual = slices > 1 && fmod(all, slices) == 0 ? all / slices : all;
    const bool replicas = shards == 1 && all > 1;
    const bool states = sp_setting_on(s, "shard_optimizer_over_data");
    sp_launch_option(s, "zero", "%d", !replicas ? 3 : states ? 1 : 0);
    /* states shard over all of the data axis, between slices as well */
    const double asked = !replicas ? shards : states ? all : usual;
    if (asked != usual)
        sp_launch_option(s, "fsdp", "%.0f", asked);
}

/* per_device_batch_size counts every chip, so the micro-batch of a replica is that times TP, and
 * nothing accumulates. */
static void read_batch(struct sp_settings *s, const double degree[DEGREES],
                       const struct sp_hardware *hw, int64_t jax_devices)
{
    const double each = sp_setting_number(s, "per_device_batch_size", 12);
    const int64_t steps = sp_setting_whole(s, "gradient_accumulation_steps", 1, 1);
    const int64_t pieces = sp_setting_whole(s, "num_pipeline_microbatches", -1, 0);
    const double devices = hw ? (double)sp_chips(hw) * (double)jax_devices : 0;
    const double at_once = each * devices;
    sp_launch_whole(s, "seq", sp_setting_whole(s, "max_target_length", 1, 2048));
    if (!sp_setting(s, "max_target_length"))
        sp_launch_note(s, "no max_target_length: 2048, as in base.yml");
    const double replicas = degree[FSDP] * degree[DATA] * degree[EXPERT];
    const double parts = degree[PIPELINE] > 1 && pieces > 0 ? (double)pieces : degree[PIPELINE];
    if (!sp_peek_setting(s, "per_device_batch_size"))
        sp_launch_note(s, "no per_device_batch_size: 12, as in base.yml");
    if (!(each > 0) || devices == 0) {
        sp_launch_note(s, "per_device_batch_size is %s",
                       each > 0 ? "left out: the machine is not known" : "no batch of training");
        return;
    }
    if (!(at_once * (double)steps < 1e15) || fabs(at_once - round(at_once)) > 1e-6 * at_once) {
        sp_fail_in(
            s, "per_device_batch_size: %.0f devices times it is not a whole number of sequences",
            devices);
        return;
    }
    const double micro = at_once / (replicas * parts);
    sp_launch_option(s, "batch", "%.0fx", round(at_once) * (double)steps);
    sp_launch_option(s, "micro-batch", "%.0f", fmax(1, floor(micro + 1e-6)));
}

/* Repeats of the stages: given, or as many as the layers make (-1, of base.yml). */
static void read_pipeline(struct sp_settings *s, int64_t stages, const struct sp_model *model)
{
    int64_t repeats = sp_setting_whole(s, "num_pipeline_repeats", -1, -1);
    const int64_t each = sp_setting_whole(s, "num_layers_per_pipeline_stage", 1, 1),
                  dense = model && model->moe.experts > 0 ? model->moe.dense_layers : 0,
                  layers = model ? model->layers - dense : 0;
    if (stages <= 1)
        return;
    if (repeats <= 0 && layers > 0 && layers % (stages * each) == 0)
        repeats = layers / (stages * each);
    else if (repeats <= 0 && layers == 0)
        sp_launch_note(s, "num_pipeline_repeats is not set: give --vpp");
    if (repeats > 1)
        sp_launch_whole(s, "vpp", repeats);
    sp_launch_option(s, "schedule", "%s", repeats > 1 ? "circular" : "gpipe");
}

/* The machine of compile_topology, a name of the cloud's. Typed options win. */
static bool read_machine(struct sp_settings *s, const struct sp_sources *sources,
                         struct sp_hardware *named, const struct sp_hardware **hw)
{
    char spec[128];
    const char *const topology = sp_setting(s, "compile_topology");
    const int64_t slices = sp_setting_whole(s, "compile_topology_num_slices", -1, 1);
    if (!topology || !topology[0])
        return true;
    const bool v5e = strncmp(topology, "v5e-", 4) == 0;
    snprintf(spec, sizeof spec, slices > 1 ? "gcp:%s%.80sx%lld" : "gcp:%s%.80s",
             v5e ? "v5litepod-" : "", topology + (v5e ? 4 : 0), (long long)slices);
    if (!sp_load_hardware(spec, sources, named, s->error))
        return false;
    sp_launch_option(s, "hw", "%s", spec);
    if (!*hw)
        *hw = named;
    return true;
}

/* Where Primus keeps the options. */
static const char overrides[] = "modules.pre_trainer.overrides.";

static const char *leaf(const char *name)
{
    const size_t n = sizeof overrides - 1;
    return strncmp(name, overrides, n) == 0 ? name + n : name;
}

/* Gives options of Primus the names of MaxText; all others beside them are Primus's own, except the
 * model. */
static void take_off_prefixes(struct sp_settings *s)
{
    const bool primus = sp_peek_setting(s, "modules.pre_trainer.framework") != NULL;
    for (int i = 0; i < s->n && primus; i++) {
        struct sp_setting *const at = &s->at[i];
        const char *const name = leaf(at->name);
        if (sp_is(at->name, "modules.pre_trainer.model")) {
            char spelled[96];
            sp_spell_model(at->value, spelled, sizeof spelled);
            snprintf(at->name, sizeof at->name, "model_name");
            snprintf(at->value, sizeof at->value, "%s", spelled);
        } else if (name != at->name) {
            memmove(at->name, name, strlen(name) + 1);
        } else {
            at->read = true;
        }
    }
}

/* Whether an option's name is MaxText's own. */
static bool is_own(const char *name)
{
    const char *const end = strstr(name, "_parallelism");
    const bool axis = sp_starts_with(name, "ici_") || sp_starts_with(name, "dcn_");
    return (axis && end && sp_is(end, "_parallelism")) ||
           sp_is_quiet("per_device_batch_size base_emb_dim remat_policy "
                       "base_num_decoder_layers max_target_length override_model_config "
                       "decoder_block base_config",
                       name);
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
        if (is_own(leaf(file->settings.at[i].name)))
            return SP_CERTAIN;
    return SP_NO_MATCH;
}

static bool read(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    const struct sp_hardware *hw = file->hw;
    struct sp_maxtext_rules rules;
    struct sp_model loaded;
    struct sp_hardware named;
    double degree[DEGREES];
    if (file->script && !sp_read_pairs(file->script, tells, s))
        return false;
    take_off_prefixes(s);
    if (!sp_follow_maxtext(file->origin, s))
        return false;
    sp_read_maxtext_model(s);
    if (!read_machine(s, file->sources, &named, &hw))
        return false;
    const int64_t jax_devices = hw ? sp_jax_devices_of(hw) : 1;
    if (!sp_read_mesh(s, hw, jax_devices, degree, &rules))
        return false;
    s->launch->etp_is_tp = true; /* base.yml's rules have one tensor axis for every "mlp" */
    const struct sp_model *const model = sp_maxtext_model(file->sources, s->launch, &loaded);
    const bool mixture =
        model ? model->moe.experts > 0 : sp_setting_whole(s, "num_experts", 1, 1) > 1;
    if (degree[EXPERT] > 1 || mixture)
        sp_launch_option(s, "etp", "%.0f", degree[TENSOR]);
    sp_read_cp_kind(s, (int64_t)degree[CONTEXT], "allgather");
    read_sharding(s, degree, &rules, hw);
    read_batch(s, degree, hw, jax_devices);
    read_pipeline(s, (int64_t)degree[PIPELINE], model);
    sp_read_maxtext_states(s);
    sp_note_rules(&(struct sp_rules){.settings = s, .model = model});
    if (!sp_take_assumed(file, "maxtext", "imbalance"))
        return false;
    sp_note_rows(s);
    sp_read_rest(s);
    sp_note_unread(s, "", file->words[0]->quiet);
    return true;
}

const struct sp_target sp_target_maxtext = {
    .words = {"maxtext"},
    .write = sp_write_maxtext,
    .suffix = ".yaml",
    .takes_tf32 = true,
    .format = "MaxText options",
    .detect = detect,
    .read = read,
};
