/* The cost of scaling in 8-bit matmuls, and the gain of 4 bits over them. */
#include <scaleplan/formats.h>

/* Factors that bring estimates with the 8-bit peak to published runs: NVIDIA's of Megatron-Bridge
 * and NeMo on H100, B200 and GB200; torchtitan's with rowwise scales. Pairs of runs that differ
 * only in the recipe (tests/data/runs.csv) agree: mxfp8 1.06 (median of five dense pairs),
 * blockwise 1.05 (three dense) and 1.00 (two with experts). */
/* clang-format off */
const struct sp_fp8_recipe_traits sp_fp8_recipes[SP_FP8_RECIPES] = {
    /*                     matmul experts */
    [SP_FP8_TENSORWISE] = {1,     1},
    [SP_FP8_MXFP8]      = {1.05,  0.99},
    [SP_FP8_BLOCKWISE]  = {1.05,  1.05},
    [SP_FP8_ROWWISE]    = {1.41,  1.41},
};
/* clang-format on */

/* NVFP4 matmul time over fp8: the median of five chips with both measured. Whole published steps
 * once gave 0.74, but the rest of a step does not get shorter. Per-chip ratios (0.60 to 0.71) were
 * no better on runs left out. */
const double sp_fp4_matmul_time = 0.62;
