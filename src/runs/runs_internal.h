/* Inside of the runs reader. */
#ifndef SP_RUNS_INTERNAL_H
#define SP_RUNS_INTERNAL_H

#include "runs/runs.h"

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

/* A number of the row: an empty cell is NAN. Numbers go from `least` to `most`; 0 counts as well.
 */
bool sp_row_number(struct sp_row_reader *reader, const char *column, double least, double most,
                   double *value);

/* A whole number of the row; an empty cell is `fallback`. */
bool sp_row_whole(struct sp_row_reader *reader, const char *column, int64_t fallback,
                  int64_t *value);

/* Words of the row; empty cells are the fallback, no ZeRO, bf16, no level and no stated policy.
 * What is not known is an error with its row and column. */
bool sp_row_flag(struct sp_row_reader *reader, const char *column, bool fallback, bool *value);
bool sp_row_zero(struct sp_row_reader *reader, int *zero);
bool sp_row_dtype(struct sp_row_reader *reader, enum sp_dtype *dtype);
bool sp_row_level(struct sp_row_reader *reader, enum sp_memory_level *level);
bool sp_row_recompute(struct sp_row_reader *reader, struct sp_run *run);

/* Notes why the run cannot be predicted (the first reason stays); returns false. */
__attribute__((format(printf, 2, 3))) bool sp_row_problem(struct sp_run *run, const char *format,
                                                          ...);

bool sp_read_row_model(struct sp_row_reader *reader, struct sp_run *run);
bool sp_read_row_plan(struct sp_row_reader *reader, struct sp_run *run);

/* Chooses the policy of a row that does not print one. */
void sp_infer_recompute(struct sp_run *run);

#endif
