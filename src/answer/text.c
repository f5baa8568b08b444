/* Text for people: lines with quantities filled in, tables, remarks; cut to a number of lines. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "answer/report_internal.h"

/* Rows of a cut table: first choice, while there are spare lines, and at least. */
enum { MOST_ROWS = 12, FEW_ROWS = 3, FEWEST_ROWS = 1 };

/* How a text is cut (without its blank lines, without spare lines, and with at most `rows` rows of
 * a table), and what was left out. */
struct cut {
    bool is_dense, spares_none;
    size_t rows, rows_left_out;
    bool left_out;
};

static bool is_blank(const char *line)
{
    return line[strspn(line, " ")] == '\0';
}

/* Whether lines of this place are in the text. */
static bool is_shown(enum sp_where place, const struct sp_render *how, const struct cut *cut)
{
    const bool is_spare = place == SP_SPARE || place == SP_BRIEF_SPARE;
    return how->details ? !sp_is_brief(place)
                        : place != SP_DETAILS && !(cut->spares_none && is_spare);
}

static void print_line(const struct sp_report *report, const struct sp_item *item,
                       const struct sp_render *how, const struct cut *cut, FILE *out)
{
    struct sp_spans spans;
    char *const line = sp_fill_line(report, item->line, &spans);
    if (line && !(cut->is_dense && is_blank(line)))
        sp_print_paragraph(line, how->width, out);
    free(line);
}

static bool is_block(const struct sp_item *item)
{
    return item->kind == SP_ITEM_FILE || item->kind == SP_ITEM_MARKDOWN;
}

static void print_table(const struct sp_report *report, const struct sp_item *table,
                        const struct sp_render *how, struct cut *cut, FILE *out)
{
    const size_t rows = table->place == SP_LISTED ? SIZE_MAX : cut->rows;
    if (sp_print_table(report, table, rows, how, out))
        cut->left_out = true;
    cut->rows_left_out += table->n_rows > rows ? table->n_rows - rows : 0;
    for (size_t c = 0; c < table->n_columns; c++)
        cut->left_out = cut->left_out || table->columns[c].details;
}

static void print_note(const struct sp_remark *note, int width, FILE *out)
{
    char *const line = sp_make_text("note: %s", note->text); /* notes can be long */
    sp_make_singular(line);
    sp_print_paragraph(line, width, out);
    free(line);
}

static void print_notes(const struct sp_report *report, const struct sp_render *how,
                        struct cut *cut, FILE *out)
{
    bool first = !cut->is_dense;
    for (size_t i = 0; i < report->n_notes && !how->quiet; i++) {
        if (!is_shown(report->notes[i].place, how, cut)) {
            cut->left_out = cut->left_out || cut->spares_none;
            continue;
        }
        fputs(first ? "\n" : "", out);
        print_note(&report->notes[i], how->width, out);
        first = false;
    }
}

void sp_render_warnings(const struct sp_report *report, FILE *out)
{
    for (size_t i = 0; i < report->n_notes; i++)
        if (report->notes[i].is_warning)
            print_note(&report->notes[i], 0, out);
}

void sp_render_notes(const struct sp_report *report, FILE *out)
{
    print_notes(report, &(struct sp_render){.details = true}, &(struct cut){.is_dense = true}, out);
}

/* Says that there is more. */
static void print_rest(const struct sp_render *how, const struct cut *cut, FILE *out)
{
    if (how->details || how->quiet || (!cut->left_out && cut->rows_left_out == 0))
        return;
    char line[96] = "more       --details: all figures; --explain: their formulas";
    if (cut->rows_left_out > 0)
        snprintf(line, sizeof line,
                 "more       --details: %zu more row%s of the table, and all that was left out",
                 cut->rows_left_out, cut->rows_left_out == 1 ? "" : "s");
    fputs(cut->is_dense ? "" : "\n", out);
    sp_print_paragraph(line, how->width, out);
}

/* Whether the answer is a file for another program. */
static bool holds_block(const struct sp_report *report)
{
    for (size_t i = 0; i < report->n_items; i++)
        if (is_block(&report->items[i]))
            return true;
    return false;
}

static void print_text(const struct sp_report *report, const struct sp_render *how, struct cut *cut,
                       FILE *out)
{
    const bool has_block = holds_block(report);
    FILE *const about = has_block ? how->notes : out; /* another program reads the file alone */
    bool is_first = true;
    cut->rows_left_out = 0;
    for (size_t i = 0; i < report->n_items; i++) {
        const struct sp_item *const item = &report->items[i];
        if (!is_shown(item->place, how, cut)) {
            cut->left_out = true; /* --details would not show it either */
            continue;
        }
        if (is_block(item))
            fputs(item->line, out);
        else if (!about)
            continue;
        else if (item->kind == SP_ITEM_TABLE)
            print_table(report, item, how, cut, about);
        else if (!is_first || !is_blank(item->line))
            print_line(report, item, how, cut, about);
        is_first = false;
    }
    if (!has_block) {
        print_notes(report, how, cut, out);
        print_rest(how, cut, out);
    } else if (how->notes && !how->quiet) {
        fflush(out); /* keeps the order of report and notes */
        sp_render_notes(report, how->notes);
    }
}

/* Lines of a text, with or without its blank ones. */
static size_t count_lines(const char *text, bool counts_blank)
{
    size_t n = 0;
    for (const char *end; *text && (end = strchr(text, '\n')); text = end + 1)
        n += counts_blank || end > text;
    return n;
}

/* The cut text; free() it. */
static char *cut_text(const struct sp_report *report, const struct sp_render *how, struct cut *cut)
{
    char *text = NULL;
    size_t size;
    FILE *const out = sp_must(open_memstream(&text, &size));
    print_text(report, how, cut, out);
    fclose(out);
    return text;
}

/* Cuts a little more. False when nothing is left to cut. */
static bool cut_more(struct cut *cut)
{
    if (!cut->is_dense)
        cut->is_dense = true;
    else if (cut->rows > FEW_ROWS || (cut->spares_none && cut->rows > FEWEST_ROWS))
        cut->rows = cut->rows > MOST_ROWS ? MOST_ROWS : cut->rows - 1;
    else if (!cut->spares_none)
        cut->spares_none = true;
    else
        return false;
    return true;
}

/* Rows of the longest table, and at most `room`, because no table can show more. */
static size_t most_rows(const struct sp_report *report, size_t room)
{
    size_t most = 0;
    for (size_t i = 0; i < report->n_items; i++)
        if (report->items[i].kind == SP_ITEM_TABLE && report->items[i].n_rows > most)
            most = report->items[i].n_rows;
    return most < room ? most : room;
}

/* Cuts the text to `how->lines`: blank lines go first, then the last rows of tables, then lines
 * that are marked as spare. */
void sp_render_text(const struct sp_report *report, const struct sp_render *how, FILE *out)
{
    const bool whole = how->details || how->lines == 0 || holds_block(report);
    struct cut cut = {.rows = whole ? SIZE_MAX : most_rows(report, (size_t)how->lines)};
    if (whole) {
        print_text(report, how, &cut, out);
        return;
    }
    char *text = cut_text(report, how, &cut);
    const size_t most = (size_t)how->lines;
    cut.is_dense = count_lines(text, false) > most; /* more has to go: no need to print it dense */
    while (count_lines(text, true) > most && cut_more(&cut)) {
        free(text);
        text = cut_text(report, how, &cut);
    }
    fputs(text, out);
    free(text);
}
