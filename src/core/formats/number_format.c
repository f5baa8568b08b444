/* Number formats: range, precision and bytes of an element. */
#include <scaleplan/formats.h>

#include <math.h>

/* What the largest exponent leaves for numbers: 0 or 1 powers of two less, and how many mantissas
 * at the top. */
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
    r->bias = exp2(e - 1) - 1;
    r->largest_exponent = exp2(e) - 1 - exponents - r->bias;
    r->largest_mantissa = 2 - exp2(-m) * (1 + mantissas);
    r->largest = r->largest_mantissa * exp2(r->largest_exponent);
    r->min_normal = exp2(1 - r->bias);
    r->smallest = r->min_normal * exp2(-m);
    r->epsilon = exp2(-m);
}

static void integer(const struct sp_number_format *f, struct sp_number_range *r)
{
    r->bias = r->largest_exponent = r->largest_mantissa = r->min_normal = NAN;
    r->largest = exp2((double)f->mantissa_bits) - 1;
    r->smallest = r->epsilon = 1;
}

struct sp_number_range sp_number_range(const struct sp_number_format *format)
{
    enum { BITS = 8 };
    const double scale = format->block > 0 ? (double)format->scale_bits / (double)format->block : 0;
    struct sp_number_range r = {.bytes = ((double)format->bits + scale) / BITS};
    (format->exponent_bits > 0 ? floating : integer)(format, &r);
    r.digits = (format->exponent_bits > 0 ? (double)format->mantissa_bits + 1
                                          : (double)format->mantissa_bits) *
               log10(2);
    r.octaves = log2(r.largest) - log2(r.smallest);
    return r;
}
