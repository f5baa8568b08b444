/* Conditions of a shell's script: strings, numbers, and, or, not. */
#include "launch/shell/test.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { DEEPEST = 64 };

struct condition {
    const char *const *words;
    int n, at, depth;
    bool patterns;
};

static const char *word(const struct condition *c, int ahead)
{
    return c->at + ahead < c->n ? c->words[c->at + ahead] : "";
}

static bool is(const char *text, const char *one, const char *other)
{
    return sp_is(text, one) || sp_is(text, other);
}

static bool is_known(const char *text)
{
    return !strpbrk(text, (char[]){SP_UNSET, SP_OPEN, '\0'});
}

static enum sp_shell_truth truth(bool holds)
{
    return holds ? SP_TRUE : SP_FALSE;
}

static enum sp_shell_truth negation(enum sp_shell_truth truth)
{
    return truth == SP_OPEN_TRUTH ? SP_OPEN_TRUTH : truth == SP_TRUE ? SP_FALSE : SP_TRUE;
}

enum sp_shell_truth sp_shell_matches(const char *text, const char *pattern)
{
    if (sp_is(pattern, "*"))
        return SP_TRUE;
    if (!is_known(text) || !is_known(pattern) || strlen(text) + strlen(pattern) > 4096)
        return SP_OPEN_TRUTH;
    return truth(fnmatch(pattern, text, 0) == 0);
}

/* Whether a part of a text matches a regular expression. */
static enum sp_shell_truth finds(const char *text, const char *expression)
{
    regex_t pattern;
    if (!is_known(text) || !is_known(expression) || strlen(text) + strlen(expression) > 4096 ||
        regcomp(&pattern, expression, REG_EXTENDED | REG_NOSUB) != 0)
        return SP_OPEN_TRUTH;
    const bool found = regexec(&pattern, text, 0, NULL, 0) == 0;
    regfree(&pattern);
    return truth(found);
}

/* Whether a text is empty: a name without a value is; text with an unknown part is not. */
static enum sp_shell_truth is_empty(const char *text)
{
    static const char marks[] = {SP_UNSET, SP_OPEN, '\0'};
    if (is_known(text))
        return truth(text[0] == '\0');
    const char *const end = strrchr(text, SP_MARK_END);
    if (sp_shell_is_unset(text))
        return SP_TRUE;
    return strcspn(text, marks) > 0 || (end && end[1]) ? SP_FALSE : SP_OPEN_TRUTH;
}

/* Numbers of any base in "[[", where they are arithmetic, and decimal ones in "[". */
static enum sp_shell_truth compare_numbers(const char *a, const char *operation, const char *b,
                                           int base)
{
    static const char *const operations[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    char *end_a, *end_b;
    int i = 0;
    while (i < 6 && !sp_is(operations[i], operation))
        i++;
    const long long x = strtoll(a, &end_a, base), y = strtoll(b, &end_b, base);
    if (i == 6 || end_a == a || end_b == b || *end_a || *end_b)
        return SP_OPEN_TRUTH;
    const bool holds[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
    return truth(holds[i]);
}

static bool compares(const char *text)
{
    return is(text, "=", "==") || is(text, "!=", "=~") || is(text, "-eq", "-ne") ||
           is(text, "-lt", "-le") || is(text, "-gt", "-ge") || is(text, "<", ">");
}

static enum sp_shell_truth equal(const char *a, const char *b)
{
    return is_known(a) && is_known(b) ? truth(sp_is(a, b)) : SP_OPEN_TRUTH;
}

static enum sp_shell_truth compare(const struct condition *c, const char *a, const char *operation,
                                   const char *b)
{
    if (is(operation, "=", "==") || sp_is(operation, "!=")) {
        const bool nothing = b[0] == '\0' || a[0] == '\0';
        const enum sp_shell_truth same = nothing       ? is_empty(b[0] ? b : a)
                                         : c->patterns ? sp_shell_matches(a, b)
                                                       : equal(a, b);
        return operation[0] == '!' ? negation(same) : same;
    }
    if (sp_is(operation, "=~"))
        return finds(a, b);
    return compare_numbers(a, operation, b, c->patterns ? 0 : 10);
}

static enum sp_shell_truth read_or(struct condition *c);

static enum sp_shell_truth read_one(struct condition *c)
{
    const char *const first = word(c, 0);
    if (++c->depth > DEEPEST || c->at >= c->n) {
        c->at = c->n;
        return SP_OPEN_TRUTH;
    }
    if (c->at + 2 < c->n && compares(word(c, 1))) {
        const enum sp_shell_truth result = compare(c, first, word(c, 1), word(c, 2));
        c->at += 3;
        return result;
    }
    if (sp_is(first, "!")) {
        c->at++;
        return negation(read_one(c));
    }
    if (sp_is(first, "(")) {
        c->at++;
        const enum sp_shell_truth inner = read_or(c);
        c->at += sp_is(word(c, 0), ")");
        return inner;
    }
    if (first[0] == '-' && first[1] && !first[2] && (c->at + 1 < c->n || is(first, "-z", "-n"))) {
        const enum sp_shell_truth empty = is_empty(word(c, 1));
        c->at += 2;
        return first[1] == 'z' ? empty : first[1] == 'n' ? negation(empty) : SP_OPEN_TRUTH;
    }
    c->at++;
    return negation(is_empty(first));
}

static enum sp_shell_truth read_and(struct condition *c)
{
    enum sp_shell_truth all = read_one(c);
    while (is(word(c, 0), "&&", "-a") && c->depth <= DEEPEST) {
        c->at++;
        const enum sp_shell_truth next = read_one(c);
        all = all == SP_FALSE || next == SP_FALSE ? SP_FALSE
              : all == SP_TRUE && next == SP_TRUE ? SP_TRUE
                                                  : SP_OPEN_TRUTH;
    }
    return all;
}

static enum sp_shell_truth read_or(struct condition *c)
{
    enum sp_shell_truth any = read_and(c);
    while (is(word(c, 0), "||", "-o") && c->depth <= DEEPEST) {
        c->at++;
        const enum sp_shell_truth next = read_and(c);
        any = any == SP_TRUE || next == SP_TRUE     ? SP_TRUE
              : any == SP_FALSE && next == SP_FALSE ? SP_FALSE
                                                    : SP_OPEN_TRUTH;
    }
    return any;
}

enum sp_shell_truth sp_shell_test(const char *const *words, int n, bool patterns)
{
    struct condition c = {.words = words, .n = n, .patterns = patterns};
    if (n == 0)
        return SP_FALSE;
    const enum sp_shell_truth result = read_or(&c);
    return c.at < n ? SP_OPEN_TRUTH : result;
}
