/* Whether a text is JSON, and if not, which fault is where. */
#ifndef SP_JSON_SYNTAX_H
#define SP_JSON_SYNTAX_H

#include <stddef.h>

/* Most arrays and objects nested in each other. */
enum { SP_JSON_MAX_DEPTH = 64 };

/* NULL if the text is one JSON value, else the fault at the byte `where`. */
const char *sp_json_syntax(const char *text, size_t length, size_t *where);

#endif
