/* MaxText's names of what a plan and a model have. */
#include "launch/maxtext.h"

const char *const sp_maxtext_models[][2] = {
    {"llama2-7b", "llama2-7b"},
    {"llama2-13b", "llama2-13b"},
    {"llama2-70b", "llama2-70b"},
    {"llama3-8b", "llama3-8b"},
    {"llama3-70b", "llama3-70b"},
    {"llama3.1-8b", "llama3.1-8b"},
    {"llama3.1-70b", "llama3.1-70b"},
    {"llama3-405b", "llama3.1-405b"},
    {"llama4-scout", "llama4-17b-16e"},
    {"llama4-maverick", "llama4-17b-128e"},
    {"mistral-7b", "mistral-7b"},
    {"mixtral-8x7b", "mixtral-8x7b"},
    {"mixtral-8x22b", "mixtral-8x22b"},
    {"deepseek-v3", "deepseek3-671b"},
    {"deepseek-v2", "deepseek2-236b"},
    {"deepseek-v2-lite", "deepseek2-16b"},
    {"kimi-k2", "kimi-k2-1t"},
    {"gemma-2b", "gemma-2b"},
    {"gemma-7b", "gemma-7b"},
    {"gemma2-2b", "gemma2-2b"},
    {"gemma2-9b", "gemma2-9b"},
    {"gemma2-27b", "gemma2-27b"},
    {"gemma3-27b", "gemma3-27b"},
    {"qwen3-8b", "qwen3-8b"},
    {"qwen3-32b", "qwen3-32b"},
    {"qwen3-30b-a3b", "qwen3-30b-a3b"},
    {"qwen3-235b-a22b", "qwen3-235b-a22b"},
    {"gpt-oss-20b", "gpt-oss-20b"},
    {"gpt-oss-120b", "gpt-oss-120b"},
    {"gpt3-175b", "gpt3-175b"},
};
const struct sp_maxtext_dimension sp_maxtext_dimensions[] = {
    {"base_num_decoder_layers", "layers", offsetof(struct sp_model, layers), 16},
    {"base_emb_dim", "d_model", offsetof(struct sp_model, d_model), 2048},
    {"base_mlp_dim", "d_ff", offsetof(struct sp_model, d_ff), 7168},
    {"base_num_query_heads", "heads", offsetof(struct sp_model, heads), 16},
    {"base_num_kv_heads", "kv_heads", offsetof(struct sp_model, kv_heads), 16},
    {"head_dim", "head_dim", offsetof(struct sp_model, head_dim), 128},
    {"vocab_size", "vocab", offsetof(struct sp_model, vocab), 32000},
};
const struct sp_maxtext_policy sp_maxtext_policies[] = {
    {"full", "full", false, true},
    {"minimal", "dots", false, true},
    {"minimal_with_context", "none", false, true},
    {"minimal_offloaded", "dots", true, true},
    {"save_qkv_proj", "qkv", false, true},
    {"qkv_proj_offloaded", "qkv", true, true},
    {"save_dot_except_mlp", "mlp", false, true},
    {"save_dot_with_context_except_mlp", "mlp", false, false},
    {"save_dot_except_mlpwi", "mlp", false, false},
    {"save_out_proj", "full", false, false},
    {"custom", "full", false, false},
};
int64_t sp_jax_devices_of(const struct sp_hardware *hw)
{
    return hw->network.jax_devices_per_chip > 0 ? hw->network.jax_devices_per_chip : 1;
}
