/* Numbers as people type them. */
#ifndef SP_NUMBER_H
#define SP_NUMBER_H

#include <stdbool.h>

#define SP_NUMBERS_ACCEPTED "a number such as 3e6, 3M (10^6), 3Mi (2^20), 80GB, 80GiB or 40%"

/* Parses a non-negative number with an optional prefix k M G T P E (powers of 1000) or Ki Mi ...
 * (powers of 1024), an optional unit (B, B/s, FLOPs, FLOP/s, tokens, s, Hz, W; ms, us, min, h, d or
 * days, and y of 365 days in seconds) or a percent sign.
 * False when the text is anything else or the value is not finite. */
bool sp_parse_number(const char *text, double *value);

/* The same with an optional minus sign. */
bool sp_parse_signed(const char *text, double *value);

/* A hint to append to an error for a "K" without an "i" or for a time in another unit; else "". */
const char *sp_prefix_hint(const char *text);

/* The unit after a number that sp_parse_number accepts and its prefix: "B", "FLOP/s", "%", or
 * "". */
const char *sp_unit_of_number(const char *text);

/* Parses a number of things, parameters or tokens, as sp_parse_number does, but "7B" is 7 * 10^9
 * of them, not 7 bytes. */
bool sp_parse_count(const char *text, double *value);

/* Parses "1024x4096", "1kx4Ki": two whole numbers without a unit, each as sp_parse_number
 * does. */
bool sp_parse_pair(const char *text, double pair[2]);

/* Parses "1024x4096" into up to `most` whole numbers (0 is allowed); returns how many, or 0 when
 * the text is not such a list. */
int sp_parse_dims(const char *text, double *dims, int most);

/* A value above 0, rounded to three digits: up if `up`, else down. */
double sp_to_three_digits(double value, bool up);

#endif
