/* Keys of the files that fits to measurements write: configs/profiles, serving and kernels. */
#define NOT_IN_PAGE
#include <scaleplan/scaleplan.h>

#include "config/field_rows.h"
#include "config/load.h"

#define OF struct sp_profile
#define FITTED(at, key, unit, of, gpu, tpu, spread, low, high, meaning)                            \
    REAL_AT("constants." key ".value", value[at], unit, low, high, meaning, .fallback = (gpu)),    \
        REAL_AT("constants." key ".expected", expected[at], unit, low, high,                       \
                "expected value before any run is seen", .fallback = (gpu)),                       \
        REAL_AT("constants." key ".determined", determined[at], "", 0, 1,                          \
                "share of the value determined by runs"),
/* The subject of a profile, and its source. */
#define OF_STACK(software)                                                                         \
    NAMED, TEXT(chip, "chip of the fit"),                                                          \
        TEXT_AT(software, framework, software " that it was fitted on"),                           \
        ENUM_AT("network", kind, sp_network_kinds, SP_SWITCHED,                                    \
                "kind of its machines: torus or switched"),                                        \
        TEXT(chip_family, "chips that share constants"),                                           \
        TEXT(software_family, software "s that share constants")
#define FROM_RUNS                                                                                  \
    TEXT(date, "day of the fit, such as 2026-11-22"), PROSE("fitted_to", "the runs behind it"),    \
        PROSE("at_bound", "constants at a bound after the fit"),                                   \
        REMARKS("where the figures come from")
#define RESIDUAL                                                                                   \
    REAL(residual, "", 0, 10,                                                                      \
         "standard deviation of ln(predicted / measured) on held-out runs; 80 % lie within "       \
         "1.2816 of it")
#define SP_CONSTANT(id, ...) FITTED(SP_C_##id, __VA_ARGS__)
static const struct sp_field profile_fields[] = {
    OF_STACK("framework"),
#include <scaleplan/profile_constants.def>
    RESIDUAL,
    REAL(memory_factor, "", SP_MEMORY_FACTOR_MIN, SP_MEMORY_FACTOR_MAX,
         "reserved memory over the estimate from the framework's file", .fallback = 1),
    REAL(machine_factor, "", SP_MACHINE_FACTOR_MIN, SP_MACHINE_FACTOR_MAX,
         "times on this machine over those from the constants", .fallback = 1),
#ifndef __wasi__ /* the page reads no user's profile */
    LINES_AT(
        "runs", seen_lines,
        "its own runs: TP, stages, CP, sequences per micro-batch, tokens per rank, experts per "
        "rank (0: dense), devices per fast domain, and by how much each lowers the time of "
        "plans near it (in the logarithm)"),
#endif
    TEXT(overlap_family, "frameworks that share overlap constants; empty: software_family"),
    FROM_RUNS,
};
#undef SP_CONSTANT
FIELD_TABLE(sp_profile_table, "profile", profile_fields, NULL);

#define SP_CONSTANT(id, ...) FITTED(SP_V_##id, __VA_ARGS__)
static const struct sp_field serving_fields[] = {
    OF_STACK("engine"),
#include <scaleplan/serving_constants.def>
    RESIDUAL,
    FROM_RUNS,
};
#undef SP_CONSTANT
#undef FITTED
#undef OF
FIELD_TABLE(sp_serving_table, "serving", serving_fields, NULL);

#define OF struct sp_kernels
/* NOLINTBEGIN(bugprone-macro-parentheses): members have none */
#define KERNEL(key, of, member, unit, min, max, otherwise, help)                                   \
    REAL_AT(key "." #member, of.member, unit, min, max, help, .fallback = (otherwise))
/* NOLINTEND(bugprone-macro-parentheses) */
/* Fields common to all curves: a share (without it there is no curve), and its measurements. */
#define CURVE(key, of, help)                                                                       \
    KERNEL(key, of, share, "", 1e-3, 1, NAN, help),                                                \
        KERNEL(key, of, rows, "", 0, 1e9, 0, "measurements behind the curve"),                     \
        KERNEL(key, of, residual, "", 0, 10, 0, "mean of |ln(curve / measured)| over the shapes")
#define MATMUL(format, id)                                                                         \
    CURVE("matmul." format, matmul[id], "share of the " format " peak that large matmuls reach"),  \
        KERNEL("matmul." format, matmul[id], memory_share, "", 1e-3, 1, 1,                         \
               "share of the memory bandwidth that memory-bound matmuls reach"),                   \
        KERNEL("matmul." format, matmul[id], launch_s, "s", 0, 1, 0, "before any work"),           \
        KERNEL("matmul." format, matmul[id], half_tile, "", 0, 1e4, 0,                             \
               "mean rounding-up of a side, in elements"),                                         \
        KERNEL("matmul." format, matmul[id], cast_bytes, "bytes", 0, 1e3, 0,                       \
               "bytes moved per 16-bit input element to convert it")
#define ATTENTION(format, id)                                                                      \
    CURVE("attention." format, attention[id],                                                      \
          "share of the " format " peak that causal attention reaches, forward"),                  \
        KERNEL("attention." format, attention[id], launch_s, "s", 0, 1, 0, "before any work"),     \
        KERNEL("attention." format, attention[id], fill_queries, "", 0, 1e9, 0,                    \
               "queries, over all heads, that run last and alone"),                                \
        KERNEL("attention." format, attention[id], edge_keys, "tokens", 0, 1e6, 0,                 \
               "extra keys per query, beyond those it attends to")
#define COLLECTIVE(op, id)                                                                         \
    CURVE("collectives." op, collective[id],                                                       \
          "share of the link rate in a domain that long messages reach"),                          \
        KERNEL("collectives." op, collective[id], low_share, "", 1e-3, 1, NAN,                     \
               "share of the link rate with the protocol for short messages"),                     \
        KERNEL("collectives." op, collective[id], own_share, "", 0, 1, 0,                          \
               "time for a rank's own part over that for another rank's"),                         \
        KERNEL("collectives." op, collective[id], latency_s, "s", 0, 1, 0,                         \
               "latency for any number of ranks"),                                                 \
        KERNEL("collectives." op, collective[id], rank_latency_s, "s", 0, 1, 0,                    \
               "latency added by each rank beyond the first"),                                     \
        KERNEL("collectives." op, collective[id], floor_s, "s", 0, 1, 0,                           \
               "minimum time per rank of the protocol for long messages")
static const struct sp_field kernels_fields[] = {
    TEXT(name, "chip that was measured"),
    PROSE("aliases", "other names"),
    MATMUL("bf16", SP_KERNEL_BF16),
    MATMUL("fp8", SP_KERNEL_FP8),
    MATMUL("fp8_block", SP_KERNEL_FP8_BLOCK),
    MATMUL("nvfp4", SP_KERNEL_NVFP4),
    ATTENTION("bf16", SP_KERNEL_BF16),
    ATTENTION("fp8", SP_KERNEL_FP8),
    COLLECTIVE("all_gather", SP_ALL_GATHER),
    COLLECTIVE("reduce_scatter", SP_REDUCE_SCATTER),
    COLLECTIVE("all_reduce", SP_ALL_REDUCE),
    COLLECTIVE("all_to_all", SP_ALL_TO_ALL),
    REMARKS("where the measurements come from"),
};
FIELD_TABLE(sp_kernels_table, "kernels", kernels_fields, NULL);
#undef OF
