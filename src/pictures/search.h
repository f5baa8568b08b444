/* The picture of `search`. */
#ifndef SP_PICTURE_SEARCH_H
#define SP_PICTURE_SEARCH_H

#include "answer/report.h"
#include "pictures/plot.h"

/* The plans by memory and step time; `hw` names the machines. NULL with an error: none. */
struct sp_figure *sp_draw_search(const struct sp_report *report, const char *hw,
                                 struct sp_error *error);

#endif
