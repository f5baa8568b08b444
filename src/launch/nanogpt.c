/* nanoGPT: a Python file of assignments that override those of train.py, and arguments that
 * override both. Names and defaults: train.py, model.py and configurator.py of karpathy/nanoGPT. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "launch/fields/named_files.h"
#include "launch/fields/rows.h"
#include "launch/fields/unread.h"
#include "launch/formats/python.h"
#include "launch/shell/flags.h"

static bool tells(const char *word)
{
    const char *const end = strrchr(word, '.');
    return sp_is(end, ".py") && (strstr(word, "config/") || strstr(word, "train.py"));
}

/* The file of assignments that a command passes to train.py, and its own arguments, which override
 * it. */
static bool read_command(struct sp_launch_file *file)
{
    const struct sp_typed_names none = {0};
    struct sp_settings *const s = &file->settings;
    char path[1024];
    size_t length;
    bool ok = true;
    for (int i = 0; i < file->script->n && ok; i++)
        for (int j = 1; j < file->script->commands[i].n && ok; j++) {
            const char *const word = file->script->commands[i].words[j];
            if (!tells(word) || !strstr(word, "config/"))
                continue;
            char *const text = sp_read_beside(file->origin, word, path, sizeof path, &length);
            ok = text
                     ? sp_read_names(text, &none, s)
                     : sp_fail_in(s, "%.80s, which has its settings, was not found", sp_safe(word));
            free(text);
        }
    const int before = s->n;
    ok = ok && sp_read_flags(file->script, tells, s);
    for (int i = before; i < s->n && ok; i++)
        memmove(s->at[i].name, s->at[i].name + 2, strlen(s->at[i].name + 2) + 1);
    return ok;
}

static void read_model(struct sp_settings *s)
{
    char shape[512] = "name=nanogpt";
    const char *const from = sp_setting(s, "init_from");
    const int64_t layers = sp_setting_whole(s, "n_layer", 1, 12),
                  heads = sp_setting_whole(s, "n_head", 1, 12),
                  width = sp_setting_whole(s, "n_embd", 1, 768);
    sp_peek_setting(s, "dataset");
    const char *const bias = sp_setting_on(s, "bias") ? "true" : "false";
    if (from && strncmp(from, "gpt2", 4) == 0) {
        sp_launch_option(s, "model", "%.90s", from);
        return;
    }
    sp_append(shape, sizeof shape,
              ",layers=%lld,d_model=%lld,heads=%lld,d_ff=%lld,vocab=50304,learned_positions=%lld,"
              "gated_mlp=false,norm=layernorm,tied_embeddings=true,qkv_bias=%s,o_bias=%s,"
              "mlp_bias=%s",
              (long long)layers, (long long)width, (long long)heads, 4 * (long long)width,
              (long long)sp_setting_whole(s, "block_size", 1, 1024), bias, bias, bias);
    sp_launch_option(s, "shape", "%s", shape);
    if (sp_setting(s, "dataset") && !sp_setting_is(s, "dataset", "openwebtext"))
        sp_launch_note(s, "the vocabulary is that of its data: 50304 (GPT-2) is assumed");
}

/* The accumulated passes are those of all devices together. */
static void read_batch(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    const int64_t devices = file->hw ? sp_chips(file->hw) : 0,
                  micro = sp_setting_whole(s, "batch_size", 1, 12),
                  passes = sp_setting_whole(s, "gradient_accumulation_steps", 1, 40);
    if (!sp_has_setting(s, "gradient_accumulation_steps"))
        sp_launch_note(s, "no gradient_accumulation_steps: 40, as in nanoGPT's train.py");
    if (devices > 1 && passes % devices != 0)
        sp_fail_in(s,
                   "gradient_accumulation_steps %lld is not a multiple of %lld devices: nanoGPT "
                   "does not start (before June 2023 it was per device)",
                   (long long)passes, (long long)devices);
    sp_launch_whole(s, "micro-batch", micro);
    sp_launch_option(s, "batch", "%lldx", (long long)micro * (long long)passes);
}

static bool read(struct sp_launch_file *file)
{
    struct sp_settings *const s = &file->settings;
    if (file->script && !read_command(file))
        return false;
    if (sp_setting_on(s, "eval_only"))
        return sp_fail_in(s, "eval_only: nothing is trained");
    read_model(s);
    sp_launch_whole(s, "seq", sp_setting_whole(s, "block_size", 1, 1024));
    read_batch(file);
    sp_launch_option(s, "zero", "0");
    sp_launch_option(s, "precision", "fp32");
    sp_launch_option(s, "dtype", "%s", sp_setting_is(s, "dtype", "float32") ? "fp32" : "bf16");
    sp_launch_option(s, "remat", "none");
    sp_read_rest(s);
    sp_note_unread(s, "", s->words->quiet);
    return true;
}

const struct sp_target sp_target_nanogpt = {
    .words = {"nanogpt"},
    .format = "nanoGPT settings",
    .read = read,
};
