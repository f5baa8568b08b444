/* Number formats: range, precision and bytes of an element. */
#include <scaleplan/formats.h>
#include <scaleplan/forms.h>

#include <math.h>
#include <stdbool.h>

/* The encodings that special values take from numbers: powers of two, and mantissas at the largest
 * exponent. */
static const struct {
    double exponents, mantissas;
} taken[SP_FORMAT_SPECIALS] = {
    [SP_SPECIALS_IEEE] = {1, 0},
    [SP_SPECIALS_NAN] = {0, 1},
    [SP_SPECIALS_NONE] = {0, 0},
};

static void floating(const struct sp_number_format *f, struct sp_number_range *r)
{
    const double e = (double)f->exponent_bits, m = (double)f->mantissa_bits;
    const double exponents = taken[f->specials].exponents, mantissas = taken[f->specials].mantissas;
    r->bias = sp_format_bias(e);
    r->largest_exponent = exp2(e) - 1 - exponents - r->bias;
    r->largest_mantissa = 2 - exp2(-m) * (1 + mantissas);
    r->largest = sp_format_largest(r->largest_mantissa, r->largest_exponent);
    r->min_normal = sp_format_min_normal(r->bias);
    r->smallest = sp_format_smallest(r->bias, m);
    r->epsilon = sp_format_epsilon(m);
}

static void integer(const struct sp_number_format *f, struct sp_number_range *r)
{
    r->bias = r->largest_exponent = r->largest_mantissa = r->min_normal = NAN;
    r->largest = sp_integer_largest((double)f->mantissa_bits);
    r->smallest = r->epsilon = 1;
}

/* A block's scale shifts the range without loss of precision, so only the bytes include it. */
struct sp_number_range sp_number_range(const struct sp_number_format *format)
{
    const bool floats = format->exponent_bits > 0, blocks = format->block > 0;
    struct sp_number_range r = {
        .scale_bits = blocks ? (double)format->scale_bits : 0,
        .block = blocks ? (double)format->block : 1,
        .precision_bits = (double)(format->mantissa_bits + floats),
    };
    (floats ? floating : integer)(format, &r);
    r.bytes = sp_format_bytes((double)format->bits, r.scale_bits, r.block);
    r.digits = sp_format_digits(r.precision_bits);
    r.octaves = sp_format_octaves(r.largest, r.smallest);
    return r;
}
