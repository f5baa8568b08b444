/* A Python recipe as settings: its assignments, and what it imports. */
#include <stdio.h>
#include <string.h>

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

/* A line "name = value"; others say nothing. */
static bool read_assignment(const char *line, size_t n, int number, struct sp_settings *settings)
{
    char name[sizeof settings->at->name], value[sizeof settings->at->value];
    const size_t length = strcspn(line, " =#(,\n");
    if (length == 0 || length >= sizeof name || n < length + 4 ||
        strncmp(line + length, " = ", 3) != 0)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)length, line);
    take_value(line + length + 3, n - length - 3, value, sizeof value);
    if (!sp_add_setting(settings, field_of(name), value))
        return false;
    settings->at[settings->n - 1].line = number;
    settings->at[settings->n - 1].cut =
        n - length - 3 >= sizeof value && strlen(value) + 1 == sizeof value;
    return true;
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

bool sp_read_recipe(const char *text, struct sp_settings *settings)
{
    for (int number = 1; *text; number++) {
        const size_t indent = strspn(text, " \t"), n = strcspn(text, "\n");
        const char *const line = text + indent;
        const bool ok = strncmp(line, "from ", 5) == 0 && n > indent + 5
                            ? read_import(line + 5, n - indent - 5, settings)
                            : read_assignment(line, n - indent, number, settings);
        if (!ok)
            return false;
        text += n + (text[n] == '\n');
    }
    return true;
}
