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
    "table{border-collapse:collapse;width:100%;font-size:.87em}"
    "th,td{text-align:left;vertical-align:top;padding:.25em .5em;border-bottom:1px solid #ddd}"
    "ul{margin:.3em 0;padding-left:1.2em}li,.small{font-size:.87em}"
    "pre{background:#f5f5f5;padding:.6em;white-space:pre-wrap;font-size:.8em}"
    "h3{margin:1.2em 0 .2em}@page{size:A4;margin:12mm}@media print{"
    "body{font-size:10.5px;margin:0;padding:0;max-width:none}"
    "tr,svg,li,div{break-inside:avoid}h2{break-after:avoid}}";

void sp_html_open(FILE *out, const char *title, const char *more_style)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          out);
    sp_html_text(out, title);
    fprintf(out, "</title>\n<style>%s%s</style></head><body>\n", style, more_style);
}

void sp_html_close(FILE *out)
{
    fputs("</body></html>\n", out);
}
