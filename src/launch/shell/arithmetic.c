/* Arithmetic of the shell: a parser by precedence. */
#include "launch/shell/arithmetic.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/shell/word_ends.h"

enum { DEEPEST = 64 };

struct sum {
    const char *at;
    struct sp_shell_missing missing;
    const struct sp_shell_scope *scope;
    const struct sp_shell_writer *writer; /* NULL: nothing may change */
    int maybe;                            /* a part that an earlier condition may skip */
    bool unknown, wrong;
    int depth;
};

/* Operators from the weakest to the strongest; the longest that matches counts. */
enum operation {
    OR,
    AND,
    BITS_OR,
    BITS_APART,
    BITS_AND,
    EQUAL,
    DIFFERENT,
    AT_MOST,
    AT_LEAST,
    LESS,
    MORE,
    LEFT,
    RIGHT,
    ADD,
    TAKE,
    POWER,
    TIMES,
    DIVIDE,
    REST,
    OPERATIONS
};
static const struct {
    const char *sign;
    int level;
} operators[OPERATIONS] = {
    [OR] = {"||", 1},       [AND] = {"&&", 2},    [BITS_OR] = {"|", 3},    [BITS_APART] = {"^", 4},
    [BITS_AND] = {"&", 5},  [EQUAL] = {"==", 6},  [DIFFERENT] = {"!=", 6}, [AT_MOST] = {"<=", 7},
    [AT_LEAST] = {">=", 7}, [LESS] = {"<", 7},    [MORE] = {">", 7},       [LEFT] = {"<<", 8},
    [RIGHT] = {">>", 8},    [ADD] = {"+", 9},     [TAKE] = {"-", 9},       [POWER] = {"**", 11},
    [TIMES] = {"*", 10},    [DIVIDE] = {"/", 10}, [REST] = {"%", 10},
};

static void skip(struct sum *s)
{
    s->at += strspn(s->at, " \t\r\n");
}

static int64_t power(struct sum *s, int64_t base, int64_t exponent)
{
    int64_t value = 1;
    s->wrong = s->wrong || exponent < 0 || (exponent > 64 && (base > 1 || base < -1));
    for (int64_t i = 0; i < exponent && i < 65 && !s->wrong; i++)
        s->wrong = __builtin_mul_overflow(value, base, &value);
    return value;
}

static int64_t apply(struct sum *s, enum operation operation, int64_t a, int64_t b)
{
    int64_t value = 0;
    const bool divides = operation == DIVIDE || operation == REST;
    const bool shifts = operation == LEFT || operation == RIGHT;
    if ((divides && (b == 0 || (a == INT64_MIN && b == -1))) || (shifts && (b < 0 || b > 62)))
        s->wrong = true;
    if (s->wrong || s->unknown)
        return 0;
    switch (operation) {
    case OR:
        return a || b;
    case AND:
        return a && b;
    case BITS_OR:
        return a | b;
    case BITS_APART:
        return a ^ b;
    case BITS_AND:
        return a & b;
    case EQUAL:
        return a == b;
    case DIFFERENT:
        return a != b;
    case AT_MOST:
        return a <= b;
    case AT_LEAST:
        return a >= b;
    case LESS:
        return a < b;
    case MORE:
        return a > b;
    case LEFT:
        s->wrong = __builtin_mul_overflow(a, (int64_t)1 << b, &value);
        return value;
    case RIGHT:
        return a >> b;
    case ADD:
        s->wrong = __builtin_add_overflow(a, b, &value);
        return value;
    case TAKE:
        s->wrong = __builtin_sub_overflow(a, b, &value);
        return value;
    case TIMES:
        s->wrong = __builtin_mul_overflow(a, b, &value);
        return value;
    case POWER:
        return power(s, a, b);
    case DIVIDE:
        return a / b;
    case REST:
        return a % b;
    case OPERATIONS:
        break;
    }
    return 0;
}

static int64_t read_choice(struct sum *s);

/* A number in digits, or the value of a name. */
static int64_t read_value(struct sum *s)
{
    char name[64];
    char *end;
    size_t n = 0;
    if (*s->at == SP_UNSET || *s->at == SP_OPEN) {
        const char *const mark_end = strchr(s->at, SP_MARK_END);
        if (!s->unknown)
            s->missing.mark = s->at;
        s->unknown = true;
        s->at = mark_end ? mark_end + 1 : s->at + strlen(s->at);
        return 0;
    }
    if (isdigit((unsigned char)*s->at)) {
        const int64_t value = strtoll(s->at, &end, 0);
        s->wrong = s->wrong || value == INT64_MAX || isalnum((unsigned char)*end);
        s->at = end;
        return value;
    }
    while (isalnum((unsigned char)s->at[n]) || s->at[n] == '_')
        n++;
    const char *value = NULL;
    if (n > 0 && n < sizeof name) {
        memcpy(name, s->at, n);
        name[n] = '\0';
        value = sp_shell_value(s->scope, name);
    }
    s->at += n;
    s->wrong = s->wrong || n == 0 || n >= sizeof name;
    if (!s->wrong && (!value || *value == SP_UNSET || *value == SP_OPEN)) {
        if (!s->unknown && value)
            s->missing.mark = value;
        else if (!s->unknown)
            memcpy(s->missing.name, name, n + 1);
        s->unknown = true;
    }
    const int64_t number = value && !s->unknown ? strtoll(value, &end, 0) : 0; /* 010 is 8 */
    s->wrong = s->wrong || (value && !s->unknown && (*end || end == value));
    return number;
}

/* Gives a name the value of an expression, or leaves it unknown. */
static void write_name(struct sum *s, const char *name, int64_t value)
{
    struct sp_shell_piece piece = {0};
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    if (s->unknown || s->wrong || s->maybe > 0)
        sp_shell_mark(s->writer->text, &piece, SP_OPEN, name, s->writer->line);
    else
        sp_shell_puts(&piece, digits);
    sp_shell_set(s->writer->scope, s->writer->text, name, sp_shell_take(&piece, s->writer->text));
}

/* Reads "++", "--" or an operator with "=" after a name: which it is, OPERATIONS for "=" alone, or
 * -1 if there is none. */
static int take_assignment(struct sum *s)
{
    static const char signs[] = "+-*/%&|^<>";
    static const enum operation of[] = {ADD,      TAKE,    TIMES,      DIVIDE, REST,
                                        BITS_AND, BITS_OR, BITS_APART, LEFT,   RIGHT};
    const char *const sign = *s->at ? strchr(signs, *s->at) : NULL;
    const bool twice = sign && strchr("<>", *sign);
    if (s->at[0] == '=' && s->at[1] != '=') {
        s->at++;
        return OPERATIONS;
    }
    if (!sign || (twice && s->at[1] != *sign) || s->at[1 + twice] != '=')
        return -1;
    s->at += 2 + twice;
    return (int)of[sign - signs];
}

static int64_t read_assigned(struct sum *s);

/* A name and its operator, "NAME = x", "NAME++", "++NAME"; false if there is none here. */
static bool read_change(struct sum *s, int64_t *value)
{
    const char *const start = s->at;
    const bool before = strncmp(s->at, "++", 2) == 0 || strncmp(s->at, "--", 2) == 0;
    const char sign = *s->at;
    char name[64];
    size_t n = 0;
    s->at += before ? 2 : 0;
    skip(s);
    while (isalnum((unsigned char)s->at[n]) || s->at[n] == '_')
        n++;
    if (!s->writer || n == 0 || n >= sizeof name || isdigit((unsigned char)*s->at)) {
        s->at = start;
        return false;
    }
    snprintf(name, sizeof name, "%.*s", (int)n, s->at);
    const char *const here = s->at;
    s->at += n;
    skip(s);
    const bool behind = !before && (strncmp(s->at, "++", 2) == 0 || strncmp(s->at, "--", 2) == 0);
    const char step = before ? sign : *s->at;
    const int operation = before || behind ? -1 : take_assignment(s);
    const char *const rest = s->at + (behind ? 2 : 0);
    if (!before && !behind && operation < 0) {
        s->at = start;
        return false;
    }
    int64_t old = 0;
    if (operation != OPERATIONS) {
        s->at = here;
        old = read_value(s);
    }
    s->at = rest;
    const int64_t right = before || behind ? 1 : read_assigned(s);
    const enum operation done = operation >= 0 ? (enum operation)operation
                                : step == '+'  ? ADD
                                               : TAKE;
    *value = done == OPERATIONS ? right : apply(s, done, old, right);
    write_name(s, name, *value);
    *value = behind ? old : *value;
    return true;
}

static int64_t read_factor(struct sum *s)
{
    int64_t value;
    skip(s);
    if (read_change(s, &value))
        return value;
    const char sign = *s->at;
    if (++s->depth > DEEPEST)
        s->wrong = true;
    if (s->wrong)
        return 0;
    if (sign && strchr("(!-+~", sign))
        s->at++;
    if (sign == '(') {
        value = read_choice(s);
        skip(s);
        s->wrong = s->wrong || *s->at != ')';
        s->at += *s->at == ')';
    } else if (sign && strchr("!-+~", sign)) {
        value = read_factor(s);
        value = sign == '!'                         ? !value
                : sign == '~'                       ? ~value
                : sign == '-' && value != INT64_MIN ? -value
                                                    : value;
    } else {
        value = read_value(s);
    }
    s->depth--;
    return value;
}

/* The operator at a place; OPERATIONS: none. */
static int operator_at(const char *at)
{
    int best = OPERATIONS;
    for (int i = 0; i < OPERATIONS; i++) {
        const size_t n = strlen(operators[i].sign);
        if (strncmp(at, operators[i].sign, n) == 0 &&
            (best == OPERATIONS || n > strlen(operators[best].sign)))
            best = i;
    }
    return best;
}

/* Operators of at least this level, from the left. */
static int64_t read_level(struct sum *s, int level)
{
    int64_t value = read_factor(s);
    while (!s->wrong) {
        skip(s);
        const int i = operator_at(s->at);
        if (i == OPERATIONS || operators[i].level < level)
            break;
        s->at += strlen(operators[i].sign);
        s->maybe += i == OR || i == AND;
        value = apply(s, (enum operation)i, value, read_level(s, operators[i].level + 1));
        s->maybe -= i == OR || i == AND;
    }
    return value;
}

static int64_t read_choice(struct sum *s)
{
    const int64_t value = read_level(s, 1);
    skip(s);
    if (*s->at != '?' || s->wrong)
        return value;
    s->wrong = ++s->depth > DEEPEST;
    s->at++;
    s->maybe++;
    const int64_t first = read_choice(s);
    skip(s);
    s->wrong = s->wrong || *s->at != ':';
    s->at += *s->at == ':';
    const int64_t second = s->wrong ? 0 : read_choice(s);
    s->maybe--;
    return value ? first : second;
}

/* Operators bind weaker than "=" only to the right of a name, where read_factor finds it. */
static int64_t read_assigned(struct sum *s)
{
    return read_choice(s);
}

static enum sp_shell_number finish(struct sum *s, int64_t *value, struct sp_shell_missing *missing)
{
    *value = read_choice(s);
    for (skip(s); s->writer && *s->at == ',' && !s->wrong; skip(s)) {
        s->at++;
        *value = read_choice(s);
    }
    *missing = s->missing;
    if (s->unknown)
        return SP_NUMBER_UNKNOWN;
    return s->wrong || *s->at ? SP_NO_NUMBER : SP_NUMBER;
}

/* Whether an assignment, "++" or "--" stands here, behind a name. */
static bool is_changed(const char *at)
{
    at += strspn(at, " \t");
    const bool twice = *at && strchr("<>+-", *at) && at[1] == *at;
    const bool compared = at[0] == '=' && at[1] == '=';
    return (twice && *at != '<' && *at != '>') ||
           (!compared && (*at == '=' || (*at && strchr("+-*/%&|^", *at) && at[1] == '=') ||
                          (twice && at[2] == '=')));
}

/* The names that an expression assigns, as unknown: it cannot be read. */
static void forget_names(struct sum *s, const char *at)
{
    const char *const from = at;
    char name[64];
    s->unknown = true;
    while (*at) {
        const size_t n = sp_shell_name_length(at);
        const bool led =
            at - from >= 2 && (strncmp(at - 2, "++", 2) == 0 || strncmp(at - 2, "--", 2) == 0);
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        const char *behind = at + n; /* the name, or its index */
        behind += *behind == '[' ? strcspn(behind, "]") : 0;
        behind += *behind == ']';
        if (n > 0 && n < sizeof name && !isdigit((unsigned char)*at) && (led || is_changed(behind)))
            write_name(s, name, 0);
        at += n > 0 ? n : 1;
    }
}

enum sp_shell_number sp_shell_run_sum(const char *expression, const struct sp_shell_writer *writer,
                                      int64_t *value, struct sp_shell_missing *missing)
{
    struct sum s = {.at = expression, .scope = writer->scope, .writer = writer};
    const enum sp_shell_number number = finish(&s, value, missing);
    if (s.wrong || *s.at)
        forget_names(&s, expression);
    return number;
}

enum sp_shell_number sp_shell_calculate(const char *expression, const struct sp_shell_scope *scope,
                                        int64_t *value, struct sp_shell_missing *missing)
{
    struct sum s = {.at = expression, .scope = scope};
    return finish(&s, value, missing);
}
