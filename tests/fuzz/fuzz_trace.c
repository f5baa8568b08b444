/* Traces of requests and documents: what is accepted has whole tokens and rising times. */
#include "fuzz.h"

#include <stdlib.h>

#include "config/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_trace *traces = NULL;
    struct sp_error error = {0};
    const enum sp_trace_column only =
        size > 0 && data[size - 1] % 2 ? SP_TRACE_OUTPUT : SP_TRACE_INPUT;
    const struct sp_trace *const t =
        sp_read_trace(fuzz_file(data, size), only, NULL, &traces, &error);
    fuzz_expect(t != NULL, &error);
    for (int c = 0; t && c < SP_TRACE_COLUMNS; c++)
        for (size_t i = 0; t->column[c] && i < t->n; i++) {
            fuzz_finite(t->column[c][i]);
            fuzz_finite(t->sorted[c][i]);
            if (i > 0 && t->sorted[c][i] < t->sorted[c][i - 1])
                abort();
            if (c != SP_TRACE_ARRIVAL && (t->column[c][i] < 1 || fmod(t->column[c][i], 1) != 0))
                abort();
        }
    sp_free_traces(traces);
    return 0;
}
