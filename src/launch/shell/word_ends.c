/* Where words of a shell's script, quotes and groups in parentheses end. */
#include "launch/shell/word_ends.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { DEEPEST = 24 };

static const char *end_of_group(const char *at, int depth);

/* The end of "..." that starts here. */
static const char *end_of_quotes(const char *at, int depth)
{
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if ((*at == '$' && at[1] && strchr("({[", at[1])) || *at == '`')
            at = end_of_group(at, depth + 1) - 1;
    }
    return at + (*at == '"');
}

static const char *end_of_plain_quotes(const char *at)
{
    at++;
    at += strcspn(at, "'");
    return at + (*at == '\'');
}

/* A piece of a word that is more than a character. */
static const char *end_of_part(const char *at, int depth)
{
    if (*at == '\\' && at[1])
        return at + 2;
    if (*at == '\'')
        return end_of_plain_quotes(at);
    if (*at == '$' && at[1] == '\'') { /* where a backslash quotes */
        for (at += 2; *at && *at != '\''; at++)
            at += *at == '\\' && at[1];
        return at + (*at == '\'');
    }
    if (*at == '"')
        return end_of_quotes(at, depth);
    if ((*at == '$' && at[1] && strchr("({[", at[1])) || *at == '`' ||
        ((*at == '<' || *at == '>') && at[1] == '('))
        return end_of_group(at, depth + 1);
    return at + 1;
}

static const char *end_of_group(const char *at, int depth)
{
    if (*at == '`') {
        for (at++; *at && *at != '`'; at++)
            at += *at == '\\' && at[1];
        return at + (*at == '`');
    }
    const bool is_list = *at == '(' || at[1] == '(';
    const char opens = is_list        ? '('
                       : at[1] == '[' ? '['
                                      : '{',
               closes = is_list        ? ')'
                        : opens == '[' ? ']'
                                       : '}';
    at += *at == opens ? 0 : 1;
    int open = 0;
    do {
        open += *at == opens;
        open -= *at == closes;
        if (*at == '#' && is_list && strchr(" \t\n", at[-1]))
            at += strcspn(at, "\n");
        else if (*at)
            at = depth > DEEPEST || *at == opens ? at + 1 : end_of_part(at, depth);
    } while (*at && open > 0);
    return at;
}

const char *sp_shell_end_of_group(const char *at)
{
    return end_of_group(at, 0);
}

const char *sp_shell_end_of_part(const char *at)
{
    return end_of_part(at, 0);
}

size_t sp_shell_name_length(const char *at)
{
    return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

static bool ends_word(char c)
{
    return c == '\0' || strchr(" \t\r\n;&|<>()", c);
}

const char *sp_shell_end_of_word(const char *at)
{
    while (!ends_word(*at))
        at = end_of_part(at, 0);
    return at;
}

/* Whether the part of a word that ends the text at `end` has its closing quote or bracket. */
static bool is_closed(const char *part, const char *end)
{
    const char *const group = part + (*part == '$' || *part == '<' || *part == '>');
    const char *const opening = "'\"`({[", *const closing = "'\"`)}]";
    const char *const kind = *group ? strchr(opening, *group) : NULL;
    const bool quotes = group == part || *group == '\'';
    size_t escapes = 0;
    if (!kind || (!quotes && end == group) || (quotes && kind - opening > 2))
        return true;
    while (end - 2 - escapes > group && end[-2 - (ptrdiff_t)escapes] == '\\')
        escapes++;
    return end - group > 1 && end[-1] == closing[kind - opening] &&
           (*group == '\'' || escapes % 2 == 0);
}

bool sp_shell_is_whole(const char *word, const char *end)
{
    const char *part = word, *next = word;
    while (next < end) {
        part = next;
        next = end_of_part(part, 0);
    }
    return *end || part == end || is_closed(part, end);
}

const char *sp_shell_skip_nowhere(const char *at)
{
    static const char nowhere[] = "/dev/null";
    const char *to = at + (*at == '&' || (isdigit((unsigned char)*at) && at[1] == '>'));
    if (*to != '>')
        return at;
    to += 1 + (to[1] == '>');
    if (to[0] == '&' && isdigit((unsigned char)to[1]))
        return to + 2;
    to += strspn(to, " ");
    return strncmp(to, nowhere, sizeof nowhere - 1) == 0 ? to + sizeof nowhere - 1 : at;
}

const char *sp_shell_read_joint(const char *at, char *joint)
{
    if (strncmp(at, "IFS=", 4) != 0)
        return at;
    at += 4;
    const char quote = *at == '\'' || *at == '"' ? *at++ : '\0';
    *joint = *at;
    while (*at && (quote ? *at != quote : !strchr("; \n", *at)))
        at++;
    at += quote && *at == quote;
    at += strspn(at, " ");
    return *at == ';' ? at + 1 + strspn(at + 1, " ") : at;
}

const char *sp_shell_end_of_replaced(const char *at, const char *end)
{
    for (at += 1 + (at[1] == '/'); at < end && *at != '/';)
        at = sp_shell_end_of_part(at);
    return at < end ? at : end;
}
