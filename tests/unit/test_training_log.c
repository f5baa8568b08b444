/* Training logs: which lines are steps, how numbers are written, what is warm-up, the median and
 * the tenths (as numpy.quantile has them), and the memory of the fullest rank. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runs/training_log.h"

/* A step of 128 sequences, 2^20 tokens, on 64 devices. */
static const struct sp_logged_run logged = {.batch = 128, .tokens = 1048576, .devices = 64};

/* Reads a text of n bytes as a log of the run. */
static bool read_log(const char *text, size_t n, struct sp_training_log *log,
                     struct sp_error *error)
{
    const struct sp_sources sources = {0};
    char path[] = "/tmp/log-XXXXXX";
    FILE *const out = fdopen(mkstemp(path), "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    *error = (struct sp_error){0};
    const bool ok = sp_read_training_log(path, &sources, &logged, log, error);
    unlink(path);
    return ok;
}

static struct sp_training_log log_of(const char *text)
{
    struct sp_training_log log;
    struct sp_error error;
    if (!read_log(text, strlen(text), &log, &error))
        fail_msg("%s", error.text);
    return log;
}

/* Lines of MaxText, a step time each. */
static struct sp_training_log log_of_steps(const char *const *seconds, int n)
{
    char text[8000];
    size_t used = 0;
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "completed step: %d, seconds: %s, loss: 1\n", i, seconds[i]);
    return log_of(text);
}
#define STEPS(...)                                                                                 \
    log_of_steps((const char *const[]){__VA_ARGS__},                                               \
                 (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *written;
        double s;
    } all[] = {{"2.5", 2.5},
               {"2", 2},
               {"1,234.5", 1234.5},
               {"1,234,567", 1234567},
               {"10/100", 10},
               {"1e3", 1000},
               {"2.5E-1", .25},
               {"2.5e+2", 250},
               {"3,", 3},
               {"4 s", 4},
               {"5%", 5},
               {".5", .5},
               {"7.25.", 0},
               {"1e", 1},
               {"0x10", 0},
               {"-3", 0},
               {"nan", 0},
               {"0", 0},
               {"1e400", 0},
               {"3e4", 30000},
               {"6e4 tokens", 60000}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *const three[] = {all[i].written, all[i].written, all[i].written};
        if (all[i].s > 0) {
            const struct sp_training_log log = log_of_steps(three, 3);
            assert_close(log.step_s, all[i].s, 1e-15);
            continue;
        }
        struct sp_training_log log;
        struct sp_error error;
        char text[400];
        const int n =
            snprintf(text, sizeof text, "completed step: 1, seconds: %s\n", all[i].written);
        if (read_log(text, (size_t)n, &log, &error) || !strstr(error.text, "no training steps"))
            fail_msg("%s: %s", all[i].written, error.text);
    }
}

/* Steps before the first that is within 5 % of the later half's median are left out, half of them
 * at most. */
static void warm_up(void **state)
{
    (void)state;
    assert_int_equal(STEPS("3", "1.06", "1.04", "1", "1", "1", "1", "1").warm_up, 2);
    assert_int_equal(STEPS("3", "1.051", "1.051", "1", "1", "1", "1", "1").warm_up, 3);
    assert_int_equal(STEPS("3", "1.049", "3", "1", "1", "1", "1", "1").warm_up, 1);
    assert_int_equal(STEPS("1", "3", "3", "3", "1", "1", "1", "1").warm_up, 0);
    assert_int_equal(STEPS("9", "9", "9", "9", "1", "1", "1", "1").warm_up, 4);
    assert_int_equal(STEPS("0.5", "0.5", "0.5", "0.5", "1", "1", "1", "1").warm_up, 0);
    const struct sp_training_log odd = STEPS("9", "9", "9", "1", "1"); /* half of five are two */
    assert_int_equal(odd.warm_up, 2);
    assert_close(odd.step_s, 1, 1e-15);
    assert_close(odd.low_s, 1, 1e-15);
    assert_close(odd.high_s, 1 + 0.8 * 8, 1e-14); /* 0.9 of the way over 1, 1, 9 */
}

static void quantiles(void **state)
{
    (void)state;
    const struct sp_training_log eleven =
        STEPS("1", "1.01", "1.02", "1.03", "1.04", "1.05", "1.04", "1.03", "1.02", "1.01", "1.05");
    /* sorted 1, 1.01, 1.01, 1.02, 1.02, 1.03, 1.03, 1.04, 1.04, 1.05, 1.05 */
    assert_int_equal(eleven.lines, 11);
    assert_close(eleven.low_s, 1.01, 1e-14);
    assert_close(eleven.step_s, 1.03, 1e-14);
    assert_close(eleven.high_s, 1.05, 1e-14);
    const struct sp_training_log four =
        STEPS("1", "1.02", "1.04", "1.01"); /* places 0.3, 1.5, 2.7 */
    assert_close(four.low_s, 1.003, 1e-14);
    assert_close(four.step_s, 1.015, 1e-14);
    assert_close(four.high_s, 1.034, 1e-14);
}

/* The room for steps grows: 5000 of them. */
static void many(void **state)
{
    (void)state;
    enum { N = 5000, LINE = 40 };
    char *const text = malloc(N * LINE);
    assert_non_null(text);
    size_t used = 0;
    for (int i = 0; i < N; i++)
        used +=
            (size_t)snprintf(text + used, LINE, "completed step: %d, seconds: 1.%d\r", i, i % 5);
    const struct sp_training_log log = log_of(text);
    free(text);
    assert_int_equal(log.lines, N);
    assert_close(log.step_s, 1.2, 1e-15);
    assert_close(log.low_s, 1.0, 1e-15);
    assert_close(log.high_s, 1.4, 1e-15);
}

#define MEGATRON(i, ms, batch)                                                                     \
    " iteration " i "/ 100 | elapsed time per iteration (ms): " ms " | global batch size: " batch  \
    " | lm loss: 9\n"

static void dialects(void **state)
{
    (void)state;
    const struct sp_training_log m = log_of(MEGATRON("1", "500", "64") MEGATRON(
        "2", "2500", "128") MEGATRON("3", "2500.0", "128") MEGATRON("4", "2400", "128"));
    assert_string_equal(m.dialect, "megatron");
    assert_int_equal(m.lines, 4);
    assert_int_equal(m.others, 1);
    assert_close(m.step_s, 2.5, 1e-15);
    assert_int_equal(m.level, SP_NO_LEVEL);
    assert_true(isnan(m.memory_bytes));
    /* 2^20 tokens at 4096 a second on each of 64 devices */
    const struct sp_training_log t =
        log_of("step: 1 tps: 4,096\nstep: 2 wps: 4096\n\033[1;31mstep:\033[39m 3 \033[32mtps: "
               "4096\033[39m\n"
               "global_step: 4 tps: 1\nstep_size: 5 tps: 1\nsteps: 6 tps: 1\n");
    assert_string_equal(t.dialect, "torchtitan");
    assert_int_equal(t.lines, 3);
    assert_close(t.step_s, 4, 1e-15);
    const struct sp_training_log n =
        log_of("global_step: 1 | train_step_timing in s: 2\n"
               "iteration 2/9 | train_step_timing in s: 2 | global_batch_size: 128\n"
               "iteration 3/9 | train_step_timing in s=2 | global_batch_size: 127\n"
               "iteration 4/9 | train_step_timing in s 2 | global_batch_size: 128\n");
    assert_string_equal(n.dialect, "nemo");
    assert_int_equal(n.lines, 4);
    assert_int_equal(n.others, 1);
}

/* Only an escape and a bracket begin a colour: either alone is text. Colours may occur inside a
 * word, and at the end. */
static void colours(void **state)
{
    (void)state;
    static const char *const lines[] = {"completed step: 1, seconds: 2",
                                        "loss[12]completed step: 1, seconds: 2",
                                        "\033completed step: 1, seconds: 2",
                                        "comp\033[0mleted step: 1, sec\033[31;1monds: 2",
                                        "completed step: 1, seconds: 2\033[",
                                        "completed step: 1, seconds: 2\033[31;1",
                                        "[2026-01-01]completed step: 1, seconds: 2"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s\n%s\r\n%s", lines[i], lines[i], lines[i]);
        const struct sp_training_log log = log_of(text);
        assert_int_equal(log.lines, 3);
        assert_close(log.step_s, 2, 1e-15);
    }
}

/* The fullest rank counts; the allocator's memory takes precedence over the tensors', in any
 * order. */
static void memory(void **state)
{
    (void)state;
#define THREE MEGATRON("1", "1", "128") MEGATRON("2", "1", "128") MEGATRON("3", "1", "128")
    const struct {
        const char *text;
        enum sp_memory_level level;
        double bytes;
    } all[] = {
        {THREE "max allocated: 100\n", SP_LIVE, 100 * 0x1p20},
        {"max allocated: 100\nmax allocated: 300\nmax allocated: 200\n" THREE, SP_LIVE,
         300 * 0x1p20},
        {"max reserved: 50\nmax allocated: 300\n" THREE, SP_RESERVED, 50 * 0x1p20},
        {"max allocated: 300\nmax reserved: 50\n" THREE, SP_RESERVED, 50 * 0x1p20},
        {"max reserved: 50 | max allocated: 300\nmax reserved: 70\nmax reserved: 60\n" THREE,
         SP_RESERVED, 70 * 0x1p20},
        {"step: 1 memory: 2.5GiB tps: 1\nstep: 2 tps: 1\nstep: 3 tps: 1\n", SP_RESERVED,
         2.5 * 0x1p30},
        {"Total memory size: 2.5 GB\ncompleted step: 1, seconds: 1\ncompleted step: 2, seconds: 1\n"
         "completed step: 3, seconds: 1\n",
         SP_LIVE, 2.5 * 0x1p30},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct sp_training_log log = log_of(all[i].text);
        assert_int_equal(log.level, all[i].level);
        assert_close(log.memory_bytes, all[i].bytes, 1e-15);
    }
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } all[] = {
        {"nothing\n", "no training steps (supported: logs of maxtext, megatron, nemo, torchtitan)"},
        {MEGATRON("1", "1", "64"),
         "the batch of all 1 steps differs from the plan's 128 sequences"},
        {MEGATRON("1", "1", "128") MEGATRON("2", "1", "128"),
         "2 steps with the plan's batch; at least 3 are needed"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sp_training_log log;
        struct sp_error error;
        assert_false(read_log(all[i].text, strlen(all[i].text), &log, &error));
        if (!strstr(error.text, all[i].why))
            fail_msg("%s", error.text);
    }
    /* a NUL is a blank */
    static const char nul[] = "completed step: 1\0 seconds: 2\ncompleted step: 2, seconds: "
                              "2\ncompleted step: 3, seconds: 2";
    struct sp_training_log log;
    struct sp_error error;
    assert_true(read_log(nul, sizeof nul - 1, &log, &error));
    assert_int_equal(log.lines, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers), cmocka_unit_test(warm_up),  cmocka_unit_test(quantiles),
        cmocka_unit_test(many),    cmocka_unit_test(dialects), cmocka_unit_test(memory),
        cmocka_unit_test(refused), cmocka_unit_test(colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
