/* Pictures of reports: one file a command, COMMAND_plot.c. */
#ifndef SP_PLOT_DATA_H
#define SP_PLOT_DATA_H

#include "cli/command.h"
#include "pictures/pictures.h"
#include "pictures/report_data.h"

struct sp_figure *sp_plot_serve(const struct sp_args *args, const struct sp_report *report,
                                struct sp_error *error);

#endif
