/* Pieces of a page of HTML that stands alone: text, and bars as a picture in SVG. */
#ifndef SP_HTML_H
#define SP_HTML_H

#include <stddef.h>
#include <stdio.h>

/* Text with what HTML reads as its own written as entities. NULL is nothing. */
void sp_html_text(FILE *out, const char *text);

/* A formatted text, escaped. */
__attribute__((format(printf, 2, 3))) void sp_html_format(FILE *out, const char *format, ...);

enum { SP_HTML_PARTS = 3 };

/* A bar: its name, its parts from the left, what stands behind its end. */
struct sp_html_bar {
    char label[64], note[96];
    double parts[SP_HTML_PARTS];
};

/* Horizontal bars on one scale, `names` of the parts above them, a line at `limit` (NAN: none), of
 * which `limit_text` says what it is. */
void sp_html_bars(FILE *out, const char *const names[SP_HTML_PARTS], const struct sp_html_bar *bars,
                  size_t n, double limit, const char *limit_text);

#endif
