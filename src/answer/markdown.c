/* Reports as Markdown, and Markdown of our own as a page to print. */
#include "answer/markdown.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "answer/html.h"
#include "answer/report_internal.h"

void sp_markdown_text(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (strchr("\\*_<[|`", *text))
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void put_row(const struct sp_report *report, const struct sp_item *table,
                    const struct sp_row *row, FILE *out)
{
    const struct sp_entry *entry;
    fputc('|', out);
    for (size_t c = 0; c < table->n_columns; c++) {
        fputc(' ', out);
        sp_markdown_text(row ? sp_cell_text(report, row, table->columns[c].key, SP_ROOM, &entry)
                             : table->columns[c].heading,
                         out);
        fputs(" |", out);
    }
    fputc('\n', out);
}

static void put_table(const struct sp_report *report, const struct sp_item *table, FILE *out)
{
    fputc('\n', out);
    put_row(report, table, NULL, out);
    for (size_t c = 0; c < table->n_columns; c++)
        fputs(table->columns[c].left || !table->columns[c].key ? "| --- " : "| --: ", out);
    fputs("|\n", out);
    for (size_t i = 0; i < table->n_rows; i++)
        put_row(report, table, &table->rows[i], out);
    fputc('\n', out);
}

/* A line of the text as an item: alignment by blanks means nothing here. */
static void put_line(char *line, FILE *out)
{
    if (line && line[strspn(line, " ")]) {
        fputs("- ", out);
        sp_markdown_text(line + strspn(line, " "), out);
        fputc('\n', out);
    }
    free(line);
}

static void put_code(const char *text, FILE *out)
{
    fprintf(out, "```text\n%s%s```\n", text, *text && text[strlen(text) - 1] != '\n' ? "\n" : "");
}

static void put_item(const struct sp_report *report, const struct sp_item *item, FILE *out)
{
    struct sp_spans spans;
    if (item->kind == SP_ITEM_TABLE)
        put_table(report, item, out);
    else if (item->kind == SP_ITEM_MARKDOWN)
        fputs(item->line, out);
    else if (item->kind == SP_ITEM_FILE)
        put_code(item->line, out);
    else
        put_line(sp_fill_line(report, item->line, &spans), out);
}

void sp_render_markdown(const struct sp_report *report, const char *asked, FILE *out)
{
    if (asked) {
        put_code(asked, out);
        return;
    }
    for (size_t i = 0; i < report->n_items; i++)
        if (!sp_is_brief(report->items[i].place))
            put_item(report, &report->items[i], out);
    fputs(report->n_notes > 0 ? "\n" : "", out);
    for (size_t i = 0; i < report->n_notes; i++) {
        fputs("> ", out);
        sp_markdown_text(report->notes[i].text, out);
        fputs("\n\n", out);
    }
}

/* Writes the marks of a piece of a line as HTML. */
static void put_inline(const char *text, size_t n, FILE *out)
{
    bool bold = false, code = false;
    char one[2] = "";
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '`') {
            code = !code;
            fputs(code ? "<code>" : "</code>", out);
            continue;
        }
        if (!code && text[i] == '*' && i + 1 < n && text[i + 1] == '*') {
            bold = !bold;
            fputs(bold ? "<strong>" : "</strong>", out);
            i++;
            continue;
        }
        i += !code && text[i] == '\\' && i + 1 < n;
        one[0] = text[i];
        sp_html_text(out, one);
    }
}

static void put_tagged(const char *tag, const char *text, size_t n, FILE *out)
{
    fprintf(out, "<%s>", tag);
    put_inline(text, n, out);
    fprintf(out, "</%s>\n", tag);
}

/* The bytes of a cell from `at`: to the next bar that is not escaped. */
static size_t cell_length(const char *at, const char *end)
{
    size_t n = 0;
    while (at + n < end && at[n] != '|')
        n += at[n] == '\\' && at + n + 1 < end ? 2 : 1;
    return n;
}

static void put_cells(const char *line, size_t n, bool heading, FILE *out)
{
    const char *const end = line + n;
    fputs("<tr>", out);
    for (const char *at = line + 1; at < end;) {
        const size_t length = cell_length(at, end);
        const size_t blanks = strspn(at, " ");
        if (at + length < end || blanks < length)
            put_tagged(heading ? "th" : "td", at + blanks, length > blanks ? length - blanks : 0,
                       out);
        at += length + 1;
    }
    fputs("</tr>\n", out);
}

/* The kind of block that a line belongs to; when it changes, one block closes and another opens. */
enum block { BLOCK_NONE, BLOCK_LIST, BLOCK_TABLE, BLOCK_CODE, BLOCK_TEXT, BLOCK_QUOTE };

static void change(enum block *now, enum block next, FILE *out)
{
    static const char *const opens[] = {"", "<ul>\n", "<table>\n", "<pre>", "<p>", "<blockquote>"};
    static const char *const closes[] = {"",         "</ul>\n", "</table>\n",
                                         "</pre>\n", "</p>\n",  "</blockquote>\n"};
    if (*now == next)
        return;
    fputs(closes[*now], out);
    fputs(opens[next], out);
    *now = next;
}

static enum block block_of(const char *line, size_t n)
{
    return n == 0                                 ? BLOCK_NONE
           : *line == '|'                         ? BLOCK_TABLE
           : *line == '>'                         ? BLOCK_QUOTE
           : n > 1 && strncmp(line, "- ", 2) == 0 ? BLOCK_LIST
                                                  : BLOCK_TEXT;
}

static void put_block_line(enum block *now, const char *line, size_t n, FILE *out)
{
    static const char *const tags[] = {"", "h1", "h2", "h3"};
    const size_t level = strspn(line, "#");
    if (level >= 1 && level <= 3 && line[level] == ' ') {
        change(now, BLOCK_NONE, out);
        put_tagged(tags[level], line + level + 1, n - level - 1, out);
        return;
    }
    const enum block next = block_of(line, n);
    const bool heading = next == BLOCK_TABLE && *now != BLOCK_TABLE;
    change(now, next, out);
    if (next == BLOCK_TABLE && strspn(line, "|-: ") < n)
        put_cells(line, n, heading, out);
    else if (next == BLOCK_LIST)
        put_tagged("li", line + 2, n - 2, out);
    else if (next == BLOCK_QUOTE || next == BLOCK_TEXT) {
        const size_t skipped = next == BLOCK_QUOTE && n > 1 ? 2 : 0;
        put_inline(line + skipped, n - skipped, out);
        fputc('\n', out);
    }
}

void sp_markdown_page(const char *markdown, FILE *out)
{
    enum block now = BLOCK_NONE;
    sp_html_open(out, "scaleplan", "");
    while (*markdown) {
        const size_t n = strcspn(markdown, "\n");
        if (strncmp(markdown, "```", 3) == 0)
            change(&now, now == BLOCK_CODE ? BLOCK_NONE : BLOCK_CODE, out);
        else if (now == BLOCK_CODE)
            sp_html_format(out, "%.*s\n", (int)n, markdown);
        else
            put_block_line(&now, markdown, n, out);
        markdown += n + (markdown[n] == '\n');
    }
    change(&now, BLOCK_NONE, out);
    sp_html_close(out);
}

void sp_render_html(const struct sp_report *report, const char *asked, FILE *out)
{
    char *text = NULL;
    size_t size;
    FILE *const memory = sp_must(open_memstream(&text, &size));
    sp_render_markdown(report, asked, memory);
    fclose(memory);
    sp_markdown_page(text, out);
    free(text);
}
