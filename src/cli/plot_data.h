/* Pictures of reports: one file a command, plot_COMMAND.c, and what they share. */
#ifndef SP_PLOT_DATA_H
#define SP_PLOT_DATA_H

#include "../plot/pictures.h"
#include "command.h"

#define SP_PLOT_OF(command)                                                                        \
    struct sp_figure *sp_plot_##command(const struct sp_args *args,                                \
                                        const struct sp_report *report, struct sp_error *error)
SP_PLOT_OF(roofline);
SP_PLOT_OF(pipeline);
SP_PLOT_OF(memory);
SP_PLOT_OF(batch);
SP_PLOT_OF(step);
SP_PLOT_OF(search);

/* Whether --plot, if given, names a kind of picture, and goes with the other options: what prints
 * nothing but values has no place for one. Before the command runs: that may take long. */
bool sp_check_picture(const struct sp_args *args, struct sp_error *error);

/* Does what --plot asks for: writes the file, or gives the terminal's text for main to print behind
 * the report (free it). `width` of the terminal, 0 when standard output is none. Without --plot it
 * does nothing. */
bool sp_draw_picture(const struct sp_command *command, const struct sp_args *args,
                     const struct sp_report *report, int width, char **text,
                     struct sp_error *error);

/* A number, or a text, of a report by a path made like printf's; NAN, or "", when there is none. */
__attribute__((format(printf, 2, 3))) double sp_report_number(const struct sp_report *report,
                                                              const char *path, ...);
__attribute__((format(printf, 2, 3))) const char *sp_report_text(const struct sp_report *report,
                                                                 const char *path, ...);

#endif
