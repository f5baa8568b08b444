/* Inside of the runs reader. */
#ifndef SP_RUNS_INTERNAL_H
#define SP_RUNS_INTERNAL_H

#include "runs.h"

struct sp_row_reader {
    const struct sp_csv *csv;
    size_t row;
    const char *origin;
    const struct sp_sources *sources;
    struct sp_error *error;
    const struct sp_run *runs; /* the rows before: a chip is looked up once */
    const struct sp_framework_file *frameworks;
    size_t n_frameworks;
};

enum { SP_MAX_FRAMEWORKS = 64 };

/* A cell by its column's name, "" where either is missing. */
const char *sp_row_text(const struct sp_row_reader *reader, const char *column);

/* A whole number of the row; an empty cell is `fallback`. */
bool sp_row_whole(struct sp_row_reader *reader, const char *column, int64_t fallback,
                  int64_t *value);

/* Notes why the run cannot be predicted (the first reason stays); returns false. */
__attribute__((format(printf, 2, 3))) bool sp_row_problem(struct sp_run *run, const char *format,
                                                          ...);

bool sp_read_row_model(struct sp_row_reader *reader, struct sp_run *run);
bool sp_read_row_plan(struct sp_row_reader *reader, struct sp_run *run);

/* Chooses the policy of a row that does not print one. */
void sp_infer_recompute(struct sp_run *run);

#endif
