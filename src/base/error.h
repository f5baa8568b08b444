/* Errors as values: one line per cause, with the place, the expected value, and the nearest known
 * name. */
#ifndef SP_ERROR_H
#define SP_ERROR_H

#include <stdbool.h>

#include "base/text.h"

/* Exit codes, see `scaleplan --help`. */
enum sp_exit { SP_OK = 0, SP_NO = 1, SP_USAGE = 2, SP_INPUT = 3, SP_INTERNAL = 4 };

struct sp_error {
    enum sp_exit code;
    int lines;
    char text[4096]; /* lines joined by '\n' */
};

/* Adds a line to the error and returns false, so that callers can `return sp_fail(...)`. Control
 * characters of the message are replaced: names and paths come from outside. */
__attribute__((format(printf, 3, 4))) bool sp_fail(struct sp_error *error, enum sp_exit code,
                                                   const char *format, ...);

/* Whether the error has no room for more lines, so that a check may stop looking for faults. */
bool sp_is_full(const struct sp_error *error);

/* `text` made safe to print and cut to 80 bytes; good to the end of the block. */
#define sp_safe(text) sp_safe_in(SP_ROOM, text)
const char *sp_safe_in(struct sp_text *room, const char *text);

#endif
