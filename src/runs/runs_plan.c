/* The model and the plan of a row. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "runs/runs_internal.h"

/* Puts the number after a word of the moe column, "ff2048", where the word is there; false when no
 * whole number up to 10^9 stands there by itself. */
static bool number_after(const char *text, const char *word, int64_t *value)
{
    enum { MOST_DIGITS = 9 };
    const char *const at = strstr(text, word);
    if (!at)
        return true;
    const char *const digits = at + strlen(word);
    const size_t n = strspn(digits, "0123456789");
    const bool ordinal = word[strlen(word) - 1] == ' '; /* "every 2nd" */
    if (n == 0 || n > MOST_DIGITS || (digits[n] && digits[n] != ' ' && !ordinal))
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
        sp_row_problem(run, "moe \"%s\" is not EXPERTS/TOP_K/SHARED ...", sp_safe(text));
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
                      number_after(text, "dense_ff", &m->moe.d_ff_dense);
    if (!read || m->moe.d_ff_expert < 1 || m->moe.d_ff_dense < 1 || m->moe.every < 1 ||
        m->moe.dense_layers >= m->layers)
        sp_row_problem(run, "moe \"%s\" is out of range", sp_safe(text));
}

/* The columns have no ranks of MLA: those of the model of that name, less a "-L4" that says how
 * many of its layers were run. */
static void read_mla(const struct sp_row_reader *r, struct sp_run *run)
{
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
        run->model.mla = known.mla;
    else
        sp_row_problem(run, "the ranks of MLA are not known for model \"%s\"",
                       sp_safe(run->model_name));
}

/* A row without a shape has that of the model that it names. */
static bool take_named_model(const struct sp_row_reader *r, struct sp_run *run)
{
    static const char *const shape[] = {"layers", "d_model", "d_ff", "n_heads", "vocab", "moe"};
    struct sp_error error = {0};
    const struct sp_sources plain = {.config_dir = r->sources->config_dir};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        if (*sp_row_text(r, shape[i]))
            return false;
    return run->model_name[0] && sp_config_exists(SP_MODELS, run->model_name, &plain) &&
           sp_load_model(run->model_name, &plain, &run->model, &error) && run->model.layers > 0;
}

bool sp_read_row_model(struct sp_row_reader *r, struct sp_run *run)
{
    struct sp_model *m = &run->model;
    if (take_named_model(r, run))
        return true;
    if (!sp_row_whole(r, "layers", 0, &m->layers) || !sp_row_whole(r, "d_model", 0, &m->d_model) ||
        !sp_row_whole(r, "d_ff", 4 * m->d_model, &m->d_ff) ||
        !sp_row_whole(r, "n_heads", 0, &m->heads) ||
        !sp_row_whole(r, "n_kv_heads", m->heads, &m->kv_heads) ||
        !sp_row_whole(r, "head_dim", m->heads > 0 ? m->d_model / m->heads : 0, &m->head_dim) ||
        !sp_row_whole(r, "vocab", 0, &m->vocab) ||
        !sp_row_flag(r, "gated_mlp", true, &m->gated_mlp))
        return false;
    snprintf(m->name, sizeof m->name, "%s", run->model_name);
    m->norms_per_layer = 2;
    if (m->layers < 1 || m->d_model < 1 || m->heads < 1 || m->vocab < 1 || m->head_dim < 1 ||
        m->kv_heads < 1 || m->d_ff < 1) {
        m->layers = 0;
        sp_row_problem(run, "layers, d_model, n_heads or vocab are not stated");
        return true;
    }
    const char *const moe = sp_row_text(r, "moe");
    if (moe[0] != '\0')
        read_experts(moe, run);
    if (strstr(moe, "MLA"))
        read_mla(r, run);
    return true;
}

static bool read_degrees(struct sp_row_reader *r, struct sp_plan *p)
{
    bool sequence_parallel;
    if (!sp_row_whole(r, "tp", 1, &p->tp) || !sp_row_whole(r, "pp", 1, &p->pp) ||
        !sp_row_whole(r, "vpp", 1, &p->vpp) || !sp_row_whole(r, "cp", 1, &p->cp) ||
        !sp_row_whole(r, "ep", 1, &p->ep) || !sp_row_whole(r, "seq_len", 0, &p->seq) ||
        !sp_row_whole(r, "global_batch_seqs", 0, &p->batch) ||
        !sp_row_whole(r, "micro_batch_seqs", 0, &p->micro_batch) ||
        !sp_row_flag(r, "sequence_parallel", p->tp > 1, &sequence_parallel))
        return false;
    p->sequence_parallel = sequence_parallel && p->tp > 1;
    return true;
}

/* Of none, the framework's selective and full the one whose memory comes nearest to the measured
 * peak. */
static const struct sp_policy *nearest_policy(const struct sp_run *run,
                                              const struct sp_policy *selective)
{
    const struct sp_policy *const policies[] = {&sp_policies[SP_REMAT_NONE], selective,
                                                &sp_policies[SP_REMAT_FULL]};
    struct sp_plan plan = run->plan;
    double least = INFINITY;
    int best = 0;
    for (int i = 0; i < 3; i++) {
        struct sp_stage_memory m;
        if (!policies[i])
            continue;
        plan.recompute = policies[i]->recompute;
        sp_fullest_stage(&run->model, &run->precision, &plan, &run->framework.framework, &m);
        const double off = fabs((double)m.reserved / run->memory_bytes - 1);
        if (off < least) {
            least = off;
            best = i;
        }
    }
    return policies[best];
}

/* A policy that is not printed is inferred: from the measured peak, else the lightest whose tensors
 * fit, for the run did run whatever an allocator is expected to add. */
void sp_infer_recompute(struct sp_run *run)
{
    const struct sp_policy *const selective = sp_find_policy(run->framework.selective);
    struct sp_framework bare = run->framework.framework;
    bare.reserved_factor = 1;
    bare.context_bytes = 0;
    const struct sp_step_inputs in = {&run->model, &run->hw, &run->precision,
                                      &bare,       NULL,     &run->plan};
    run->plan.recompute_layers = 1;
    const struct sp_policy *const policy =
        run->memory_bytes > 0
            ? nearest_policy(run, selective)
            : sp_lightest_policy(&in, selective, sp_capacity_bytes(&run->hw.chip));
    run->plan.recompute = policy->recompute;
}

bool sp_read_row_plan(struct sp_row_reader *r, struct sp_run *run)
{
    struct sp_plan *p = &run->plan;
    /* Every word is read before a row may turn out to be no plan: a typo is told in any case. */
    if (!read_degrees(r, p) || !sp_row_zero(r, &p->zero) || !sp_row_dtype(r, &p->dtype) ||
        !sp_row_recompute(r, run))
        return false;
    const int64_t devices = run->problem[0] ? 1 : sp_chips(&run->hw);
    const int64_t slices = run->problem[0] ? 1 : run->hw.slices;
    if (p->seq < 1 || p->batch < 1)
        return sp_row_problem(run, "seq_len or global_batch_seqs is not stated"), true;
    if (p->tp < 1 || p->pp < 1 || p->vpp < 1 || p->cp < 1 || p->ep < 1)
        return sp_row_problem(run, "a degree of parallelism is 0"), true;
    if ((double)p->tp * (double)p->pp * (double)p->cp > (double)devices ||
        devices % (p->tp * p->pp * p->cp) != 0)
        return sp_row_problem(run, "tp x pp x cp does not divide the devices"), true;
    const int64_t fixed = p->tp * p->pp * p->cp;
    p->dp = devices / fixed;
    p->shards = sp_default_shards(p, slices);
    const char *const shard = strcasestr(sp_row_text(r, "fsdp_zero"), "shard ");
    const int64_t named = shard ? strtoll(shard + 6, NULL, 10) : p->shards;
    const int64_t replicas = p->dp * p->cp;
    if (named < 1 || replicas % named != 0)
        return sp_row_problem(run, "\"%s\" does not divide the %lld replicas",
                              sp_safe(shard ? shard : "ZeRO"), (long long)replicas),
               true;
    p->shards = named;
    if (p->micro_batch < 1)
        p->micro_batch = p->batch / p->dp > 0 ? p->batch / p->dp : 1;
    p->etp = 1;
    p->schedule = sp_usual_schedule(p->vpp);
    p->imbalance = 1;
    if (!run->problem[0] && sp_compute_dtype(&run->hw.chip, p->dtype) == SP_DTYPES)
        return sp_row_problem(run, "%s publishes no peak for precision \"%s\"", run->hw.name,
                              sp_safe(sp_row_text(r, "precision"))),
               true;
    const enum sp_plan_problem problem = sp_check_plan(&run->model, p, devices, slices);
    if (problem != SP_PLAN_OK)
        sp_row_problem(run, "%s", sp_plan_problem_text(problem));
    return true;
}
