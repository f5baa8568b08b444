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

/* A row as text, line break included. */
struct sp_part_row {
    uint64_t number;
    const char *text;
    size_t length;
    int part;
    bool failed; /* it has a reason, no answer */
};

struct sp_joined_rows {
    struct sp_part *parts;
    int n_parts;
    struct sp_part_row *rows; /* in order */
    size_t n_rows, n_failed, room;
    const char *header; /* of the CSV, the same in all parts; NULL before the first */
    size_t header_length, columns;
    bool json, started; /* format of the first row */
    bool reasons;       /* the last column of the CSV has the reasons */
    char *keys;         /* of the first JSON line; all have the same */
};

/* Whether a text starts like rows of a sweep: CSV with its header, or JSON lines. */
bool sp_holds_rows(const char *text);

/* Reads and checks the parts (CSV or JSON lines, each in row order). With `valid` rows may be
 * missing, and those without an answer are left out; there may be none left. Free the result in
 * either case. */
bool sp_join_rows(struct sp_pipes *pipes, const char *const *names, int n, bool valid,
                  struct sp_joined_rows *joined, struct sp_error *error);
void sp_free_joined_rows(struct sp_joined_rows *joined);

#endif
