/* UTF-8, sequence by sequence. */
#ifndef SP_UTF8_H
#define SP_UTF8_H

#include <stddef.h>

/* Length of the well-formed UTF-8 sequence at s, 0 when there is none. */
size_t sp_utf8_length(const unsigned char *s, size_t left);

/* The number of printable ASCII bytes (0x20 to 0x7e) at the start of the `left` bytes at s. */
size_t sp_plain_length(const unsigned char *s, size_t left);

#endif
