/* Parts of a self-contained HTML page. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "answer/html.h"

#include "base/memory.h"

void sp_html_text(FILE *out, const char *text)
{
    for (; text && *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*text, out);
        }
}

void sp_html_format(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *const text = sp_make_text_from(format, args);
    va_end(args);
    sp_html_text(out, text);
    free(text);
}

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;color:#1a1a1a;max-width:900px;margin:2em auto;"
    "padding:0 1em}h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.1em;margin:1.1em 0 .3em}"
    ".verdict{font-size:1.15em;border-left:6px solid #b00020;background:#f5f5f5;padding:.6em .9em}"
    ".yes{border-color:#00805a}dl{display:grid;grid-template-columns:repeat(4,1fr);gap:.5em 1em}"
    "dt{color:#555;font-size:.85em}dd{margin:0;font-weight:600}"
    "table{border-collapse:collapse;width:100%;font-size:.87em}"
    "th,td{text-align:left;vertical-align:top;padding:.25em .5em;border-bottom:1px solid #ddd}"
    "figure{display:grid;grid-template-columns:1fr 1fr;gap:1em;align-items:start;margin:1em 0}"
    "svg{width:100%;height:auto}"
    "ul{margin:.3em 0;padding-left:1.2em}"
    "li,.small{font-size:.87em}.verdict+ul li{font-size:1em}"
    "pre{background:#f5f5f5;padding:.6em;white-space:pre-wrap;"
    "font-size:.8em}h3{margin:1.2em 0 .2em}"
    "@media (max-width:600px){dl{grid-template-columns:1fr 1fr}figure{display:block}}"
    "@page{size:A4;margin:12mm}@media print{body{font-size:10.5px;margin:0;padding:0;"
    "max-width:none}h2{margin-top:.8em}section,li span,figure+h2+table "
    "tr:nth-child(n+8){display:none}.two{columns:2}"
    "tr,svg,li,div{break-inside:avoid}h2{break-after:avoid}"
    ".verdict{-webkit-print-color-adjust:exact;print-color-adjust:exact}"
    "svg rect{-webkit-print-color-adjust:exact;print-color-adjust:exact}}";

void sp_html_open(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          out);
    sp_html_text(out, title);
    fprintf(out, "</title>\n<style>%s</style></head><body>\n", style);
}

void sp_html_close(FILE *out)
{
    fputs("</body></html>\n", out);
}
