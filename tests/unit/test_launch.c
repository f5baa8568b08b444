/* Launches: a plan written as a framework's options and read again is the same plan. Plans that the
 * framework can express are drawn, and all of them must come back; then others, of which those must
 * that `cannot express` does not name. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plan_options.h"
#include "commands/step_launch.h"

#include <scaleplan/scaleplan.h>

extern const struct sp_command sp_cmd_step;

static struct sp_planned written_plan, read_plan;

/* The plan of a command line, "tp=8" words as `step` takes them. */
static bool plan_of(struct sp_words *words, struct sp_planned *planned, struct sp_error *error)
{
    static struct sp_args typed, args;
    static struct sp_launch launch;
    if (!sp_parse_command(&sp_cmd_step, words->n, words->word, &typed, error) ||
        !sp_take_launch(&typed, &launch, &args, error))
        return false;
    const struct sp_sources sources = sp_sources_of(&args);
    return sp_plan_of(&args, &sources, planned, error);
}

/* How layers run, as far as it means something in the plan. */
static bool run_alike(const struct sp_planned *a, const struct sp_planned *b)
{
    const struct sp_execution *const x = &a->plan.execution, *const y = &b->plan.execution;
    const bool routed = a->model.moe.experts > 0;
    const bool full = a->plan.recompute.down == 1; /* repeats what any module does */
    return (full || a->plan.recompute.modules == b->plan.recompute.modules) &&
           a->plan.offload_layers == b->plan.offload_layers &&
           (!routed || (x->dispatch == y->dispatch && x->moe_overlap == y->moe_overlap)) &&
           x->cuda_graph == y->cuda_graph &&
           (a->plan.dtype != SP_FP8 || x->fp8_recipe == y->fp8_recipe);
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
           a->plan.sequence_parallel == b->plan.sequence_parallel &&
           sp_plan_value(&a->plan, &sp_plan_fields[SP_FIELD_REMAT]) ==
               sp_plan_value(&b->plan, &sp_plan_fields[SP_FIELD_REMAT]) &&
           a->plan.dtype == b->plan.dtype && run_alike(a, b) &&
           (a->model.moe.experts == 0 || a->plan.etp == b->plan.etp) &&
           (a->plan.pp == 1 || a->plan.schedule == b->plan.schedule) &&
           strcmp(a->precision.name, b->precision.name) == 0 &&
           strcmp(a->framework.framework.name, b->framework.framework.name) == 0 &&
           p.device == q.device && sp_estimate_step(&x).step == sp_estimate_step(&y).step;
}

/* One of the words between blanks; "-" stands for none. */
static const char *pick(const char *list)
{
    static char word[32];
    int n = 0, at = 0;
    for (const char *c = list; *c; c++)
        n += *c == ' ';
    for (at = rand() % (n + 1); at > 0; at--)
        list = strchr(list, ' ') + 1;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(list, " "), list);
    return word;
}

static int64_t pick_number(const char *list)
{
    return strtoll(pick(list), NULL, 10);
}

/* What a format expresses: words of which it takes every valid combination ("-": the option left
 * out). */
struct format {
    const char *name, *machines, *models;
    const char *pp, *ep, *etp, *zero, *sp, *remat, *offload, *precision, *framework;
    bool scheduled;   /* stages run GPipe, or circular with chunks */
    bool shares;      /* recomputes a share of the layers of each chunk */
    bool groups;      /* has smaller groups of shards below ZeRO 3 too */
    bool all_shard;   /* axes of context and experts shard weights: with ZeRO 3 alone */
    bool model_apart; /* the model is not in the file */
};
/* clang-format off */
static const struct format formats[] = {
    {.name = "megatron",
     .machines = "h100-64 h100-256",
     .models = "llama3-8b llama2-70b qwen3-30b-a3b deepseek-v3 mixtral-8x7b llama3-405b kimi-k2 qwen3-32b gpt2-xl",
     .pp = "1 1 2 4", .ep = "1 1 4 8", .etp = "1 2", .zero = "0 1 2 3", .sp = "on off",
     .remat = "none selective dots full full", .offload = "- - on", .precision = "mixed18 mixed16 fp8 fp8-mixed16 fp32",
     .framework = "megatron nemo torchtitan", .shares = true, .groups = true},
    {.name = "deepspeed",
     .machines = "h100-64 a100-256",
     .models = "llama3-8b gpt3-175b gemma2-9b falcon-40b gpt-oss-20b mixtral-8x7b",
     .pp = "1", .ep = "1", .etp = "1", .zero = "1 2 3", .sp = "off",
     .remat = "none", .offload = "-", .precision = "mixed18 mixed16 fp32",
     .framework = "- megatron torchtitan", .model_apart = true},
    {.name = "maxtext",
     .machines = "v5p-512 v5p-128x4 v7-256 v5p-64",
     .models = "llama3-8b llama2-70b qwen3-30b-a3b deepseek-v3 mixtral-8x7b gemma2-9b gpt3-175b llama3.2-1b qwen3-32b",
     .pp = "1 1 2 4", .ep = "1 1 4 8", .etp = "tp", .zero = "0 3 3", .sp = "on",
     .remat = "none dots full qkv mlp", .offload = "- - on", .precision = "jax12 fp32",
     .framework = "maxtext - torchtitan", .scheduled = true, .all_shard = true},
};
/* clang-format on */
enum { FORMATS = sizeof formats / sizeof *formats, DRAWN = 400 };

/* Words that some format has nothing for; put behind a plan that can be expressed. */
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

/* A drawn plan as words of `step`. */
struct drawn {
    char machine[32];
    struct sp_words words;
};

static void add_number(struct sp_words *w, const char *name, int64_t value)
{
    sp_add_word(w, "--%s", name);
    sp_add_word(w, "%lld", (long long)value);
}

static void maybe(struct sp_words *w, const char *name, const char *value)
{
    if (strcmp(value, "-") != 0)
        sp_add_option(w, name, value);
}

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
    d.cp = alone ? 1 : pick_number("1 1 2");
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

/* A group of shards. MaxText's has the axes of context and experts in it, and of one device it is
 * ZeRO 0. */
static int64_t draw_group(const struct format *f, const struct degrees *d)
{
    const int64_t inside = f->all_shard ? d->cp * d->ep : 1;
    return least(inside * pick_number(f->all_shard ? "2 8 512" : "1 2 8 512"), d->dp * d->cp);
}

/* Words of a plan that the format expresses, if it is one at all. */
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
    if (zero == 3 || (zero > 0 && f->groups))
        add_number(w, "fsdp", draw_group(f, &d));
    add_recompute(f, model.layers / d.pp / d.vpp, w);
    maybe(w, "framework", pick(f->framework));
    maybe(w, "imbalance", pick("- - 1.3"));
    sp_add_option(w, "precision", pick(f->precision));
}

/* Why plans were not compared: kinds of reasons (numbers in them are all one), and how often. */
enum { KINDS = 128 };
struct reasons {
    char text[KINDS][160];
    int times[KINDS], n;
};

static void count_reason(struct reasons *r, const char *text)
{
    char kind[sizeof *r->text];
    size_t n = 0;
    for (; *text && !strchr("\n(", *text) && n + 1 < sizeof kind; text++)
        if (n == 0 || kind[n - 1] != 'N' || !strchr("0123456789.", *text))
            kind[n++] = strchr("0123456789", *text) ? 'N' : *text;
    kind[n] = '\0';
    int i = 0;
    while (i < r->n && strcmp(r->text[i], kind) != 0)
        i++;
    assert_true(i < KINDS);
    if (i == r->n) {
        snprintf(r->text[r->n++], sizeof *r->text, "%s", kind);
        r->times[i] = 0;
    }
    r->times[i]++;
}

static void print_reasons(const struct reasons *r)
{
    for (int i = 0; i < r->n; i++)
        print_message("    %5d  %s\n", r->times[i], r->text[i]);
}

/* A file without a name, so that nothing is left of it however the test ends. */
struct nameless {
    int file;
    char path[32];
};

static struct nameless open_nameless(void)
{
    struct nameless out;
    char path[4096];
    const char *const directory = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/launch-XXXXXX", directory ? directory : "/tmp");
    out.file = mkstemp(path);
    assert_true(out.file >= 0);
    assert_int_equal(unlink(path), 0);
    snprintf(out.path, sizeof out.path, "/dev/fd/%d", out.file);
    return out;
}

static void put_text(const struct nameless *file, const char *text)
{
    const size_t n = strlen(text);
    assert_int_equal(ftruncate(file->file, 0), 0);
    assert_int_equal(pwrite(file->file, text, n, 0), (ssize_t)n);
    assert_int_equal(lseek(file->file, 0, SEEK_SET), 0);
}

/* Reads what was written of a drawn plan: the same plan. */
static void check_same(const struct format *f, const struct drawn *drawn, const char *text,
                       const struct nameless *file)
{
    struct sp_words words = {0};
    struct sp_error error = {0};
    put_text(file, text);
    sp_add_word(&words, "step");
    sp_add_option(&words, "from", file->path);
    sp_add_option(&words, "hw", drawn->machine);
    if (f->model_apart)
        sp_add_option(&words, "model", written_plan.model.name);
    if (!plan_of(&words, &read_plan, &error))
        fail_msg("%s\n%s", error.text, text);
    sp_free_words(&words);
    if (!same_plan(&written_plan, &read_plan))
        fail_msg("%s\nanother plan came back from\n%s", sp_shell_line(&drawn->words), text);
}

static int find_target(const char *name)
{
    int i = 0;
    while (strcmp(sp_target_names[i], name) != 0)
        i++;
    return i;
}

/* Draws a plan, with further words if asked for, and compares what comes back of it; else says why
 * not. Whether it was compared. */
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
    const struct sp_launched launched = {
        .model = &written_plan.model,
        .hw = &written_plan.hw,
        .plan = &written_plan.plan,
        .remat = sp_plan_name(&written_plan.plan, &sp_plan_fields[SP_FIELD_REMAT]),
        .precision = written_plan.precision.name,
        .framework = written_plan.framework.framework.name};
    sp_write_launch(sp_targets[find_target(f->name)], &launched, &written);
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
    for (int k = 0; k < 2 * FORMATS; k++) {
        const struct format *const f = &formats[k / 2];
        const bool with_further = k % 2 > 0;
        int compared = 0, unfit = 0;
        refused.n = lost.n = 0;
        for (int i = 0; i < DRAWN; i++)
            compared += try_one(f, with_further, &file, &refused, &lost);
        for (int i = 0; i < refused.n; i++)
            unfit += refused.times[i];
        print_message("%s%s: %d plans drawn, %d out and in again; %d are none:\n", f->name,
                      with_further ? " and further" : "", DRAWN, compared, unfit);
        print_reasons(&refused);
        if (with_further)
            print_message("  not expressed:\n");
        print_reasons(&lost);
        assert_true(with_further ? compared >= DRAWN / 10 : compared == DRAWN - unfit);
        assert_true(with_further || unfit <= DRAWN / 10);
    }
    close(file.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
