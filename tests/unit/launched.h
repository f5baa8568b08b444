/* Shared by tests of launches: plans from command lines, random words, comparison of plans,
 * nameless files. */
#ifndef SP_TEST_LAUNCHED_H
#define SP_TEST_LAUNCHED_H

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plan_options.h"
#include "cli/launched.h"

#include <scaleplan/scaleplan.h>

extern const struct sp_command sp_cmd_step;

/* The launch of the last plan read. */
static struct sp_launch taken;

/* The plan of a command line, "tp=8" words as `step` takes them. */
static inline bool plan_of(struct sp_words *words, struct sp_planned *planned,
                           struct sp_error *error)
{
    static struct sp_args typed, args;
    if (!sp_parse_command(&sp_cmd_step, words->n, words->word, &typed, error) ||
        !sp_take_launch(&typed, &taken, &args, error))
        return false;
    const struct sp_sources sources = sp_sources_of(&args);
    return sp_plan_of(&args, &sources, planned, error);
}

/* Recomputed modules; the attention core can be given by policy or by name. */
static inline unsigned modules_of(const struct sp_planned *p)
{
    const unsigned core = 1U << SP_MODULE_CORE_ATTN;
    return p->plan.recompute.core > 0 ? p->plan.recompute.modules | core
                                      : p->plan.recompute.modules;
}

/* The policy; "selective" equals the attention core as a module. */
static inline const char *policy_of(const struct sp_planned *p)
{
    const char *const name = sp_plan_name(&p->plan, &sp_plan_fields[SP_FIELD_REMAT]);
    const bool core = (p->plan.recompute.modules >> SP_MODULE_CORE_ATTN & 1) != 0;
    return core && strcmp(name, "none") == 0 ? "selective" : name;
}

/* Execution options that have an effect in the plan. */
static inline bool run_alike(const struct sp_planned *a, const struct sp_planned *b)
{
    const struct sp_execution *const x = &a->plan.execution, *const y = &b->plan.execution;
    const bool routed = a->model.moe.experts > 0;
    const bool full = a->plan.recompute.down == 1; /* recomputes whatever any module does */
    return (full || modules_of(a) == modules_of(b)) &&
           a->plan.offload_layers == b->plan.offload_layers &&
           a->plan.first_layers == b->plan.first_layers &&
           a->plan.last_layers == b->plan.last_layers &&
           (!routed || (x->dispatch == y->dispatch && x->moe_overlap == y->moe_overlap)) &&
           x->cuda_graph == y->cuda_graph && (a->plan.cp == 1 || x->cp_kind == y->cp_kind) &&
           (a->plan.dtype != SP_FP8 || x->fp8_recipe == y->fp8_recipe);
}

/* A recipe, with the format of its matmuls where it is "RECIPE/FORMAT". */
static inline void put_precision(struct sp_words *w, const char *recipe)
{
    char name[32];
    const char *const format = strchr(recipe, '/');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(recipe, "/"), recipe);
    sp_add_option(w, "precision", name);
    if (format)
        sp_add_option(w, "dtype", format + 1);
}

static inline bool same_plan(const struct sp_planned *a, const struct sp_planned *b)
{
    const struct sp_step_inputs x = sp_inputs_of(a), y = sp_inputs_of(b);
    struct sp_stage_memory p, q;
    sp_fullest_stage(&a->model, &a->precision, &a->plan, &a->framework.framework, &p);
    sp_fullest_stage(&b->model, &b->precision, &b->plan, &b->framework.framework, &q);
    return a->plan.dp == b->plan.dp && a->plan.tp == b->plan.tp && a->plan.pp == b->plan.pp &&
           a->plan.vpp == b->plan.vpp && a->plan.cp == b->plan.cp && a->plan.ep == b->plan.ep &&
           (a->plan.zero == b->plan.zero || a->plan.dp * a->plan.cp == 1) &&
           (a->plan.zero == 0 || a->plan.dp * a->plan.cp == 1 ||
            a->plan.shards == b->plan.shards) &&
           a->plan.batch == b->plan.batch && a->plan.seq == b->plan.seq &&
           a->plan.micro_batch == b->plan.micro_batch &&
           a->plan.sequence_parallel == b->plan.sequence_parallel &&
           strcmp(policy_of(a), policy_of(b)) == 0 && a->plan.dtype == b->plan.dtype &&
           run_alike(a, b) && (a->model.moe.experts == 0 || a->plan.etp == b->plan.etp) &&
           (a->plan.pp == 1 || a->plan.schedule == b->plan.schedule) &&
           strcmp(a->precision.name, b->precision.name) == 0 &&
           strcmp(a->framework.framework.name, b->framework.framework.name) == 0 &&
           p.device == q.device && sp_estimate_step(&x).step == sp_estimate_step(&y).step;
}

/* A random blank-separated word; "-": none. */
static inline const char *pick(const char *list)
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

static inline int64_t pick_number(const char *list)
{
    return strtoll(pick(list), NULL, 10);
}

/* A random plan as words of `step`. */
struct drawn {
    char machine[32];
    struct sp_words words;
};

static inline void add_number(struct sp_words *w, const char *name, int64_t value)
{
    sp_add_word(w, "--%s", name);
    sp_add_word(w, "%lld", (long long)value);
}

static inline void maybe(struct sp_words *w, const char *name, const char *value)
{
    if (strcmp(value, "-") != 0)
        sp_add_option(w, name, value);
}

/* Reasons why plans were not compared, with numbers masked, and their counts. */
enum { KINDS = 128 };
struct reasons {
    char text[KINDS][160];
    int times[KINDS], n;
};

static inline void count_reason(struct reasons *r, const char *text)
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

static inline void print_reasons(const struct reasons *r)
{
    for (int i = 0; i < r->n; i++)
        print_message("    %5d  %s\n", r->times[i], r->text[i]);
}

/* A nameless file, which vanishes however the test ends. */
struct nameless {
    int file;
    char path[32];
};

static inline struct nameless open_nameless(void)
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

static inline void put_text(const struct nameless *file, const char *text)
{
    const size_t n = strlen(text);
    assert_int_equal(ftruncate(file->file, 0), 0);
    assert_int_equal(pwrite(file->file, text, n, 0), (ssize_t)n);
    assert_int_equal(lseek(file->file, 0, SEEK_SET), 0);
}

/* Reads an exported plan, on its machine and with its model if the file has none. False with an
 * error. */
static inline bool read_again(const struct sp_planned *written, const struct drawn *drawn,
                              const char *text, bool model_apart, const struct nameless *file,
                              struct sp_planned *read, struct sp_error *error)
{
    struct sp_words words = {0};
    put_text(file, text);
    sp_add_word(&words, "step");
    sp_add_option(&words, "from", file->path);
    sp_add_option(&words, "hw", drawn->machine);
    if (model_apart)
        sp_add_option(&words, "model", written->model.name);
    const bool ok = plan_of(&words, read, error);
    sp_free_words(&words);
    return ok;
}

static inline int find_target(const char *name)
{
    int i = 0;
    while (strcmp(sp_export_choices[i], name) != 0)
        i++;
    return i;
}

/* Writes a plan for a target. */
static inline void write_plan(const struct sp_planned *planned, const char *target,
                              struct sp_written *written)
{
    int version;
    const struct sp_target *const found = sp_target_of(find_target(target), &version);
    const struct sp_launched launched = {
        .model = &planned->model,
        .hw = &planned->hw,
        .plan = &planned->plan,
        .version = version,
        .remat = sp_plan_name(&planned->plan, &sp_plan_fields[SP_FIELD_REMAT]),
        .precision = &planned->precision,
        .framework = planned->framework.framework.name,
        .usual = planned->framework.framework.execution};
    struct sp_error error = {0};
    assert_true(sp_write_launch(found, &launched, written, &error));
}

#endif
