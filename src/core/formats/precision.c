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
    [SP_FP64] = {8,   8, SP_FP64}, /* no narrower format gives the same results */
};

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
