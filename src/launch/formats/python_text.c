/* Places of a Python text, outside of quotes, comments and brackets. */
#include "launch/formats/python_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

const char *sp_end_of_quotes(const char *at, const char *end)
{
    const char quote = *at;
    const bool three = at + 2 < end && at[1] == quote && at[2] == quote;
    for (at += three ? 3 : 1; at < end; at++) {
        if (*at == '\\')
            at++;
        else if (*at == quote && (!three || (at + 2 < end && at[1] == quote && at[2] == quote)))
            return at + (three ? 3 : 1);
        else if (*at == '\n' && !three)
            return at;
    }
    return end;
}

const char *sp_python_step(const char *at, const char *end)
{
    if (*at == '"' || *at == '\'')
        return sp_end_of_quotes(at, end);
    if (*at == '#') {
        while (at < end && *at != '\n')
            at++;
        return at;
    }
    return at + 1;
}

const char *sp_find_outside(const char *at, const char *end, const char *stops)
{
    for (int depth = 0; at < end; at = sp_python_step(at, end)) {
        if (depth == 0 && strchr(stops, *at))
            return at;
        depth += strchr("([{", *at) != NULL;
        depth -= strchr(")]}", *at) != NULL;
        if (depth < 0)
            return at;
    }
    return end;
}

void sp_trim_python(const char **from, const char **to)
{
    while (*from < *to && (isspace((unsigned char)**from) || **from == '\\' || **from == '#'))
        *from = **from == '#' ? sp_python_step(*from, *to) : *from + 1;
    *to = sp_find_outside(*from, *to, "#"); /* a remark behind it */
    while (*to > *from && isspace((unsigned char)(*to)[-1]))
        (*to)--;
}

bool sp_ends_python(const char *from, const char *to, const char *end)
{
    const size_t n = strlen(end);
    return (size_t)(to - from) >= n && strncmp(to - n, end, n) == 0;
}

bool sp_spell_keys(char *path)
{
    for (char *open; (open = strchr(path, '[')) != NULL;) {
        char *const end = strchr(open + 2, open[1]);
        if ((open[1] != '"' && open[1] != '\'') || !end || end[1] != ']')
            return false;
        *open = '.';
        memmove(open + 1, open + 2, (size_t)(end - open - 2));
        memmove(end - 1, end + 2, strlen(end + 2) + 1);
    }
    return true;
}

size_t sp_python_cast(const char *from, const char *to)
{
    static const char *const casts[] = {"int", "float", "str", "list", "tuple"};
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++) {
        const size_t n = strlen(casts[i]);
        if ((size_t)(to - from) > n + 1 && strncmp(from, casts[i], n) == 0 && from[n] == '(' &&
            sp_find_outside(from + n + 1, to, "") == to - 1)
            return n;
    }
    static const char typed[] = "getattr(torch,"; /* a format by its name */
    const size_t n = sizeof typed - 1;
    return (size_t)(to - from) > n && strncmp(from, typed, n) == 0 &&
                   sp_find_outside(from + n, to, "") == to - 1
               ? n - 1
               : 0;
}

bool sp_is_python_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *sp_end_of_name(const char *from, const char *to)
{
    while (from < to && sp_is_python_letter(*from))
        from++;
    return from;
}
