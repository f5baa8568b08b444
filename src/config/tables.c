/* Tables of config keys with unit, range and meaning. */
#include <scaleplan/scaleplan.h>

#include "config/field_rows.h"
#include "config/load.h"

const char *const sp_network_kinds[] = {"torus", "switched", NULL};
static const char *const wraps[] = {"cube", "axis16", "full_pod", "always", "never", NULL};
static const char *const counts[] = {"chips", "cores", NULL};

#define OF struct sp_hardware
static const struct sp_field hardware_fields[] = {
    NAMED,
    PROSE("vendor", "manufacturer"),
    PROSE("kind", "tpu, gpu or npu"),
    TEXT(family, "chip whose calibrated profiles are used when this one has none"),
    TEXT(made_from, "chip whose kernels and profiles it has as its own"),
    TEXT(framework, "default framework (else nemo, on a torus maxtext; with ZeRO 3 torchtitan)"),
    FIGURE_AT("chip.peak_flops_per_s.bf16", chip.peak_flops_per_s[SP_BF16], "FLOP/s", 1,
              "C: dense bf16 peak"),
    FIGURE_AT("chip.peak_flops_per_s.fp16", chip.peak_flops_per_s[SP_FP16], "FLOP/s", 1,
              "dense fp16 peak"),
    FIGURE_AT("chip.peak_flops_per_s.tf32", chip.peak_flops_per_s[SP_TF32], "FLOP/s", 1,
              "dense tf32 peak"),
    FIGURE_AT("chip.peak_flops_per_s.fp32", chip.peak_flops_per_s[SP_FP32], "FLOP/s", 1,
              "fp32 peak"),
    FIGURE_AT("chip.peak_flops_per_s.fp8", chip.peak_flops_per_s[SP_FP8], "FLOP/s", 1,
              "dense fp8 peak"),
    FIGURE_AT("chip.peak_flops_per_s.int8", chip.peak_flops_per_s[SP_INT8], "FLOP/s", 1,
              "dense int8 peak"),
    FIGURE_AT("chip.peak_flops_per_s.int4", chip.peak_flops_per_s[SP_INT4], "FLOP/s", 1,
              "dense int4 peak"),
    FIGURE_AT("chip.peak_flops_per_s.fp4", chip.peak_flops_per_s[SP_FP4], "FLOP/s", 1,
              "dense fp4 peak"),
    FIGURE_AT("chip.peak_flops_per_s.fp64", chip.peak_flops_per_s[SP_FP64], "FLOP/s", 1,
              "fp64 peak of matmuls"),
    FIGURE(chip.hbm_bytes, "bytes", 1, "memory of one chip"),
    FIGURE(chip.hbm_usable_bytes, "bytes", 1, "memory that the runtime grants to programs"),
    FIGURE(chip.hbm_bytes_per_s, "bytes/s", 1, "W_hbm: memory bandwidth"),
    FIGURE(chip.vmem_bytes, "bytes", 1, "on-chip vector memory"),
    FIGURE(chip.vmem_bytes_per_s, "bytes/s", 1, "W_vmem: its bandwidth"),
    FIGURE(chip.l2_bytes, "bytes", 1, "L2 cache"),
    FIGURE(chip.smem_bytes_per_sm, "bytes", 1, "shared memory of one SM"),
    FIGURE(chip.register_bytes_per_sm, "bytes", 1, "registers of one SM"),
    FIGURE(chip.sms, "", 1, "streaming multiprocessors"),
    FIGURE(chip.cores, "", 1, "TensorCores of one TPU chip"),
    FIGURE(chip.mxus_per_core, "", 1, "matrix units of one TensorCore"),
    FIGURE(chip.mxu_dim, "", 1, "side of the systolic array"),
    FIGURE(chip.cuda_cores_per_sm, "", 1, "fp32 lanes of one SM"),
    FIGURE(chip.tensor_cores_per_sm, "", 1, "tensor cores of one SM"),
    FIGURE(chip.vpu_lanes, "", 1, "lanes of the vector unit"),
    FIGURE(chip.vpu_sublanes, "", 1, "sublanes of the vector unit"),
    FIGURE(chip.vpu_alus, "", 1, "ALUs per lane and sublane"),
    FIGURE(chip.clock_hz, "Hz", 1, "base clock"),
    FIGURE(chip.boost_clock_hz, "Hz", 1, "boost clock"),
    FIGURE(chip.tensor_clock_hz, "Hz", 1, "clock of the tensor peak (default: boost)"),
    FIGURE(chip.nvlink_ports, "", 1, "NVLink ports of one GPU"),
    FIGURE(chip.nvlink_port_bytes_per_s, "bytes/s", 1, "one NVLink port, one way"),
    FIGURE(chip.pcie_bytes_per_s, "bytes/s", 1, "W_pcie: PCIe to the host, one way"),
    FIGURE(chip.c2c_bytes_per_s, "bytes/s", 1,
           "coherent link to the host CPU, one way (NVLink-C2C); used by offload"),
    FIGURE(chip.tdp_w, "W", 0, "power of one chip"),
    FIGURE(chip.price_usd_per_h, "USD/h", 0, "list price of one chip"),
    INT(chip.price_year, "", 1990, 2100, "year of the list price"),
    TEXT(chip.price_source, "source of the list price"),
    ENUM(network.kind, sp_network_kinds, 0, "torus or switched"),
    INT(network.axes, "", 1, SP_MAX_AXES, "axes of the torus"),
    FIGURE(network.link_bytes_per_s, "bytes/s", 1, "w: one torus link, one way"),
    /* Unpublished latencies and hops have their assumed values here; a file can override them with
     * a source. */
    ASSUMED(network.send_latency_s, "s", 0, 5e-6, "latency of a send between pipeline stages"),
    FIGURE(network.hop_latency_s, "s", 0, "T_min: one hop"),
    ASSUMED(network.most_hops, "", 1, 64,
            "sequential hops of a collective; longer rings are folded over several axes"),
    ENUM(network.wrap, wraps, SP_WRAP_NEVER, "when axes close into rings"),
    INT(network.jax_devices_per_chip, "", 1, 1024, "devices that JAX counts per chip (default: 1)"),
    INT(network.chips_per_host, "", 1, 1024, "chips of one host"),
    FIGURE(network.dcn_bytes_per_s_per_host, "bytes/s", 1,
           "egress of one host into the data-centre network"),
    SHAPE(network.pod_shape, "the whole pod"),
    SHAPES(network.shapes, "slices on offer"),
    TEXT(network.cloud_name, "prefix of the cloud's slice names"),
    ENUM_AT("network.cloud_counts", network.cloud_counts_cores, counts, 0,
            "what the number in a cloud name counts"),
    INT(network.domain, "", 1, 100000, "devices of one scale-up domain"),
    FIGURE(network.domain_bytes_per_s, "bytes/s", 1,
           "W_gpu: egress of one device inside its domain"),
    INT(network.domain_links, "", 1, 100000,
        "peers to which a device has direct links of equal width, in a domain without switches"),
    FIGURE(network.scaleout_bytes_per_s, "bytes/s", 1, "egress of one device beyond its domain"),
    ASSUMED(network.domain_latency_s, "s", 0, 3e-6, "one step of a ring inside a domain"),
    ASSUMED(network.scaleout_latency_s, "s", 0, 5e-6, "one step of a ring of domains"),
    FIGURE(network.host_memory_bytes, "bytes", 1, "memory of one host, for offload"),
    INT(network.devices_per_host, "", 1, 100000, "devices of one host, if a domain spans several"),
    INT(network.domain_part, "", 1, 100000,
        "devices per domain for jobs that do not fill whole domains"),
    FIGURE(network.domain_switches, "", 1, "switches inside one scale-up domain"),
    FIGURE(network.domain_switch_ports, "", 2,
           "ports of a switch inside a domain, each as wide as a device port"),
    TEXT_AT("network.scaleout", network.scaleout_name, "name of the scale-out network"),
    FIGURE(network.fabric.nodes_per_su, "", 1, "nodes of a scalable unit"),
    FIGURE(network.fabric.leafs_per_su, "", 1, "leaf switches of a scalable unit"),
    FIGURE(network.fabric.links_per_node, "", 1, "cables from a node to its leaves"),
    FIGURE(network.fabric.switch_ports, "", 2, "ports of a leaf, spine or core switch"),
    FIGURE(network.fabric.link_bytes_per_s, "bytes/s", 1, "one fabric cable, one way"),
    PROSE("sources", "where the figures come from"),
    PROSE("conflicts", "where sources disagree, and the value chosen"),
    PROSE("note", "remarks"),
};
#undef OF
FIELD_TABLE(sp_hardware_table, "hw", hardware_fields, NULL);

/* Values outside these ranges are usually a wrong unit: TFLOP/s for FLOP/s, GB for bytes. */
const struct sp_likely sp_likely_hardware[] = {
    {"chip.peak_flops_per_s.bf16", 1e12, 1e18},  {"chip.peak_flops_per_s.fp16", 1e12, 1e18},
    {"chip.peak_flops_per_s.tf32", 1e12, 1e18},  {"chip.peak_flops_per_s.fp32", 1e11, 1e18},
    {"chip.peak_flops_per_s.fp8", 1e12, 1e18},   {"chip.peak_flops_per_s.int8", 1e12, 1e18},
    {"chip.peak_flops_per_s.int4", 1e12, 1e18},  {"chip.peak_flops_per_s.fp4", 1e12, 1e18},
    {"chip.peak_flops_per_s.fp64", 1e11, 1e18},  {"chip.hbm_bytes", 1e9, 1e13},
    {"chip.hbm_usable_bytes", 1e9, 1e13},        {"chip.hbm_bytes_per_s", 1e10, 1e15},
    {"chip.pcie_bytes_per_s", 1e8, 1e13},        {"chip.c2c_bytes_per_s", 1e8, 1e13},
    {"network.link_bytes_per_s", 1e8, 1e13},     {"network.domain_bytes_per_s", 1e8, 1e14},
    {"network.scaleout_bytes_per_s", 1e6, 1e13}, {NULL, 0, 0},
};

#define OF struct sp_precision
static const struct sp_field precision_fields[] = {
    NAMED,
    REAL(weight_bytes, "bytes", 0, 64, "weights, per parameter"),
    REAL(grad_bytes, "bytes", 0, 64, "gradients, with any fp32 accumulation"),
    REAL(master_bytes, "bytes", 0, 64, "fp32 master copy"),
    REAL(optimizer_bytes, "bytes", 0, 64, "optimizer moments"),
    REAL(newton_schulz, "", 0, 100, "iterations to orthogonalise a matrix update (Muon: 5)"),
    ENUM(compute_dtype, sp_dtype_names, SP_BF16, "format of the matmuls"),
    REMARKS("where the recipe comes from"),
};
#undef OF
FIELD_TABLE(sp_precision_table, "precision", precision_fields, NULL);

#define OF struct sp_scaling_law
/* A constant of a law; NAN if the law does not have it. */
#define CONSTANT(key, member, ...) REAL_AT(key, member, __VA_ARGS__, .fallback = NAN)
static const char *const rules[] = {"minimum", "ratio", "params_power", "tokens_power", NULL};
static const char *const forms[] = {"sum", "kaplan", "none", NULL};
static const struct sp_field law_fields[] = {
    NAMED,
    BOOL(without_embedding, "parameters exclude the embedding"),
    ENUM_AT("optimum.rule", rule, rules, SP_RULE_MINIMUM,
            "minimum loss, a ratio of tokens to parameters, or a power law of the budget"),
    CONSTANT("optimum.tokens_per_param", tokens_per_param, "", 1e-6, 1e9, "tokens per parameter"),
    CONSTANT("optimum.coefficient", coefficient, "", 1e-30, 1e30,
             "parameters or tokens at a budget of unit_flops"),
    CONSTANT("optimum.exponent", exponent, "", 0.01, 0.99, "exponent of the budget"),
    REAL_AT("optimum.unit_flops", unit_flops, "FLOPs", 1, 1e30,
            "budget to which the coefficient applies", .fallback = 1),
    ENUM_AT("loss.form", form, forms, SP_FORM_NONE,
            "sum: E + A/N^alpha + B/D^beta; kaplan: ((N_c/N)^(alpha/beta) + D_c/D)^beta"),
    CONSTANT("loss.E", E, "nats", 0, 100, "irreducible loss"),
    CONSTANT("loss.A", A, "", 1e-9, 1e18, "scale of the parameters' term"),
    CONSTANT("loss.B", B, "", 1e-9, 1e18, "scale of the tokens' term"),
    CONSTANT("loss.alpha", alpha, "", 0.01, 2, "exponent of the parameters"),
    CONSTANT("loss.beta", beta, "", 0.01, 2, "exponent of the tokens"),
    CONSTANT("loss.N_c", N_c, "parameters", 1, 1e30, "scale of the parameters' term"),
    CONSTANT("loss.D_c", D_c, "tokens", 1, 1e30, "scale of the tokens' term"),
    REMARKS("where the law comes from"),
};
#undef OF
FIELD_TABLE(sp_law_table, "law", law_fields, NULL);

#define OF struct sp_framework_file
#define FACT(type, member, ...) type##_AT(#member, framework.member, __VA_ARGS__)
#define RUN(type, member, ...) type##_AT(#member, framework.execution.member, __VA_ARGS__)
static const char *const micro_batches[] = {"share", "one", "stages", NULL};
static const char *const rounds[] = {"any", "stages", "alike", "groups", NULL}; /* enum sp_rounds */
static const char *const balances[] = {"even", "cost", NULL};
static const struct sp_field framework_fields[] = {
    NAMED_AT(framework.name),
    FACT(TEXT, precision, "recipe of its training state"),
    FACT(TEXT, fp8_precision, "recipe that `fp8` means here; empty: fp8"),
    TEXT(marks, "words in a run's source that identify it, comma-separated"),
    FACT(TEXT, family, "frameworks of one family share calibrated constants"),
    FACT(TEXT, overlap,
         "how it overlaps collectives, such as fsdp2; such frameworks share overlap constants; "
         "empty: its family"),
    TEXT(serves,
         "runs attributed to it when nothing identifies their framework: gpu, zero3 or tpu"),
    TEXT(selective, "policy that it calls selective recomputation"),
    TEXT(schedules, "pipeline schedules, comma-separated; none: no pipelines; empty: any"),
    FACT(ENUM, rounds, rounds, SP_ROUNDS_ANY,
         "micro-batches of schedules with chunks: any number, multiples of the stages, alike "
         "rounds of at least the stages, or groups of at least the stages"),
    BOOL(whole_axes, "tensor parallelism uses whole torus axes"),
    BOOL(even_stages,
         "pipeline stages must be equal; embedding and head may count as a layer each"),
    BOOL(own_stages, "the layers of each pipeline stage can be set"),
    TEXT(recompute, "recompute policies; empty: any"),
    TEXT(recompute_modules, "parts of a layer that it can recompute, comma-separated, cheapest per "
                            "freed byte first; empty: none"),
    TEXT(offload_modules, "activations of a layer that it can keep in host memory separately, "
                          "comma-separated; empty: none"),
    TEXT(offload_rules, "PART with PART, with mla or with experts, comma-separated: a part that it "
                        "keeps there only beside another, or in such models"),
    BOOL(optimizer_offload, "can keep a fraction of the optimizer's states in host memory"),
    TEXT(zero, "ZeRO stages; empty: any"),
    TEXT(dispatchers, "token dispatchers, comma-separated; empty: any"),
    TEXT(cp_kinds, "kinds of context parallelism, comma-separated; none: no CP; empty: any"),
    TEXT(cp_kinds_tpu, "those of cp_kinds that need TPUs"),
    TEXT(cp_kinds_plain,
         "those of cp_kinds that TPUs run only without latent attention and attention sinks"),
    TEXT(sequence_parallel,
         "sequence parallelism with TP: on, off or both, comma-separated; empty: both"),
    BOOL(can_overlap_moe, "can hide the experts' exchange behind another micro-batch"),
    BOOL(overlap_in_chunks, "hides it between pipeline stages only if they have several chunks"),
    TEXT(overlap_refuses, "dispatchers whose exchange it does not hide, comma-separated"),
    FACT(INT, usual_zero, "", 0, 3,
         "ZeRO stage of a run that states none (default: 3 if layers are gathered, else 1)",
         .fallback = -1),
    BOOL(usual_sequence_parallel, "default of sequence parallelism with TP; yes if absent",
         .fallback = 1),
    ENUM(usual_micro_batch, micro_batches, SP_MICRO_SHARE,
         "default micro-batch of a pipelined run: a replica's share of the batch, one sequence, or "
         "the share over the stages"),
    BOOL(offload, "can keep activations in host memory"),
    FACT(ENUM, balance, balances, SP_BALANCE_EVEN,
         "layers per pipeline stage: even, or balanced by weights, the head's included (cost)"),
    FACT(REAL, mlp_copies, "", 0, 8,
         "d_ff-wide tensors kept in a gated MLP beyond gate, up and product"),
    FACT(REAL, norm_copies, "", 0, 8,
         "extra 2-byte copies of its input that an unfused fp32 RMSNorm keeps"),
    FACT(BOOL, packs_head, "quantised base weights include the head"),
    FACT(REAL, widened_copies, "", 0, 8,
         "simultaneous 16-bit copies of a packed matmul's weights; 0: one"),
    FACT(BOOL, narrow_inputs,
         "keeps inputs of 8- and 4-bit matmuls in that format for weight gradients"),
    FACT(BOOL, keeps_frozen_inputs,
         "keeps inputs of frozen matmuls, though no gradient needs them"),
    FACT(REAL, qkv_copies, "", 0, 8, "extra copies of q, k and v kept"),
    FACT(BOOL, keeps_gathered, "keeps gathered inputs of tensor-parallel matmuls whole"),
    FACT(ENUM, cp_gather, sp_cp_gather_names, SP_CP_GATHER_WHOLE,
         "how CP ranks gather keys and values: whole, before attention; behind its first block "
         "(blocks); behind earlier heads (heads); behind matmuls, by a compiler (scheduled)"),
    FACT(REAL, ring_grad_bytes, "bytes", 1, 8,
         "bytes of a key or value gradient that goes around a ring", .fallback = 2),
    FACT(BOOL, cp_uneven,
         "CP ranks hold consecutive tokens; the last rank has the most attention work"),
    FACT(BOOL, copies_kv_heads, "Ulysses copies KV heads if they are fewer than ranks"),
    FACT(BOOL, stops_early,
         "recomputation of a block stops before its last matmul, whose output is not needed"),
    FACT(BOOL, overlaps_tp,
         "tensor-parallel collectives hide behind matmuls, except the profile's tp_exposed"),
    FACT(BOOL, overlaps_sends, "sends between stages hide behind other chunks of a stage"),
    FACT(BOOL, fp8_gathers, "weights of 8-bit matmuls are gathered in 8 bits"),
    FACT(REAL, attention, "", 0, 1, "published share of the 16-bit peak of its attention kernel"),
    FACT(BOOL, ampere_attention,
         "that share is for the A100 and falls with the square root of a faster peak"),
    FACT(REAL, logit_bytes, "bytes", 0, 64, "bytes live per logit in the loss"),
    FACT(REAL, loss_bytes, "bytes", 0, 200,
         "bytes that the loss and its gradient read and write per logit (default: 52, unfused)",
         .fallback = 52),
    FACT(REAL, workspace_bytes, "bytes", 0, 1e10, "workspaces of its matmul libraries"),
    FACT(REAL, expert_workspace_bytes, "bytes", 0, 1e10,
         "workspaces of its grouped expert matmuls, in addition"),
    FACT(REAL, split_logit_bytes, "bytes", 0, 64,
         "logit_bytes if tensor parallelism splits the vocabulary; 0: logit_bytes"),
    FACT(BOOL, dummy_wgrads, "one weight-gradient buffer per weight shape"),
    FACT(REAL, memory_passes, "", 0, 10,
         "memory traffic of its elementwise kernels over that of fully fused ones; 0: not counted"),
    FACT(REAL, layer_operations, "", 0, 1000,
         "operations that the host issues per layer and forward pass; 0: not counted"),
    FACT(REAL, operation_cost, "", 1, 10, "host time of such an operation over that of a plain one",
         .fallback = 1),
    FACT(REAL, gathered_layers, "", 0, 64, "FSDP: unsharded layers at once"),
    FACT(REAL, gathered_grads, "", 0, 64, "FSDP: layers with unsharded 4-byte gradients at once"),
    FACT(BOOL, flat_gradients,
         "FSDP with one tensor per layer: accumulation keeps its gradients whole, frozen weights "
         "included"),
    FACT(BOOL, keeps_stages_whole,
         "FSDP with stages: weights are gathered once per step; gradients stay whole, in 4 bytes"),
    FACT(REAL, reserved_factor, "", 1, 2, "allocator: reserved over live bytes", .fallback = 1),
    FACT(REAL, memory_residual, "", 0, 2,
         "standard deviation of ln(predicted / measured) of peak memory", .fallback = 0.1),
    FACT(REAL, context_bytes, "bytes", 0, 1e11,
         "runtime context and communicators beyond reserved"),
    FACT(REAL, reduced_gradient_bytes, "bytes", 0, 8,
         "bytes of a gradient in its reduction; 0: as the recipe stores it, 2 with ZeRO 3"),
    FACT(REAL, broadcast_tensors, "", 0, 1000,
         "tensors per layer that one rank updates whole and broadcasts; 0: weights are gathered"),
    FACT(REAL, bucket_bytes, "bytes", 1, 1e15,
         "gradients reduced at once during the backward pass (default: 25 MiB, PyTorch's)",
         .fallback = 26214400),
    FACT(BOOL, keeps_gradients, "gradient memory is allocated once and kept after an update"),
    FACT(BOOL, early_optimizer,
         "optimizer moments are allocated before the first step, not in its update"),
    FACT(BOOL, fp8_dispatch, "8-bit runs send tokens to experts in one byte per element"),
    RUN(ENUM, dispatch, sp_dispatch_names, SP_DISPATCH_ALLTOALL, "how tokens reach their experts"),
    RUN(BOOL, moe_overlap, "the experts' exchange hides behind another micro-batch"),
    RUN(ENUM, cuda_graph, sp_cuda_graph_names, SP_CUDA_GRAPH_NONE,
        "what CUDA graphs capture: none, layers (te), the iteration (full), routing (router)"),
    RUN(ENUM, fp8_recipe, sp_fp8_recipe_names, SP_FP8_TENSORWISE, "scaling of 8-bit matmuls"),
    RUN(ENUM, attention_kernel, sp_attention_kernel_names, SP_KERNEL_FLASH,
        "attention kernel: flash, a flash kernel by name, or unfused"),
    RUN(ENUM, logits, sp_logits_names, SP_LOGITS_UNFUSED,
        "logits in memory at once: all in logit_bytes (unfused), in 2 bytes (fused), an eighth of "
        "the tokens (chunked), few tokens (linear)"),
    RUN(ENUM, dp_overlap, sp_dp_overlap_names, SP_DP_OVERLAP_ALL,
        "what replicas exchange behind passes with ZeRO 0 and 1"),
    RUN(ENUM, cp_kind, sp_cp_kind_names, SP_CP_RING, "how CP ranks share keys and values"),
    RUN(REAL, dropout, "", 0, 0.99, "dropout probability, of scores and block outputs"),
    RUN(REAL, capacity, "", 0, 10,
        "expert capacity over the mean load, cut and padded to it; 0: no limit"),
    REMARKS("where the facts come from"),
};
#undef OF
FIELD_TABLE(sp_framework_table, "framework", framework_fields, NULL);

#define OF struct sp_engine
static const struct sp_field engine_fields[] = {
    NAMED,
    REAL(memory_fraction, "", 0.01, 1, "share of chip memory for weights and cache", .fallback = 1),
    BOOL_AT("fraction_of_free", of_free,
            "the share is of the memory left by the weights, and for the cache only"),
    REAL(block_tokens, "tokens", 1, 1e6, "tokens per block of the cache", .fallback = 1),
    REAL(chunk_tokens, "tokens", 1, 1e9, "most prompt tokens per step; default: the whole prompt"),
    BOOL(reserves_answer,
         "reserves memory for a request's whole answer at its start; else it grows"),
    BOOL(keeps_all, "the cache keeps all tokens, also behind the windows of layers"),
    BOOL(narrow_cache, "fp8 cache with weights of 8 bits or fewer"),
    REAL(buffer_bytes, "bytes", 0, 1e12,
         "graphs and workspaces per chip, besides weights and cache"),
    BOOL(separate_prompts, "prompts run in separate passes, which generate nothing"),
    REAL(poll_steps, "", 1, 1e6, "steps between checks for new requests", .fallback = 1),
    BOOL(fetches_by_layer,
         "computes a prompt's first layers while the cache of others comes from the host"),
    REMARKS("where the defaults come from"),
};
#undef OF
FIELD_TABLE(sp_engine_table, "engine", engine_fields, NULL);

#define OF struct sp_trend_file
static const struct sp_field trend_fields[] = {
    NAMED_AT(trend.name),
    TEXT_AT("unit", trend.unit, "what grows"),
    REAL_AT("factor", trend.factor, "", 1e-9, 1e9, "growth factor over `years`; below 1: it falls",
            .required = true),
    REAL_AT("years", trend.years, "years", 0.01, 1000, "years for growth by `factor`",
            .fallback = 1),
    REAL_AT("years_low", trend.years_low, "years", 0.01, 1000, "lower end of the published range",
            .fallback = NAN),
    REAL_AT("years_high", trend.years_high, "years", 0.01, 1000, "its upper end", .fallback = NAN),
    INT_AT("first_year", trend.first_year, "", 1800, 2200, "first year of the observations"),
    INT_AT("last_year", trend.last_year, "", 1800, 2200, "until when"),
    TEXT(points, "figures of some years, \"NAME YEAR VALUE, NAME YEAR VALUE\"; PARAMETERSxTOKENS: "
                 "the FLOPs, 6 N D"),
    REMARKS("where the rate and the figures come from"),
};
#undef OF
FIELD_TABLE(sp_trend_table, "trend", trend_fields, NULL);

#define OF struct sp_number_format
static const char *const specials[] = {"ieee", "nan", "none", NULL};
static const struct sp_field number_format_fields[] = {
    NAMED,
    INT(bits, "", 1, 1024, "bits per stored element", .required = true),
    INT(exponent_bits, "", 0, 11, "bits of the exponent; 0: an integer"),
    INT(mantissa_bits, "", 0, 52,
        "mantissa bits after the leading one; for an integer, all but the sign", .required = true),
    ENUM(specials, specials, SP_SPECIALS_IEEE,
         "meaning of the largest exponent: infinities and NaN (ieee), one NaN (nan) or numbers "
         "(none)"),
    INT(block, "", 0, 1000000000, "elements that share a scale"),
    INT(scale_bits, "", 0, 1024, "bits of that scale"),
    REMARKS("where the format comes from"),
};
#undef OF
FIELD_TABLE(sp_number_format_table, "format", number_format_fields, NULL);

#define OF struct sp_drive
#define RATE(member, unit, help)                                                                   \
    REAL(member, unit, 1, MOST, help, .fallback = NAN, .required = true)
static const struct sp_field storage_fields[] = {
    NAMED,
    RATE(read_bytes_per_s, "bytes/s", "long reads of one drive"),
    RATE(write_bytes_per_s, "bytes/s", "long writes of one drive"),
    RATE(capacity_bytes, "bytes", "of one drive"),
    FIGURE(endurance_bytes, "bytes", 1, "bytes that can be written before a drive wears out"),
    REMARKS("where the figures come from"),
};
#undef RATE
#undef OF
FIELD_TABLE(sp_drive_table, "storage", storage_fields, NULL);

#define OF struct sp_grid
static const struct sp_field grid_fields[] = {
    NAMED,
    REAL(carbon_kg_per_kwh, "kg/kWh", 0, 10, "CO2 equivalents of a kWh, averaged over the year",
         .fallback = NAN, .required = true),
    INT(year, "", 1950, 2200, "year of the figure", .required = true),
    TEXT_AT("source", source, "where the figure comes from", .required = true),
    PROSE("note", "remarks"),
};
#undef OF
FIELD_TABLE(sp_grid_table, "grid", grid_fields, NULL);

#define OF struct sp_site
static const struct sp_field site_fields[] = {
    NAMED,
    FIGURE(device_mtbf_s, "s", 1, "time between interruptions of a job times its devices"),
    TEXT(failures_source, "where device_mtbf_s comes from, with its year"),
    FIGURE(storage_bytes_per_s, "bytes/s", 1, "checkpoint bandwidth per device, write or read"),
    REAL(launch_s, "s", 0, 1e6, "from the scheduler to the first line of the program"),
    REAL(compile_s, "s", 0, 1e6, "compilation of the step"),
    REAL(connect_s_per_device, "s", 0, 100, "communicator set-up, per device of the job"),
    REAL(loader_s, "s", 0, 1e6, "time until the first batch"),
    REMARKS("where the other figures come from"),
};
#undef OF
FIELD_TABLE(sp_site_table, "site", site_fields, NULL);
