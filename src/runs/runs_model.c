/* Reads the model of a row. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/runs_internal.h"

/* Reads the number after a word of the moe column ("ff2048"), if present; false if it is not a
 * whole number up to 10^9. */
static bool number_after(const char *text, const char *word, int64_t *value)
{
    enum { MOST_DIGITS = 9 };
    const char *const at = strstr(text, word);
    if (!at)
        return true;
    const char *const digits = at + strlen(word);
    const size_t n = strspn(digits, "0123456789");
    const bool ordinal = word[strlen(word) - 1] == ' '; /* "every 2nd" */
    if (n == 0 || n > MOST_DIGITS || (digits[n] && !strchr(" ,", digits[n]) && !ordinal))
        return false;
    *value = strtoll(digits, NULL, 10);
    return true;
}

/* "256/8/1 ff2048 dense_layers=3 MLA", "128/1/1 every 2nd layer dense_ff16384". */
static void read_experts(const char *text, struct sp_run *run)
{
    struct sp_model *m = &run->model;
    long long experts, top_k, shared;
    if (sscanf(text, "%lld/%lld/%lld", &experts, &top_k, &shared) != 3 || experts < 1 ||
        top_k < 1 || top_k > experts || shared < 0 || experts > 100000 || shared > 1000) {
        sp_row_problem(run, "moe \"%s\": expected EXPERTS/TOP_K/SHARED ...", sp_safe(text));
        return;
    }
    m->moe = (struct sp_moe){.experts = experts,
                             .top_k = top_k,
                             .shared_experts = shared,
                             .d_ff_expert = m->d_ff,
                             .every = 1,
                             .d_ff_dense = m->d_ff};
    const bool read = number_after(text, " ff", &m->moe.d_ff_expert) &&
                      number_after(text, "dense_layers=", &m->moe.dense_layers) &&
                      number_after(text, "every ", &m->moe.every) &&
                      number_after(text, "dense_ff", &m->moe.d_ff_dense) &&
                      number_after(text, "shared_ff", &m->moe.d_ff_shared);
    if (!read || m->moe.d_ff_expert < 1 || m->moe.d_ff_dense < 1 || m->moe.every < 1 ||
        m->moe.dense_layers >= m->layers)
        sp_row_problem(run, "moe \"%s\" is out of range", sp_safe(text));
}

/* Takes the ranks of MLA from their columns, else from the model of that name, without a "-L4" for
 * the number of its layers that ran. */
static void read_mla(struct sp_row_reader *r, struct sp_run *run)
{
    struct sp_mla *const mla = &run->model.mla;
    *mla = (struct sp_mla){.q_lora_rank = sp_row_whole(r, "q_lora_rank", 0),
                           .kv_lora_rank = sp_row_whole(r, "kv_lora_rank", 0),
                           .qk_nope_head_dim = sp_row_whole(r, "qk_nope_head_dim", 0),
                           .qk_rope_head_dim = sp_row_whole(r, "qk_rope_head_dim", 0),
                           .v_head_dim = sp_row_whole(r, "v_head_dim", 0)};
    if (mla->kv_lora_rank > 0 && mla->qk_nope_head_dim > 0 && mla->v_head_dim > 0)
        return;
    char name[64];
    struct sp_model known;
    struct sp_error error = {0};
    snprintf(name, sizeof name, "%s", run->model_name);
    char *const cut = strstr(name, "-L");
    if (cut && isdigit((unsigned char)cut[2]))
        *cut = '\0';
    const struct sp_sources plain = {.config_dir = r->sources->config_dir};
    if (name[0] && sp_config_exists(SP_MODELS, name, &plain) &&
        sp_load_model(name, &plain, &known, &error) && known.mla.kv_lora_rank > 0)
        *mla = known.mla;
    else
        sp_row_problem(run, "the ranks of MLA are not known for model \"%s\"",
                       sp_safe(run->model_name));
}

/* A row without a shape takes that of the named model. */
static bool take_named_model(const struct sp_row_reader *r, struct sp_run *run)
{
    static const char *const shape[] = {"layers", "d_model", "d_ff", "heads", "vocab", "moe"};
    struct sp_error error = {0};
    const struct sp_sources plain = {.config_dir = r->sources->config_dir};
    char name[64];
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        if (*sp_row_text(r, shape[i]))
            return false;
    snprintf(name, sizeof name, "%s", run->model_name);
    if (!sp_config_exists(SP_MODELS, name, &plain))
        sp_run_slug(run->model_name, name, sizeof name); /* "Llama 3 8B" */
    return name[0] && sp_config_exists(SP_MODELS, name, &plain) &&
           sp_load_model(name, &plain, &run->model, &error) && run->model.layers > 0;
}

void sp_read_row_model(struct sp_row_reader *r)
{
    struct sp_run *const run = r->run;
    struct sp_model *const m = &run->model;
    if (take_named_model(r, run))
        return;
    m->layers = sp_row_whole(r, "layers", 0);
    m->d_model = sp_row_whole(r, "d_model", 0);
    m->d_ff = sp_row_whole(r, "d_ff", 4 * m->d_model);
    m->heads = sp_row_whole(r, "heads", 0);
    m->kv_heads = sp_row_whole(r, "kv_heads", m->heads);
    m->head_dim = sp_row_whole(r, "head_dim", m->heads > 0 ? m->d_model / m->heads : 0);
    m->vocab = sp_row_whole(r, "vocab", 0);
    m->gated_mlp = sp_row_flag(r, "gated_mlp", true);
    m->tied_embeddings = sp_row_flag(r, "tied_embeddings", false);
    m->mtp_layers = sp_row_whole(r, "mtp_layers", 0);
    m->unpadded_vocab = !sp_row_flag(r, "vocab_padded", true);
    snprintf(m->name, sizeof m->name, "%s", run->model_name);
    m->norms_per_layer = 2;
    if (m->layers < 1 || m->d_model < 1 || m->heads < 1 || m->vocab < 1 || m->head_dim < 1 ||
        m->kv_heads < 1 || m->d_ff < 1) {
        m->layers = 0;
        if (run->model_name[0])
            sp_row_problem(run,
                           "layers, d_model, heads or vocab are not stated, and no model \"%s\" "
                           "is known",
                           sp_safe(run->model_name));
        sp_row_problem(run, "layers, d_model, heads or vocab are not stated");
        return;
    }
    const char *const moe = sp_row_text(r, "moe");
    if (moe[0] != '\0')
        read_experts(moe, run);
    if (strstr(moe, "MLA") || *sp_row_text(r, "kv_lora_rank"))
        read_mla(r, run);
}
