/* The syntax of a text. */
#include "launch/formats/syntax.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

/* The first line that is neither empty nor a comment nor "---". */
static const char *first_line(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at != '#' && strncmp(at, "---", 3) != 0)
            return at;
        at += strcspn(at, "\n");
    }
}

/* "[name]" and nothing but a comment after it. */
static bool is_table(const char *at)
{
    const size_t n = *at == '[' ? strcspn(at, "]\n") : 0;
    if (n < 2 || at[n] != ']' || memchr(at, ' ', n))
        return false;
    at += n + 1 + (at[n + 1] == ']');
    at += strspn(at, " \t\r");
    return *at == '\n' || *at == '#' || *at == '\0';
}

/* "key:" and a blank or the end of the line, or "- ". */
static bool is_entry(const char *at)
{
    if (at[0] == '-' && at[1] == ' ')
        return true;
    if (*at == '"' || *at == '\'') {
        const char *const end = strchr(at + 1, *at);
        return end && end[1] == ':' && (end[2] == '\0' || strchr(" \t\r\n", end[2]));
    }
    const size_t n = strcspn(at, ": \t\r\n=$()'\"");
    return n > 0 && at[n] == ':' && (at[n + 1] == '\0' || strchr(" \t\r\n", at[n + 1]));
}

/* "from a.b import", "import a.b" or "def name(". */
static bool is_python(const char *at)
{
    const size_t word = strcspn(at, " \n");
    if (at[word] != ' ')
        return false;
    const char *const name = at + word + 1, *const end = name + strcspn(name, " (\n");
    return (strncmp(at, "from", word) == 0 && strncmp(end, " import ", 8) == 0) ||
           (strncmp(at, "import", word) == 0 && word == 6 && (*end == '\n' || *end == ' ')) ||
           (strncmp(at, "def", word) == 0 && *end == '(');
}

/* Whether a text that opens a brace has comments of YAML, which JSON does not have. */
static bool has_comment(const char *at)
{
    for (char quote = '\0'; *at; at++) {
        if (quote && *at == '\\' && at[1])
            at++;
        else if (quote)
            quote = *at == quote ? '\0' : quote;
        else if (*at == '"')
            quote = '"';
        else if (*at == '#')
            return true;
    }
    return false;
}

enum sp_syntax sp_syntax_of(const char *text, const char *name)
{
    const char *const start = text + strspn(text, " \t\r\n"), *const line = first_line(text);
    if (*start == '{')
        return has_comment(start) ? SP_YAML : SP_JSON;
    if (is_table(line))
        return SP_TOML;
    if (is_python(line) || sp_is(strrchr(name, '.'), ".py"))
        return SP_PYTHON;
    return *line == '{' || is_entry(line) ? SP_YAML : SP_SHELL;
}

size_t sp_length_of_blank(const char *at)
{
    const size_t n = *at == '<' && isalpha((unsigned char)at[1])
                         ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_ -./:")
                         : 0;
    return n > 0 && at[n + 1] == '>' && isalnum((unsigned char)at[n]) ? n + 2 : 0;
}

const char *sp_typed_value(const struct sp_typed_names *names, const char *name, size_t n)
{
    for (int i = names->n - 1; i >= 0; i--)
        if (strncmp(names->at[i], name, n) == 0 && names->at[i][n] == '=')
            return names->at[i] + n + 1;
    for (int i = names->over ? names->over->n - 1 : -1; i >= 0; i--) {
        const struct sp_setting *const at = &names->over->at[i];
        if (strncmp(at->name, name, n) == 0 && at->name[n] == '\0' && !at->gap[0])
            return at->value;
    }
    return NULL;
}
