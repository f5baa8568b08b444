/* Refusals: one cause a line, printable whatever the input was. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

bool sp_is_full(const struct sp_error *error)
{
    enum { MAX_LINES = 20 };
    return error->lines >= MAX_LINES || strlen(error->text) + 3 > sizeof error->text;
}

bool sp_fail(struct sp_error *error, enum sp_exit code, const char *format, ...)
{
    if (sp_is_full(error))
        return false;
    const size_t used = strlen(error->text);
    size_t room = sizeof error->text - used;
    char *line = error->text + used;
    if (error->lines > 0) {
        *line++ = '\n';
        room--;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(line, room, format, args);
    va_end(args);
    sp_make_printable(line, "");
    error->lines++;
    if (error->code == SP_OK)
        error->code = code;
    return false;
}

const char *sp_safe_in(struct sp_text *room, const char *text)
{
    enum { LONGEST = 80 };
    snprintf(room->s, LONGEST + 4, "%.*s%s", (int)LONGEST, text,
             strlen(text) > LONGEST ? "..." : "");
    sp_make_printable(room->s, "");
    return room->s;
}
