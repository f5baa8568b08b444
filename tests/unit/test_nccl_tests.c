/* Output of nccl-tests, by lines in its format: the operation, ranks and hosts of each test,
 * bytes and microseconds of each size. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "runs/nccl_tests.h"

#define THREADS                                                                                    \
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20\n"
#define RANK(r, host)                                                                              \
    "#  Rank  " #r " Group  0 Pid   100" #r " on " host " device  0 [0000:53:00] NVIDIA H100\n"
#define HEADER                                                                                     \
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "   \
    "time   algbw   busbw\n"                                                                       \
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             "   \
    "(us)  (GB/s)  (GB/s)\n"
#define RESULT(bytes, us) bytes " 2 float sum -1 " us " 0.00 0.00 0 99.9 0.00 0.00 0\n"

static struct sp_nccl_times read_times(const char *text, enum sp_collective op,
                                       struct sp_error *error)
{
    struct sp_nccl_times times;
    *error = (struct sp_error){0};
    const bool ok = sp_read_nccl_times(text, "t", op, &times, error);
    assert_true(ok == (error->lines == 0));
    return times;
}

static void two_tests(void **state)
{
    (void)state;
    struct sp_error error;
    struct sp_nccl_times t = read_times(
        "# Collective test starting: /opt/all_gather_perf\n" THREADS RANK(0, "a") RANK(1, "a") RANK(
            2, "b") HEADER RESULT("1024", "12.5") "Warning: something 1 2 3\n" RESULT("2048", "13")
            RESULT("0", "13") RESULT("4096", "0") RESULT(
                "8", "inf") "# Collective test concluded: all_gather_perf\n"
                            "# Collective test starting: alltoall_perf_mpi\n" THREADS RANK(0, "c")
                                RANK(1, "d") HEADER RESULT("16", "1e3"),
        SP_COLLECTIVES, &error);
    assert_int_equal(t.n, 3);
    const struct sp_nccl_time expected[] = {{SP_ALL_GATHER, 3, 2, 1024, 12.5e-6},
                                            {SP_ALL_GATHER, 3, 2, 2048, 13e-6},
                                            {SP_ALL_TO_ALL, 2, 2, 16, 1e-3}};
    for (size_t i = 0; i < t.n; i++) {
        assert_int_equal(t.of[i].op, expected[i].op);
        assert_true(t.of[i].ranks == expected[i].ranks && t.of[i].hosts == expected[i].hosts);
        assert_true(t.of[i].bytes == expected[i].bytes);
        assert_close(t.of[i].time_s, expected[i].time_s, 1e-15);
    }
    free(t.of);
}

/* Each operation follows from the program's name, before 2.17 from the given one; a test of another
 * operation is refused. */
static void operations(void **state)
{
    (void)state;
    static const struct {
        const char *program;
        enum sp_collective op;
    } all[] = {{"all_gather_perf", SP_ALL_GATHER},       {"reduce_scatter_perf", SP_REDUCE_SCATTER},
               {"build/all_reduce_perf", SP_ALL_REDUCE}, {"alltoall_perf", SP_ALL_TO_ALL},
               {"alltoallv_perf", SP_COLLECTIVES},       {"broadcast_perf", SP_COLLECTIVES}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[1200];
        struct sp_error error;
        snprintf(text, sizeof text, "# Collective test starting: %s\n%s", all[i].program,
                 THREADS RANK(0, "a") RANK(1, "a") HEADER RESULT("8", "7"));
        const struct sp_nccl_times t = read_times(text, SP_ALL_REDUCE, &error);
        if (all[i].op == SP_COLLECTIVES)
            assert_non_null(strstr(error.text, "t:1: a test of "));
        else
            assert_true(t.n == 1 && t.of[0].op == all[i].op && t.of[0].hosts == 1);
        free(t.of);
    }
    struct sp_error error;
    struct sp_nccl_times t = read_times(THREADS RANK(0, "a") RANK(1, "b") HEADER RESULT("8", "7"),
                                        SP_ALL_TO_ALL, &error);
    assert_true(t.n == 1 && t.of[0].op == SP_ALL_TO_ALL);
    free(t.of);
    t = read_times(THREADS RANK(0, "a") RANK(1, "b") HEADER RESULT("8", "7"), SP_COLLECTIVES,
                   &error);
    assert_non_null(strstr(error.text, "t:6: the operation is not given: use --op"));
    free(t.of);
}

/* Older and newer headings; a second group runs the same beside the first. */
static void headings(void **state)
{
    (void)state;
    struct sp_error error;
    assert_true(sp_is_nccl_output("x\n# nThread 1") && sp_is_nccl_output("#nThread 1"));
    assert_false(sp_is_nccl_output("nThread 1"));
    struct sp_nccl_times t =
        read_times("#nThread 1\n# Rank 0 Pid 1 on a device 0\n# Rank 1 Pid 2 on a device 1\n"
                   "# size count type cputime algbw\n8 2 float 5 0\n",
                   SP_ALL_REDUCE, &error);
    assert_true(t.n == 1 && t.of[0].ranks == 2 && t.of[0].hosts == 1);
    assert_close(t.of[0].time_s, 5e-6, 1e-15);
    free(t.of);
    t = read_times(THREADS RANK(0, "a") RANK(
                       1, "b") "# Rank 0 Group 1 Pid 3 on c device 0\n" HEADER RESULT("8", "7"),
                   SP_ALL_REDUCE, &error);
    assert_true(t.n == 1 && t.of[0].ranks == 2 && t.of[0].hosts == 2);
    free(t.of);
    t = read_times(THREADS RANK(0, "a") HEADER RESULT("8", "7"), SP_ALL_REDUCE, &error);
    assert_non_null(strstr(error.text, "t:5: expected lines of at least two ranks"));
    free(t.of);
    t = read_times(THREADS RANK(0, "a") RANK(1, "a") HEADER, SP_ALL_REDUCE, &error);
    assert_non_null(strstr(error.text, "t: no results"));
    free(t.of);
    t = read_times(THREADS RANK(0, "a") RANK(1, "a") RESULT("8", "7"), SP_ALL_REDUCE,
                   &error); /* no heading yet */
    assert_non_null(strstr(error.text, "t: no results"));
    free(t.of);
}

/* More sizes than the initial array holds. */
static void many(void **state)
{
    (void)state;
    enum { N = 300 };
    static char text[N * 60 + 2000];
    struct sp_error error;
    size_t used =
        (size_t)snprintf(text, sizeof text, "%s", THREADS RANK(0, "a") RANK(1, "a") HEADER);
    for (int i = 1; i <= N; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d 2 float sum -1 %d 0 0 0\n",
                                 8 * i, i);
    struct sp_nccl_times t = read_times(text, SP_ALL_REDUCE, &error);
    assert_int_equal(t.n, N);
    for (int i = 0; i < N; i++) {
        assert_true(t.of[i].bytes == 8 * (i + 1));
        assert_close(t.of[i].time_s, (i + 1) * 1e-6, 1e-15);
    }
    free(t.of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tests),
        cmocka_unit_test(operations),
        cmocka_unit_test(headings),
        cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
