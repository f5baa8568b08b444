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
/* clang-format on */
