/* The texts of --help, from the tables of commands and options. */
#include "cli/help.h"

#include <stdlib.h>
#include <string.h>

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
    SP_TAKE(help),
};
const size_t sp_n_common_options = sizeof sp_common_options / sizeof *sp_common_options;

/* The width of help: the terminal's, within limits; 80 in a file. */
static int width_of(FILE *out)
{
    const int width = sp_terminal_width(out);
    return width == 0 ? 80 : width < 40 ? 40 : width > 100 ? 100 : width;
}

/* Prints a paragraph at an indent, broken at the width; the first line may already have text. */
static void print_indented(const char *text, int indent, int column, int width, FILE *out)
{
    while (*text) {
        const size_t n = strcspn(text, " ");
        if (column > indent && column + 1 + (int)n > width) {
            fprintf(out, "\n%*s", indent, "");
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

/* Prints an option in two columns, or on two lines if it is too wide. */
static void print_option(const struct sp_option *option, int width, FILE *out)
{
    char left[64];
    const int indent = width < 64 ? 8 : 28;
    const char *metavar = option->metavar ? option->metavar : "";
    snprintf(left, sizeof left, option->kind == SP_MAYBE ? "--%s [%s]" : "--%s %s", option->name,
             metavar);
    fprintf(out, "  %-*s", indent - 2, left);
    if (strlen(left) + 2 >= (size_t)indent)
        fprintf(out, "\n%*s", indent, "");
    char help[512];
    snprintf(help, sizeof help, "%s%s%s%s", option->help, option->fallback ? " (default " : "",
             option->fallback ? option->fallback : "", option->fallback ? ")" : "");
    print_indented(help, indent, indent, width, out);
}

void sp_print_help(const struct sp_command *const *commands, size_t n, FILE *out)
{
    static const struct {
        const char *head, *text;
        int indent;
    } ends[] = {
        {"\n",
         "`scaleplan COMMAND --help` tells the options of a command; `scaleplan help --format "
         "json` "
         "all of them.",
         0},
        {"Start with:  ", "scaleplan fit --model llama2-13b --hw v5p-4096", 13},
        {"\nexit codes: ", "0 answered; 1 --check says no, or some rows or lines have no answer;",
         12},
        {"            ", "2 wrong usage; 3 bad input (file, JSON, name, value), or no row has", 12},
        {"            ", "an answer; 4 output failed, or a fault; 130 interrupted: a search", 12},
        {"            ", "prints what it has, and says so", 12},
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
    fclose(words);
    fputc('\n', out);
    print_indented("keys of --get and --explain (--format json shows their groups):", 2, 0, width,
                   out);
    fputs("  ", out);
    print_indented(text, 2, 2, width, out);
    free(text);
}

void sp_print_command_help(const struct sp_command *command, FILE *out)
{
    const int width = width_of(out);
    char title[256];
    snprintf(title, sizeof title, "scaleplan %s - %s", command->name, command->summary);
    print_indented(title, 4, 0, width, out);
    fprintf(out, "\nusage: scaleplan %s [OPTION...]%s%s\n\n", command->name,
            command->operands ? " " : "", command->operands ? command->operands : "");
    print_indented(command->about, 0, 0, width, out);
    fputs("\noptions:\n", out);
    struct sp_option options[SP_MAX_OPTIONS];
    const size_t n = sp_options_of(command, options);
    for (size_t i = 0; i < n; i++) {
        if (i == n - sp_n_common_options)
            fputs("\ncommon options:\n", out);
        print_option(&options[i], width, out);
    }
    print_keys(command, width, out);
    fputs("\nexamples:\n", out);
    for (const struct sp_example *example = command->examples; example->line; example++)
        fprintf(out, "  scaleplan %s\n      %s\n", example->line, example->what);
}
