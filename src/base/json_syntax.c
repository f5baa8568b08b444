/* The grammar of RFC 8259, to the letter: cJSON accepts numbers that JSON does not allow (01, 1.)
 * and cannot always say where a text goes wrong. */
#include "base/json_syntax.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct scanner {
    const char *text;
    size_t length, at;
    int depth;
    const char *wrong; /* the fault at `at`; NULL: none yet */
};

static bool fail(struct scanner *s, const char *wrong)
{
    s->wrong = s->at < s->length ? wrong : "the JSON ends too early";
    return false;
}

/* The next byte; NUL at the end and for NUL bytes, which no rule accepts. */
static char peek(const struct scanner *s)
{
    return s->at < s->length ? s->text[s->at] : '\0';
}

static bool take(struct scanner *s, char wanted)
{
    if (peek(s) != wanted)
        return false;
    s->at++;
    return true;
}

static void skip_space(struct scanner *s)
{
    while (peek(s) == ' ' || peek(s) == '\t' || peek(s) == '\n' || peek(s) == '\r')
        s->at++;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool skip_digits(struct scanner *s)
{
    if (!is_digit(peek(s)))
        return fail(s, "not a JSON number: a digit is missing");
    while (is_digit(peek(s)))
        s->at++;
    return true;
}

static bool scan_number(struct scanner *s)
{
    take(s, '-');
    if (take(s, '0')) {
        if (is_digit(peek(s)))
            return fail(s, "not a JSON number: it starts with 0");
    } else if (!skip_digits(s)) {
        return false;
    }
    if (take(s, '.') && !skip_digits(s))
        return false;
    if (take(s, 'e') || take(s, 'E')) {
        if (!take(s, '+'))
            take(s, '-');
        return skip_digits(s);
    }
    return true;
}

/* Reads four hexadecimal digits; -1 if there are fewer. */
static int scan_hex(struct scanner *s)
{
    int value = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *const digit = peek(s) ? strchr(digits, peek(s)) : NULL;
        if (!digit)
            return -1;
        const int n = (int)(digit - digits);
        value = value * 16 + (n < 16 ? n : n - 6);
    }
    return value;
}

/* The characters that may follow a backslash. */
static bool scan_escape(struct scanner *s)
{
    const char c = peek(s);
    if (c == '\0' || !strchr("\"\\/bfnrtu", c))
        return fail(s, "unknown escape in a string");
    s->at++;
    if (c != 'u')
        return true;
    const int unit = scan_hex(s);
    if (unit < 0)
        return fail(s, "\\u needs four hexadecimal digits");
    if (unit == 0)
        return fail(s, "NUL in a string");
    if (unit < 0xd800 || unit > 0xdfff)
        return true;
    const bool low = unit < 0xdc00 && take(s, '\\') && take(s, 'u');
    const int second = low ? scan_hex(s) : -1;
    return (second >= 0xdc00 && second <= 0xdfff) || fail(s, "half of a surrogate pair");
}

static bool scan_string(struct scanner *s)
{
    s->at++;
    while (!take(s, '"')) {
        if (s->at < s->length && (unsigned char)peek(s) < 0x20)
            return fail(s, "control character in a string");
        if (s->at >= s->length)
            return fail(s, "");
        if (take(s, '\\') ? !scan_escape(s) : (s->at++, false))
            return false;
    }
    return true;
}

static bool scan_word(struct scanner *s, const char *word)
{
    const size_t n = strlen(word);
    if (s->length - s->at < n || strncmp(s->text + s->at, word, n) != 0)
        return fail(s, "expected a value: a string, number, object, list, true, false or null");
    s->at += n;
    return true;
}

static bool scan_value(struct scanner *s);

/* `close` is } or ]; an object has a key before each value. */
static bool scan_members(struct scanner *s, char close)
{
    const bool object = close == '}';
    if (++s->depth > SP_JSON_MAX_DEPTH)
        return fail(s, "nested more than 64 levels deep");
    s->at++;
    skip_space(s);
    if (!take(s, close)) {
        do {
            skip_space(s);
            if (peek(s) == close)
                return fail(s, object ? "expected a key after the comma"
                                      : "expected a value after the comma");
            if (object && peek(s) != '"')
                return fail(s, "expected a key in double quotes");
            if (object && !scan_string(s))
                return false;
            skip_space(s);
            if (object && !take(s, ':'))
                return fail(s, "expected a colon after the key");
            if (!scan_value(s))
                return false;
        } while (take(s, ','));
        if (!take(s, close))
            return fail(s, object ? "expected a comma or }" : "expected a comma or ]");
    }
    s->depth--;
    return true;
}

static bool scan_value(struct scanner *s)
{
    bool ok;
    skip_space(s);
    switch (peek(s)) {
    case '{':
        ok = scan_members(s, '}');
        break;
    case '[':
        ok = scan_members(s, ']');
        break;
    case '"':
        ok = scan_string(s);
        break;
    case 't':
        ok = scan_word(s, "true");
        break;
    case 'f':
        ok = scan_word(s, "false");
        break;
    default:
        ok = is_digit(peek(s)) || peek(s) == '-' ? scan_number(s) : scan_word(s, "null");
        break;
    }
    if (ok)
        skip_space(s);
    return ok;
}

const char *sp_json_syntax(const char *text, size_t length, size_t *where)
{
    struct scanner s = {.text = text, .length = length};
    if (scan_value(&s) && s.at < length)
        fail(&s, "text after the end of the JSON");
    *where = s.at;
    return s.wrong;
}
