/* Numbers as people type them, and suggestions for mistyped names. */
#include "check.h"

#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "base/truth.h"

static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"0", 0},
        {"3", 3},
        {"007", 7},
        {"3e6", 3e6},
        {"3E6", 3e6},
        {"2.5e-3", 2.5e-3},
        {".5", 0.5},
        {"3.", 3},
        {"3k", 3e3},
        {"3M", 3e6},
        {"3G", 3e9},
        {"3T", 3e12},
        {"3P", 3e15},
        {"3E", 3e18},
        {"3Ki", 3072},
        {"3Mi", 3145728},
        {"1Gi", 1073741824},
        {"1Ti", 1099511627776},
        {"80GB", 80e9},
        {"80GiB", 85899345920},
        {"0.5GiB", 536870912},
        {"450GB/s", 450e9},
        {"989.4TFLOP/s", 989.4e12},
        {"4Mtokens", 4e6},
        {"10s", 10},
        {"3d", 259200},
        {"5y", 157680000},
        {"1.75GHz", 1.75e9},
        {"700W", 700},
        {"40%", 0.4},
        {"0.5%", 0.005},
        {"123456789012345678", 123456789012345678.0},
        {"1e308", 1e308},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double value;
        if (!sp_parse_number(rows[i].text, &value))
            fail_msg("\"%s\" was refused", rows[i].text);
        assert_close(value, rows[i].value, 1e-15);
    }
}

/* For parameters and tokens B means 10^9; everything else is as for numbers. */
static void counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } rows[] = {{"7B", 7e9},  {"1.5B", 1.5e9}, {"7GB", 7e9},
                {"7e9", 7e9}, {"15T", 15e12},  {"4Mi", 4194304}};
    double value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!sp_parse_count(rows[i].text, &value))
            fail_msg("\"%s\" was refused", rows[i].text);
        assert_close(value, rows[i].value, 1e-15);
    }
    assert_false(sp_parse_count("B", &value));
    assert_false(sp_parse_count("", &value));
    assert_false(sp_parse_count("7BB", &value));
    assert_false(sp_parse_count("7KB", &value));
}

static void not_numbers(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",     " ",     "3X",    "-1",     "+1",       "1e999",  "0x10",   "0X1p3", "nan",
        "inf",  "NaN",   "3K",    "3KB",    "3m",       "3 M",    " 3",     "3 ",    "3MM",
        "3MiM", "3,5",   "1,000", "1_000",  "3M%",      "%",      "e6",     ".",     "3e",
        "3e+",  "--3",   "1.2.3", "1e999%", "3iB",      "3gb",    "1e308E", "M",     "Gi",
        "3Bi",  "3GiBB", "1..2",  "3\n",    "\xc2\xb2", "3M\x01", "0x",     "3/4",   "3*4",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double value = 42;
        if (sp_parse_number(rows[i], &value))
            fail_msg("\"%s\" was read as %g", rows[i], value);
        assert_close(value, 42, 0);
    }
}

static void dims(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int most, n;
        double dims[3];
    } rows[] = {
        {"1024x4096", 2, 2, {1024, 4096, 0}},
        {"16x16x16", 3, 3, {16, 16, 16}},
        {"16", 3, 1, {16, 0, 0}},
        {"0x4", 2, 2, {0, 4, 0}},
        {"16x16x16x16", 3, 0, {0}},
        {"16x", 3, 0, {0}},
        {"x16", 3, 0, {0}},
        {"", 3, 0, {0}},
        {"16X16", 3, 0, {0}},
        {"1.5x2", 3, 0, {0}},
        {"-1x2", 3, 0, {0}},
        {"16xx16", 3, 0, {0}},
        {"16x16 ", 3, 0, {0}},
        {"1e3x2", 3, 0, {0}},
        {"99999999999999999999999999999999999x2", 3, 0, {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double found[3] = {0};
        const int n = sp_parse_dims(rows[i].text, found, rows[i].most);
        if (n != rows[i].n)
            fail_msg("\"%s\" has %d dimensions, expected %d", rows[i].text, n, rows[i].n);
        for (int k = 0; k < n; k++)
            assert_close(found[k], rows[i].dims[k], 0);
    }
}

#define hint_for(wanted) hint_in(SP_ROOM, wanted)
static const char *hint_in(struct sp_text *room, const char *wanted)
{
    static const char *const names[] = {"llama2-13b", "llama2-7b", "gpt2", "v5p", "batch"};
    struct sp_nearest nearest = {.wanted = wanted};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        sp_nearest_offer(&nearest, names[i]);
    return sp_nearest_hint_in(room, &nearest);
}

static void suggestions(void **state)
{
    (void)state;
    assert_string_equal(hint_for("lama2-13b"), "; did you mean \"llama2-13b\"?");
    assert_string_equal(hint_for("llama2-31b"), "; did you mean \"llama2-13b\"?");
    assert_string_equal(hint_for("LLAMA2-7B"), "; did you mean \"llama2-7b\"?");
    assert_string_equal(hint_for("bathc"), "; did you mean \"batch\"?");
    assert_string_equal(hint_for("v5q"), "; did you mean \"v5p\"?");
    assert_string_equal(hint_for("something-else"), "");
    assert_string_equal(hint_for(""), "");
    static char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    assert_string_equal(hint_for(longest), "");
    const struct sp_nearest none = {.wanted = "x"};
    assert_string_equal(sp_nearest_hint(&none), "");
}

/* Errors keep every line, cut what does not fit, and let no control character through. */
static void errors(void **state)
{
    (void)state;
    struct sp_error error = {0};
    assert_false(sp_fail(&error, SP_INPUT, "bad name \"%s\"", "a\x1b[31m\nb"));
    assert_int_equal(error.lines, 1);
    assert_null(strchr(error.text, '\x1b'));
    assert_null(strchr(error.text, '\n'));
    assert_false(sp_fail(&error, SP_INPUT, "second"));
    assert_int_equal(error.lines, 2);
    assert_int_equal(error.code, SP_INPUT);
    for (int i = 0; i < 1000; i++)
        sp_fail(&error, SP_INPUT, "line %d of many that together do not fit", i);
    assert_true(strlen(error.text) < sizeof error.text);
    assert_true(strlen(sp_safe("a name")) == 6);
    static char longest[1000];
    memset(longest, 'y', sizeof longest - 1);
    assert_true(strlen(sp_safe(longest)) <= 90);
}

/* Printable ASCII is 0x20 to 0x7e. */
static void plain_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t left, plain;
    } rows[] = {{"", 0, 0},     {"a b~", 4, 4},  {"ab", 1, 1},       {"ab\n", 3, 2},
                {"\x1f", 1, 0}, {" \x7f", 2, 1}, {"a\xc3\xa9", 3, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(sp_plain_length((const unsigned char *)rows[i].text, rows[i].left),
                         rows[i].plain);
}

/* Expected: yaml.safe_load of PyYAML for the first three columns, transformers' string_to_bool and
 * accelerate's str_to_bool for what else they take. tests/cli/booleans.sh has all words. */
static void words_of_truth(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        int yaml, any;
    } rows[] = {{"no", 0, 0},    {"No", 0, 0},  {"NO", 0, 0},   {"nO", -1, 0},    {"n", -1, 0},
                {"off", 0, 0},   {"Off", 0, 0}, {"OFF", 0, 0},  {"FALSE", 0, 0},  {"fALSE", -1, 0},
                {"on", 1, 1},    {"YES", 1, 1}, {"True", 1, 1}, {"y", -1, 1},     {"T", -1, 1},
                {"0", -1, 0},    {"1", -1, 1},  {"", -1, -1},   {"none", -1, -1}, {"nope", -1, -1},
                {"bf16", -1, -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(sp_yaml_truth(rows[i].word), rows[i].yaml);
        assert_int_equal(sp_truth(rows[i].word), rows[i].any);
    }
    assert_string_equal(sp_yaml_word("Off", false), "false");
    assert_string_equal(sp_yaml_word("YES", false), "true");
    assert_string_equal(sp_yaml_word("Off", true), "Off");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text), cmocka_unit_test(numbers),
        cmocka_unit_test(counts),     cmocka_unit_test(not_numbers),
        cmocka_unit_test(dims),       cmocka_unit_test(suggestions),
        cmocka_unit_test(errors),     cmocka_unit_test(words_of_truth),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
