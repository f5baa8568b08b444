/* Traces of requests and documents: CSV files of lengths. */
#include "config/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_table.h"
#include "base/memory.h"
#include "base/number.h"

/* The names that columns have: those of Hugging Face's and vLLM's benchmarks, of Azure's traces. */
static const char *const column_names[SP_TRACE_COLUMNS][6] = {
    [SP_TRACE_INPUT] = {"input", "isl", "prompt", "input_tokens", "length", "ContextTokens"},
    [SP_TRACE_OUTPUT] = {"output", "osl", "response", "output_tokens", "answer", "GeneratedTokens"},
    [SP_TRACE_ARRIVAL] = {"arrival", "arrival_s", "arrived_at", "arrival_time", "time",
                          "timestamp"},
};

void sp_free_traces(struct sp_trace *traces)
{
    while (traces) {
        struct sp_trace *const next = traces->next;
        for (int c = 0; c < SP_TRACE_COLUMNS; c++) {
            free(traces->column[c]);
            free(traces->sorted[c]);
        }
        free(traces->path);
        free(traces);
        traces = next;
    }
}

/* The file's number of a column, in row 0 if it has no header; -1: none. */
static int column_of(const struct sp_csv *csv, bool headed, int wanted)
{
    if (!headed)
        return wanted < (int)csv->columns ? wanted : -1;
    for (size_t i = 0; i < sizeof column_names[0] / sizeof *column_names[0]; i++)
        if (sp_csv_column(csv, column_names[wanted][i]) >= 0)
            return sp_csv_column(csv, column_names[wanted][i]);
    return -1;
}

/* A cell as tokens from 1, or as a time no earlier than the last. */
static bool take_cell(const struct sp_csv *csv, size_t row, int column, int as, double last,
                      const char *path, double *value, struct sp_error *error)
{
    const char *const cell =
        row > 0 ? sp_csv_cell(csv, row - 1, column) : sp_csv_name(csv, (size_t)column);
    const bool number = sp_parse_number(cell, value), time = as == SP_TRACE_ARRIVAL;
    if (number && (time ? *value >= last
                        : *value >= 1 && *value <= SP_MOST_TOKENS && *value == floor(*value)))
        return true;
    return sp_fail(error, SP_INPUT, "%s: line %zu, column %s: \"%s\" is not %s",
                   sp_safe(sp_origin_of(path)), row + 1, column_names[as][0], sp_safe(cell),
                   time ? "a time in seconds, no earlier than the line before"
                        : "a whole number of tokens from 1");
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Fills the columns that the file has; `only` is what a file of one column has. */
static bool fill(const struct sp_csv *csv, const char *path, int only, struct sp_trace *t,
                 struct sp_error *error)
{
    double any;
    const bool headed = !sp_parse_number(sp_csv_name(csv, 0), &any);
    const size_t first = headed ? 1 : 0;
    t->n = csv->rows - first;
    if (t->n == 0)
        return sp_fail(error, SP_INPUT, "%s: no line after the header",
                       sp_safe(sp_origin_of(path)));
    for (int c = 0; c < SP_TRACE_COLUMNS; c++) {
        const int alone = c == only ? 0 : -1;
        const int column = csv->columns == 1 ? alone : column_of(csv, headed, c);
        if (column < 0)
            continue;
        t->column[c] = sp_must(calloc(t->n, sizeof(double)));
        for (size_t i = 0; i < t->n; i++)
            if (!take_cell(csv, first + i, column, c, i ? t->column[c][i - 1] : 0, path,
                           &t->column[c][i], error))
                return false;
        t->sorted[c] = sp_must(malloc(t->n * sizeof(double)));
        memcpy(t->sorted[c], t->column[c], t->n * sizeof(double));
        qsort(t->sorted[c], t->n, sizeof(double), by_size);
    }
    return true;
}

const char *sp_trace_column_name(enum sp_trace_column column)
{
    return column_names[column][0];
}

const struct sp_trace *sp_read_trace(const char *path, enum sp_trace_column only,
                                     struct sp_pipes *pipes, struct sp_trace **traces,
                                     struct sp_error *error)
{
    struct sp_csv csv;
    size_t length;
    for (struct sp_trace *t = *traces; t; t = t->next)
        if (strcmp(t->path, path) == 0)
            return t;
    char *const text = sp_read_file(pipes, path, 256 << 20, &length, error);
    if (!text)
        return NULL;
    if (!sp_read_csv(text, length, sp_origin_of(path), &csv, error))
        return NULL;
    struct sp_trace *const t = sp_must(calloc(1, sizeof *t));
    t->path = sp_must(strdup(path));
    const bool filled = fill(&csv, path, (int)only, t, error);
    sp_csv_free(&csv);
    if (!filled) {
        sp_free_traces(t);
        return NULL;
    }
    t->next = *traces;
    return *traces = t;
}
