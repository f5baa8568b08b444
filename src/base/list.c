/* Comma-separated items, KEY=VALUE pairs, parts of a whole. */
#include "base/list.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

bool sp_next_item(const char **list, char *item, size_t size)
{
    if (!*list)
        return false;
    const size_t n = strcspn(*list, ",");
    sp_cut_text(*list, n, item, size);
    *list = (*list)[n] ? *list + n + 1 : NULL;
    return true;
}

bool sp_next_piece(const char **list, char separator, char *piece, size_t size)
{
    if (!*list)
        return false;
    int open = 0;
    size_t n = 0;
    for (; (*list)[n] && ((*list)[n] != separator || open > 0); n++)
        open += ((*list)[n] == '[' && strchr(*list + n, ']')) - ((*list)[n] == ']' && open > 0);
    sp_cut_text(*list, n, piece, size);
    *list = (*list)[n] ? *list + n + 1 : NULL;
    return true;
}

bool sp_is_listed(const char *list, const char *word, char end)
{
    for (const char *at = list; *at; at += *at == ',') {
        at += strspn(at, " ");
        const size_t n = strcspn(at, ",");
        if (n > 0 && strncmp(at, word, n) == 0 && (word[n] == '\0' || word[n] == end))
            return true;
        at += n;
    }
    return false;
}

bool sp_is_named(const char *typed, const char *name)
{
    static const char *const units[] = {"", "_s", "_usd", "_bytes"};
    for (; *name; typed++, name++)
        if (*typed != *name && !(strchr("-_", *name) && *typed && strchr("-_", *typed)))
            return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(typed, units[i]) == 0)
            return true;
    return false;
}

char *sp_cut_pair(char *pair)
{
    char *const equals = strchr(pair, '=');
    if (!equals || equals == pair)
        return NULL;
    *equals = '\0';
    return equals + 1;
}

/* Appends text after the first `used` bytes, as much as there is room for; returns the bytes used
 * then. */
static size_t append(char *out, size_t size, size_t used, const char *text)
{
    const size_t n = strnlen(text, size - 1 - used);
    memcpy(out + used, text, n);
    out[used + n] = '\0';
    return used + n;
}

void sp_join_path(const char *path, const char *key, char *out, size_t size)
{
    const size_t used = append(out, size, 0, path);
    append(out, size, used > 0 ? append(out, size, used, ".") : 0, key);
}

bool sp_parse_part(const char *text, int *part, int *parts)
{
    int end = 0;
    return sscanf(text, "%9d/%9d%n", part, parts, &end) == 2 && text[end] == '\0' && *part >= 1 &&
           *part <= *parts;
}

bool sp_take_shard(const char *text, int most, int *part, int *parts, struct sp_error *error)
{
    return (sp_parse_part(text, part, parts) && *parts <= most) ||
           sp_fail(error, SP_INPUT, "--shard: \"%s\" is not I/N with I from 1 to N, such as 3/16",
                   sp_safe(text));
}
