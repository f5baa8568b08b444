/* Bytes of training state per parameter, and the number format of the matrix units. */
#ifndef SCALEPLAN_PRECISION_H
#define SCALEPLAN_PRECISION_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Number formats a chip publishes a dense peak for. */
enum sp_dtype { SP_BF16, SP_FP16, SP_TF32, SP_FP32, SP_FP8, SP_INT8, SP_INT4, SP_FP4, SP_DTYPES };

/* What the rest of the program asks of a format; a row each. */
struct sp_dtype_traits {
    double bytes;           /* of an element */
    double wire_bytes;      /* of an element as collectives of its matmuls send it */
    enum sp_dtype fallback; /* the format that such a matmul takes where a chip has no peak */
};
extern const struct sp_dtype_traits sp_dtypes[SP_DTYPES];

/* How 8-bit matmuls are scaled; sp_fp8_recipe_names has the words. */
enum sp_fp8_recipe {
    SP_FP8_TENSORWISE, /* a scale for each tensor */
    SP_FP8_MXFP8,      /* for each 32 elements, as the MX formats have it */
    SP_FP8_BLOCKWISE,  /* for each block of 128 x 128, and 1 x 128 of activations */
    SP_FP8_ROWWISE,    /* for each row */
    SP_FP8_RECIPES
};

/* Time of the layers' 8-bit matmuls over that of the same ones with a scale for each tensor. */
struct sp_fp8_recipe_traits {
    double matmul;  /* of all but the routed experts */
    double experts; /* of those, which are multiplied in groups */
};
extern const struct sp_fp8_recipe_traits sp_fp8_recipes[SP_FP8_RECIPES];

/* Time of large matmuls in NVIDIA's 4-bit format over that of the 8-bit ones with a scale for each
 * tensor, on the same chip: the median over the chips whose kernels were measured in both
 * (configs/kernels: B200, B300, GB200, GB300, RTX PRO 6000; 0.60 to 0.71). */
extern const double sp_fp4_matmul_time;

/* A recipe: what is stored per parameter, in bytes, and the dtype that matmuls run in. */
struct sp_precision {
    char name[64];
    double weight_bytes;
    double grad_bytes; /* including an fp32 accumulation buffer */
    double master_bytes;
    double optimizer_bytes; /* Adam: both moments */
    int compute_dtype;      /* enum sp_dtype */
};

/* State bytes per parameter: weights + gradients + master copy + optimizer moments.
 * ZeRO (Rajbhandari et al. 2020), section 3.1. */
double sp_state_bytes_per_param(const struct sp_precision *precision);

/* Bytes of a parameter's gradient that a device keeps over a step of this many micro-batches: the
 * recipe's. A recipe that has none (a gradient is used up as it is made) still adds up those of
 * several micro-batches, in the format of the weights. ZeRO, Rajbhandari et al. 2020, section 3. */
double sp_kept_grad_bytes(const struct sp_precision *precision, double microbatches);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
