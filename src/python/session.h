/* The program as a shared library, for languages that load one: scaleplan.py is the first. A call
 * takes the words of a command line and gives back what the program would print. */
#ifndef SP_SESSION_H
#define SP_SESSION_H

#include <stddef.h>

#pragma GCC visibility push(default)

/* Inputs that its calls have read; one thread at a time. NULL: out of memory. */
struct sp_session;
struct sp_session *sp_session_new(void);
void sp_session_free(struct sp_session *session);

/* Runs the words (argv[0] is the program's name) with `input` of `length` bytes as standard input,
 * and returns the exit code; -1: no memory. *answer and *notes get the text of standard output and
 * standard error; sp_session_forget() both. */
int sp_session_run(struct sp_session *session, int argc, char **argv, const char *input,
                   size_t length, char **answer, char **notes);
void sp_session_forget(char *text);

#pragma GCC visibility pop
#endif
