/* verl: reinforcement learning, whose actor, reference and critic are separate trainings; the
 * rollout is not one. Names and defaults: verl/trainer/config and verl/workers of
 * volcengine/verl. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/truth.h"
#include "launch/fields/batches.h"
#include "launch/fields/deciding.h"
#include "launch/fields/programs.h"
#include "launch/fields/rows.h"
#include "launch/fields/unread.h"
#include "launch/fields/rollout.h"
#include "launch/huggingface/adapters.h"
#include "launch/megatron/megatron.h"
#include "launch/shell/flags.h"
#include "launch/verl/defaults.h"

/* A training of the launch: the section of its own settings and that of its model. */
struct role {
    const char *name, *section, *model, *fsdp;
    const char *micro, *micro_of_all, *dynamic, *tokens;
    int64_t usual_tokens;
};
static const struct role roles[] = {
    {"actor", "actor_rollout_ref.actor.", "actor_rollout_ref.model.", "",
     "ppo_micro_batch_size_per_gpu", "ppo_micro_batch_size", "use_dynamic_bsz",
     "ppo_max_token_len_per_gpu", 16384},
    {"reference", "actor_rollout_ref.ref.", "actor_rollout_ref.model.", "",
     "log_prob_micro_batch_size_per_gpu", "log_prob_micro_batch_size", "log_prob_use_dynamic_bsz",
     "log_prob_max_token_len_per_gpu", 16384},
    {"critic", "critic.", "critic.model.", "critic.model.fsdp_config.",
     "ppo_micro_batch_size_per_gpu", "ppo_micro_batch_size", "use_dynamic_bsz",
     "ppo_max_token_len_per_gpu", 32768},
};

static bool tells(const char *word)
{
    static const char *const sections[] = {"actor_rollout_ref.", "critic.", "data.", "trainer.",
                                           "algorithm."};
    word += strspn(word, "+");
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sp_starts_with(word, sections[i]) && strchr(word, '='))
            return true;
    return false;
}

/* Whether a setting is of a part that verl itself does not have: a fork's, with its own models
 * and batches. */
static bool is_own_part(const char *name)
{
    static const char *const sections[] = {"data.",
                                           "trainer.",
                                           "algorithm.",
                                           "env.",
                                           "optim.",
                                           "ray_init.",
                                           "ray_kwargs.",
                                           "reward.",
                                           "global_profiler.",
                                           "custom_reward_function.",
                                           "reward_manager.",
                                           "transfer_queue."};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sp_starts_with(name, sections[i]))
            return false;
    return strchr(name, '.') != NULL;
}

/* Whether a setting belongs to such a part, other than the actor and its rollout. */
static bool is_beside(const char *name)
{
    static const char *const sections[] = {"actor.", "ref.", "rollout.", "model."};
    static const char all[] = "actor_rollout_ref.";
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sp_starts_with(name, all) && sp_starts_with(name + strlen(all), sections[i]))
            return false;
    return sp_starts_with(name, all) && strchr(name + strlen(all), '.') != NULL;
}

/* Names such a part once. */
static void note_part(struct sp_launch *launch, const char *name)
{
    char note[sizeof *launch->note];
    const size_t n = strcspn(name, "."), m = strcspn(name + n + 1, ".");
    snprintf(note, sizeof note, "not read: %.*s.*, a separate part",
             (int)(is_beside(name) ? n + 1 + m : n), name);
    for (int i = 0; i < launch->notes; i++)
        if (sp_is(launch->note[i], note))
            return;
    sp_add_note(launch, "%s", note);
}

/* Takes one setting of the launch by the name that it has in the role's section; those of other
 * sections are another training's, or the rollout's. */
static bool take(const struct role *role, const struct sp_setting *from, struct sp_settings *to)
{
    char name[sizeof from->name + 16];
    const char *const full = from->name;
    if (strcasecmp(from->value, "null") == 0 || strcasecmp(from->value, "none") == 0)
        return true; /* as if it were not there */
    const bool common = !sp_starts_with(full, "actor_rollout_ref.") &&
                        !sp_starts_with(full, "critic.") &&
                        !sp_starts_with(full, "reward_model.") && !sp_starts_with(full, "reward.");
    if ((common && is_own_part(full)) || is_beside(full)) {
        if (!from->read && !sp_is_quiet(to->words->quiet, full)) /* the rollout's are read */
            note_part(to->launch, full);
        return true;
    }
    if (role->fsdp[0] && sp_starts_with(full, role->fsdp))
        snprintf(name, sizeof name, "fsdp_config.%s", full + strlen(role->fsdp));
    else if (sp_starts_with(full, role->model))
        snprintf(name, sizeof name, "model.%s", full + strlen(role->model));
    else if (sp_starts_with(full, role->section))
        snprintf(name, sizeof name, "%s", full + strlen(role->section));
    else if (common)
        snprintf(name, sizeof name, "%s", full);
    else
        return true;
    return sp_copy_setting(to, from, name);
}

/* The state of reading: the whole launch, the settings of the role, and the role. */
struct reading {
    struct sp_launch_file *file;
    struct sp_settings *all, *s;
    const struct role *role;
    bool megatron;
    int64_t devices, model, parts, seq; /* devices of a replica, and of a sequence */
};

static bool is_reference(const struct reading *r)
{
    return sp_is(r->role->name, "reference");
}

/* The configuration that the command starts from, "" if it names none. */
static const char *configuration(const struct sp_script *script)
{
    for (int i = 0; script && i < script->n; i++)
        for (int j = 0; j < script->commands[i].n; j++) {
            const char *const word = script->commands[i].words[j], *const equals =
                                                                       strchr(word, '=');
            const bool names = sp_starts_with(word, "--config-name") || sp_is(word, "-cn");
            if (names && (equals || j + 1 < script->commands[i].n))
                return equals ? equals + 1 : script->commands[i].words[j + 1];
        }
    return "";
}

/* Whether omitted settings have verl's defaults: not if a program or configuration other than
 * verl's has its own. */
static bool has_defaults(const struct sp_launch_file *file)
{
    const char *const name = configuration(file->script);
    return !file->script || ((!name[0] || strstr(name, "_trainer")) &&
                             !sp_starts_with(file->program->told, "actor_rollout_ref."));
}

/* Values that decide an answer and that neither the launch nor verl has. */
static void miss_values(struct sp_settings *all)
{
    static const char *const values[][3] = {
        {"data.max_prompt_length", "seq", "input"},
        {"data.max_response_length", "seq", "max-response"},
        {"data.train_batch_size", "", "prompts"},
        {"actor_rollout_ref.actor.ppo_mini_batch_size", "batch", "minibatches"},
        {"actor_rollout_ref.rollout.n", "batch", "group"},
        {"actor_rollout_ref.rollout.tensor_model_parallel_size", "", "gen-tp"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int j = 1; j < 3 && !sp_has_setting(all, values[i][0]); j++)
            if (values[i][j][0])
                sp_add_unread(all->launch, values[i][j], values[i][0],
                              "(left to a separate configuration)", 0);
}

/* Takes the degrees that the launch's own checkout gives Megatron: 4 for TP in older ones. */
static bool take_degrees(const struct sp_launch_file *file, struct sp_settings *all)
{
    static const char *const roles_of[] = {"actor_rollout_ref.actor.", "actor_rollout_ref.ref.",
                                           "critic."};
    static const char *const degrees[] = {"tensor", "pipeline", "context"};
    bool ok = true;
    for (size_t i = 0; i < sizeof roles_of / sizeof *roles_of && has_defaults(file) && ok; i++)
        for (size_t j = 0; j < sizeof degrees / sizeof *degrees && ok; j++) {
            char key[96];
            snprintf(key, sizeof key, "%smegatron.%s_%sparallel_size", roles_of[i], degrees[j],
                     j < 2 ? "model_" : "");
            ok = sp_take_verl_default(file, "ppo_megatron_trainer.yaml", key, all);
        }
    return ok;
}

/* Takes the sizes that are left to verl, whose configurations have had these in all versions. */
static bool take_sizes(const struct sp_launch_file *file, struct sp_settings *all)
{
    char left[200] = "";
    const int before = all->n;
    if (!has_defaults(file))
        return true;
    const bool ok = sp_take_program_values(file->program, all);
    for (int i = before; i < all->n && file->script; i++)
        sp_append(left, sizeof left, "%s%s %s", left[0] ? ", " : "",
                  strrchr(all->at[i].name, '.') + 1, all->at[i].value);
    if (left[0])
        sp_add_note(all->launch, "left out, as in verl: %s", left);
    return ok;
}

/* The backend: set by the role, by the actor or for all (Hydra's group "model_engine", whose "dp"
 * is FSDP), or by the name of the configuration that the command starts from. */
static bool is_megatron(const struct reading *r)
{
    static const char shared[] = "actor_rollout_ref.actor.strategy", group[] = "model_engine";
    const char *const said = sp_setting(r->s, "strategy"),
                      *const actor = said ? said : sp_said(r->all, shared),
                      *const engine = sp_setting(r->s, group),
                      *const strategy = actor ? actor : engine;
    if (!strategy)
        return strstr(configuration(r->file->script), "megatron") != NULL;
    if (!sp_has_word(actor ? "fsdp fsdp2 megatron" : "dp megatron", strategy))
        sp_fail_in(r->s, "%s: \"%s\" is not supported; expected %s", actor ? "strategy" : group,
                   sp_safe(strategy), actor ? "fsdp, fsdp2 or megatron" : "dp or megatron");
    return sp_is(strategy, "megatron");
}

static int64_t whole(struct reading *r, const char *name, int64_t otherwise)
{
    return sp_setting_whole(r->s, name, 1, otherwise);
}

static void read_megatron(struct reading *r)
{
    struct sp_settings *const s = r->s;
    static const char granularity[] = "megatron.override_transformer_config.recompute_granularity";
    static const char method[] = "megatron.override_transformer_config.recompute_method";
    static const char layers[] = "megatron.override_transformer_config.recompute_num_layers";
    static const char modules[] = "megatron.override_transformer_config.recompute_modules";
    static const char dispatcher[] =
        "megatron.override_transformer_config.moe_token_dispatcher_type";
    const int64_t tp = sp_plan_whole(s, "tp"), pp = sp_plan_whole(s, "pp"),
                  cp = sp_plan_whole(s, "cp"), vpp = sp_plan_whole(s, "vpp");
    r->model = tp * pp * cp;
    r->parts = cp;
    sp_read_plan_rows(s, true, "");
    sp_read_plan_rows(s, false, sp_setting_is(s, dispatcher, "flex") ? "flex" : "");
    if (pp > 1)
        sp_launch_option(s, "schedule", "%s", vpp > 1 ? "interleaved" : "1f1b");
    if (!sp_has_setting(s, "megatron.tensor_model_parallel_size"))
        sp_launch_note(s, "no megatron.tensor_model_parallel_size: 1, as in verl now; 4 in older "
                          "versions");
    s->launch->etp_is_tp = !sp_setting(s, "megatron.expert_tensor_parallel_size");
    if (s->launch->etp_is_tp && sp_plan_whole(s, "ep") > 1)
        sp_launch_whole(s, "etp", tp);
    sp_launch_option(s, "sp", "%s",
                     tp > 1 && !sp_setting_off(s, "megatron.sequence_parallel") ? "on" : "off");
    sp_launch_option(s, "zero", "%d",
                     sp_setting_off(s, "megatron.use_distributed_optimizer") ? 0 : 1);
    if (sp_is(sp_said(s, "megatron.dtype"), "bfloat16")) /* else it is not read */
        sp_setting(s, "megatron.dtype");
    sp_launch_option(s, "precision", "mixed18");
    sp_launch_option(s, "framework", "megatron");
    sp_read_optimizer_offload(s, "optim.override_optimizer_config.optimizer_cpu_offload",
                              "optim.override_optimizer_config.optimizer_offload_fraction", 0);
    const char *const again = sp_setting(s, granularity);
    if (!sp_setting(s, method) || sp_setting_is(s, method, "uniform"))
        sp_peek_setting(s, layers); /* each by itself, whatever the pieces */
    sp_peek_setting(s, "model.enable_gradient_checkpointing"); /* FSDP's alone */
    sp_peek_setting(s, modules);
    if (sp_is(again, "selective"))
        sp_read_recompute_modules(s, modules);
    else
        sp_launch_option(s, "remat", "%s", sp_is(again, "full") ? "full" : "none");
}

static void read_fsdp(struct reading *r)
{
    struct sp_settings *const s = r->s;
    static const char parts[] = "ulysses_sequence_parallel_size",
                      newer[] = "fsdp_config.ulysses_sequence_parallel_size",
                      actor[] = "actor_rollout_ref.actor.ulysses_sequence_parallel_size",
                      casts_to[] = "fsdp_config.mixed_precision.param_dtype";
    const int64_t usual = is_reference(r) ? sp_setting_whole(r->all, actor, 1, 1) : 1,
                  older = whole(r, parts, usual), ulysses = older > 1 ? older : whole(r, newer, 1);
    const int64_t group = sp_setting_whole(s, "fsdp_config.fsdp_size", -1, -1);
    r->model = r->parts = ulysses;
    if (ulysses > 1) {
        sp_launch_whole(s, "cp", ulysses);
        sp_launch_option(s, "cp-kind", "ulysses");
    }
    sp_launch_option(s, "zero", "%d",
                     sp_setting_off(s, "fsdp_config.reshard_after_forward") ? 2 : 3);
    if (group > 0 && r->devices > 0 && group < r->devices)
        sp_launch_whole(s, "fsdp", group);
    sp_launch_option(s, "precision", "fp32");
    sp_launch_option(s, "dtype", "bf16");
    sp_launch_option(s, "framework", "torchtitan");
    const char *const weights = sp_setting(s, "fsdp_config.model_dtype");
    const char *const cast = sp_said(s, casts_to);
    if (cast && sp_has_word("bf16 bfloat16", cast))
        sp_setting(s, casts_to); /* as without it; others are not read */
    if (weights && !sp_has_word("fp32 float32", weights) && !is_reference(r))
        sp_launch_option(s, "precision", "pure-bf16");
    if (sp_setting_on(s, "fsdp_config.offload_policy"))
        sp_launch_note(s, "not modelled: offload_policy, weights and states in host memory");
    const char *const again = sp_setting(s, "model.enable_gradient_checkpointing");
    sp_launch_option(s, "remat", "%s",
                     sp_setting_off(s, "model.enable_gradient_checkpointing") ? "none" : "full");
    if (!again && !is_reference(r))
        sp_launch_note(s, "no enable_gradient_checkpointing: on, as in verl since 0.3");
}

/* Adapters of the model. */
static void read_lora(struct reading *r)
{
    const char *const nested = sp_setting(r->s, "model.lora.rank");
    const int64_t rank =
        sp_setting_whole(r->s, nested ? "model.lora.rank" : "model.lora_rank", 0, 0);
    const struct sp_adapters adapters = {.rank = rank,
                                         .modules = sp_setting(r->s, "model.target_modules"),
                                         .usual_targets = "all-linear"};
    if (rank > 0 && !is_reference(r))
        sp_launch_adapters(r->s, &adapters);
}

/* Sequences of a rollout: prompts and their answers. */
static int64_t answers(struct reading *r)
{
    return sp_setting_whole(r->all, "actor_rollout_ref.rollout.n", 1, 1);
}

/* The sequences of an optimizer step: a mini-batch, or all that a rollout makes if that is less. */
static int64_t of_all_made(struct reading *r, int64_t prompts, int64_t batch)
{
    const int64_t group = sp_rollout_whole(r->s->launch, "group"),
                  made = prompts * (group > 0 ? group : 1);
    const bool turns = sp_has_setting(r->s, "env.env_name") || /* each is a sequence (verl-agent) */
                       sp_has_setting(r->s, "env.max_steps");
    if (is_reference(r) || made == 0 || made >= batch || turns)
        return batch;
    sp_launch_note(r->s,
                   "a rollout makes %lld sequences, fewer than ppo_mini_batch_size: a step takes "
                   "them all; most versions of verl refuse this",
                   (long long)made);
    return made;
}

static void read_batch(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const struct role *const role = r->role;
    const int64_t said = sp_setting_whole(s, "data.train_batch_size", 0, 0),
                  made = sp_rollout_whole(s->launch, "prompts"), prompts = made > 0 ? made : said,
                  usual =
                      sp_setting_whole(r->all, "actor_rollout_ref.actor.ppo_mini_batch_size", 1, 1),
                  mini = is_reference(r) ? prompts : whole(r, "ppo_mini_batch_size", usual);
    const int64_t batch = of_all_made(r, prompts, mini * answers(r)),
                  replicas = r->devices % r->model == 0 ? r->devices / r->model : 0;
    const bool shared = !sp_setting(s, role->dynamic) &&
                        sp_setting_on(r->all, "actor_rollout_ref.actor.use_dynamic_bsz");
    const int64_t each = whole(r, role->micro, 0), of_all = whole(r, role->micro_of_all, 0),
                  shared_tokens =
                      is_reference(r)
                          ? sp_setting_whole(r->all,
                                             "actor_rollout_ref.actor.ppo_max_token_len_per_gpu", 1,
                                             role->usual_tokens)
                          : role->usual_tokens,
                  tokens = whole(r, role->tokens, shared_tokens);
    sp_launch_option(s, "batch", "%lldx", (long long)batch);
    if (sp_setting_on(s, role->dynamic) || shared) {
        sp_launch_token_batch(s, &(struct sp_token_batch){.option = role->tokens,
                                                          .tokens = tokens * r->parts,
                                                          .seq = r->seq,
                                                          .batch = batch,
                                                          .replicas = replicas});
    } else if (each > 0 || (of_all > 0 && replicas > 0)) {
        sp_launch_whole(s, "micro-batch",
                        each > 0            ? each
                        : of_all > replicas ? of_all / replicas
                                            : 1);
    } else if (of_all == 0) { /* the command that starts from this file says it */
        sp_add_unread(s->launch, "micro-batch", role->micro, "(left out)", 0);
    }
}

/* Whether a setting is on, for a remark: its value may be unknown. */
static bool is_on(const struct sp_settings *s, const char *name)
{
    const char *const said = sp_said(s, name);
    return said && sp_yaml_truth(said) != 0;
}

/* Notes other work in a step of the launch, which no plan of one training includes. */
static void note_rest(struct reading *r)
{
    struct sp_settings *const s = r->s;
    static const char degree[] = "actor_rollout_ref.rollout.tensor_model_parallel_size";
    const char *const estimator = sp_said(s, "algorithm.adv_estimator");
    const int64_t tp = sp_said_whole(r->all, degree, 0); /* 0: unknown */
    char ranks[32] = "";
    if (tp > 0)
        snprintf(ranks, sizeof ranks, " (TP %lld)", (long long)tp);
    const bool critic = !estimator || sp_is(estimator, "gae"),
               reference = is_on(r->all, "actor_rollout_ref.actor.use_kl_loss") ||
                           is_on(s, "algorithm.use_kl_in_reward");
    sp_launch_note(
        s, "reinforcement learning (verl): only %s of the %s; the rollout%s is separate%s%s",
        is_reference(r) ? "the pass" : "an optimizer step", r->role->name, ranks,
        reference && !is_reference(r) ? ", also a reference (--recipe reference)" : "",
        critic && !sp_is(r->role->name, "critic") ? ", and a critic (--recipe critic)" : "");
    if (is_on(s, "model.use_remove_padding"))
        sp_launch_note(s, "padding is removed: the maximum lengths are used");
    if (is_reference(r) && sp_setting_on(s, "fsdp_config.param_offload"))
        sp_launch_note(s, "not modelled: the reference's weights in host memory");
    if (sp_is(r->role->name, "critic"))
        sp_launch_note(s, "a critic has a one-number head; the model's own is counted");
}

/* Prompts and answers; Search-R1's are the question and all turns, in a window of the prompt's
 * length (search_r1/llm_agent/generation.py of PeterGriffinJin/Search-R1). */
static void read_lengths(struct reading *r)
{
    const int64_t start = whole(r, "data.max_start_length", 0),
                  prompt = whole(r, "data.max_prompt_length", 1);
    r->seq = start > 0 ? start + prompt : prompt + whole(r, "data.max_response_length", 1);
    sp_peek_setting(r->s, "data.max_response_length");
    if (start > 0)
        sp_launch_note(r->s,
                       "max_start_length: turns as in Search-R1, of max_prompt_length in all");
}

static void read_role(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const bool known = sp_said(s, "trainer.nnodes") && sp_said(s, "trainer.n_gpus_per_node");
    if (known)
        sp_launch_devices(s->launch, whole(r, "trainer.nnodes", 1), 0,
                          whole(r, "trainer.n_gpus_per_node", 1));
    else
        s->launch->devices = 0;
    r->devices = r->file->hw ? sp_chips(r->file->hw) : 0;
    read_lengths(r);
    r->megatron = is_megatron(r);
    sp_read_hub_model(s, sp_peek_setting(s, "model.path"), r->file->sources);
    sp_launch_whole(s, "seq", r->seq);
    if (r->megatron)
        read_megatron(r);
    else
        read_fsdp(r);
    read_batch(r);
    if (is_reference(r))
        sp_launch_option(s, "trainable", "none");
    read_lora(r);
    note_rest(r);
    sp_note_unread(s, "", s->words->quiet);
}

/* The role that was asked for; the actor if none was. */
static const struct role *role_of(const struct sp_launch_file *file)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (!file->recipe || sp_is(roles[i].name, file->recipe))
            return &roles[i];
    sp_fail_in(&file->settings, "--recipe: \"%s\": expected actor, reference or critic",
               sp_safe(file->recipe));
    return NULL;
}

static bool read(struct sp_launch_file *file)
{
    struct reading r = {.file = file, .all = &file->settings, .role = role_of(file), .model = 1};
    char checkpoints[96];
    snprintf(checkpoints, sizeof checkpoints, "%senable_gradient_checkpointing",
             r.role ? r.role->model : "");
    if (!r.role ||
        (file->script &&
         (!sp_read_pairs(file->script, tells, r.all) ||
          !sp_take_verl_default(file, "ppo_trainer.yaml", checkpoints, r.all) ||
          (strstr(configuration(file->script), "megatron") && !take_degrees(file, r.all)))))
        return false;
    if (!take_sizes(file, r.all))
        return false;
    miss_values(r.all);
    bool ok = sp_read_rollout(file, r.all);
    r.s = sp_new_settings(r.all);
    for (int i = 0; i < r.all->n && ok; i++)
        ok = take(r.role, &r.all->at[i], r.s);
    if (ok && is_on(r.all, "trainer.val_only"))
        ok = sp_fail_in(r.all, "trainer.val_only: nothing is trained");
    if (ok)
        read_role(&r);
    ok = ok && sp_refuse_gaps(r.s);
    free(r.s);
    return ok;
}

const struct sp_target sp_target_verl = {
    .words = {"verl"},
    .format = "verl settings",
    .read = read,
};
