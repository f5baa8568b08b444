/* Strict JSON with positions of errors, and numbers that read back equal. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_syntax.h"

/* Parses and expects a message that contains `part`; NULL: no error. */
static void expect_bytes(const char *text, size_t length, const char *part)
{
    struct sp_json json;
    struct sp_error error = {0};
    char *copy = malloc(length + 1); /* an exact copy, so that the sanitizer detects reads past its
                                        end */
    assert_non_null(copy);
    memcpy(copy, text, length);
    copy[length] = '\0';
    const bool ok = sp_json_parse(copy, length, "x.json", &json, &error);
    if (ok)
        sp_json_free(&json);
    free(copy);
    if (ok != !part)
        fail_msg("%.60s: %s", text, ok ? "was accepted" : error.text);
    if (!part)
        return;
    assert_int_equal(error.code, SP_INPUT);
    assert_int_equal(error.lines, 1);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" lacks \"%s\"", error.text, part);
}

static void expect(const char *text, const char *part)
{
    expect_bytes(text, strlen(text), part);
}

static void accepted(void **state)
{
    (void)state;
    expect("{}", NULL);
    expect("[]", NULL);
    expect(" {\"a\": [1, -2.5e3, true, false, null, \"\\u00e9\\n\\\\\"]}\r\n\t", NULL);
    expect("{\"a\": {\"b\": 1}, \"b\": {\"b\": 2}}", NULL);
    expect("\xef\xbb\xbf{\"a\": 1}", NULL); /* a byte order mark */
    expect("{\"\xc3\xa9\": \"\xf0\x9f\x98\x80\"}", NULL);
    expect("{\"brackets\": \"[[[[{{{{\\\"\"}", NULL);
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"", "x.json: the file is empty"},
        {" \n\t ", "x.json: the file is empty"},
        {"{\"a\": 1,}", "x.json:1:9: expected a key after the comma"},
        {"{\n  \"a\": 1,\n}", "x.json:3:1: "},
        {"[1, 2,]", "x.json:1:7: expected a value after the comma"},
        {"{\"a\": 1} x", "x.json:1:10: "},
        {"{\"a\": 1}{}", "x.json:1:9: "},
        {"{\"a\" 1}", "x.json:1:6: "},
        {"{a: 1}", "x.json:1:2: "},
        {"{'a': 1}", "x.json:1:2: "},
        {"{\"a\": 1", "ends too early"},
        {"{\"a\": \"b", "x.json:1:"},
        {"[", "ends too early"},
        {"{\"a\": nul}", "x.json:1:7: "},
        {"{\"a\": NaN}", "x.json:1:7: "},
        {"{\"a\": Infinity}", "x.json:1:7: "},
        {"// comment\n{}", "x.json:1:1: "},
        {"{\"a\": 1, \"a\": 2}", "x.json:1:10: a: duplicate key"},
        {"{\"a\": 1,\n \"a\": 2}", "x.json:2:2: a: duplicate key"},
        {"{\"k\": 1, \"o\": {\"k\": 1, \"k\": 2}}", "x.json:1:24: o.k: duplicate key"},
        {"[{\"k\": 1, \"k\": 2}]", "k: duplicate key"},
        {"{\"a\": 1, \"\\u0061\": 2}", "a: duplicate key"},
        {"{\"a\": 1e400}", "x.json:1:2: a: the number is too large"},
        {"{\"a\": -1e400}", "a: the number is too large"},
        {"{\"a\": [1, 1e999]}", "the number is too large"},
        {"{\"a\": \"x\ty\"}", "x.json:1:9: control character"},
        {"{\"a\": \"x\ny\"}", "x.json:1:9: control character"},
        {"{\"a\": \"x\x01y\"}", "x.json:1:9: control character"},
        {"{\"a\": \"\xff\"}", "x.json:1:8: not valid UTF-8"},
        {"{\"a\": \"\xc3\"}", "x.json:1:8: not valid UTF-8"},
        {"{\"a\": \"\xc0\xaf\"}", "x.json:1:8: not valid UTF-8"},         /* overlong */
        {"{\"a\": \"\xed\xa0\x80\"}", "x.json:1:8: not valid UTF-8"},     /* a surrogate */
        {"{\"a\": \"\xf4\x90\x80\x80\"}", "x.json:1:8: not valid UTF-8"}, /* beyond U+10FFFF */
        {"{\"a\": \"\\q\"}", "x.json:1:"},
        {"{\"a\": \"\\ud800\"}", "x.json:1:"}, /* half a surrogate pair */
        {"42", "x.json:1:1: expected a JSON object or array"},
        {"\"text\"", "x.json:1:1: expected a JSON object or array"},
        {"null", "x.json:1:1: expected a JSON object or array"},
        {"}", "x.json:1:1: expected a value"},
        {"{\"a\": 1 \"b\": 2}", "x.json:1:9: expected a comma or }"},
        {"[1 2]", "x.json:1:4: expected a comma or ]"},
        {"[1}", "x.json:1:3: expected a comma or ]"},
        {"{\"a\": tru}", "x.json:1:7: expected a value"},
        {"\x1f\x8b\x08", "x.json:1:2: not valid UTF-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(rows[i].text, rows[i].part);
}

/* What RFC 8259 forbids in numbers, which cJSON reads with strtod. */
static void odd_numbers(void **state)
{
    (void)state;
    static const char *const rows[] = {"{\"a\": 01}", "{\"a\": 1.}",   "{\"a\": +1}",
                                       "{\"a\": .5}", "{\"a\": 0x10}", "{\"a\": 1e}",
                                       "{\"a\": -}",  "{\"a\": 1.e3}", "{\"a\": --1}"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(rows[i], "x.json:1:");
}

static void nul_bytes(void **state)
{
    (void)state;
    expect_bytes("{\"a\": 1}\0", 9, "x.json:1:9: NUL byte");
    expect_bytes("\0", 1, "x.json:1:1: NUL byte");
    expect_bytes("{\"a\0b\": 1}", 10, "x.json:1:4: ");
    expect_bytes("{\"a\": \"x\\\0\"}", 12, "x.json:1:");
    expect("{\"a\": \"x\\u0000y\"}", "x.json:1:");
}

static void deep(void **state)
{
    (void)state;
    static char text[20002];
    for (int depth = 63; depth <= 10000; depth = depth == 65 ? 10000 : depth + 1) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        expect(text, depth <= SP_JSON_MAX_DEPTH ? NULL : "x.json:1:65: nested more than 64");
        if (depth == 10000)
            break;
    }
}

static void places(void **state)
{
    (void)state;
    const char *const text = "{\n  \"layers\": 2,\n  \"moe\": {\n    \"experts\": \"a \\\" }\",\n"
                             "    \"top_k\": [1, {\"x\": 2}]},\n  \"last\": 1}";
    struct sp_json json;
    struct sp_error error = {0};
    assert_true(sp_json_parse(text, strlen(text), "m.json", &json, &error));
    assert_string_equal(sp_json_place(&json, "layers"), "m.json:2:3");
    assert_string_equal(sp_json_place(&json, "moe"), "m.json:3:3");
    assert_string_equal(sp_json_place(&json, "moe.experts"), "m.json:4:5");
    assert_string_equal(sp_json_place(&json, "moe.top_k"), "m.json:5:5");
    assert_string_equal(sp_json_place(&json, "last"), "m.json:6:3");
    assert_string_equal(sp_json_place(&json, "nothing"), "m.json:1:1");
    sp_json_free(&json);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The fewest digits of 15 to 17 by printf and strtod. */
static void expect_shortest(double value)
{
    char text[40], slow[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(slow, sizeof slow, "%.*g", digits, value);
        if (strtod(slow, NULL) == value)
            break;
    }
    sp_format_double(value, text, sizeof text);
    assert_string_equal(text, slow);
}

/* At random sizes, at powers of 2 and 10, and at their neighbours. */
static void shortest(void **state)
{
    (void)state;
    uint64_t seed = 20261123;
    for (int i = 0; i < 100000; i++)
        expect_shortest((double)(next_random(&seed) >> 11) * pow(2, (int)(i % 70) - 67 - 5));
    for (int power = -20; power < 60; power++)
        for (int step = -3; step <= 3; step++) {
            double two = pow(2, power), ten = pow(10, power / 4);
            for (int i = 0; i < abs(step); i++) {
                two = nextafter(two, step < 0 ? -INFINITY : INFINITY);
                ten = nextafter(ten, step < 0 ? -INFINITY : INFINITY);
            }
            expect_shortest(two);
            expect_shortest(-ten);
        }
    for (int i = 1; i < 10000; i++)
        expect_shortest(i / 1000.0);
}

/* Every double reads back as itself, in the C locale and as JSON. */
static void doubles(void **state)
{
    (void)state;
    uint64_t seed = 20240611;
    char text[40];
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits = next_random(&seed);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (i % 2)
            value =
                (double)(bits >> 11) / (double)(1 + (bits & 2047)) * pow(10, (int)(bits % 30) - 15);
        sp_format_double(value, text, sizeof text);
        if (!isfinite(value)) {
            assert_string_equal(text, "null");
            continue;
        }
        if (strtod(text, NULL) != value)
            fail_msg("%.17g is written as %s", value, text);
        assert_true(strlen(text) <= 24);
    }
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0, "0"},
                {-0.0, "0"},
                {0.1, "0.1"},
                {1e23, "1e+23"},
                {1.0 / 3, "0.3333333333333333"},
                {13015864320., "13015864320"},
                {5e-324, "4.94065645841247e-324"},
                {NAN, "null"},
                {-INFINITY, "null"},
                {123456789012345., "123456789012345"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sp_format_double(rows[i].value, text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
}

/* Random bytes and mutations of a good document: an answer or an error, no crash. */
static void noise(void **state)
{
    (void)state;
    uint64_t seed = 7;
    const char good[] =
        "{\"name\": \"m\", \"layers\": 12, \"moe\": {\"experts\": 8, \"x\": [1, 2.5e3]}}";
    for (int i = 0; i < 20000; i++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        const size_t length = i % 3 ? sizeof good - 1 : next_random(&seed) % sizeof good;
        for (uint64_t edits = next_random(&seed) % 4; edits > 0; edits--)
            text[next_random(&seed) % (sizeof good - 1)] = (char)next_random(&seed);
        text[length] = '\0';
        struct sp_json json;
        struct sp_error error = {0};
        if (sp_json_parse(text, length, "x.json", &json, &error)) {
            sp_json_place(&json, "moe.x");
            sp_json_free(&json);
        } else {
            assert_true(error.lines == 1 && error.code == SP_INPUT);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted),  cmocka_unit_test(refused),  cmocka_unit_test(odd_numbers),
        cmocka_unit_test(nul_bytes), cmocka_unit_test(deep),     cmocka_unit_test(places),
        cmocka_unit_test(doubles),   cmocka_unit_test(shortest), cmocka_unit_test(noise),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
