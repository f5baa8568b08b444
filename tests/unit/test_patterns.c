/* The module's own fnmatch() agrees with the C library's. */
#include "check.h"

#include <fnmatch.h>
#include <string.h>

#define fnmatch module_fnmatch
#include "host/wasi/fnmatch.c"
#undef fnmatch
#include "host/wasi/character.c"

static void as_the_c_library(void **state)
{
    static const char *const patterns[] = {
        "",       "*",      "a*",       "*a",       "a*b*c",        "**",          "?",      "??",
        "a?c",    "[abc]",  "[!abc]*",  "[a-c]x",   "*[0-9]",       "[]]",         "[!]a]*", "[a",
        "\\*",    "a\\*b",  "[\\]]",    "[a-]",     "[[:digit:]]*", "[^a]",        "*.sh",   "x[",
        "--tp-*", "*_size", "a*a*a*ab", "[[:no:]]", "*[[:upper:]]", "pre[1-3]*.y", "*\\?*",  "*-"};
    static const char *const texts[] = {"",
                                        "a",
                                        "b",
                                        "abc",
                                        "aXbYc",
                                        "*",
                                        "a*b",
                                        "]",
                                        "[a",
                                        "-",
                                        "7up",
                                        "x",
                                        "train.sh",
                                        "--tp-degree",
                                        "aab",
                                        "aaaab",
                                        "c",
                                        "micro_batch_size",
                                        "X[",
                                        "x[",
                                        "pre2_a.y",
                                        "?",
                                        "what?",
                                        "ax",
                                        "cx",
                                        "A",
                                        "0",
                                        "a-",
                                        "aaaaaaaaaaaaaaaaaaaaaac"};
    (void)state;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            if (module_fnmatch(patterns[p], texts[t], 0) != fnmatch(patterns[p], texts[t], 0))
                fail_msg("\"%s\" on \"%s\": the C library says %d", patterns[p], texts[t],
                         fnmatch(patterns[p], texts[t], 0));
}

/* One character of UTF-8 is one, in whatever locale. */
static void characters(void **state)
{
    (void)state;
    assert_int_equal(module_fnmatch("?", "\xc3\xa9", 0), 0);
    assert_int_equal(module_fnmatch("[\xce\xb1-\xcf\x89]", "\xce\xb2", 0), 0); /* beta */
    assert_int_equal(module_fnmatch("[\xce\xb1-\xcf\x89]", "b", 0), FNM_NOMATCH);
    assert_int_equal(sp_columns_of('a'), 1);
    assert_int_equal(sp_columns_of(0x4e2d), 2); /* East Asian Width W in Unicode's table */
    assert_int_equal(sp_columns_of(0x301), 0);  /* a combining accent */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_c_library),
                                       cmocka_unit_test(characters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
