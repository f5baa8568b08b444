/* Parts of a self-contained HTML page. */
#ifndef SP_HTML_H
#define SP_HTML_H

#include <stdio.h>

/* Writes text with the special characters of HTML as entities. NULL writes nothing. */
void sp_html_text(FILE *out, const char *text);

/* A formatted text, escaped. */
__attribute__((format(printf, 2, 3))) void sp_html_format(FILE *out, const char *format, ...);

/* The beginning of a self-contained page, the common style and its own with it, and its end. */
void sp_html_open(FILE *out, const char *title, const char *more_style);
void sp_html_close(FILE *out);

#endif
