/* Patterns of file names, without flags: *, ?, sets in brackets, and characters after a \. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#include "host/wasi/character.h"

static bool is_in_class(unsigned c, const char *name, size_t n)
{
    static const struct {
        char name[8];
        int (*has)(int);
    } classes[] = {{"digit", isdigit}, {"alpha", isalpha},  {"alnum", isalnum},
                   {"space", isspace}, {"upper", isupper},  {"lower", islower},
                   {"punct", ispunct}, {"xdigit", isxdigit}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i].name) == n && memcmp(classes[i].name, name, n) == 0)
            return c < 0x80 && classes[i].has((int)c);
    return false;
}

/* Reads a set from after its opening bracket, and tells whether it contains a character; false if
 * no bracket closes it. */
static bool take_set(const char **at, unsigned c, bool *has)
{
    const char *p = *at;
    const bool without = *p == '!' || *p == '^';
    bool found = false;
    p += without;
    for (bool first = true; first || *p != ']'; first = false) {
        const char *const end = *p == '[' && p[1] == ':' ? strstr(p, ":]") : NULL;
        if (end) {
            found |= is_in_class(c, p + 2, (size_t)(end - p - 2));
            p = end + 2;
            continue;
        }
        p += *p == '\\';
        if (*p == '\0')
            return false;
        const unsigned low = sp_take_character(&p);
        unsigned high = low;
        if (*p == '-' && p[1] != ']' && p[1] != '\0') {
            p += p[1] == '\\' ? 2 : 1;
            high = sp_take_character(&p);
        }
        found |= c >= low && c <= high;
    }
    *at = p + 1;
    *has = found != without;
    return true;
}

/* Reads one part of a pattern other than *, and the character that it matches; false: it does not
 * match. */
static bool take_one(const char **pattern, const char **text)
{
    bool has = false;
    if (**text == '\0')
        return false;
    const unsigned c = sp_take_character(text);
    const char *p = *pattern + 1;
    if (**pattern == '?' || (**pattern == '[' && take_set(&p, c, &has))) {
        *pattern = p;
        return p[-1] == '?' || has;
    }
    *pattern += (*pattern)[0] == '\\' && (*pattern)[1] != '\0';
    return sp_take_character(pattern) == c;
}

int fnmatch(const char *pattern, const char *text, int flags)
{
    const char *star = NULL, *behind = NULL; /* the last *, and the end of its match */
    (void)flags;
    while (*text || *pattern) {
        if (*pattern == '*') {
            star = ++pattern;
            behind = text;
        } else if (!*pattern || !take_one(&pattern, &text)) {
            if (!star || !*behind)
                return FNM_NOMATCH;
            sp_take_character(&behind);
            pattern = star;
            text = behind;
        }
    }
    return 0;
}
