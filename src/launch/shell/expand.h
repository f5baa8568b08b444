/* Words of a shell's script and what they expand to; nothing is run. */
#ifndef SP_LAUNCH_SHELL_EXPAND_H
#define SP_LAUNCH_SHELL_EXPAND_H

#include "launch/shell/script_blanks.h"
#include "launch/shell/state.h"

/* A script being read: its names, and a way to find the line of a place in its text. */
struct sp_shell {
    struct sp_shell_scope scope;
    struct sp_shell_text text;
    const char *script, *source; /* the files that $0 and BASH_SOURCE are; NULL: not known */
    const char *counted;         /* a place whose line is known; NULL: every place is on `line` */
    int line;
};

/* The line of a place in the text that is read. */
int sp_shell_line_at(struct sp_shell *shell, const char *at);

/* The end of the word that starts here: an unquoted blank or operator. */
const char *sp_shell_end_of_word(const char *at);

/* The end of "( ... )", "$( ... )" or "` ... `" that starts here. */
const char *sp_shell_end_of_group(const char *at);

/* Expands the word that starts here into fields and returns its end. `split`: like words of a
 * command, so that blanks in values separate fields; else into one field, like an assigned
 * value. */
const char *sp_shell_expand(struct sp_shell *shell, const char *at, bool split,
                            struct sp_shell_fields *fields);

/* The text of the last here-document opened on this place's line: with values in place of names,
 * unless its end word was quoted. */
const char *sp_shell_expand_here(struct sp_shell *shell, const char *at,
                                 const struct sp_here *here);

#endif
