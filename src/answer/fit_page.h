/* The answer of `fit` as a page of HTML for readers without a shell. */
#ifndef SP_FIT_PAGE_H
#define SP_FIT_PAGE_H

#include "answer/report.h"

/* Attaches a self-contained, escaped page to a filled report; it loads and runs nothing. `price`:
 * of a chip-hour, as text. */
bool sp_write_fit_page(struct sp_report *report, const char *price, const char *path,
                       struct sp_error *error);

#endif
