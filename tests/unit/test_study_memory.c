/* The closed form of a device's memory by hand: states over the degrees and by ZeRO's stages, a
 * teacher or a reference beside them, and parts that are moved away. */
#include "asked.h"

#include <string.h>

/* Llama 3 8B: 8,030,261,248 parameters of 2 bytes, 2 of gradients, and 12 of master weights and
 * moments; 128,256 logits. */
static const double P = 8030261248, logits = 128256;

struct spread_of {
    int dp, tp, cp, pp, zero, micro; /* micro 0: the whole part of a replica */
};

static struct spread_of draw_spread(void)
{
    /* one by one: the order in which compilers evaluate a list of them is not said */
    struct spread_of s = {.dp = 1 << draw(4)};
    s.tp = 1 << draw(3);
    s.cp = 1 << draw(3);
    s.pp = 1 << draw(3);
    s.zero = (int)draw(4);
    s.micro = draw(2) ? 1 << draw(2) : 0;
    return s;
}

static struct sp_report *memory_of(const struct spread_of *s, const char *more)
{
    char line[LINE], micro[40] = "";
    if (s->micro > 0)
        snprintf(micro, sizeof micro, " --micro-batch %d", s->micro);
    snprintf(line, sizeof line,
             "memory --model llama3-8b --batch 64x4096 --dp %d --tp %d --cp %d --pp %d --zero %d "
             "--in-flight 1%s%s",
             s->dp, s->tp, s->cp, s->pp, s->zero, micro, more);
    struct sp_report *const r = ask(line);
    if (!r)
        fail_msg("refused: %s", line);
    return r;
}

/* Tokens of a device at once. */
static double tokens_of(const struct spread_of *s)
{
    return (s->micro > 0 ? s->micro * 4096.0 : 64 * 4096.0 / s->dp) / s->cp;
}

/* Bytes of a state of so many per parameter, which ZeRO divides from a stage on. */
static double state(const struct spread_of *s, double bytes, int from)
{
    return bytes * P / (s->tp * s->pp) / (s->zero >= from ? s->dp * s->cp : 1);
}

static void states_and_what_is_beside(void **state_of_test)
{
    (void)state_of_test;
    static const char *const beside[] = {"", " --reference llama3-8b", " --teacher llama3-8b",
                                         " --teacher llama3-8b --teacher-top-k 100"};
    /* a teacher's logits in 2 bytes, or its largest 100 with their places in 4 more */
    static const double bytes[] = {0, 0, 2, 0}, top[] = {0, 0, 0, 6 * 100};
    for (int i = 0; i < 300; i++) {
        const struct spread_of s = draw_spread();
        const size_t b = draw(4);
        struct sp_report *const r = memory_of(&s, beside[b]);
        const double weights = state(&s, 2, 3),
                     activations = number(r, "memory.activations_bytes", 0);
        const double companions =
            (b > 0 ? weights : 0) + (bytes[b] * logits + top[b]) * tokens_of(&s) / s.tp;
        assert_close(number(r, "memory.params_bytes", 0), weights, 1e-12);
        assert_close(number(r, "memory.grads_bytes", 0), state(&s, 2, 2), 1e-12);
        assert_close(number(r, "memory.optimizer_bytes", 0), state(&s, 12, 1), 1e-12);
        assert_close(number(r, "memory.buffers_bytes", 0), companions, 1e-12);
        assert_close(number(r, "memory.total_bytes", 0),
                     weights + state(&s, 2, 2) + state(&s, 12, 1) + activations + companions,
                     1e-12);
        sp_report_free(r);
    }
}

/* Activations grow with the tokens of a device and shrink with TP and stages; the bytes of a token
 * and layer times 32 layers. */
static void activations_by_tokens(void **state_of_test)
{
    (void)state_of_test;
    for (int i = 0; i < 100; i++) {
        const struct spread_of s = draw_spread();
        struct sp_report *const r = memory_of(&s, "");
        const double each = number(r, "activation_bytes_per_token_layer", 0);
        assert_close(number(r, "memory.activations_bytes", 0),
                     each * tokens_of(&s) * 32 / (s.tp * s.pp), 1e-12);
        sp_report_free(r);
    }
}

/* A part that is moved away leaves the device, and its links carry it; the hosts hold all of it. */
static void parts_moved_away(void **state_of_test)
{
    (void)state_of_test;
    static const char *const parts[] = {"optimizer", "params", "activations"},
                             *const keys[] = {"memory.optimizer_bytes", "memory.params_bytes",
                                              "memory.activations_bytes"};
    for (int i = 0; i < 60; i++) {
        struct spread_of s = draw_spread();
        char more[80];
        const size_t part = draw(3);
        snprintf(more, sizeof more, " --offload-part %s --offload-bandwidth 50GB/s", parts[part]);
        struct sp_report *const all = memory_of(&s, ""), *const r = memory_of(&s, more);
        const double freed = number(all, keys[part], 0);
        assert_close(number(r, keys[part], 0), 0, 0);
        assert_close(number(r, "offload.freed_bytes", 0), freed, 1e-12);
        assert_close(number(r, "memory.total_bytes", 0),
                     number(all, "memory.total_bytes", 0) - freed, 1e-12);
        for (size_t k = 0; k < 3; k++)
            if (k != part)
                assert_close(number(r, keys[k], 0), number(all, keys[k], 0), 1e-12);
        sp_report_free(all);
        sp_report_free(r);
    }
}

/* Korthikanti et al. 2022, table 2: s b h (10 + 24 / t + 5 a s / (h t)) bytes of a layer with TP,
 * all over t with sequence parallelism, without the last term if the core is recomputed, and 2 s b
 * h of full recomputation. GPT-3 175B: 96 layers, h 12,288, a 96, s 2,048. */
static void by_the_gpt_rule(void **state_of_test)
{
    (void)state_of_test;
    static const struct {
        const char *remat, *parallel;
        double fixed, divided, core;
    } rows[] = {{"none", "off", 10, 24, 5},
                {"selective", "off", 10, 24, 0},
                {"none", "on", 0, 34, 5},
                {"selective", "on", 0, 34, 0},
                {"full", "off", 2, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int t = 2; t <= 8; t *= 2) {
            char line[LINE];
            snprintf(line, sizeof line,
                     "memory --model gpt3-175b --rule korthikanti --remat %s --sp %s --tp %d "
                     "--micro-batch 2 --batch 16x2048 --dp 8",
                     rows[i].remat, rows[i].parallel, t);
            const double sbh = 2048.0 * 2 * 12288;
            const double layer =
                sbh * (rows[i].fixed + rows[i].divided / t + rows[i].core * 96 * 2048 / 12288 / t);
            assert_close(ask_for(line, "memory.activations_bytes"), 96 * layer, 1e-12);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_and_what_is_beside),
        cmocka_unit_test(activations_by_tokens),
        cmocka_unit_test(parts_moved_away),
        cmocka_unit_test(by_the_gpt_rule),
    };
    return cmocka_run_group_tests_name("study_memory", tests, NULL, NULL);
}
