/* Files of serving runs in `validate` and `calibrate`. */
#ifndef SP_CMD_SERVING_RUNS_H
#define SP_CMD_SERVING_RUNS_H

#include "cli/command.h"
#include "commands/error_statistics.h"
#include "runs/serving_runs.h"

/* Whether a file of runs is one of serving, by its header. */
bool sp_is_serving_file(const char *path, const struct sp_sources *sources, bool *serves,
                        struct sp_error *error);

bool sp_validate_serving(const struct sp_args *args, const struct sp_sources *sources,
                         struct sp_report *report, struct sp_error *error);
bool sp_calibrate_serving(const struct sp_args *args, const struct sp_sources *sources,
                          struct sp_report *report, struct sp_error *error);

/* Errors of all three measures of the runs, none of which counts yet; free them. */
struct sp_error_table sp_new_serving_errors(const struct sp_serving_runs *runs,
                                            struct sp_report *report);
void sp_free_serving_errors(struct sp_error_table *table);

#endif
