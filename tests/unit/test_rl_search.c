/* The search of `rl` against every plan of small spaces, typed one by one. */
#include "check.h"
#include "asked.h"

enum { HOST = 8 };

/* The shortest step that fits among the tried lines. */
struct best {
    double step_s;
    int looked_at, fit;
    char line[LINE + 96];
};

static void look_at(struct best *best, const char *line)
{
    struct sp_report *const r = ask(line);
    const struct sp_entry *const fits = r ? sp_find(r, "memory.fits") : NULL;
    const double step_s = number(r, "step_s", 0);
    best->looked_at++;
    if (fits && fits->number != 0) {
        best->fit++;
        if (step_s < best->step_s) {
            best->step_s = step_s;
            snprintf(best->line, sizeof best->line, "%s", line);
        }
    }
    sp_report_free(r);
}

/* Engines of up to 64 chips, with what the line fixes. */
static void every_engine(struct best *best, const char *fixed, int devices, int experts)
{
    char line[LINE + 96];
    for (int dp = 1; dp <= (experts ? devices : 1); dp *= 2)
        for (int pp = 1; pp <= 16; pp *= 2)
            for (int tp = 1; tp <= 64; tp *= 2) {
                if (devices % (dp * pp * tp) != 0)
                    continue;
                int n = snprintf(line, sizeof line, "%s --gen-tp %d --gen-pp %d", fixed, tp, pp);
                if (dp > 1)
                    n += snprintf(line + n, sizeof line - (size_t)n, " --gen-attention-dp %d", dp);
                look_at(best, line);
                if (!experts || tp == 1 || dp > 1)
                    continue;
                snprintf(line + n, sizeof line - (size_t)n, " --gen-ep %d", tp);
                look_at(best, line);
            }
}

static void every_training(struct best *best, const char *placed, int train, int generate,
                           int experts)
{
    char line[LINE + 64];
    for (int tp = 1; tp <= HOST && tp <= train; tp *= 2)
        for (int ep = 1; ep <= (experts ? experts : 1); ep *= 2) {
            int n = snprintf(line, sizeof line, "%s --pp 1 --tp %d", placed, tp);
            if (experts)
                snprintf(line + n, sizeof line - (size_t)n, " --ep %d", ep);
            every_engine(best, line, generate, experts);
        }
}

/* All splits of the devices, one by one: those of the search's space are machines. */
static void compare(const char *asked, int devices, int ahead, int experts, bool splits)
{
    struct best best = {.step_s = INFINITY};
    char line[LINE];
    every_training(&best, asked, devices, devices, experts);
    for (int train = 1; train < devices && splits; train++)
        for (int stale = 0; stale <= ahead; stale++) {
            snprintf(line, sizeof line, "%s --split %d:%d --stale %d", asked, train,
                     devices - train, stale);
            every_training(&best, line, train, devices - train, experts);
        }
    int n = snprintf(line, sizeof line, "%s --search --pp 1%s", asked, splits ? "" : " --colocate");
    if (ahead > 0)
        snprintf(line + n, sizeof line - (size_t)n, " --stale %d", ahead);
    struct sp_report *const r = ask(line);
    print_message("%s\n%d of %d fit; found in %.0f of %.0f: %.6g s\n", best.line, best.fit,
                  best.looked_at, number(r, "search.tried", 0), number(r, "search.space", 0),
                  best.step_s);
    assert_true(best.fit > 10);
    assert_close(number(r, "step_s", 0), best.step_s, 1e-12);
    assert_true(number(r, "search.tried", 0) <= best.looked_at);
    sp_report_free(r);
}

#define ANSWERS " --prompts 32 --group 16 --output exponential:800"
static void dense(void **state)
{
    (void)state;
    compare("rl --model llama3-8b --hw h100-16" ANSWERS, 16, 0, 0, true);
    compare("rl --model llama3-8b --hw h100-16" ANSWERS, 16, 1, 0, true);
    compare("rl --model qwen3-32b --hw h200-16" ANSWERS, 16, 1, 0, true);
}

static void partial(void **state)
{
    (void)state;
    compare("rl --model llama3-8b --hw h100-8 --partial" ANSWERS, 8, 1, 0, true);
}

/* States that do not sleep take room from the engine: neither side is a bound for the other. */
static void awake(void **state)
{
    (void)state;
    compare("rl --model llama3-8b --hw h200-16 --sleep none" ANSWERS, 16, 0, 0, false);
}

static void experts(void **state)
{
    (void)state;
    compare("rl --model qwen3-30b-a3b --hw h200-8" ANSWERS, 8, 1, 64, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dense), cmocka_unit_test(partial),
                                       cmocka_unit_test(awake), cmocka_unit_test(experts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
