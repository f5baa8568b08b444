/* Launches: a plan written as a framework's options reads back equal. Random plans that the
 * framework can express must all read back; others must if `cannot express` does not name them. */
#include "draws.h"
#include "launched.h"

static struct sp_planned written_plan, read_plan;

/* The plans that a format expresses: words that it takes in every valid combination ("-": option
 * left out). */
struct format {
    const char *name, *machines, *models;
    const char *pp, *ep, *etp, *zero, *sp, *remat, *offload, *precision, *framework;
    bool scheduled;   /* stages run GPipe, or circular with chunks */
    bool shares;      /* recomputes a share of the layers of each chunk */
    bool groups;      /* allows smaller shard groups below ZeRO 3 too */
    bool all_shard;   /* axes of context and experts shard weights, so only with ZeRO 3 */
    bool model_apart; /* the model is not in the file */
};
/* clang-format off */
static const struct format formats[] = {
    {.name = "megatron",
     .machines = "h100-64 h100-256",
     .models = "llama3-8b llama2-70b qwen3-30b-a3b deepseek-v3 mixtral-8x7b llama3-405b kimi-k2 qwen3-32b gpt2-xl",
     .pp = "1 1 2 4", .ep = "1 1 4 8", .etp = "1 2", .zero = "0 1 2 3", .sp = "on off",
     .remat = "none selective full full", .offload = "-", .precision = "mixed18 mixed16 fp8-mixed18 fp8-mixed16 fp32/fp32",
     .framework = "megatron torchtitan", .shares = true, .groups = true},
    {.name = "megatron-bridge",
     .machines = "h100-64 h100-256",
     .models = "llama3-8b llama2-70b qwen3-30b-a3b deepseek-v3 mixtral-8x7b llama3-405b kimi-k2 qwen3-32b",
     .pp = "1 1 2 4", .ep = "1 1 4 8", .etp = "1 2", .zero = "0 1 2 3", .sp = "on off",
     .remat = "none selective full full", .offload = "-", .precision = "mixed18 mixed16 fp8-mixed18 fp8-mixed16 fp32/fp32",
     .framework = "megatron nemo torchtitan", .shares = true, .groups = true},
    {.name = "deepspeed",
     .machines = "h100-64 a100-256",
     .models = "llama3-8b gpt3-175b gemma2-9b falcon-40b gpt-oss-20b mixtral-8x7b",
     .pp = "1", .ep = "1", .etp = "1", .zero = "1 2 3", .sp = "off",
     .remat = "none", .offload = "-", .precision = "mixed18 mixed16 fp32/fp32",
     .framework = "- megatron torchtitan", .model_apart = true},
    {.name = "maxtext",
     .machines = "v5p-512 v5p-128x4 v7-256 v5p-64",
     .models = "llama3-8b llama2-70b qwen3-30b-a3b mixtral-8x7b mistral-7b gpt3-175b llama3.2-1b qwen3-32b",
     .pp = "1 1 2 4", .ep = "1 1 4 8", .etp = "tp", .zero = "0 3 3", .sp = "on",
     .remat = "none dots full qkv mlp", .offload = "- - on", .precision = "jax12 fp32",
     .framework = "maxtext - torchtitan", .scheduled = true, .all_shard = true},
};
/* clang-format on */
enum { FORMATS = sizeof formats / sizeof *formats };

/* Words that some format cannot express, added to a plan that it can. */
static const char *const further[][2] = {
    {"zero", "1"},
    {"zero", "3"},
    {"zero", "0"},
    {"sp", "off"},
    {"schedule", "gpipe"},
    {"schedule", "zb-h1"},
    {"remat", "mlp"},
    {"remat", "full"},
    {"offload", "on"},
    {"remat-layers", "0.3"},
    {"recompute-modules", "mlp,layernorm"},
    {"recompute-modules", "moe_act"},
    {"offload-layers", "2"},
    {"dispatch", "hybridep"},
    {"dispatch", "allgather"},
    {"moe-overlap", "on"},
    {"cuda-graph", "te"},
    {"cuda-graph", "full"},
    {"fp8-recipe", "blockwise"},
    {"fp8-recipe", "rowwise"},
    {"pp", "2"},
    {"vpp", "2"},
    {"cp", "2"},
    {"ep", "8"},
    {"etp", "2"},
    {"fsdp", "2"},
    {"batch", "192x1024"},
    {"precision", "mixed16"},
    {"precision", "jax12"},
    {"precision", "fp8"},
    {"precision", "muon"},
    {"model", "falcon-40b"},
    {"model", "gpt-oss-20b"},
    {"placement", "pp-inside"},
};

/* Degrees that divide the machine and the layers, and a batch that they divide. */
struct degrees {
    int64_t tp, pp, vpp, cp, ep, dp;
};

static struct degrees draw_degrees(const struct format *f, const struct sp_model *model,
                                   int64_t devices, int64_t zero)
{
    const bool alone = f->all_shard && zero == 0; /* nothing that would shard */
    struct degrees d = {1, 1, 1, 1, 1, 1};
    do
        d.tp = pick_number("1 1 2 4 8");
    while (model->heads % d.tp != 0);
    d.cp = alone || f->model_apart ? 1 : pick_number("1 1 2"); /* DeepSpeed's is in the code */
    do
        d.pp = pick_number(f->pp);
    while (model->layers % d.pp != 0);
    do
        d.vpp = d.pp > 1 ? pick_number("1 1 2 4") : 1;
    while (model->layers % (d.pp * d.vpp) != 0);
    d.dp = devices / d.tp / d.pp / d.cp;
    do
        d.ep = alone || model->moe.experts == 0 ? 1 : pick_number(f->ep);
    while (d.dp % d.ep != 0);
    return d;
}

static void add_experts(const struct format *f, const struct degrees *d, struct sp_words *w)
{
    add_number(w, "ep", d->ep);
    add_number(w, "etp", strcmp(f->etp, "tp") == 0 ? d->tp : pick_number(f->etp));
    sp_add_option(w, "moe-overlap", "off"); /* Megatron-LM refuses it in some plans */
}

/* MaxText offloads what its policies "dots" and "qkv" keep, and a share is of whole layers. */
static void add_recompute(const struct format *f, int64_t layers_of_chunk, struct sp_words *w)
{
    const char *const remat = pick(f->remat);
    const bool full = strcmp(remat, "full") == 0,
               some = strcmp(remat, "dots") == 0 || strcmp(remat, "qkv") == 0;
    sp_add_option(w, "remat", remat);
    if (some || !f->all_shard)
        maybe(w, "offload", pick(f->offload));
    if (f->shares && full && rand() % 2 > 0) {
        sp_add_word(w, "--remat-layers");
        sp_add_word(w, "%.17g", (double)(rand() % (int)layers_of_chunk) / (double)layers_of_chunk);
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The size of a shard group. MaxText's contains the axes of context and experts; with one device it
 * is ZeRO 0. */
static int64_t draw_group(const struct format *f, const struct degrees *d)
{
    const int64_t inside = f->all_shard ? d->cp * d->ep : 1;
    return least(inside * pick_number(f->all_shard ? "2 8 512" : "1 2 8 512"), d->dp * d->cp);
}

/* Words of a random plan that the format expresses, if the plan is valid. */
static void draw(const struct format *f, struct drawn *out)
{
    static struct sp_model model;
    static struct sp_hardware hw;
    const struct sp_sources builtin = {0};
    struct sp_error error = {0};
    struct sp_words *const w = &out->words;
    snprintf(out->machine, sizeof out->machine, "%s", pick(f->machines));
    assert_true(sp_load_model(pick(f->models), &builtin, &model, &error));
    assert_true(sp_load_hardware(out->machine, &builtin, &hw, &error));
    const int64_t zero = pick_number(f->zero), micro = pick_number("1 2 4");
    const struct degrees d = draw_degrees(f, &model, sp_chips(&hw), zero);
    *w = (struct sp_words){0};
    sp_add_word(w, "step");
    sp_add_option(w, "model", model.name);
    sp_add_option(w, "hw", out->machine);
    sp_add_word(w, "--batch");
    const int64_t sequences = d.dp * micro * d.pp * pick_number("1 2 3");
    sp_add_word(w, "%lldx%s", (long long)sequences,
                pick(model.learned_positions > 0 ? "512 1024" : "1024 2048 4096"));
    add_number(w, "tp", d.tp);
    add_number(w, "pp", d.pp);
    add_number(w, "vpp", d.vpp);
    add_number(w, "cp", d.cp);
    add_number(w, "micro-batch", micro);
    add_number(w, "zero", zero);
    if (model.moe.experts > 0)
        add_experts(f, &d, w);
    const bool needs_sp = f->groups && d.tp > 1 && model.moe.experts > 0; /* Megatron's experts */
    sp_add_option(w, "sp", needs_sp ? "on" : pick(f->sp));
    if (d.pp > 1 && f->scheduled)
        sp_add_option(w, "schedule", d.vpp > 1 ? "circular" : "gpipe");
    if (!f->model_apart && (zero == 3 || (zero > 0 && f->groups)))
        add_number(w, "fsdp", draw_group(f, &d));
    add_recompute(f, model.layers / d.pp / d.vpp, w);
    maybe(w, "framework", pick(f->framework));
    maybe(w, "imbalance", pick("- - 1.3"));
    put_precision(w, pick(f->precision));
}

/* Reads back the export of a drawn plan: the same plan. */
static void check_same(const struct format *f, const struct drawn *drawn, const char *text,
                       const struct nameless *file)
{
    struct sp_error error = {0};
    if (!read_again(&written_plan, drawn, text, f->model_apart, file, &read_plan, &error))
        fail_msg("%s\n%s", error.text, text);
    if (!same_plan(&written_plan, &read_plan))
        fail_msg("%s\nanother plan came back from\n%s", sp_shell_line(&drawn->words), text);
}

/* Draws a plan, with extra words if asked, and compares what reads back, or records why not.
 * Returns whether it was compared. */
static bool try_one(const struct format *f, bool with_further, const struct nameless *file,
                    struct reasons *refused, struct reasons *lost)
{
    struct drawn drawn;
    struct sp_error error = {0};
    struct sp_written written;
    draw(f, &drawn);
    for (int i = rand() % 3; with_further && i >= 0; i--) {
        const char *const *const word =
            further[(size_t)rand() % (sizeof further / sizeof *further)];
        sp_add_option(&drawn.words, word[0], word[1]);
    }
    const bool valid = plan_of(&drawn.words, &written_plan, &error);
    if (!valid) {
        count_reason(refused, error.text);
        sp_free_words(&drawn.words);
        return false;
    }
    write_plan(&written_plan, f->name, &written);
    const bool whole = written.n_lost == 0;
    for (int i = 0; i < written.n_lost; i++)
        count_reason(lost, written.lost[i]);
    if (whole)
        check_same(f, &drawn, written.text, file);
    else if (!with_further)
        fail_msg("%s\nlost in\n%s", sp_shell_line(&drawn.words), written.text);
    free(written.text);
    sp_free_words(&drawn.words);
    return whole;
}

static void plans_come_back(void **state)
{
    static struct reasons refused, lost;
    const struct nameless file = open_nameless();
    (void)state;
    srand(7);
    const int drawn = quick_draws(400);
    for (int k = 0; k < 2 * FORMATS; k++) {
        const struct format *const f = &formats[k / 2];
        const bool with_further = k % 2 > 0;
        int compared = 0, unfit = 0;
        refused.n = lost.n = 0;
        for (int i = 0; i < drawn; i++)
            compared += try_one(f, with_further, &file, &refused, &lost);
        for (int i = 0; i < refused.n; i++)
            unfit += refused.times[i];
        print_message("%s%s: %d plans drawn, %d out and in again; %d are none:\n", f->name,
                      with_further ? " and further" : "", drawn, compared, unfit);
        print_reasons(&refused);
        if (with_further)
            print_message("  not expressed:\n");
        print_reasons(&lost);
        assert_true(with_further ? compared >= drawn / 10 : compared == drawn - unfit);
        assert_true(with_further || unfit <= drawn / 10);
    }
    close(file.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
