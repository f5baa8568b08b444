/* Man pages in roff: the same words as --help all. */
#include <stdarg.h>
#include <string.h>

#include "cli/help.h"
#include "manual/manual.h"

/* Writes text in roff, without escapes or requests. */
static void put(const char *text, FILE *out)
{
    for (bool start = true; *text; start = *text++ == '\n') {
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
}

/* Writes a piece of roff with texts in the places of its "%s". */
__attribute__((format(printf, 2, 3))) static void roff(FILE *out, const char *form, ...)
{
    va_list texts;
    va_start(texts, form);
    for (const char *gap; (gap = strstr(form, "%s")) != NULL; form = gap + 2) {
        fprintf(out, "%.*s", (int)(gap - form), form);
        put(va_arg(texts, const char *), out);
    }
    va_end(texts);
    fputs(form, out);
}

/* A text in capitals. */
static const char *capitals(const char *text, char out[64])
{
    size_t n = 0;
    for (; text[n] && n + 1 < 64; n++)
        out[n] = (char)(text[n] >= 'a' && text[n] <= 'z' ? text[n] - 'a' + 'A' : text[n]);
    out[n] = '\0';
    return out;
}

static void put_header(const char *name, int section, const char *version, const char *summary,
                       FILE *out)
{
    char upper[64];
    roff(out, ".TH %s", capitals(name, upper));
    fprintf(out, " %d \"%s\" \"scaleplan %s\" \"%s\"\n", section, SCALEPLAN_DATE, version,
            section == 1 ? "User Commands" : "File Formats");
    roff(out, ".SH NAME\n%s \\- %s\n", name, summary);
}

static void put_option(const struct sp_option *o, FILE *out)
{
    roff(out, ".TP\n\\fB\\-\\-%s\\fR", o->name);
    if (o->metavar && o->kind == SP_MAYBE)
        roff(out, " [\\fI%s\\fR]", o->metavar);
    else if (o->metavar)
        roff(out, " \\fI%s\\fR", o->metavar);
    roff(out, "\n%s", o->help);
    if (o->fallback)
        roff(out, " (default %s)", o->fallback);
    fputs("\n", out);
}

/* Options under the headings of --help. */
static void put_options(const struct sp_option *options, size_t n, FILE *out)
{
    for (int heading = 0; heading < SP_N_HEADINGS; heading++) {
        bool begun = false;
        for (size_t i = 0; i < n; i++) {
            if ((int)options[i].heading != heading)
                continue;
            if (!begun)
                roff(out, ".SS %s\n", sp_heading_title(options[i].heading));
            begun = true;
            put_option(&options[i], out);
        }
    }
}

/* Keys of the command's quantities, with meaning and unit. */
static void put_keys(const char *command, FILE *out)
{
    enum sp_quantity_id first;
    const enum sp_quantity_id end = sp_quantities_of(command, &first);
    if (end > first)
        fputs(".SH KEYS\nOf \\fB\\-\\-get\\fR and \\fB\\-\\-explain\\fR; in groups and lists "
              "where \\fB\\-\\-format json\\fR shows them so.\n",
              out);
    for (enum sp_quantity_id id = first; id < end; id++) {
        const struct sp_quantity_info info = sp_quantity(id);
        roff(out, ".TP\n\\fB%s\\fR", info.key);
        if (*sp_unit_name(info.unit))
            roff(out, " (%s)", sp_unit_name(info.unit));
        roff(out, "\n%s\n", *info.meaning ? info.meaning : info.label);
    }
}

static const char exits[] =
    ".TP\n0\nanswered\n.TP\n1\nwith \\-\\-check or \\-\\-strict, the verdict is no; some rows of a "
    "sweep or lines of step \\- have no answer\n.TP\n2\nwrong "
    "usage\n.TP\n3\nbad input: file, JSON, name, value; no row or line has an "
    "answer\n.TP\n4\noutput failed, or internal "
    "error\n.TP\n130\ninterrupted\n";

static void put_command(const struct sp_command *c, const char *version, FILE *out)
{
    char name[64];
    snprintf(name, sizeof name, "scaleplan-%s", c->name);
    put_header(name, 1, version, c->summary, out);
    roff(out, ".SH SYNOPSIS\n.B scaleplan %s\n[\\fIOPTION\\fR...]", c->name);
    if (c->operands)
        roff(out, " \\fI%s\\fR", c->operands);
    roff(out, "\n.SH DESCRIPTION\n%s\n.SH OPTIONS\n", c->about);
    struct sp_option options[SP_MAX_OPTIONS];
    const size_t n = sp_options_of(c, options);
    put_options(options, n, out);
    put_keys(c->name, out);
    fputs(".SH EXAMPLES\n", out);
    for (const struct sp_example *e = c->examples; e && e->line; e++)
        roff(out, ".TP\n\\fBscaleplan %s\\fR\n%s\n", e->line, e->what);
    fprintf(out,
            ".SH EXIT STATUS\n%s.SH SEE ALSO\n.BR scaleplan (1),\n.BR scaleplan\\-config (5)\n",
            exits);
}

static void put_program(const char *version, FILE *out)
{
    put_header("scaleplan", 1, version, "training-plan calculator for large models", out);
    fputs(".SH SYNOPSIS\n.B scaleplan\n\\fICOMMAND\\fR [\\fIOPTION\\fR...]\n.SH DESCRIPTION\n"
          "Tells whether a model trains on a machine, what limits it (memory, compute, which "
          "network), how long a step takes, and what would be better. Every number can be "
          "explained with \\fB\\-\\-explain\\fR, picked with \\fB\\-\\-get\\fR and had as JSON or "
          "CSV with \\fB\\-\\-format\\fR.\n.SH COMMANDS\n",
          out);
    for (size_t i = 0; i < sp_n_commands; i++)
        roff(out, ".TP\n.BR scaleplan\\-%s (1)\n%s\n", sp_commands[i]->name,
             sp_commands[i]->summary);
    fputs(".SH COMMON OPTIONS\n", out);
    for (size_t i = 0; i < sp_n_common_options; i++) {
        const struct sp_option option =
            sp_option_row(sp_common_options[i].id, &sp_common_options[i]);
        put_option(&option, out);
    }
    fprintf(
        out,
        ".SH ENVIRONMENT\n.TP\nSCALEPLAN_CONFIG_PATH\nfolders with your own configs, separated by "
        "colons\n.TP\nXDG_CONFIG_HOME\nits scaleplan/ holds your own configs (default: "
        "~/.config)\n.TP\nNO_COLOR\nno colours, whatever the terminal\n.TP\nOMP_NUM_THREADS\n"
        "threads of a search or a calibration\n.SH EXIT STATUS\n%s.SH EXAMPLES\n.TP\n"
        "\\fBscaleplan fit \\-\\-model llama2\\-13b \\-\\-hw v5p\\-4096\\fR\ndoes it train, and "
        "what limits it\n.TP\n\\fBscaleplan search \\-\\-model llama3\\-70b \\-\\-hw h100\\-512 "
        "\\-\\-batch 1024x8192\\fR\nthe best plan\n.SH SEE ALSO\n.BR scaleplan\\-config (5)\n",
        exits);
}

static void put_config(const char *version, FILE *out)
{
    put_header("scaleplan-config", 5, version, "files of scaleplan", out);
    fputs(".SH DESCRIPTION\nAll configs are JSON. One of your own, in a folder of "
          "~/.config/scaleplan, of \\fB\\-\\-config\\-dir\\fR or of SCALEPLAN_CONFIG_PATH, hides a "
          "built\\-in one of its name; options take a path too. Keys with a dot are members of an "
          "object. \\fBscaleplan lint\\fR \\fIFILE\\fR says what is wrong, \\fBscaleplan show\\fR "
          "\\fINAME\\fR what was understood. A \\fI$schema\\fR key may name the JSON Schema.\n",
          out);
    for (int k = 0; k < SP_CONFIG_KINDS; k++) {
        const struct sp_config_kind_info *const info = &sp_config_kinds[k];
        char upper[64];
        roff(out, ".SH %s\n%s/NAME.json: %s.\n", capitals(info->folder, upper), info->folder,
             info->about);
        for (size_t i = 0; i < info->table->n; i++) {
            const struct sp_field *const field = &info->table->fields[i];
            char words[512];
            sp_field_words(field, words, sizeof words);
            roff(out, ".TP\n\\fB%s\\fR (%s)\n%s\n", field->key, words, field->help);
        }
    }
    fputs(".SH SEE ALSO\n.BR scaleplan (1)\n", out);
}

bool sp_write_man_page(const char *name, const char *version, FILE *out)
{
    if (strcmp(name, "scaleplan.1") == 0) {
        put_program(version, out);
        return true;
    }
    if (strcmp(name, "scaleplan-config.5") == 0) {
        put_config(version, out);
        return true;
    }
    for (size_t i = 0; i < sp_n_commands; i++) {
        char page[64];
        snprintf(page, sizeof page, "scaleplan-%s.1", sp_commands[i]->name);
        if (strcmp(page, name) == 0) {
            put_command(sp_commands[i], version, out);
            return true;
        }
    }
    return false;
}
