/* Pictures of reports: one file a command, COMMAND_plot.c, and what they share. */
#ifndef SP_PLOT_DATA_H
#define SP_PLOT_DATA_H

#include "pictures/pictures.h"
#include "cli/command.h"

struct sp_figure *sp_plot_batch(const struct sp_args *args, const struct sp_report *report,
                                struct sp_error *error);
struct sp_figure *sp_plot_search(const struct sp_args *args, const struct sp_report *report,
                                 struct sp_error *error);
struct sp_figure *sp_plot_serve(const struct sp_args *args, const struct sp_report *report,
                                struct sp_error *error);
struct sp_figure *sp_plot_step(const struct sp_args *args, const struct sp_report *report,
                               struct sp_error *error);

/* A number, or a text, of a report; NAN, or "", when there is none. */
double sp_report_number(const struct sp_report *report, enum sp_quantity_id id);
const char *sp_report_text(const struct sp_report *report, enum sp_quantity_id id);

/* A number that sp_put_keyed put; NAN when there is none. */
double sp_keyed_number(const struct sp_report *report, const char *key);

/* The first two of the i-th entry of a list, such as "plans". */
double sp_listed_number(const struct sp_report *report, const char *list, size_t i,
                        enum sp_quantity_id id);
const char *sp_listed_text(const struct sp_report *report, const char *list, size_t i,
                           enum sp_quantity_id id);

#endif
