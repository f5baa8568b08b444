/* Writes the exercise book from files of cases. */
#include "cli/exercise_book.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "answer/derivation.h"
#include "answer/markdown.h"
#include "base/memory.h"
#include "base/quote.h"

static const char sheet_intro[] =
    "# Exercises, with solutions\n"
    "\n"
    "The questions of the sheet, each with its command, the answer, and how it follows.\n";

static const char intro[] =
    "# Exercises\n"
    "\n"
    "Worked cases of scaling textbooks and papers: the question, the command that answers it, the\n"
    "answer, and how it follows. The program writes this page itself,\n"
    "`scaleplan check FILE... --book`, and a test compares the two; the cases are\n"
    "data, and `scaleplan check FILE...` runs your own in the same way. An answer is in base "
    "units\n"
    "if its derivation is. A printed figure that differs is given at its case and in a\n"
    "list at the end, with the reason.\n";

static const char document_intro[] =
    "\n"
    "What the document asks and states, in its order: the question, the command that answers it, "
    "the answer\n"
    "and how it follows, what the document prints, and why that differs where it does. An answer "
    "is\n"
    "in base units if its derivation is. The program writes this page itself, `scaleplan check\n"
    "FILE --book`.\n";

void sp_book_open(struct sp_book *book, bool of_sheet)
{
    *book = (struct sp_book){0};
    book->pages = sp_must(open_memstream(&book->pages_text, &book->pages_size));
    book->errata = sp_must(open_memstream(&book->errata_text, &book->errata_size));
    if (of_sheet)
        fputs(sheet_intro, book->pages);
}

/* The first n letters of a text as a title, which begins with a capital. */
static void put_title(const char *mark, const char *text, size_t n, FILE *out)
{
    fputs(mark, out);
    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        fputc(i == 0 ? toupper((unsigned char)c) : c == '_' || c == '-' ? ' ' : c, out);
    }
    fputc('\n', out);
}

void sp_book_chapter(struct sp_book *book, const char *path, const struct sp_case *first,
                     bool is_alone)
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    book->is_document = is_alone && *first->section;
    if (book->is_document) {
        put_title("# ", first->source, strlen(first->source), book->pages);
        fputs(document_intro, book->pages);
        return;
    }
    if (book->chapters++ == 0)
        fputs(intro, book->pages);
    put_title("\n## ", name, strcspn(name, "."), book->pages);
    if (*first->section)
        fprintf(book->pages, "\nThe document in its order, section by section: [%.*s](%.*s.md).\n",
                (int)strcspn(name, "."), name, (int)strcspn(name, "."), name);
}

/* The value as people read it, with its unit where the number alone does not show it. */
static void put_value(const struct sp_case_value *value, enum sp_unit unit, FILE *out)
{
    const char *const name = sp_unit_name(unit);
    char human[64];
    switch (value->kind) {
    case SP_CASE_NUMBER:
        sp_human(value->number, unit, human, sizeof human);
        fputs(human, out);
        if (unit == SP_TOKENS || unit == SP_PARAMETERS || unit == SP_HOURS ||
            unit == SP_FLOPS_PER_BYTE)
            fprintf(out, " %s", name);
        break;
    case SP_CASE_BOOL:
        fputs(value->number != 0 ? "yes" : "no", out);
        break;
    case SP_CASE_TEXT:
        sp_markdown_text(value->text, out);
        break;
    default:
        fputs("none", out);
        break;
    }
}

struct sp_case_value sp_value_of_entry(const struct sp_entry *entry)
{
    static const enum sp_case_kind kinds[] = {
        [SP_VALUE_NONE] = SP_CASE_NULL,
        [SP_VALUE_NUMBER] = SP_CASE_NUMBER,
        [SP_VALUE_BOOL] = SP_CASE_BOOL,
        [SP_VALUE_TEXT] = SP_CASE_TEXT,
    };
    return (struct sp_case_value){.kind = kinds[entry->kind],
                                  .number = sp_entry_number(entry),
                                  .text = sp_entry_text(entry) ? sp_entry_text(entry) : ""};
}

static void put_answers(const struct sp_case *c, const struct sp_report *answer, FILE *out)
{
    for (int i = 0; i < c->n_expect; i++) {
        const struct sp_entry *entry = sp_find(answer, c->expect[i].key);
        if (!entry) {
            fprintf(out, "- `%s`: **no answer**\n", c->expect[i].key);
            continue;
        }
        const struct sp_case_value value = sp_value_of_entry(entry);
        fputs("- ", out);
        sp_markdown_text(entry->info->label, out);
        fprintf(out, " (`%s`): **", sp_path(entry));
        put_value(&value, entry->info->unit, out);
        fputs("**\n", out);
    }
}

/* Quantities to explain: the expected ones, and those that their formulas take. */
enum { MOST_EXPLAINED = 12 };
struct explained {
    const struct sp_report *answer;
    const struct sp_entry *of[MOST_EXPLAINED];
    int n;
};

static void explain(struct explained *all, const struct sp_entry *entry)
{
    for (int i = 0; i < all->n; i++)
        if (all->of[i] == entry)
            return;
    if (entry && all->n < MOST_EXPLAINED)
        all->of[all->n++] = entry;
}

/* Whether a key has this word: "useful_s" and "critical.dp.3" have "useful" and "critical". */
static bool has_word(const char *key, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = key; (at = strstr(at, word)); at++)
        if ((at == key || strchr("._", at[-1])) && (!at[n] || strchr("._", at[n])))
            return true;
    return false;
}

/* The quantity of the answer that is an argument of a formula: the first with its name and value
 * that has a formula. */
static const struct sp_entry *quantity_of(const struct explained *all, const char *name,
                                          double value)
{
    for (size_t i = 0; i < sp_report_size(all->answer); i++) {
        const struct sp_entry *const entry = sp_report_entry(all->answer, i);
        if (entry->kind == SP_VALUE_NUMBER && entry->form != SP_CLOSED_NONE && !entry->is_old &&
            entry->number == value && has_word(sp_path(entry), name))
            return entry;
    }
    return NULL;
}

/* For a quantity without a formula, the quantity with a formula that has the same value: a time
 * equals its longest bound. */
static const struct sp_entry *same_quantity(const struct explained *all, const struct sp_entry *of)
{
    for (size_t i = 0; i < sp_report_size(all->answer); i++) {
        const struct sp_entry *const entry = sp_report_entry(all->answer, i);
        if (of->form == SP_CLOSED_NONE && of->kind == SP_VALUE_NUMBER &&
            of->info->unit == SP_SECONDS && entry->kind == of->kind &&
            entry->form != SP_CLOSED_NONE && entry->info->unit == of->info->unit &&
            entry->number == of->number)
            return entry;
    }
    return NULL;
}

static void explain_arguments(struct explained *all)
{
    for (int i = 0; i < all->n; i++) {
        const struct sp_entry *const entry = all->of[i];
        explain(all, same_quantity(all, entry));
        if (entry->form == SP_CLOSED_NONE)
            continue;
        const struct sp_form form = sp_form(entry->form);
        for (size_t a = 0; form.arguments[a].name; a++) {
            const char *const name = form.arguments[a].name;
            explain(all, quantity_of(all, name,
                                     sp_argument_value(all->answer, entry, name, NULL, NULL)));
        }
    }
}

/* Whether the formula of a quantity has a derivation that none before it had. */
static bool is_new_derivation(const struct explained *all, int at)
{
    for (int i = 0; i < at; i++)
        if (all->of[i]->form == all->of[at]->form)
            return false;
    return *sp_derivation(all->of[at]->form);
}

/* The quantities that --explain prints for the expected keys; for a worked answer also those from
 * which they follow. */
static void put_derivation(const struct sp_case *c, const struct sp_report *answer, bool derives,
                           FILE *out)
{
    struct explained all = {.answer = answer};
    for (int i = 0; i < c->n_expect; i++)
        explain(&all, sp_find(answer, c->expect[i].key));
    if (derives)
        explain_arguments(&all);
    for (int i = 0; i < all.n; i++) {
        const struct sp_render how = {.explain = true,
                                      .explain_key = sp_path(all.of[i]),
                                      .derive = derives && is_new_derivation(&all, i)};
        fputs(i > 0 ? "\n" : "\n```text\n", out);
        sp_render(answer, &how, out);
    }
    if (all.n > 0)
        fputs("```\n", out);
}

/* A value that the source prints and the program does not, in the text and among the errata. */
static void put_erratum(struct sp_book *book, const struct sp_case *c,
                        const struct sp_case_value *printed, const struct sp_case_value *right,
                        enum sp_unit unit)
{
    fprintf(book->pages, "\nThe source prints `%s` as ", printed->key);
    put_value(printed, unit, book->pages);
    fputs(": ", book->pages);
    sp_markdown_text(c->differs, book->pages);
    fputc('\n', book->pages);
    fputs("| ", book->errata);
    sp_markdown_text(c->id, book->errata);
    fputs(" | ", book->errata);
    sp_markdown_text(c->source, book->errata);
    fprintf(book->errata, " | `%s` | ", printed->key);
    put_value(printed, unit, book->errata);
    fputs(" | ", book->errata);
    put_value(right, unit, book->errata);
    fputs(" | ", book->errata);
    sp_markdown_text(c->differs, book->errata);
    fputs(" |\n", book->errata);
}

/* The figures that the source prints: first those that agree when rounded. */
static void put_printed(struct sp_book *book, const struct sp_case *c,
                        const struct sp_report *answer)
{
    for (int pass = 0, agreed = 0; pass < 2; pass++) {
        for (int i = 0; i < c->n_printed; i++) {
            const struct sp_case_value *const printed = &c->printed[i], *right = c->expect;
            while (strcmp(right->key, printed->key) != 0)
                right++;
            const struct sp_entry *const entry = sp_find(answer, right->key);
            const enum sp_unit unit = entry ? entry->info->unit : SP_NUMBER;
            const bool is_same = !*c->differs || sp_case_matches(right, printed, c->rel_tol);
            if (!is_same && pass == 1)
                put_erratum(book, c, printed, right, unit);
            if (!is_same || pass == 1)
                continue;
            fprintf(book->pages, "%s `%s` as ", agreed++ ? "," : "\nThe source prints",
                    printed->key);
            put_value(printed, unit, book->pages);
        }
        if (pass == 0 && agreed)
            fputc('\n', book->pages);
    }
}

/* The heading of a case: in a document's page its section and question. */
static void put_heading(const struct sp_book *book, const struct sp_case *c)
{
    FILE *const out = book->pages;
    const bool asks = book->is_document && *c->question;
    if (book->is_document && *c->section) {
        fputs("\n## ", out);
        sp_markdown_text(c->section, out);
        fputc('\n', out);
    }
    fputs("\n### ", out);
    sp_markdown_text(asks ? c->question : c->id, out);
    fputs("\n\n", out);
    if (!asks && *c->question) {
        sp_markdown_text(c->question, out);
        fputs("\n\n", out);
    }
}

void sp_book_case(struct sp_book *book, const struct sp_case *c, const struct sp_report *answer,
                  const char *refusal)
{
    FILE *const out = book->pages;
    put_heading(book, c);
    fputs("```sh\nscaleplan", out);
    for (int i = 0; i < c->n_args; i++) {
        fputc(' ', out);
        sp_put_shell_word(c->args[i], out);
    }
    fputs("\n```\n\n", out);
    if (*refusal) {
        fputs("The program refuses this: ", out);
        sp_markdown_text(refusal, out);
        fputc('\n', out);
    }
    put_answers(c, answer, out);
    put_derivation(c, answer, book->derives, out);
    if (*c->source && !book->is_document) {
        fputs("\nSource: ", out);
        sp_markdown_text(c->source, out);
        fputc('\n', out);
    }
    if (*c->why) {
        fprintf(out, "\nWithin %g %%: ", 100 * c->rel_tol);
        sp_markdown_text(c->why, out);
        fputc('\n', out);
    }
    put_printed(book, c, answer);
    if (*c->differs && c->exit) {
        fputs("\nThe source differs: ", out);
        sp_markdown_text(c->differs, out);
        fputc('\n', out);
    }
    if (*c->note) {
        fputs("\nNote: ", out);
        sp_markdown_text(c->note, out);
        fputc('\n', out);
    }
}

void sp_book_solution(struct sp_book *book, int number, const struct sp_case *c,
                      const struct sp_report *answer)
{
    struct sp_case numbered = *c;
    char id[160];
    snprintf(id, sizeof id, "%d (%s)", number, c->id);
    numbered.id = id;
    book->derives = true;
    sp_book_case(book, &numbered, answer, "");
}

void sp_book_close(struct sp_book *book, struct sp_report *report)
{
    fclose(book->errata);
    if (book->errata_size > 0)
        fprintf(book->pages,
                "\n## Where %s something else\n\n"
                "| case | source | key | printed | here | why |\n"
                "| --- | --- | --- | --- | --- | --- |\n%s",
                book->is_document ? "the document prints" : "the sources print", book->errata_text);
    fclose(book->pages);
    sp_markdown_file(report, book->pages_text);
    free(book->pages_text);
    free(book->errata_text);
}
