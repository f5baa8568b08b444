/* The rows of a sweep's parts, joined. */
#ifndef SP_JOINED_ROWS_H
#define SP_JOINED_ROWS_H

#include <stdint.h>

#include "base/read_file.h"

enum { SP_MOST_PART_BYTES = 1 << 30 };

/* A file. */
struct sp_part {
    const char *name;
    char *text;
    size_t length;
};

/* A row as it stands in its part, with the line break at its end. */
struct sp_part_row {
    uint64_t number;
    const char *text;
    size_t length;
    int part;
};

struct sp_joined_rows {
    struct sp_part *parts;
    int n_parts;
    struct sp_part_row *rows; /* in order */
    size_t n_rows, room;
    const char *header; /* of the CSV: all parts have the same; NULL as long as none is seen */
    size_t header_length, columns;
    bool json, started; /* what the first row of all is */
    char *keys;         /* of the first JSON line; all have the same */
};

/* Whether a text starts as the rows of a sweep do: CSV with its header, or JSON lines. */
bool sp_holds_rows(const char *text);

/* Reads the parts (CSV or JSON lines, each in the order of its rows) and checks all of it. A row
 * that no part has is an error unless there may be `gaps`. Free what was read either way. */
bool sp_join_rows(struct sp_pipes *pipes, const char *const *names, int n, bool gaps,
                  struct sp_joined_rows *joined, struct sp_error *error);
void sp_free_joined_rows(struct sp_joined_rows *joined);

#endif
