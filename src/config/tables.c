/* Tables of config keys with unit, range and meaning. */
#include <scaleplan/scaleplan.h>

#include "config/field_rows.h"
#include "config/load.h"

static const char *const network_kinds[] = {"torus", "switched", NULL};
static const char *const wraps[] = {"cube", "axis16", "full_pod", "always", "never", NULL};
static const char *const counts[] = {"chips", "cores", NULL};

#define H struct sp_hardware
static const struct sp_field hardware_fields[] = {
    TEXT_("name", H, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    PROSE_("vendor", "manufacturer"),
    PROSE_("kind", "tpu, gpu or npu"),
    TEXT_("family", H, family, "chip whose calibrated profiles are used when this one has none"),
    FIGURE_("chip.peak_flops_per_s.bf16", H, chip.peak_flops_per_s[SP_BF16], "FLOP/s", 1,
            "C: dense peak of bf16 matmuls"),
    FIGURE_("chip.peak_flops_per_s.fp16", H, chip.peak_flops_per_s[SP_FP16], "FLOP/s", 1,
            "dense fp16 peak"),
    FIGURE_("chip.peak_flops_per_s.tf32", H, chip.peak_flops_per_s[SP_TF32], "FLOP/s", 1,
            "dense tf32 peak"),
    FIGURE_("chip.peak_flops_per_s.fp32", H, chip.peak_flops_per_s[SP_FP32], "FLOP/s", 1,
            "fp32 peak"),
    FIGURE_("chip.peak_flops_per_s.fp8", H, chip.peak_flops_per_s[SP_FP8], "FLOP/s", 1,
            "dense fp8 peak"),
    FIGURE_("chip.peak_flops_per_s.int8", H, chip.peak_flops_per_s[SP_INT8], "FLOP/s", 1,
            "dense int8 peak"),
    FIGURE_("chip.peak_flops_per_s.int4", H, chip.peak_flops_per_s[SP_INT4], "FLOP/s", 1,
            "dense int4 peak"),
    FIGURE_("chip.peak_flops_per_s.fp4", H, chip.peak_flops_per_s[SP_FP4], "FLOP/s", 1,
            "dense fp4 peak"),
    FIGURE_("chip.hbm_bytes", H, chip.hbm_bytes, "bytes", 1, "memory of one chip"),
    FIGURE_("chip.hbm_usable_bytes", H, chip.hbm_usable_bytes, "bytes", 1,
            "memory that the runtime grants to programs"),
    FIGURE_("chip.hbm_bytes_per_s", H, chip.hbm_bytes_per_s, "bytes/s", 1,
            "W_hbm: memory bandwidth"),
    FIGURE_("chip.vmem_bytes", H, chip.vmem_bytes, "bytes", 1, "on-chip vector memory"),
    FIGURE_("chip.vmem_bytes_per_s", H, chip.vmem_bytes_per_s, "bytes/s", 1,
            "W_vmem: its bandwidth"),
    FIGURE_("chip.l2_bytes", H, chip.l2_bytes, "bytes", 1, "L2 cache"),
    FIGURE_("chip.smem_bytes_per_sm", H, chip.smem_bytes_per_sm, "bytes", 1,
            "shared memory of one SM"),
    FIGURE_("chip.register_bytes_per_sm", H, chip.register_bytes_per_sm, "bytes", 1,
            "registers of one SM"),
    FIGURE_("chip.sms", H, chip.sms, "", 1, "streaming multiprocessors"),
    FIGURE_("chip.cores", H, chip.cores, "", 1, "TensorCores of one TPU chip"),
    FIGURE_("chip.mxus_per_core", H, chip.mxus_per_core, "", 1, "matrix units of one TensorCore"),
    FIGURE_("chip.mxu_dim", H, chip.mxu_dim, "", 1, "side of the systolic array"),
    FIGURE_("chip.cuda_cores_per_sm", H, chip.cuda_cores_per_sm, "", 1, "fp32 lanes of one SM"),
    FIGURE_("chip.tensor_cores_per_sm", H, chip.tensor_cores_per_sm, "", 1,
            "tensor cores of one SM"),
    FIGURE_("chip.vpu_lanes", H, chip.vpu_lanes, "", 1, "lanes of the vector unit"),
    FIGURE_("chip.vpu_sublanes", H, chip.vpu_sublanes, "", 1, "sublanes of the vector unit"),
    FIGURE_("chip.vpu_alus", H, chip.vpu_alus, "", 1, "ALUs per lane and sublane"),
    FIGURE_("chip.clock_hz", H, chip.clock_hz, "Hz", 1, "base clock"),
    FIGURE_("chip.boost_clock_hz", H, chip.boost_clock_hz, "Hz", 1, "boost clock"),
    FIGURE_("chip.tensor_clock_hz", H, chip.tensor_clock_hz, "Hz", 1,
            "clock that the tensor peak is taken at (default: boost)"),
    FIGURE_("chip.nvlink_ports", H, chip.nvlink_ports, "", 1, "NVLink ports of one GPU"),
    FIGURE_("chip.nvlink_port_bytes_per_s", H, chip.nvlink_port_bytes_per_s, "bytes/s", 1,
            "one NVLink port, one way"),
    FIGURE_("chip.pcie_bytes_per_s", H, chip.pcie_bytes_per_s, "bytes/s", 1,
            "W_pcie: PCIe to the host, one way"),
    FIGURE_("chip.c2c_bytes_per_s", H, chip.c2c_bytes_per_s, "bytes/s", 1,
            "coherent link to the host's processor, one way (NVLink-C2C); offload takes it"),
    FIGURE_("chip.tdp_w", H, chip.tdp_w, "W", 0, "power of one chip"),
    FIGURE_("chip.price_usd_per_h", H, chip.price_usd_per_h, "USD/h", 0, "list price of one chip"),
    INT_("chip.price_year", H, chip.price_year, "", 1990, 2100, "year of the list price"),
    TEXT_("chip.price_source", H, chip.price_source, "whose list price it is"),
    ENUM_("network.kind", H, network.kind, network_kinds, 0, "torus or switched"),
    INT_("network.axes", H, network.axes, "", 1, SP_MAX_AXES, "axes of the torus"),
    FIGURE_("network.link_bytes_per_s", H, network.link_bytes_per_s, "bytes/s", 1,
            "w: one torus link, one way"),
    /* Unpublished latencies and hops have their assumed values here; a file can override them with
     * a source. */
    ASSUMED_("network.send_latency_s", H, network.send_latency_s, "s", 0, 5e-6,
             "latency of a send between pipeline stages"),
    FIGURE_("network.hop_latency_s", H, network.hop_latency_s, "s", 0, "T_min: one hop"),
    ASSUMED_("network.most_hops", H, network.most_hops, "", 1, 64,
             "hops of a collective one after the other: longer rings are folded over several axes"),
    ENUM_("network.wrap", H, network.wrap, wraps, SP_WRAP_NEVER, "when axes close into rings"),
    INT_("network.jax_devices_per_chip", H, network.jax_devices_per_chip, "", 1, 1024,
         "devices that JAX counts per chip (default: 1)"),
    INT_("network.chips_per_host", H, network.chips_per_host, "", 1, 1024, "chips of one host"),
    FIGURE_("network.dcn_bytes_per_s_per_host", H, network.dcn_bytes_per_s_per_host, "bytes/s", 1,
            "egress of one host into the data-centre network"),
    SHAPE_("network.pod_shape", H, network.pod_shape, "the whole pod"),
    {"network.shapes", SP_FIELD_SHAPES, offsetof(H, network.shapes), 0, "", 0, 0, NULL, 0, false,
     "slices on offer"},
    TEXT_("network.cloud_name", H, network.cloud_name, "prefix of the cloud's slice names"),
    ENUM_("network.cloud_counts", H, network.cloud_counts_cores, counts, 0,
          "what the number in the cloud's names counts"),
    INT_("network.domain", H, network.domain, "", 1, 100000, "devices of one scale-up domain"),
    FIGURE_("network.domain_bytes_per_s", H, network.domain_bytes_per_s, "bytes/s", 1,
            "W_gpu: egress of one device inside its domain"),
    INT_("network.domain_links", H, network.domain_links, "", 1, 100000,
         "others of its domain that a device has a link of its own to, each as wide, where no "
         "switches stand between"),
    FIGURE_("network.scaleout_bytes_per_s", H, network.scaleout_bytes_per_s, "bytes/s", 1,
            "egress of one device beyond its domain"),
    ASSUMED_("network.domain_latency_s", H, network.domain_latency_s, "s", 0, 3e-6,
             "one step of a ring inside a domain"),
    ASSUMED_("network.scaleout_latency_s", H, network.scaleout_latency_s, "s", 0, 5e-6,
             "one step of a ring of domains"),
    FIGURE_("network.host_memory_bytes", H, network.host_memory_bytes, "bytes", 1,
            "memory of one host, for what its devices offload"),
    INT_("network.devices_per_host", H, network.devices_per_host, "", 1, 100000,
         "devices of one host, where a domain spans several"),
    INT_("network.domain_part", H, network.domain_part, "", 1, 100000,
         "devices per domain that a job uses if it does not fill whole domains"),
    FIGURE_("network.domain_switches", H, network.domain_switches, "", 1,
            "switches inside one scale-up domain"),
    FIGURE_("network.domain_switch_ports", H, network.domain_switch_ports, "", 2,
            "ports of a switch inside a domain, each as wide as a device's"),
    TEXT_("network.scaleout", H, network.scaleout_name, "name of the scale-out network"),
    FIGURE_("network.fabric.nodes_per_su", H, network.fabric.nodes_per_su, "", 1,
            "nodes of a scalable unit"),
    FIGURE_("network.fabric.leafs_per_su", H, network.fabric.leafs_per_su, "", 1,
            "leaf switches of a scalable unit"),
    FIGURE_("network.fabric.links_per_node", H, network.fabric.links_per_node, "", 1,
            "cables from a node to its leaves"),
    FIGURE_("network.fabric.switch_ports", H, network.fabric.switch_ports, "", 2,
            "ports of a leaf, spine or core switch"),
    FIGURE_("network.fabric.link_bytes_per_s", H, network.fabric.link_bytes_per_s, "bytes/s", 1,
            "one cable of the fabric, one way"),
    PROSE_("sources", "where the figures come from"),
    PROSE_("conflicts", "where sources disagree, and the choice"),
    PROSE_("note", "remarks"),
};
#undef H
const struct sp_field_table sp_hardware_table = {"hw", hardware_fields, N_FIELDS(hardware_fields),
                                                 NULL};

/* Values outside these ranges are usually a wrong unit: TFLOP/s for FLOP/s, GB for bytes. */
const struct sp_likely sp_likely_hardware[] = {
    {"chip.peak_flops_per_s.bf16", 1e12, 1e18},
    {"chip.peak_flops_per_s.fp16", 1e12, 1e18},
    {"chip.peak_flops_per_s.tf32", 1e12, 1e18},
    {"chip.peak_flops_per_s.fp32", 1e11, 1e18},
    {"chip.peak_flops_per_s.fp8", 1e12, 1e18},
    {"chip.peak_flops_per_s.int8", 1e12, 1e18},
    {"chip.peak_flops_per_s.int4", 1e12, 1e18},
    {"chip.peak_flops_per_s.fp4", 1e12, 1e18},
    {"chip.hbm_bytes", 1e9, 1e13},
    {"chip.hbm_usable_bytes", 1e9, 1e13},
    {"chip.hbm_bytes_per_s", 1e10, 1e15},
    {"chip.pcie_bytes_per_s", 1e8, 1e13},
    {"chip.c2c_bytes_per_s", 1e8, 1e13},
    {"network.link_bytes_per_s", 1e8, 1e13},
    {"network.domain_bytes_per_s", 1e8, 1e14},
    {"network.scaleout_bytes_per_s", 1e6, 1e13},
    {NULL, 0, 0},
};

#define R struct sp_precision
static const struct sp_field precision_fields[] = {
    TEXT_("name", R, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    REAL_("weight_bytes", R, weight_bytes, "bytes", 0, 64, "weights, per parameter"),
    REAL_("grad_bytes", R, grad_bytes, "bytes", 0, 64, "gradients, with any fp32 accumulation"),
    REAL_("master_bytes", R, master_bytes, "bytes", 0, 64, "fp32 master copy"),
    REAL_("optimizer_bytes", R, optimizer_bytes, "bytes", 0, 64, "optimizer moments"),
    REAL_("newton_schulz", R, newton_schulz, "", 0, 100,
          "iterations that make the update of a matrix orthogonal (Muon: 5)"),
    ENUM_("compute_dtype", R, compute_dtype, sp_dtype_names, SP_BF16, "format of the matmuls"),
    PROSE_("source", "where the recipe comes from"),
    PROSE_("note", "remarks"),
};
#undef R
const struct sp_field_table sp_precision_table = {"precision", precision_fields,
                                                  N_FIELDS(precision_fields), NULL};

#define S struct sp_scaling_law
/* A constant of a law; NAN if the law does not have it. */
#define CONSTANT_(key, member, unit, min, max, help)                                               \
    {                                                                                              \
        key, SP_FIELD_REAL, offsetof(S, member), 0, unit, min, max, NULL, NAN, false, help         \
    }
static const char *const rules[] = {"minimum", "ratio", "params_power", "tokens_power", NULL};
static const char *const forms[] = {"sum", "kaplan", "none", NULL};
static const struct sp_field law_fields[] = {
    TEXT_("name", S, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    BOOL_("without_embedding", S, without_embedding, "parameters leave the embedding out"),
    ENUM_("optimum.rule", S, rule, rules, SP_RULE_MINIMUM,
          "minimum of the loss, a ratio of tokens to parameters, or a power law of the budget"),
    CONSTANT_("optimum.tokens_per_param", tokens_per_param, "", 1e-6, 1e9, "tokens per parameter"),
    CONSTANT_("optimum.coefficient", coefficient, "", 1e-30, 1e30,
              "parameters or tokens at a budget of unit_flops"),
    CONSTANT_("optimum.exponent", exponent, "", 0.01, 0.99, "how they grow with the budget"),
    {"optimum.unit_flops", SP_FIELD_REAL, offsetof(S, unit_flops), 0, "FLOPs", 1, 1e30, NULL, 1,
     false, "budget that the coefficient is for"},
    ENUM_("loss.form", S, form, forms, SP_FORM_NONE,
          "sum: E + A/N^alpha + B/D^beta; kaplan: ((N_c/N)^(alpha/beta) + D_c/D)^beta"),
    CONSTANT_("loss.E", E, "nats", 0, 100, "irreducible loss"),
    CONSTANT_("loss.A", A, "", 1e-9, 1e18, "scale of the parameters' term"),
    CONSTANT_("loss.B", B, "", 1e-9, 1e18, "scale of the tokens' term"),
    CONSTANT_("loss.alpha", alpha, "", 0.01, 2, "exponent of the parameters"),
    CONSTANT_("loss.beta", beta, "", 0.01, 2, "exponent of the tokens"),
    CONSTANT_("loss.N_c", N_c, "parameters", 1, 1e30, "scale of the parameters' term"),
    CONSTANT_("loss.D_c", D_c, "tokens", 1, 1e30, "scale of the tokens' term"),
    PROSE_("source", "where the law comes from"),
    PROSE_("note", "remarks"),
};
#undef S
const struct sp_field_table sp_law_table = {"law", law_fields, N_FIELDS(law_fields), NULL};

#define K struct sp_framework_file
static const char *const micro_batches[] = {"share", "one", "stages", NULL};
static const char *const balances[] = {"even", "cost", NULL};
static const struct sp_field framework_fields[] = {
    TEXT_("name", K, framework.name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    TEXT_("precision", K, framework.precision, "recipe of its training state"),
    TEXT_("fp8_precision", K, framework.fp8_precision,
          "recipe that `fp8` means under this framework; empty: the recipe fp8"),
    TEXT_("marks", K, marks,
          "words in a run's source that identify the framework, comma-separated"),
    TEXT_("family", K, framework.family,
          "frameworks of one family lend each other calibrated constants"),
    TEXT_(
        "overlap", K, framework.overlap,
        "how its collectives run behind matmuls, such as fsdp2: frameworks that do it alike share "
        "the constants of that; empty: its family"),
    TEXT_(
        "serves", K, serves,
        "runs that are taken for this framework when nothing identifies theirs: gpu, zero3 or tpu"),
    TEXT_("selective", K, selective, "the policy that it calls selective recomputation"),
    TEXT_("schedules", K, schedules,
          "pipeline schedules it supports, comma-separated; none: no pipelines; empty: any"),
    TEXT_("recompute", K, recompute, "recompute policies it supports; empty: any"),
    TEXT_("zero", K, zero, "ZeRO stages it supports; empty: any"),
    TEXT_("dispatchers", K, dispatchers,
          "how it can send tokens to their experts, comma-separated; empty: any"),
    BOOL_("can_overlap_moe", K, can_overlap_moe,
          "it can hide the experts' exchange behind another micro-batch's work"),
    {"usual_zero", SP_FIELD_INT, offsetof(K, framework.usual_zero), 0, "", 0, 3, NULL, -1, false,
     "ZeRO stage of a run that states none (default: 3 where layers are gathered, else 1)"},
    {"usual_sequence_parallel", SP_FIELD_BOOL, offsetof(K, usual_sequence_parallel), 0, "", 0, 1,
     NULL, 1, false, "sequence parallelism with TP, of a run that states nothing; without it yes"},
    ENUM_("usual_micro_batch", K, usual_micro_batch, micro_batches, SP_MICRO_SHARE,
          "micro-batch of a run with stages that states none: a replica's share of the batch, one "
          "sequence, or the share over the stages"),
    BOOL_("offload", K, offload, "it can keep activations in the host's memory"),
    ENUM_("balance", K, framework.balance, balances, SP_BALANCE_EVEN,
          "layers of pipeline stages: even, or by their weights with the head's (cost)"),
    REAL_("mlp_copies", K, framework.mlp_copies, "", 0, 8,
          "d_ff-wide tensors of a gated MLP kept beyond gate, up and product"),
    REAL_("norm_copies", K, framework.norm_copies, "", 0, 8,
          "2-byte copies of its input that each RMSNorm keeps beyond that: in fp32, not fused"),
    BOOL_("packs_head", K, framework.packs_head, "base weights in fewer bits include the head"),
    REAL_("widened_copies", K, framework.widened_copies, "", 0, 8,
          "16-bit copies of a packed matmul's weights that exist at the same time while it runs; "
          "0: one"),
    BOOL_("keeps_frozen_inputs", K, framework.keeps_frozen_inputs,
          "inputs of frozen matmuls are kept, though no gradient needs them"),
    REAL_("qkv_copies", K, framework.qkv_copies, "", 0, 8, "further copies of q, k and v kept"),
    BOOL_("keeps_gathered", K, framework.keeps_gathered,
          "gathered inputs of tensor-parallel matmuls are kept whole"),
    BOOL_("ring_attention", K, framework.ring_attention,
          "context parallelism passes keys and values on instead of exchanging heads"),
    BOOL_("stops_early", K, framework.stops_early,
          "recomputing a block ends before its last matmul, whose output nothing needs"),
    BOOL_("overlaps_tp", K, framework.overlaps_tp,
          "tensor-parallel collectives hide behind matmuls, but for the profile's tp_exposed"),
    BOOL_("overlaps_sends", K, framework.overlaps_sends,
          "sends between stages hide behind other chunks where a stage has several"),
    BOOL_("fp8_gathers", K, framework.fp8_gathers,
          "weights that matmuls take in 8 bits are gathered in 8 bits"),
    REAL_("attention", K, framework.attention, "", 0, 1,
          "share of the 16-bit peak that its attention kernel is published with"),
    BOOL_("ampere_attention", K, framework.ampere_attention,
          "that share is the A100's, and falls with the square root of faster peaks"),
    REAL_("logit_bytes", K, framework.logit_bytes, "bytes", 0, 64,
          "bytes live per logit in the loss"),
    REAL_("workspace_bytes", K, framework.workspace_bytes, "bytes", 0, 1e10,
          "workspaces of its matmul libraries"),
    REAL_("expert_workspace_bytes", K, framework.expert_workspace_bytes, "bytes", 0, 1e10,
          "workspaces of its grouped matmuls of experts, beside those"),
    REAL_("split_logit_bytes", K, framework.split_logit_bytes, "bytes", 0, 64,
          "the same where tensor parallelism splits the vocabulary; 0: logit_bytes"),
    BOOL_("dummy_wgrads", K, framework.dummy_wgrads, "one weight-gradient buffer per weight shape"),
    REAL_("memory_passes", K, framework.memory_passes, "", 0, 10,
          "memory traffic of its elementwise kernels over what fully fused ones need; 0: not "
          "counted"),
    REAL_("layer_operations", K, framework.layer_operations, "", 0, 1000,
          "operations that the host issues for a layer's forward pass; 0: not counted"),
    REAL_("gathered_layers", K, framework.gathered_layers, "", 0, 64,
          "FSDP: unsharded layers at once"),
    REAL_("gathered_grads", K, framework.gathered_grads, "", 0, 64,
          "FSDP: layers with unsharded 4-byte gradients at once"),
    BOOL_("flat_gradients", K, framework.flat_gradients,
          "FSDP with a layer's weights in one tensor: while micro-batches add up, gradients of all "
          "of "
          "it are kept whole, frozen weights' with them"),
    BOOL_("keeps_stages_whole", K, framework.keeps_stages_whole,
          "FSDP with stages: weights are gathered once a step, and gradients stay whole in 4 bytes "
          "until the last micro-batch"),
    {"capacity_factor", SP_FIELD_REAL, offsetof(K, framework.capacity_factor), 0, "", 1, 10, NULL,
     1, false, "work of the experts over that of the tokens sent to them"},
    {"reserved_factor", SP_FIELD_REAL, offsetof(K, framework.reserved_factor), 0, "", 1, 2, NULL, 1,
     false, "allocator: reserved over live bytes"},
    {"memory_residual", SP_FIELD_REAL, offsetof(K, framework.memory_residual), 0, "", 0, 2, NULL,
     0.1, false, "standard deviation of ln(predicted / measured) of peak memory"},
    REAL_("context_bytes", K, framework.context_bytes, "bytes", 0, 1e11,
          "runtime context and communicators beyond reserved"),
    REAL_("broadcast_tensors", K, framework.broadcast_tensors, "", 0, 1000,
          "tensors of a layer that ranks own whole and send to all others after an update, one "
          "broadcast each; 0: weights are gathered"),
    {"bucket_bytes", SP_FIELD_REAL, offsetof(K, framework.bucket_bytes), 0, "bytes", 1, 1e15, NULL,
     26214400, false,
     "gradients reduced at once during the backward pass (default: 25 MiB, PyTorch's)"},
    BOOL_("keeps_gradients", K, framework.keeps_gradients,
          "the memory of the gradients is allocated once and kept after an update"),
    BOOL_("early_optimizer", K, framework.early_optimizer,
          "the optimizer's moments are allocated before the first step, not in its update"),
    BOOL_("fp8_dispatch", K, framework.fp8_dispatch,
          "8-bit runs send tokens to their experts in one byte per element"),
    ENUM_("dispatch", K, framework.execution.dispatch, sp_dispatch_names, SP_DISPATCH_ALLTOALL,
          "how tokens reach their experts"),
    BOOL_("moe_overlap", K, framework.execution.moe_overlap,
          "the experts' exchange hides behind another micro-batch's work"),
    ENUM_("cuda_graph", K, framework.execution.cuda_graph, sp_cuda_graph_names, SP_CUDA_GRAPH_NONE,
          "what CUDA graphs capture: none, layers (te), the whole iteration (full)"),
    ENUM_("fp8_recipe", K, framework.execution.fp8_recipe, sp_fp8_recipe_names, SP_FP8_TENSORWISE,
          "how 8-bit matmuls are scaled"),
    ENUM_("attention_kernel", K, framework.execution.attention_kernel, sp_attention_kernel_names,
          SP_KERNEL_FLASH, "how attention's scores are worked on: flash, or unfused in memory"),
    ENUM_("logits", K, framework.execution.logits, sp_logits_names, SP_LOGITS_UNFUSED,
          "what of the logits is in memory at once: all in logit_bytes (unfused), in 2 bytes "
          "(fused), an eighth of the tokens (chunked), of a few (linear)"),
    REAL_("dropout", K, framework.execution.dropout, "", 0, 0.99,
          "probability of dropout, of scores and of what each block adds"),
    PROSE_("source", "where the facts come from"),
    PROSE_("note", "remarks"),
};
#undef K
const struct sp_field_table sp_framework_table = {"framework", framework_fields,
                                                  N_FIELDS(framework_fields), NULL};

#define F struct sp_profile
#define FITTED_(at, key, unit, of, gpu, tpu, spread, low, high, meaning)                           \
    {"constants." key ".value",                                                                    \
     SP_FIELD_REAL,                                                                                \
     offsetof(F, value[at]),                                                                       \
     0,                                                                                            \
     unit,                                                                                         \
     low,                                                                                          \
     high,                                                                                         \
     NULL,                                                                                         \
     gpu,                                                                                          \
     false,                                                                                        \
     meaning},                                                                                     \
        {"constants." key ".expected",                                                             \
         SP_FIELD_REAL,                                                                            \
         offsetof(F, expected[at]),                                                                \
         0,                                                                                        \
         unit,                                                                                     \
         low,                                                                                      \
         high,                                                                                     \
         NULL,                                                                                     \
         gpu,                                                                                      \
         false,                                                                                    \
         "its expected value before any run is seen"},                                             \
        {"constants." key ".determined",                                                           \
         SP_FIELD_REAL,                                                                            \
         offsetof(F, determined[at]),                                                              \
         0,                                                                                        \
         "",                                                                                       \
         0,                                                                                        \
         1,                                                                                        \
         NULL,                                                                                     \
         0,                                                                                        \
         false,                                                                                    \
         "share of the value that runs determined"},
#define SP_CONSTANT(id, ...) FITTED_(SP_C_##id, __VA_ARGS__)
static const struct sp_field profile_fields[] = {
    TEXT_("name", F, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    TEXT_("chip", F, chip, "chip that it was fitted on"),
    TEXT_("framework", F, framework, "framework that it was fitted on"),
    ENUM_("network", F, kind, network_kinds, SP_SWITCHED,
          "kind of its machines: torus or switched"),
    TEXT_("chip_family", F, chip_family, "chips that lend each other constants"),
    TEXT_("software_family", F, software_family, "frameworks that lend each other constants"),
    TEXT_("overlap_family", F, overlap_family,
          "frameworks that overlap collectives alike and lend each other the constants of that; "
          "empty: software_family"),
#include <scaleplan/profile_constants.def>
    REAL_("residual", F, residual, "", 0, 10,
          "standard deviation of ln(predicted / measured) on runs left out: 80 % lie within 1.2816 "
          "of it"),
    {"memory_factor", SP_FIELD_REAL, offsetof(F, memory_factor), 0, "", SP_MEMORY_FACTOR_MIN,
     SP_MEMORY_FACTOR_MAX, NULL, 1, false,
     "reserved memory over the estimate by the framework's file"},
    {"machine_factor", SP_FIELD_REAL, offsetof(F, machine_factor), 0, "", SP_MACHINE_FACTOR_MIN,
     SP_MACHINE_FACTOR_MAX, NULL, 1, false, "times on this machine over those by the constants"},
    TEXT_("date", F, date, "day of the fit, such as 2026-11-22"),
    PROSE_("fitted_to", "the runs behind it"),
    PROSE_("at_bound", "constants that the fit left at a bound"),
    PROSE_("source", "where the figures come from"),
    PROSE_("note", "remarks"),
};
#undef SP_CONSTANT
const struct sp_field_table sp_profile_table = {"profile", profile_fields, N_FIELDS(profile_fields),
                                                NULL};

#define SP_CONSTANT(id, ...) FITTED_(SP_V_##id, __VA_ARGS__)
static const struct sp_field serving_fields[] = {
    TEXT_("name", F, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    TEXT_("chip", F, chip, "chip that it was fitted on"),
    TEXT_("engine", F, framework, "engine that it was fitted on"),
    ENUM_("network", F, kind, network_kinds, SP_SWITCHED,
          "kind of its machines: torus or switched"),
    TEXT_("chip_family", F, chip_family, "chips that lend each other constants"),
    TEXT_("software_family", F, software_family, "engines that lend each other constants"),
#include <scaleplan/serving_constants.def>
    REAL_("residual", F, residual, "", 0, 10,
          "standard deviation of ln(predicted / measured) on runs left out: 80 % lie within 1.2816 "
          "of it"),
    TEXT_("date", F, date, "day of the fit, such as 2026-11-22"),
    PROSE_("fitted_to", "the runs behind it"),
    PROSE_("at_bound", "constants that the fit left at a bound"),
    PROSE_("source", "where the figures come from"),
    PROSE_("note", "remarks"),
};
#undef SP_CONSTANT
#undef FITTED_
#undef F
const struct sp_field_table sp_serving_table = {"serving", serving_fields, N_FIELDS(serving_fields),
                                                NULL};

#define KERNEL_(key, member, unit, min, max, fallback, help)                                       \
    {                                                                                              \
        key, SP_FIELD_REAL, offsetof(struct sp_kernels, member), 0, unit, min, max, NULL,          \
            fallback, false, help                                                                  \
    }
/* Fields common to all curves: a share (without it there is no curve), and its measurements. */
#define CURVE_(key, share, rows, residual, of)                                                     \
    KERNEL_(key ".share", share, "", 1e-3, 1, NAN, of),                                            \
        KERNEL_(key ".rows", rows, "", 0, 1e9, 0, "measurements behind the curve"),                \
        KERNEL_(key ".residual", residual, "", 0, 10, 0,                                           \
                "mean of |ln(curve / measured)| over their shapes")
#define MATMUL_(format, id)                                                                        \
    CURVE_("matmul." format, matmul[id].share, matmul[id].rows, matmul[id].residual,               \
           "share of the " format " peak that large matmuls reach"),                               \
        KERNEL_("matmul." format ".memory_share", matmul[id].memory_share, "", 1e-3, 1, 1,         \
                "share of the memory bandwidth that memory-bound matmuls reach"),                  \
        KERNEL_("matmul." format ".launch_s", matmul[id].launch_s, "s", 0, 1, 0,                   \
                "before any work"),                                                                \
        KERNEL_("matmul." format ".half_tile", matmul[id].half_tile, "", 0, 1e4, 0,                \
                "mean number of elements by which a side is rounded up"),                          \
        KERNEL_("matmul." format ".cast_bytes", matmul[id].cast_bytes, "bytes", 0, 1e3, 0,         \
                "bytes moved per element of the 16-bit input to convert it to the format")
#define ATTENTION_(format, id)                                                                     \
    CURVE_("attention." format, attention[id].share, attention[id].rows, attention[id].residual,   \
           "share of the " format " peak that causal attention reaches, forward"),                 \
        KERNEL_("attention." format ".launch_s", attention[id].launch_s, "s", 0, 1, 0,             \
                "before any work"),                                                                \
        KERNEL_("attention." format ".fill_queries", attention[id].fill_queries, "", 0, 1e9, 0,    \
                "queries, over all heads, that run last with nothing beside them"),                \
        KERNEL_("attention." format ".edge_keys", attention[id].edge_keys, "tokens", 0, 1e6, 0,    \
                "keys that a query costs in addition to those it attends to")
#define COLLECTIVE_(op, id)                                                                        \
    CURVE_("collectives." op, collective[id].share, collective[id].rows, collective[id].residual,  \
           "share of the link rate inside a domain that long messages reach"),                     \
        KERNEL_("collectives." op ".low_share", collective[id].low_share, "", 1e-3, 1, NAN,        \
                "share of the link rate that the protocol for short messages reaches"),            \
        KERNEL_("collectives." op ".own_share", collective[id].own_share, "", 0, 1, 0,             \
                "time for a rank's own part over that for a part from another rank"),              \
        KERNEL_("collectives." op ".latency_s", collective[id].latency_s, "s", 0, 1, 0,            \
                "latency for any number of ranks"),                                                \
        KERNEL_("collectives." op ".rank_latency_s", collective[id].rank_latency_s, "s", 0, 1, 0,  \
                "latency added by each rank beyond the first"),                                    \
        KERNEL_("collectives." op ".floor_s", collective[id].floor_s, "s", 0, 1, 0,                \
                "least time per rank of the protocol for long messages")
static const struct sp_field kernels_fields[] = {
    TEXT_("name", struct sp_kernels, name, "chip that was measured"),
    PROSE_("aliases", "other names people type"),
    MATMUL_("bf16", SP_KERNEL_BF16),
    MATMUL_("fp8", SP_KERNEL_FP8),
    MATMUL_("fp8_block", SP_KERNEL_FP8_BLOCK),
    MATMUL_("nvfp4", SP_KERNEL_NVFP4),
    ATTENTION_("bf16", SP_KERNEL_BF16),
    ATTENTION_("fp8", SP_KERNEL_FP8),
    COLLECTIVE_("all_gather", SP_ALL_GATHER),
    COLLECTIVE_("reduce_scatter", SP_REDUCE_SCATTER),
    COLLECTIVE_("all_reduce", SP_ALL_REDUCE),
    COLLECTIVE_("all_to_all", SP_ALL_TO_ALL),
    PROSE_("source", "where the measurements come from"),
    PROSE_("note", "remarks"),
};
const struct sp_field_table sp_kernels_table = {"kernels", kernels_fields, N_FIELDS(kernels_fields),
                                                NULL};

#define E struct sp_engine
static const struct sp_field engine_fields[] = {
    TEXT_("name", E, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    {"memory_fraction", SP_FIELD_REAL, offsetof(E, memory_fraction), 0, "", 0.01, 1, NULL, 1, false,
     "share of a chip's memory for weights and cache"},
    BOOL_("fraction_of_free", E, of_free,
          "the share applies to the memory that the weights leave, and is for the cache only"),
    {"block_tokens", SP_FIELD_REAL, offsetof(E, block_tokens), 0, "tokens", 1, 1e6, NULL, 1, false,
     "tokens per block of the cache"},
    {"chunk_tokens", SP_FIELD_REAL, offsetof(E, chunk_tokens), 0, "tokens", 1, 1e9, NULL, 0, false,
     "most prompt tokens per step; left out: the whole prompt"},
    BOOL_("reserves_answer", E, reserves_answer,
          "memory for a request's whole answer is reserved before it starts; else it grows"),
    BOOL_("narrow_cache", E, narrow_cache,
          "the cache is in fp8 where weights are of 8 bits or fewer"),
    PROSE_("source", "where the defaults come from"),
    PROSE_("note", "remarks"),
};
#undef E
const struct sp_field_table sp_engine_table = {"engine", engine_fields, N_FIELDS(engine_fields),
                                               NULL};

#define T struct sp_trend_file
static const struct sp_field trend_fields[] = {
    TEXT_("name", T, trend.name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    TEXT_("unit", T, trend.unit, "what grows"),
    {"factor", SP_FIELD_REAL, offsetof(T, trend.factor), 0, "", 1e-9, 1e9, NULL, 0, true,
     "growth factor over `years`; below 1: it falls"},
    {"years", SP_FIELD_REAL, offsetof(T, trend.years), 0, "years", 0.01, 1000, NULL, 1, false,
     "years that growth by `factor` takes"},
    {"years_low", SP_FIELD_REAL, offsetof(T, trend.years_low), 0, "years", 0.01, 1000, NULL, NAN,
     false, "lower end of the published range of that time"},
    {"years_high", SP_FIELD_REAL, offsetof(T, trend.years_high), 0, "years", 0.01, 1000, NULL, NAN,
     false, "its upper end"},
    INT_("first_year", T, trend.first_year, "", 1800, 2200, "first year of the observations"),
    INT_("last_year", T, trend.last_year, "", 1800, 2200, "until when"),
    TEXT_("points", T, points, "figures of some years, \"NAME YEAR VALUE, NAME YEAR VALUE\""),
    PROSE_("source", "where the rate and the figures come from"),
    PROSE_("note", "remarks"),
};
#undef T
const struct sp_field_table sp_trend_table = {"trend", trend_fields, N_FIELDS(trend_fields), NULL};

#define X struct sp_number_format
static const char *const specials[] = {"ieee", "nan", "none", NULL};
static const struct sp_field number_format_fields[] = {
    TEXT_("name", X, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    {"bits", SP_FIELD_INT, offsetof(X, bits), 0, "", 1, 1024, NULL, 0, true,
     "bits per stored element"},
    INT_("exponent_bits", X, exponent_bits, "", 0, 11, "bits of the exponent; 0: an integer"),
    {"mantissa_bits", SP_FIELD_INT, offsetof(X, mantissa_bits), 0, "", 0, 52, NULL, 0, true,
     "bits of the mantissa behind its leading one; of an integer all but the sign"},
    ENUM_("specials", X, specials, specials, SP_SPECIALS_IEEE,
          "what the largest exponent stands for: infinities and NaN (ieee), one NaN (nan) or "
          "numbers (none)"),
    INT_("block", X, block, "", 0, 1000000000, "elements that share a scale"),
    INT_("scale_bits", X, scale_bits, "", 0, 1024, "bits of that scale"),
    PROSE_("source", "where the format comes from"),
    PROSE_("note", "remarks"),
};
#undef X
const struct sp_field_table sp_number_format_table = {"format", number_format_fields,
                                                      N_FIELDS(number_format_fields), NULL};

#define D struct sp_drive
#define RATE_(key, member, unit, help)                                                             \
    {                                                                                              \
        key, SP_FIELD_REAL, offsetof(D, member), 0, unit, 1, MOST, NULL, NAN, true, help           \
    }
static const struct sp_field storage_fields[] = {
    TEXT_("name", D, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    RATE_("read_bytes_per_s", read_bytes_per_s, "bytes/s", "long reads of one drive"),
    RATE_("write_bytes_per_s", write_bytes_per_s, "bytes/s", "long writes of one drive"),
    RATE_("capacity_bytes", capacity_bytes, "bytes", "of one drive"),
    FIGURE_("endurance_bytes", D, endurance_bytes, "bytes", 1,
            "bytes that can be written to one drive before it wears out"),
    PROSE_("source", "where the figures come from"),
    PROSE_("note", "remarks"),
};
#undef RATE_
#undef D
const struct sp_field_table sp_drive_table = {"storage", storage_fields, N_FIELDS(storage_fields),
                                              NULL};
