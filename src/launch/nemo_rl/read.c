/* NeMo-RL: supervised, preference and reinforcement learning by YAML, over FSDP (dtensor_cfg) or
 * Megatron-LM (megatron_cfg). Names and defaults: examples/configs, nemo_rl/algorithms and
 * nemo_rl/models/policy of NVIDIA-NeMo/RL. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/truth.h"
#include "launch/fields/batches.h"
#include "launch/fields/deciding.h"
#include "launch/fields/programs.h"
#include "launch/fields/rows.h"
#include "launch/fields/unread.h"
#include "launch/fields/rollout.h"
#include "launch/fields/overrides.h"
#include "launch/huggingface/adapters.h"
#include "launch/megatron/megatron.h"
#include "launch/shell/flags.h"

/* Algorithms by their section: programs that start them, the settings they start from where none
 * are named, and the sequences of a line of data. */
struct kind {
    const char *section, *programs, *defaults;
    int64_t sequences;
};
static const struct kind kinds[] = {
    {"dpo.", "run_dpo", "dpo.yaml", 2},
    {"rm.", "run_rm", "rm.yaml", 2},
    {"sft.", "run_sft", "sft.yaml", 1},
    {"distillation.", "run_distillation", "distillation_math.yaml", 1},
    {"ppo.", "run_ppo", "ppo_math_1B.yaml", 1},
    {"grpo.", "run_grpo", "grpo_math_1B.yaml", 1},
};

static const char policy[] = "policy.", cluster[] = "cluster.",
                  colocated[] = "policy.generation.colocated.";

static bool names_yaml(const char *word)
{
    const char *const end = strrchr(word, '.');
    return !strchr(word, '=') && (sp_is(end, ".yaml") || sp_is(end, ".yml"));
}

static bool tells(const char *word)
{
    word += strspn(word, "+~");
    return names_yaml(word) ||
           (strchr(word, '=') &&
            (sp_starts_with(word, policy) || sp_starts_with(word, cluster) ||
             sp_starts_with(word, "grpo.") || sp_starts_with(word, "sft.") ||
             sp_starts_with(word, "dpo.") || sp_starts_with(word, "checkpointing.")));
}

/* The whole launch, and the policy's settings without the names of their sections. */
struct reading {
    struct sp_launch_file *file;
    struct sp_settings *all, *s;
    const struct kind *kind;
    bool megatron;
    int64_t devices, model, seq; /* devices of a replica: `model` */
};

static int64_t whole(struct reading *r, const char *name, int64_t otherwise)
{
    return sp_setting_whole(r->s, name, 1, otherwise);
}

/* The files under this one, or those that the command's program starts from. */
static bool read_files(struct sp_launch_file *file)
{
    static const struct sp_under how = {.key = "defaults", .needed = true};
    struct sp_settings *const s = &file->settings;
    char names[sizeof s->at->value] = "", typed[sizeof names];
    if (file->script && !sp_read_pairs(file->script, tells, s))
        return false;
    const char *const named = sp_setting(s, file->script ? "config_file" : "defaults");
    if (!sp_refuse_gaps(s))
        return false;
    snprintf(typed, sizeof typed, "%s", named ? named : "");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && file->script && !named; i++)
        if (!names[0] && strstr(file->program->told, kinds[i].programs))
            snprintf(names, sizeof names, "examples/configs/%s", kinds[i].defaults);
    return sp_read_under(file->origin, named ? typed : names, &how, s);
}

/* Sections that are not training: data, rollouts, losses, logs. */
static bool is_apart(const char *name)
{
    static const char *const sections[] = {"data.",
                                           "data_plane.",
                                           "env.",
                                           "logger.",
                                           "loss_fn.",
                                           "checkpointing.",
                                           "grpo.",
                                           "sft.",
                                           "dpo.",
                                           "rm.",
                                           "ppo.",
                                           "distillation.",
                                           "teacher.",
                                           "value.",
                                           "teachers.",
                                           "reward_penalties.",
                                           "reward_model.",
                                           "token_aligner.",
                                           "async_rl.",
                                           "value_loss_fn.",
                                           "on_policy_distillation.",
                                           "policy.generation.",
                                           "policy.tokenizer.",
                                           "policy.scheduler."};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sp_starts_with(name, sections[i]))
            return true;
    return false;
}

/* Whether a setting is of a section that is switched off. */
static bool is_off(const struct sp_settings *all, const char *name)
{
    char enabled[sizeof all->at->name + 8];
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        snprintf(enabled, sizeof enabled, "%.*s.enabled", (int)(dot - name), name);
        const char *const said = sp_said(all, enabled);
        if (said && sp_yaml_truth(said) == 0 && !sp_is(enabled, name))
            return true;
    }
    return false;
}

/* Takes a setting of the policy, by its name in the backend that runs. */
static bool take(const struct reading *r, const struct sp_setting *from)
{
    static const char fsdp[] = "policy.dtensor_cfg.", megatron[] = "policy.megatron_cfg.";
    const char *const own = r->megatron ? megatron : fsdp, *const other =
                                                               r->megatron ? fsdp : megatron;
    const char *name = from->name;
    if (is_apart(name) || sp_starts_with(name, other) || sp_is(name, "defaults") ||
        sp_is(name, "config_file") || is_off(r->all, name))
        return true;
    if (sp_starts_with(name, own))
        name += strlen(own);
    else if (sp_starts_with(name, policy))
        name += sizeof policy - 1;
    return sp_copy_setting(r->s, from, name);
}

/* Devices of the policy: rollouts with their own devices reduce them. */
static void read_devices(struct reading *r)
{
    static const char nodes_apart[] = "policy.generation.colocated.resources.num_nodes",
                      gpus_apart[] = "policy.generation.colocated.resources.gpus_per_node",
                      inside[] = "policy.generation.colocated.enabled";
    int64_t nodes = whole(r, "cluster.num_nodes", 1), gpus = whole(r, "cluster.gpus_per_node", 1);
    if (sp_setting_off(r->all, inside) && nodes > 1)
        nodes -= sp_setting_whole(r->all, nodes_apart, 0, 0);
    else if (sp_setting_off(r->all, inside))
        gpus -= sp_setting_whole(r->all, gpus_apart, 0, 0);
    if (sp_setting_off(r->all, inside))
        sp_launch_note(r->s, "devices are the policy's; the rollout has its own");
    if (nodes < 1 || gpus < 1)
        sp_fail_in(r->s, "%sresources leaves the policy no device", colocated);
    sp_launch_devices(r->s->launch, nodes, 0, gpus);
    r->devices = r->file->hw ? sp_chips(r->file->hw) : 0;
}

static void read_megatron(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const int64_t tp = whole(r, "tensor_model_parallel_size", 1),
                  pp = whole(r, "pipeline_model_parallel_size", 1),
                  cp = whole(r, "context_parallel_size", 1);
    r->model = tp * pp * cp;
    sp_read_plan_rows(s, true, "megatron");
    sp_read_plan_rows(s, false,
                      sp_setting_is(s, "moe_token_dispatcher_type", "flex") ? "megatron flex"
                                                                            : "megatron");
    if (pp > 1)
        sp_launch_option(s, "schedule", "1f1b");
    sp_launch_option(s, "sp", "%s", sp_setting_on(s, "sequence_parallel") && tp > 1 ? "on" : "off");
    sp_launch_option(s, "zero", "%d",
                     sp_setting_off(s, "optimizer.use_distributed_optimizer") ? 0 : 1);
    sp_launch_option(s, "precision", "%s",
                     sp_setting_is(s, "precision", "float32") ? "fp32"
                     : sp_setting_on(s, "distributed_data_parallel_config.grad_reduce_in_fp32")
                         ? "mixed18"
                         : "mixed16");
    if (sp_setting_on(s, "fp8_cfg.enabled")) {
        sp_peek_setting(s, "fp8_cfg.fp8");
        sp_launch_option(s, "dtype", "fp8");
        sp_read_plan_rows(s, false, "fp8");
    }
    if (sp_setting_on(s, "fp8_cfg.enabled") && sp_setting_on(s, "fp8_cfg.fp8_param"))
        sp_launch_note(s, "not modelled: fp8_param, weights kept in 8 bits");
    sp_launch_option(s, "framework", "megatron");
    sp_read_optimizer_offload(s, "optimizer.optimizer_cpu_offload",
                              "optimizer.optimizer_offload_fraction", 0);
    const char *const optimizer = sp_setting(s, "optimizer.optimizer");
    sp_peek_setting(s, "optimizer.name"); /* FSDP's alone */
    if (optimizer && !sp_is(optimizer, "adam"))
        sp_read_optimizer(s, "optimizer.optimizer", optimizer,
                          sp_setting_number(s, "optimizer.sgd_momentum", 0.9));
    if (sp_setting_whole(s, "mtp_num_layers", 0, 0) > 0)
        sp_launch_note(s, "not modelled: mtp_num_layers, unless the model has them");
    const bool again = sp_setting_on(s, "activation_checkpointing"),
               some = sp_setting_is(s, "recompute_granularity", "selective");
    sp_peek_setting(s, "recompute_modules");
    if (again && some)
        sp_read_recompute_modules(s, "recompute_modules");
    else
        sp_launch_option(s, "remat", "%s", again ? "full" : "none");
}

static void read_fsdp(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const int64_t tp = whole(r, "tensor_parallel_size", 1),
                  cp = whole(r, "context_parallel_size", 1),
                  copies = whole(r, "dp_replicate_size", 1);
    r->model = tp * cp;
    sp_read_plan_rows(s, true, "fsdp");
    sp_launch_option(s, "sp", "%s", sp_setting_on(s, "sequence_parallel") && tp > 1 ? "on" : "off");
    if (cp > 1)
        sp_launch_option(s, "cp-kind", "allgather");
    if (copies > 1 && r->devices > 0 && r->devices % (tp * copies) == 0)
        sp_launch_whole(s, "fsdp", r->devices / (tp * copies));
    sp_launch_option(s, "zero", "%d", sp_setting_off(s, "reshard_after_forward") ? 2 : 3);
    sp_launch_option(s, "precision", "fp32");
    sp_launch_option(s, "dtype", "%s", sp_setting_is(s, "precision", "float32") ? "fp32" : "bf16");
    sp_launch_option(s, "framework", "torchtitan");
    if (sp_setting_on(s, "cpu_offload"))
        sp_launch_note(s, "not modelled: cpu_offload, weights and states in host memory");
    sp_launch_option(s, "remat", "%s",
                     sp_setting_on(s, "activation_checkpointing") ? "full" : "none");
    const char *const optimizer = sp_setting(s, "optimizer.name"), *const dot =
                                                                       optimizer
                                                                           ? strrchr(optimizer, '.')
                                                                           : NULL;
    if (optimizer && !sp_is(dot, ".AdamW") && !sp_is(dot, ".FusedAdam"))
        sp_read_optimizer(s, "optimizer.name", dot ? dot + 1 : optimizer, 0);
}

static bool read_lora(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const bool megatron = r->megatron;
    if (!sp_setting_on(s, megatron ? "peft.enabled" : "lora_cfg.enabled"))
        return false;
    const char *const list =
        sp_setting(s, megatron ? "peft.target_modules" : "lora_cfg.target_modules");
    const bool all = !megatron && !sp_setting_off(s, "lora_cfg.match_all_linear");
    const struct sp_adapters adapters = {
        .rank = whole(r, megatron ? "peft.dim" : "lora_cfg.dim", 8),
        .modules = all ? "all-linear" : list,
        .usual_targets = megatron ? "all-linear,fused" : "all-linear",
    };
    sp_launch_adapters(s, &adapters);
    return true;
}

/* Micro-batches are sequences, or tokens that sequences are packed into. A formula of them (the
 * usual one is the length times the micro-batch) is not filled in. */
static void read_batch(struct reading *r)
{
    static const char *const ways[][2] = {
        {"sequence_packing.enabled", "sequence_packing.train_mb_tokens"},
        {"dynamic_batching.enabled", "dynamic_batching.train_mb_tokens"}};
    struct sp_settings *const s = r->s;
    const int64_t n = r->kind->sequences, batch = n * whole(r, "train_global_batch_size", 1),
                  micro = n * whole(r, "train_micro_batch_size", 1);
    sp_launch_option(s, "batch", "%lldx", (long long)batch);
    sp_peek_setting(s, ways[1][0]);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (sp_setting_on(s, ways[i][0])) {
            sp_launch_token_batch(
                s, &(struct sp_token_batch){
                       .option = ways[i][1],
                       .tokens = sp_said_whole(s, ways[i][1], r->seq * micro / n),
                       .seq = r->seq,
                       .batch = batch,
                       .replicas = r->devices % r->model == 0 ? r->devices / r->model : 0,
                   });
            sp_peek_setting(s, ways[i][1]);
            return;
        }
    sp_launch_whole(s, "micro-batch", micro);
}

static bool require(struct reading *r, const char *name)
{
    return sp_has_setting(r->s, name) || sp_fail_in(r->s, "it has no %s%s", policy, name);
}

/* Notes other work in a step. */
static void note_rest(struct reading *r, bool adapted)
{
    struct sp_settings *const s = r->s;
    const struct kind *const kind = r->kind;
    if (sp_is(kind->section, "dpo."))
        sp_launch_reference(s, adapted, true); /* it waits in the host's memory */
    if (kind->sequences > 1)
        sp_launch_note(s, "a line of data is two sequences, chosen and rejected");
    else if (sp_is(kind->section, "distillation."))
        sp_launch_note(s, "distillation (NeMo-RL): an optimizer step of the student only; the "
                          "teacher is separate (--teacher)");
    else if (!sp_is(kind->section, "sft."))
        sp_launch_note(s, "reinforcement learning (NeMo-RL): an optimizer step of the policy only; "
                          "rollout and reference are separate");
    if (sp_setting_on(s, "fine_grained_activation_offloading"))
        sp_launch_note(s, "not modelled: fine_grained_activation_offloading");
}

static bool read_policy(struct reading *r)
{
    struct sp_settings *const s = r->s;
    if (!require(r, "model_name") || !require(r, "train_global_batch_size") ||
        !require(r, "train_micro_batch_size") || !require(r, "max_total_sequence_length"))
        return false;
    if (!r->megatron && sp_setting_off(s, "enabled"))
        return sp_fail_in(
            s, "neither policy.megatron_cfg nor policy.dtensor_cfg is enabled: unknown backend");
    sp_peek_setting(s, "enabled");
    read_devices(r);
    r->seq = whole(r, "max_total_sequence_length", 1);
    sp_read_hub_model(s, sp_peek_setting(s, "model_name"), r->file->sources);
    sp_launch_whole(s, "seq", r->seq);
    if (r->megatron)
        read_megatron(r);
    else
        read_fsdp(r);
    const bool adapted = read_lora(r);
    read_batch(r);
    note_rest(r, adapted);
    sp_read_rest(s);
    sp_note_unread(s, "", s->words->quiet);
    return true;
}

static const struct kind *kind_of(const struct sp_settings *all)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int j = 0; j < all->n; j++)
            if (sp_starts_with(all->at[j].name, kinds[i].section))
                return &kinds[i];
    sp_fail_in(all, "it has no section grpo, sft, dpo, rm, ppo or distillation");
    return NULL;
}

static bool read(struct sp_launch_file *file)
{
    struct reading r = {.file = file, .all = &file->settings, .model = 1};
    r.kind = read_files(file) ? kind_of(r.all) : NULL;
    if (!r.kind)
        return false;
    const bool rolls_out = sp_is(r.kind->section, "grpo.") || sp_is(r.kind->section, "ppo.");
    bool ok = !rolls_out || sp_read_rollout(file, r.all);
    r.megatron = sp_setting_on(r.all, "policy.megatron_cfg.enabled");
    r.s = sp_new_settings(r.all);
    for (int i = 0; i < r.all->n && ok; i++)
        ok = take(&r, &r.all->at[i]);
    ok = ok && read_policy(&r) && sp_refuse_gaps(r.s);
    free(r.s);
    return ok;
}

const struct sp_target sp_target_nemo_rl = {
    .words = {"nemo_rl"},
    .format = "NeMo-RL settings",
    .read = read,
};
