/* Number formats: what an element may hold, from the bits that it is made of. */
#ifndef SCALEPLAN_NUMBER_FORMAT_H
#define SCALEPLAN_NUMBER_FORMAT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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
