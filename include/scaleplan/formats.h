/* Number formats, and the recipes of training state: bytes of an element and of a parameter. */
#ifndef SCALEPLAN_FORMATS_H
#define SCALEPLAN_FORMATS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Recipes of training state ==
 *
 * Bytes of training state per parameter, and the number format of the matrix units.
 */

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
    double newton_schulz;   /* iterations by which an update of a matrix is made orthogonal; 0: an
                               optimizer that takes each parameter alone */
    int compute_dtype;      /* enum sp_dtype */
};

/* State bytes per parameter: weights + gradients + master copy + optimizer moments.
 * ZeRO (Rajbhandari et al. 2020), section 3.1. */
double sp_state_bytes_per_param(const struct sp_precision *precision);

/* Bytes of a parameter's gradient that a device keeps over a step of this many micro-batches: the
 * recipe's. A recipe that has none (a gradient is used up as it is made) still adds up those of
 * several micro-batches, in the format of the weights. ZeRO, Rajbhandari et al. 2020, section 3. */
double sp_kept_grad_bytes(const struct sp_precision *precision, double microbatches);

/*
 * == Formats by their bits ==
 *
 * Number formats: what an element may hold, from the bits that it is made of.
 */

/* What the patterns with the largest exponent stand for. */
enum sp_format_specials {
    SP_SPECIALS_IEEE, /* infinities and NaN take all of them */
    SP_SPECIALS_NAN,  /* NaN takes the one with the largest mantissa alone */
    SP_SPECIALS_NONE, /* numbers */
    SP_FORMAT_SPECIALS
};

/* A signed format: a sign, an exponent and a mantissa without its leading one. Without an exponent
 * it is an integer in two's complement. */
struct sp_number_format {
    char name[64];
    int64_t bits; /* that an element is stored in, its padding too */
    int64_t exponent_bits, mantissa_bits;
    int specials;       /* enum sp_format_specials */
    int64_t block;      /* elements that share a scale; 0: there is none */
    int64_t scale_bits; /* of that scale */
};

/* What follows. */
struct sp_number_range {
    double bytes;            /* of an element with its part of the scale */
    double scale_bits;       /* of a block's scale; 0: there is none */
    double block;            /* elements that share it; 1: there is none */
    double precision_bits;   /* mantissa, and the leading one where it is not stored */
    double bias;             /* of the exponent; NAN for integers, as the next three */
    double largest_exponent; /* of a number */
    double largest_mantissa; /* that goes with it, from 1 to 2 */
    double min_normal;       /* the smallest number of full precision */
    double largest;          /* number, without the scale */
    double smallest;         /* above 0: subnormal where there is an exponent */
    double epsilon;          /* step behind 1 */
    double digits;           /* decimal digits of a number of full precision */
    double octaves;          /* powers of two between them */
};

/* Range and precision of a format without its scale, bytes with it. IEEE 754-2019, section 3.3, for
 * e bits of exponent and m of mantissa: bias 2^(e-1) - 1, smallest normal 2^(1-bias), epsilon 2^-m;
 * formats that give up infinities keep their patterns for numbers (OCP 8-bit Floating Point 1.0 and
 * Microscaling Formats 1.0). An integer of n bits reaches 2^(n-1) - 1. */
struct sp_number_range sp_number_range(const struct sp_number_format *format);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
