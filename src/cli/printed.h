/* Figures that sources print and the program does not: data of the textbook's cases ("printed",
 * "differs"). */
#ifndef SP_PRINTED_H
#define SP_PRINTED_H

#include "cli/command.h"
#include "config/exercises.h"

/* The cases of a command that have a printed figure, as JSON; made from tests/textbook when
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

/* The same for the case that was asked with these inputs, if there is one. */
void sp_note_printed(const struct sp_command *command, const struct sp_args *args,
                     struct sp_report *report);

#endif
