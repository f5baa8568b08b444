/* UTF-8, sequence by sequence. */
#ifndef SP_UTF8_H
#define SP_UTF8_H

#include <stddef.h>

/* Length of the well-formed UTF-8 sequence at s, 0 when there is none. */
size_t sp_utf8_length(const unsigned char *s, size_t left);

/* How many of the bytes from s on, of `left`, are printable ASCII, 0x20 to 0x7e, without a break.
 */
size_t sp_plain_length(const unsigned char *s, size_t left);

#endif
