/* A result: an ordered list of named quantities that every renderer shares. */
#ifndef SP_REPORT_H
#define SP_REPORT_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "answer/quantity.h"

/* A symbol that formulas may use, with its value. */
struct sp_symbol {
    char name[32];
    double value;
    const char *unit;
    char meaning[96];
};

enum sp_value_kind { SP_VALUE_NONE, SP_VALUE_NUMBER, SP_VALUE_BOOL, SP_VALUE_TEXT };

/* One quantity of the result. */
struct sp_entry {
    struct sp_quantity_info info;
    char path[160]; /* scope and key, "strategies.dp.fits" */
    enum sp_value_kind kind;
    double number;
    char *text;
    bool is_old;          /* the same quantity under the key of the version before */
    int scope;            /* index of the scope whose symbols its formula uses */
    enum sp_form_id form; /* closed form of the number; SP_CLOSED_NONE: none */
    size_t arguments;     /* index of its first argument, see sp_symbol_value */
};

struct sp_report;

struct sp_report *sp_report_new(const char *command);
void sp_report_free(struct sp_report *report);

/* Starts a scope: later keys get the prefix, and only they see later symbols. "" is the top scope,
 * whose symbols all formulas see. */
void sp_scope(struct sp_report *report, const char *prefix);

/* Replaces `word` by `as` in later keys and lines: with "LEVEL" as "2" the row "alpha.LEVEL" puts
 * alpha.2. NULL ends the replacement. */
void sp_key_word(struct sp_report *report, const char *word, const char *as);

/* Defines a symbol of the current scope. */
__attribute__((format(printf, 5, 6))) void sp_symbol(struct sp_report *report, const char *name,
                                                     double value, const char *unit,
                                                     const char *meaning, ...);

/* A number; NAN and infinities are null. */
void sp_put(struct sp_report *report, enum sp_quantity_id id, double value);
void sp_put_bool(struct sp_report *report, enum sp_quantity_id id, bool value);
void sp_put_null(struct sp_report *report, enum sp_quantity_id id);
__attribute__((format(printf, 3, 4))) void
sp_put_text(struct sp_report *report, enum sp_quantity_id id, const char *format, ...);

/* A number from a closed form with these arguments, in the form's order. */
void sp_put_form(struct sp_report *report, enum sp_quantity_id id, enum sp_form_id form,
                 const double *arguments, double value);

/* Text of several lines; sp_put_text joins lines. */
void sp_put_lines(struct sp_report *report, enum sp_quantity_id id, const char *text);

/* A number or verdict under a run-time key such as "alpha.2", with the row's formula and
 * meaning. */
void sp_put_keyed(struct sp_report *report, enum sp_quantity_id id, const char *key, double value);

/* A quantity described at run time, such as a config's field; the strings are copied. `text` NULL:
 * a number. */
void sp_put_described(struct sp_report *report, const char *key, const char *label,
                      enum sp_unit unit, const char *source, const char *meaning, double number,
                      const char *text);

/* Copies a quantity of another report to a key here: value, formula and source. The formula's
 * inputs become symbols of the current scope, so that --explain works here too. */
void sp_put_copy(struct sp_report *report, const char *key, const struct sp_report *from,
                 const struct sp_entry *entry);

/* The bare value of a quantity, as for --get. */
void sp_format_entry(const struct sp_entry *entry, char *out, size_t size);

/* A quantity's value rounded for people. */
void sp_human_entry(const struct sp_entry *entry, char *out, size_t size);

/* A note: an assumption, or where the answer is optimistic. In JSON under "notes". */
__attribute__((format(printf, 2, 3))) void sp_note(struct sp_report *report, const char *format,
                                                   ...);

/* Note i; NULL past the last. */
const char *sp_report_note(const struct sp_report *report, size_t i);

/* Adds a line of text; {key} is a quantity rounded for people, {key!} its exact value. Lines whose
 * keys are all null are omitted. */
__attribute__((format(printf, 2, 3))) void sp_line(struct sp_report *report, const char *format,
                                                   ...);

/* Makes a file's text the whole text of the report, printed unchanged for other programs; notes go
 * elsewhere. */
void sp_file_text(struct sp_report *report, const char *text);

/* A table: one row per scope prefix, one column per key ("key!": exact value; "": the quantity at
 * the prefix itself; "?": its meaning). */
struct sp_column {
    const char *key, *heading;
    bool left; /* left-aligned; the last column may wrap */
};
struct sp_row {
    char label[64];
    char prefix[112];
};
void sp_table(struct sp_report *report, const struct sp_column *columns, size_t n_columns,
              const struct sp_row *rows, size_t n_rows);

/* Declares the answer a list: with "plans", CSV and TSV print rows plans.0, plans.1, ... */
void sp_answer_is(struct sp_report *report, const char *list);

/* Sets the answer's output file (-o FILE), which is written when the report is printed; rows of a
 * sweep and cases write none. An empty name is an error. */
bool sp_put_file(struct sp_report *report, const char *path, const char *text,
                 struct sp_error *error);

/* Name and text of the file of sp_put_file; NULL: there is none. */
const char *sp_report_file(const struct sp_report *report, const char **text);

/* The quantity at a path; NULL if none. */
const struct sp_entry *sp_find(const struct sp_report *report, const char *path);

/* The value of a symbol or quantity as seen by an entry's formula; NAN if unknown. `unit` and
 * `meaning` may be NULL. */
double sp_symbol_value(const struct sp_report *report, const struct sp_entry *from,
                       const char *name, const char **unit, const char **meaning);

size_t sp_report_size(const struct sp_report *report);
const struct sp_entry *sp_report_entry(const struct sp_report *report, size_t i);

/* Layout: lines and tables as JSON, with the key of each number. */
enum sp_format { SP_FORMAT_TEXT, SP_FORMAT_JSON, SP_FORMAT_CSV, SP_FORMAT_TSV, SP_FORMAT_LAYOUT };

struct sp_render {
    enum sp_format format;
    bool colour;
    int width;               /* columns of the terminal; 0: unlimited */
    const char *get;         /* "key,key", whole paths or keys of rows; or NULL */
    const char *rows;        /* CSV and TSV: the list to print; NULL: one row */
    bool explain;            /* --explain given */
    const char *explain_key; /* its keys, whole paths, or NULL for all */
    bool one_line;           /* JSON without line breaks */
    FILE *notes;             /* stream for notes on a file's text; NULL: none */
};

/* The whole path of a typed key: the key itself, or the only path that contains it as whole parts
 * ("x_opt" of "strategies.fsdp_tp.x_opt"); rows of a list are never guessed. False with an error
 * that offers near keys. */
bool sp_full_key(const struct sp_report *report, const char *key, char *out, size_t size,
                 struct sp_error *error);

/* The same for "key,key"; free() it. NULL with an error. */
char *sp_full_keys(const struct sp_report *report, const char *keys, struct sp_error *error);

/* The list whose items become rows when `keys` (NULL: none) are asked for: the list of all keys,
 * else that of sp_answer_is unless a key is outside it. NULL: a single row. `*keys` becomes the
 * keys within a row, NULL for all; free() both. */
char *sp_rows_asked(const struct sp_report *report, char **keys);

/* Writes the notes, one per line, separately from the report. */
void sp_render_notes(const struct sp_report *report, FILE *out);

/* Writes the report as asked. */
void sp_render(const struct sp_report *report, const struct sp_render *how, FILE *out);

#endif
