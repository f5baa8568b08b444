/* verl's supervised tuning over FSDP, the older trainer and the newer one (`engine=fsdp`). Names
 * and defaults: verl/trainer/config (sft_trainer.yaml, sft_trainer_engine.yaml, engine/fsdp.yaml)
 * of volcengine/verl. */
#include <string.h>

#include "base/text.h"
#include "launch/fields/batches.h"
#include "launch/fields/deciding.h"
#include "launch/fields/rows.h"
#include "launch/fields/unread.h"
#include "launch/huggingface/adapters.h"
#include "launch/shell/flags.h"
#include "launch/verl/defaults.h"

static bool tells(const char *word)
{
    word += strspn(word, "+");
    return strchr(word, '=') &&
           (strncmp(word, "data.", 5) == 0 || strncmp(word, "model.", 6) == 0 ||
            strncmp(word, "trainer.", 8) == 0);
}

/* Settings with different names in the two trainers. */
static const struct names {
    const char *model, *parts, *weights;
    bool dynamic; /* micro-batches of tokens, unless told otherwise */
} older = {"model.partial_pretrain", "ulysses_sequence_parallel_size",
           "model.fsdp_config.model_dtype", false},
  newer = {"model.path", "engine.ulysses_sequence_parallel_size", "engine.model_dtype", true};

/* Micro-batches of tokens: 8192 of each of the devices that share a sequence. */
static void read_token_batch(struct sp_settings *s, int64_t replicas, int64_t parts)
{
    static const char key[] = "data.max_token_len_per_gpu";
    sp_launch_token_batch(
        s, &(struct sp_token_batch){.option = key,
                                    .tokens = sp_setting_whole(s, key, 1, 8192) * parts,
                                    .seq = sp_setting_whole(s, "data.max_length", 1, 1024),
                                    .batch = sp_setting_whole(s, "data.train_batch_size", 1, 256),
                                    .replicas = replicas});
}

/* Whether the newer trainer runs over FSDP. */
static bool is_fsdp(struct sp_settings *s)
{
    const char *const engine = sp_setting(s, "engine"),
                      *const strategy = sp_setting(s, "engine.strategy"),
                      *const said = strategy ? strategy : engine;
    return !said || sp_has_word("fsdp fsdp2", said) ||
           sp_fail_in(s, "%s: \"%s\" is not supported; expected fsdp%s",
                      strategy ? "engine.strategy" : "engine", sp_safe(said),
                      strategy ? " or fsdp2" : "");
}

/* `data.micro_batch_size` was shared by all devices until verl had one for each of them, which has
 * a value without being set; nothing reads the older one since. The checkout tells which verl it
 * is.
 */
static bool take_micro_batch(const struct sp_launch_file *file, struct sp_settings *s)
{
    static const char each[] = "data.micro_batch_size_per_gpu", all[] = "data.micro_batch_size";
    const char *const given = sp_peek_setting(s, all);
    if (!given || sp_has_setting(s, each))
        return true;
    if (!sp_take_verl_default(file, "sft_trainer.yaml", each, s))
        return false;
    if (!sp_has_setting(s, each) && !sp_in_verl_checkout(file, "sft_trainer.yaml"))
        sp_add_unread(s->launch, "micro-batch", all, given, 0);
    return true;
}

/* `parts`: the devices that share a sequence where micro-batches are of tokens, else 0. */
static void read_batch(struct sp_settings *s, int64_t replicas, int64_t parts)
{
    const int64_t each = sp_setting_whole(s, "data.micro_batch_size_per_gpu", 1, 0),
                  of_all = sp_setting_whole(s, "data.micro_batch_size", 1, 0);
    sp_launch_option(s, "batch", "%lldx",
                     (long long)sp_setting_whole(s, "data.train_batch_size", 1, 256));
    if (parts > 0)
        read_token_batch(s, replicas, parts);
    else if (each > 0 || of_all == 0)
        sp_launch_whole(s, "micro-batch", each > 0 ? each : 4);
    else if (replicas > 0)
        sp_launch_whole(s, "micro-batch", of_all > replicas ? of_all / replicas : 1);
}

static void read_shards(struct sp_settings *s, int64_t devices)
{
    const int64_t group = sp_setting_whole(s, "engine.fsdp_size", -1, -1);
    if (group > 0 && group < devices)
        sp_launch_whole(s, "fsdp", group);
}

static void read_states(struct sp_settings *s, const struct names *names)
{
    const char *const weights = sp_setting(s, names->weights);
    const bool wide = !weights || sp_has_word("fp32 float32", weights);
    sp_launch_option(s, "zero", "%d", sp_setting_off(s, "engine.reshard_after_forward") ? 2 : 3);
    sp_launch_option(s, "precision", wide ? "fp32" : "pure-bf16");
    sp_launch_option(s, "dtype", "bf16");
    sp_launch_option(s, "framework", "torchtitan");
    sp_launch_option(s, "remat", "%s",
                     sp_setting_off(s, "model.enable_gradient_checkpointing") ? "none" : "full");
    if (!sp_has_setting(s, "model.enable_gradient_checkpointing"))
        sp_launch_note(s, "no enable_gradient_checkpointing: on, as in the newest verl");
    if (sp_setting_on(s, "model.fsdp_config.cpu_offload") ||
        sp_setting_on(s, "model.fsdp_config.offload_params"))
        sp_launch_note(s, "not modelled: cpu_offload, weights and states in host memory");
    if (sp_setting_on(s, "use_remove_padding"))
        sp_launch_note(s, "padding is removed: the maximum lengths are used");
}

static bool read(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    const int64_t devices = file->hw ? sp_chips(file->hw) : 0;
    if (file->script && (!sp_read_pairs(file->script, tells, s) ||
                         !sp_take_verl_default(file, "sft_trainer.yaml",
                                               "model.enable_gradient_checkpointing", s) ||
                         !take_micro_batch(file, s)))
        return false;
    const struct names *const names = sp_has_setting(s, older.model) ? &older : &newer;
    const char *const model = sp_peek_setting(s, names->model);
    const int64_t cp = sp_setting_whole(s, names->parts, 1, 1),
                  rank = sp_setting_whole(s, "model.lora_rank", 0, 0);
    if (!model)
        return sp_fail_in(s, "it has neither %s nor %s", older.model, newer.model);
    if (names == &newer && !is_fsdp(s))
        return false;
    sp_read_hub_model(s, model, file->sources);
    sp_launch_whole(s, "seq", sp_setting_whole(s, "data.max_length", 1, 1024));
    sp_launch_whole(s, "cp", cp);
    if (cp > 1)
        sp_launch_option(s, "cp-kind", "ulysses");
    const int64_t replicas = devices % cp == 0 ? devices / cp : 0;
    read_batch(s, replicas, names->dynamic && !sp_setting_off(s, "data.use_dynamic_bsz") ? cp : 0);
    read_shards(s, devices);
    read_states(s, names);
    const struct sp_adapters adapters = {.rank = rank,
                                         .modules = sp_setting(s, "model.target_modules"),
                                         .usual_targets = "all-linear"};
    if (rank > 0)
        sp_launch_adapters(s, &adapters);
    sp_note_unread(s, "", s->words->quiet);
    return true;
}

const struct sp_target sp_target_verl_sft = {
    .words = {"verl"},
    .format = "verl tuning settings",
    .read = read,
};
