/* Files of serving runs in `validate` and `calibrate`. */
#ifndef SP_SERVING_ROWS_H
#define SP_SERVING_ROWS_H

#include "commands/error_rows.h"
#include "runs/serving_errors.h"

/* The quantities of each measure's statistics. */
extern const struct sp_error_row_ids sp_serving_error_rows[SP_SERVING_MEASURES];

bool sp_validate_serving(const struct sp_args *args, const struct sp_sources *sources,
                         struct sp_report *report, struct sp_error *error);
bool sp_calibrate_serving(const struct sp_args *args, const struct sp_sources *sources,
                          struct sp_report *report, struct sp_error *error);

#endif
