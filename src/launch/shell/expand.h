/* Words of a shell's script and what they expand to; nothing is run. */
#ifndef SP_LAUNCH_SHELL_EXPAND_H
#define SP_LAUNCH_SHELL_EXPAND_H

#include "launch/shell/script_blanks.h"
#include "launch/shell/state.h"
#include "launch/shell/word_ends.h"

/* A script being read: its names, and a way to find the line of a place in its text. */
struct sp_shell {
    struct sp_shell_scope scope;
    struct sp_shell_text text;
    const char *script, *source; /* the files that $0 and BASH_SOURCE are; NULL: not known */
    const char *counted;         /* a place whose line is known; NULL: every place is on `line` */
    int line;
    bool globbed;          /* a word that was expanded stands for the files of a pattern */
    const char *unread[2]; /* a command that changes what those after it do; NULL: none */
    int unread_line;
};

/* The line of a place in the text that is read. */
int sp_shell_line_at(struct sp_shell *shell, const char *at);

/* Expands the word that starts here into fields and returns its end. `split`: like words of a
 * command, so that blanks in values separate fields; else into one field, like an assigned
 * value. */
const char *sp_shell_expand(struct sp_shell *shell, const char *at, bool split,
                            struct sp_shell_fields *fields);

/* The text up to `end` as a pattern, where quotes put a backslash before `special` characters. */
void sp_shell_expand_pattern(struct sp_shell *shell, const char *at, const char *end,
                             const char *special, struct sp_shell_fields *fields);

/* The special characters of patterns of names. */
#define sp_shell_glob "*?[]\\%#/"

/* The same for a word of a command, which may be several in braces: a{b,c}, {1..3}. */
const char *sp_shell_expand_words(struct sp_shell *shell, const char *at,
                                  struct sp_shell_fields *fields);

/* The same for a text that is no part of the script: its marks have the line of `from`. */
void sp_shell_expand_apart(struct sp_shell *shell, const char *from, const char *text, bool split,
                           struct sp_shell_fields *fields);

/* The text of the last here-document opened on this place's line: with values in place of names,
 * unless its end word was quoted. */
const char *sp_shell_expand_here(struct sp_shell *shell, const char *at,
                                 const struct sp_here *here);

#endif
