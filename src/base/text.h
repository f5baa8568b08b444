/* Numbers as people type them, and names as people mistype them. */
#ifndef SP_TEXT_H
#define SP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define SP_NUMBERS_ACCEPTED "a number such as 3e6, 3M (10^6), 3Mi (2^20), 80GB, 80GiB or 40%"

/* Parses a non-negative number with an optional prefix k M G T P E (powers of 1000) or Ki Mi ...
 * (powers of 1024), an optional unit (B, B/s, FLOPs, FLOP/s, tokens, s, Hz, W) or a percent sign.
 * False when the text is anything else or the value is not finite. */
bool sp_parse_number(const char *text, double *value);

/* What stands behind a number that sp_parse_number takes, past a prefix: "B", "FLOP/s", "%", or "".
 */
const char *sp_unit_of_number(const char *text);

/* The same for a number of things, parameters or tokens: "7B" is 7 * 10^9, not 7 bytes. */
bool sp_parse_count(const char *text, double *value);

/* Parses "1024x4096" into up to `most` whole numbers, 0 among them; returns how many, 0 when it is
 * no such list. */
int sp_parse_dims(const char *text, double *dims, int most);

/* Keeps the candidate closest to a mistyped name. Start with {.wanted = name}. */
struct sp_nearest {
    const char *wanted;
    char best[96];
    size_t distance;
};

/* Offers a candidate. */
void sp_nearest_offer(struct sp_nearest *nearest, const char *candidate);

/* "; did you mean "x"?" when something is close enough, else "". Valid until the next call. */
const char *sp_nearest_hint(const struct sp_nearest *nearest);

/* Length of the well-formed UTF-8 sequence at s, 0 when there is none. */
size_t sp_utf8_length(const unsigned char *s, size_t left);

/* Puts question marks in place of what is not UTF-8 and of characters that steer a terminal, but
 * for those in `keep`: names and paths come from outside. */
void sp_make_printable(char *text, const char *keep);

/* Whether it would leave the text alone. */
bool sp_is_printable(const char *text, const char *keep);

#endif
