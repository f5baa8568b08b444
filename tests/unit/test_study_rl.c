/* A step of reinforcement learning put together from the commands that it prints of its two sides,
 * `step` and `serve`, and from the bytes of Llama 3 8B. */
#include "asked.h"

#include <string.h>

#include <scaleplan/rl.h>

/* 8,030,261,248 parameters of 2 bytes. */
static const double weights = 2 * 8030261248.0;

static const char *text(const struct sp_report *r, const char *key)
{
    const struct sp_entry *const e = sp_find(r, key);
    return e ? sp_entry_text(e) : NULL;
}

static bool is_true(const struct sp_report *r, const char *key)
{
    const struct sp_entry *const e = sp_find(r, key);
    assert_non_null(e);
    return e->number != 0;
}

/* What is asked, all of the same model. */
struct loop {
    int train, generate; /* devices; generate 0: the same ones */
    int tp, gen_tp, prompts, group, input, output, stale, epochs, minibatches;
    bool ideal, critic, reward, parts;
    int sleep; /* none, engine, both */
    double kept;
};

static const char *const sleeps[] = {"none", "engine", "both"};

static struct loop draw_loop(void)
{
    struct loop l = {.train = 8 << draw(2)};
    l.generate = draw(2) ? 8 << draw(2) : 0;
    l.tp = 1 << draw(3);
    l.gen_tp = 1 << draw(3);
    l.prompts = 32 << draw(2);
    l.group = 4 << draw(3);
    l.input = 128 << draw(4);
    l.output = 128 << draw(4);
    l.stale = l.generate > 0 ? (int)draw(3) : 0;
    l.epochs = 1 + (int)draw(2);
    l.minibatches = 1 << draw(3);
    l.ideal = draw(2);
    l.critic = draw(2);
    l.reward = draw(2);
    l.parts = draw(2);
    l.sleep = l.generate > 0 ? 2 : (int)draw(3);
    l.kept = draw(3) ? 1 : 0.5;
    return l;
}

static void write_line(const struct loop *l, const char *more, char line[LINE])
{
    char split[60] = "", sleep[40] = "";
    if (l->generate > 0)
        snprintf(split, sizeof split, " --split %d:%d --stale %d", l->train, l->generate, l->stale);
    else
        snprintf(sleep, sizeof sleep, " --sleep %s", sleeps[l->sleep]);
    snprintf(line, LINE,
             "rl --model llama3-8b --hw h200-%d%s%s --tp %d --gen-tp %d --prompts %d --group %d "
             "--input %d --output %d --algorithm %s --epochs %d --minibatches %d --kept %g "
             "--price 3%s%s%s%s",
             l->train + l->generate, split, sleep, l->tp, l->gen_tp, l->prompts, l->group, l->input,
             l->output, l->critic ? "ppo" : "grpo", l->epochs, l->minibatches, l->kept,
             l->ideal ? " --loop ideal" : "", l->reward ? " --reward llama3-8b" : "",
             l->parts ? " --refit parts" : "", more);
}

static double factor(const struct loop *l, enum sp_rl_constant id)
{
    return l->ideal ? sp_rl_constants[id].without : sp_rl_constants[id].value;
}

/* Both sides with their times multiplied by these: one after the other, or the slowest cycle of
 * dependencies between devices that run at once. */
static double together(const struct loop *l, const struct sp_report *r, double longer,
                       double trains_longer)
{
    const double training = trains_longer * number(r, "training_s", 0),
                 refit = number(r, "refit_s", 0), rest = number(r, "overhead_s", 0);
    if (l->generate == 0)
        return longer * number(r, "generation_s", 0) + training + refit + number(r, "wake_s", 0) +
               rest;
    const double work = longer * number(r, "work_s", 0),
                 latency = longer * number(r, "latency_s", 0);
    const double cycle = (latency + training + refit + rest) / (l->stale + 1);
    return fmax(fmax(work, training + rest) + refit, cycle);
}

static void check_training(const struct loop *l, const struct sp_report *r,
                           const struct sp_report *step, double link)
{
    const double passes = factor(l, SP_RL_PASSES_CONSTANT) * l->epochs * l->minibatches;
    const double once = number(step, "time.step_s", 0), forward = number(r, "logprob_s", 0);
    const double moved = number(step, "memory.params_bytes", 0) / link, update = passes * once;
    assert_close(number(r, "update_s", 0), update, 1e-12);
    assert_true(forward > 0 && forward < update / l->epochs);
    /* frozen models wait on the hosts */
    assert_close(number(r, "reference_s", 0), forward + moved, 1e-12);
    const double critic = number(r, "critic_s", 0), reward = number(r, "reward_s", 0);
    assert_close(isnan(reward) ? 0 : reward, l->reward ? forward + moved : 0, 1e-12);
    assert_close(isnan(critic) ? 0 : critic, l->critic ? forward + update : 0, 0.05);
    assert_close(number(r, "training_s", 0),
                 forward + number(r, "reference_s", 0) + update + (l->critic ? critic : 0) +
                     (l->reward ? reward : 0),
                 1e-12);
}

static void check_memory(const struct loop *l, const struct sp_report *r,
                         const struct sp_report *step, double link)
{
    const double states = number(step, "memory.params_bytes", 0) +
                          number(step, "memory.grads_bytes", 0) +
                          number(step, "memory.optimizer_bytes", 0);
    const double all = number(r, "memory.states", 0), engine = number(r, "memory.generation", 0),
                 training = number(r, "memory.training", 0);
    const bool colocated = l->generate == 0, sleeps_all = colocated && l->sleep == 2;
    const double held = number(step, "memory.params_bytes", 0);
    const double frozen = (1 + l->reward) * held, host = fmin(8, l->train);
    /* a critic has a value in place of the head's logits */
    assert_close(all, (l->critic ? 2 : 1) * states, l->critic ? 0.08 : 1e-12);
    assert_close(training,
                 number(step, "memory.device_bytes", 0) + (all - states) +
                     fmax(0, held - number(step, "memory.activations_bytes", 0)),
                 1e-9);
    assert_close(number(r, "memory.both", 0),
                 colocated && l->sleep == 0   ? training + engine
                 : colocated && l->sleep == 1 ? fmax(training, all + engine)
                                              : fmax(training, engine),
                 1e-12);
    assert_close(number(r, "host_bytes", 0), host * ((sleeps_all ? all : 0) + frozen), 1e-12);
    assert_close(number(r, "wake_s", 0), sleeps_all ? 2 * all / link : 0, 1e-12);
    assert_true(engine > weights / l->gen_tp);
    const bool fits =
        training <= number(step, "memory.limit_bytes", 0) &&
        engine <= number(r, "memory.capacity", 0) &&
        (!colocated || number(r, "memory.both", 0) <= number(r, "memory.capacity", 0));
    if (number(r, "at_once", 0) > 1)
        assert_int_equal(is_true(r, "memory.fits"), fits);
}

static void check_generation(const struct loop *l, const struct sp_report *r,
                             const struct sp_report *serve)
{
    const int devices = l->generate > 0 ? l->generate : l->train;
    const double answers = l->prompts * l->group / l->kept, engines = devices / l->gen_tp;
    const double each = answers / engines, at_once = number(r, "at_once", 0);
    assert_close(number(r, "answers", 0), answers, 1e-12);
    assert_close(number(r, "engines", 0), engines, 0);
    assert_close(number(r, "answers_per_engine", 0), each, 1e-12);
    assert_true(at_once <= each);
    const double longer = factor(l, SP_RL_GENERATION_CONSTANT);
    if (at_once == each && l->stale == 0 && !isnan(number(serve, "e2e_s", 0))) {
        /* answers of one length start and end together, as requests in flight do */
        assert_close(number(r, "generation_s", 0), longer * number(serve, "e2e_s", 0), 1e-6);
        assert_close(number(r, "latency_s", 0), number(r, "generation_s", 0), 1e-12);
    }
    const double bytes = weights / (l->parts ? l->gen_tp : 1);
    const double each_s =
        factor(l, l->generate > 0 ? SP_RL_TENSOR_APART_CONSTANT : SP_RL_TENSOR_CONSTANT);
    assert_close(number(r, "refit_bytes", 0), bytes, 1e-12);
    assert_close(number(r, "refit_matrices", 0), 32 * 4, 0); /* qkv, out, gate and up, down */
    assert_close(number(r, "refit_s", 0), bytes / number(r, "refit_bandwidth", 0) + 128 * each_s,
                 1e-12);
    /* 50 GB/s each of the devices of a host, or of one that takes its own part; in a node 450 */
    const double host = fmin(8, fmin(l->train, devices)),
                 link = l->train + l->generate > 8 ? 50e9 : 450e9;
    assert_close(number(r, "refit_bandwidth", 0), l->parts ? link : host * link, 1e-12);
}

static void steps_from_both_sides(void **state)
{
    (void)state;
    int ran = 0, fit = 0, split = 0;
    for (int i = 0; i < 120; i++) {
        const struct loop l = draw_loop();
        char line[LINE];
        write_line(&l, "", line);
        struct sp_report *const r = ask(line);
        if (!r || l.train % l.tp != 0) {
            sp_report_free(r);
            continue;
        }
        struct sp_report *const step = ask(text(r, "command.training")), *const serve = ask(text(
                                                                             r,
                                                                             "command.generation"));
        assert_non_null(step);
        assert_non_null(serve);
        const double link = factor(&l, SP_RL_SLEEP_CONSTANT) * 64e9; /* PCIe 5, 16 lanes */
        check_training(&l, r, step, link);
        check_memory(&l, r, step, link);
        check_generation(&l, r, serve);
        const double taken = number(r, "step_s", 0);
        const double rest = l.ideal ? 0 : sp_rl_constants[SP_RL_STEP_CONSTANT].value;
        assert_close(number(r, "overhead_s", 0), rest, 0);
        assert_close(taken, together(&l, r, 1, 1), 1e-9);
        assert_close(number(r, "cost_usd", 0), 3.0 * (l.train + l.generate) * taken / 3600, 1e-12);
        const double low = number(r, "step_low_s", 0), high = number(r, "step_high_s", 0);
        if (!l.ideal)
            assert_true(low <= taken * exp(-0.3) * (1 + 1e-12) &&
                        high >= taken * exp(0.3) * (1 - 1e-12));
        const double range = number(step, "time.high_s", 0) / number(step, "time.step_s", 0);
        if (!(low <= together(&l, r, 1, 1 / range) * (1 + 1e-9) &&
              high >= together(&l, r, 1, range) * (1 - 1e-9)))
            fail_msg("%s: %g to %g, step %g, range %g: %g to %g", line, low, high, taken, range,
                     together(&l, r, 1, 1 / range), together(&l, r, 1, range));
        ran++;
        fit += is_true(r, "memory.fits");
        split += l.generate > 0;
        sp_report_free(r);
        sp_report_free(step);
        sp_report_free(serve);
    }
    print_message("%d, %d fit, %d split\n", ran, fit, split);
    assert_true(ran > 60 && fit > 20 && split > 20);
}

/* Each part that is left out takes no time, and the others stay. */
static void without_parts(void **state)
{
    (void)state;
    static const char *const parts[] = {"generation", "logprob", "reference",
                                        "update",     "refit",   "wake"},
                             *const keys[] = {"generation_s", "logprob_s", "reference_s",
                                              "update_s",     "refit_s",   "wake_s"};
    const struct loop l = {16, 0, 2,     2,     32,    16,    512, 1024, 0,
                           1,  1, false, false, false, false, 2,   1};
    char line[LINE], more[60];
    write_line(&l, "", line);
    struct sp_report *const all = ask(line);
    for (size_t p = 0; p < 6; p++) {
        snprintf(more, sizeof more, " --without %s", parts[p]);
        write_line(&l, more, line);
        struct sp_report *const r = ask(line);
        for (size_t k = 0; k < 6; k++) {
            const double left = number(r, keys[k], 0);
            assert_close(isnan(left) ? 0 : left, k == p ? 0 : number(all, keys[k], 0), 1e-12);
        }
        assert_close(number(r, "step_s", 0), number(all, "step_s", 0) - number(all, keys[p], 0),
                     1e-9);
        sp_report_free(r);
    }
    sp_report_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_from_both_sides),
        cmocka_unit_test(without_parts),
    };
    return cmocka_run_group_tests_name("study_rl", tests, NULL, NULL);
}
