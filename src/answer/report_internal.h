/* Internals of a report, shared by the renderers. */
#ifndef SP_REPORT_INTERNAL_H
#define SP_REPORT_INTERNAL_H

#include "answer/index.h"
#include "answer/report.h"

struct sp_scope {
    char prefix[112];
    size_t first_symbol, n_symbols;
};

enum sp_item_kind { SP_ITEM_LINE, SP_ITEM_FILE, SP_ITEM_TABLE };

struct sp_item {
    enum sp_item_kind kind;
    char *line;
    struct sp_column *columns;
    struct sp_row *rows;
    size_t n_columns, n_rows;
};

struct sp_report {
    const char *command;
    struct sp_entry *entries;
    size_t n_entries, room_entries;
    struct sp_index index; /* of them */
    struct sp_symbol *symbols;
    size_t n_symbols, room_symbols;
    double *arguments; /* of all forms, one behind the other */
    size_t n_arguments, room_arguments;
    struct sp_scope *scopes;
    size_t n_scopes, room_scopes;
    struct sp_item *items;
    size_t n_items, room_items;
    char **notes;
    size_t n_notes, room_notes;
    char **owned; /* strings of described quantities */
    size_t n_owned, room_owned;
    char word[16], word_as[32];   /* of sp_key_word; "": none */
    const char *list;             /* that the answer is; NULL: none */
    char *file, *file_text;       /* that the answer leaves behind; NULL: none */
    const struct sp_asked *asked; /* NULL: everything */
    enum sp_asked_part part;      /* of the current scope */
};

/* Calls `visit` for every name in a formula: of symbols, "C", and of quantities, "time.step_s". */
void sp_each_name(const char *formula, void (*visit)(const char *name, void *context),
                  void *context);

/* The place of a quantity in a line: bytes from `from` up to, and without, `to`. */
struct sp_span {
    const struct sp_entry *entry;
    size_t from, to;
};
enum { SP_MAX_SPANS = 64 };
struct sp_spans {
    struct sp_span span[SP_MAX_SPANS];
    size_t n;
};

/* A line with {key} and {key!} filled in, of at most 4 kB; false when every key of it is null.
 * `spans` may be NULL. */
bool sp_fill_line(const struct sp_report *report, const char *line, char *out, size_t size,
                  struct sp_spans *spans);

/* A cell as people read it; its quantity, or NULL. */
const struct sp_entry *sp_cell_text(const struct sp_report *report, const struct sp_row *row,
                                    const char *key, char *out, size_t size);

/* Whether a verdict is good (1) or bad (-1); 0 where it is neither, as "offload: no" is. */
int sp_judged(const struct sp_entry *entry);

void sp_render_layout(const struct sp_report *report, FILE *out);
void sp_render_text(const struct sp_report *report, const struct sp_render *how, FILE *out);
void sp_render_json(const struct sp_report *report, const struct sp_render *how, FILE *out);
void sp_render_table(const struct sp_report *report, const struct sp_render *how, FILE *out);
void sp_render_explain(const struct sp_report *report, const struct sp_render *how, FILE *out);

/* A key inside the rows of a list as a whole path behind "list.N."; false when it is none or there
 * are several. */
bool sp_row_key(const struct sp_report *report, const char *list, const char *key, char *out,
                size_t size);

/* The part of a path after "list.N.", and N; NULL: the path is not in that list. */
const char *sp_inside_row(const char *path, const char *list, size_t *row);

/* Whether the entry is among the comma-separated keys: itself, or inside a key that is a prefix. */
bool sp_wanted(const struct sp_entry *entry, const char *keys);

#endif
