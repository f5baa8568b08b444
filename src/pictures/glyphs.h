/* Widths of text, for places that are chosen before anything draws. */
#ifndef SP_GLYPHS_H
#define SP_GLYPHS_H

#include <stddef.h>

/* The width of a text of this size in the widest of common sans-serif fonts. px */
double sp_text_px(const char *text, double size);

/* How many bytes of a text go on a line of `px`: up to the last space, slash, dot, comma, hyphen or
 * underscore that fits, and without one as many characters as fit, at least one. */
size_t sp_line_bytes(const char *text, double px, double size);

/* Copies as much of a text as fits into `px`, with an ellipsis where something is left out. */
void sp_fit_text(const char *text, double px, double size, char *out, size_t room);

#endif
