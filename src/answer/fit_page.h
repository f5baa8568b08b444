/* The answer of `fit` as a page of HTML for readers without a shell. */
#ifndef SP_FIT_PAGE_H
#define SP_FIT_PAGE_H

#include "answer/report.h"

/* Leaves a page over a filled report behind: nothing in it is loaded or run, all text is escaped.
 * `price` says a chip-hour's in words. */
bool sp_write_fit_page(struct sp_report *report, const char *price, const char *path,
                       struct sp_error *error);

#endif
