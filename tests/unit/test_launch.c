/* Launches: a plan written as a framework's options and read again is the same plan wherever the
 * framework can express it, for random plans; and launches typed by hand mean what they say. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plan_options.h"
#include "launch/launch.h"

#include <scaleplan/scaleplan.h>

extern const struct sp_command sp_cmd_step;

static struct sp_planned written_plan, read_plan;

/* The plan of a command line, "tp=8" words as `step` takes them. */
static bool plan_of(struct sp_words *words, struct sp_planned *planned, struct sp_error *error)
{
    static struct sp_args args;
    if (!sp_parse_command(&sp_cmd_step, words->n, words->word, &args, error))
        return false;
    const struct sp_sources sources = sp_sources_of(&args);
    return sp_plan_of(&args, &sources, planned, error);
}

static void put_file(const char *path, const char *text)
{
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool same_plan(const struct sp_planned *a, const struct sp_planned *b)
{
    const struct sp_step_inputs x = sp_inputs_of(a), y = sp_inputs_of(b);
    struct sp_stage_memory p, q;
    sp_fullest_stage(&a->model, &a->precision, &a->plan, &a->framework.framework, &p);
    sp_fullest_stage(&b->model, &b->precision, &b->plan, &b->framework.framework, &q);
    return a->plan.dp == b->plan.dp && a->plan.tp == b->plan.tp && a->plan.pp == b->plan.pp &&
           a->plan.vpp == b->plan.vpp && a->plan.cp == b->plan.cp && a->plan.ep == b->plan.ep &&
           a->plan.zero == b->plan.zero &&
           (a->plan.zero == 0 || a->plan.shards == b->plan.shards) &&
           a->plan.batch == b->plan.batch && a->plan.seq == b->plan.seq &&
           a->plan.micro_batch == b->plan.micro_batch &&
           a->plan.sequence_parallel == b->plan.sequence_parallel && a->remat == b->remat &&
           a->plan.dtype == b->plan.dtype &&
           (a->model.moe.experts == 0 || a->plan.etp == b->plan.etp) &&
           (a->plan.pp == 1 || a->plan.schedule == b->plan.schedule) &&
           strcmp(a->precision.name, b->precision.name) == 0 &&
           strcmp(a->framework.framework.name, b->framework.framework.name) == 0 &&
           p.device == q.device && sp_estimate_step(&x).step == sp_estimate_step(&y).step;
}

static const char *pick(const char *const *list, size_t n)
{
    return list[(size_t)rand() % n];
}
#define PICK(...)                                                                                  \
    pick((const char *const[]){__VA_ARGS__},                                                       \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* One option of several, "" for none of them. */
static void maybe(struct sp_words *w, const char *name, const char *value)
{
    if (value[0])
        sp_add_option(w, name, value);
}

/* A command line of random degrees, for the framework's kind of machine; now and then of another.
 */
static void random_words(enum sp_target target, struct sp_words *w)
{
    const bool tpu = target == SP_TO_MAXTEXT ? rand() % 8 > 0 : rand() % 8 == 0;
    const bool plain = target == SP_TO_DEEPSPEED; /* much is code there, not options */
    *w = (struct sp_words){0};
    sp_add_word(w, "step");
    sp_add_option(w, "model",
                  PICK("llama3-8b", "llama2-70b", "qwen3-30b-a3b", "deepseek-v3", "gpt3-175b",
                       "mixtral-8x7b", "llama3-405b", "glm-4.5", "kimi-k2", "qwen3-32b",
                       "llama3.2-1b", "gpt2-xl", "falcon-40b", "llama4-maverick", "gemma2-9b",
                       "gpt-oss-20b", "mistral-7b"));
    sp_add_option(w, "hw",
                  tpu ? PICK("v5p-512", "v5p-128x4", "v7-256") : PICK("h100-64", "a100-256"));
    sp_add_option(w, "batch", PICK("256x4096", "1024x2048", "512x8192", "192x1024"));
    sp_add_option(w, "tp", PICK("1", "1", "2", "4", "8"));
    sp_add_option(w, "pp", plain ? "1" : PICK("1", "1", "2", "4"));
    sp_add_option(w, "cp", PICK("1", "1", "2"));
    sp_add_option(w, "ep", plain ? "1" : PICK("1", "1", "4", "8"));
    maybe(w, "etp", tpu ? w->word[8] : PICK("", "", "2", "8"));
    sp_add_option(w, "micro-batch", PICK("1", "2", "4"));
    sp_add_option(w, "sp", plain ? "off" : PICK("on", "off"));
    maybe(w, "framework",
          PICK("", "", tpu ? "maxtext" : "nemo", tpu ? "" : "megatron", "torchtitan"));
    maybe(w, "zero", tpu ? PICK("", "", "0", "1", "3") : PICK("", "0", "1", "2", "3"));
    if (rand() % 3 == 0 && strcmp(w->word[w->n - 1], "0") != 0)
        sp_add_option(w, "fsdp", PICK("2", "8", "16", "32", "128"));
    maybe(w, "vpp", plain ? "" : PICK("", "", "", "1", "2", "4"));
    if (tpu)
        maybe(w, "schedule", PICK("", "gpipe", "circular"));
    maybe(w, "remat",
          plain ? "none" : PICK("", tpu ? "qkv" : "selective", "none", "dots", "full", "mlp"));
    if (rand() % 4 == 0)
        sp_add_option(w, "remat-layers", PICK("0.5", "0.25", "0.3", "0"));
    maybe(w, "imbalance", PICK("", "", "", "1.3"));
    maybe(w, "offload", PICK("", "", "", "on"));
    maybe(w, "placement", PICK("", "", "", "pp-inside"));
    maybe(w, "precision",
          tpu ? PICK("", "", "", "fp8", "fp32", "jax12", "mixed16")
              : PICK("", "", "", "fp8", "fp32", "mixed18", "mixed16"));
}

/* Writes and reads one random plan: 1 when it came back the same, 0 when there was none, or the
 * framework could not express it. */
static int round_trip(enum sp_target target, const char *path)
{
    struct sp_words words;
    struct sp_error error = {0};
    struct sp_written written;
    random_words(target, &words);
    const bool valid = plan_of(&words, &written_plan, &error);
    char hw[32];
    snprintf(hw, sizeof hw, "%s", words.word[4]);
    char model[32];
    snprintf(model, sizeof model, "%s", words.word[2]);
    char *const line = sp_shell_line(&words);
    sp_free_words(&words);
    if (!valid) {
        free(line);
        return 0;
    }
    const struct sp_launched launched = {&written_plan.model,
                                         &written_plan.hw,
                                         &written_plan.plan,
                                         written_plan.remat,
                                         written_plan.precision.name,
                                         written_plan.framework.framework.name,
                                         NULL};
    sp_write_launch(target, &launched, &written);
    const bool whole = written.n_lost == 0;
    if (whole) {
        put_file(path, written.text);
        sp_add_word(&words, "step");
        sp_add_option(&words, "from", path);
        sp_add_option(&words, "hw", hw);
        if (target == SP_TO_DEEPSPEED) /* its checkpoints' model is in the training script */
            sp_add_option(&words, "model", model);
        error = (struct sp_error){0};
        if (!plan_of(&words, &read_plan, &error))
            fail_msg("%s\n%s", error.text, written.text);
        sp_free_words(&words);
        if (!same_plan(&written_plan, &read_plan))
            fail_msg("%s\nanother plan (etp %lld) came back, etp %lld, from\n%s", line,
                     (long long)written_plan.plan.etp, (long long)read_plan.plan.etp, written.text);
    }
    free(line);
    free(written.text);
    return whole;
}

static void plans_come_back(void **state)
{
    static const enum sp_target targets[] = {SP_TO_MEGATRON, SP_TO_DEEPSPEED, SP_TO_MAXTEXT};
    char path[] = "launch-XXXXXX";
    (void)state;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    srand(7);
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        int same = 0;
        for (int i = 0; i < 2500; i++)
            same += round_trip(targets[t], path);
        print_message("%s: %d plans out and in again\n", sp_target_names[targets[t]], same);
        assert_true(same >= 30);
    }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
