/* Pictures of reports: one file a command, COMMAND_plot.c, and what they share. */
#ifndef SP_PLOT_DATA_H
#define SP_PLOT_DATA_H

#include "plot/pictures.h"
#include "cli/command.h"

#define SP_PLOT_OF(command)                                                                        \
    struct sp_figure *sp_plot_##command(const struct sp_args *args,                                \
                                        const struct sp_report *report, struct sp_error *error)
SP_PLOT_OF(roofline);
SP_PLOT_OF(pipeline);
SP_PLOT_OF(memory);
SP_PLOT_OF(batch);
SP_PLOT_OF(step);
SP_PLOT_OF(search);

/* A number, or a text, of a report by a path made like printf's; NAN, or "", when there is none. */
__attribute__((format(printf, 2, 3))) double sp_report_number(const struct sp_report *report,
                                                              const char *path, ...);
__attribute__((format(printf, 2, 3))) const char *sp_report_text(const struct sp_report *report,
                                                                 const char *path, ...);

#endif
