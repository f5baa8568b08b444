/* Commands that print their words or their input in another form, and ${NAME%PATTERN}. */
#include "launch/shell/filters.h"

#include <ctype.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "launch/shell/arithmetic.h"

enum { LONGEST = 4096, GROUPS = 10 };

static const char *copy(struct sp_shell_text *text, const char *at)
{
    return sp_shell_copy(text, at, strlen(at));
}

/* The words from `from` on, with blanks between. */
static const char *join(struct sp_shell_text *text, const struct sp_shell_fields *words, int from)
{
    struct sp_shell_piece piece = {0};
    for (int i = from; i < words->n; i++) {
        if (i > from)
            sp_shell_put(&piece, ' ');
        sp_shell_puts(&piece, words->at[i]);
    }
    return sp_shell_take(&piece, text);
}

/* The only operand after options that change nothing here; NULL if there is another number of
 * them. */
static const char *operand(const struct sp_shell_fields *words)
{
    int i = 1;
    while (i < words->n && words->at[i][0] == '-')
        i++;
    return i + 1 == words->n ? words->at[i] : NULL;
}

static const char *echo(struct sp_shell_text *text, const struct sp_shell_fields *words,
                        const char *input)
{
    (void)input;
    const char *const first = words->n > 1 ? words->at[1] : "";
    const bool option = first[0] == '-' && first[1] && !first[1 + strspn(first + 1, "neE")];
    return option ? NULL : join(text, words, 1);
}

/* Numbers from the first to the last, a line each: seq LAST, seq FIRST [STEP] LAST. */
static const char *count(struct sp_shell_text *text, const struct sp_shell_fields *words,
                         const char *input)
{
    enum { MOST = 4096 };
    struct sp_shell_piece piece = {0};
    long of[3] = {1, 1, 1}; /* first, step, last */
    (void)input;
    for (int i = 1; i < words->n; i++) {
        const char *const word = words->at[i], *const digits = word + (word[0] == '-');
        const int place = i == words->n - 1 ? 2 : i - 1;
        if (words->n > 4 || !*digits || digits[strspn(digits, "0123456789")] || strlen(digits) > 9)
            return NULL;
        of[place] = strtol(word, NULL, 10);
    }
    const bool ends = of[1] > 0 ? of[2] < of[0] : of[2] > of[0];
    const long turns = of[1] ? (of[2] - of[0]) / of[1] : MOST;
    if (words->n < 2 || turns >= MOST)
        return NULL;
    for (long i = 0; i <= turns && !ends; i++) {
        char number[24];
        snprintf(number, sizeof number, "%s%ld", i > 0 ? "\n" : "", of[0] + i * of[1]);
        sp_shell_puts(&piece, number);
    }
    return sp_shell_take(&piece, text);
}

/* `expr` for a sum of whole numbers, signs and parentheses. */
static const char *calculate(struct sp_shell_text *text, const struct sp_shell_fields *words,
                             const char *input)
{
    char sum[256] = "", digits[32];
    struct sp_shell_missing missing;
    int64_t value;
    bool behind = false; /* a number or ")" */
    (void)input;
    for (int i = 1; i < words->n; i++) {
        const char *word = words->at[i];
        const size_t n = strspn(word, "0123456789");
        const bool number = n > 0 && !word[n], sign = strlen(word) == 1;
        if (number ? behind : !sign || !strchr(behind ? "+-*/%)" : "(", word[0]))
            return NULL;
        behind = number || word[0] == ')';
        word += n > 1 ? strspn(word, "0") : 0; /* not octal here, unlike elsewhere */
        sp_append(sum, sizeof sum, " %s", *word ? word : "0");
    }
    if (strlen(sum) + 1 == sizeof sum ||
        sp_shell_calculate(sum, NULL, &value, &missing) != SP_NUMBER)
        return NULL;
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    return copy(text, digits);
}

static const char *directory(struct sp_shell_text *text, const struct sp_shell_fields *words,
                             const char *input)
{
    (void)input;
    const char *const path = operand(words);
    size_t n = path ? strlen(path) : 0;
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    return !path ? NULL : n > 0 ? sp_shell_copy(text, path, n) : ".";
}

static const char *base(struct sp_shell_text *text, const struct sp_shell_fields *words,
                        const char *input)
{
    (void)input;
    if (words->n < 2 || words->n > 3 || words->at[1][0] == '-')
        return NULL;
    const char *const slash = strrchr(words->at[1], '/'),
                      *const name = slash ? slash + 1 : words->at[1],
                      *const end = words->n == 3 ? words->at[2] : "";
    const size_t n = strlen(name), tail = strlen(end);
    const bool cut = n > tail && strcmp(name + n - tail, end) == 0;
    return n > 0 ? sp_shell_copy(text, name, cut ? n - tail : n) : NULL;
}

static const char *path(struct sp_shell_text *text, const struct sp_shell_fields *words,
                        const char *input)
{
    (void)input;
    const char *const at = operand(words);
    return at ? copy(text, at) : NULL;
}

static const char *folder(struct sp_shell_text *text, const struct sp_shell_fields *words,
                          const char *input)
{
    (void)text;
    return words->n == 1 || operand(words) == NULL ? input : NULL;
}

/* A part of "s/PATTERN/WITH/FLAGS" up to its delimiter, which a backslash escapes; returns where
 * the next begins, NULL without an end. */
static const char *take_part(const char *at, char end, struct sp_shell_piece *part)
{
    for (; *at && *at != end; at++) {
        if (*at == '\\' && at[1] == end)
            at++;
        else if (*at == '\\' && at[1])
            sp_shell_put(part, *at++);
        sp_shell_put(part, *at);
    }
    return *at ? at + 1 : NULL;
}

/* The replacement of a match. */
static void put_instead(const char *with, const char *at, const regmatch_t *match,
                        struct sp_shell_piece *out)
{
    for (; *with; with++) {
        const bool group = *with == '\\' && isdigit((unsigned char)with[1]);
        if (*with == '&' || group) {
            const regmatch_t m = match[group ? *++with - '0' : 0];
            for (regoff_t i = m.rm_so; m.rm_so >= 0 && i < m.rm_eo; i++)
                sp_shell_put(out, at[i]);
        } else {
            with += *with == '\\' && with[1];
            sp_shell_put(out, *with);
        }
    }
}

/* A line after "s": every match, or the first. */
static void substitute(const regex_t *pattern, const char *with, bool all, const char *at,
                       struct sp_shell_piece *out)
{
    regmatch_t match[GROUPS];
    bool again = true;
    for (int flags = 0; again && regexec(pattern, at, GROUPS, match, flags) == 0;
         flags = REG_NOTBOL) {
        for (regoff_t i = 0; i < match->rm_so; i++)
            sp_shell_put(out, at[i]);
        put_instead(with, at, match, out);
        again = all && at[match->rm_eo];
        at += match->rm_eo;
        if (again && match->rm_eo == match->rm_so) /* nothing matched: one character stays */
            sp_shell_put(out, *at++);
    }
    sp_shell_puts(out, at);
}

/* `sed s/PATTERN/WITH/g` of one line. */
static const char *edit(struct sp_shell_text *text, const struct sp_shell_fields *words,
                        const char *input)
{
    int i = 1;
    bool extended = false;
    for (; i < words->n && words->at[i][0] == '-'; i++) {
        if (!strchr("Ere", words->at[i][1]) || words->at[i][2])
            return NULL;
        extended = extended || words->at[i][1] != 'e';
    }
    const char *at = i + 1 == words->n ? words->at[i] : "";
    if (!input || strchr(input, '\n') || strlen(input) > LONGEST || at[0] != 's' || !at[1])
        return NULL;
    struct sp_shell_piece part[2] = {{0}}, out = {0};
    const char end = at[1];
    at = take_part(at + 2, end, &part[0]);
    at = at ? take_part(at, end, &part[1]) : NULL;
    const char *const from = sp_shell_take(&part[0], text), *const with =
                                                                sp_shell_take(&part[1], text);
    regex_t pattern;
    if (!at || (at[0] && !sp_is(at, "g")) ||
        regcomp(&pattern, from, extended ? REG_EXTENDED : 0) != 0)
        return NULL;
    substitute(&pattern, with, at[0] == 'g', input, &out);
    regfree(&pattern);
    return sp_shell_take(&out, text);
}

/* The characters of a set of `tr`, with its ranges and classes spelt out. */
static const char *spell_set(struct sp_shell_text *text, const char *set)
{
    static const struct {
        const char *name, *range;
    } classes[] = {{"[:upper:]", "A-Z"}, {"[:lower:]", "a-z"}, {"[:digit:]", "0-9"}};
    struct sp_shell_piece out = {0};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (sp_is(set, classes[i].name))
            set = classes[i].range;
    for (; *set; set++)
        if (set[1] == '-' && set[2])
            for (int c = (unsigned char)*set; c <= (unsigned char)set[2] || (set += 2, false); c++)
                sp_shell_put(&out, (char)c);
        else
            sp_shell_put(&out, *set);
    return sp_shell_take(&out, text);
}

static const char *translate(struct sp_shell_text *text, const struct sp_shell_fields *words,
                             const char *input)
{
    const bool deletes = words->n == 3 && sp_is(words->at[1], "-d");
    if (!input || words->n != 3 || (words->at[1][0] == '-' && words->at[1][1] && !deletes) ||
        strpbrk(words->at[1], "\\") || strpbrk(words->at[2], "\\"))
        return NULL;
    const char *const from = spell_set(text, words->at[deletes ? 2 : 1]),
                      *const to = deletes ? "" : spell_set(text, words->at[2]);
    const size_t n = strlen(to);
    struct sp_shell_piece out = {0};
    for (; *input; input++) {
        const char *const place = strchr(from, *input);
        const size_t i = place ? (size_t)(place - from) : 0;
        if (!place || n > 0)
            sp_shell_put(&out, !place ? *input : to[i < n ? i : n - 1]);
    }
    return sp_shell_take(&out, text);
}

/* `cut -dC -fN`. */
static const char *field(struct sp_shell_text *text, const struct sp_shell_fields *words,
                         const char *input)
{
    const char *given[2] = {NULL, NULL}; /* -d, -f */
    for (int i = 1; i < words->n; i++) {
        const char *const word = words->at[i];
        const int option = word[0] != '-' ? -1 : word[1] == 'd' ? 0 : word[1] == 'f' ? 1 : -1;
        if (option < 0 || (!word[2] && i + 1 == words->n))
            return NULL;
        given[option] = word[2] ? word + 2 : words->at[++i];
    }
    if (!input || strchr(input, '\n') || !given[0] || !given[1] || strlen(given[0]) != 1 ||
        given[1][strspn(given[1], "0123456789")] || atoi(given[1]) < 1)
        return NULL;
    if (!strchr(input, given[0][0]))
        return input;
    for (int n = atoi(given[1]); n > 1 && input; n--)
        input = (input = strchr(input, given[0][0])) ? input + 1 : NULL;
    return input ? sp_shell_copy(text, input, strcspn(input, given[0])) : "";
}

const char *sp_shell_filter(struct sp_shell_text *text, const struct sp_shell_fields *words,
                            const char *input)
{
    static const struct {
        const char *name;
        const char *(*print)(struct sp_shell_text *text, const struct sp_shell_fields *words,
                             const char *input);
    } filters[] = {{"echo", echo},     {"dirname", directory}, {"basename", base},
                   {"realpath", path}, {"readlink", path},     {"cd", path},
                   {"pwd", folder},    {"sed", edit},          {"tr", translate},
                   {"cut", field},     {"seq", count},         {"expr", calculate}};
    for (size_t i = 0; words->n > 0 && i < sizeof filters / sizeof *filters; i++)
        if (sp_is(words->at[0], filters[i].name))
            return filters[i].print(text, words, input);
    return NULL;
}

/* Whether the first `n` bytes of a value, or the rest, match. */
static bool matches(struct sp_shell_text *text, const char *pattern, const char *at, size_t n)
{
    return fnmatch(pattern, sp_shell_copy(text, at, n), 0) == 0;
}

/* The value without its shortest or longest end that matches. */
static const char *without_end(struct sp_shell_text *text, const char *value, const char *pattern,
                               bool longest)
{
    const size_t all = strlen(value);
    for (size_t i = 0; i <= all; i++) {
        const size_t n = longest ? i : all - i;
        if (matches(text, pattern, value + n, all - n))
            return sp_shell_copy(text, value, n);
    }
    return value;
}

static const char *without_start(struct sp_shell_text *text, const char *value, const char *pattern,
                                 bool longest)
{
    const size_t all = strlen(value);
    for (size_t i = 0; i <= all; i++) {
        const size_t n = longest ? all - i : i;
        if (matches(text, pattern, value, n))
            return value + n;
    }
    return value;
}

/* "/PATTERN", "//PATTERN": each first and longest match becomes another text. */
static const char *replace(struct sp_shell_text *text, const char *value, const char *operation,
                           const char *with)
{
    const bool all = operation[1] == '/';
    const char *const pattern = operation + 1 + all;
    struct sp_shell_piece out = {0};
    bool done = false;
    if (!*pattern || strchr("#%", *pattern))
        return NULL;
    while (*value) {
        size_t length = done ? 0 : strlen(value);
        while (length > 0 && !matches(text, pattern, value, length))
            length--;
        if (length > 0)
            sp_shell_puts(&out, with);
        else
            sp_shell_put(&out, *value);
        done = done || (length > 0 && !all);
        value += length > 0 ? length : 1;
    }
    return sp_shell_take(&out, text);
}

/* ":FROM" and ":FROM:LENGTH" in digits. */
static const char *part_of(struct sp_shell_text *text, const char *value, const char *operation)
{
    char *end;
    const size_t all = strlen(value), from = strtoul(operation + 1, &end, 10);
    if (!isdigit((unsigned char)operation[1]) || (*end && *end != ':') ||
        (*end && (!isdigit((unsigned char)end[1]) || end[1 + strspn(end + 1, "0123456789")])))
        return NULL;
    const size_t start = from < all ? from : all, left = all - start,
                 n = *end ? strtoul(end + 1, NULL, 10) : left;
    return sp_shell_copy(text, value + start, n < left ? n : left);
}

static const char *recase(struct sp_shell_text *text, const char *value, int (*turn)(int))
{
    struct sp_shell_piece out = {0};
    for (; *value; value++)
        sp_shell_put(&out, (char)turn((unsigned char)*value));
    return sp_shell_take(&out, text);
}

const char *sp_shell_cut(struct sp_shell_text *text, const char *value, const char *operation,
                         const char *with)
{
    const bool twice = operation[1] == operation[0];
    const char *const pattern = operation + 1 + twice;
    if (strlen(value) > 256 || strlen(operation) > 256)
        return NULL;
    switch (operation[0]) {
    case '%':
        return without_end(text, value, pattern, twice);
    case '#':
        return without_start(text, value, pattern, twice);
    case '/':
        return replace(text, value, operation, with);
    case ':':
        return part_of(text, value, operation);
    case ',':
        return twice && !*pattern ? recase(text, value, tolower) : NULL;
    case '^':
        return twice && !*pattern ? recase(text, value, toupper) : NULL;
    default:
        return NULL;
    }
}
