/* --plot: a command's picture, to a file or after its report. */
#include "cli/picture.h"

#include <stdlib.h>

#include "host/write_file.h"
#include "pictures/pictures.h"

/* Checks --plot. --plot FILE > FILE is refused: the picture would replace the report. */
bool sp_check_picture(const struct sp_args *args, struct sp_error *error)
{
    enum sp_terminal terminal;
    const char *const target = args->value.plot;
    if (!target)
        return true;
    if (!sp_terminal_of(target, &terminal, error))
        return false;
    if (terminal != SP_TERMINAL_TEXT)
        return sp_is_stdout(target)
                   ? sp_fail(error, SP_USAGE,
                             "--plot: standard output goes to %s: give the picture another file",
                             sp_safe(target))
                   : sp_may_write(target, error);
    const bool bare = args->given.get || args->given.explain;
    if (args->value.format == SP_FORMAT_TEXT && !bare)
        return true;
    return sp_fail(error, SP_USAGE,
                   "--plot - draws in the text output and excludes --format, --get and --explain: "
                   "give it a file");
}

bool sp_draw_picture(const struct sp_command *command, const struct sp_args *args,
                     const struct sp_report *report, int width, char **text, struct sp_error *error)
{
    enum { NARROWEST = 60, PIPED = 100, WIDEST = 200 };
    const char *const target = args->value.plot;
    struct sp_canvas canvas = {.width = (double)args->value.plot_width,
                               .columns = width == 0          ? PIPED
                                          : width < NARROWEST ? NARROWEST
                                          : width > WIDEST    ? WIDEST
                                                              : width};
    char *bytes = NULL;
    size_t size;
    *text = NULL;
    if (!target || !command->plot)
        return true;
    if (!sp_terminal_of(target, &canvas.terminal, error))
        return false;
    struct sp_figure *const figure = command->plot(args, report, error);
    if (!figure)
        return false;
    bool ok = sp_draw(figure, &canvas, &bytes, &size, error);
    sp_figure_free(figure);
    if (ok && canvas.terminal == SP_TERMINAL_TEXT) {
        *text = bytes;
        return true;
    }
    ok = ok && sp_write_file(target, bytes, size, error);
    free(bytes);
    return ok;
}
