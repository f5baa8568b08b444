/* torchtitan: the models that it trains, and what its own checks refuse
 * (distributed/parallel_dims.py, distributed/pipeline_parallel.py, trainer.py and
 * models/common/decoder.py of August 2026; train.py and the parallelize.py of each model of 0.2.2).
 * Of options that are read the table makes remarks, of those that are written losses. */
#include <string.h>

#include "base/truth.h"
#include "launch/torchtitan/torchtitan.h"

/* clang-format off */
const struct sp_titan_model sp_titan_models[] = {
    {"llama3", "8B", "llama3-8b", "llama3_8b", true, 131072, true, false},
    {"llama3", "70B", "llama3-70b", "llama3_70b", true, 131072, true, false},
    {"llama3", "405B", "llama3-405b", "llama3_405b", true, 131072, true, true},
    {"llama3", "8B", "llama3.1-8b", "llama3_8b", true, 131072, true, false},
    {"llama3", "70B", "llama3.1-70b", "llama3_70b", true, 131072, true, false},
    {"deepseek_v3", "16B", "deepseek-v2-lite", "deepseek_v3_16b", true, 16384, false, false},
    {"deepseek_v3", "236B", "deepseek-v2", NULL, true, 16384, false, false},
    {"deepseek_v3", "671B", "deepseek-v3", "deepseek_v3_671b", true, 16384, false, false},
    {"llama4", "17bx16e", "llama4-scout", NULL, true, 1048576, true, false},
    {"llama4", "17bx128e", "llama4-maverick", NULL, true, 1048576, true, false},
    {"qwen3", "8B", "qwen3-8b", NULL, true, 40960, true, false},
    {"qwen3", "32B", "qwen3-32b", "qwen3_32b", true, 40960, true, false},
    {"qwen3", "30B-A3B", "qwen3-30b-a3b", "qwen3_30b_a3b", true, 40960, true, false},
    {"qwen3", "235B-A22B", "qwen3-235b-a22b", NULL, true, 40960, true, false},
    {"gpt_oss", "20b", "gpt-oss-20b", "gpt_oss_20b", true, 131072, false, false},
    {"gpt_oss", "120b", "gpt-oss-120b", "gpt_oss_120b", true, 131072, false, false},
    {"llama3", "1B", "llama3.2-1b", NULL, false, 131072, true, false},
    {"llama3", "3B", "llama3.2-3b", NULL, false, 131072, true, false},
};
/* clang-format on */

static bool is_on(const struct sp_settings *s, const char *name, bool otherwise)
{
    const char *const text = sp_said(s, name);
    return text ? sp_truth(text) != 0 : otherwise;
}

/* What the checks are about, as numbers. */
struct facts {
    int64_t tp, pp, cp, ep, etp, shards, copies; /* shards 0: what the others leave, not known */
    int64_t seq, tokens, step_tokens, pieces;    /* tokens of a micro-batch and of a step */
    int64_t chunks;                              /* stages by layers_per_stage; 0: not said */
    bool split, multi;                           /* sequence parallelism; a schedule of chunks */
};

static struct facts facts_of(const struct sp_settings *s, enum sp_titan version, int64_t devices,
                             const struct sp_model *model)
{
    const char *const schedule = sp_said(s, "parallelism.pipeline_parallel_schedule");
    const int64_t each = sp_said_whole(s, "parallelism.pipeline_parallel_layers_per_stage", 0),
                  first =
                      sp_said_whole(s, "parallelism.pipeline_parallel_first_stage_less_layers", 0),
                  last =
                      sp_said_whole(s, "parallelism.pipeline_parallel_last_stage_less_layers", 0);
    struct facts f = {
        .tp = sp_said_whole(s, "parallelism.tensor_parallel_degree", 1),
        .pp = sp_said_whole(s, "parallelism.pipeline_parallel_degree", 1),
        .cp = sp_said_whole(s, "parallelism.context_parallel_degree", 1),
        .ep = sp_said_whole(s, "parallelism.expert_parallel_degree", 1),
        .etp = sp_said_whole(s, "parallelism.expert_tensor_parallel_degree", 1),
        .shards = sp_said_whole(s, "parallelism.data_parallel_shard_degree", 0),
        .copies = sp_said_whole(s, "parallelism.data_parallel_replicate_degree", 1),
        .pieces = sp_said_whole(s, "parallelism.num_pp_microbatches", 1),
        .split = is_on(s, "parallelism.enable_sequence_parallel", true),
        .multi =
            schedule && strncasecmp(schedule, "1F1B", 4) != 0 && strcasecmp(schedule, "GPipe") != 0,
    };
    const int64_t model_ranks = f.tp * f.pp * f.cp * f.copies;
    if (f.shards == 0 && devices % model_ranks == 0)
        f.shards = devices / model_ranks;
    if (version == SP_TITAN_MAIN) {
        f.seq = sp_said_whole(s, "training.max_context_length", 2048);
        f.tokens = sp_said_whole(s, "training.num_tokens_per_microbatch_per_dp_rank", 0);
        f.step_tokens = sp_said_whole(s, "training.num_tokens_per_train_step", 0);
    } else {
        f.seq = sp_said_whole(s, "training.seq_len", 2048);
        f.tokens = sp_said_whole(s, "training.local_batch_size", 8) * f.seq;
        f.step_tokens = sp_said_whole(s, "training.global_batch_size", 0) * f.seq;
        f.pieces = 1;
    }
    if (model && each > 0)
        f.chunks = (model->layers + first + last + each - 1) / each;
    return f;
}

/* clang-format off */
static void check_both(const struct facts *f, const struct sp_titan_model *row, const struct sp_model *model, struct sp_refusals *refused)
{
    const int64_t region = f->shards * f->cp * f->tp, at_once = f->tokens * f->pieces * f->copies * f->shards;
    const bool latent = model && model->mla.kv_lora_rank > 0;
    const struct sp_check checks[] = {
        {region > 0 && region % f->ep != 0, "expert_parallel_degree that does not divide shards x cp x tp"},
        {at_once > 0 && f->step_tokens > 0 && f->step_tokens % at_once != 0, "a batch that is no multiple of what all replicas run at once"},
        {f->pp > 1 && f->chunks > 0 && f->chunks % f->pp != 0, "pipeline_parallel_layers_per_stage that makes no multiple of the stages"},
        {f->pp > 1 && f->chunks > 0 && !f->multi && f->chunks != f->pp, "a schedule of one chunk with pipeline_parallel_layers_per_stage that makes more"},
        {f->pp > 1 && f->chunks > 0 && f->multi && f->chunks < 2 * f->pp, "a schedule of several chunks with one on a stage"},
        {model && model->heads % f->tp != 0, "heads that tensor_parallel_degree does not divide"},
        {model && !latent && model->kv_heads % f->tp != 0, "heads of keys and values that tensor_parallel_degree does not divide"},
        {model && model->moe.experts > 0 && model->moe.experts % f->ep != 0, "experts that expert_parallel_degree does not divide"},
        {row && row->tokens > 0 && f->seq > row->tokens, "sequences longer than the model takes"},
    };
    SP_REFUSE(checks, refused);
}

static void check_main(const struct sp_settings *s, const struct facts *f, const struct sp_model *model, struct sp_refusals *refused)
{
    const bool graphs = !is_on(s, "training.disable_cuda_graphs", false);
    const int64_t parts = (f->split ? f->tp : 1) * (f->cp > 1 ? 2 * f->cp : 1);
    const struct sp_check checks[] = {
        {graphs && f->pp > 1, "CUDA graphs with stages: training.disable_cuda_graphs"},
        {graphs && f->ep > 1, "CUDA graphs with ranks of experts: training.disable_cuda_graphs"},
        {f->tokens > 0 && f->tokens % parts != 0, "tokens of a micro-batch that TP and twice CP do not divide"},
        {model && model->tied_embeddings && f->pp > 1, "tied embeddings with stages"},
    };
    SP_REFUSE(checks, refused);
}

static void check_release(const struct sp_settings *s, const struct facts *f, const struct sp_titan_model *row, struct sp_refusals *refused)
{
    const int64_t local = sp_said_whole(s, "training.local_batch_size", 8), micro = sp_said_whole(s, "parallelism.pipeline_parallel_microbatch_size", 1);
    const struct sp_check checks[] = {
        {f->seq % (f->tp * (f->cp > 1 ? 2 * f->cp : 1)) != 0, "a sequence that TP and twice CP do not divide"},
        {f->pp > 1 && local % micro != 0, "a local batch that the micro-batch does not divide"},
        {f->shards == 1 && f->cp == 1 && f->copies > 1 && f->tp * f->pp > 1, "DDP with TP or stages"},
        {f->ep > 1 && f->etp != 1 && f->etp != f->tp, "experts split otherwise than the rest"},
        {row && !row->splits_sequence && f->cp > 1, "context parallelism of a model with FlexAttention"},
    };
    SP_REFUSE(checks, refused);
}
/* clang-format on */

void sp_check_titan(const struct sp_settings *s, enum sp_titan version, int64_t devices,
                    const struct sp_titan_model *row, const struct sp_model *model,
                    struct sp_refusals *refused)
{
    const struct facts f = facts_of(s, version, devices, model);
    refused->n = 0;
    check_both(&f, row, model, refused);
    if (version == SP_TITAN_MAIN)
        check_main(s, &f, model, refused);
    else
        check_release(s, &f, row, refused);
}
