/* Distributions of lengths against what is known of them in closed form, and lengths as they are
 * typed. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <scaleplan/lengths.h>

#include "config/lengths.h"
#include "config/world.h"

static struct sp_lengths lengths(enum sp_lengths_kind kind, double a, double b, double most)
{
    struct sp_lengths l = {.kind = kind, .a = a, .b = b, .most = most};
    sp_settle_lengths(&l);
    return l;
}

/* Log-normal of mean m: squares m^2 exp(sigma^2), median m exp(-sigma^2 / 2); uniform squares (a^2
 * + ab + b^2) / 3; exponential squares 2 m^2 (any table of distributions). */
static void moments(void **state)
{
    (void)state;
    const struct sp_lengths n = lengths(SP_LENGTHS_LOGNORMAL, 2000, 0.8, 0);
    assert_close(n.mean, 2000, 1e-10);
    assert_close(n.square, 4e6 * exp(0.64), 1e-10);
    assert_close(sp_lengths_quantile(&n, 0.5), 2000 * exp(-0.32), 1e-12);
    const struct sp_lengths u = lengths(SP_LENGTHS_UNIFORM, 100, 700, 0);
    assert_close(u.mean, 400, 1e-10);
    assert_close(u.square, (1e4 + 7e4 + 49e4) / 3, 1e-10);
    assert_close(sp_lengths_quantile(&u, 0.95), 670, 1e-12);
    const struct sp_lengths e = lengths(SP_LENGTHS_EXPONENTIAL, 300, 0, 0);
    assert_close(e.mean, 300, 1e-10);
    assert_close(e.square, 2 * 9e4, 1e-10);
    assert_close(sp_lengths_quantile(&e, 0.99), 300 * log(100), 1e-10);
    const struct sp_lengths wide = lengths(SP_LENGTHS_LOGNORMAL, 2000, 3, 0);
    assert_close(wide.mean, 2000, 1e-9);
    assert_close(wide.square, 4e6 * exp(9), 1e-9);
    const struct sp_lengths same = lengths(SP_LENGTHS_LOGNORMAL, 500, 0, 0);
    assert_close(same.mean, 500, 1e-12);
    assert_close(sp_greatest_length(&same, 1e6), 500, 1e-9);
}

/* The greatest of n uniform ones a + (b - a) n/(n + 1); of n exponential ones the mean times the
 * n-th harmonic number; of two log-normal ones 2 m Phi(sigma / sqrt(2)). */
static void greatest(void **state)
{
    (void)state;
    const struct sp_lengths u = lengths(SP_LENGTHS_UNIFORM, 100, 700, 0);
    const struct sp_lengths e = lengths(SP_LENGTHS_EXPONENTIAL, 300, 0, 0);
    const struct sp_lengths n = lengths(SP_LENGTHS_LOGNORMAL, 2000, 0.8, 0);
    double harmonic = 0;
    for (int i = 1; i <= 1000; i++)
        harmonic += 1.0 / i;
    assert_close(sp_greatest_length(&u, 512), 100 + 600 * 512 / 513.0, 1e-9);
    assert_close(sp_greatest_length(&e, 1000), 300 * harmonic, 1e-9);
    assert_close(sp_greatest_length(&n, 2), 2000 * erfc(-0.8 / 2), 1e-9);
    assert_close(sp_greatest_length(&n, 1), n.mean, 1e-12);
    assert_true(sp_greatest_length(&n, 1e9) > sp_greatest_length(&n, 1e8));
    const struct sp_lengths fixed = sp_fixed_length(777);
    assert_close(sp_greatest_length(&fixed, 1e6), 777, 0);
}

/* Cut at c: the mean of min(X, c) is that of a call's counterpart (Black and Scholes):
 * m Phi(d - sigma) + c Phi(-d) with d = ln(c / median) / sigma; uniform by hand. */
static void cuts(void **state)
{
    (void)state;
    const double m = 2000, sigma = 0.8, c = 4096, d = log(c / (m * exp(-0.32))) / sigma;
    const struct sp_lengths n = lengths(SP_LENGTHS_LOGNORMAL, m, sigma, c);
    const double mean = m * erfc(-(d - sigma) / sqrt(2)) / 2 + c * erfc(d / sqrt(2)) / 2;
    assert_close(n.mean, mean, 1e-9);
    assert_close(sp_lengths_over(&n, 4095), erfc((log(4095 / m) / sigma + sigma / 2) / sqrt(2)) / 2,
                 1e-12);
    assert_close(sp_lengths_over(&n, 4096), 0, 0);
    assert_close(sp_lengths_quantile(&n, 0.999), c, 0);
    assert_true(sp_greatest_length(&n, 1e6) <= c * (1 + 1e-12));
    assert_close(sp_greatest_length(&n, 1e6), c, 1e-9);
    /* half of 0 to 1000 is cut at 500: 250 / 2 + 500 / 2 */
    const struct sp_lengths u = lengths(SP_LENGTHS_UNIFORM, 0, 1000, 500);
    assert_close(u.mean, 375, 1e-9);
    const struct sp_lengths all = lengths(SP_LENGTHS_UNIFORM, 600, 1000, 500);
    assert_close(all.mean, 500, 0);
    assert_close(all.square, 250000, 0);
}

/* For 1, 2, 3, 10: mean 4, squares 28.5; of two draws the greatest is 1, 2, 3, 10 in 1, 3, 5 and 7
 * of 16 cases: 92 / 16. */
static void traces(void **state)
{
    (void)state;
    static const double four[] = {1, 2, 3, 10};
    struct sp_lengths t = {.kind = SP_LENGTHS_TRACE, .sorted = four, .n = 4};
    sp_settle_lengths(&t);
    assert_close(t.mean, 4, 0);
    assert_close(t.square, 28.5, 0);
    assert_close(sp_greatest_length(&t, 2), 92.0 / 16, 1e-12);
    assert_close(sp_lengths_quantile(&t, 0.5), 2, 0);
    assert_close(sp_lengths_quantile(&t, 0.51), 3, 0);
    assert_close(sp_lengths_over(&t, 2.5), 0.5, 0);
    assert_close(sp_lengths_over(&t, 10), 0, 0);
}

/* Answers after a prompt of 512: the partial expectations of a log-normal below c are m Phi(d -
 * sigma) and m^2 exp(sigma^2) Phi(d - 2 sigma) with d = ln(c / median) / sigma; the squares of p +
 * x are p^2 + 2 p x + x^2. */
static void prompts(void **state)
{
    (void)state;
    const double p = 512, m = 1000, s = 0.8, c = 4096, d = (log(c / m) + s * s / 2) / s;
    const double over = erfc(d / sqrt(2)) / 2, mean = m * erfc(-(d - s) / sqrt(2)) / 2 + c * over;
    const double square = m * m * exp(s * s) * erfc(-(d - 2 * s) / sqrt(2)) / 2 + c * c * over;
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    struct sp_lengths l;
    char words[SP_LENGTHS_TEXT];
    assert_true(sp_load_lengths("512+lognormal:1000:0.8:4096", "--documents", SP_TRACE_INPUT,
                                &sources, &l, NULL, &error));
    assert_close(l.mean, p + mean, 1e-9);
    assert_close(l.square, p * p + 2 * p * mean + square, 1e-9);
    assert_close(sp_lengths_over(&l, p + c - 1), erfc((log((c - 1) / m) / s + s / 2) / sqrt(2)) / 2,
                 1e-12);
    assert_close(sp_lengths_over(&l, p + c), 0, 0);
    assert_close(sp_lengths_quantile(&l, 0.5), p + m * exp(-s * s / 2), 1e-9);
    assert_close(sp_lengths_quantile(&l, 0.9999), p + c, 0);
    sp_lengths_words(&l, "", words, sizeof words);
    assert_string_equal(words, "512+lognormal:1000:0.8:4096");
    assert_true(sp_load_lengths("30+512", "", SP_TRACE_INPUT, &sources, &l, NULL, &error));
    assert_close(l.mean, 542, 0);
    assert_close(l.square, 542 * 542, 0);
    static const double four[] = {1, 2, 3, 10};
    struct sp_lengths t = {.kind = SP_LENGTHS_TRACE, .sorted = four, .n = 4, .plus = 5, .most = 9};
    sp_settle_lengths(&t); /* 6, 7, 8 and 9 */
    assert_close(t.mean, 7.5, 0);
    assert_close(t.square, (36 + 49 + 64 + 81) / 4.0, 0);
    assert_close(sp_lengths_quantile(&t, 1), 9, 0);
    sp_lengths_words(&t, "1+answers.csv:7", words, sizeof words);
    assert_string_equal(words, "5+answers.csv:4");
}

/* A million draws have the moments within four standard errors. */
static void draws(void **state)
{
    (void)state;
    enum { N = 1000000 };
    const struct sp_lengths all[] = {lengths(SP_LENGTHS_LOGNORMAL, 2000, 0.8, 0),
                                     lengths(SP_LENGTHS_UNIFORM, 100, 700, 0),
                                     lengths(SP_LENGTHS_EXPONENTIAL, 3000, 0, 0)};
    for (int k = 0; k < 3; k++) {
        uint64_t seed = 1;
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += sp_draw_length(&all[k], &seed);
        const double error = sqrt((all[k].square - all[k].mean * all[k].mean) / N);
        assert_true(fabs(sum / N - all[k].mean) < 4 * error + 0.001);
    }
}

static bool load(const char *text, const struct sp_sources *sources, struct sp_lengths *l,
                 struct sp_error *error)
{
    *error = (struct sp_error){0};
    return sp_load_lengths(text, "--input", SP_TRACE_INPUT, sources, l, NULL, error);
}

static void texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } wrong[] = {{"lognorml:2000:0.8", "did you mean \"lognormal\""},
                 {"lognormal:2000:-1", "-1 is out of range, expected from 0 to 5"},
                 {"lognormal:2000", ": expected lognormal:MEAN:SIGMA"},
                 {"lognormal:2000:0.8:3:4", ": expected lognormal:MEAN:SIGMA"},
                 {"lognormal:2000:0.8:0", "the greatest length is from 1 to 1000000000 tokens"},
                 {"512+lognorml:2000:1", "did you mean \"lognormal\""},
                 {"512+1.5", "\"1.5\" is neither a whole number of tokens"},
                 {"lognormal:x:0.8", ": expected lognormal:MEAN:SIGMA"},
                 {"uniform:700:100", "A at most B"},
                 {"exponential:0", "0 is out of range"},
                 {"12.5", "neither a whole number of tokens"},
                 {"a-trace", "neither a whole number of tokens"}};
    struct sp_world world = {0};
    const struct sp_sources sources = {.world = &world};
    struct sp_lengths l;
    struct sp_error error;
    assert_true(load("2k", &sources, &l, &error));
    assert_close(l.mean, 2000, 0);
    assert_true(load("lognormal:2k:0.8", &sources, &l, &error));
    assert_close(l.mean, 2000, 1e-10);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(load(wrong[i].text, &sources, &l, &error));
        if (!strstr(error.text, wrong[i].says))
            fail_msg("%s: %s", wrong[i].text, error.text);
    }
    sp_free_world(&world);
}

static void files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says; /* NULL: it is read */
    } files[] = {
        {"input,output,arrival\n100,10,0\n300,30,0.5\n", NULL},
        {"arrived_at,ContextTokens,GeneratedTokens\n0,100,10\n1,300,30\n", NULL},
        {"100,10\n300,30\n", NULL},
        {"length\n100\n300\n", NULL},
        {"input,output\n", "no line after the header"},
        {"input,output\n100,10\nmany,30\n", "line 3, column input: \"many\" is not a whole"},
        {"input,output\n100,10\n300,0\n", "line 3, column output: \"0\" is not a whole"},
        {"input,output,arrival\n100,10,2\n300,30,1\n", "line 3, column arrival"},
        {"first,second\n100,10\n", "no column input"},
        {"", "empty"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct sp_world world = {0};
        const struct sp_sources sources = {.world = &world};
        struct sp_lengths l;
        struct sp_error error;
        FILE *const file = fopen("./lengths.csv", "w");
        assert_non_null(file);
        assert_true(fputs(files[i].text, file) >= 0);
        assert_int_equal(fclose(file), 0);
        const bool read = load("./lengths.csv", &sources, &l, &error);
        if (files[i].says ? read || !strstr(error.text, files[i].says) : !read)
            fail_msg("%s: %s", files[i].text, error.text);
        if (read)
            assert_close(l.mean, 200, 0);
        sp_free_world(&world);
    }
    assert_int_equal(unlink("./lengths.csv"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments), cmocka_unit_test(greatest), cmocka_unit_test(cuts),
        cmocka_unit_test(traces),  cmocka_unit_test(prompts),  cmocka_unit_test(draws),
        cmocka_unit_test(texts),   cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
