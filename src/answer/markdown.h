/* Reports as Markdown, and Markdown of our own as a page to print. */
#ifndef SP_MARKDOWN_H
#define SP_MARKDOWN_H

#include <stdio.h>

/* Writes text with Markdown's own marks escaped. */
void sp_markdown_text(const char *text, FILE *out);

/* Writes a self-contained page of the Markdown that this program writes: headings, paragraphs,
 * lists of one level, tables, blocks of code, quotes; `code` and **bold** in them. */
void sp_markdown_page(const char *markdown, FILE *out);

#endif
