/* Words as a shell takes them. */
#ifndef SP_QUOTE_H
#define SP_QUOTE_H

#include <stdio.h>

/* Writes a word on `out` so that a POSIX shell reads it back as it is: in single quotes where it
 * holds anything but letters, digits and -_=.,:/+@%, or nothing at all. */
void sp_put_shell_word(const char *word, FILE *out);

#endif
