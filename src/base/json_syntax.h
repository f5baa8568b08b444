/* Whether a text is JSON, and if not, what is wrong where. */
#ifndef SP_JSON_SYNTAX_H
#define SP_JSON_SYNTAX_H

#include <stddef.h>

/* Arrays and objects inside each other. */
enum { SP_JSON_MAX_DEPTH = 64 };

/* NULL when the text is one JSON value, else what is wrong at the byte `where`. */
const char *sp_json_syntax(const char *text, size_t length, size_t *where);

#endif
