/* Number formats, and training recipes: bytes per element and per parameter. */
#ifndef SCALEPLAN_FORMATS_H
#define SCALEPLAN_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * == Recipes ==
 */

/* Number formats with a dense peak in chip data sheets. */
enum sp_dtype {
    SP_BF16,
    SP_FP16,
    SP_TF32,
    SP_FP32,
    SP_FP8,
    SP_INT8,
    SP_INT4,
    SP_FP4,
    SP_FP64,
    SP_DTYPES
};

/* Properties of a number format. */
struct sp_dtype_traits {
    double bytes;           /* of an element */
    double wire_bytes;      /* per element in the collectives of its matmuls */
    enum sp_dtype fallback; /* format used instead if a chip has no peak for it; itself: none */
};
extern const struct sp_dtype_traits sp_dtypes[SP_DTYPES];

/* Storage format of weights or cache of a served model. */
enum sp_storage {
    SP_STORED_BF16,
    SP_STORED_FP8,
    SP_STORED_FP8_BLOCK, /* a 32-bit scale for 128 x 128 weights: DeepSeek-V3 */
    SP_STORED_INT8,
    SP_STORED_NVFP4, /* blocks of 16 with an 8-bit scale */
    SP_STORED_MXFP4, /* blocks of 32 with an 8-bit scale: OCP MX */
    SP_STORED_INT4,
    SP_STORED_NF4,     /* blocks of 64 with quantised scales: QLoRA, Dettmers et al. 2023 */
    SP_STORED_INT4_WO, /* weights only, widened before they are multiplied */
    SP_STORED_AWQ,     /* the same in groups of 128 with a 16-bit scale and a 4-bit zero */
    SP_STORED_GPTQ,
    SP_STORAGES
};
struct sp_storage_traits {
    double bytes;         /* per element, scales included */
    enum sp_dtype matmul; /* format of the matmuls that read it */
    bool weights_only;    /* no format of a cache */
};
extern const struct sp_storage_traits sp_storages[SP_STORAGES];

/* Scaling of 8-bit matmuls, named by sp_fp8_recipe_names. */
enum sp_fp8_recipe {
    SP_FP8_TENSORWISE, /* one scale per tensor */
    SP_FP8_MXFP8,      /* per 32 elements (OCP MX) */
    SP_FP8_BLOCKWISE,  /* per 128 x 128 weights and per 1 x 128 activations */
    SP_FP8_ROWWISE,    /* per row */
    SP_FP8_RECIPES
};

/* Time of the layers' 8-bit matmuls relative to tensorwise scaling. */
struct sp_fp8_recipe_traits {
    double matmul;  /* all but the routed experts */
    double experts; /* grouped matmuls of the routed experts */
};
extern const struct sp_fp8_recipe_traits sp_fp8_recipes[SP_FP8_RECIPES];

/* Time of large NVFP4 matmuls over tensorwise 8-bit ones on the same chip: the median over chips
 * with both measured (configs/kernels: B200, B300, GB200, GB300, RTX PRO 6000; 0.60 to 0.71). */
extern const double sp_fp4_matmul_time;

/* A recipe: bytes per parameter of each state, and the format of matmuls. */
struct sp_precision {
    char name[64];
    double weight_bytes;
    double grad_bytes; /* including an fp32 accumulation buffer */
    double master_bytes;
    double optimizer_bytes; /* Adam: both moments */
    double newton_schulz;   /* iterations by which an update of a matrix is made orthogonal; 0: an
                               optimizer that treats each parameter separately */
    int compute_dtype;      /* enum sp_dtype */
};

/* State bytes per parameter: weights, gradients, master copy, optimizer moments. ZeRO (Rajbhandari
 * et al. 2020), section 3.1. */
double sp_state_bytes_per_param(const struct sp_precision *precision);

/* Bytes per trained parameter in a checkpoint: the state without gradients. */
double sp_checkpoint_bytes_per_param(const struct sp_precision *precision);

/* Bytes per parameter of the gradients kept over a step of `microbatches`: the recipe's. A recipe
 * without stored gradients still accumulates those of several micro-batches, in the format of the
 * weights. Rajbhandari et al. 2020, section 3. */
double sp_kept_grad_bytes(const struct sp_precision *precision, double microbatches);

/*
 * == Formats by their bits ==
 */

/* What bit patterns with the largest exponent encode. */
enum sp_format_specials {
    SP_SPECIALS_IEEE, /* infinities and NaN */
    SP_SPECIALS_NAN,  /* NaN only with the largest mantissa */
    SP_SPECIALS_NONE, /* ordinary numbers */
    SP_FORMAT_SPECIALS
};

/* A signed format: sign, exponent, mantissa without the implicit leading one. Without an exponent:
 * an integer in two's complement. */
struct sp_number_format {
    char name[64];
    int64_t bits; /* stored bits per element, padding included */
    int64_t exponent_bits, mantissa_bits;
    int specials;       /* enum sp_format_specials */
    int64_t block;      /* elements per scale; 0: no scale */
    int64_t scale_bits; /* bits of the scale */
};

/* Range and precision of a format. */
struct sp_number_range {
    double bytes;          /* per element, its share of the scale included */
    double scale_bits;     /* per block; 0: no scale */
    double block;          /* elements per scale; 1: no scale */
    double precision_bits; /* mantissa and implicit leading one */
    double bias;           /* exponent bias; NAN for integers, as the next three */
    double largest_exponent;
    double largest_mantissa; /* mantissa of the largest number, from 1 to 2 */
    double min_normal;       /* smallest number of full precision */
    double largest;          /* largest number, without the scale */
    double smallest;         /* smallest positive number, subnormal if there is an exponent */
    double epsilon;          /* 1 to the next larger number */
    double digits;           /* decimal digits at full precision */
    double octaves;          /* log2(largest / smallest) */
};

/* Range and precision of a format without its scale (`bytes` includes it). For e exponent and m
 * mantissa bits: bias 2^(e-1) - 1, smallest normal 2^(1-bias), epsilon 2^-m (IEEE 754-2019, section
 * 3.3). Formats without infinities use those patterns for numbers (OCP 8-bit Floating Point 1.0,
 * Microscaling Formats 1.0). An n-bit integer reaches 2^(n-1) - 1. */
struct sp_number_range sp_number_range(const struct sp_number_format *format);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
