/* Parts of a self-contained HTML page: text, and bars in SVG. */
#ifndef SP_HTML_H
#define SP_HTML_H

#include <stddef.h>
#include <stdio.h>

/* Writes text with the special characters of HTML as entities. NULL writes nothing. */
void sp_html_text(FILE *out, const char *text);

/* A formatted text, escaped. */
__attribute__((format(printf, 2, 3))) void sp_html_format(FILE *out, const char *format, ...);

/* The beginning of a self-contained page, its style with it, and its end. */
void sp_html_open(FILE *out, const char *title);
void sp_html_close(FILE *out);

enum { SP_HTML_PARTS = 3 };

/* A bar: name, parts from left to right, text at its end. */
struct sp_html_bar {
    char label[64], note[96];
    double parts[SP_HTML_PARTS];
};

/* Draws horizontal bars on a common scale, with the `names` of the parts above, and a line at
 * `limit` (NAN: none) labelled `limit_text`. */
void sp_html_bars(FILE *out, const char *const names[SP_HTML_PARTS], const struct sp_html_bar *bars,
                  size_t n, double limit, const char *limit_text);

#endif
