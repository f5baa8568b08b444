/* A search from the command line: its machines, the launch it may start from, its progress. */
#include "cli/searching.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "base/memory.h"
#include "cli/plan_fields.h"
#include "cli/problem.h"
#include "cli/space_options.h"
#include "host/interrupt.h"
#include "host/ticker.h"
#include "study/find.h"

static bool read_shard(const struct sp_args *args, struct sp_search_run *run,
                       struct sp_error *error)
{
    const char *const text = args->value.shard;
    int part, parts;
    run->shards = 1;
    if (!text)
        return true;
    if (!sp_take_shard(text, 1000000, &part, &parts, error))
        return false;
    run->shard = part - 1;
    run->shards = parts;
    return true;
}

/* The machine that a name of --hw stands for. */
static bool open_machine(struct sp_searching *s, const struct sp_sources *sources, const char *hw,
                         struct sp_error *error)
{
    struct sp_search *const of = &s->of;
    struct sp_candidate *const m = sp_add_machine(of);
    if (!m)
        return sp_fail(error, SP_INPUT, "--hw: more than %d machines", SP_MAX_MACHINES);
    if (!*hw)
        return sp_fail(error, SP_INPUT, "--hw %s: an empty name in the list",
                       sp_safe(s->args->value.hw));
    if (strlen(hw) >= sizeof m->hw)
        return sp_fail(error, SP_INPUT, "--hw: \"%s\" is too long", sp_safe(hw));
    snprintf(m->hw, sizeof m->hw, "%s", hw);
    struct sp_args *const args = sp_new_args(NULL);
    *args = *s->args;
    args->value.hw = args->text[SP_O_hw] = m->hw;
    const bool loaded = sp_base_of(args, sources, &m->base, error);
    free(args);
    const int before = error->lines;
    if (loaded && s->args->given.exportable) {
        of->limits.admits = sp_exports_whole;
        of->limits.context = &s->exporting;
        (void)(sp_exporting_for(&m->base, sources, &s->exporting, error) &&
               sp_check_exportable(&m->base, &s->exporting, error));
    }
    if (loaded && of->grounded)
        m->places = sp_load_places((enum sp_network_kind)m->base.hw.network.kind, sources,
                                   &m->ground.n, error);
    m->ground.places = m->places;
    if (s->report)
        sp_count_images(s->report, sp_takes_pictures(&m->base.model));
    if (!loaded || error->lines > before || !sp_open_machine(of, m, error))
        return false;
    const bool cost = of->problem.goal == SP_GOAL_COST || of->front_has_cost;
    return !cost || !isnan(m->base.problem.price.usd_per_h) ||
           sp_fail(error, SP_INPUT, "no price for %s: give --price", m->base.hw.name);
}

/* Checks that --price names only these machines. */
static bool check_prices(const struct sp_searching *s, struct sp_error *error)
{
    const struct sp_hardware *hw[SP_MAX_MACHINES];
    const char *specs[SP_MAX_MACHINES];
    for (int i = 0; i < s->of.machines; i++) {
        hw[i] = &s->of.machine[i]->base.hw;
        specs[i] = s->of.machine[i]->hw;
    }
    return sp_check_price(s->args, hw, specs, s->of.machines, error);
}

/* The plan of --from is ranked among all plans of the space, not among one per mesh. */
static bool wants_all_plans(const struct sp_args *args)
{
    const char *const meshes = args->value.meshes;
    return meshes && strcmp(meshes, "all") == 0;
}

/* Refuses values that would change nothing: whoever typed them expects a change. */
static bool check_options(const struct sp_args *args, struct sp_error *error)
{
    const char *const meshes = args->value.meshes;
    const bool one = args->value.find >= 0 || args->value.near || args->value.explain_rejects ||
                     args->value.against;
    if (args->value.find == SP_FIND_MODEL && (args->given.reference || args->given.teacher))
        return sp_fail(error, SP_USAGE,
                       "--find model: --reference and --teacher would keep their depth: omit them");
    if (one && args->value.hw && strchr(args->value.hw, ','))
        return sp_fail(
            error, SP_USAGE,
            "--near, --explain-rejects, --against and --find need one machine; --hw names several: "
            "`sweep search` asks of each");
    if ((args->given.robust || args->value.offload_modules) &&
        args->value.objective == (int)SP_GOAL_MEMORY)
        return sp_fail(error, SP_USAGE, "--%s does not affect --objective memory: omit it",
                       args->given.robust ? "robust" : "offload-modules");
    if (args->value.batch && args->value.batch[0] == '~' &&
        (args->given.shard || args->value.pareto >= 0))
        return sp_fail(error, SP_USAGE, "--batch %s: --shard and --pareto need one batch",
                       sp_safe(args->value.batch));
    return !meshes || !*meshes || strcmp(meshes, "best") == 0 || wants_all_plans(args) ||
           sp_fail(error, SP_INPUT, "--meshes: \"%s\": expected best or all", sp_safe(meshes));
}

bool sp_open_search(const struct sp_args *args, const struct sp_sources *sources,
                    struct sp_report *report, struct sp_searching *s, struct sp_error *error)
{
    const char *list = args->value.hw;
    const double threads = args->value.threads, top = args->value.top;
    struct sp_search *const of = &s->of;
    *s = (struct sp_searching){.args = args, .report = report, .timings = args->given.timings};
    if (!sp_problem_of(args, NULL, NULL, &of->problem, error))
        return false;
    of->robust = args->given.robust;
    of->convention = (enum sp_flop_convention)args->value.convention;
    of->run = (struct sp_search_run){.exhaustive = args->given.exhaustive,
                                     .meshes = !wants_all_plans(args),
                                     .front = args->value.pareto >= 0,
                                     .wanted = isnan(top) ? 1 : (int)top,
                                     .stop = sp_interrupt_flag,
                                     .threads = isnan(threads) ? 0 : (int)threads};
    of->grounded = !args->given.fastest && !of->robust && sp_ranks_time(of) && !args->value.near;
    of->front_has_cost = of->run.front && strstr(args->text[SP_O_pareto], "cost");
    if (!check_options(args, error) || !read_shard(args, &of->run, error))
        return false;
    if (!list)
        return sp_fail(error, SP_USAGE,
                       "--hw NAME-CHIPS is needed, such as h100-512 or h100-1024,v5p-2048; names: "
                       "`scaleplan list hardware`");
    if (!sp_space_limits_of(args, &of->limits, error))
        return false;
    const size_t size = strlen(list) + 1;
    char *const hw = sp_must(malloc(size));
    bool ok = true;
    while (ok && sp_next_item(&list, hw, size))
        ok = open_machine(s, sources, hw, error);
    free(hw);
    return ok && check_prices(s, error);
}

/* Options that state a problem, which `step` and `search` read alike. */
static const enum sp_option_id of_problem[] = {
    SP_O_model,     SP_O_shape,     SP_O_hw,      SP_O_network,   SP_O_batch,      SP_O_seq,
    SP_O_framework, SP_O_precision, SP_O_profile, SP_O_constants, SP_O_config_dir, SP_NO_OPTION};

/* Takes those that were given in `from` and not in `to`. */
static bool take_problem(const struct sp_args *from, struct sp_args *to, struct sp_error *error)
{
    bool ok = true;
    for (int i = 0; of_problem[i] != SP_NO_OPTION && ok; i++)
        if (from->given_at[of_problem[i]] && !to->given_at[of_problem[i]])
            ok = sp_take_text(to, of_problem[i], from->text[of_problem[i]], error);
    to->n_many = 0;
    for (int i = 0; i < from->n_many && ok; i++)
        ok = sp_take_text(to, SP_O_set, from->many[i], error);
    return ok;
}

/* Takes the names of the script that were given values. */
static bool take_names(const struct sp_args *from, struct sp_args *to, struct sp_error *error)
{
    bool ok = true;
    for (int i = 0; i < from->n_repeated && ok; i++)
        if (from->repeated_id[i] == SP_O_set_var)
            ok = sp_take_text(to, SP_O_set_var, from->repeated[i], error);
    return ok;
}

/* The machine of a chip that was typed without a count. */
static bool take_machine(struct sp_search_launch *from, struct sp_error *error)
{
    const char *const machine = from->launch.machine;
    return !machine[0] || sp_take_text(&from->problem, SP_O_hw, machine, error);
}

/* The framework under which `step` runs the launch, if neither the launch nor a profile names one:
 * the plans of the search are compared with exactly that plan. */
static bool take_framework(struct sp_search_launch *from, struct sp_error *error)
{
    struct sp_args *const problem = &from->problem;
    return problem->given.framework || problem->given.profile ||
           sp_take_text(problem, SP_O_framework, from->planned.framework.framework.name, error);
}

bool sp_open_launch(const struct sp_args *typed, struct sp_search_launch *from,
                    struct sp_error *error)
{
    char step[] = "step", *words[] = {step, NULL};
    struct sp_args as_step = {0}, whole = {0};
    const char *const hw = typed->value.hw;
    from->problem = *typed;
    if (!typed->value.from)
        return true;
    if (hw && strchr(hw, ','))
        return sp_fail(error, SP_USAGE, "--from needs one machine; --hw names several");
    const struct sp_command *const command = sp_find_command(step, error);
    if (!command || !sp_parse_command(command, 1, words, &as_step, error))
        return false;
    as_step.world = typed->world;
    const bool ok = take_problem(typed, &as_step, error) && take_names(typed, &as_step, error) &&
                    sp_take_text(&as_step, SP_O_from, typed->value.from, error) &&
                    sp_take_launch(&as_step, &from->launch, &whole, error);
    const struct sp_sources sources = sp_sources_of(&whole);
    return ok && sp_plan_of(&whole, &sources, &from->planned, error) &&
           take_problem(&whole, &from->problem, error) && take_machine(from, error) &&
           take_framework(from, error);
}

static const enum sp_option_id passed_on[] = {
    SP_O_model,         SP_O_shape,       SP_O_network,        SP_O_seq,
    SP_O_framework,     SP_O_precision,   SP_O_profile,        SP_O_config_dir,
    SP_O_constants,     SP_O_convention,  SP_O_trainable,      SP_O_lora_rank,
    SP_O_lora_targets,  SP_O_base_format, SP_O_reference,      SP_O_teacher,
    SP_O_teacher_top_k, SP_O_documents,   SP_O_machine_factor, SP_NO_OPTION};

/* The number of layers that a search for the deepest model gave the model. */
static void add_depth(struct sp_words *words, const struct sp_model *typed,
                      const struct sp_model *now)
{
    if (now->layers != typed->layers) {
        sp_add_word(words, "--set");
        sp_add_word(words, "model.layers=%lld", (long long)now->layers);
    }
    if (now->moe.dense_layers != typed->moe.dense_layers) {
        sp_add_word(words, "--set");
        sp_add_word(words, "model.moe.dense_layers=%lld", (long long)now->moe.dense_layers);
    }
}

char *sp_step_line(const struct sp_searching *s, const struct sp_candidate *machine,
                   const struct sp_plan *plan, const struct sp_model *typed)
{
    const struct sp_planned *const base = &machine->base;
    struct sp_words w = {0};
    sp_add_word(&w, "step");
    sp_add_given(&w, s->args, passed_on);
    sp_add_option(&w, "hw", machine->hw);
    if (!s->args->given.framework) /* `step` would choose by the ZeRO stage */
        sp_add_option(&w, "framework", base->framework.framework.name);
    sp_add_word(&w, "--batch");
    sp_add_word(&w, "%lldx%lld", (long long)base->plan.batch, (long long)base->plan.seq);
    sp_plan_words(plan, &base->model, &base->framework.framework, base->hw.slices, &w);
    if (typed)
        add_depth(&w, typed, &base->model);
    char *const line = sp_shell_line(&w);
    sp_free_words(&w);
    return line;
}

/* When a search began, and when its bar was last drawn. */
struct clock {
    struct timespec start, last;
};

static double seconds(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + 1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

/* A bar on a terminal, once the search takes longer than people like to wait without one. */
static void show_progress(double share, void *context)
{
    struct clock *const clock = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds(&clock->start, &now) < 0.5 || seconds(&clock->last, &now) < 0.1)
        return;
    sp_stop_ticker(); /* the bar shows more */
    clock->last = now;
    fprintf(stderr, "\rsearching  [%-40.*s] %3.0f %%", (int)(40 * share),
            "########################################", 100 * share);
}

void sp_look(struct sp_searching *s, int machine)
{
    struct clock clock = {0};
    clock_gettime(CLOCK_MONOTONIC, &clock.start);
    s->of.run.progress = isatty(STDERR_FILENO) && !s->args->given.quiet ? show_progress : NULL;
    s->of.run.context = &clock;
    sp_search_machine(&s->of, machine);
    if (s->of.run.progress)
        fprintf(stderr, "\r%60s\r", "");
    s->of.run.progress = NULL;
}
