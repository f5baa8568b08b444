/* Traces of requests and documents: CSV files of lengths. */
#ifndef SP_TRACE_H
#define SP_TRACE_H

#include <stddef.h>

#include "base/error.h"
#include "base/read_file.h"

enum { SP_MOST_TOKENS = 1000000000 }; /* of one length */

enum sp_trace_column { SP_TRACE_INPUT, SP_TRACE_OUTPUT, SP_TRACE_ARRIVAL, SP_TRACE_COLUMNS };

/* A CSV file of requests or documents. */
struct sp_trace {
    struct sp_trace *next;
    char *path;
    size_t n;
    double *column[SP_TRACE_COLUMNS]; /* in the file's order: tokens, s; NULL: none */
    double *sorted[SP_TRACE_COLUMNS]; /* rising */
};
void sp_free_traces(struct sp_trace *traces);

/* The trace of a path, from those that were read, or read and put before them; `only` is what a
 * file of one column has. NULL: an error. */
const struct sp_trace *sp_read_trace(const char *path, enum sp_trace_column only,
                                     struct sp_pipes *pipes, struct sp_trace **traces,
                                     struct sp_error *error);

/* The name of a column in messages. */
const char *sp_trace_column_name(enum sp_trace_column column);

#endif
