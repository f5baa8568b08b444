/* Regular expressions, which the page leaves out, for the 13 kB that the library takes: what a
 * script makes of one is unknown there. */
#include <regex.h>

int regcomp(regex_t *restrict pattern, const char *restrict text, int flags)
{
    (void)pattern;
    (void)text;
    (void)flags;
    return REG_ESPACE;
}

int regexec(const regex_t *restrict pattern, const char *restrict text, size_t n,
            regmatch_t *restrict matches, int flags)
{
    (void)pattern;
    (void)text;
    (void)n;
    (void)matches;
    (void)flags;
    return REG_NOMATCH;
}

void regfree(regex_t *pattern)
{
    (void)pattern;
}
