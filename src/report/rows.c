#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

void sp_write_csv_cell(const char *text, bool guard, FILE *out)
{
    const bool formula = guard && *text && strchr("=+-@\t\r", *text);
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

void sp_write_csv_row(const struct sp_cell *cells, size_t n, bool names, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            fputc(',', out);
        if (names)
            sp_write_csv_cell(cells[i].name, true, out);
        else if (cells[i].value)
            sp_write_csv_cell(cells[i].value, cells[i].words, out);
    }
    fputc('\n', out);
}

void sp_write_json_row(const struct sp_cell *cells, size_t n, FILE *out)
{
    cJSON *const row = cJSON_CreateObject();
    for (size_t i = 0; i < n; i++) {
        const struct sp_cell *const cell = &cells[i];
        cJSON_AddItemToObject(row, cell->name,
                              !cell->value  ? cJSON_CreateNull()
                              : cell->words ? cJSON_CreateString(cell->value)
                                            : cJSON_CreateRaw(cell->value));
    }
    char *const text = cJSON_PrintUnformatted(row);
    if (!text)
        abort();
    fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(row);
}
