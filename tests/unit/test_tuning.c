/* FLOPs and memory of tuning: by hand, and as properties of random plans. */
#include "asked.h"

#include <stdlib.h>

#include <scaleplan/estimate.h>
#include <scaleplan/flops.h>
#include <scaleplan/memory.h>

enum { CASES = 60 };

/* Llama 3 8B: a layer has 2 x 4096^2 + 2 x 4096 x 1024 + 3 x 4096 x 14336 weights in matmuls and
 * two norms of 4096; the tables have 128256 x 4096 each. */
static const double layer = 218103808, norms = 8192, table = 525336576, llama = 8030261248;

/* The last 4 of 32 layers: 6 FLOPs there, 4 in the head, 2 below; the frozen table and norms none.
 */
static void last_layers(void **unused)
{
    (void)unused;
    const char *const line = "flops --model llama3-8b --trainable last:4";
    assert_close(ask_for(line, "trained_params"), 4 * (layer + norms), 0);
    assert_close(ask_for(line, "params.frozen"), llama - 4 * (layer + norms), 0);
    const double flops = 4 * table + 6 * 4 * (layer + norms) + 2 * 28 * layer;
    assert_close(ask_for(line, "flops_factor"), flops / llama, 1e-14);
}

/* Layers below the last 4 in nf4: 0.5625 bytes of each weight of their matmuls, 2 of norms and
 * tables; each is widened once a micro-batch, 0.5625 bytes read and 2 written at 3.35 TB/s. */
static void packed_layers(void **unused)
{
    (void)unused;
    static const char *const keys[] = {"memory.base_bytes", "time.matmul_s"};
    const char *const line = "step --model llama3-8b --hw h100-1 --batch 3x1024 --remat none "
                             "--micro-batch 1 --trainable last:4";
    char with[200];
    snprintf(with, sizeof with, "%s --base-format nf4", line);
    const double rest = 2 * (28 * norms + 2 * table + 4096);
    assert_close(ask_for(line, keys[0]), 2 * 28 * layer + rest, 1e-15);
    assert_close(ask_for(with, keys[0]), 0.5625 * 28 * layer + rest, 1e-15);
    assert_close(ask_for(with, keys[1]) - ask_for(line, keys[1]), 3 * 28 * layer * 2.5625 / 3.35e12,
                 1e-6);
    assert_close(ask_for("memory --model llama3-8b --trainable none --base-format nf4",
                         "memory.states_bytes"),
                 0.5625 * 32 * layer + 2 * (32 * norms + 2 * table + 4096), 1e-15);
}

/* Nothing trained: 2 FLOPs per parameter, no gradients, optimizer or kept activations. */
static void nothing_trained(void **unused)
{
    (void)unused;
    const char *const line =
        "step --model llama3-8b --hw h100-8 --batch 8x8192 --zero 0 --trainable none";
    assert_close(ask_for(line, "flops_factor"), 2 * (table + 32 * layer) / llama, 1e-14);
    assert_close(ask_for(line, "memory.grads_bytes"), 0, 0);
    assert_close(ask_for(line, "memory.optimizer_bytes"), 0, 0);
    assert_close(ask_for(line, "memory.params_bytes"), 2 * llama, 0);
}

/* The states of adapters of rank 16 on all projections of Llama 3 8B, by ZeRO 0 and by mixed16: 16
 * bytes each of R times both widths; the rest 2 bytes, or 0.5625 in the layers' matmuls. */
static void states_of_adapters(void **unused)
{
    (void)unused;
    const double in = 4096, kv = 1024, f = 14336;
    const double adapters = 32 * 16 * (2 * (in + in) + 2 * (in + kv) + 3 * (in + f));
    const char *const plain = "memory --model llama3-8b --precision mixed16 --lora-rank 16",
                      *const packed = "memory --model llama3-8b --precision mixed16 --lora-rank 16 "
                                      "--base-format nf4";
    assert_close(ask_for(plain, "memory.states_bytes"), 16 * adapters + 2 * llama, 1e-15);
    assert_close(ask_for(packed, "memory.states_bytes"),
                 16 * adapters + 2 * (llama - 32 * layer) + 0.5625 * 32 * layer, 1e-15);
    assert_close(ask_for(packed, "memory.grads_bytes"), 2 * adapters, 1e-15);
}

/* FSDP of adapters: weights are gathered in both passes, whose work is 2 P and 2 P, so that the
 * threshold is that of all weights trained but for the adapters. DP sends only their gradients, 4
 * bytes each in all, against 2 FLOPs for each of the weights in matmuls. Llama 2 7B, rank 1 on
 * queries. */
static void closed_forms(void **unused)
{
    (void)unused;
    const char *const all = "fit --model llama2-7b --hw v5p-64 --batch 4M",
                      *const some = "fit --model llama2-7b --hw v5p-64 --batch 4M --lora-rank 1 "
                                    "--lora-targets q";
    assert_close(ask_for(some, "critical.fsdp.1"), ask_for(all, "critical.fsdp.1"), 0.02);
    const double P = 6738415616, matmuls = 6607077376, A = 32 * 8192;
    const double whole = ask_for(all, "strategies.dp.critical_tokens_per_chip");
    assert_close(ask_for(some, "strategies.dp.critical_tokens_per_chip"),
                 whole * 4 * A / (2 * matmuls + 4 * A), 1e-12);
    assert_close(ask_for(some, "strategies.dp.t_math_s"),
                 ask_for(all, "strategies.dp.t_math_s") * (4 * matmuls + 6 * A) / (6 * P), 1e-12);
}

/* A reference adds a step with nothing trained and 2 bytes a weight, which the allocator's slack
 * multiplies; shared with the adapters' base, no bytes; stored answers, nothing. Work: (6 + 2) P a
 * token for (6) P, scores likewise, and tables have no matmul. */
static void references(void **unused)
{
    (void)unused;
    const char *const alone =
        "step --model llama3-8b --hw h100-8 --batch 16x8192 --zero 1 --remat none --micro-batch 1";
    static const char *const keys[] = {"step_s", "memory.live_bytes"};
    char with[400];
    double plain[2], held[2], none[2];
    snprintf(with, sizeof with, "%s --reference llama3-8b", alone);
    for (int k = 0; k < 2; k++) {
        plain[k] = ask_for(alone, keys[k]);
        held[k] = ask_for(with, keys[k]);
    }
    assert_close(ask_for(with, "reference.flops_per_token"), 2 * llama, 0);
    assert_close(ask_for(with, "reference.pairs"), 8, 0);
    assert_close(ask_for(with, "hfu") * held[0] / (ask_for(alone, "hfu") * plain[0]), 8. / 6,
                 1e-12);
    snprintf(with, sizeof with, "%s --trainable none", alone);
    none[0] = ask_for(with, keys[0]);
    assert_close(held[0], plain[0] + none[0], 1e-14);
    assert_close(held[1], plain[1] + 2 * llama, 1e-14);
    snprintf(with, sizeof with, "%s --reference precomputed", alone);
    assert_close(ask_for(with, keys[0]), plain[0], 0);
    assert_close(ask_for(with, keys[1]), plain[1], 0);
    snprintf(with, sizeof with, "%s --lora-rank 8", alone);
    plain[1] = ask_for(with, keys[1]);
    plain[0] = ask_for(with, keys[0]);
    snprintf(with, sizeof with, "%s --lora-rank 8 --reference llama3-8b:shared-base", alone);
    assert_close(ask_for(with, keys[1]), plain[1], 0);
    assert_close(ask_for(with, keys[0]), plain[0] + none[0], 1e-14);
}

/* Collectives of TP 8: attention and MLP gather and scatter in both passes, and gather their inputs
 * once more if something is trained on them (Korthikanti et al. 2022, section 4.2.2): 10 of a
 * layer, 9 where only attention learns, 4 of a forward pass. */
static void collectives_of_what_learns(void **unused)
{
    (void)unused;
    static const char *const keys[] = {"", " --trainable attention", " --trainable none"};
    static const double of_ten[] = {10, 9, 4};
    double s[3];
    for (int i = 0; i < 3; i++) {
        char line[300];
        snprintf(line, sizeof line,
                 "step --model llama2-70b --hw h100-8 --batch 8x8192 --tp 8 --zero 1 --remat none "
                 "--micro-batch 1%s",
                 keys[i]);
        s[i] = ask_for(line, "time.tp_comm_s");
        assert_close(s[i] / s[0], of_ten[i] / 10, 1e-12);
    }
}

/* Adapters under TP 8 against TP 1 and eight replicas, the same tokens on eight devices. Beside a
 * matmul whose rows are split all that they read and write is split, so that they cost about the
 * same: half a tile more of narrower sides. Beside one whose columns are split every device reads
 * the whole input, which are rows that eight times as many devices read: A's product reads
 * nothing but that, so that the cost is more but below eight times as much. */
static void adapters_under_tp(void **unused)
{
    (void)unused;
    static const char *const targets[] = {"q", "q,o", "q,k"};
    double s[2][3];
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 3; i++) {
            char line[300];
            snprintf(line, sizeof line,
                     "step --model llama2-70b --hw h100-8 --batch 8x8192 --tp %d --zero 1 --remat "
                     "none --lora-targets %s",
                     t ? 8 : 1, targets[i]);
            s[t][i] = ask_for(line, "time.matmul_s");
        }
    assert_close(s[1][1] - s[1][0], s[0][1] - s[0][0], 0.15);
    assert_true(s[1][2] - s[1][0] < 8 * (s[0][2] - s[0][0]));
}

/* Memory traffic of an adapter of rank 1 beside the output projection, on a chip so fast at
 * arithmetic that only traffic takes time: forward A reads the input, B writes its output, which is
 * read and written to be scaled, and read with the matmul's to write the sum, 1 + 1 + 2 + 3
 * tensors; backward each product twice, the scaling, and the sum of two gradients, 4 + 2 + 3. 16
 * tensors of 4096 numbers in 2 bytes for each of 8192 tokens and 32 layers. */
static void memory_of_adapters(void **unused)
{
    (void)unused;
    static const char *const targets[] = {"k", "k,o"};
    double s[2];
    for (int i = 0; i < 2; i++) {
        char line[400];
        snprintf(line, sizeof line,
                 "step --model llama3-8b --hw h100-8 --batch 8x8192 --zero 1 --remat none "
                 "--lora-rank 1 --set hw.chip.peak_flops_per_s.bf16=1e18 --lora-targets %s",
                 targets[i]);
        s[i] = ask_for(line, "time.matmul_s");
    }
    const double tensor = 2. * 4096 * 8192 / 3.35e12;
    assert_close(s[1] - s[0], 32 * 16 * tensor, 2e-3);
}

/* Adapters are faster than full training on every split of eight devices: the model computes
 * a third less, and its adapters take less than that. Except for what the host issues, 83
 * operations' time a layer in place of 60, unless graphs hold them, and for the gaps between 53
 * kernels in place of 30: a small model on eight ranks waits for either. */
static void adapters_are_faster(void **unused)
{
    (void)unused;
    static const char *const names[] = {"llama3-8b --cuda-graph full", "llama2-70b",
                                        "qwen2.5-32b --cuda-graph full"};
    for (int m = 0; m < 3; m++)
        for (int tp = 1; tp <= (m == 0 ? 4 : 8); tp *= 2) {
            char line[300], with[340];
            snprintf(line, sizeof line,
                     "step --hw h100-8 --batch 8x8192 --tp %d --zero 1 --remat none --micro-batch "
                     "1 --model %s",
                     tp, names[m]);
            snprintf(with, sizeof with, "%s --lora-rank 16", line);
            assert_true(ask_for(with, "step_s") < ask_for(line, "step_s"));
        }
}

/* The same holds on every split with the micro-batch and recomputation that `step` takes for each.
 */
static void adapters_at_their_best(void **unused)
{
    (void)unused;
    static const char *const names[] = {"llama3-8b", "llama2-70b", "qwen2.5-32b"};
    for (int m = 0; m < 3; m++)
        for (int tp = 1; tp <= 8; tp *= 2) {
            char line[200], with[240];
            snprintf(line, sizeof line, "step --hw h100-8 --batch 8x8192 --tp %d --model %s", tp,
                     names[m]);
            snprintf(with, sizeof with, "%s --lora-rank 16", line);
            assert_true(ask_for(with, "step_s") < ask_for(line, "step_s"));
        }
}

/* A teacher's logits stay until the loss: 2 bytes of 128256 for each of 8192 tokens, or 6 of 100.
 */
static void teachers(void **unused)
{
    (void)unused;
    const char *const alone =
        "step --model llama3-8b --hw h100-8 --batch 16x8192 --zero 1 --remat none --micro-batch 1";
    char with[400];
    const double plain = ask_for(alone, "memory.live_bytes");
    snprintf(with, sizeof with, "%s --teacher llama3-8b", alone);
    assert_close(ask_for(with, "memory.live_bytes"), plain + 2 * llama + 2. * 128256 * 8192, 1e-14);
    snprintf(with, sizeof with, "%s --teacher llama3-8b --teacher-top-k 100", alone);
    assert_close(ask_for(with, "memory.live_bytes"), plain + 2 * llama + 6. * 100 * 8192, 1e-14);
    snprintf(with, sizeof with, "%s --teacher llama3-8b:offloaded", alone);
    assert_true(ask_for(with, "memory.live_bytes") < plain + 2 * llama);
    assert_true(ask_for(with, "step_s") > ask_for(alone, "step_s"));
}

/* Models that wait in the host come one after the other, in the room that activations leave: for
 * the largest, an eighth of 2 bytes per parameter on each of 8 devices, less the activations'
 * memory. Held ones come on top. */
static void offloaded(void **unused)
{
    (void)unused;
    const char *const alone =
        "step --model llama3-8b --hw h100-8 --batch 16x8192 --zero 3 --micro-batch 1 --remat full";
    const double logits = 2. * 128256 * 8192, small = 2 * 8030261248. / 8,
                 large = 2 * 70553706496. / 8;
    const double kept = ask_for(alone, "memory.activations_bytes"),
                 plain = ask_for(alone, "memory.buffers_bytes");
    const struct {
        const char *beside;
        double more;
    } all[] = {
        {"--teacher llama3-8b:offloaded", logits},
        {"--reference llama3-8b:offloaded", 0},
        {"--reference llama3-70b:offloaded", large - kept},
        {"--teacher llama3-70b:offloaded", logits + large - kept},
        {"--teacher llama3-70b:offloaded --reference llama3-8b:offloaded", logits + large - kept},
        {"--teacher llama3-8b:offloaded --reference llama3-70b:offloaded", logits + large - kept},
        {"--teacher llama3-70b:offloaded --reference llama3-8b", logits + large - kept + small},
        {"--teacher llama3-8b:offloaded --reference llama3-8b", logits + small},
    };
    assert_true(small < kept && kept < large);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char with[400];
        snprintf(with, sizeof with, "%s %s", alone, all[i].beside);
        assert_close(ask_for(with, "memory.buffers_bytes"), plain + all[i].more, 1e-12);
    }
}

/* Lines of the commands that support tuning, and keys that never decrease as more is trained. */
static const struct {
    const char *line, *keys[4];
} commands[] = {
    {"step --model %s --hw h100-64 --batch 256x4096 --tp %d --pp %d --zero %d --remat none "
     "--micro-batch 1",
     {"step_s", "memory.device_bytes", "trained_params", "flops_factor"}},
    {"memory --model %s --hw h100-64 --dp 8 --tp %d --pp %d --zero %d --remat none",
     {"memory.total_bytes", "memory.states_bytes", "trained_params"}},
    {"flops --model %s --batch 64x4096", {"trained_params", "flops_factor"}},
    {"train --model %s --hw h100-64 --tokens 1T --mfu 0.4", {"days", "checkpoint.bytes"}},
    {"fit --model %s --hw h100-64 --batch 4M", {"best.step_s", "strategies.fsdp.t_math_s"}},
    {"search --model %s --hw h100-8 --batch 64x4096 --top 1", {"machines.0.step_s"}},
};
enum { COMMANDS = sizeof commands / sizeof *commands, KEYS = 4 };
static const char *const models[] = {"llama2-7b", "llama3-8b", "qwen2.5-32b", "mixtral-8x7b",
                                     "gemma-7b"};

/* A line of the command at that place. */
static void random_line(int at, char line[400])
{
    static const int stages[] = {0, 1, 3};
    const char *const model = models[draw(5)];
    const int tp = 1 << draw(3), pp = 1 << draw(3), zero = stages[draw(3)];
    snprintf(line, 400, commands[at].line, model, tp, pp, zero);
}

/* Whether two answers are bit-identical, except for printed commands. */
static void same(const struct sp_report *a, const struct sp_report *b)
{
    assert_true((a == NULL) == (b == NULL));
    assert_int_equal(a ? sp_report_size(a) : 0, b ? sp_report_size(b) : 0);
    for (size_t i = 0; a && i < sp_report_size(a); i++) {
        const struct sp_entry *const x = sp_report_entry(a, i), *const y = sp_report_entry(b, i);
        const bool command = strstr(sp_path(x), "command") != NULL;
        assert_string_equal(sp_path(x), sp_path(y));
        assert_int_equal(x->kind, y->kind);
        if (x->kind != SP_VALUE_TEXT)
            assert_memory_equal(&x->number, &y->number, sizeof x->number);
        else if (!command)
            assert_string_equal(x->text, y->text);
    }
}

/* --trainable all equals the default, bit for bit, in every key. */
static void all_is_today(void **unused)
{
    (void)unused;
    int answered[COMMANDS] = {0};
    for (int i = 0; i < CASES; i++) {
        char line[400], with[430];
        random_line(i % COMMANDS, line);
        snprintf(with, sizeof with, "%s --trainable all", line);
        struct sp_report *const plain = ask(line), *const all = ask(with);
        same(plain, all);
        answered[i % COMMANDS] += plain != NULL;
        sp_report_free(plain);
        sp_report_free(all);
    }
    for (int at = 0; at < COMMANDS; at++)
        assert_true(answered[at] > 0);
}

/* A larger rank or more trained layers never reduce anything, and full training costs more than
 * adapters of small rank. */
static void is_monotone(void **unused)
{
    (void)unused;
    static const char *const tunings[] = {"%s --lora-rank %d", "%s --trainable last:%d"};
    int known[COMMANDS][KEYS] = {{0}};
    for (int i = 0; i < 2 * CASES; i++) {
        const int at = i % COMMANDS;
        char line[400], with[430];
        double before[KEYS] = {0};
        const bool adapters = draw(2) == 0;
        random_line(at, line);
        for (int n = adapters ? 1 : 2; n <= 16; n *= 2) {
            snprintf(with, sizeof with, tunings[adapters ? 0 : 1], line, n);
            struct sp_report *const report = ask(with);
            for (int k = 0; k < KEYS && commands[at].keys[k]; k++) {
                const double now = number(report, commands[at].keys[k], 0);
                if (now < before[k] * (1 - 1e-9))
                    fail_msg("%s: %s falls from %.17g to %.17g", with, commands[at].keys[k],
                             before[k], now);
                before[k] = isnan(now) ? before[k] : now;
                known[at][k] += now > 0;
            }
            sp_report_free(report);
        }
        if (at < 2) /* bytes per device */
            assert_false(ask_for(line, commands[at].keys[1 - at]) < before[1 - at]);
    }
    for (int at = 0; at < COMMANDS; at++)
        for (int k = 0; k < KEYS && commands[at].keys[k]; k++)
            if (known[at][k] == 0)
                fail_msg("%s has no %s", commands[at].line, commands[at].keys[k]);
}

int main(void)
{
    drawn = 18; /* its own random draws */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_layers),
        cmocka_unit_test(packed_layers),
        cmocka_unit_test(nothing_trained),
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(states_of_adapters),
        cmocka_unit_test(all_is_today),
        cmocka_unit_test(is_monotone),
        cmocka_unit_test(references),
        cmocka_unit_test(offloaded),
        cmocka_unit_test(teachers),
        cmocka_unit_test(collectives_of_what_learns),
        cmocka_unit_test(adapters_under_tp),
        cmocka_unit_test(memory_of_adapters),
        cmocka_unit_test(adapters_are_faster),
        cmocka_unit_test(adapters_at_their_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
