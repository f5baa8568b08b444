/* Problems with tolerances: machines that lost nodes and batches that few replicas share.
 * Tolerances for idle devices and the batch never make a search worse than one of fewer devices or
 * another batch, and the nearby problems that an answer names are what their own searches find. */
#include "asked.h"

#include "draws.h"
#include "study/problem.h"

/* A machine that may have lost nodes, and a batch. */
struct lost {
    const char *model;
    int devices, lost; /* available devices; some of them may stay idle */
    int sequences, seq;
};

/* `.ci/full` asks for 2,000, some ten minutes. */
static int cases(void)
{
    return drawn_problems(240 / one_in(), 150);
}

static struct lost draw_lost(void)
{
    static const char *const models[] = {"llama3-8b", "llama2-13b", "mixtral-8x7b", "llama3-70b"};
    const int nodes = 3 + (int)draw(22);
    return (struct lost){.model = models[draw(16) == 0 ? 2 + draw(2) : draw(2)],
                         .devices = 8 * nodes,
                         .lost = 8 * (int)draw(3),
                         .sequences = 4 * nodes + (int)draw((uint64_t)(20 * nodes)),
                         .seq = 2048 << draw(3)};
}

/* By the estimate alone, because the simplest plan within 1 % of the best defines no order. */
static struct sp_report *search(const struct lost *p, int devices, const char *about, int sequences,
                                int idle)
{
    char line[LINE];
    snprintf(line, sizeof line,
             "search --model %s --hw h100-%d --batch %s%dx%d --idle %d --fastest --top 1 "
             "--threads 1",
             p->model, devices, about, sequences, p->seq, idle);
    return ask(line);
}

/* Sequences per second of the best plan; 0: there is none. */
static double rate_of(const struct sp_report *r)
{
    const double step = number(r, "plans.0.time.step_s", 0);
    return isnan(step) ? 0 : number(r, "taken.sequences", 0) / step;
}

static double rate(const struct lost *p, int devices, const char *about, int sequences, int idle)
{
    struct sp_report *const r = search(p, devices, about, sequences, idle);
    const double found = rate_of(r);
    sp_report_free(r);
    return found;
}

/* A nearby problem that is named: its own search has that step, and it is worth naming. */
static void check_batch_close_by(const struct lost *p, const struct sp_report *r)
{
    const double sequences = number(r, "nearby.batch.sequences", 0);
    const double step = number(r, "nearby.batch.step_s", 0), found = rate_of(r);
    if (isnan(step))
        return;
    struct sp_report *const own = search(p, p->devices, "", (int)sequences, 0);
    assert_true(sp_is_about(sequences, p->sequences));
    assert_true(number(own, "plans.0.time.step_s", 0) == step);
    assert_true(sequences / step > 1.03 * found);
    sp_report_free(own);
}

static void check_lost(const struct lost *p)
{
    struct sp_report *const exact = search(p, p->devices, "", p->sequences, 0);
    const double idle = rate(p, p->devices, "", p->sequences, p->lost);
    const double about = rate(p, p->devices, "~", p->sequences, 0);
    const double both = rate(p, p->devices, "~", p->sequences, p->lost);
    const double least = 1 - 1e-12;
    check_batch_close_by(p, exact);
    assert_true(about >= rate_of(exact) * least);
    assert_true(both >= about * least && both >= idle * least);
    for (int less = 0; less <= p->lost; less += 8) {
        const double fewer = rate(p, p->devices - less, "", p->sequences, 0);
        const double elsewhere = rate(p, p->devices - less, "~", p->sequences, 0);
        if (idle < fewer * least || both < elsewhere * least)
            print_message("%s on %d of %d devices, batch %d of %d: %g and %g, fewer %g and %g\n",
                          p->model, p->devices - less, p->devices, p->sequences, p->seq, idle, both,
                          fewer, elsewhere);
        assert_true(idle >= fewer * least);
        assert_true(both >= elsewhere * least);
    }
    sp_report_free(exact);
}

static void tolerance_is_never_worse(void **state)
{
    (void)state;
    for (int i = 0; i < cases(); i++) {
        const struct lost p = draw_lost();
        check_lost(&p);
    }
}

/* A batch within 5 % that is more than 5 % better, by a search of every one of them, is named, or
 * one nearly as good. (A larger batch alone spreads what does not grow with it, by less than 5 %.)
 */
static void close_by_is_complete(void **state)
{
    (void)state;
    for (int i = 0; i < cases() / 8; i++) {
        struct lost p = draw_lost();
        p.sequences = 16 + p.sequences % 200;
        struct sp_report *const exact = search(&p, p.devices, "", p.sequences, 0);
        const double asked = rate_of(exact), step = number(exact, "nearby.batch.step_s", 0);
        const double named =
            isnan(step) ? asked : number(exact, "nearby.batch.sequences", 0) / step;
        double best = 0;
        for (int b = p.sequences * 9 / 10; b < p.sequences * 11 / 10; b++)
            if (sp_is_about(b, p.sequences))
                best = fmax(best, rate(&p, p.devices, "", b, 0));
        if (best > 1.05 * fmax(asked, named))
            print_message("%s on %d devices, batch %d of %d: %g, named %g, best %g\n", p.model,
                          p.devices, p.sequences, p.seq, asked, named, best);
        assert_true(best <= 1.05 * fmax(asked, named));
        sp_report_free(exact);
    }
}

/* Of fewer devices than 504 = 8 x 63 those with more twos, for a batch that has all odd factors or
 * leaves some, and 432, of which 72 replicas with micro-batches of up to 8 share 504 sequences, 56
 * of 448; the others have neither fewer odd factors, more twos nor more replicas than a larger
 * number. */
static void rounder_by_hand(void **state)
{
    (void)state;
    static const int64_t rounder[] = {504, 496, 480, 448, 432, 384};
    struct sp_hardware hw = {.chips_per_slice = 504, .slices = 1};
    struct sp_variant list[SP_MAX_VARIANTS];
    struct sp_tolerance t = {.least = 378, .batch = 504, .asked = 504, .only_rounder = true};
    hw.network = (struct sp_network){.kind = SP_SWITCHED, .domain = 8, .devices_per_host = 8};
    assert_int_equal(sp_list_variants(&hw, &t, list), 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(list[i].devices, rounder[i]);
    /* 1,024 devices put 61 layers, or 63 with embedding and head, on no number of stages; 1,008 =
     * 16 x 63 on five. */
    const struct sp_model model = {.layers = 61};
    t = (struct sp_tolerance){
        .least = 1000, .batch = 1024, .asked = 1024, .model = &model, .only_rounder = true};
    hw.chips_per_slice = 1024;
    assert_int_equal(sp_list_variants(&hw, &t, list), 2);
    assert_int_equal(list[1].devices, 1008);
}

/* Allowing more idle devices only adds candidates. */
static void fewer_are_looked_at_besides(void **state)
{
    (void)state;
    struct sp_hardware hw = {.chips_per_slice = 2040, .slices = 1};
    struct sp_variant some[SP_MAX_VARIANTS], all[SP_MAX_VARIANTS];
    hw.network = (struct sp_network){.kind = SP_SWITCHED, .domain = 8, .devices_per_host = 8};
    for (int64_t least = 2032; least >= 1024; least -= 8) {
        const struct sp_tolerance t = {.least = least + 8, .batch = 2040},
                                  more = {.least = least, .batch = 2040};
        const int n = sp_list_variants(&hw, &t, some);
        assert_true(sp_list_variants(&hw, &more, all) >= n);
        for (int i = 0; i < n; i++)
            assert_true(all[i].devices == some[i].devices && all[i].batch == some[i].batch);
    }
}

/* 504 = 8 x 63: of the batches within 5 % of 512, only 504 is a multiple of 63 (567 is too
 * far). 512 devices share 640 sequences in every way that any of 608 to 672 does. Of 22 sequences
 * on 160 devices 21 is within 5 % too, which micro-batches of 3 and 7 share, and 23, which only its
 * own divisor does. */
static void variants_by_hand(void **state)
{
    (void)state;
    struct sp_hardware hw = {.chips_per_slice = 504, .slices = 1};
    struct sp_variant list[SP_MAX_VARIANTS];
    struct sp_tolerance t = {.least = 504, .batch = 512, .asked = 512, .batches = true};
    hw.network = (struct sp_network){.kind = SP_SWITCHED, .domain = 8, .devices_per_host = 8};
    int n = sp_list_variants(&hw, &t, list), multiples = 0;
    assert_true(list[0].devices == 504 && list[0].batch == 512);
    for (int i = 1; i < n; i++) {
        assert_true(list[i].batch >= 487 && list[i].batch <= 537);
        multiples += list[i].batch % 63 == 0;
    }
    assert_int_equal(multiples, 1);
    hw.chips_per_slice = t.least = 512;
    t.batch = 640;
    t.asked = 640;
    assert_int_equal(sp_list_variants(&hw, &t, list), 1);
    hw.chips_per_slice = 160;
    struct sp_tolerance few = {.least = 160, .batch = 22, .asked = 22, .batches = true};
    assert_int_equal(sp_list_variants(&hw, &few, list), 2);
    assert_int_equal(list[1].batch, 21);
    hw.chips_per_slice = 512;
    t.batch = 512;
    t.asked = 512;
    t.batches = false;
    t.least = 496;
    n = sp_list_variants(&hw, &t, list); /* 512, 504, 496 */
    assert_int_equal(n, 3);
    assert_int_equal(list[2].devices, 496);
    t.only_rounder = true; /* 2^9: nothing below is rounder */
    assert_int_equal(sp_list_variants(&hw, &t, list), 1);
}

/* The fewest devices are the same by `search --find` and by `need`, exactly and about. */
static void need_and_find_agree(void **state)
{
    (void)state;
    static const char *const problems[] = {"--model llama3-8b --batch 512x8192 --tokens 2T",
                                           "--model llama3-8b --batch ~500x8192 --tokens 2T",
                                           "--model llama2-13b --batch 480x4096 --tokens 1T",
                                           "--model llama2-13b --batch 1024x8192 --tokens 8T"};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        char line[LINE];
        snprintf(line, sizeof line, "search %s --hw h100 --find devices --days 60", problems[i]);
        struct sp_report *const r = ask(line);
        const double found = number(r, "answer", 0), fewer = number(r, "nearby.devices.devices", 0);
        sp_report_free(r);
        snprintf(line, sizeof line, "need %s --hw h100-64 --for days=60 --vary chips", problems[i]);
        assert_true(found > 1);
        struct sp_report *const need = ask(line);
        const double chips = number(need, "nearby.chips.devices", 0);
        assert_true(number(need, "need.0.needed", 0) == found);
        assert_true(chips == fewer || (isnan(chips) && isnan(fewer)));
        sp_report_free(need);
    }
}

/* Whether a search over this many devices finds a plan, by its own count of the plan's bytes. */
static bool fits_on(const char *problem, const char *chip, int devices)
{
    char line[LINE];
    snprintf(line, sizeof line, "search %s --hw %s-%d --fastest --top 1 --threads 1", problem, chip,
             devices);
    return !isnan(ask_for(line, "plans.0.time.step_s"));
}

/* If the devices are too few for any plan, the search names the fewest that suffice; no search
 * finds a plan on fewer, whatever part of the model is trained. */
static void fewest_are_fewest(void **state)
{
    (void)state;
    static const char *const models[] = {"llama3-8b", "llama2-13b", "mixtral-8x7b", "llama3-70b"},
                             *const chips[] = {"h100", "h200", "v5p"},
                             *const trained[] = {"", "--lora-rank 16", "--lora-rank 64",
                                                 "--trainable last:4",
                                                 "--lora-rank 16 --base-format nf4"};
    for (int i = 0; i < cases() / 2; i++) {
        char problem[LINE / 2], line[LINE];
        const char *const chip = chips[draw(3)];
        snprintf(problem, sizeof problem, "--model %s %s --batch 16x%d", models[draw(4)],
                 trained[draw(5)], 2048 << draw(3));
        snprintf(line, sizeof line, "search %s --hw %s-1 --fastest --threads 1", problem, chip);
        struct sp_report *const r = ask(line);
        const struct sp_entry *const change = sp_find(r, "empty.change");
        const char *const text = sp_entry_text(change), *const named =
                                                            text ? strrchr(text, '-') : NULL;
        const int fewest = named ? atoi(named + 1) : 16;
        for (int n = 1; n < fewest && !fits_on(problem, chip, 1); n *= 2) {
            if (fits_on(problem, chip, n))
                print_message("%s: a plan on %d, the fewest %d\n", line, n, fewest);
            assert_false(fits_on(problem, chip, n));
        }
        assert_true(!named || fits_on(problem, chip, fewest));
        sp_report_free(r);
    }
}

int main(void)
{
    drawn = drawn_seed(drawn);
    const struct CMUnitTest tests[] = {cmocka_unit_test(tolerance_is_never_worse),
                                       cmocka_unit_test(close_by_is_complete),
                                       cmocka_unit_test(variants_by_hand),
                                       cmocka_unit_test(rounder_by_hand),
                                       cmocka_unit_test(fewer_are_looked_at_besides),
                                       cmocka_unit_test(need_and_find_agree),
                                       cmocka_unit_test(fewest_are_fewest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
