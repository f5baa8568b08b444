/* Quotes words for a shell. */
#ifndef SP_QUOTE_H
#define SP_QUOTE_H

#include <stdio.h>

/* Writes a word to `out` so that a POSIX shell reads it back unchanged: in single quotes if it is
 * empty or holds anything but letters, digits and -_=.,:/+@%. */
void sp_put_shell_word(const char *word, FILE *out);

#endif
