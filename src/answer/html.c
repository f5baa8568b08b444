/* Parts of a self-contained HTML page: text, and bars in SVG. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "answer/html.h"

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
    char *text;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        abort();
    va_end(args);
    sp_html_text(out, text);
    free(text);
}

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;color:#1a1a1a;max-width:900px;margin:2em auto;"
    "padding:0 1em}h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.1em;margin:1.3em 0 .3em}"
    ".verdict{font-size:1.15em;border-left:6px solid #b00020;background:#f5f5f5;padding:.6em .9em}"
    ".yes{border-color:#00805a}dl{display:grid;grid-template-columns:repeat(4,1fr);gap:.5em 1em}"
    "dt{color:#555;font-size:.85em}dd{margin:0;font-weight:600}"
    "table{border-collapse:collapse;width:100%;font-size:.87em}"
    "th,td{text-align:left;vertical-align:top;padding:.25em .5em;border-bottom:1px solid #ddd}"
    "td:nth-child(3){white-space:nowrap}svg{width:100%;font:12px "
    "system-ui,sans-serif}ul{margin:.3em 0;padding-left:1.2em}"
    "li,.small{font-size:.87em}pre{background:#f5f5f5;padding:.6em;white-space:pre-wrap;"
    "font-size:.8em}h3{margin:1.2em 0 .2em}"
    "@page{size:A4;margin:12mm}@media print{body{font-size:10.5px;margin:0;max-width:none}"
    "tr,svg,li,div{break-inside:avoid}h2{break-after:avoid}svg{max-height:52mm}"
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

/* Sizes in SVG units. */
enum { WIDTH = 720, LEFT = 130, RIGHT = 150, ROW = 24, TOP = 30 };

/* Blue, orange and grey of Okabe and Ito's palette, told apart by colour-blind readers. */
static const char *const colours[SP_HTML_PARTS] = {"#0072b2", "#e69f00", "#999999"};

static double total(const struct sp_html_bar *bar)
{
    double sum = 0;
    for (int i = 0; i < SP_HTML_PARTS; i++)
        sum += bar->parts[i] > 0 ? bar->parts[i] : 0;
    return sum;
}

static void put_key(FILE *out, const char *const names[SP_HTML_PARTS])
{
    double x = LEFT;
    for (int i = 0; i < SP_HTML_PARTS; i++) {
        if (!names[i])
            continue;
        fprintf(out, "<rect x=\"%.0f\" y=\"6\" width=\"11\" height=\"11\" fill=\"%s\"/>", x,
                colours[i]);
        fprintf(out, "<text x=\"%.0f\" y=\"16\">", x + 16);
        sp_html_text(out, names[i]);
        fputs("</text>\n", out);
        x += 190;
    }
}

static void put_bar(FILE *out, const struct sp_html_bar *bar, size_t row, double scale)
{
    const double y = TOP + (double)row * ROW;
    double x = LEFT;
    fprintf(out, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">", LEFT - 8, y + 14);
    sp_html_text(out, bar->label);
    fputs("</text>", out);
    for (int i = 0; i < SP_HTML_PARTS; i++) {
        const double width = bar->parts[i] > 0 ? bar->parts[i] * scale : 0;
        fprintf(out, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>", x, y,
                width, ROW - 7, colours[i]);
        x += width;
    }
    fprintf(out, "<text x=\"%.0f\" y=\"%.0f\">", x + 8, y + 14);
    sp_html_text(out, bar->note);
    fputs("</text>\n", out);
}

/* Draws bars in the colours of the page, light and dark. */
void sp_html_bars(FILE *out, const char *const names[SP_HTML_PARTS], const struct sp_html_bar *bars,
                  size_t n, double limit, const char *limit_text)
{
    double most = isnan(limit) ? 0 : limit;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, total(&bars[i]));
    const double scale = most > 0 ? (WIDTH - LEFT - RIGHT) / most : 0;
    const double end = TOP + (double)n * ROW;
    fprintf(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\">\n", WIDTH,
            end + (isnan(limit) ? 6 : 20));
    put_key(out, names);
    for (size_t i = 0; i < n; i++)
        put_bar(out, &bars[i], i, scale);
    if (!isnan(limit)) {
        const double x = LEFT + limit * scale;
        fprintf(out, "<path d=\"M%.2f %d V%.0f\" stroke=\"#b00020\" stroke-dasharray=\"4 3\"/>", x,
                TOP - 6, end);
        fprintf(out, "<text x=\"%.2f\" y=\"%.0f\" text-anchor=\"end\" fill=\"#b00020\">", x,
                end + 13);
        sp_html_text(out, limit_text);
        fputs("</text>\n", out);
    }
    fputs("</svg>\n", out);
}
