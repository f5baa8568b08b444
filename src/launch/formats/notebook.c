/* Notebooks: the Python of their cells. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "launch/formats/python.h"

/* Lines of a cell; those for the notebook itself ("%pip", "!ls") are not Python. */
static void put_source(const char *text, FILE *out)
{
    for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n')
        fprintf(out, "%s%.*s\n", strchr("%!", text[strspn(text, " ")]) ? "#" : "",
                (int)strcspn(text, "\n"), text);
}

char *sp_notebook_code(const cJSON *root)
{
    const cJSON *const cells = cJSON_GetObjectItem(root, "cells");
    char *text = NULL;
    size_t size;
    if (!cJSON_IsArray(cells))
        return NULL;
    FILE *const out = sp_must(open_memstream(&text, &size));
    for (const cJSON *cell = cells->child; cell; cell = cell->next) {
        const cJSON *const kind = cJSON_GetObjectItem(cell, "cell_type"), *const source =
                                                                              cJSON_GetObjectItem(
                                                                                  cell, "source");
        if (!cJSON_IsString(kind) || !sp_is(kind->valuestring, "code") || !source)
            continue;
        if (cJSON_IsString(source))
            put_source(source->valuestring, out);
        for (const cJSON *line = cJSON_IsArray(source) ? source->child : NULL; line;
             line = line->next)
            if (cJSON_IsString(line))
                put_source(line->valuestring, out);
    }
    fclose(out);
    return text;
}
