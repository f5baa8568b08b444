/* Runs gnuplot as a filter: script in, picture out. */
#include "pictures/plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/filter.h"
#include "pictures/script.h"

bool sp_terminal_of(const char *target, enum sp_terminal *terminal, struct sp_error *error)
{
    static const struct {
        const char *ending;
        enum sp_terminal terminal;
    } endings[] = {{".svg", SP_TERMINAL_SVG},
                   {".png", SP_TERMINAL_PNG},
                   {".pdf", SP_TERMINAL_PDF},
                   {".json", SP_TERMINAL_JSON}};
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
        "--plot: \"%s\" ends in none of .svg, .png, .pdf and .json; - draws in the terminal",
        sp_safe(target));
}

/* gnuplot's error: the last line of its output that is not empty. */
static const char *complaint(char *text)
{
    const char *last = "no reason given";
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        line += strspn(line, " \t^");
        if (*line)
            last = line;
    }
    return last;
}

static bool explain(int failed, char *complaints, struct sp_error *error)
{
    if (failed == ENOENT)
        return sp_fail(error, SP_INTERNAL,
                       "--plot needs gnuplot, which is not installed (Debian: gnuplot-nox); "
                       "`--format csv` gives the numbers without it");
    if (failed > 0)
        return sp_fail(error, SP_INTERNAL, "--plot: gnuplot: %s", strerror(failed));
    return sp_fail(error, SP_INTERNAL, "--plot: gnuplot failed: %s",
                   complaints ? sp_safe(complaint(complaints)) : "no reason given");
}

/* -d: ignore the user's ~/.gnuplot. */
static bool run_gnuplot(const char *script, size_t length, char **bytes, size_t *size,
                        struct sp_error *error)
{
    char *const argv[] = {(char[]){"gnuplot"}, (char[]){"-d"}, (char[]){"-"}, NULL};
    struct sp_filtered drawn = {0};
    const int failed = script ? sp_run_filter(argv, script, length, &drawn) : ENOMEM;
    bool ok =
        failed == 0 ? drawn.output && drawn.size > 0 : explain(failed, drawn.complaints, error);
    if (failed == 0 && !ok)
        sp_fail(error, SP_INTERNAL, "--plot: gnuplot drew nothing");
    free(drawn.complaints);
    *bytes = drawn.output;
    *size = drawn.size;
    return ok;
}

bool sp_draw(const struct sp_figure *figure, const struct sp_canvas *canvas, char **bytes,
             size_t *size, struct sp_error *error)
{
    size_t length;
    for (size_t i = 0; i < figure->n_panels; i++)
        if (figure->panels[i].crowded)
            return sp_fail(error, SP_INPUT,
                           "--plot: \"%s\" has room for %d kinds of points and lines, and here are "
                           "more",
                           sp_safe(figure->panels[i].title), SP_MAX_SERIES);
    if (canvas->terminal == SP_TERMINAL_JSON)
        return (*bytes = sp_figure_json(figure, size)) ||
               sp_fail(error, SP_INTERNAL, "--plot: out of memory");
    /* Asked before the script is written: a page that starts no gnuplot needs no writer either. */
    if (!sp_starts_programs())
        return sp_fail(error, SP_INTERNAL,
                       "--plot needs gnuplot, which a page cannot start: its own pictures stand "
                       "under the answer, and .json gives their numbers");
    char *const script = sp_script(figure, canvas, &length);
    const bool ok = run_gnuplot(script, length, bytes, size, error);
    free(script);
    if (ok && canvas->terminal == SP_TERMINAL_TEXT)
        *size = sp_tidy_text(*bytes);
    if (ok && canvas->terminal == SP_TERMINAL_SVG)
        *size = sp_tidy_svg(*bytes);
    if (!ok) {
        free(*bytes);
        *bytes = NULL;
    }
    return ok;
}
