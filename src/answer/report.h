/* A result: an ordered list of named quantities that every renderer shares. */
#ifndef SP_REPORT_H
#define SP_REPORT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "answer/asked_quantities.h"
#include "answer/quantity.h"

enum sp_value_kind { SP_VALUE_NONE, SP_VALUE_NUMBER, SP_VALUE_BOOL, SP_VALUE_TEXT };

/* One quantity of the result. Small, since a file of runs has a dozen for each. */
struct sp_entry {
    const struct sp_quantity_info *info;
    const char *scope; /* of its path, see sp_path: "strategies.dp", or "" */
    union {
        double number;    /* unless it is a text: see sp_entry_number */
        const char *text; /* if it is one: see sp_entry_text */
    };
    uint32_t arguments; /* index of its first argument, see sp_argument_value */
    uint16_t form;      /* closed form of the number; SP_CLOSED_NONE: none */
    uint8_t kind;       /* enum sp_value_kind */
    bool is_old;        /* the same quantity under its key in the previous version */
};

/* The number, or 1 and 0 for yes and no; NAN: null, a text, or no entry. */
static inline double sp_entry_number(const struct sp_entry *entry)
{
    return entry && entry->kind != SP_VALUE_TEXT ? entry->number : NAN;
}

/* The text; NULL: none, or no entry. */
static inline const char *sp_entry_text(const struct sp_entry *entry)
{
    return entry && entry->kind == SP_VALUE_TEXT ? entry->text : NULL;
}

struct sp_report;

struct sp_report *sp_report_new(const char *command);
void sp_report_free(struct sp_report *report);

/* From here on the report takes only quantities asked for by whole paths: no other quantity, no
 * line, table or remark. */
void sp_ask_only(struct sp_report *report, const struct sp_asked *asked);

/* Whether the report takes a row in the current scope, or anything of a scope such as "stages". Ask
 * before computing something only for them. */
bool sp_takes(const struct sp_report *report, enum sp_quantity_id id);
bool sp_takes_scope(const struct sp_report *report, const char *prefix);

/* Whether it takes lines, tables and remarks. */
bool sp_takes_words(const struct sp_report *report);

/* Starts a scope: later keys get the prefix. "" is the top scope. */
void sp_scope(struct sp_report *report, const char *prefix);

/* Replaces `word` by `as` in later keys and lines: with "LEVEL" as "2" the row "alpha.LEVEL" puts
 * alpha.2. NULL ends the replacement. */
void sp_key_word(struct sp_report *report, const char *word, const char *as);

/* Whether a sample of the model is an image: later texts then say image instead of token. */
void sp_count_images(struct sp_report *report, bool in_images);

/* A number; NAN and infinities are null. */
void sp_put(struct sp_report *report, enum sp_quantity_id id, double value);
void sp_put_bool(struct sp_report *report, enum sp_quantity_id id, bool value);
void sp_put_null(struct sp_report *report, enum sp_quantity_id id);
__attribute__((format(printf, 3, 4))) void
sp_put_text(struct sp_report *report, enum sp_quantity_id id, const char *format, ...);

/* Text; NULL and "" are null. */
void sp_put_words(struct sp_report *report, enum sp_quantity_id id, const char *text);

/* A number, computed by a closed form from these arguments, all of them, in the form's order:
 * SP_ARGUMENTS(a, b). */
#define SP_ARGUMENTS(...)                                                                          \
    (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)
void sp_put_form(struct sp_report *report, enum sp_quantity_id id, enum sp_form_id form,
                 const double *arguments, size_t n, double value);

/* Text of several lines; sp_put_text joins lines. */
void sp_put_lines(struct sp_report *report, enum sp_quantity_id id, const char *text);

/* A quantity described at run time, such as a config's field; the strings are copied. `text` NULL:
 * a number. */
void sp_put_described(struct sp_report *report, const char *key, const char *label,
                      enum sp_unit unit, const char *source, const char *meaning, double number,
                      const char *text);

/* Copies a quantity of another report to a key of this one: value, source, and the form with its
 * arguments, so that --explain derives it here too. */
void sp_put_copy(struct sp_report *report, const char *key, const struct sp_report *from,
                 const struct sp_entry *entry);

/* The path of a quantity, its scope and its key: "strategies.dp.fits"; one of several parts is made
 * in `room`. */
#define sp_path(entry) sp_path_in(SP_ROOM, entry)
const char *sp_path_in(struct sp_text *room, const struct sp_entry *entry);

/* The bare value of a quantity, as for --get, and the value rounded for people ("-": NULL, or
 * null): its own text, or one made in `room`. */
const char *sp_exact_value(const struct sp_entry *entry, struct sp_text *room);
const char *sp_human_value(const struct sp_entry *entry, struct sp_text *room);

/* A note: an assumption, or where the answer is optimistic. In JSON under "notes". */
__attribute__((format(printf, 2, 3))) void sp_note(struct sp_report *report, const char *format,
                                                   ...);

/* The same about what was read of the input: also printed beside an answer of values alone, so that
 * a script's user sees it. */
__attribute__((format(printf, 2, 3))) void sp_warn(struct sp_report *report, const char *format,
                                                   ...);

/* Note i; NULL past the last. */
const char *sp_report_note(const struct sp_report *report, size_t i);

/* Where lines, tables and remarks are shown: in the short text and in that of --details, or in one
 * of them; SP_LISTED: in both, tables whole; SP_SPREAD: in both, a long table sampled from end to
 * end; SP_SPARE: in both; SP_BRIEF_SPARE: only in the short text; the last two if it has room.
 * Other formats contain the text of --details. */
enum sp_where { SP_BOTH, SP_DETAILS, SP_BRIEF, SP_LISTED, SP_SPREAD, SP_SPARE, SP_BRIEF_SPARE };

/* Sets the place of the lines that follow. */
void sp_stand_in(struct sp_report *report, enum sp_where place);
enum sp_where sp_where_now(const struct sp_report *report);

/* Adds a line of text; {key} is a quantity rounded for people, {key!} its exact value. Lines whose
 * keys are all null are omitted. */
__attribute__((format(printf, 2, 3))) void sp_line(struct sp_report *report, const char *format,
                                                   ...);

/* Makes a file's text the whole text of the report, printed unchanged for other programs; notes go
 * elsewhere. */
void sp_file_text(struct sp_report *report, const char *text);

/* The same for a text in Markdown, which --format html makes a page. */
void sp_markdown_file(struct sp_report *report, const char *text);

/* A table: one row per scope prefix, one column per key ("key!": exact value; "": the quantity at
 * the prefix itself; "?": its meaning). */
struct sp_column {
    const char *key, *heading;
    bool left;    /* left-aligned; the last column may wrap */
    bool details; /* only in the text of --details */
};
struct sp_row {
    const char *label, *prefix;
};
void sp_table(struct sp_report *report, const struct sp_column *columns, size_t n_columns,
              const struct sp_row *rows, size_t n_rows);

/* Starts the scope of a list's row, "plans.%d", and keeps it for a table of that list. Its label is
 * the last part of the scope where it is NULL. */
__attribute__((format(printf, 3, 4))) void sp_begin_row(struct sp_report *report, const char *label,
                                                        const char *prefix, ...);

/* Leaves the last row out of the table. */
void sp_drop_row(struct sp_report *report);

/* Puts row i of the table first, so that a short text includes it. */
void sp_lead_row(struct sp_report *report, size_t i);

/* Text layout: the table of the rows that were begun of the list "plans", below an empty line, and
 * the top scope again; nothing if there are no rows. `columns` has keys of a row between commas,
 * each under the label of its quantity or "key: heading"; ": heading" is the column of the labels.
 * Numbers are right-aligned, words and verdicts left-aligned, a ">key" right-aligned; a "+key"
 * is shown only with --details. NULL: a column for every quantity of a row, beside its name. */
__attribute__((format(printf, 3, 4))) void sp_list_table(struct sp_report *report, const char *list,
                                                         const char *columns, ...);

/* Text layout: an empty line and a table of the quantities with a value that were put since entry
 * `first`, with their meanings; `groups` NULL: of all groups, else of "network,ratio". */
void sp_section(struct sp_report *report, const char *heading, size_t first, const char *groups);

/* Declares the answer a list: with "plans", CSV and TSV print rows plans.0, plans.1, ... */
void sp_answer_is(struct sp_report *report, const char *list);

/* The same for a list in order of merit: a key of its rows, such as step_s, then means the first
 * row before any other. */
void sp_answer_is_first_of(struct sp_report *report, const char *list);

/* Says why that list has no rows, which a request for one of their keys then prints. `sp_lack_of`:
 * NULL if no reason was given. */
void sp_say_lack(struct sp_report *report, const char *why);
const char *sp_lack_of(const struct sp_report *report);

/* Sets the answer's output file (-o FILE), which is written when the report is printed; rows of a
 * sweep and of cases write none. An empty name is an error. */
bool sp_put_file(struct sp_report *report, const char *path, const char *text,
                 struct sp_error *error);

/* Name and text of the file of sp_put_file; NULL: none. */
const char *sp_report_file(const struct sp_report *report, const char **text);

/* The quantity at a path; NULL if none. */
const struct sp_entry *sp_find(const struct sp_report *report, const char *path);

/* Whether the quantity at a path is a yes; not if there is none. */
bool sp_says_yes(const struct sp_report *report, const char *path);

/* The value of an argument of the form that gives an entry; NAN if it has no argument of that name.
 * `unit` and `meaning` may be NULL. */
double sp_argument_value(const struct sp_report *report, const struct sp_entry *entry,
                         const char *name, const char **unit, const char **meaning);

size_t sp_report_size(const struct sp_report *report);
const struct sp_entry *sp_report_entry(const struct sp_report *report, size_t i);

/* Layout: lines and tables as JSON, with the key of each number. */
enum sp_format {
    SP_FORMAT_TEXT,
    SP_FORMAT_JSON,
    SP_FORMAT_CSV,
    SP_FORMAT_TSV,
    SP_FORMAT_LAYOUT,
    SP_FORMAT_MARKDOWN,
    SP_FORMAT_HTML
};

struct sp_render {
    enum sp_format format;
    bool colour;
    int width;               /* columns of the text; 0: unlimited */
    int lines;               /* lines of the text, cut to it where tables allow; 0: unlimited */
    bool details;            /* the whole text */
    bool quiet;              /* no remarks */
    const char *get;         /* "key,key", whole paths or keys of rows; or NULL */
    const char *rows;        /* CSV and TSV: the list to print; NULL: one row */
    bool no_header;          /* rows without their names */
    bool explain;            /* --explain given */
    const char *explain_key; /* its keys, whole paths, or NULL for all */
    bool derive;             /* --derive: the lines before each formula */
    bool one_line;           /* JSON without line breaks */
    FILE *notes;             /* stream for notes on a file's text or on values; NULL: none */
};

/* The whole path of a typed key: the key itself, or the only path that contains it as whole parts
 * ("x_opt" of "strategies.fsdp_tp.x_opt"); rows of a list are never guessed. False with an error
 * that offers near keys. */
bool sp_full_key(const struct sp_report *report, const char *key, char *out, size_t size,
                 struct sp_error *error);

/* Whether every key of "key,key" is a whole path, or the first parts of one. */
bool sp_are_paths(const struct sp_report *report, const char *keys);

/* Why an answer has no single value of a key: its own reason, or that the key names several. */
void sp_say_missing(const struct sp_report *report, const char *key, char *out, size_t size);

/* The same for "key,key"; free() it. NULL with an error. */
char *sp_full_keys(const struct sp_report *report, const char *keys, struct sp_error *error);

/* The list whose items become rows when `keys` (NULL: none) are asked for: the list of all keys,
 * else that of sp_answer_is unless a key is outside it. NULL: a single row. `*keys` becomes the
 * keys within a row, NULL for all; free() both. */
char *sp_rows_asked(const struct sp_report *report, char **keys);

/* Whether the answer consists only of the rows of sp_answer_is. */
bool sp_is_one_list(const struct sp_report *report);

/* Writes the notes, one per line, separately from the report. */
void sp_render_notes(const struct sp_report *report, FILE *out);

/* Writes the report as asked. */
void sp_render(const struct sp_report *report, const struct sp_render *how, FILE *out);

#endif
