/* Widths of text, from the published metrics of its fonts. */
#include "pictures/glyphs.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* The reader's fonts are unknown: the wider of Helvetica (Adobe's AFM files; Arial and
 * Liberation Sans have the same) and of DejaVu Sans, the widest in common use, in 128ths of the
 * size, from space to ~. */
enum { UNIT = 128 };
static const unsigned char widths[] = {
    41, 52,  59, 108, 82, 122, 100, 36,  50, 50,  64,  108, 41, 47,  41, 44, 82, 82,  82,
    82, 82,  82, 82,  82, 82,  82,  44,  44, 108, 108, 108, 72, 130, 88, 88, 93, 99,  86,
    79, 100, 97, 38,  64, 86,  72,  111, 96, 101, 86,  101, 93, 86,  79, 94, 88, 127, 88,
    86, 88,  50, 44,  50, 108, 72,  64,  79, 82,  71,  82,  79, 46,  82, 82, 36, 36,  75,
    36, 125, 82, 79,  82, 82,  53,  67,  51, 82,  76,  105, 76, 76,  68, 82, 44, 82,  108};

static double width_of(unsigned char first, size_t bytes)
{
    enum { OTHER = 88, WIDE = 128 }; /* Latin letters with accents; signs of three bytes */
    if (first >= ' ' && first < ' ' + sizeof widths)
        return widths[first - ' '];
    return bytes > 2 ? WIDE : OTHER;
}

static size_t character(const char *at)
{
    const size_t n = sp_utf8_length((const unsigned char *)at, strnlen(at, 4));
    return n > 0 ? n : 1;
}

/* The width of the first n bytes. */
static double bytes_px(const char *text, size_t n, double size)
{
    double sum = 0;
    for (size_t i = 0, more; i < n && text[i]; i += more) {
        more = character(text + i);
        sum += width_of((unsigned char)text[i], more);
    }
    return sum * size / UNIT;
}

double sp_text_px(const char *text, double size)
{
    return bytes_px(text, strlen(text), size);
}

size_t sp_line_bytes(const char *text, double px, double size)
{
    size_t n = 0, last = 0;
    double used = 0;
    while (text[n]) {
        const size_t more = character(text + n);
        used += width_of((unsigned char)text[n], more) * size / UNIT;
        if (used > px && text[n] != ' ')
            break;
        n += more;
        if (strchr(" /.,-_", text[n - 1]) && text[n] &&
            !(text[n - 1] == '.' && isdigit((unsigned char)text[n])))
            last = n;
    }
    return !text[n] ? n : last ? last : n ? n : character(text);
}

void sp_fit_text(const char *text, double px, double size, char *out, size_t room)
{
    static const char ellipsis[] = "\xe2\x80\xa6";
    size_t n = strlen(text);
    const bool whole = bytes_px(text, n, size) <= px && n < room;
    while (!whole && n > 0 && (bytes_px(text, n, size) + size > px || n + sizeof ellipsis > room))
        do
            n--;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80);
    snprintf(out, room, "%.*s%s", (int)n, text, whole ? "" : ellipsis);
}
