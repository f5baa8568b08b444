/* Where words of a shell's script, quotes and groups in parentheses end. */
#ifndef SP_LAUNCH_SHELL_WORD_ENDS_H
#define SP_LAUNCH_SHELL_WORD_ENDS_H

#include <stdbool.h>
#include <stddef.h>

/* How many characters of a name stand here: letters, digits, "_". */
size_t sp_shell_name_length(const char *at);

/* The end of the word that starts here: an unquoted blank or operator. */
const char *sp_shell_end_of_word(const char *at);

/* Whether the quotes and brackets of a word close before the end of the text. */
bool sp_shell_is_whole(const char *word, const char *end);

/* The end of a character of a word, or of quotes or a group that start here. */
const char *sp_shell_end_of_part(const char *at);

/* The end of a redirection into nothing ("2>/dev/null", "&> /dev/null", "2>&1"); `at` itself if
 * there is none. */
const char *sp_shell_skip_nowhere(const char *at);

/* The end of "( ... )", "$( ... )" or "` ... `" that starts here. */
const char *sp_shell_end_of_group(const char *at);

/* The end of `IFS=WORD;` before an echo, and its first character, which joins a list. Other words
 * before or after an echo make its output unknown. */
const char *sp_shell_read_joint(const char *at, char *joint);

/* The "/" behind the pattern of "/PATTERN/WITH", or its end. */
const char *sp_shell_end_of_replaced(const char *at, const char *end);

#endif
