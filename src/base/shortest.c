/* Doubles in their shortest decimal form, exactly, without printf and strtod. */
#include "base/shortest.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Writes digits / 10^decimals without trailing zeros after the point. */
static void write_digits(uint64_t digits, int decimals, bool negative, char *out)
{
    char text[32], *at = text + sizeof text - 1;
    *at = '\0';
    for (; decimals > 0 && digits % 10 == 0; decimals--)
        digits /= 10;
    for (int n = 0; digits > 0 || n <= decimals; n++, digits /= 10) {
        if (n == decimals && n > 0)
            *--at = '.';
        *--at = (char)('0' + digits % 10);
    }
    if (negative)
        *--at = '-';
    memcpy(out, at, (size_t)(text + sizeof text - at));
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

enum { MANTISSA = 53 };
static const uint64_t least_mantissa = UINT64_C(1) << (MANTISSA - 1);

/* Whether digits / power, which differs from mantissa / 2^s by off / (power 2^s), reads back as
 * that double: the difference must be at most half the distance to the next double; exactly half
 * counts only if the mantissa is even. Below a power of 2 the next double is half as far away. */
static bool reads_back(wide off, wide power, uint64_t mantissa, bool below)
{
    const wide reach = below && mantissa == least_mantissa ? 4 : 2;
    return off * reach < power || (off * reach == power && mantissa % 2 == 0);
}

/* mantissa / 2^s is multiplied by a power of ten so that the digits precede the point: all
 * products are below 2^128 for a size from 1e-4 to 1e14. */
static bool shortest_part(double value, bool negative, char *out)
{
    int exponent, decimals = 14;
    const uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), MANTISSA);
    const int s = MANTISSA - exponent;
    double ten = 10, tenth = 1;
    for (; value >= ten; decimals--)
        ten *= 10;
    for (; value < tenth; decimals++)
        tenth /= 10;
    wide power = 1;
    for (int i = 0; i < decimals; i++)
        power *= 10;
    for (int n = 15;; n++, decimals++, power *= 10) {
        const wide whole = mantissa * power, half = (wide)1 << (s - 1),
                   rest = whole & (2 * half - 1);
        uint64_t digits = (uint64_t)(whole >> s);
        const bool up = rest > half || (rest == half && digits % 2 == 1);
        digits += up;
        if (n == 17 || reads_back(up ? 2 * half - rest : rest, power, mantissa, !up)) {
            write_digits(digits, decimals, negative, out);
            return true;
        }
    }
}
#else
static bool shortest_part(double value, bool negative, char *out)
{
    (void)value, (void)negative, (void)out;
    return false;
}
#endif

bool sp_shortest(double value, char out[32])
{
    const double size = fabs(value);
    if (size < 1e15 && value == (double)(int64_t)value) { /* the usual; no "-0" */
        write_digits((uint64_t)size, 0, value < 0, out);
        return true;
    }
    return size >= 1e-4 && size < 1e14 && shortest_part(size, value < 0, out);
}
