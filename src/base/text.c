/* Text that is safe to print. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Characters of three bytes, from e2 80 .. on: marks and overrides of writing direction, and line
 * separators. */
static bool is_hidden(const unsigned char *s)
{
    static const unsigned char ranges[][3] = {
        {0x80, 0x8e, 0x8f}, {0x80, 0xa8, 0xae}, {0x81, 0xa6, 0xa9}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (s[1] == ranges[i][0] && s[2] >= ranges[i][1] && s[2] <= ranges[i][2])
            return s[0] == 0xe2;
    return false;
}

/* Whether a sequence of n bytes is a C0 or C1 control, DEL, a line separator or a direction mark:
 * these steer a terminal, or make text look like other text. */
static bool is_control(const unsigned char *s, size_t n)
{
    if (n == 1)
        return s[0] < 0x20 || s[0] == 0x7f;
    if (n == 2)
        return (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c);
    return n == 3 && is_hidden(s);
}

/* The first unprintable sequence at or after *s, of *n bytes; NULL: none. */
static unsigned char *find_unprintable(unsigned char *s, const char *keep, size_t *n)
{
    const unsigned char *const end = s + strlen((char *)s);
    for (; (s += sp_plain_length(s, (size_t)(end - s))) < end; s += *n) {
        const size_t length = sp_utf8_length(s, (size_t)(end - s));
        *n = length > 0 ? length : 1;
        if ((length == 0 || is_control(s, *n)) && !strchr(keep, *s))
            return s;
    }
    return NULL;
}

bool sp_is_printable(const char *text, const char *keep)
{
    size_t n;
    return !find_unprintable((unsigned char *)text, keep, &n);
}

void sp_make_printable(char *text, const char *keep)
{
    size_t n;
    for (unsigned char *s = (unsigned char *)text; (s = find_unprintable(s, keep, &n)); s += n)
        memset(s, '?', n);
}

/* Whether the word of n letters at `at` is a plural of things that texts count. */
static bool is_counted(const char *at, size_t n)
{
    static const char *const nouns[] = {
        "devices",   "chips",   "nodes",         "hosts", "stages", "layers",
        "sequences", "tokens",  "steps",         "plans", "slices", "replicas",
        "parts",     "domains", "switches",      "links", "days",   "groups",
        "rows",      "threads", "micro-batches", "chunks"};
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++)
        if (strlen(nouns[i]) == n && strncmp(nouns[i], at, n) == 0)
            return true;
    return false;
}

const char *sp_base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool sp_starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Names of options differ, at most, after their dashes. */
bool sp_is_all(const char *text, const char *word)
{
    return !text[0] ||
           (text[1] == word[1] && (!text[1] || text[2] == word[2]) && strcmp(text, word) == 0);
}

void sp_make_singular(char *text)
{
    for (char *at = text; (at = strstr(at, "1 ")) != NULL; at += 2) {
        const bool alone = at == text || at[-1] == ' ' || at[-1] == '(';
        char *const noun = at + (strncmp(at + 2, "whole ", 6) == 0 ? 8 : 2);
        const size_t n = strspn(noun, "abcdefghijklmnopqrstuvwxyz-");
        if (!alone || !is_counted(noun, n))
            continue;
        const size_t drop = strncmp(noun + n - 4, "ches", 4) == 0 ? 2 : 1;
        memmove(noun + n - drop, noun + n, strlen(noun + n) + 1);
    }
}

void sp_cut_text(const char *text, size_t n, char *out, size_t size)
{
    const size_t kept = n < size ? n : size - 1;
    memcpy(out, text, kept);
    out[kept] = '\0';
}

void sp_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}
