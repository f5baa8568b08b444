/* Internals of a report, shared by the renderers. */
#ifndef SP_REPORT_INTERNAL_H
#define SP_REPORT_INTERNAL_H

#include "answer/index.h"
#include "answer/report.h"

struct cJSON;

enum sp_item_kind { SP_ITEM_LINE, SP_ITEM_FILE, SP_ITEM_MARKDOWN, SP_ITEM_TABLE };

struct sp_item {
    enum sp_item_kind kind;
    enum sp_where place;
    char *line;
    struct sp_column *columns;
    struct sp_row *rows;
    size_t n_columns, n_rows;
};

struct sp_remark {
    char *text;
    enum sp_where place;
    bool is_warning; /* of sp_warn */
};

/* What was put of a quantity: its row, and its last text, which rows of a list often share; NULL:
 * none yet. Quantities that are neighbours share a block, because a report puts a few of them. */
struct sp_put {
    const struct sp_quantity_info *info;
    const char *last_text;
};
enum { SP_PUT_BLOCK = 16 };

struct sp_report {
    const char *command;
    struct sp_entry *entries;
    size_t n_entries, room_entries;
    struct sp_index *index; /* of the paths, up to when one was last looked for */
    double *arguments;      /* of all forms, one after the other */
    size_t n_arguments, room_arguments;
    char prefix[112];    /* of the scope */
    const char *scope;   /* the same, as long as the report lasts; NULL: not kept yet */
    struct sp_row *rows; /* begun for the next table */
    size_t n_rows, room_rows;
    struct sp_item *items;
    size_t n_items, room_items;
    enum sp_where place; /* place of the lines that follow */
    struct sp_remark *notes;
    size_t n_notes, room_notes;
    struct sp_put *put[SP_QUANTITIES / SP_PUT_BLOCK + 1]; /* NULL: none of the block */
    char **owned;                                         /* blocks of room for texts and these */
    size_t n_owned, room_owned;
    char *block_end;
    size_t left;                /* bytes of the last block, at its end */
    char word[16], word_as[32]; /* of sp_key_word; "": none */
    bool in_images;             /* of sp_count_images */
    const char *list;           /* the answer's list; NULL: none */
    bool first_counts;          /* its first row is the answer */
    const char *lack;           /* why it has no rows; NULL: it has some, or no reason was given */
    char *file, *file_text;     /* the answer's output file; NULL: none */
    const struct sp_asked *asked; /* NULL: everything */
    enum sp_asked_part part;      /* of the current scope */
};

/* The bytes of a quantity in a line, from `from` to before `to`. */
struct sp_span {
    const struct sp_entry *entry;
    size_t from, to;
};
enum { SP_MAX_SPANS = 64 };
struct sp_spans {
    struct sp_span span[SP_MAX_SPANS];
    size_t n;
};

/* Writes image for token, which has as many letters, in a text if the report counts images. */
void sp_say_images(const struct sp_report *report, char *text);

/* Fills {key} and {key!} into a line; free() it. NULL if all its keys are null. */
char *sp_fill_line(const struct sp_report *report, const char *line, struct sp_spans *spans);

/* The text of a cell, its own or made in `room`, and its quantity or NULL. */
const char *sp_cell_text(const struct sp_report *report, const struct sp_row *row, const char *key,
                         struct sp_text *room, const struct sp_entry **entry);

/* The value of a quantity as JSON. */
struct cJSON *sp_entry_json(const struct sp_entry *entry);

/* 1 for a good verdict, -1 for a bad one, 0 for neither ("offload: no"). */
int sp_judged(const struct sp_entry *entry);

/* Prints a paragraph, broken at blanks to the width (0: unlimited) and indented below the text
 * after its label; a command is broken so that a shell accepts it. */
void sp_print_paragraph(const char *text, int width, FILE *out);

/* Like sp_table, but frees the rows, whose texts the report owns. */
void sp_table_of(struct sp_report *report, const struct sp_column *columns, size_t n_columns,
                 struct sp_row *rows, size_t n_rows);

/* Whether lines of this place are only in the short text. */
static inline bool sp_is_brief(enum sp_where place)
{
    return place == SP_BRIEF || place == SP_BRIEF_SPARE;
}

/* Prints at most `most_rows` rows of a table. Whether columns were left out for the width. */
bool sp_print_table(const struct sp_report *report, const struct sp_item *table, size_t most_rows,
                    const struct sp_render *how, FILE *out);

void sp_render_layout(const struct sp_report *report, FILE *out);
void sp_render_text(const struct sp_report *report, const struct sp_render *how, FILE *out);
/* Adds a quantity at its path; the caller has checked that it is asked for. */
void sp_add_entry_json(struct cJSON *root, const struct sp_entry *entry);

/* Prints a document and frees it. */
void sp_print_json(struct cJSON *root, bool one_line, FILE *out);

void sp_render_get(const struct sp_report *report, const char *keys, FILE *out);
void sp_render_json(const struct sp_report *report, const struct sp_render *how, FILE *out);
void sp_render_table(const struct sp_report *report, const struct sp_render *how, FILE *out);
/* `asked`: the text of --get or --explain in a terminal, printed in place of the report; NULL:
 * none. */
void sp_render_markdown(const struct sp_report *report, const char *asked, FILE *out);
void sp_render_html(const struct sp_report *report, const char *asked, FILE *out);
void sp_render_explain(const struct sp_report *report, const struct sp_render *how, FILE *out);

/* Completes a key within rows of a list to a whole path after "list.N."; false if unknown or
 * ambiguous. */
bool sp_row_key(const struct sp_report *report, const char *list, const char *key, char *out,
                size_t size);

/* The part of a path after "list.N.", and N; NULL: the path is not in that list. */
const char *sp_inside_row(const char *path, const char *list, size_t *row);

/* Whether comma-separated keys select an entry: by its own key, or by a prefix. */
bool sp_wanted(const struct sp_entry *entry, const char *keys);

/* Writes the notes of sp_warn, one a line. */
void sp_render_warnings(const struct sp_report *report, FILE *out);

#endif
