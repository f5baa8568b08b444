/* Internals of the runs reader. */
#ifndef SP_RUNS_INTERNAL_H
#define SP_RUNS_INTERNAL_H

#include "runs/columns.h"
#include "runs/runs.h"

enum { SP_MAX_FRAMEWORKS = 64, SP_MAX_KNOWN_CHIPS = 64 };

/* Files that rows name, each loaded once. */
struct sp_run_loaded {
    const struct sp_sources *sources;
    struct sp_framework_file frameworks[SP_MAX_FRAMEWORKS];
    struct sp_precision precision[SP_MAX_FRAMEWORKS]; /* of each framework; no name: not yet */
    size_t n_frameworks;
    struct {
        char hardware[64]; /* the column's text */
        struct sp_hardware hw;
    } chip[SP_MAX_KNOWN_CHIPS];
    size_t n_chips;
};

struct sp_row_reader {
    const struct sp_csv *csv;
    size_t row;
    const struct sp_sources *sources;
    struct sp_error *error;
    struct sp_run *run; /* of the row; unreadable cells become its problem */
    struct sp_run_loaded *loaded;
    const struct sp_framework_file *frameworks;
    size_t n_frameworks;
};

/* A cell by column name; "" if the column or cell is missing. */
const char *sp_row_text(const struct sp_row_reader *reader, const char *column);

/* "H100-SXM 80GB" -> "h100-sxm-80gb". */
void sp_run_slug(const char *text, char *out, size_t size);

/* A number of the row from `least` to `most`, or 0; NAN if the cell is empty or invalid (then a
 * problem). */
double sp_row_number(struct sp_row_reader *reader, const char *column, double least, double most);

/* A whole number of the row; `fallback` if the cell is empty or invalid. */
int64_t sp_row_whole(struct sp_row_reader *reader, const char *column, int64_t fallback);

/* 0, 1, no or yes; `fallback` for an empty cell or an unknown word (a problem). */
bool sp_row_flag(struct sp_row_reader *reader, const char *column, bool fallback);

/* The ZeRO stage in the column fsdp_zero; `fallback` if empty. */
int sp_row_zero(struct sp_row_reader *reader, int fallback);

/* Reads number format and 8-bit recipe from the precision column; empty: bf16. */
void sp_row_precision(struct sp_row_reader *reader);

/* The level at which the measured memory counts; SP_NO_LEVEL: not stated. */
enum sp_memory_level sp_row_level(struct sp_row_reader *reader);

/* The stage of `stages` whose memory was measured; -1: the fullest one's, or not stated. */
int64_t sp_row_stage(struct sp_row_reader *reader, int64_t stages);

/* Puts the recompute policy and modules into the plan; empty cells recompute nothing. */
void sp_row_recompute(struct sp_row_reader *reader);

/* Reads dispatcher, moe_overlap, cuda_graph and cp_kind; empty cells change nothing. */
void sp_row_execution(struct sp_row_reader *reader);

/* The convention of the row's FLOPs or MFU (enum sp_flop_convention); empty: 6 P; -1: not
 * stated. */
int sp_row_convention(const struct sp_row_reader *reader);

/* Notes that no such word is known in the column, and which are expected. */
void sp_row_unknown(struct sp_row_reader *reader, const char *column, const char *expected);

/* Whether `text` begins with `word` as a separate word, in any case. */
bool sp_begins_with_word(const char *text, const char *word);

/* Whether `text` contains the words, whole and in any case. */
bool sp_has_words(const char *text, const char *words);

/* Notes why the run cannot be predicted; the first reason is kept. */
__attribute__((format(printf, 2, 3))) void sp_row_problem(struct sp_run *run, const char *format,
                                                          ...);

void sp_read_row_framework(struct sp_row_reader *reader);
void sp_read_row_habits(struct sp_row_reader *reader);
void sp_read_row_model(struct sp_row_reader *reader);
void sp_read_row_tuning(struct sp_row_reader *reader);
void sp_read_row_plan(struct sp_row_reader *reader);
void sp_read_row_measurement(struct sp_row_reader *reader);

#endif
