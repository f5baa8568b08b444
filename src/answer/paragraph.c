/* A paragraph of the text, broken to a width. */
#include <string.h>

#include "answer/report_internal.h"

enum { LEAST_WIDTH = 40, LABEL = 13 }; /* a label and its blanks take at most this much */

/* The column where the text after a label begins, as in "run scaleplan"; 2: no label. */
static size_t text_begins(const char *text)
{
    const size_t blanks = strspn(text, " ");
    const char *const gap = strstr(text + blanks, "  ");
    if (blanks > 2)
        return blanks;
    const size_t begins = gap ? (size_t)(gap - text) + strspn(gap, " ") : 0;
    return begins > 0 && begins <= LABEL ? begins : blanks + 2;
}

/* Whether a blank belongs to what precedes it: between a number and its unit. */
static bool is_number(const char *word, size_t n)
{
    return n > 0 && strspn(word, "0123456789.,-+") == n && word[n - 1] != ',' && word[n] == ' ' &&
           word[n + 1] != ' ';
}

/* The length of a blank and a number that ends a phrase, as in "ZeRO 1, "; 0: something else. */
static size_t closing_number(const char *text)
{
    const size_t n = *text == ' ' ? 1 + strspn(text + 1, "0123456789") : 0;
    return n > 1 && text[n] == ',' && text[n + 1] == ' ' ? n + 1 : 0;
}

/* The length of the next word. Words between backticks stay together, as do a number and its unit,
 * a word and the number that closes its phrase, an option of a command and its value. */
static size_t word_length(const char *word, bool is_command)
{
    const char *const end = *word == '`' ? strchr(word + 1, '`') : NULL;
    size_t n = end ? (size_t)(end - word) : 0;
    n += strcspn(word + n, " ");
    if (!is_command && is_number(word, n))
        n += 1 + strcspn(word + n + 1, " ");
    if (!is_command)
        n += closing_number(word + n);
    const size_t value = word[n] == ' ' ? 1 + strcspn(word + n + 1, " ") : 0;
    return is_command && *word == '-' && value > 1 && word[n + 1] != '-' ? n + value : n;
}

void sp_print_paragraph(const char *text, int columns, FILE *out)
{
    const size_t width = columns == 0 ? 0 : columns < LEAST_WIDTH ? LEAST_WIDTH : (size_t)columns;
    const size_t indent = text_begins(text);
    const size_t label = strlen(text) > indent ? indent : 0;
    bool is_command = strncmp(text + label, "scaleplan ", 10) == 0;
    size_t column = 0;
    if (strspn(text, " ") == strlen(text))
        text = ""; /* a blank line carries no blanks */
    is_command = is_command || strncmp(text, "scaleplan ", 10) == 0;
    while (*text) {
        const size_t blanks = strspn(text, " ");
        const char *const word = text + blanks;
        const size_t n = word_length(word, is_command);
        const size_t tail = is_command && word[n] ? 2 : 0;
        if (width > 0 && column > indent && column + blanks + n + tail > width) {
            fprintf(out, "%s\n%*s", is_command ? " \\" : "", (int)indent + 2 * is_command, "");
            column = indent + 2 * is_command;
        } else {
            fwrite(text, 1, blanks, out);
            column += blanks;
        }
        fwrite(word, 1, n, out);
        column += n;
        text = word + n;
    }
    fputc('\n', out);
}
