/* The picture of `batch`. */
#ifndef SP_PICTURE_BATCH_H
#define SP_PICTURE_BATCH_H

#include "answer/report.h"
#include "pictures/pictures.h"

/* T_math and T_comms over the batch per chip with their crossings, for a model of `params` active
 * parameters; `tp` NAN: no TP. */
struct sp_figure *sp_draw_batch(const struct sp_report *report, const char *machine,
                                const char *model, double params, double tp);

#endif
