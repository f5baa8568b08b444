/* Doubles in their shortest decimal form, exactly, without printf and strtod. */
#ifndef SP_SHORTEST_H
#define SP_SHORTEST_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a whole number below 1e15, or a number of a size from 1e-4 to 1e14, with the fewest digits
 * of 15 to 17 that read back as the same double; what "%.15g" and so on print. False: the number is
 * another, or the compiler has no whole numbers of 128 bits. */
bool sp_shortest(double value, char out[32]);

#endif
