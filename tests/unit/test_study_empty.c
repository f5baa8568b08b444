/* Why a space has no plan, against searches of the spaces with each change. */
#include "asked.h"

#include <string.h>

/* Options that keep the plans of a dimension, in the order of a plan's fields. */
static const char *const fields[] = {"dp", "tp", "pp", "vpp", "cp"};
enum { FIELDS = 5 };

struct problem {
    int devices, batch;
    int most[FIELDS]; /* --max-...; 0: not limited */
    int only[FIELDS]; /* --fix; 0: not fixed */
    const char *model;
};

static struct sp_report *search(const struct problem *p, bool any_memory)
{
    char line[LINE];
    const char *mark = " --fix ";
    int n =
        snprintf(line, sizeof line,
                 "search --model %s --hw h100-%d --batch %dx4096 --fastest --top 1 --threads 1%s",
                 p->model, p->devices, p->batch, any_memory ? " --max-memory 1e18" : "");
    for (int i = 0; i < FIELDS; i++)
        if (p->most[i] > 0)
            n += snprintf(line + n, sizeof line - (size_t)n, " --max-%s %d", fields[i], p->most[i]);
    for (int i = 0; i < FIELDS; i++)
        if (p->only[i] > 0) {
            n +=
                snprintf(line + n, sizeof line - (size_t)n, "%s%s=%d", mark, fields[i], p->only[i]);
            mark = ",";
        }
    struct sp_report *const r = ask(line);
    if (!r)
        fail_msg("refused: %s", line);
    return r;
}

/* Whether there is any plan, fitting or not. */
static bool has_plans(const struct problem *p)
{
    struct sp_report *const r = search(p, true);
    const bool has = !isnan(number(r, "plans.0.time.step_s", 0));
    sp_report_free(r);
    return has;
}

/* The cause and the change that are expected without better problems close by. */
static void explain(const struct problem *p, char *cause, char *change, size_t size)
{
    struct problem other = *p;
    bool any = false;
    for (int i = 0; i < FIELDS; i++) {
        if (p->most[i] == 0 && p->only[i] == 0)
            continue;
        any = true;
        other.most[i] = other.only[i] = 0;
        snprintf(cause, size, "option");
        snprintf(change, size, "other values of %s", fields[i]);
        if (has_plans(&other))
            return;
        other = *p;
    }
    memset(other.most, 0, sizeof other.most);
    memset(other.only, 0, sizeof other.only);
    snprintf(cause, size, "options");
    snprintf(change, size, "none of --fix, --only and --max-...");
    if (any && has_plans(&other))
        return;
    other = *p;
    snprintf(cause, size, "batch");
    for (int by = 1; by <= p->batch && by <= 256; by++)
        for (int up = 0; up < 2; up++) {
            other.batch = up ? p->batch + by : p->batch - by;
            snprintf(change, size, "--batch %dx4096", other.batch);
            if (2 * other.batch >= p->batch && has_plans(&other))
                return;
        }
    other = *p;
    snprintf(cause, size, "devices");
    for (other.devices -= 8; 2 * other.devices >= p->devices; other.devices -= 8) {
        snprintf(change, size, "--idle %d", p->devices - other.devices);
        if (has_plans(&other))
            return;
    }
    snprintf(cause, size, "model");
    change[0] = '\0';
}

static const char *text(const struct sp_report *r, const char *key)
{
    const struct sp_entry *const e = sp_find(r, key);
    const char *const words = e ? sp_entry_text(e) : NULL;
    return words ? words : "";
}

static void causes_by_trying_all(void **state)
{
    (void)state;
    static const char *const causes[] = {"option", "options", "batch", "devices", "model"};
    int seen[5] = {0}, close_by = 0;
    for (int i = 0; i < 110; i++) {
        static const char *const models[] = {"gpt2", "llama3-8b"};
        struct problem p = {.devices = 8 * (1 + (int)draw(14)), .batch = 1 + (int)draw(40)};
        p.model = models[draw(2)];
        for (int f = 0; f < FIELDS; f++)
            if (draw(3) == 0)
                p.most[f] = 1 + (int)draw(3);
            else if (draw(5) == 0)
                p.only[f] = 1 + (int)draw(5);
        if (i % 4 == 0) { /* only what divides counts */
            memset(p.most, 0, sizeof p.most);
            memset(p.only, 0, sizeof p.only);
            p.devices = 8 * (11 + (int)draw(16));
        }
        struct sp_report *const r = search(&p, false);
        const char *const cause = text(r, "empty.cause"), *const change = text(r, "empty.change");
        if (cause[0] && strcmp(cause, "memory") != 0) {
            char want[80], words[80];
            assert_false(has_plans(&p));
            explain(&p, want, words, sizeof want);
            const double batch = number(r, "nearby.batch.sequences", 0),
                         devices = number(r, "nearby.devices.devices", 0);
            if (!isnan(batch))
                snprintf(words, sizeof words, "--batch %.0fx4096", batch);
            else if (!isnan(devices))
                snprintf(words, sizeof words, "--idle %.0f", p.devices - devices);
            if (!isnan(batch) || !isnan(devices))
                snprintf(want, sizeof want, "%s", isnan(batch) ? "devices" : "batch");
            close_by += !isnan(batch) || !isnan(devices);
            if (strcmp(cause, want) != 0 || strcmp(change, words) != 0)
                fail_msg("%s, batch %d on %d: %s (%s), expected %s (%s)", p.model, p.batch,
                         p.devices, cause, change, want, words);
            for (int c = 0; c < 5; c++)
                seen[c] += strcmp(cause, causes[c]) == 0;
        }
        sp_report_free(r);
    }
    print_message("option %d, options %d, batch %d, devices %d, model %d; close by %d\n", seen[0],
                  seen[1], seen[2], seen[3], seen[4], close_by);
    assert_true(seen[0] > 5 && seen[1] > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(causes_by_trying_all)};
    return cmocka_run_group_tests_name("study_empty", tests, NULL, NULL);
}
