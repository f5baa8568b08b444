/* The part of cmocka that the tests of src/core use, for compilers that have no cmocka: -m32, musl.
 */
#ifndef SP_PORTABLE_CMOCKA_H
#define SP_PORTABLE_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};
#define cmocka_unit_test(test)                                                                     \
    {                                                                                              \
#test, test                                                                                \
    }

#define print_message printf
#define print_error(...) fprintf(stderr, __VA_ARGS__)
#define fail_msg(...)                                                                              \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__),                 \
     fputc('\n', stderr), exit(1))
#define assert_true(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s", #condition);                                                            \
    } while (0)
#define assert_false(condition) assert_true(!(condition))
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_int_not_equal(a, b) assert_true((long long)(a) != (long long)(b))
#define assert_int_equal(a, b) assert_true((long long)(a) == (long long)(b))
#define assert_memory_equal(a, b, n) assert_true(memcmp(a, b, n) == 0)
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)
#define assert_null(p) assert_true((p) == NULL)
#define assert_non_null(p) assert_true((p) != NULL)

static inline int cmocka_run(const char *group, const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tests[i].run(NULL);
    printf("%s: %zu tests passed\n", group, n);
    return n > 0 ? 0 : 1;
}
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    cmocka_run(__FILE__, tests, sizeof tests / sizeof *tests)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    cmocka_run(name, tests, sizeof tests / sizeof *tests)

#endif
