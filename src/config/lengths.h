/* Lengths as they are typed: a number, a distribution, or a file of a trace. */
#ifndef SP_LENGTHS_TEXT_H
#define SP_LENGTHS_TEXT_H

#include <scaleplan/lengths.h>

#include "base/error.h"
#include "config/sources.h"
#include "config/trace.h"

#define SP_LENGTHS_ACCEPTED                                                                        \
    "a distribution (lognormal:MEAN:SIGMA, uniform:A:B, exponential:MEAN) or a CSV file"

/* Bytes of lengths as they are typed. */
enum { SP_LENGTHS_TEXT = 4096 };

/* Whether a text names lengths in another way than as a number. */
bool sp_names_lengths(const char *text);

/* Reads such a text, `what` of messages: "--input". A file has columns input, output and arrival,
 * also under the names that engines and clouds give them, or, without a header, in that order; a
 * file of one column has the lengths that are asked for. "512+" before them is a prompt of that
 * many tokens for each (a file's column is then output); ":4096" after them cuts longer ones there,
 * without the prompt. `trace` (may be NULL) is the file's, which the world of the sources keeps;
 * NULL: it was none. */
bool sp_load_lengths(const char *text, const char *what, enum sp_trace_column column,
                     const struct sp_sources *sources, struct sp_lengths *lengths,
                     const struct sp_trace **trace, struct sp_error *error);

/* Lengths as sp_load_lengths reads them: `text` is what they were read from. */
void sp_lengths_words(const struct sp_lengths *lengths, const char *text, char *words, size_t size);

#endif
