/* GPT-NeoX: its YAML (or JSON), which is a DeepSpeed configuration with the model and the degrees
 * in it. Names: megatron/neox_arguments of EleutherAI/gpt-neox; "-" and "_" are the same there. */

#include <string.h>

#include "base/text.h"
#include "launch/fields/deciding.h"
#include "launch/fields/rows.h"
#include "launch/fields/unread.h"
#include "launch/huggingface/adapters.h"

static bool is_own(const char *name)
{
    return sp_is_quiet("pipe_parallel_size pipe-parallel-size model_parallel_size "
                       "model-parallel-size",
                       name);
}

static enum sp_match detect(const struct sp_launch_file *file)
{
    for (int i = 0; i < file->settings.n && !file->script; i++)
        if (is_own(file->settings.at[i].name))
            return SP_CERTAIN;
    return SP_NO_MATCH;
}

static int64_t whole(struct sp_settings *s, const char *name, int64_t otherwise)
{
    return sp_setting_whole(s, name, 0, otherwise);
}

/* Whether "attention_config", a list of layers by kind, has one of some kinds. */
static bool has_layers(const struct sp_settings *s, const char *const *kinds)
{
    for (; *kinds; kinds++)
        for (int i = 0; i < s->n; i++)
            if (sp_starts_with(s->at[i].name, "attention_config") && strstr(s->at[i].value, *kinds))
                return true;
    return false;
}

/* Whether its loss has a frozen model that runs beside the trained one. */
static bool refers(struct sp_settings *s)
{
    const bool alone = sp_setting_on(s, "dpo_reference_free"),
               before = sp_setting(s, "precompute_model_name") != NULL;
    return sp_setting_is(s, "train_impl", "dpo") && !alone && !before;
}

/* The MLP's width where none is given: a gated one is rounded up. */
static int64_t usual_width(struct sp_settings *s, int64_t width, bool gated)
{
    const int64_t of = whole(s, "mlp_multiple_of", 1);
    return gated && of > 1 ? (width + of - 1) / of * of : width;
}

static void read_model(struct sp_settings *s)
{
    static const char *const partial[] = {"sparse", "local", "bigbird", "bslongformer", NULL},
                             *const others[] = {"mamba", "rwkv", "mlp", NULL};
    char out[700] = "name=options";
    const size_t size = sizeof out;
    const int64_t width = whole(s, "hidden_size", 0), heads = whole(s, "num_attention_heads", 0);
    const bool gated =
        sp_setting_is(s, "activation", "swiglu") || sp_setting_is(s, "activation", "geglu");
#define ADD(...) sp_append(out, size, __VA_ARGS__)
    if (whole(s, "num_layers", 0) == 0 || width == 0 || heads == 0) {
        sp_launch_no_model(s, "it has no model shape");
        return;
    }
    if (has_layers(s, partial))
        sp_launch_note(s, "not modelled: attention_config, attention to a part of the tokens");
    if (has_layers(s, others)) {
        sp_launch_no_model(s, "its layers are not all attention (attention_config)");
        return;
    }
    sp_read_model_rows(s, true, "", out, size);
    if (!sp_setting(s, "intermediate_size"))
        ADD(",d_ff=%lld", (long long)usual_width(s, gated ? 8 * width / 3 : 4 * width, gated));
    if (!sp_setting(s, "num_kv_heads"))
        ADD(",kv_heads=%lld", (long long)heads);
    sp_read_model_rows(s, false, "", out, size);
    if (!sp_setting(s, "pos_emb") || sp_setting_is(s, "pos_emb", "learned"))
        ADD(",learned_positions=%lld", (long long)whole(s, "max_position_embeddings", 0));
#undef ADD
    sp_launch_option(s, "shape", "%s", out);
    sp_launch_note(s, "the vocabulary is the tokenizer's: counted without vocabulary tables");
    if (gated)
        sp_launch_note(s,
                       "a gated MLP is counted as wide as its model's; GPT-NeoX 2 makes each half "
                       "a third of intermediate_size");
}

/* How it trains: a sample of preferences is two sequences. Returns the sequences of a sample. */
static int64_t read_kind(struct sp_settings *s)
{
    const char *const kind = sp_setting(s, "train_impl");
    const bool pairs = kind && sp_has_word("dpo rm", kind);
    if (refers(s))
        sp_launch_reference(s, false, false);
    if (pairs)
        sp_launch_note(s, "%s: a line of data is two sequences, chosen and rejected", kind);
    else if (kind && !sp_is(kind, "normal"))
        sp_launch_note(s, "not modelled: %s; read as training on text", sp_safe(kind));
    return pairs ? 2 : 1;
}

static void read_batch(struct sp_settings *s, double replicas)
{
    const int64_t n = read_kind(s), micro = n * whole(s, "train_micro_batch_size_per_gpu", 0),
                  given = n * whole(s, "train_batch_size", 0);
    const int64_t steps = whole(s, "gradient_accumulation_steps", 1);
    const double made = (double)micro * (double)(steps > 0 ? steps : 1) * replicas;
    if (micro > 0)
        sp_launch_whole(s, "micro-batch", micro);
    if (given > 0 || made > 0)
        sp_launch_option(s, "batch", "%.0fx", given > 0 ? (double)given : made);
    if (given > 0 && made > 0 && (double)given != made &&
        sp_setting(s, "gradient_accumulation_steps"))
        sp_fail_in(s, "train_batch_size %lld is not %lld x %lld x %.0f replicas", (long long)given,
                   (long long)micro, (long long)steps, replicas);
}

/* States follow DeepSpeed's rules: gradients in the model's format unless set otherwise. */
static void read_states(struct sp_settings *s)
{
    const char *const precision = sp_setting(s, "precision");
    const bool half = sp_setting_on(s, "fp16.enabled") || sp_setting_on(s, "fp16.fp16") ||
                      sp_setting_on(s, "bf16.enabled") || sp_setting_on(s, "bfloat16.enabled") ||
                      (precision && sp_has_word("fp16 bfloat16 bf16", precision));
    const bool full = sp_setting_is(s, "data_types.grad_accum_dtype", "fp32") ||
                      sp_setting_on(s, "fp32_allreduce");
    const char *const optimizer = sp_setting(s, "optimizer.type");
    const int64_t stage = whole(s, "zero_optimization.stage", 0);
    if (stage > 3)
        sp_fail_in(s, "zero_optimization.stage: %lld: expected 0 to 3", (long long)stage);
    sp_launch_option(s, "precision", "%s", !half ? "fp32" : full ? "mixed18" : "mixed16");
    sp_launch_whole(s, "zero", stage);
    if (optimizer)
        sp_read_optimizer(s, "optimizer.type", optimizer, 0);
    if (sp_setting_on(s, "zero_optimization.cpu_offload") ||
        sp_setting_away(s, "zero_optimization.offload_optimizer.device"))
        sp_launch_option(s, "optimizer-offload", "1");
}

/* A file of a model only, which NeoX reads with another one that says how it is trained. */
static void ask_for_training(struct sp_settings *s)
{
    static const char *const said[] = {"train_micro_batch_size_per_gpu",
                                       "train_batch_size",
                                       "optimizer.type",
                                       "precision",
                                       "fp16.enabled",
                                       "fp16.fp16",
                                       "bf16.enabled",
                                       "zero_optimization.stage"};
    static const struct {
        const char *option, *name;
    } asked[] = {{"precision", "precision"},
                 {"zero", "zero_optimization.stage"},
                 {"remat", "checkpoint_activations"}};
    bool trains = false;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        trains = trains || sp_has_setting(s, said[i]);
    for (size_t i = 0; i < sizeof asked / sizeof *asked && !trains; i++)
        if (!sp_has_setting(s, asked[i].name))
            sp_add_unread(s->launch, asked[i].option, asked[i].name, "(in another file)", 0);
}

static bool read(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    const double devices = file->hw ? (double)sp_chips(file->hw) : 0;
    for (int i = 0; i < s->n; i++)
        for (char *c = s->at[i].name; *c; c++)
            *c = *c == '-' ? '_' : *c;
    const int64_t pp = whole(s, "pipe_parallel_size", 0), tp = whole(s, "model_parallel_size", 1);
    const int64_t stages = pp > 0 ? pp : 1, model = stages * (tp > 0 ? tp : 1);
    ask_for_training(s);
    read_model(s);
    sp_launch_whole(s, "tp", (tp > 0 ? tp : 1));
    sp_launch_whole(s, "pp", stages);
    sp_launch_option(s, "sp", "%s", sp_setting_on(s, "sequence_parallel") && tp > 1 ? "on" : "off");
    if (sp_setting(s, "seq_length"))
        sp_launch_whole(s, "seq", sp_setting_whole(s, "seq_length", 1, 1));
    read_batch(s, devices / (double)model);
    read_states(s);
    sp_launch_option(s, "remat", "%s",
                     sp_setting_on(s, "checkpoint_activations") ? "full" : "none");
    sp_launch_option(s, "framework", "megatron");
    sp_read_rest(s);
    sp_note_unread(s, "", file->words[0]->quiet);
    return true;
}

const struct sp_target sp_target_neox = {
    .words = {"neox"},
    .format = "GPT-NeoX settings",
    .detect = detect,
    .read = read,
};
