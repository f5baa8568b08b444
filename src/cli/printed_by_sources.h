/* Figures that sources print and the program does not: data of the textbook's cases ("printed",
 * "differs"). Found by the answer, not by the words of the question. */
#ifndef SP_CLI_PRINTED_BY_SOURCES_H
#define SP_CLI_PRINTED_BY_SOURCES_H

#include "cli/command.h"
#include "config/exercises.h"

/* The cases of a command that differ from their source, as JSON; made from tests/textbook when
 * building. */
struct sp_printed {
    const char *command, *text;
    size_t length;
};
extern const struct sp_printed sp_printed[];
extern const size_t sp_n_printed;

/* Notes each printed figure of a case that its answer does not have, with the reason. */
void sp_note_differences(struct sp_report *report, const struct sp_case *c,
                         const struct sp_report *answer);

/* The same for each case whose question the answer of a command answers. */
void sp_note_printed(const struct sp_command *command, const struct sp_args *args,
                     struct sp_report *report);

/* Adds to a refusal the value that a source prints where the program refuses. */
void sp_add_printed(struct sp_error *error);

#endif
