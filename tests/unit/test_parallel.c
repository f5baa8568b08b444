/* Every number is taken once, whatever the threads. */
#include "check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/parallel.h"

enum { N = 1000 };

struct taken {
    atomic_int times[N];
    atomic_int threads;
};

static void take_all(struct sp_share *share, void *context)
{
    struct taken *const t = context;
    int64_t from, to;
    atomic_fetch_add(&t->threads, 1);
    while (sp_take(share, &from, &to)) {
        assert_true(to - from <= 7 && to > from);
        for (int64_t i = from; i < to; i++)
            atomic_fetch_add(&t->times[i], 1);
    }
}

static void each_once(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 16};
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        struct taken t = {.threads = 0};
        sp_parallel(threads[k], N, 7, take_all, &t);
        assert_int_equal(t.threads, threads[k]);
        for (int i = 0; i < N; i++)
            assert_int_equal(t.times[i], 1);
    }
}

/* Without memory for a second thread's stack the caller does all the work. Address sanitizers
 * reserve more than any limit, so they skip this. */
static void without_threads(void **state)
{
    (void)state;
    struct taken t = {.threads = 0};
    struct rlimit before, tight;
    long pages = 0;
    FILE *const sizes = fopen("/proc/self/statm", "r");
    assert_non_null(sizes);
    assert_int_equal(fscanf(sizes, "%ld", &pages), 1);
    fclose(sizes);
    const double size = (double)pages * (double)sysconf(_SC_PAGESIZE);
    if (size > 1e12)
        skip();
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)size + (1 << 19);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    sp_parallel(4, N, 7, take_all, &t);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(t.threads, 1);
    for (int i = 0; i < N; i++)
        assert_int_equal(t.times[i], 1);
}

static void nothing_to_do(void **state)
{
    (void)state;
    struct taken t = {.threads = 0};
    sp_parallel(2, 0, 7, take_all, &t);
    for (int i = 0; i < N; i++)
        assert_int_equal(t.times[i], 0);
}

static void how_many(void **state)
{
    (void)state;
    assert_int_equal(sp_threads(5), 5);
    assert_int_equal(sp_threads(1000000), SP_MAX_THREADS);
    setenv("OMP_NUM_THREADS", "3", 1);
    assert_int_equal(sp_threads(0), 3);
    assert_int_equal(sp_threads(2), 2);
    setenv("OMP_NUM_THREADS", "50000", 1);
    assert_int_equal(sp_threads(0), SP_MAX_THREADS);
    setenv("OMP_NUM_THREADS", "none", 1);
    assert_true(sp_threads(0) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_threads), /* before there is any stack to reuse */
        cmocka_unit_test(each_once),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(how_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
