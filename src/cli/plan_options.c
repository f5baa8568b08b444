/* A plan from the command line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/suggest.h"
#include "base/text.h"

#include "cli/plan_options.h"
#include "config/repertoire.h"

#include "cli/companions.h"
#include "cli/problem.h"
#include "cli/shapeless.h"
#include "study/stage_layouts.h"
#include "study/shapes.h"

/* Puts the given value, or the plan's default, into its field. */
static void read_fields(const struct sp_args *args, struct sp_plan *plan)
{
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        const double value = sp_number_at(args, sp_option_of_field(i));
        if (!isnan(value))
            sp_set_plan_value(plan, &sp_plan_fields[i], value);
    }
}

/* Whether a plan written as "tp=8,zero=3" uses ZeRO 3: it names that stage, or a shard group
 * without a stage, as `step` reads it. Such a plan takes torchtitan as its framework, as in
 * `search`. */
static bool is_of_zero3(const char *plan)
{
    char item[64];
    bool stated = false, three = false, group = false;
    while (plan && sp_next_item(&plan, item, sizeof item)) {
        const char *const value = sp_cut_pair(item);
        if (value && strcmp(item, "zero") == 0) {
            stated = true;
            three = strcmp(value, "3") == 0;
        }
        group = group || (value && strcmp(item, "fsdp") == 0);
    }
    return stated ? three : group;
}

/* Whether all plans that the options of `step` or `search` allow shard the weights. */
static bool shards_weights(const struct sp_args *args)
{
    if (args->value.zero == 3 || args->given.fsdp)
        return true;
    for (int i = 0; i < args->n_repeated; i++) {
        const bool fixes = args->repeated_id[i] == SP_O_fix;
        if (fixes ? strstr(args->repeated[i], "zero=") && is_of_zero3(args->repeated[i])
                  : strcmp(args->repeated[i], "zero=3") == 0)
            return true;
    }
    return is_of_zero3(args->value.near) || is_of_zero3(args->value.explain_rejects);
}

static bool load_framework(const struct sp_args *args, const struct sp_sources *sources,
                           struct sp_planned *p, struct sp_error *error)
{
    const char *name = args->value.framework;
    if (!name && p->profile.framework[0] != '\0')
        name = p->profile.framework;
    if (!name)
        name = sp_default_framework(&p->hw, shards_weights(args));
    return sp_load_framework(name, sources, &p->framework, error);
}

static bool has_peak(const struct sp_planned *p, struct sp_error *error)
{
    return sp_check_peak(&p->hw, p->plan.dtype, error);
}

/* A report prints the format in which the chip computes a recipe; given back, it stands for the
 * recipe's. */
static bool infer_dtype(const struct sp_args *args, struct sp_planned *p, struct sp_error *error)
{
    const enum sp_dtype recipe = (enum sp_dtype)p->precision.compute_dtype;
    if (args->given.dtype && sp_compute_dtype(&p->hw.chip, recipe) == p->plan.dtype)
        p->plan.dtype = recipe;
    return has_peak(p, error);
}

/* Loads recipe and number format: fp32 recipes of FSDP frameworks multiply in bf16. */
static bool load_precision(const struct sp_args *args, const struct sp_sources *sources,
                           struct sp_planned *p, struct sp_error *error)
{
    if (!sp_recipe_under(args, sources, &p->framework.framework, &p->precision, error))
        return false;
    const char *const typed = args->value.precision;
    const bool is_bf16 = !typed || (strcmp(typed, sp_dtype_names[SP_BF16]) == 0 &&
                                    !sp_config_named(SP_PRECISIONS, typed, sources));
    p->plan.dtype = is_bf16 ? SP_BF16 : (enum sp_dtype)p->precision.compute_dtype;
    if (!has_peak(p, error))
        return false;
    if (!(p->hw.chip.hbm_bytes_per_s > 0))
        return sp_fail(error, SP_INPUT, "%s has no published chip.hbm_bytes_per_s: use --set",
                       p->hw.name);
    return true;
}

static bool read_batch(const struct sp_args *args, struct sp_planned *p, struct sp_error *error)
{
    struct sp_plan *const plan = &p->plan;
    const struct sp_asked_batch *const asked = &p->problem.batch;
    if (!sp_problem_of(args, &p->model, &p->hw, &p->problem, error))
        return false;
    const double sequences = asked->tokens / asked->seq;
    if (sequences < 1)
        return sp_fail(error, SP_INPUT,
                       "--batch: %.0f tokens are less than one sequence of %.0f; sequences are "
                       "--batch %.0fx%.0f",
                       asked->tokens, asked->seq, asked->tokens, asked->seq);
    plan->seq = (int64_t)asked->seq;
    plan->batch = asked->counts_sequences ? (int64_t)sequences : sp_round_batch(sequences, 1);
    return !asked->counts_sequences || (double)plan->batch == sequences ||
           sp_fail(error, SP_INPUT, "--batch %s: expected a whole number of sequences",
                   sp_safe(args->value.batch));
}

/* Rounds a batch of tokens to one that the replicas can share: a power of two within 5 %, else a
 * multiple of a sixteenth, else the plan's own multiple, with a note. A batch in sequences is kept
 * as typed, so one that replicas and micro-batches do not divide is refused. The closed forms keep
 * fractions, as the textbook does. */
static bool fit_batch(struct sp_planned *p, struct sp_error *error)
{
    struct sp_plan *const plan = &p->plan;
    const struct sp_asked_batch *const asked = &p->problem.batch;
    const int64_t at_once = plan->dp * plan->micro_batch;
    const double sequences = asked->tokens / (double)plan->seq;
    const bool is_kept = asked->counts_sequences && !asked->is_about;
    if (!is_kept && sequences >= (double)at_once)
        plan->batch = sp_round_batch(sequences, at_once);
    return !asked->is_about || sp_is_about((double)plan->batch, sequences) ||
           sp_fail(error, SP_INPUT,
                   "--batch: no number of sequences within %.0f %% of %.6g is a multiple of "
                   "micro-batch %lld x %lld replicas",
                   100 * SP_ABOUT, sequences, (long long)plan->micro_batch, (long long)plan->dp);
}

void sp_note_batch(struct sp_report *report, const struct sp_planned *p)
{
    const long long batch = (long long)p->plan.batch, seq = (long long)p->plan.seq;
    const struct sp_asked_batch *const asked = &p->problem.batch;
    if (asked->tokens == (double)batch * (double)seq)
        return;
    const double sequences = asked->tokens / (double)seq;
    if (asked->is_about) {
        sp_note(report, "about %.6g sequences requested, %lld used (--batch %lldx%lld)", sequences,
                batch, batch, seq);
        return;
    }
    sp_note(report,
            "%s tokens (%s) are %.1f sequences of %lld: rounded to %lld, which divide among the "
            "replicas (--batch %lldx%lld)",
            sp_human_text(asked->tokens, SP_TOKENS), asked->origin, sequences, seq, batch, batch,
            seq);
}

void sp_note_memory(struct sp_report *report, const struct sp_estimate *e)
{
    if (e->verdict != SP_VERDICT_YES)
        sp_note(report, "the plan needs %s per device, which has %s, and %s: see `need --for fits`",
                sp_human_text((double)e->memory.device, SP_BYTES),
                sp_human_text(e->capacity_bytes, SP_BYTES),
                e->fits ? "fits tightly" : "does not fit");
}

/* Larger groups of micro-batches than Megatron's default, which a plan with chunks may need. */
static void note_group(struct sp_report *report, const struct sp_plan *plan, int64_t group)
{
    sp_note(report,
            "needs --microbatch-group-size-per-virtual-pipeline-stage %lld: %lld micro-batches are "
            "no multiple of the stages; time and memory are those of groups of %lld",
            (long long)group, (long long)sp_plan_microbatches(plan), (long long)plan->pp);
}

int sp_list_refused(const struct sp_planned *p, char why[SP_MOST_REFUSED][SP_REFUSED_TEXT])
{
    const struct sp_plan *const plan = &p->plan;
    const struct sp_repertoire runs = sp_repertoire_of(p, false);
    const unsigned others = plan->recompute.away & ~runs.away;
    const bool interleaves = sp_may_interleave(runs.rounds, plan);
    const int64_t m = sp_plan_microbatches(plan);
    char list[160] = "";
    int n = 0;
    for (int i = 0; i < SP_AWAYS; i++)
        if (others & 1U << i)
            sp_append(list, sizeof list, "%s%s", list[0] ? ", " : "", sp_away_names[i]);
    if (list[0])
        snprintf(why[n++], SP_REFUSED_TEXT, "it cannot offload %s alone", list);
    if (!interleaves && runs.rounds != SP_ROUNDS_OF_GROUPS)
        snprintf(why[n++], SP_REFUSED_TEXT,
                 "it runs stages in chunks only with a number of micro-batches that is a multiple "
                 "of %s, which %lld is not",
                 runs.rounds == SP_ROUNDS_ALIKE ? "its rounds" : "the stages", (long long)m);
    else if (!interleaves && sp_microbatch_group(m, plan->pp) == 0)
        snprintf(why[n++], SP_REFUSED_TEXT,
                 "it runs stages in chunks only with at least as many micro-batches, not %lld",
                 (long long)m);
    if (sp_may_overlap(&runs.overlap, plan))
        return n;
    if (runs.overlap.refuses[plan->execution.dispatch])
        snprintf(why[n++], SP_REFUSED_TEXT,
                 "it does not hide the experts' exchange with --dispatch %s (--moe-overlap off "
                 "does without)",
                 sp_dispatch_names[plan->execution.dispatch]);
    else
        snprintf(why[n++], SP_REFUSED_TEXT,
                 "it hides the experts' exchange of stages only with --vpp 2 or more (--schedule "
                 "dualpipe hides it, --moe-overlap off does without)");
    return n;
}

void sp_note_refused(struct sp_report *report, const struct sp_planned *p)
{
    const struct sp_plan *const plan = &p->plan;
    const enum sp_rounds rounds = sp_repertoire_of(p, false).rounds;
    char why[SP_MOST_REFUSED][SP_REFUSED_TEXT];
    const int n = sp_list_refused(p, why);
    for (int i = 0; i < n; i++)
        sp_note(report, "no launch of %s runs this plan: %s", p->framework.framework.name, why[i]);
    const int64_t group = sp_microbatch_group(sp_plan_microbatches(plan), plan->pp);
    if (rounds == SP_ROUNDS_OF_GROUPS && !sp_may_interleave(rounds, plan) && group > 0)
        note_group(report, plan, group);
}

/* "4x2x1": parts of the slice's axes that multiply to tp. */
static bool read_tp_axes(const struct sp_args *args, struct sp_planned *p, struct sp_error *error)
{
    const char *const text = args->value.tp_axes;
    double dims[SP_MAX_AXES] = {1, 1, 1};
    if (!text)
        return true;
    int n = sp_parse_dims(text, dims, SP_MAX_AXES);
    if (n == 0 && sp_parse_count(text, &dims[0]))
        n = 1;
    double product = 1;
    bool divides = p->hw.network.kind == SP_TORUS && n > 0;
    for (int axis = 0; axis < SP_MAX_AXES && divides; axis++) {
        const double part = axis < n ? dims[axis] : 1, length = p->hw.shape.axis[axis];
        divides = part >= 1 && part <= length && fmod(length, part) == 0;
        product *= part;
        p->plan.tp_axes[axis] = (int32_t)fmin(part, 1e9);
    }
    char shape[96];
    sp_shape_name(&p->hw, shape, sizeof shape);
    return (divides && product == (double)p->plan.tp) ||
           sp_fail(error, SP_INPUT,
                   "--tp-axes: \"%s\" does not split tp %lld over the axes of %s (%s)",
                   sp_safe(text), (long long)p->plan.tp, p->hw.name, shape);
}

static const char best_layout[] = "best";

/* The layout of --stage-layers best for a plan that is complete except for it. */
static bool choose_stages(const struct sp_args *args, struct sp_planned *p, struct sp_error *error)
{
    const char *const text = args->value.stage_layers;
    if (!text || strcmp(text, best_layout) != 0)
        return true;
    if (p->plan.first_layers + p->plan.last_layers > 0)
        return sp_fail(error, SP_INPUT, "--stage-layers excludes --first-layers and --last-layers");
    p->origin[SP_FIELD_STAGE_LAYERS] = SP_ORIGIN_CHOSEN;
    return sp_lay_out_stages(p) ||
           sp_fail(error, SP_INPUT,
                   "--stage-layers best: not available for pp %lld and %lld layers: at most %d "
                   "stages and 256 layers, without a reference or teacher",
                   (long long)p->plan.pp, (long long)p->model.layers, (int)SP_OWN_STAGES);
}

static bool read_stages(const struct sp_args *args, struct sp_planned *p, struct sp_error *error)
{
    const char *const text = args->value.stage_layers;
    const struct sp_stage_split usual = {
        .stages = p->plan.pp, .balance = (enum sp_balance)p->framework.framework.balance};
    if (!text || strcmp(text, best_layout) == 0)
        return true;
    if (p->plan.first_layers + p->plan.last_layers > 0)
        return sp_fail(error, SP_INPUT, "--stage-layers excludes --first-layers and --last-layers");
    const char *const wrong = sp_read_stages(text, &p->model, &usual, &p->plan.own);
    return !wrong ||
           sp_fail(error, SP_INPUT,
                   "--stage-layers \"%.80s\": %s (pp %lld, %lld layers, %lld MTP modules)",
                   sp_safe(text), wrong, (long long)p->plan.pp, (long long)p->model.layers,
                   (long long)p->model.mtp_layers);
}

static bool refuse_batch(const struct sp_plan *plan, struct sp_error *error)
{
    char why[160];
    return sp_shares_batch((double)plan->batch, (double)plan->micro_batch, (double)plan->dp, why,
                           sizeof why) ||
           sp_fail(error, SP_INPUT, "--batch: %s (see `search`)", why);
}

static bool check(const struct sp_planned *p, struct sp_error *error)
{
    const struct sp_plan *const plan = &p->plan;
    const enum sp_plan_problem problem =
        sp_check_plan(&p->model, plan, sp_chips(&p->hw), p->hw.slices);
    if (problem == SP_PLAN_OK)
        return true;
    if (problem == SP_PLAN_UNEVEN_BATCH || problem == SP_PLAN_BATCH)
        return refuse_batch(plan, error);
    const struct sp_model *const m = &p->model;
    if (problem == SP_PLAN_NO_SHAPE)
        return sp_needs_layers(m, error);
    return sp_fail(
        error, SP_INPUT,
        "no such plan: %s (dp %lld, tp %lld, pp %lld, vpp %lld, cp %lld, ep %lld, etp %lld, "
        "shard group %lld; %s has %lld layers, %lld heads, d_ff %lld, %lld experts; %s)",
        sp_plan_problem_text(problem), (long long)plan->dp, (long long)plan->tp,
        (long long)plan->pp, (long long)plan->vpp, (long long)plan->cp, (long long)plan->ep,
        (long long)plan->etp, (long long)plan->shards, m->name, (long long)m->layers,
        (long long)m->heads, (long long)m->d_ff, (long long)m->moe.experts,
        sp_batch_words(m, plan, SP_ROOM));
}

static bool load_base(const struct sp_args *args, const struct sp_sources *sources,
                      struct sp_planned *p, struct sp_error *error)
{
    const char *const profile = args->value.profile;
    struct sp_error unknown = {0};
    *p = (struct sp_planned){.own_profile = true};
    if (args->given.params)
        return sp_refuse_size("a plan needs", args, sources, error);
    if (!sp_model_of(args, sources, &p->model, error) ||
        !sp_hardware_of(args, sources, &p->hw, error) ||
        !sp_take_companions(args, sources, &p->hw, &p->model, &p->companions, error))
        return false;
    const bool loaded = profile && sp_load_profile(profile, sources, &p->profile, &unknown);
    if (!load_framework(args, sources, p, error) || !load_precision(args, sources, p, error) ||
        !read_batch(args, p, error) ||
        !sp_take_documents(args, sources, (double)p->plan.seq, &p->model, &p->companions,
                           &p->documents, error) ||
        (!loaded && !sp_load_stack(&p->hw, &p->framework.framework, sources, &p->profile,
                                   &p->own_profile, error)))
        return false;
    if (profile && !loaded && strcmp(profile, p->profile.name) != 0) {
        *error = unknown; /* nor is it the name of the stack from which this one borrows, as a
                             report prints it */
        return false;
    }
    sp_use_memory_factor(p->profile.memory_factor, &p->framework.framework);
    if (args->given.machine_factor)
        p->profile.seen_runs = 0; /* the factor is of all plans */
    sp_use_machine_factor(args->given.machine_factor ? args->value.machine_factor
                                                     : p->profile.machine_factor,
                          &p->profile);
    p->model.tuning.packs_head = p->framework.framework.packs_head;
    return true;
}

/* Whether an option belongs only to the plan, which load_base does not read. ZeRO stage and shards
 * are read by whatever follows from them, sp_known_problem.shards. */
static bool is_of_plan(enum sp_option_id id)
{
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        if (sp_option_of_field(i) == id)
            return true;
    return false;
}

struct sp_known_problem *sp_know(const struct sp_args *typed)
{
    const struct sp_sources sources = sp_sources_of(typed);
    struct sp_error ignored = {0};
    if (!sp_option_taken(typed, sp_option_of_field(SP_FIELD_TP)))
        return NULL;
    struct sp_known_problem *const known = sp_must(calloc(1, sizeof *known));
    if (!load_base(typed, &sources, &known->base, &ignored) ||
        !sp_model_has_shape(&known->base.model)) {
        free(known);
        return NULL;
    }
    known->typed = typed;
    for (size_t i = 0; i < typed->n_options; i++)
        if (!is_of_plan(typed->options[i].id))
            known->asks[known->n_asks++] = typed->options[i].id;
    known->shards = shards_weights(typed);
    known->runs = sp_repertoire_of(&known->base, typed->given.any);
    sp_list_model(&known->base.model, &known->layers);
    return known;
}

/* Whether the options ask about the known problem: their typed texts are the same. */
static bool asks_the_known(const struct sp_args *args)
{
    const struct sp_known_problem *const known = args->known;
    if (!known || args->n_many != known->typed->n_many ||
        args->n_repeated != known->typed->n_repeated || shards_weights(args) != known->shards)
        return false;
    int same = 0;
    while (same < known->n_asks &&
           args->text[known->asks[same]] == known->typed->text[known->asks[same]] &&
           args->given_at[known->asks[same]] == known->typed->given_at[known->asks[same]])
        same++;
    return same == known->n_asks;
}

bool sp_base_of(const struct sp_args *args, const struct sp_sources *sources, struct sp_planned *p,
                struct sp_error *error)
{
    if (!asks_the_known(args))
        return load_base(args, sources, p, error);
    sp_copy_planned(p, &args->known->base);
    return true;
}

/* "mlp,moe_act": parts of a layer, or "auto", which leaves them to the resolver. */
static bool read_modules(const struct sp_args *args, enum sp_plan_field_id id, unsigned *bits,
                         bool *open, struct sp_error *error)
{
    const struct sp_plan_field *const field = &sp_plan_fields[id];
    const char *text = args->text[sp_option_of_field((int)id)];
    char word[64];
    *bits = 0;
    *open = text && strcmp(text, "auto") == 0;
    while (text && !*open && sp_next_item(&text, word, sizeof word)) {
        struct sp_nearest nearest = {.wanted = word};
        int module = 0;
        while (field->names[module] && strcmp(field->names[module], word) != 0)
            sp_nearest_offer(&nearest, field->names[module++]);
        if (!field->names[module])
            return sp_fail(error, SP_INPUT, "--%s: unknown part of a layer \"%s\"%s", field->name,
                           sp_safe(word), sp_nearest_hint(&nearest));
        *bits |= 1U << module;
    }
    return true;
}

bool sp_resolve_on_ground(const struct sp_said *said, const struct sp_sources *sources,
                          struct sp_planned *p, struct sp_error *error)
{
    struct sp_ground ground = {0};
    struct sp_said on_ground = *said;
    struct sp_place *places = NULL;
    const int before = error->lines;
    if (sp_opens_micro_batch(said, &p->plan))
        places =
            sp_load_places((enum sp_network_kind)p->hw.network.kind, sources, &ground.n, error);
    ground.places = places;
    on_ground.ground = &ground;
    if (error->lines == before)
        sp_resolve_settings(&on_ground, p);
    free(places);
    return error->lines == before;
}

/* The change of a plan, as if its options had been typed after the others. */
static void take_change(const struct sp_neighbour *change, struct sp_said *said,
                        struct sp_plan *plan)
{
    for (int i = 0; i < change->changes; i++) {
        const struct sp_plan_field *const field = &sp_plan_fields[change->field[i]];
        said->given[change->field[i]] = true;
        sp_set_plan_value(plan, field, sp_plan_value(&change->plan, field));
    }
}

/* sp_plan_on with what the framework can do; `change`: NULL, or of what was typed. */
static bool make_plan(const struct sp_args *args, const struct sp_sources *sources,
                      const struct sp_repertoire *runs, const struct sp_neighbour *change,
                      struct sp_planned *p, struct sp_error *error)
{
    struct sp_plan *const plan = &p->plan;
    struct sp_said said = {.is_launch = args->given.from, .any = args->given.any, .runs = runs};
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        said.given[i] = args->given_at[sp_option_of_field(i)];
    p->is_launch = said.is_launch;
    plan->execution = p->framework.framework.execution;
    read_fields(args, plan);
    struct sp_recompute *const r = &plan->recompute;
    if (!read_modules(args, SP_FIELD_MODULES, &r->modules, &said.open_modules, error) ||
        !read_modules(args, SP_FIELD_OFFLOAD_MODULES, &r->away, &said.open_away, error))
        return false;
    if (change)
        take_change(change, &said, plan);
    r->offload |= r->away != 0;
    said.given[SP_FIELD_MODULES] &= !said.open_modules;
    said.given[SP_FIELD_OFFLOAD_MODULES] &= !said.open_away;
    if (!infer_dtype(args, p, error) || !sp_resolve_degrees(&said, p, error))
        return false;
    if (!fit_batch(p, error) || !read_stages(args, p, error) || !check(p, error) ||
        !sp_check_companions(&p->companions, plan, &p->hw, error) || !read_tp_axes(args, p, error))
        return false;
    if ((r->offload || said.open_away || plan->offload_layers > 0 || plan->optimizer_away > 0) &&
        !(sp_host_bytes_per_s(&p->hw.chip) > 0))
        return sp_fail(
            error, SP_INPUT,
            "--offload: %s has no chip.pcie_bytes_per_s: use --set hw.chip.pcie_bytes_per_s",
            p->hw.name);
    return sp_resolve_on_ground(&said, sources, p, error) && choose_stages(args, p, error);
}

bool sp_plan_on(const struct sp_args *args, const struct sp_sources *sources, struct sp_planned *p,
                struct sp_error *error)
{
    const struct sp_repertoire runs = sp_repertoire_of(p, args->given.any);
    return make_plan(args, sources, &runs, NULL, p, error);
}

bool sp_plan_of(const struct sp_args *args, const struct sp_sources *sources, struct sp_planned *p,
                struct sp_error *error)
{
    if (!asks_the_known(args))
        return load_base(args, sources, p, error) && sp_plan_on(args, sources, p, error);
    sp_copy_planned(p, &args->known->base);
    p->layers = &args->known->layers;
    return make_plan(args, sources, &args->known->runs, NULL, p, error);
}

bool sp_plan_changed(const struct sp_args *args, const struct sp_planned *planned,
                     const struct sp_repertoire *runs, struct sp_neighbour *change)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_planned changed;
    struct sp_error ignored = {0};
    sp_copy_planned(&changed, planned);
    changed.plan = (struct sp_plan){
        .batch = planned->plan.batch, .seq = planned->plan.seq, .dtype = planned->plan.dtype};
    if (!make_plan(args, &sources, runs, change, &changed, &ignored) ||
        changed.plan.batch != planned->plan.batch)
        return false;
    change->plan = changed.plan;
    return true;
}
