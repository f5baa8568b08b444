/* Names of the library's enum values. */
#include <stddef.h>

#include <scaleplan/names.h>

const char *const sp_dtype_names[] = {"bf16", "fp16", "tf32", "fp32", "fp8",
                                      "int8", "int4", "fp4",  "fp64", NULL};

const char *const sp_schedule_names[] = {"naive", "gpipe",    "1f1b",     "interleaved", "zb-h1",
                                         "zb-h2", "dualpipe", "circular", NULL};

const char *const sp_strategy_names[] = {"dp", "fsdp", "tp", "fsdp_tp", "pp_fsdp", "hsdp", NULL};

const char *const sp_strategy_titles[] = {"DP",   "FSDP", "TP", "FSDP+TP", "pipeline x FSDP",
                                          "HSDP", NULL};
const char *const sp_link_titles[] = {
    "ICI", "ICI (TP axis)", "scale-up network", "scale-out network", "data-centre network", NULL};

const char *const sp_overlap_names[] = {"axes", "none", NULL};

/* The policies that closed forms know come first. */
#define CLOSED_FORMS "none", "selective", "mlp", "dots", "full"
const char *const sp_verdict_names[] = {"yes", "tight", "no", NULL};
const char *const sp_remat_names[] = {CLOSED_FORMS, NULL};
const char *const sp_policy_names[] = {CLOSED_FORMS, "alternate", "qkv", "attention", NULL};

const char *const sp_module_names[] = {"core_attn", "mla_up_proj", "layernorm",      "mlp",
                                       "moe",       "moe_act",     "shared_experts", NULL};
const char *const sp_away_names[] = {"attn_norm",  "qkv_linear", "core_attn",
                                     "attn_proj",  "mlp_norm",   "mlp",
                                     "expert_fc1", "moe_act",    NULL};
const char *const sp_dispatch_names[] = {"alltoall", "deepep", "hybridep", "allgather", NULL};
const char *const sp_cuda_graph_names[] = {"none", "te", "full", "router", NULL};
const char *const sp_attention_kernel_names[] = {"flash", "unfused", "fa2", "fa3",
                                                 "cudnn", "flex",    NULL};
const char *const sp_cp_kind_names[] = {"ring", "allgather", "ulysses", "dynamic", NULL};
const char *const sp_cp_gather_names[] = {"whole", "blocks", "heads", "scheduled", NULL};
const char *const sp_dp_overlap_names[] = {"all", "gradients", "none", NULL};
const char *const sp_logits_names[] = {"unfused", "fused", "chunked", "linear", "native", NULL};
const char *const sp_fp8_recipe_names[] = {"tensorwise", "mxfp8", "blockwise", "rowwise", NULL};

const char *const sp_placement_names[] = {"dp-inside", "pp-inside", NULL};
const char *const sp_off_on[] = {"off", "on", NULL};
const char *const sp_storage_names[] = {"bf16", "fp8", "fp8_block", "int8", "nvfp4", "mxfp4",
                                        "int4", "nf4", "int4_wo",   "awq",  "gptq",  NULL};
const char *const sp_serve_objectives[] = {"throughput", "latency", "ttft", "cost", NULL};
const char *const sp_zero_names[] = {"0", "1", "2", "3", NULL};
const char *const sp_flop_conventions[] = {"full", "causal", "6p", NULL};
