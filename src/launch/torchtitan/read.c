/* torchtitan: its TOML (up to 0.2) and the arguments of its command line, as a plan. Options:
 * torchtitan/config/job_config.py of 0.2.2, and of August 2026 where names differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "launch/fields/assumed.h"
#include "launch/fields/named_files.h"
#include "launch/fields/deciding.h"
#include "launch/fields/rows.h"
#include "launch/fields/unread.h"
#include "launch/formats/syntax.h"
#include "launch/shell/flags.h"
#include "launch/torchtitan/registry.h"
#include "launch/torchtitan/torchtitan.h"

static bool tells(const char *word)
{
    return strncmp(word, "--parallelism.", 14) == 0 || strncmp(word, "--training.", 11) == 0 ||
           strncmp(word, "--activation_checkpoint.", 24) == 0 ||
           strncmp(word, "--job.config", 12) == 0;
}

static enum sp_match detect(const struct sp_launch_file *file)
{
    if (file->script)
        return sp_count_telling(file->script, tells, false) > 0 ? SP_CERTAIN : SP_NO_MATCH;
    for (int i = 0; i < file->settings.n; i++) {
        const char *const name = file->settings.at[i].name;
        if (strncmp(name, "parallelism.", 12) == 0 && strstr(name, "_degree"))
            return SP_CERTAIN;
        if (sp_is(name, "training.local_batch_size") || sp_is(name, "training.batch_size") ||
            sp_is(name, "training.seq_len") || sp_is(name, "model.flavor"))
            return SP_CERTAIN;
    }
    return SP_NO_MATCH;
}

/* The model, by folder and flavour, by the function of a registry that a recipe imports, or by both
 * on the command line; false: it is unknown. */
static bool find_model(struct sp_settings *s, struct sp_titan_model *row)
{
    const char *const name = sp_setting(s, "model.name"),
                      *const flavor = sp_setting(s, "model.flavor"),
                      *const module = sp_peek_setting(s, "module"),
                      *const config = sp_peek_setting(s, "config"),
                      *const spec = sp_peek_setting(s, "config.model_spec"),
                      *const own = spec ? strchr(spec, '"') : NULL;
    for (const char *list = NULL; sp_next_titan_model(s->words, &list, row);) {
        char path[sizeof s->at->name];
        snprintf(path, sizeof path, "torchtitan.models.%s.config_registry", row->folder);
        const char *const imported = sp_peek_setting(s, path);
        if (name && flavor && sp_is(row->folder, name) && sp_is(row->flavor, flavor))
            return true;
        const bool named = own ? strncmp(own + 1, row->flavor, strlen(row->flavor)) == 0 &&
                                     own[1 + strlen(row->flavor)] == '"'
                               : !row->borrows;
        if (row->is_newest && named &&
            ((imported && (own || sp_is(row->config, imported))) ||
             (module && config && sp_is(row->folder, module) && sp_is(row->config, config))))
            return true;
    }
    return false;
}

/* The row and the model that it is, each NULL if it is not known. */
struct trained {
    struct sp_titan_model found;
    struct sp_model loaded;
    const struct sp_titan_model *row;
    const struct sp_model *model;
};

static void read_model(struct sp_settings *s, const struct sp_sources *sources,
                       struct trained *trained)
{
    struct sp_error none = {0};
    const char *const name = sp_setting(s, "model.name"), *const flavor =
                                                              sp_setting(s, "model.flavor");
    *trained = (struct trained){.row = NULL};
    if (find_model(s, &trained->found)) {
        trained->row = &trained->found;
        sp_launch_option(s, "model", "%s", trained->row->ours);
        if (sp_load_model(trained->row->ours, sources, &trained->loaded, &none))
            trained->model = &trained->loaded;
    } else if (name || flavor) {
        sp_launch_no_model(s, "its model is %.40s %.40s, which is unknown here",
                           name ? sp_safe(name) : "", flavor ? sp_safe(flavor) : "");
    } else {
        sp_launch_no_model(s, "the model is in the file that it names");
    }
}

/* Replicas, and the ranks that share the states: -1 takes what the other degrees leave. */
static bool read_mesh(struct sp_settings *s, double devices, double *replicas)
{
    static const char *const degrees[] = {"tp", "pp", "cp", "ep"};
    double model = 1;
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        const struct sp_launch_row *const row = sp_row_of_plan(s->words, degrees[i], NULL);
        const int64_t degree = row ? sp_setting_whole(s, row->name, 1, 1) : 1;
        model *= i < 3 ? (double)degree : 1;
        sp_launch_whole(s, degrees[i], degree);
    }
    if (sp_setting(s, "parallelism.expert_tensor_parallel_degree"))
        sp_launch_whole(s, "etp", sp_plan_whole(s, "etp"));
    const double cp = (double)sp_plan_whole(s, "cp");
    sp_read_cp_kind(s, (int64_t)cp, "allgather");
    double copies =
               (double)sp_setting_whole(s, "parallelism.data_parallel_replicate_degree", -1, 1),
           shards = (double)sp_setting_whole(s, "parallelism.data_parallel_shard_degree", -1, -1);
    if (copies > 0 && shards > 0 && s->command == 0) /* no command of a script starts others */
        sp_launch_devices(s->launch, 1, (int64_t)(copies * shards * model), 0);
    if (devices > 0 && copies < 0)
        copies = devices / model / fmax(1, shards);
    if (devices > 0 && shards < 0)
        shards = devices / model / copies;
    *replicas = copies * shards;
    if (devices > 0 &&
        (copies * shards * model != devices || shards != floor(shards) || copies != floor(copies)))
        return sp_fail_in(s, "the degrees of parallelism do not multiply to the %.0f devices",
                          devices);
    const char *const again = sp_setting(s, "parallelism.fsdp_reshard_after_forward");
    const bool staged = sp_plan_whole(s, "pp") > 1;
    /* by default stages keep their weights too, and gradients until the last micro-batch: that is
     * ZeRO 3 of a framework that keeps stages whole */
    const bool keeps = sp_is(again, "never"), none = shards == 1 && cp == 1;
    sp_launch_option(s, "zero", "%d", none ? 0 : keeps ? 2 : 3);
    if (staged && sp_is(again, "always"))
        sp_launch_note(s, "not modelled: fsdp_reshard_after_forward always with stages (less "
                          "memory, more gathers); read as the default");
    if (!none && copies > 1)
        sp_launch_option(s, "fsdp", "%.0f", shards * cp);
    return true;
}

/* The batch of replicas, in sequences. The newest names count tokens. */
static void read_batch(struct sp_settings *s, double replicas)
{
    const int64_t newest = sp_setting_whole(s, "training.max_context_length", 1, 0);
    const int64_t seq = newest > 0 ? newest : sp_setting_whole(s, "training.seq_len", 1, 2048);
    const int64_t tokens =
                      sp_setting_whole(s, "training.num_tokens_per_microbatch_per_dp_rank", 1, 0),
                  local = tokens > 0
                              ? (tokens + seq - 1) / seq
                              : sp_setting_whole(s, "training.local_batch_size", 1,
                                                 sp_setting_whole(s, "training.batch_size", 1, 8)),
                  step_tokens = sp_setting_whole(s, "training.num_tokens_per_train_step", -1, -1);
    const int64_t global = step_tokens > 0
                               ? step_tokens / seq
                               : sp_setting_whole(s, "training.global_batch_size", -1, -1);
    const bool staged = sp_plan_whole(s, "pp") > 1;
    const int64_t pieces =
        staged ? sp_setting_whole(s, "parallelism.num_pp_microbatches", 1, 1) : 1;
    const int64_t micro =
        staged && tokens == 0
            ? sp_setting_whole(s, "parallelism.pipeline_parallel_microbatch_size", 1, 1)
            : local;
    sp_launch_whole(s, "seq", seq);
    sp_launch_whole(s, "micro-batch", micro);
    if (global > 0 || replicas > 0)
        sp_launch_option(s, "batch", "%.0fx",
                         global > 0 ? (double)global : (double)(local * pieces) * replicas);
    if (newest == 0 && !sp_peek_setting(s, "training.seq_len"))
        sp_launch_note(s, "no training.seq_len: 2048, as in torchtitan");
}

/* Chunks on a stage: the number that follows from the layers of a chunk, if the model is known; 0:
 * not given. */
static int64_t chunks_of(struct sp_settings *s, const struct sp_model *model)
{
    const int64_t each =
                      sp_setting_whole(s, "parallelism.pipeline_parallel_layers_per_stage", 1, 0),
                  stages = sp_plan_whole(s, "pp"),
                  first = sp_setting_whole(
                      s, "parallelism.pipeline_parallel_first_stage_less_layers", 0, 1),
                  last = sp_setting_whole(s, "parallelism.pipeline_parallel_last_stage_less_layers",
                                          0, 1);
    const int64_t chunks = model && each > 0 ? (model->layers + first + last + each - 1) / each : 0;
    return chunks % stages == 0 ? chunks / stages : 0;
}

/* Layers of each stage, if they are known and not what an even split has. */
static void read_stages(struct sp_settings *s, const struct sp_model *model, int64_t chunks)
{
    static const char first[] = "parallelism.pipeline_parallel_first_stage_less_layers",
                      last[] = "parallelism.pipeline_parallel_last_stage_less_layers";
    const int64_t pp = sp_plan_whole(s, "pp");
    const struct sp_titan_ends ends = {sp_setting_whole(s, first, 0, 1),
                                       sp_setting_whole(s, last, 0, 1), 0};
    int64_t of[SP_MAX_STAGES];
    char text[8 * SP_OWN_STAGES] = "";
    if (!model || pp < 2 || pp > SP_OWN_STAGES ||
        sp_peek_setting(s, "parallelism.module_fqns_per_model_part"))
        return;
    if (!sp_titan_stages(model->layers, pp, chunks, &ends, of)) {
        s->launch->refusals++;
        sp_launch_note(
            s, "torchtitan refuses this: a first or last stage with a negative number of layers");
        return;
    }
    for (int64_t stage = 0; stage < pp; stage++)
        sp_append(text, sizeof text, "%s%lld", stage > 0 ? "," : "", (long long)of[stage]);
    sp_launch_option(s, "stage-layers", "%s", text);
}

static void read_schedule(struct sp_settings *s, const struct sp_model *model)
{
    char ours[SP_ROW_WORD] = "";
    const char *const name = sp_setting(s, "parallelism.pipeline_parallel_schedule"),
                      *const stages = sp_peek_setting(s, "parallelism.pipeline_parallel_degree");
    if (!stages || sp_is(stages, "1"))
        return;
    const int64_t chunks = chunks_of(s, model);
    const bool several = name && strcasecmp(name, "1F1B") != 0 && strcasecmp(name, "GPipe") != 0;
    if (name)
        sp_row_ours(sp_row_of_plan(s->words, "schedule", NULL), name, ours);
    if (ours[0] && (!several || chunks > 1))
        sp_launch_option(s, "schedule", "%s", ours);
    if (several && chunks > 1 && strcasecmp(name, "Interleaved1F1B") == 0)
        sp_launch_whole(s, "vpp", chunks);
    else if (several)
        sp_launch_note(s, "schedule %s: give --schedule and --vpp%s", sp_safe(name),
                       sp_peek_setting(s, "parallelism.pipeline_parallel_layers_per_stage")
                           ? " (pipeline_parallel_layers_per_stage gives the chunks)"
                           : "");
    if (!several || chunks > 1)
        read_stages(s, model, several ? chunks : 1);
}

/* Activation checkpointing: "op" repeats every second matmul, a number N every N-th layer as a
 * whole.
 */
static void read_checkpointing(struct sp_settings *s)
{
    const char *const mode = sp_setting(s, "activation_checkpoint.mode"),
                      *const which = sp_setting(s, "activation_checkpoint.selective_ac_option"),
                      *const class = sp_setting(s, "config.activation_checkpoint");
    const bool full = (sp_is(mode, "full")) || (class && strncmp(class, "FullAC", 6) == 0),
               none = (sp_is(mode, "none")) || (sp_is(class, "None"));
    const long every = which ? strtol(which, NULL, 10) : 0;
    sp_launch_option(s, "remat", "%s", none ? "none" : full || every > 0 ? "full" : "alternate");
    if (every > 1 && !full && !none)
        sp_launch_option(s, "remat-layers", "%.17g", 1 / (double)every);
}

/* How linear layers in 8 bits are scaled, by the converters of the model or by the function of a
 * registry; NULL: they run in 16. */
static const char *scales_of_8_bits(struct sp_settings *s, const struct sp_titan_model *row)
{
    const char *const converters = sp_setting(s, "model.converters"),
                      *const nested = sp_setting(s, "quantize.linear.float8.recipe_name"),
                      *const older = sp_setting(s, "float8.recipe_name"),
                      *const recipe = nested ? nested : older;
    if (!converters)
        return row && row->in_8_bits && !sp_peek_setting(s, "model.flavor") ? "rowwise" : NULL;
    if (strstr(converters, "mx"))
        return "mxfp8";
    if (!strstr(converters, "float8"))
        return NULL;
    return recipe && strncmp(recipe, "rowwise", 7) == 0 ? "rowwise" : "tensorwise";
}

static void read_habits(struct sp_settings *s, const struct sp_titan_model *row,
                        const struct sp_model *model)
{
    const char *const param = sp_setting(s, "training.mixed_precision_param"),
                      *const reduce = sp_setting(s, "training.mixed_precision_reduce"),
                      *const converters = sp_setting(s, "model.converters"),
                      *const optimizer = sp_setting(s, "optimizer.name");
    if (reduce && !sp_is(reduce, "float32"))
        sp_launch_note(s, "not modelled: training.mixed_precision_reduce %s", sp_safe(reduce));
    read_checkpointing(s);
    const char *const scales = scales_of_8_bits(s, row);
    sp_launch_option(s, "precision", scales ? "fp8-fp32" : "fp32");
    if (scales)
        sp_launch_option(s, "fp8-recipe", "%s", scales);
    if (scales && model && model->moe.experts > 0 &&
        !(converters && strstr(converters, "grouped_mm")))
        sp_launch_note(
            s, "not modelled: 16-bit expert matmuls with 8-bit linear layers; all count as 8-bit");
    if (!scales && (!sp_is(param, "float32")))
        sp_launch_option(s, "dtype", "bf16");
    if (sp_setting_off(s, "parallelism.enable_sequence_parallel"))
        sp_launch_option(s, "sp", "off");
    if (optimizer)
        sp_read_optimizer(s, "optimizer.name", optimizer, 0);
    sp_note_rows(s);
}

/* Takes the dashes off: a flag is named as in TOML. */
static void drop_dashes(struct sp_settings *s)
{
    for (int i = 0; i < s->n; i++)
        if (strncmp(s->at[i].name, "--", 2) == 0)
            memmove(s->at[i].name, s->at[i].name + 2, strlen(s->at[i].name + 2) + 1);
}

/* Puts the TOML that a command names below its arguments; if it is missing, its settings are
 * unknown. */
static bool take_file(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    const char *const name = sp_setting_file(s, "job.config_file");
    char path[1024], value[96];
    size_t length;
    char *const text = name ? sp_read_beside(file->origin, name, path, sizeof path, &length) : NULL;
    if (name && !text) {
        snprintf(value, sizeof value, "%.48s (not here)", name);
        sp_launch_note(s, "%.80s was not found and is not read", sp_safe(name));
        sp_miss_titan_sizes(s, "job.config_file", value);
    }
    if (!text)
        return true;
    struct sp_settings *const under = sp_new_settings(s);
    under->origin = path;
    const bool ok = sp_read_toml(text, under) && sp_copy_lacking(s, under);
    free(under);
    free(text);
    return ok;
}

static bool read(struct sp_launch_file *file)
{
    struct trained trained;
    struct sp_settings *const s = &file->settings;
    const int64_t devices = file->hw ? sp_chips(file->hw) : 0;
    double replicas = 0;
    if (file->script && !sp_read_flags(file->script, tells, s))
        return false;
    drop_dashes(s);
    if (!take_file(file) || !sp_spell_rows(s))
        return false;
    read_model(s, file->sources, &trained);
    if (!read_mesh(s, (double)devices, &replicas))
        return false;
    read_batch(s, replicas);
    read_schedule(s, trained.model);
    read_habits(s, trained.row, trained.model);
    if (!sp_take_assumed(file, "torchtitan", "imbalance,fsdp"))
        return false;
    const bool newest = sp_peek_setting(s, "training.max_context_length") != NULL;
    const struct sp_rules rules = sp_titan_rules(s, newest, devices, trained.row, trained.model);
    sp_note_rules(&rules);
    sp_read_rest(s);
    sp_note_unread(s, "", s->words->quiet);
    return true;
}

const struct sp_target sp_target_torchtitan = {
    .words = {"torchtitan"},
    .write = sp_write_torchtitan,
    .suffix = ".py",
    .format = "torchtitan options",
    .detect = detect,
    .read = read,
};
