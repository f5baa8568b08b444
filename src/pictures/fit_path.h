/* The picture of `fit --path`. */
#ifndef SP_PICTURE_FIT_PATH_H
#define SP_PICTURE_FIT_PATH_H

#include "answer/report.h"
#include "pictures/pictures.h"

/* The questions that lead to a strategy, from the top down. */
struct sp_figure *sp_draw_path(const struct sp_report *report);

#endif
