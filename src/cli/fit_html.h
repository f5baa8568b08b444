/* The page of `fit --report`. */
#ifndef SP_FIT_HTML_H
#define SP_FIT_HTML_H

#include <scaleplan/fit.h>

#include "cli/expected.h"

/* The page for decision makers shows the plan, the step and the days of `search`: those of the
 * closed forms are ideal. Without a plan of `search` (a size only, the book's rule, nothing fits)
 * it shows the closed form's. */
bool sp_write_fit_page(const struct sp_args *args, const struct sp_fit_input *in,
                       const struct sp_expected *expected, const char *price, bool fits,
                       struct sp_report *report, struct sp_error *error);

#endif
