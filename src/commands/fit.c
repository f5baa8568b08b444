/* fit: whether a model trains on a machine, what limits it, and what would be better. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/fit.h>
#include <scaleplan/flops.h>
#include <scaleplan/training.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/fit_inputs.h"
#include "cli/lines.h"
#include "cli/fit_html.h"
#include "cli/fit_known.h"
#include "cli/fit_path_rows.h"
#include "cli/fit_words.h"
#include "cli/price.h"
#include "cli/tuning.h"
#include "pictures/fit_path.h"
#include "study/shapes.h"
#include "study/fit_rows.h"
#include "study/idle_chips.h"

static const struct sp_taken options[] = {
    SP_OPTIONS_SIZED_MODEL,
    SP_OPTIONS_TUNING,
    SP_OPTIONS_MACHINE,
    SP_TAKE(idle, .excludes = SP_THESE(SP_O_mesh)),
    SP_OPTIONS_BATCH,
    SP_OPTION_RECIPE,
    SP_OPTION_REMAT_THAT_FITS,
    SP_TAKE(axes),
    SP_OPTION_OVERLAP,
    SP_TAKE(microbatches, .fallback = "auto"),
    SP_TAKE(mfu, .fallback = "40%"),
    SP_TAKE(mesh),
    SP_TAKE(path),
    SP_TAKE(against),
    SP_TAKE(tokens),
    SP_OPTIONS_PRICE,
    SP_TAKE(report),
    SP_TAKE(strategy),
    SP_TAKE(check),
    SP_OPTION_PLOT,
};

static const struct sp_example examples[] = {
    {"fit --model llama2-13b --hw v5p-4096 --batch 3M",
     "the textbook's exercise; its own answer: --constants textbook"},
    {"fit --model llama3-405b --hw h100-16384 --batch 16M --get best.step_s",
     "one number, in seconds"},
    {"fit --model llama3-70b --hw v5p-8960x4 --check && echo yes", "a verdict for a script"},
    {"fit --model gpt2-medium --hw h100-8 --mesh fsdp=4,tp=2 --path",
     "the verdict on a mesh, and questions that lead to a strategy"},
    {"fit --params 25M --hw a100-40gb-8", "a model known only by its size"},
    {NULL, NULL},
};

/* The values shown by the rows of fit.def. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): one of it, its members by subject */
struct fit {
    struct sp_fit_inputs q;
    const struct sp_fit_terms *t; /* of q */
    const char *constants;
    char shape[96], cloud[64], accumulate[24];
    bool is_inferred, has_one_framework; /* no --precision; both frameworks are the same */
    double bytes_per_param, mfu, turns, sequences;
    double scores_flops,
        scores_share;           /* FLOPs of a step with causal scores; the FLOPs that they add */
    double W_axes[SP_MAX_AXES]; /* of 1, 2, 3 wrapped axes */
    double left_idle;           /* chips of the machine, with --idle */
    char machine[128];          /* the others, as --hw; "": all of them */
    double W_machine, critical_machine, critical_group;
    int open_axes, long_axes;
    struct sp_strategy fsdp, both; /* by the rule */
    bool has_mesh;                 /* --mesh, by the rule */
    struct sp_degrees degrees;
    struct sp_fit_row given;
    char kinder[112]; /* why it is faster than the best plan, which is not judged by the rule */
    struct sp_strategy best_of[SP_STRATEGIES]; /* on real axes: with their input and terms */
    struct sp_strategy best;                   /* of --strategy */
    struct sp_fit_input real_in;
    struct sp_fit_terms real_t;
    struct sp_fit_row w;
    enum sp_remat remat;
    double bytes_per_token_layer, roomy_bytes;
    struct sp_fit_known known; /* of the best */
    bool is_tight;             /* fits, and leaves less than roomy_bytes free */
    char mesh[128], why_uneven[192];
    char *command, *search;         /* the plan for `step`, the problem for `search`; NULL: none */
    double plan_batch, per_replica; /* its sequences, all and on each replica */
    bool is_book;                   /* --constants textbook: the book's rule, not a plan */
    bool is_details;                /* --details */
    struct sp_estimate *estimate;   /* of the best plan, where it fits and is asked for */
    struct sp_expected *expected;   /* of `search`, where it was looked for and found one */
    struct sp_decision path[SP_DECISIONS];
    int n_path; /* 0: not asked for */
    bool path_ends;
    enum sp_strategy_kind path_end;
    double tokens, run_flops, run_mfu, run_s; /* --tokens */
    char price_words[160];
    bool has_other; /* --against */
    struct sp_hardware other_hw;
    struct sp_fit_terms other_t;
    struct sp_strategy other, any_best;
    double step_ratio;
};

/* Conditions of the rows of fit.def. */
#define IS_TORUS (!isnan(s->t->W_ici))
#define HAS_SHAPE (sp_model_has_shape(&s->q.model))
#define HAS_MACHINE (!IS_TORUS && !isnan(s->W_machine))
#define HAS_BOTH (s->fsdp.exists && s->both.exists)
#define HAS_BEST (s->best.exists)
#define SAYS_YES (s->known.reason[0] ? "On paper" : "Yes")
#define HAS_RUN (HAS_BEST && !isnan(s->tokens))
#define HAS_SPLIT (s->of == OF_RULE && s->p->kind == SP_FSDP_TP && !isnan(s->t->W_X))

/* A strategy, and the values shown by the rows of fit_strategy.def. */
enum shown_of { OF_RULE, OF_MESH, OF_BEST };
struct shown {
    enum shown_of of;
    bool is_details;
    struct sp_fit_row w;
    const struct sp_strategy *p; /* of w */
    const struct sp_fit_terms *t;
    double mfu, at_mfu_s; /* of the best */
    double best_step_s;   /* beside that of a mesh */
    char mesh[64];        /* its degrees, before the reason */
    char parts[112];      /* micro-batches or the bubble, CP and EP, after it */
    char way_out[512];
};

#define SP_PART fit_strategy
#define SP_PART_OF struct shown
#include "answer/put_rows.h"

/* Adds a way out to the list, after a semicolon. */
__attribute__((format(printf, 3, 4))) static void add_way(char *out, size_t size,
                                                          const char *format, ...)
{
    const size_t used = strlen(out);
    va_list args;
    const int n = used > 0 ? snprintf(out + used, size - used, "; ") : 0;
    va_start(args, format);
    vsnprintf(out + used + n, size - used - (size_t)n, format, args);
    va_end(args);
}

/* Lists the changes that turn each no into a yes. */
static void say_ways_out(const struct sp_fit_row *w, char *out, size_t size)
{
#define WAY(when, words)                                                                           \
    if (when)                                                                                      \
        add_way(out, size, SP_STRIP words);
#include "commands/fit_way.def"
#undef WAY
}

/* The words before and after the reason. */
static void say_mesh(struct shown *s)
{
    const struct sp_strategy *const p = s->p;
    size_t used = 0;
    if (p->pp > 1)
        used = (size_t)snprintf(s->parts, sizeof s->parts, "; bubble %s",
                                sp_human_text(p->bubble, SP_FRACTION));
    else if (p->microbatches > 1 && p->loads.gathers > 1)
        used = (size_t)snprintf(s->parts, sizeof s->parts, " in each of %lld micro-batches",
                                (long long)p->microbatches);
    else if (p->microbatches > 1)
        used = (size_t)snprintf(s->parts, sizeof s->parts, "; %lld micro-batches",
                                (long long)p->microbatches);
    if (p->cp > 1)
        used += (size_t)snprintf(s->parts + used, sizeof s->parts - used, ", CP %lld",
                                 (long long)p->cp);
    if (p->ep > 1)
        snprintf(s->parts + used, sizeof s->parts - used, ", EP %lld", (long long)p->ep);
    if (p->kind == SP_PP_FSDP)
        snprintf(s->mesh, sizeof s->mesh,
                 "%lld stages of %lld chunk%s, FSDP %lld x TP %lld: ", (long long)p->pp,
                 (long long)p->chunks, p->chunks == 1 ? "" : "s", (long long)p->fsdp,
                 (long long)p->tp);
    else if (p->kind == SP_FSDP_TP || (p->kind == SP_HSDP && p->tp > 1))
        snprintf(s->mesh, sizeof s->mesh, "%lldx%lld at %s: ", (long long)p->dp * p->fsdp,
                 (long long)p->tp, sp_human_text(p->comms_over_math, SP_NUMBER));
}

static void show_strategy(struct sp_report *r, const struct fit *f, enum shown_of of,
                          const struct sp_fit_row *w)
{
    struct shown s = {.of = of, .is_details = f->is_details, .w = *w, .t = w->t, .mfu = f->mfu};
    s.p = &s.w.s;
    s.at_mfu_s = sp_step_at_mfu_s(s.p, f->mfu);
    s.best_step_s = f->any_best.step_with_bubble_s;
    say_mesh(&s);
    say_ways_out(w, s.way_out, sizeof s.way_out);
    put_fit_strategy_rows(r, &s);
}

/* A strategy without a meaning here keeps its keys, as null. */
static void put_nothing(struct sp_report *r)
{
    static const enum sp_quantity_id ids[] = {
        SP_Q_FIT_FITS,       SP_Q_FIT_COMPUTE_BOUND, SP_Q_FIT_MEMORY,
        SP_Q_FIT_CRITICAL_W, SP_Q_FIT_T_MATH,        SP_Q_FIT_T_COMMS,
        SP_Q_FIT_STEP,       SP_Q_FIT_REASON,        SP_Q_FIT_RATIO_W};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        sp_put_null(r, ids[i]);
}

/* A row for each strategy, and the way out of each no. */
static void put_strategies(struct sp_report *r, const struct fit *f)
{
    struct sp_strategy p[SP_STRATEGIES];
    const struct sp_strategy *stuck[SP_STRATEGIES];
    size_t n = 0;
    for (int kind = 0; kind < SP_STRATEGIES; kind++) {
        struct sp_fit_row w;
        if (f->q.only >= 0 && kind != f->q.only)
            continue;
        p[kind] = sp_fit_strategy(&f->q.in, f->t, (enum sp_strategy_kind)kind);
        sp_begin_row(r, sp_strategy_titles[kind], "strategies.%s", sp_strategy_names[kind]);
        if (!p[kind].exists) {
            put_nothing(r);
            sp_drop_row(r);
            continue;
        }
        sp_fill_fit_row(&f->q.in, f->t, &p[kind], false, &w);
        if (kind == SP_FSDP_TP)
            sp_fill_real_axes(&w, &(struct sp_degrees){.tp = p[kind].tp});
        show_strategy(r, f, OF_RULE, &w);
        if (!p[kind].fits || !p[kind].compute_bound)
            stuck[n++] = &p[kind];
    }
    if (!f->is_details)
        return;
    sp_list_table(r, "strategies",
                  ": strategy, >fits, state_bytes: state, activation_bytes: activations, remat, "
                  ">compute_bound, comms_over_math: comms/math, t_math_s, t_comms_s, "
                  "step_s: step, reason: why");
    for (size_t i = 0; i < n; i++)
        sp_begin_row(r, sp_strategy_titles[stuck[i]->kind], "strategies.%s",
                     sp_strategy_names[stuck[i]->kind]);
    sp_list_table(r, "strategies", ": strategy, way_out: what turns the no into a yes");
}

/* The best plan of a strategy, and its drawbacks. */
struct fit_plan {
    const struct sp_strategy *p;
    char mesh[128], why[128];
};

#define SP_PART fit_plan
#define SP_PART_OF struct fit_plan
#include "answer/put_rows.h"

/* A row for the best plan of each strategy on the machine's real axes; the answer's is first in
 * the table. */
static void put_plans(struct sp_report *r, const struct fit *f)
{
    char degrees[128];
    if (f->best.exists) {
        sp_name_degrees(&f->best, degrees, sizeof degrees);
        sp_begin_row(r, degrees, "plans.%s", sp_strategy_names[f->best.kind]);
    }
    for (int kind = 0; kind < SP_STRATEGIES; kind++) {
        const struct sp_strategy *const best = &f->best_of[kind];
        struct fit_plan plan = {.p = best};
        if (!best->exists || (f->q.only >= 0 && kind != f->q.only))
            continue;
        sp_name_mesh(best, plan.mesh, sizeof plan.mesh);
        sp_say_drawback(best, &f->any_best, plan.why, sizeof plan.why);
        sp_name_degrees(best, degrees, sizeof degrees);
        sp_begin_row(r, degrees, "plans.%s", sp_strategy_names[kind]);
        put_fit_plan_rows(r, &plan);
        if (f->best.exists && kind == (int)f->best.kind)
            sp_drop_row(r);
    }
    if (!f->is_details)
        sp_list_table(r, "plans",
                      ": plan, >fits, comms_over_math: network/compute, "
                      "step_s: ideal step, reason: why not");
    else
        sp_scope(r, "");
}

static void put_mesh(struct sp_report *r, const struct fit *f)
{
    sp_scope(r, "mesh");
    show_strategy(r, f, OF_MESH, &f->given);
    sp_scope(r, "");
}

static void put_best(struct sp_report *r, const struct fit *f)
{
    sp_scope(r, "best");
    if (f->best.exists) {
        show_strategy(r, f, OF_BEST, &f->w);
    } else {
        sp_put_null(r, SP_Q_FIT_BEST_STRATEGY);
        put_nothing(r);
    }
    sp_scope(r, "");
}

static void put_expected(struct sp_report *r, const struct fit *f)
{
    sp_put_expected(r, f->expected, f->tokens, f->q.problem.price.usd_per_h);
}

static void put_tuning(struct sp_report *r, const struct fit *f)
{
    sp_put_length(r, &f->q.model, f->q.in.seq);
    sp_put_tuning(r, &f->q.model);
}

static void put_path(struct sp_report *r, const struct fit *f)
{
    sp_put_fit_path(r, f->path, f->n_path, f->t->capacity_bytes);
}

static void put_purchase(struct sp_report *r, const struct fit *f)
{
    sp_put_purchase(r, f->q.hw.name, &f->q.problem.price, NAN, NAN);
}

#define SP_PART fit
#define SP_PART_OF struct fit
#include "answer/put_rows.h"

/* Reads "fsdp=1024,tp=4"; degrees that are not named are 1. */
static bool read_mesh(const char *mesh, struct sp_degrees *degrees, struct sp_error *error)
{
    const struct {
        const char *name;
        int64_t *degree;
    } known[] = {
        {"dp", &degrees->dp}, {"fsdp", &degrees->fsdp}, {"tp", &degrees->tp}, {"pp", &degrees->pp}};
    char item[64];
    *degrees = (struct sp_degrees){1, 1, 1, 1};
    while (sp_next_item(&mesh, item, sizeof item)) {
        const char *const value = sp_cut_pair(item);
        int64_t *degree = NULL;
        double number;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(item, known[i].name) == 0)
                degree = known[i].degree;
        if (!degree || !value || !sp_parse_number(value, &number) || number < 1 || number > 1e9 ||
            number != floor(number))
            return sp_fail(error, SP_INPUT,
                           "--mesh: \"%s\": expected degrees such as fsdp=1024,tp=4 (dp, fsdp, tp, "
                           "pp)",
                           sp_safe(item));
        *degree = (int64_t)number;
    }
    return true;
}

static bool load_mesh(struct fit *f, const char *mesh, struct sp_error *error)
{
    struct sp_degrees d;
    if (!read_mesh(mesh, &d, error))
        return false;
    if (d.dp * d.fsdp * d.tp * d.pp != sp_chips(&f->q.hw))
        return sp_fail(error, SP_INPUT,
                       "--mesh: the degrees multiply to %lld chips; the machine has %.0f",
                       (long long)d.dp * d.fsdp * d.tp * d.pp, f->t->N);
    const struct sp_strategy s = sp_fit_mesh(&f->q.in, f->t, sp_strategy_of_degrees(&d), &d, false);
    if (!s.exists) {
        const char *const faults[] = {[SP_MESH_OK] = "nodes or axes cannot be divided this way",
                                      [SP_MESH_TP] = "tp does not divide its heads and widths",
                                      [SP_MESH_STAGES] = "it has fewer layers than stages",
                                      [SP_MESH_CONVOLUTIONS] =
                                          sp_plan_problem_text(SP_PLAN_CONVOLUTIONS)};
        return sp_needs_layers(&f->q.model, error) &&
               sp_fail(error, SP_INPUT, "--mesh: %s is not a mesh for %s: %s", sp_safe(mesh),
                       f->q.model.name, faults[sp_mesh_fault(&f->q.in, &d)]);
    }
    f->has_mesh = true;
    f->degrees = d;
    sp_fill_fit_row(&f->q.in, f->t, &s, false, &f->given);
    sp_fill_real_axes(&f->given, &d);
    return true;
}

/* Takes the number of chips with the shortest step among those that --idle allows. */
static void leave_idle(struct fit *f, const struct sp_args *args)
{
    const int64_t all = sp_chips(&f->q.hw);
    sp_leave_idle(&f->q.in, f->q.problem.idle, f->q.kinds, !f->is_book, &f->q.hw);
    f->left_idle = (double)(all - sp_chips(&f->q.hw));
    if (f->left_idle == 0)
        return;
    f->q.t = sp_fit_terms(&f->q.in);
    sp_name_machine(&f->q.hw, args->value.hw, f->machine, sizeof f->machine);
}

/* Names, thresholds and rules of model and machine. */
static void find_machine(struct fit *f, const struct sp_args *args)
{
    const struct sp_fit_terms *const t = f->t;
    const struct sp_fit_input *const in = &f->q.in;
    sp_shape_name(&f->q.hw, f->shape, sizeof f->shape);
    sp_cloud_name(&f->q.hw, f->cloud, sizeof f->cloud);
    snprintf(f->accumulate, sizeof f->accumulate, "%lld", (long long)in->accumulate);
    if (in->accumulate == 0)
        snprintf(f->accumulate, sizeof f->accumulate, "auto");
    f->constants = args->text[SP_O_constants];
    f->is_inferred = !args->given.precision && args->value.constants != 1;
    f->has_one_framework =
        in->framework && strcmp(in->framework->name, in->sharding_framework->name) == 0;
    f->bytes_per_param = sp_state_bytes_per_param(&f->q.precision);
    f->mfu = args->value.mfu;
    f->scores_flops = sp_tuned_flops(in->model, t->B, in->seq, SP_FLOPS_CAUSAL);
    f->scores_share = sp_uncounted_flops(f->scores_flops, t->flops);
    f->turns = sp_turns(in->overlap);
    f->sequences = sp_sequences_of(t->B, in->seq);
    for (int n = 1; n <= f->q.hw.network.axes; n++)
        f->W_axes[n - 1] = sp_wrapped_axes_bytes_per_s(n, t->W_ici);
    f->W_machine = sp_machine_gather_bytes_per_s(&f->q.hw);
    f->critical_machine = sp_critical_tokens_per_chip(t->C, f->W_machine, t->r);
    f->critical_group = sp_critical_tokens_per_chip(t->C, t->W_group, t->r);
    f->open_axes = sp_open_axes(&f->q.hw, &f->long_axes);
    f->fsdp = sp_fit_strategy(in, t, SP_FSDP);
    f->both = sp_fit_strategy(in, t, SP_FSDP_TP);
}

/* What the mesh of --mesh is as a plan, where the rule makes it faster than the best. */
static void say_kinder(struct fit *f)
{
    const struct sp_strategy *const rule = &f->given.s;
    const struct sp_strategy plan =
        sp_fit_mesh(&f->real_in, &f->real_t, rule->kind, &f->degrees, true);
    if (rule->fits && rule->step_with_bubble_s < f->any_best.step_with_bubble_s * (1 - 1e-9))
        sp_say_mesh_as_plan(&plan, f->kinder, sizeof f->kinder);
}

/* The best plan, and the words of its lines and remarks. */
static bool find_best(struct fit *f, const struct sp_args *args, struct sp_error *error)
{
    const struct sp_fit_input *const in = &f->q.in;
    f->real_in = *in;
    f->real_in.axes = 0;
    f->real_in.runs = !f->is_book;
    f->real_t = sp_fit_terms(&f->real_in);
    f->any_best = sp_fit_best_of_each(&f->real_in, &f->real_t, ~0u, f->best_of);
    f->best = f->q.only < 0 ? f->any_best : f->best_of[f->q.only];
    if (f->has_mesh && f->any_best.exists)
        say_kinder(f);
    f->remat = f->best.exists ? f->best.remat : SP_REMAT_NONE;
    f->bytes_per_token_layer = sp_activation_bytes_per_token_layer(&f->q.model, f->remat);
    f->roomy_bytes = sp_most_bytes(f->best.beside.residual, f->t->capacity_bytes, SP_VERDICT_YES);
    if (!sp_fit_judge_known(args, &f->real_in, &f->best, f->q.kinds, &f->known, error))
        return false;
    if (!f->best.exists)
        return true;
    sp_fill_fit_row(&f->real_in, &f->real_t, &f->best, true, &f->w);
    f->is_tight = f->best.verdict == SP_VERDICT_TIGHT;
    sp_name_mesh(&f->best, f->mesh, sizeof f->mesh);
    f->search = f->known.other_batch ? NULL : sp_search_command(args);
    f->command = sp_fit_command(args, f->machine, &f->real_in, &f->best, &f->plan_batch);
    f->per_replica = f->plan_batch / f->w.replicas;
    if (!f->is_book)
        return true;
    /* the closed forms use the mean if replicas have different numbers of sequences */
    if (f->w.batch_shards > f->sequences || f->sequences != floor(f->sequences) ||
        sp_shares_batch(f->sequences, 1, f->w.batch_shards, f->why_uneven, sizeof f->why_uneven))
        f->why_uneven[0] = '\0';
    return true;
}

static bool find_run(struct fit *f, const struct sp_args *args, struct sp_error *error)
{
    const struct sp_hardware *const hw = &f->q.hw;
    const char *const spec = args->value.hw;
    if (!sp_check_price(args, &hw, &spec, 1, error))
        return false;
    sp_price_text(&f->q.problem.price, f->price_words, sizeof f->price_words);
    f->tokens = f->q.problem.tokens;
    f->run_flops = sp_tuned_flops(&f->q.model, f->tokens, f->q.in.seq, SP_FLOPS_6P);
    f->run_mfu = sp_mfu_of_step(f->best.t_math_s, sp_step_at_mfu_s(&f->best, f->mfu));
    f->run_s = sp_run_s(f->run_flops, f->t->N, f->t->C, f->run_mfu);
    return true;
}

/* Closed forms leave out what keeps kernels and links from their peaks: the best plan's estimate
 * stands beside them. Days and the page use the plan of `search`, unless --mfu gives the speed. */
static void find_expected(struct fit *f, const struct sp_args *args, const struct sp_report *r)
{
    if (f->command && f->best.fits && sp_takes_scope(r, "estimate"))
        f->estimate = sp_fit_estimate(args, f->machine, &f->real_in, &f->best);
    if (args->given.report && !f->is_book && sp_model_has_shape(&f->q.model))
        f->expected = sp_expect_plan(args);
    else if (!isnan(f->tokens))
        f->expected = sp_expect_run(args, r, &f->q.model);
}

static bool find_other(struct fit *f, const struct sp_args *args, struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_framework_pair frameworks;
    struct sp_fit_input in = f->q.in;
    if (!args->given.against)
        return true;
    in.hw = &f->other_hw;
    if (!sp_load_hardware(args->value.against, &sources, &f->other_hw, error) ||
        !sp_fit_frameworks_of(&sources, &frameworks, &in, error))
        return false;
    f->has_other = true;
    in.runs = f->real_in.runs;
    f->other_t = sp_fit_terms(&in);
    f->other = sp_fit_best(&in, &f->other_t, ~0u);
    f->step_ratio = sp_times_of(f->any_best.step_with_bubble_s, f->other.step_with_bubble_s);
    return true;
}

static void find_path(struct fit *f)
{
    f->n_path = sp_fit_path(&f->q.in, f->t, f->path);
    f->path_ends = f->path[f->n_path - 1].ends;
    f->path_end = f->path[f->n_path - 1].strategy.kind;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    struct sp_layers layers;
    struct fit f = {.t = &f.q.t, .is_details = args->given.details};
    if (!sp_load_fit(args, &layers, &f.q, error))
        return false;
    f.is_book = sp_sources_of(args).textbook;
    leave_idle(&f, args);
    find_machine(&f, args);
    if ((args->given.mesh && !load_mesh(&f, args->value.mesh, error)) ||
        !find_best(&f, args, error))
        return false;
    if (args->given.path || args->given.plot)
        find_path(&f);
    if (!find_run(&f, args, error) || !find_other(&f, args, error))
        return false;
    find_expected(&f, args, report);
    sp_count_images(report, sp_takes_pictures(&f.q.model));
    put_fit_rows(report, &f);
    const bool ok =
        !args->value.report ||
        sp_write_fit_page(args, &f.real_in, f.expected, f.price_words, f.best.fits, report, error);
    sp_free_expected(f.expected);
    free(f.estimate);
    free(f.command);
    free(f.search);
    return ok;
}

static struct sp_figure *plot(const struct sp_args *args, const struct sp_report *report,
                              struct sp_error *error)
{
    (void)args;
    (void)error;
    return sp_draw_path(report);
}

const struct sp_command sp_cmd_fit = {
    .name = "fit",
    .summary = "whether a model trains on a machine, what limits it, what is better",
    .about = "For each parallelism strategy: memory per chip and whether it fits, tokens per chip "
             "against the critical batch, whether the network keeps up, and the ideal step time. "
             "Then the best plan on the machine's real axes and, for each no, the smallest change "
             "to a yes. The closed forms are the scaling book's. `fit - [OPTION...]` reads options "
             "as JSON lines, as `step -` does.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "best.fits",
    .compute_bound_key = "best.compute_bound",
    .paper_key = "usual_batch",
    .asked_fits = "mesh.fits",
    .asked_bound = "mesh.compute_bound",
    .run = run,
    .plot = plot,
    .streams = sp_reads_lines,
    .stream = SP_IN_SHELL(sp_answer_lines),
};
