/* Places of a Python text. */
#ifndef SP_LAUNCH_PYTHON_TEXT_H
#define SP_LAUNCH_PYTHON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The end of a text in quotes that starts here, whatever it contains. */
const char *sp_end_of_quotes(const char *at, const char *end);

/* The next place outside quotes and comments; `at` must be outside of them too. */
const char *sp_python_step(const char *at, const char *end);

/* The first of `stops` outside of brackets and quotes, or the end. */
const char *sp_find_outside(const char *at, const char *end, const char *stops);

/* Removes blanks, line ends and comments at both ends. */
void sp_trim_python(const char **from, const char **to);

/* Whether a text ends in another. */
bool sp_ends_python(const char *from, const char *to, const char *end);

/* Spells NAME["KEY"] as NAME.KEY; false where a bracket holds anything else. */
bool sp_spell_keys(char *path);

/* Letters before the parenthesis of "int(X)" and similar calls, if an expression is one of them and
 * so has the value of X; 0: it is another one. */
size_t sp_python_cast(const char *from, const char *to);

bool sp_is_python_letter(char c);

/* The end of the name that starts here; where there is none, the same place. */
const char *sp_end_of_name(const char *from, const char *to);

#endif
