/* OpenRLHF: supervised, preference and reinforcement learning over DeepSpeed, by arguments. Names
 * and defaults: openrlhf/cli/train_*.py and openrlhf/utils/deepspeed of OpenRLHF/OpenRLHF; those
 * with dots are of April 2026 and later. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "launch/fields/batches.h"
#include "launch/fields/deciding.h"
#include "launch/fields/programs.h"
#include "launch/fields/rows.h"
#include "launch/fields/unread.h"
#include "launch/fields/rollout.h"
#include "launch/huggingface/adapters.h"
#include "launch/shell/flags.h"

/* One of its programs: sequences per line of data, its defaults, and whether a frozen model runs
 * alongside it. */
struct kind {
    const char *program;
    int64_t sequences, micro, length;
    bool refers, rolls_out;
};
static const struct kind kinds[] = {
    {"train_sft", 1, 8, 2048, false, false}, {"train_dpo", 2, 8, 512, true, false},
    {"train_rm", 2, 1, 512, false, false},   {"train_kto", 1, 8, 2048, true, false},
    {"train_ppo", 1, 1, 2048, false, true},
};

/* A training of reinforcement learning. */
struct role {
    const char *name, *model, *nodes, *gpus;
};
static const struct role roles[] = {
    {"actor", "--actor.model_name_or_path", "--actor.num_nodes", "--actor.num_gpus_per_node"},
    {"critic", "--critic.model_name_or_path", "--critic.num_nodes", "--critic.num_gpus_per_node"},
};

static bool tells(const char *word)
{
    char name[SP_ROW_NAME];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "= "), word);
    return sp_is_quiet("--zero_stage --micro_train_batch_size --train_batch_size --pretrain "
                       "--ds.zero_stage --train.micro_batch_size --train.batch_size "
                       "--model.model_name_or_path --actor.model_name_or_path --ds.param_dtype "
                       "--data.max_len --max_len",
                       name);
}

struct reading {
    struct sp_launch_file *file;
    struct sp_settings *s;
    const struct kind *kind;
    const struct role *role;
    bool older;     /* names without dots, which had other defaults */
    int64_t splits; /* devices that share a sequence */
    int64_t batch, micro, seq;
};

static int64_t whole(struct reading *r, const char *name, int64_t otherwise)
{
    return sp_setting_whole(r->s, name, 1, otherwise);
}

/* Reinforcement learning says where the actor runs; other trainings run on what the launcher
 * starts. */
static void read_devices(struct reading *r)
{
    if (r->kind->rolls_out)
        sp_launch_devices(r->s->launch, whole(r, r->role->nodes, 1), 0, whole(r, r->role->gpus, 8));
}

static void read_degrees(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const int64_t tp = whole(r, "--ds.tensor_parallel_size", 1),
                  cp = whole(r, "--ds.ring_attn_size", 1);
    r->splits = tp * cp;
    sp_launch_whole(s, "tp", tp);
    sp_launch_option(s, "sp", "off");
    sp_launch_whole(s, "cp", cp);
    if (cp > 1)
        sp_launch_option(s, "cp-kind", "ring");
}

/* DeepSpeed's: a copy and states in fp32 beside weights of 16 bits. Before there was param_dtype,
 * --bf16 had to be given; no name distinguishes that version from the next. */
static void read_states(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const char *const said = sp_setting(s, "--ds.param_dtype"),
                      *const grads = sp_setting(s, "--ds.grad_accum_dtype"),
                      *const optimizer = sp_setting(s, "--actor.optim");
    sp_launch_whole(s, "zero", sp_setting_whole(s, "--ds.zero_stage", 0, 2));
    if (said && !sp_has_word("bf16 fp16", said))
        sp_fail_in(s, "--ds.param_dtype: \"%s\": expected bf16 or fp16", sp_safe(said));
    if (!said && r->older)
        sp_add_unread(s->launch, "precision", "neither --bf16 nor --param_dtype", "", 0);
    sp_launch_option(s, "precision", "%s",
                     grads && sp_has_word("fp32 float32", grads) ? "mixed18" : "mixed16");
    if (optimizer && !sp_is(optimizer, "adam"))
        sp_read_optimizer(s, "--actor.optim", optimizer, 0);
    if (sp_setting(s, "--ds.adam_offload"))
        sp_launch_option(s, "optimizer-offload", "1");
    if (sp_setting_whole(s, "--ds.zpg", 0, 1) > 1)
        sp_launch_note(s, "not modelled: --ds.zpg, whole weights in a node (ZeRO++)");
}

static void read_length(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const bool parts = sp_setting(s, "--prompt_max_len") || sp_setting(s, "--generate_max_len");
    r->seq = parts ? whole(r, "--prompt_max_len", 1024) + whole(r, "--generate_max_len", 1024)
                   : whole(r, "--data.max_len", r->kind->length);
    sp_peek_setting(s, "--data.max_len");
    sp_launch_whole(s, "seq", r->seq);
}

static void read_batch(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const int64_t devices = r->file->hw ? sp_chips(r->file->hw) : 0;
    const bool parts = sp_setting(s, "--prompt_max_len") || sp_setting(s, "--generate_max_len");
    const int64_t usual = r->kind->rolls_out && parts ? 4 : r->kind->micro, n = r->kind->sequences;
    const int64_t batch = n * whole(r, "--train.batch_size", 128);
    sp_launch_option(s, "batch", "%lldx", (long long)batch);
    if (sp_setting(s, "--train.dynamic_batch_enable")) {
        const int64_t tokens = whole(r, "--train.max_tokens_per_gpu", 16192);
        sp_launch_token_batch(s, &(struct sp_token_batch){
                                     .option = "--train.max_tokens_per_gpu",
                                     .tokens = tokens * r->splits,
                                     .seq = r->seq,
                                     .batch = batch,
                                     .replicas = devices % r->splits == 0 ? devices / r->splits : 0,
                                 });
        sp_peek_setting(s, "--train.micro_batch_size");
        return;
    }
    sp_launch_whole(s, "micro-batch", n * whole(r, "--train.micro_batch_size", usual));
}

static bool read_lora(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const int64_t rank = sp_setting_whole(s, "--ds.lora.rank", 0, 0);
    const struct sp_adapters adapters = {
        .rank = rank,
        .modules = sp_setting(s, "--ds.lora.target_modules"),
        .usual_targets = "all-linear",
        .base = sp_setting(s, "--ds.load_in_4bit") ? "nf4-double" : NULL,
    };
    if (rank > 0)
        sp_launch_adapters(s, &adapters);
    else if (adapters.base)
        sp_launch_note(s, "not modelled: weights loaded in %s without adapters", adapters.base);
    return rank > 0;
}

/* The trained model, and the one that its loss uses. */
static void read_models(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const char *const actor = sp_peek_setting(s, roles[0].model), *const own = sp_peek_setting(
                                                                      s, r->role->model);
    static const char reference[] = "--ref.model_name_or_path";
    const char *const model = own ? own : actor, *const asked = sp_said(s, reference);
    if (sp_peek_setting(s, reference) && !asked)
        sp_launch_note(s, "the reference is unknown: counted as the model itself");
    sp_read_hub_model(s, model, r->file->sources);
    const bool adapted = read_lora(r), away = sp_setting(s, "--ref.offload") != NULL;
    if (!r->kind->refers)
        return;
    if (asked && !sp_is(asked, model))
        sp_launch_note(s, "the reference is %s: counted as the model itself", sp_safe(asked));
    sp_launch_reference(s, adapted, away);
}

static void note_rest(struct reading *r)
{
    struct sp_settings *const s = r->s;
    const char *const estimator = sp_said(s, "--algo.advantage.estimator");
    const bool critic = !estimator || sp_is(estimator, "gae");
    sp_peek_setting(s, "--algo.advantage.estimator");
    sp_peek_setting(s, "--train.colocate_all");
    sp_peek_setting(s, "--rollout.micro_batch_size");
    sp_peek_setting(s, "--ref.num_nodes");
    sp_peek_setting(s, "--ref.num_gpus_per_node");
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        sp_peek_setting(s, roles[i].nodes);
        sp_peek_setting(s, roles[i].gpus);
        sp_peek_setting(s, roles[i].model);
    }
    if (r->kind->rolls_out)
        sp_launch_note(s,
                       "reinforcement learning (OpenRLHF): an optimizer step of the %s only; "
                       "rollout and reference are separate%s",
                       r->role->name,
                       critic && r->role == roles ? ", and a critic (--recipe critic)" : "");
    if (r->kind->sequences > 1)
        sp_launch_note(s, "a line of data is two sequences, chosen and rejected");
    if (sp_peek_setting(s, "--ds.packing_samples"))
        sp_launch_note(s, "sequences are packed: the maximum lengths are used");
    if (sp_setting(s, "--actor.freeze_visual_encoder"))
        sp_launch_note(s, "not modelled: --actor.freeze_visual_encoder");
}

static const struct kind *kind_of(const struct sp_launch_file *file)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(file->program->told, kinds[i].program))
            return &kinds[i];
    sp_fail_in(&file->settings,
               "launches of OpenRLHF (%s) are not supported: give the plan as options",
               sp_safe(file->program->told));
    return NULL;
}

static const struct role *role_of(const struct sp_launch_file *file, const struct kind *kind)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles && (i == 0 || kind->rolls_out); i++)
        if (!file->recipe || sp_is(roles[i].name, file->recipe))
            return &roles[i];
    sp_fail_in(&file->settings, "--recipe: \"%s\": expected actor%s", sp_safe(file->recipe),
               kind->rolls_out ? " or critic" : "");
    return NULL;
}

static bool read(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    const struct kind *const kind = kind_of(file);
    const struct role *const role = kind ? role_of(file, kind) : NULL;
    struct reading r = {.file = file, .s = s, .kind = kind, .role = role, .older = true};
    if (!role || !sp_read_flags(file->script, tells, s))
        return false;
    for (int i = 0; i < s->n; i++)
        r.older = r.older && !strchr(s->at[i].name, '.');
    if (!sp_spell_rows(s))
        return false;
    if (kind->rolls_out && !sp_read_rollout(file, s))
        return false;
    read_devices(&r);
    read_models(&r);
    read_degrees(&r);
    read_states(&r);
    read_length(&r);
    read_batch(&r);
    sp_launch_option(s, "remat", "%s",
                     sp_setting(s, "--actor.gradient_checkpointing_enable") ? "full" : "none");
    note_rest(&r);
    sp_note_unread(s, "--", s->words->quiet);
    return true;
}

const struct sp_target sp_target_openrlhf = {
    .words = {"openrlhf"},
    .format = "OpenRLHF arguments",
    .read = read,
};
