/* Properties of number formats. */
#include <scaleplan/formats.h>

/* clang-format off */
const struct sp_dtype_traits sp_dtypes[SP_DTYPES] = {
    /*         bytes wire fallback */
    [SP_BF16] = {2,   2, SP_FP16},
    [SP_FP16] = {2,   2, SP_BF16},
    [SP_TF32] = {4,   2, SP_BF16},
    [SP_FP32] = {4,   2, SP_TF32},
    [SP_FP8]  = {1,   1, SP_BF16},
    [SP_INT8] = {1,   1, SP_BF16},
    [SP_INT4] = {0.5, 2, SP_INT8},
    [SP_FP4]  = {0.5, 2, SP_FP8},
    [SP_FP64] = {8,   8, SP_FP64}, /* no narrower format gives its answers */
};

/* Factors that bring estimates with the 8-bit peak to published runs: NVIDIA's of Megatron-Bridge
 * and NeMo on H100, B200 and GB200; torchtitan's with rowwise scales. Pairs of runs that differ
 * only in the recipe (tests/data/runs.csv) agree: mxfp8 1.06 (median of five dense pairs),
 * blockwise 1.05 (three dense) and 1.00 (two with experts). */
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

/* clang-format off */
const struct sp_storage_traits sp_storages[SP_STORAGES] = {
    [SP_STORED_BF16]      = {2,                               SP_BF16, false},
    [SP_STORED_FP8]       = {1,                               SP_FP8,  false},
    [SP_STORED_FP8_BLOCK] = {1 + 4.0 / (128 * 128),           SP_FP8,  true},
    [SP_STORED_INT8]      = {1,                               SP_INT8, false},
    [SP_STORED_NVFP4]     = {0.5 + 1.0 / 16,                  SP_FP4,  false},
    [SP_STORED_MXFP4]     = {0.5 + 1.0 / 32,                  SP_FP4,  false},
    [SP_STORED_INT4]      = {0.5,                             SP_INT4, false},
    [SP_STORED_NF4]       = {0.5 + (1.0 + 4.0 / 256) / 64,    SP_BF16, false}, /* values of a table */
    [SP_STORED_INT4_WO]   = {0.5,                             SP_BF16, true},
    [SP_STORED_AWQ]       = {0.5 + (2 + 0.5) / 128,           SP_BF16, true},
    [SP_STORED_GPTQ]      = {0.5 + (2 + 0.5) / 128,           SP_BF16, true},
};
/* clang-format on */
