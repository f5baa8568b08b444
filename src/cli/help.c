/* The texts of --help, from the tables of commands and options. */
#include "cli/help.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields.h"
#include "host/terminal.h"

static const char *const formats[] = {"text",   "json",     "csv",  "tsv",
                                      "layout", "markdown", "html", NULL};
static const char *const constants[] = {"published", "textbook", NULL};

const struct sp_taken sp_common_options[] = {
    SP_TAKE(format, .fallback = "text", .choices = formats),
    SP_TAKE(get),
    SP_TAKE(explain),
    SP_TAKE(derive, .needs = SP_THESE(SP_O_explain)),
    SP_TAKE(constants, .fallback = "published", .choices = constants),
    SP_TAKE(set),
    SP_TAKE(assume),
    SP_TAKE(config_dir),
    SP_TAKE(details),
    SP_TAKE(quiet),
    SP_TAKE(write),
    SP_TAKE(help),
};
const size_t sp_n_common_options = sizeof sp_common_options / sizeof *sp_common_options;

const char *sp_heading_title(enum sp_heading heading)
{
#define SP_TITLE(heading, title) [SP_UNDER_##heading] = (title),
    static const char *const titles[] = {SP_HEADINGS(SP_TITLE)};
    return titles[heading];
}

/* The width of help: the terminal's, within limits; 80 in a file. */
static int width_of(FILE *out)
{
    const int width = sp_terminal_width(out);
    return width == 0 ? 80 : width < 40 ? 40 : width > 100 ? 100 : width;
}

/* The length of the part of a command line that must stay together: quoted text, or an option and
 * its value. */
static size_t word_length(const char *text)
{
    size_t n = 0;
    bool quoted = false;
    for (; text[n] && (quoted || text[n] != ' ' || (*text == '-' && text[n + 1] != '-')); n++)
        quoted = quoted != (text[n] == '\'');
    return n;
}

/* The length of a word of a text; of one that is wider than a line, up to a "|". */
static size_t piece_length(const char *text, size_t most)
{
    size_t n = strcspn(text, " ");
    if (n > most) {
        n = most;
        while (n > 1 && text[n - 1] != '|')
            n--;
    }
    return n > 1 ? n : strcspn(text, " ");
}

/* Prints words at an indent, broken at the width, with `end` at each break; the first line may
 * already have text. */
static void print_words(const char *text, const char *end, int indent, int column, int width,
                        FILE *out)
{
    while (*text) {
        const size_t n = *end ? word_length(text) : piece_length(text, (size_t)(width - indent));
        if (column > indent && column + 1 + (int)(n + strlen(end)) > width) {
            fprintf(out, "%s\n%*s", end, indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)n, text);
        column += (int)n;
        text += n + strspn(text + n, " ");
    }
    fputc('\n', out);
}

static void print_indented(const char *text, int indent, int column, int width, FILE *out)
{
    print_words(text, "", indent, column, width, out);
}

/* A command line of the program, broken into lines that a shell rejoins. */
static void print_line(const char *line, int width, FILE *out)
{
    fputs("  scaleplan", out);
    print_words(line, " \\", 6, 11, width, out);
}

/* The length of a text's first sentence, without its full stop. */
static int first_sentence(const char *text)
{
    const char *const end = strstr(text, ". ");
    return (int)(end ? (size_t)(end - text) : strlen(text));
}

/* Prints an option in two columns, or on two lines if it is too wide. */
static void print_option(const struct sp_option *option, bool whole, int width, FILE *out)
{
    char left[64];
    const int indent = width < 64 ? 8 : 28;
    const char *metavar = option->metavar ? option->metavar : "";
    snprintf(left, sizeof left, option->kind == SP_MAYBE ? "--%s [%s]" : "--%s %s", option->name,
             metavar);
    fprintf(out, "  %-*s", indent - 2, left);
    if (strlen(left) + 2 >= (size_t)indent)
        fprintf(out, "\n%*s", indent, "");
    char help[768];
    const int most = whole ? (int)strlen(option->help) : first_sentence(option->help);
    const char *const general = option->fallback ? strstr(option->help, " (default:") : NULL;
    snprintf(help, sizeof help, "%.*s%s%s%s",
             general && general - option->help < most ? (int)(general - option->help) : most,
             option->help, option->fallback ? " (default " : "",
             option->fallback ? option->fallback : "", option->fallback ? ")" : "");
    print_indented(help, indent, indent, width, out);
}

void sp_print_tasks(const struct sp_command *const *commands, size_t n, FILE *out)
{
    static const struct {
        const char *task, *command; /* the command's first example answers it */
    } tasks[] = {{"Does a model train on a machine, and what limits it?", "fit"},
                 {"How long is a step of one plan, and does the plan fit?", "step"},
                 {"Which plan is the best?", "search"},
                 {"How fast does a model answer requests, and at what cost?", "serve"}};
    const int width = width_of(out);
    fputs("scaleplan plans the training and serving of large models.\n", out);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        fprintf(out, "\n%s\n", tasks[i].task);
        for (size_t c = 0; c < n; c++)
            if (strcmp(commands[c]->name, tasks[i].command) == 0)
                print_line(commands[c]->examples->line, width, out);
    }
    fputs("\n`scaleplan --help` lists all commands; `scaleplan COMMAND --help` explains one.\n",
          out);
}

void sp_print_help(const struct sp_command *const *commands, size_t n, FILE *out)
{
    static const struct {
        const char *head, *text;
        int indent;
    } ends[] = {
        {"\n",
         "`scaleplan COMMAND --help` has a command's examples and most used options, "
         "`scaleplan COMMAND --help all` every option and key.",
         0},
        {"\nexit codes: ", "0 answered; 1 --check says no, or some rows or lines have no answer;",
         12},
        {"            ", "2 wrong usage; 3 bad input (file, JSON, name, value), or no row has", 12},
        {"            ", "an answer; 4 output failed, or a fault; 130 interrupted: a search", 12},
        {"            ", "prints what it has found", 12},
    };
    const int width = width_of(out);
    print_indented("scaleplan - does this model train here, what limits it, how long is a step?", 4,
                   0, width, out);
    fputs("\nusage: scaleplan COMMAND [OPTION...]\n\n", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "  %-11s ", commands[i]->name);
        print_indented(commands[i]->summary, 14, 14, width, out);
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        fputs(ends[i].head, out);
        print_indented(ends[i].text, ends[i].indent, ends[i].indent, width, out);
    }
}

/* Prints the text written to a stream, and frees it. */
static void print_list(FILE *words, char **text, int indent, int column, int width, FILE *out)
{
    fclose(words);
    print_indented(*text, indent, column, width, out);
    free(*text);
}

/* The keys of the command's own quantities, each once. */
static void print_keys(const struct sp_command *command, int width, FILE *out)
{
    char *text = NULL;
    size_t length;
    enum sp_quantity_id first;
    const enum sp_quantity_id end = sp_quantities_of(command->name, &first);
    FILE *const words = end > first ? open_memstream(&text, &length) : NULL;
    if (!words)
        return;
    for (enum sp_quantity_id id = first; id < end; id++) {
        bool again = false;
        for (enum sp_quantity_id before = first; before < id && !again; before++)
            again = strcmp(sp_quantity(before).key, sp_quantity(id).key) == 0;
        if (!again)
            fprintf(words, "%s%s", id > first ? " " : "", sp_quantity(id).key);
    }
    fputc('\n', out);
    print_indented("keys of --get and --explain (--format json shows those in lists or groups):", 2,
                   0, width, out);
    fputs("  ", out);
    print_list(words, &text, 2, 2, width, out);
}

/* The keys of a model file, which --shape takes. */
static void print_shape_keys(int width, FILE *out)
{
    char *text = NULL;
    size_t length;
    FILE *const words = open_memstream(&text, &length);
    if (!words)
        return;
    for (size_t i = 0; i < sp_model_table.n; i++)
        if (sp_model_table.fields[i].type != SP_FIELD_PROSE)
            fprintf(words, "%s ", sp_model_table.fields[i].key);
    fputs("\nkeys of --shape (man scaleplan-config):\n  ", out);
    print_list(words, &text, 2, 2, width, out);
}

/* The first `n` examples. */
static void print_examples(const struct sp_command *command, int n, int width, FILE *out)
{
    fputs("\nexamples:\n", out);
    for (const struct sp_example *e = command->examples; e->line && n-- > 0; e++) {
        print_line(e->line, width, out);
        fputs("      ", out);
        print_indented(e->what, 6, 6, width, out);
    }
}

/* How much an option is used: by its row, and in the command's examples. */
static int use_of(const struct sp_option *option, const struct sp_command *command)
{
    char word[64];
    int use = option->used;
    snprintf(word, sizeof word, "--%s", option->name);
    for (const struct sp_example *e = command->examples; e->line; e++) {
        const char *const at = strstr(e->line, word);
        use += at && !strchr("abcdefghijklmnopqrstuvwxyz-", at[strlen(word)]) ? 2 : 0;
    }
    return use;
}

/* Moves the `most` options that are used most to the front; all others keep their order. */
static void put_most_used_first(struct sp_option *options, size_t n, size_t most,
                                const struct sp_command *command)
{
    for (size_t i = 0; i < most; i++) {
        size_t best = i;
        for (size_t k = i + 1; k < n; k++)
            if (use_of(&options[k], command) > use_of(&options[best], command))
                best = k;
        const struct sp_option used = options[best];
        memmove(&options[i + 1], &options[i], (best - i) * sizeof *options);
        options[i] = used;
    }
}

/* Options under one heading: with their help, or only their names. */
static void print_heading(enum sp_heading heading, const struct sp_option *options, size_t n,
                          bool whole, int width, FILE *out)
{
    char *text = NULL;
    size_t length, found = 0;
    const char *const title = sp_heading_title(heading);
    FILE *const names = open_memstream(&text, &length);
    if (!names)
        return;
    for (size_t i = 0; i < n; i++) {
        if (options[i].heading != heading)
            continue;
        if (whole && found == 0)
            fprintf(out, "\n%s:\n", title);
        if (whole)
            print_option(&options[i], true, width, out);
        fprintf(names, "%s--%s", found++ ? " " : "", options[i].name);
    }
    if (!whole && found > 0)
        fprintf(out, "  %s:", title);
    if (!whole && found > 0)
        print_list(names, &text, 6, 3 + (int)strlen(title), width, out);
    else if (fclose(names) == 0)
        free(text);
}

enum { MOST_USED = 10, FEW_EXAMPLES = 3 };

static void print_few(const struct sp_command *command, int width, FILE *out)
{
    struct sp_option options[SP_MAX_OPTIONS];
    const size_t n = sp_options_of(command, options);
    const size_t most = n < MOST_USED ? n : MOST_USED;
    print_examples(command, FEW_EXAMPLES, width, out);
    put_most_used_first(options, n, most, command);
    fputs("\noptions used most:\n", out);
    for (size_t i = 0; i < most; i++)
        print_option(&options[i], false, width, out);
    if (n > most)
        fputs("\nall others:\n", out);
    for (int heading = 0; heading < SP_N_HEADINGS; heading++)
        print_heading((enum sp_heading)heading, options + most, n - most, false, width, out);
    char text[128];
    snprintf(text, sizeof text,
             "`scaleplan %s --help all` explains every option and lists all keys.", command->name);
    fputc('\n', out);
    print_indented(text, 0, 0, width, out);
}

static void print_all(const struct sp_command *command, int width, FILE *out)
{
    struct sp_option options[SP_MAX_OPTIONS];
    const size_t n = sp_options_of(command, options);
    bool has_shape = false;
    fputc('\n', out);
    print_indented(command->about, 0, 0, width, out);
    print_examples(command, INT_MAX, width, out);
    for (int heading = 0; heading < SP_N_HEADINGS; heading++)
        print_heading((enum sp_heading)heading, options, n, true, width, out);
    for (size_t i = 0; i < n; i++)
        has_shape = has_shape || options[i].id == SP_O_shape;
    if (has_shape)
        print_shape_keys(width, out);
    print_keys(command, width, out);
}

void sp_print_command_help(const struct sp_command *command, bool whole, FILE *out)
{
    const int width = width_of(out);
    char text[256];
    snprintf(text, sizeof text, "scaleplan %s - %s", command->name, command->summary);
    print_indented(text, 4, 0, width, out);
    fprintf(out, "\nusage: scaleplan %s [OPTION...]", command->name);
    print_indented(command->operands ? command->operands : "", 4, 33 + (int)strlen(command->name),
                   width, out);
    (whole ? print_all : print_few)(command, width, out);
}
