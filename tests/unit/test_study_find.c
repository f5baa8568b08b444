/* Inverse questions of a search against a search of every size, by its own command. */
#include "asked.h"

#include <string.h>

/* A search for plans that fit; 5 % of the memory stay free, so that none counts as tight. */
static double step_of(const char *model, const char *hw, int devices, int batch, int seq,
                      const char *more)
{
    char line[LINE];
    snprintf(line, sizeof line,
             "search --model %s --hw %s-%d --batch %dx%d --headroom 5%% --top 1 --max-pp 2 "
             "--threads 1%s",
             model, hw, devices, batch, seq, more);
    const double step = ask_for(line, "plans.0.time.step_s");
    return isnan(step) ? INFINITY : step;
}

struct sizes {
    const char *model;
    int devices, batch, seq;
    double most; /* s; INFINITY: not asked */
};

static struct sp_report *find(const struct sizes *p, const char *what)
{
    char line[LINE], limit[60] = "", hw[40] = "h100";
    if (isfinite(p->most))
        snprintf(limit, sizeof limit, " --max-step %.17gs", p->most);
    if (p->devices > 0)
        snprintf(hw, sizeof hw, "h100-%d", p->devices);
    snprintf(
        line, sizeof line,
        "search --model %s --hw %s --batch %dx%d --headroom 5%% --max-pp 2 --threads 1 --find %s%s",
        p->model, hw, p->batch, p->seq, what, limit);
    struct sp_report *const r = ask(line);
    assert_non_null(r);
    return r;
}

static const char *const models[] = {"gpt2", "llama3-8b", "llama2-7b"};

/* The answer, and the step there; NAN: none. */
static void check(const struct sizes *p, const char *what, double want, double step)
{
    struct sp_report *const r = find(p, what);
    const double found = number(r, "answer", 0);
    if (!(found == want || (isnan(found) && isnan(want))))
        fail_msg("--find %s: %s on %d devices, %d x %d within %.17g: %g, expected %g", what,
                 p->model, p->devices, p->batch, p->seq, p->most, found, want);
    if (!isnan(want)) {
        assert_close(number(r, "answer_step_s", 0), step, 0);
        assert_true(sp_find(r, "proven")->number != 0 || strcmp(what, "seq") == 0);
    }
    sp_report_free(r);
}

/* The least of the offered parts of a node, and of whole nodes. */
static void fewest_devices(void **state)
{
    (void)state;
    int answers = 0;
    for (int i = 0; i < 11; i++) {
        struct sizes p = {models[draw(3)], 0, 8 + (int)draw(40), 1024 << draw(3), 0};
        double want = NAN, step = NAN;
        p.most = spread(0.2, 4);
        for (int n = 1; n <= 128 && isnan(want); n += n < 8 ? n : 8) {
            step = step_of(p.model, "h100", n, p.batch, p.seq, "");
            if (step <= p.most)
                want = n;
        }
        if (isnan(want))
            continue;
        answers++;
        check(&p, "devices", want, step);
        p.most = step; /* exactly as long is soon enough */
        check(&p, "devices", want, step);
    }
    assert_true(answers > 5);
}

static void largest_batch(void **state)
{
    (void)state;
    int answers = 0;
    for (int i = 0; i < 12; i++) {
        struct sizes p = {models[draw(3)], 1 + (int)draw(8), 8, 1024 << draw(3), 0};
        double want = NAN, step = NAN;
        const double one = step_of(p.model, "h100", p.devices, p.devices, p.seq, "");
        if (isinf(one))
            continue;
        p.most = one * spread(1, 4);
        for (int batch = 1; batch <= 6 * p.devices; batch++) {
            const double s = step_of(p.model, "h100", p.devices, batch, p.seq, "");
            if (s <= p.most) {
                want = batch;
                step = s;
            }
        }
        if (want > 5 * p.devices)
            continue; /* a larger one may do */
        answers++;
        check(&p, "batch", want, step);
    }
    assert_true(answers > 3);
}

/* The deepest model of the same width. */
static void most_layers(void **state)
{
    (void)state;
    int answers = 0;
    for (int i = 0; i < 6; i++) {
        struct sizes p = {models[1 + draw(2)], 2 + 2 * (int)draw(2), 8, 2048, INFINITY};
        double want = NAN, step = NAN;
        if (draw(2))
            p.most = spread(0.3, 1);
        for (int layers = 1; layers <= 80; layers++) {
            char depth[60];
            snprintf(depth, sizeof depth, " --set model.layers=%d", layers);
            const double s = step_of(p.model, "h100", p.devices, p.batch, p.seq, depth);
            if (s <= p.most && isfinite(s)) {
                want = layers;
                step = s;
            }
        }
        if (want > 76)
            continue;
        answers++;
        check(&p, "model", want, step);
    }
    assert_true(answers > 3);
}

/* The longest sequences, in steps of 1,024 tokens, with as large a power of two of them as the
 * batch's tokens hold. Beyond twice the longest power of two that is short enough, times 1 or the
 * odd part of the devices, none is tried. */
static void longest_sequence(void **state)
{
    (void)state;
    int answers = 0;
    for (int i = 0; i < 12; i++) {
        static const int devices[] = {2, 3, 4, 6, 8};
        struct sizes p = {models[1 + draw(2)], devices[draw(5)], 8 << draw(2), 2048, INFINITY};
        double step[65], want = NAN;
        int most = 0;
        if (draw(4))
            p.most = spread(0.5, 3);
        for (int k = 1; k <= 64; k++) {
            int batch = 1;
            while (2 * batch * k * 1024 <= p.batch * p.seq)
                batch *= 2;
            step[k] = step_of(p.model, "h100", p.devices, batch, 1024 * k, "");
            if (step[k] > p.most)
                step[k] = INFINITY;
        }
        for (int odd = 1; odd <= 3; odd += 2)
            for (int k = odd; k <= 64 && (odd == 1 || p.devices % 3 == 0); k *= 2)
                if (isfinite(step[k]) && 2 * k > most)
                    most = 2 * k;
        if (most == 0 || most > 64)
            continue;
        for (int k = 1; k <= most; k++)
            if (isfinite(step[k]))
                want = 1024 * k;
        answers++;
        check(&p, "seq", want, step[(int)want / 1024]);
    }
    assert_true(answers > 3);
}

/* Replicas of one device each divide a batch of a power of two only if they are one too. The first
 * that is fast enough is proven as long as every number of nodes is tried, up to twice a power of
 * two between 64 and 1,024; where some are left out, none is. */
static void proven_up_to_gaps(void **state)
{
    (void)state;
    int proven = 0, left_out = 0;
    static const int sizes[] = {64, 512, 32768};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int devices = sizes[i];
        char line[LINE];
        const double slower =
                         step_of("gpt2", "h100", devices / 2, 65536, 1024, " --fix tp=1,cp=1,pp=1"),
                     step = step_of("gpt2", "h100", devices, 65536, 1024, " --fix tp=1,cp=1,pp=1");
        assert_true(slower > step * 1.001); /* else the network takes longer */
        snprintf(line, sizeof line,
                 "search --model gpt2 --hw h100 --batch 65536x1024 --headroom 5%% --max-pp 2 "
                 "--threads 1 --fix tp=1,cp=1,pp=1 --find devices --max-step %.17gs",
                 step);
        struct sp_report *const r = ask(line);
        const bool is_proven = sp_find(r, "proven")->number != 0;
        assert_close(number(r, "answer", 0), devices, 0);
        assert_true(devices > 2 * 64 * 8 - 8 || is_proven);
        assert_true(devices <= 2 * 1024 * 8 || !is_proven);
        proven += is_proven;
        left_out += !is_proven;
        sp_report_free(r);
    }
    assert_true(proven == 2 && left_out == 1);
    /* 3,144 = 8 x 3 x 131 sequences: of 131 nodes all smaller numbers are tried */
    char line[LINE];
    const double step = step_of("gpt2", "h100", 1048, 3144, 1024, " --fix tp=1,cp=1,pp=1");
    snprintf(line, sizeof line,
             "search --model gpt2 --hw h100 --batch 3144x1024 --headroom 5%% --max-pp 2 "
             "--threads 1 --fix tp=1,cp=1,pp=1 --find devices --max-step %.17gs",
             step);
    struct sp_report *const r = ask(line);
    assert_close(number(r, "answer", 0), 1048, 0);
    assert_true(sp_find(r, "proven")->number != 0);
    sp_report_free(r);
}

/* Up to 10^8 sequences and 10^15 tokens: sizes that are tried are at most a 64th apart there. */
static void largest_of_all(void **state)
{
    (void)state;
    const double found =
        ask_for("search --model gpt2 --hw h200-64 --batch 64x100000 --threads 1 --find batch "
                "--max-step 1e9s",
                "answer");
    assert_true(found <= 1e8 && found > 1e8 * (1 - 1 / 64.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewest_devices),    cmocka_unit_test(largest_batch),
        cmocka_unit_test(most_layers),       cmocka_unit_test(longest_sequence),
        cmocka_unit_test(proven_up_to_gaps), cmocka_unit_test(largest_of_all),
    };
    return cmocka_run_group_tests_name("study_find", tests, NULL, NULL);
}
