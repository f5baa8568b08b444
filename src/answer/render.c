/* Renders a report in the form that was asked for. */
#include <stdlib.h>

#include "base/memory.h"
#include "answer/report_internal.h"

/* Prints formulas or a text, in images if they are counted. */
static void render_words(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    char *text = NULL;
    size_t size;
    FILE *const memory = report->in_images ? sp_must(open_memstream(&text, &size)) : out;
    (how->explain ? sp_render_explain : sp_render_text)(report, how, memory);
    if (memory == out)
        return;
    fclose(memory);
    sp_say_images(report, text);
    fputs(text, out);
    free(text);
}

static bool lists_values(enum sp_format format)
{
    return format == SP_FORMAT_JSON || format == SP_FORMAT_CSV || format == SP_FORMAT_TSV ||
           format == SP_FORMAT_LAYOUT;
}

/* Whether an answer consists of values alone, without its notes. */
static bool is_bare(const struct sp_render *how)
{
    return !how->explain &&
           (how->get || how->format == SP_FORMAT_CSV || how->format == SP_FORMAT_TSV);
}

static void render_plain(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    if (how->explain || (!how->get && !lists_values(how->format)))
        render_words(report, how, out);
    else if (how->format == SP_FORMAT_JSON)
        sp_render_json(report, how, out);
    else if (how->format == SP_FORMAT_CSV || how->format == SP_FORMAT_TSV)
        sp_render_table(report, how, out);
    else if (how->format == SP_FORMAT_LAYOUT)
        sp_render_layout(report, out);
    else
        sp_render_get(report, how->get, out);
}

/* The text that --get or --explain prints; NULL: neither is given. free() it. */
static char *asked_text(const struct sp_report *report, const struct sp_render *how)
{
    char *text = NULL;
    size_t size;
    if (!how->explain && !how->get)
        return NULL;
    FILE *const memory = sp_must(open_memstream(&text, &size));
    render_plain(report, how, memory);
    fclose(memory);
    return text;
}

void sp_render(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    if (how->format != SP_FORMAT_MARKDOWN && how->format != SP_FORMAT_HTML) {
        render_plain(report, how, out);
        if (how->notes && !how->quiet && is_bare(how)) {
            fflush(out); /* keeps the order of values and notes */
            sp_render_warnings(report, how->notes);
        }
        return;
    }
    char *const asked = asked_text(report, how);
    (how->format == SP_FORMAT_HTML ? sp_render_html : sp_render_markdown)(report, asked, out);
    free(asked);
}
