/* Doubles in their shortest decimal form, exactly, without printf and strtod. */
#ifndef SP_SHORTEST_H
#define SP_SHORTEST_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a whole number below 1e15, or a number between 1e-4 and 1e14 in size, with the fewest
 * digits of 15 to 17 that read back as the same double; the same text as "%.15g", "%.16g" or
 * "%.17g". False: the number is outside those ranges, or the compiler has no 128-bit integers. */
bool sp_shortest(double value, char out[32]);

#endif
