/* Prints rows as CSV, TSV or JSON lines as they arrive. */
#include "answer/rows.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"

static void write_tsv_cell(const char *text, bool formula, FILE *out)
{
    if (formula)
        fputc('\'', out);
    for (; *text; text++)
        fputc(strchr("\t\r\n", *text) ? ' ' : *text, out);
}

void sp_write_cell(const char *text, bool guard, char separator, FILE *out)
{
    const bool formula = guard && *text && strchr("=+-@\t\r", *text);
    if (separator == '\t') {
        write_tsv_cell(text, formula, out);
        return;
    }
    if (!formula && !strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fprintf(out, "\"%s", formula ? "'" : "");
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* A copy without terminal control characters, since options may be untrusted. free() it. */
static char *printable(const char *text)
{
    char *const copy = sp_must(strdup(text));
    sp_make_printable(copy, "\n");
    return copy;
}

static cJSON *json_words(const char *text)
{
    char *const copy = printable(text);
    cJSON *const words = cJSON_CreateString(copy);
    free(copy);
    return words;
}

static void write_words(const char *text, bool guard, char separator, FILE *out)
{
    char *const copy = printable(text);
    sp_write_cell(copy, guard, separator, out);
    free(copy);
}

void sp_write_row(const struct sp_cell *cells, size_t n, bool names, char separator, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            fputc(separator, out);
        if (names)
            write_words(cells[i].name, true, separator, out);
        else if (cells[i].value)
            write_words(cells[i].value, cells[i].words, separator, out);
    }
    fputc('\n', out);
}

void sp_write_json_row(const struct sp_cell *cells, size_t n, FILE *out)
{
    cJSON *const row = cJSON_CreateObject();
    for (size_t i = 0; i < n; i++) {
        const struct sp_cell *const cell = &cells[i];
        char *const name = printable(cell->name);
        cJSON *const value = !cell->value  ? cJSON_CreateNull()
                             : cell->words ? json_words(cell->value)
                                           : cJSON_CreateRaw(cell->value);
        if (cell->flat)
            cJSON_AddItemToObject(row, name, value);
        else
            sp_json_add_at(row, name, value);
        free(name);
    }
    char *const text = sp_must(cJSON_PrintUnformatted(row));
    fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(row);
}
