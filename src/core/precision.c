/* Number formats: what each one is known by. */
#include <scaleplan/precision.h>

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
};

/* Medians over runs that differ in the recipe alone: NVIDIA's published ones of Megatron-Bridge and
 * NeMo on H100, B200 and GB200 (tests/data/runs.csv), and torchtitan's rowwise scaling. */
const struct sp_fp8_recipe_traits sp_fp8_recipes[SP_FP8_RECIPES] = {
    /*                     matmul experts */
    [SP_FP8_TENSORWISE] = {1,     1},
    [SP_FP8_MXFP8]      = {1.05,  0.99},
    [SP_FP8_BLOCKWISE]  = {1.05,  1.05},
    [SP_FP8_ROWWISE]    = {1.41,  1.41},
};
/* clang-format on */

const double sp_fp4_matmul_time = 0.74;
