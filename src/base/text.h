/* Text that is safe to print. */
#ifndef SP_TEXT_H
#define SP_TEXT_H

#include <stdbool.h>

/* A short text. SP_ROOM is one that lives to the end of the block in which it stands (the branch of
 * an `if` is a block): room for what sp_safe and its kind return, which no function can hand on. */
struct sp_text {
    char s[256];
};
#define SP_ROOM (&(struct sp_text){""})

/* Puts question marks in place of what is not UTF-8 and of characters that steer a terminal, but
 * for those in `keep`: names and paths come from outside. */
void sp_make_printable(char *text, const char *keep);

/* Whether it would leave the text alone. */
bool sp_is_printable(const char *text, const char *keep);

/* Makes one of what "1 devices" counts: the noun behind a lone 1, or behind "1 whole", loses its s.
 */
void sp_make_singular(char *text);

#endif
