/* A Python recipe as settings: its assignments, and what it imports. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "launch/formats/syntax.h"

/* Takes blanks, a comment and quotes off a value. */
static void take_value(const char *from, size_t n, char *out, size_t size)
{
    const char quote = *from == '"' || *from == '\'' ? *from : '\0';
    const char *const end = quote ? memchr(from + 1, quote, n - 1) : memchr(from, '#', n);
    if (quote) {
        from++;
        n = end ? (size_t)(end - from) : n - 1;
    } else if (end) {
        n = (size_t)(end - from);
    }
    while (n > 0 && strchr(" \t\r", from[n - 1]))
        n--;
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), from);
}

/* The name of a field of torchtitan without the object that a recipe sets it of:
 * "config.training.seq_len" is "training.seq_len". */
static const char *field_of(const char *name)
{
    static const char *const sections[] = {".training.", ".parallelism.",
                                           ".activation_checkpoint."};
    const char *const dot = strchr(name, '.');
    for (size_t i = 0; dot && i < sizeof sections / sizeof *sections; i++)
        if (strncmp(dot, sections[i], strlen(sections[i])) == 0)
            return dot + 1;
    return name;
}

/* Where a recipe is read: in which function, and in which of its branches. */
struct place {
    const struct sp_typed_names *names;
    struct sp_settings *settings;
    const char *text;
    char function[64]; /* "" outside of all */
    char first[64];    /* the first function that sets fields */
    int number;        /* of the line */
    size_t body;       /* indent of the function's own lines; 0: not known yet */
    int branch;        /* the line of the branch that this one is in; 0: none */
};

/* Whether a value is a name that stands for another. */
static bool is_name(const char *value)
{
    const size_t n =
        strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return n > 0 && !value[n] && !isdigit((unsigned char)value[0]) &&
           !sp_has_word("True False None true false none", value);
}

/* Puts what a name stands for: typed, or set before; else it is not known. */
static void resolve(const struct place *p, struct sp_setting *setting)
{
    char name[sizeof setting->value];
    snprintf(name, sizeof name, "%s", setting->value);
    const char *const typed = sp_typed_value(p->names, name, strlen(name)),
                      *const said = typed ? typed : sp_said(p->settings, name);
    if (said)
        snprintf(setting->value, sizeof setting->value, "%s", said);
    else
        snprintf(setting->gap, sizeof setting->gap, "%.47s", name);
}

/* A function that sets fields of a configuration: of several, the one that was asked for counts. */
static bool enter_function(struct place *p)
{
    if (!p->function[0] || p->names->recipe)
        return true;
    if (!p->first[0])
        snprintf(p->first, sizeof p->first, "%s", p->function);
    return sp_is(p->first, p->function) ||
           sp_fail(p->settings->error, SP_INPUT,
                   "%s:%d: it holds several recipes, %s and %s: give --recipe NAME",
                   sp_safe(p->settings->origin), p->number, sp_safe(p->first),
                   sp_safe(p->function));
}

/* A line "name = value"; others say nothing. Values set in a branch are unknown. */
static bool read_assignment(struct place *p, const char *line, size_t n)
{
    struct sp_settings *const settings = p->settings;
    char name[sizeof settings->at->name], value[sizeof settings->at->value];
    const size_t length = strcspn(line, " =#(,\n");
    if (length == 0 || length >= sizeof name || n < length + 4 ||
        strncmp(line + length, " = ", 3) != 0)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)length, line);
    take_value(line + length + 3, n - length - 3, value, sizeof value);
    if ((strchr(name, '.') && !enter_function(p)) ||
        !sp_add_setting(settings, field_of(name), value))
        return false;
    struct sp_setting *const setting = &settings->at[settings->n - 1];
    setting->line = setting->gap_line = p->number;
    setting->cut = n - length - 3 >= sizeof value && strlen(value) + 1 == sizeof value;
    if (p->branch > 0)
        snprintf(setting->gap, sizeof setting->gap, "the branch of line %d", p->branch);
    else if (is_name(value) && !strchr("'\"", line[length + 3]))
        resolve(p, setting);
    return true;
}

/* Whether a function of this file, which may set the plan, is called on a line: its name, or "". */
static void find_call(const struct place *p, const char *line, size_t n, char *out, size_t size)
{
    out[0] = '\0';
    for (const char *at = p->text; at && !out[0]; at = strstr(at + 1, "\ndef ")) {
        const char *const name = at + (*at == '\n' ? 5 : 4);
        const size_t length = strcspn(name, "( \n");
        for (size_t i = 0; i + length < n && !out[0] && (*at == '\n' || at[0] == 'd'); i++)
            if (strncmp(line + i, name, length) == 0 && line[i + length] == '(' &&
                (i == 0 || strchr(" =(,", line[i - 1])) && length > 0 &&
                strncmp(name, "model", length) != 0)
                snprintf(out, size, "%.*s", (int)length, name);
    }
}

/* A line of a call, "name=value,": what it says stands under its last name. */
static bool read_keyword(struct place *p, const char *line, size_t n)
{
    char name[sizeof p->settings->at->name], value[sizeof p->settings->at->value], called[64];
    const size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz_0123456789");
    find_call(p, line, n, called, sizeof called);
    if (called[0])
        return sp_fail(
            p->settings->error, SP_INPUT,
            "%s:%d: the plan comes from %s(), which cannot be read: give the plan as options",
            sp_safe(p->settings->origin), p->number, called);
    if (length == 0 || length >= sizeof name || line[length] != '=' || line[length + 1] == '=')
        return true;
    snprintf(name, sizeof name, "%.*s", (int)length, line);
    const size_t comma = n > length + 1 && line[n - 1] == ',' ? 1 : 0;
    take_value(line + length + 1, n - length - 1 - comma, value, sizeof value);
    if (strpbrk(value, "([{") || !value[0])
        return true;
    if (!sp_add_setting(p->settings, name, value))
        return false;
    struct sp_setting *const setting = &p->settings->at[p->settings->n - 1];
    setting->line = setting->gap_line = p->number;
    if (p->branch > 0)
        snprintf(setting->gap, sizeof setting->gap, "the branch of line %d", p->branch);
    else if (is_name(value) && !strchr("'\"", line[length + 1]))
        resolve(p, setting);
    return true;
}

/* Whether a function is a recipe by its name. */
static bool is_recipe(const char *function)
{
    return strstr(function, "recipe") || strstr(function, "_config");
}

static bool read_import(const char *line, size_t n, struct sp_settings *settings)
{
    static const char import[] = " import ";
    char name[sizeof settings->at->name], value[sizeof settings->at->value];
    const size_t length = strcspn(line, " \n"), rest = length + sizeof import - 1;
    if (length >= sizeof name || n <= rest ||
        strncmp(line + length, import, sizeof import - 1) != 0)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)length, line);
    take_value(line + rest, n - rest, value, sizeof value);
    return sp_add_setting(settings, name, value);
}

/* Follows what a line opens: a function, its body, or a branch of it. */
static void follow(struct place *p, const char *line, size_t indent)
{
    static const char *const branches[] = {"if ", "elif ", "else:", "for ", "while "};
    if (*line == '\n' || *line == '#' || *line == '\0' || *line == '\r')
        return;
    if (indent == 0 && *line != ')') {
        p->function[0] = '\0';
        p->body = 0;
        p->branch = 0;
    }
    if (indent == 0 && strncmp(line, "def ", 4) == 0) {
        snprintf(p->function, sizeof p->function, "%.*s", (int)strcspn(line + 4, "( \n"), line + 4);
        return;
    }
    if (p->function[0] && p->body == 0 && *line != ')')
        p->body = indent;
    if (indent <= p->body)
        p->branch = 0;
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
        if (indent <= p->body && strncmp(line, branches[i], strlen(branches[i])) == 0)
            p->branch = p->number;
}

/* Whether a line is of a text between triple quotes, which says nothing. */
static bool is_told(bool *inside, const char *line, size_t n)
{
    const bool was = *inside;
    for (size_t i = 0; i + 2 < n; i++)
        if (strncmp(line + i, "\"\"\"", 3) == 0) {
            *inside = !*inside;
            i += 2;
        }
    return was || *inside;
}

bool sp_read_recipe(const char *text, const struct sp_typed_names *names,
                    struct sp_settings *settings)
{
    struct place p = {.names = names, .settings = settings, .text = text, .number = 1};
    bool ok = true, found = !names->recipe, told = false;
    for (; *text && ok; p.number++) {
        const size_t indent = strspn(text, " \t"), n = strcspn(text, "\n");
        const char *const line = text + indent;
        if (is_told(&told, line, n - indent)) {
            text += n + (text[n] == '\n');
            continue;
        }
        follow(&p, line, indent);
        const bool other = names->recipe && p.function[0] && !sp_is(p.function, names->recipe);
        found = found || (p.function[0] && !other);
        if (strncmp(line, "from ", 5) == 0 && n > indent + 5)
            ok = read_import(line + 5, n - indent - 5, settings);
        else if (!other)
            ok = read_assignment(&p, line, n - indent) &&
                 (p.function[0] == '\0' || !is_recipe(p.function) || indent < p.body ||
                  p.body == 0 || (enter_function(&p) && read_keyword(&p, line, n - indent)));
        text += n + (text[n] == '\n');
    }
    return ok && (found || sp_fail_in(settings, "--recipe: it has no function \"%s\"",
                                      sp_safe(names->recipe)));
}
