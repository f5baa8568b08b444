/* Exports of random plans, thousands per target: every plan not named by `cannot express` passes
 * the framework's rules as `step --from` checks them, and reads back equal if the target is read.
 * With arguments (TARGET PLANS SEED) it prints each export after a line "### DEVICES LOST CHIP"
 * instead, for the frameworks' own code. */
#include "draws.h"
#include "launched.h"

/* The choices from which a target's plans are drawn. */
struct population {
    const char *target, *machines, *models, *policies, *precision;
    bool is_read, model_apart;
    int drawn, least; /* plans drawn; least number that loses nothing */
};
static struct sp_planned written_plan, read_plan;
#define DENSE                                                                                      \
    "llama3-8b llama2-70b llama3-405b qwen3-32b gpt2-xl llama3.2-1b phi-4 mistral-7b gpt3-175b "   \
    "qwen2.5-7b"
#define ROUTED "mixtral-8x7b deepseek-v3 qwen3-30b-a3b deepseek-v2-lite llama4-scout gpt-oss-20b"
#define TITAN                                                                                      \
    "llama3-8b llama3-70b llama3-405b qwen3-32b qwen3-30b-a3b deepseek-v3 deepseek-v2-lite "       \
    "gpt-oss-20b llama3-8b llama3-70b mixtral-8x7b"
#define OTHERS "gemma2-9b falcon-40b olmo2-13b"
#define TPUS "v5p-64 v5p-512 v5e-64 v5e-256 v6e-256 v6e-64x4 v4-128 v7-64 h100-64"
#define GPUS "h100-8 h100-64 h100-256 b200-64 a100-16 gb200-72"
/* clang-format off */
static const struct population populations[] = {
    {"megatron", GPUS, DENSE " " DENSE " " ROUTED " " OTHERS, "none selective dots full full qkv mlp alternate", "mixed18 mixed18 mixed16 fp8 fp8-mixed16 fp8-mixed18 fp32 muon", true, false, 3600, 220},
    {"megatron@core0.16", GPUS, DENSE " " ROUTED, "none selective dots full full", "mixed18 mixed18 mixed16 fp8 fp32", true, false, 500, 100},
    {"megatron@core0.14", GPUS, DENSE " " ROUTED, "none selective dots full full", "mixed18 mixed18 mixed16 fp8 fp32", true, false, 500, 80},
    {"megatron-bridge", GPUS, DENSE " " DENSE " " ROUTED " " OTHERS, "none selective dots full full qkv mlp alternate", "mixed18 mixed18 mixed16 fp8 fp8-mixed16 fp8-mixed18 fp32 muon", true, false, 3000, 350},
    {"torchtitan", GPUS, TITAN, "none full alternate dots", "fp32/bf16 fp32/bf16 fp32/bf16 fp32/fp32 fp8-fp32 mixed18 fp32", true, false, 3000, 150},
    {"torchtitan@0.2.2", GPUS, TITAN " llama4-scout deepseek-v2", "none full alternate", "fp32/bf16 fp32/bf16 fp32/bf16 fp32/fp32 fp8-fp32 mixed18 fp32", true, false, 1000, 60},
    {"deepspeed", GPUS, DENSE " " ROUTED " " OTHERS, "none none full selective", "mixed18 mixed16 fp32/fp32", true, true, 3000, 30},
    {"maxtext", TPUS, DENSE " " ROUTED " " OTHERS, "none dots full qkv mlp full selective", "jax12 jax12 jax12 fp32 fp8-jax12", true, false, 3000, 50},
    {"accelerate", GPUS, DENSE " " ROUTED, "none full", "fp32/bf16 fp32/bf16 fp32/fp32 fp32 mixed18", true, true, 4000, 100},
    {"jax", "v5p-64 v6e-64x4 h100-64", DENSE " " ROUTED, "none dots full qkv", "jax12 fp32", false, false, 1500, 90},
};
/* clang-format on */
enum { POPULATIONS = sizeof populations / sizeof *populations };

/* An option in one plan of this many. */
static void seldom(struct sp_words *w, int one_in, const char *name, const char *values)
{
    if (rand() % one_in == 0)
        sp_add_option(w, name, pick(values));
}

/* Words of a plan of any kind; many do not make one. */
static void draw(const struct population *p, struct drawn *out)
{
    struct sp_words *const w = &out->words;
    const char *const degrees = "1 1 1 2 4 8";
    snprintf(out->machine, sizeof out->machine, "%s", pick(p->machines));
    *w = (struct sp_words){0};
    sp_add_word(w, "step");
    sp_add_option(w, "model", pick(p->models));
    sp_add_option(w, "hw", out->machine);
    const int64_t sequences = pick_number("64 128 192 256 512 1024");
    sp_add_word(w, "--batch");
    sp_add_word(w, "%lldx%s", (long long)sequences, pick("1024 2048 4096 8192"));
    sp_add_option(w, "tp", pick(degrees));
    sp_add_option(w, "zero", pick("0 1 1 2 3 3"));
    sp_add_option(w, "micro-batch", pick("1 1 2 4"));
    put_precision(w, pick(p->precision));
    sp_add_option(w, "remat", pick(p->policies));
    seldom(w, 3, "pp", "2 4 8");
    seldom(w, 6, "vpp", "2 3 4");
    seldom(w, 4, "cp", "2 4");
    seldom(w, 3, "cp-kind", "ring allgather ulysses dynamic");
    seldom(w, 3, "ep", "2 4 8");
    seldom(w, 6, "etp", "2 4");
    seldom(w, 6, "fsdp", "2 8 32");
    seldom(w, 5, "sp", "on off");
    seldom(w, 8, "offload", "on");
    seldom(w, 8, "schedule", "gpipe circular zb-h1 interleaved");
    seldom(w, 10, "remat-layers", "0.5 0.25");
    seldom(w, 8, "recompute-modules",
           "mlp,layernorm moe_act moe shared_experts layernorm,moe_act mla_up_proj core_attn,mlp");
    seldom(w, 10, "offload-layers", "1 2 8");
    seldom(w, 10, "offload-modules", "core_attn attn_norm,mlp qkv_linear,expert_fc1,moe_act");
    seldom(w, 12, "optimizer-offload", "0.5 1");
    seldom(w, 5, "dispatch", "deepep hybridep allgather alltoall");
    seldom(w, 8, "moe-overlap", "on off");
    seldom(w, 6, "cuda-graph", "te full none");
    seldom(w, 3, "fp8-recipe", "tensorwise blockwise mxfp8 rowwise");
    seldom(w, 3, "framework", "megatron nemo torchtitan maxtext");
    seldom(w, 12, "imbalance", "1.3");
    seldom(w, 20, "placement", "pp-inside");
}

/* A valid plan, drawn until one is found; the caller frees its words. */
static void draw_valid(const struct population *p, struct drawn *drawn)
{
    for (;;) {
        struct sp_error error = {0};
        draw(p, drawn);
        if (plan_of(&drawn->words, &written_plan, &error))
            return;
        sp_free_words(&drawn->words);
    }
}

static void print_exports(const struct population *p, const char *target, int n)
{
    for (int i = 0; i < n; i++) {
        struct drawn drawn;
        struct sp_written written;
        draw_valid(p, &drawn);
        write_plan(&written_plan, target, &written);
        printf("### %lld %d %s %s\n%s", (long long)sp_plan_devices(&written_plan.plan),
               written.n_lost, written_plan.hw.name, sp_shell_line(&drawn.words), written.text);
        free(written.text);
        sp_free_words(&drawn.words);
    }
}

/* Checks an export that expresses its plan against the rules, and reads it back. */
static void check_whole(const struct population *p, const struct drawn *drawn, const char *text,
                        const struct nameless *file)
{
    struct sp_error error = {0};
    if (!read_again(&written_plan, drawn, text, p->model_apart, file, &read_plan, &error))
        fail_msg("%s\n%s", error.text, text);
    for (int i = 0; i < taken.notes; i++)
        if (strstr(taken.note[i], "refuses this"))
            fail_msg("%s\n%s\n%s", taken.note[i], sp_shell_line(&drawn->words), text);
    if (!same_plan(&written_plan, &read_plan))
        fail_msg("%s\nanother plan came back from\n%s", sp_shell_line(&drawn->words), text);
}

static void whole_exports_pass(void **state)
{
    static struct reasons lost;
    const struct nameless file = open_nameless();
    const char *const only = *state; /* a target's name, NULL: all */
    for (int k = 0; k < POPULATIONS; k++) {
        if (only && strcmp(populations[k].target, only) != 0)
            continue;
        const struct population *const p = &populations[k];
        int whole = 0;
        lost.n = 0;
        for (int i = 0; i < p->drawn / one_in(); i++) {
            struct drawn drawn;
            struct sp_written written;
            draw_valid(p, &drawn);
            write_plan(&written_plan, p->target, &written);
            whole += written.n_lost == 0;
            for (int j = 0; j < written.n_lost; j++)
                count_reason(&lost, written.lost[j]);
            if (written.n_lost == 0 && p->is_read)
                check_whole(p, &drawn, written.text, &file);
            free(written.text);
            sp_free_words(&drawn.words);
        }
        print_message("%s: %d plans drawn, %d named by nothing; the others:\n", p->target,
                      p->drawn / one_in(), whole);
        print_reasons(&lost);
        /* few draws: a third of the expected share, for they scatter */
        assert_true(whole >= (one_in() > 1 ? p->least / one_in() / 3 : p->least));
    }
    close(file.file);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(whole_exports_pass, argc > 1 ? argv[1] : NULL)};
    srand(argc > 3 ? (unsigned)atoi(argv[3]) : 7);
    for (int i = 0; i < POPULATIONS && argc > 2; i++)
        if (strcspn(populations[i].target, "@") == strcspn(argv[1], "@") &&
            strncmp(populations[i].target, argv[1], strcspn(argv[1], "@")) == 0)
            print_exports(&populations[i], argv[1], atoi(argv[2]));
    return argc > 2 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
