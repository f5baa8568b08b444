/* Chooses the writer of a picture; rsvg-convert, where it is installed, turns SVG into PNG and
 * PDF. */
#include "pictures/plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/filter.h"
#include "pictures/drawing.h"

bool sp_terminal_of(const char *target, enum sp_terminal *terminal, struct sp_error *error)
{
    static const struct {
        const char *ending;
        enum sp_terminal terminal;
    } endings[] = {{".svg", SP_TERMINAL_SVG},
                   {".png", SP_TERMINAL_PNG},
                   {".pdf", SP_TERMINAL_PDF},
                   {".json", SP_TERMINAL_JSON},
                   {".csv", SP_TERMINAL_CSV}};
    *terminal = SP_TERMINAL_TEXT;
    if (strcmp(target, "-") == 0)
        return true;
    const size_t n = strlen(target);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t ending = strlen(endings[i].ending);
        if (n > ending && strcasecmp(target + n - ending, endings[i].ending) == 0) {
            *terminal = endings[i].terminal;
            return true;
        }
    }
    return sp_fail(
        error, SP_INPUT,
        "--plot: \"%s\" ends in none of .svg, .png, .pdf, .csv and .json; - draws in the "
        "terminal",
        sp_safe(target));
}

/* The error of a program: the last line of its output that is not empty. */
static const char *complaint(char *text)
{
    const char *last = "no reason given";
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        line += strspn(line, " \t");
        if (*line)
            last = line;
    }
    return last;
}

static bool explain(int failed, char *complaints, struct sp_error *error)
{
    if (failed == ENOENT)
        return sp_fail(error, SP_INTERNAL,
                       "--plot: PNG and PDF need rsvg-convert, which is not installed (Debian: "
                       "librsvg2-bin); .svg needs nothing");
    if (failed > 0)
        return sp_fail(error, SP_INTERNAL, "--plot: rsvg-convert: %s", strerror(failed));
    return sp_fail(error, SP_INTERNAL, "--plot: rsvg-convert failed: %s",
                   complaints ? sp_safe(complaint(complaints)) : "no reason given");
}

/* Replaces an SVG by a PNG of twice the pixels, for sharp screens, or by a PDF. */
static bool convert(enum sp_terminal terminal, char **bytes, size_t *size, struct sp_error *error)
{
    char *const png[] = {(char[]){"rsvg-convert"}, (char[]){"--zoom=2"}, NULL};
    char *const pdf[] = {(char[]){"rsvg-convert"}, (char[]){"--format=pdf"}, NULL};
    struct sp_filtered drawn = {0};
    const int failed =
        sp_run_filter(terminal == SP_TERMINAL_PNG ? png : pdf, *bytes, *size, &drawn);
    bool ok =
        failed == 0 ? drawn.output && drawn.size > 0 : explain(failed, drawn.complaints, error);
    if (failed == 0 && !ok)
        sp_fail(error, SP_INTERNAL, "--plot: rsvg-convert drew nothing");
    free(drawn.complaints);
    free(*bytes);
    *bytes = drawn.output;
    *size = drawn.size;
    return ok;
}

static char *write(const struct sp_figure *figure, const struct sp_canvas *canvas, size_t *size)
{
    if (sp_starts_programs() && canvas->terminal == SP_TERMINAL_CSV)
        return sp_figure_csv(figure, size);
    if (sp_starts_programs() && canvas->terminal == SP_TERMINAL_JSON)
        return sp_figure_json(figure, size);
    if (sp_starts_programs() && canvas->terminal == SP_TERMINAL_TEXT)
        return sp_figure_text(figure, canvas->columns, size);
    return sp_figure_svg(figure, canvas->width > 0 ? canvas->width : SP_PICTURE_PX, true, size);
}

bool sp_draw(const struct sp_figure *figure, const struct sp_canvas *canvas, char **bytes,
             size_t *size, struct sp_error *error)
{
    for (size_t i = 0; i < figure->n_panels; i++)
        if (figure->panels[i].crowded)
            return sp_fail(error, SP_INPUT,
                           "--plot: \"%s\" has room for %d kinds of points and lines; there are "
                           "more",
                           sp_safe(figure->panels[i].title), SP_MAX_SERIES);
    /* A page shows SVG; every other writer would make it larger. */
    if (!sp_starts_programs() && canvas->terminal != SP_TERMINAL_SVG)
        return sp_fail(error, SP_INTERNAL, "--plot: a page draws only .svg");
    *bytes = write(figure, canvas, size);
    if (!*bytes)
        return sp_fail(error, SP_INTERNAL, "--plot: out of memory");
    const bool converted = sp_starts_programs() && (canvas->terminal == SP_TERMINAL_PNG ||
                                                    canvas->terminal == SP_TERMINAL_PDF);
    if (!converted || convert(canvas->terminal, bytes, size, error))
        return true;
    free(*bytes);
    *bytes = NULL;
    return false;
}
