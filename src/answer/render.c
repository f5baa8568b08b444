/* Renders a report in the form that was asked for. */
#include "answer/report_internal.h"

void sp_render(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    if (how->format == SP_FORMAT_MARKDOWN || how->format == SP_FORMAT_HTML)
        sp_render_markdown(report, how, out);
    else if (how->explain)
        sp_render_explain(report, how, out);
    else if (how->format == SP_FORMAT_JSON)
        sp_render_json(report, how, out);
    else if (how->format == SP_FORMAT_CSV || how->format == SP_FORMAT_TSV)
        sp_render_table(report, how, out);
    else if (how->format == SP_FORMAT_LAYOUT)
        sp_render_layout(report, out);
    else if (how->get)
        sp_render_get(report, how->get, out);
    else
        sp_render_text(report, how, out);
}
