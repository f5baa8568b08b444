/* The sides of a step of reinforcement learning: command lines of `step` and `serve`, read as
 * theirs. */
#include "cli/rl_sides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/forms.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/truth.h"
#include "cli/plan_fields.h"
#include "cli/plan_options.h"
#include "config/lengths.h"

const char *const sp_rl_algorithms[] = {"grpo", "ppo", "dapo", "rloo", "reinforce", NULL};
const char *const sp_rl_sleeps[] = {"none", "engine", "both", NULL};
const char *const sp_rl_refits[] = {"whole", "parts", NULL};
const char *const sp_rl_loops[] = {"fitted", "ideal", NULL};

static const char *const part_names[SP_RL_PARTS] = {
    [SP_RL_GENERATION] = "generation", [SP_RL_LOGPROB] = "logprob", [SP_RL_REFERENCE] = "reference",
    [SP_RL_CRITIC] = "critic",         [SP_RL_REWARD] = "reward",   [SP_RL_UPDATE] = "update",
    [SP_RL_REFIT] = "refit",           [SP_RL_WAKE] = "wake"};

/* Options of `rl` that `step` lacks or gives another meaning. */
static const enum sp_option_id not_of_training[] = {
    SP_O_hw,     SP_O_reference, SP_O_get,    SP_O_format, SP_O_explain, SP_O_details,
    SP_O_quiet,  SP_O_derive,    SP_O_check,  SP_O_price,  SP_O_plot,    SP_O_plot_width,
    SP_O_report, SP_O_output,    SP_O_batch,  SP_O_seq,    SP_O_from,    SP_O_set_var,
    SP_O_recipe, SP_O_pack,      SP_NO_OPTION};

/* Options of the engines, and their names in `serve`. */
static const struct {
    enum sp_option_id id, of_serve;
} of_engine[] = {
    {SP_O_model, SP_O_model},
    {SP_O_shape, SP_O_shape},
    {SP_O_network, SP_O_network},
    {SP_O_input, SP_O_input},
    {SP_O_output, SP_O_output},
    {SP_O_max_response, SP_O_max_response},
    {SP_O_rollout_engine, SP_O_engine},
    {SP_O_weights, SP_O_weights},
    {SP_O_kv, SP_O_kv},
    {SP_O_memory_fraction, SP_O_memory_fraction},
    {SP_O_prefix_hit, SP_O_prefix_hit},
    {SP_O_gen_tp, SP_O_tp},
    {SP_O_gen_pp, SP_O_pp},
    {SP_O_gen_ep, SP_O_ep},
    {SP_O_gen_attention_dp, SP_O_attention_dp},
    {SP_O_gen_profile, SP_O_profile},
    {SP_O_config_dir, SP_O_config_dir},
    {SP_O_constants, SP_O_constants},
};

static bool parse_side(const char *name, struct sp_words *words, struct sp_args *args,
                       struct sp_error *error)
{
    const struct sp_command *const command = sp_find_command(name, error);
    return command && sp_parse_command(command, words->n, words->word, args, error);
}

/* Where both sides are: machines as --hw names them. */
struct places {
    char train[128], generate[128];
    double train_devices, generate_devices, other_devices;
};

/* Reduces a machine to this many devices. Engines may also have what training leaves of a host: any
 * number of devices of a larger machine. */
static bool take_part(struct sp_hardware *hw, int64_t devices, bool of_engines)
{
    const bool any = of_engines && hw->network.kind == SP_SWITCHED && devices > 0;
    return sp_take_devices(hw, devices) ||
           (any && sp_take_devices(hw, sp_nearest_chips(&hw->network, devices, true)));
}

bool sp_can_split(const struct sp_hardware *hw, int64_t train, int64_t generate)
{
    struct sp_hardware trains = *hw, generates = *hw;
    return take_part(&trains, train, false) && take_part(&generates, generate, true);
}

/* --split TRAIN:GENERATE[:OTHERS] as separate machines. */
static bool read_split(const struct sp_args *args, const struct sp_hardware *hw, struct places *at,
                       struct sp_error *error)
{
    const char *rest = args->value.split;
    char piece[32];
    double chips[3] = {0};
    const double all = (double)sp_chips(hw);
    for (int i = 0; i < 3 && (rest || i < 2); i++)
        if (!rest || !sp_next_piece(&rest, ':', piece, sizeof piece) ||
            !sp_parse_number(piece, &chips[i]) || chips[i] < 1 || floor(chips[i]) != chips[i])
            return sp_fail(error, SP_INPUT,
                           "--split: \"%s\": expected TRAIN:GENERATE, such as 64:64",
                           sp_safe(args->value.split));
    if (rest || chips[0] + chips[1] + chips[2] != all)
        return sp_fail(error, SP_INPUT, "--split %s does not add up to the %.0f devices of --hw",
                       sp_safe(args->value.split), all);
    at->train_devices = chips[0];
    at->generate_devices = chips[1];
    at->other_devices = chips[2];
    for (int i = 0; i < 2; i++) {
        struct sp_hardware part = *hw;
        if (!take_part(&part, (int64_t)chips[i], i == 1))
            return sp_fail(error, SP_INPUT, "--split: %s cannot %s %.0f devices", hw->name,
                           i == 1 ? "generate on" : "train on", chips[i]);
        sp_name_machine(&part, args->value.hw, i == 1 ? at->generate : at->train, sizeof at->train);
    }
    return true;
}

static bool place(const struct sp_args *args, const struct sp_sources *sources, struct places *at,
                  struct sp_error *error)
{
    struct sp_hardware hw;
    if (!args->value.hw)
        return sp_fail(error, SP_USAGE, "--hw NAME-CHIPS is needed, such as h100-64");
    if (!sp_hardware_of(args, sources, &hw, error))
        return false;
    const bool split = args->given.split || args->given.gen_hw;
    if (!split && args->value.stale > 0)
        return sp_fail(error, SP_INPUT,
                       "--stale %.0f needs separate devices for generation (--split, --gen-hw)",
                       args->value.stale);
    *at = (struct places){.train_devices = (double)sp_chips(&hw)};
    snprintf(at->train, sizeof at->train, "%s", args->value.hw);
    snprintf(at->generate, sizeof at->generate, "%s",
             args->given.gen_hw ? args->value.gen_hw : args->value.hw);
    return !args->given.split || read_split(args, &hw, at, error);
}

/* The engines that `devices` of the machine have; 0: all of them. */
static bool count_engines(struct serve *f, double devices, struct sp_error *error)
{
    if (devices <= 0)
        return true;
    f->replicas = devices / f->group_chips;
    return floor(f->replicas) == f->replicas ||
           sp_fail(error, SP_INPUT,
                   "--split: engines of %.0f do not divide %.0f devices: give --gen-tp",
                   f->group_chips, devices);
}

/* The engines, as `serve` reads them. */
static bool load_engines(const struct sp_args *args, const struct sp_sources *sources,
                         const struct places *at, struct sp_report *report, struct sp_rl_sides *s,
                         struct sp_error *error)
{
    struct sp_words *const w = &s->generate_words;
    sp_add_word(w, "serve");
    for (size_t i = 0; i < sizeof of_engine / sizeof *of_engine; i++)
        if (args->given_at[of_engine[i].id] && args->text[of_engine[i].id])
            sp_add_option(w, sp_option_name(of_engine[i].of_serve), args->text[of_engine[i].id]);
    const double ranks = args->value.gen_tp * fmax(1, args->value.gen_attention_dp);
    if (args->given.gen_ep && args->given.gen_tp && ranks > args->value.gen_ep) {
        sp_add_word(w, "--etp"); /* the ranks that share an expert */
        sp_add_word(w, "%.15g", ranks / args->value.gen_ep);
    }
    for (int i = 0; i < args->n_many; i++)
        sp_add_option(w, "set", args->many[i]);
    sp_add_option(w, "hw", at->generate);
    if (!args->given.prefix_hit && args->value.group > 1) {
        sp_add_word(w, "--prefix-hit");
        sp_add_word(w, "%.15g", 1 - 1 / args->value.group); /* a group shares its prompt */
    }
    s->generates =
        (struct serve){.args = s->generate_args, .report = report, .textbook = sources->textbook};
    struct serve *const f = &s->generates;
    if (!parse_side("serve", w, s->generate_args, error) || !sp_load_service(f, sources, error) ||
        !sp_load_sequences(f, error) || !count_engines(f, at->generate_devices, error))
        return false;
    return f->holds_weights ||
           sp_fail(error, SP_INPUT,
                   "the weights do not fit in an engine of %.0f chips (%s): use a larger --gen-tp",
                   f->service.chips, f->model.name);
}

static double up_to_multiple(double x, double of)
{
    return ceil(x / of - 1e-9) * of;
}

/* The tokens of an answer that train: those after its prompt. */
static struct sp_lengths with_prompt(const struct serve *f)
{
    struct sp_lengths l = f->output;
    l.plus += f->service.input;
    l.most += l.most > 0 ? f->service.input : 0;
    sp_settle_lengths(&l);
    return l;
}

/* Number of answers per row, and the row's length. The replica with the most rows decides, so all
 * have as many, or the replica with the longest answer does; context parallelism pads rows. */
static struct sp_rl_rows shape_rows(const struct sp_args *args, const struct sp_rl_sides *s,
                                    double answers)
{
    const struct sp_option_values *const v = &args->value;
    const double length = s->lengths.mean, cp = fmax(1, v->cp);
    const double dp = s->train_devices / (fmax(1, v->tp) * fmax(1, v->pp) * cp);
    const double multiple = cp > 1 ? 2 * cp * fmax(1, v->tp) : 1,
                 together = fmax(1, v->micro_batch);
    const double longest = sp_greatest_length(&s->lengths, fmax(1, answers));
    struct sp_rl_rows r = {.mean = answers, .tokens = floor(length + 0.5), .packed = s->room > 0};
    if (s->room > 0)
        r.mean = sp_rl_packs(answers, length, s->room, sp_lengths_over(&s->lengths, s->room / 2));
    r.rows = ceil(r.mean);
    if (dp >= 1 && floor(dp) == dp)
        r.rows = up_to_multiple(r.mean, dp * together);
    if (s->room > 0)
        r.tokens = ceil(answers * length / r.rows);
    if (longest > r.rows / dp * r.tokens * (1 + 1e-9) && dp >= 1 && floor(dp) == dp) {
        r.rows = dp * together; /* the replica with the longest answer has no other */
        r.tokens = ceil(longest / together);
        r.packed = false;
    }
    r.tokens = up_to_multiple(r.tokens, multiple);
    return r;
}

/* --pack: rows have room for the longest answer that is expected. */
static bool take_room(const struct sp_args *args, double answers, struct sp_rl_sides *s,
                      struct sp_error *error)
{
    const double longest = sp_greatest_length(&s->lengths, fmax(1, answers));
    s->room = args->given.pack ? args->value.pack : 0;
    return s->room == 0 || longest <= s->room * (1 + 1e-9) ||
           sp_fail(error, SP_INPUT,
                   "--pack %.0f: the longest of the answers has %.0f tokens with its prompt: use a "
                   "larger --pack, or --max-response",
                   s->room, ceil(longest));
}

/* Answers in packed rows: attention stays within each. */
static void pack_rows(struct sp_rl_sides *s)
{
    struct sp_words *const w = &s->train_words;
    char *const text = sp_must(malloc(SP_LENGTHS_TEXT));
    const double room = fmax(s->room, s->all.tokens);
    if (s->all.packed && sp_pack_documents(&s->lengths, room, s->all.tokens, &s->documents))
        s->asked.documents = &s->documents;
    if (s->rows.packed) {
        sp_lengths_words(&s->lengths, s->generates.output_text, text, SP_LENGTHS_TEXT);
        sp_add_option(w, "documents", text);
        sp_add_word(w, "--pack");
        sp_add_word(w, "%.0f", fmax(s->room, s->rows.tokens));
    }
    free(text);
}

/* Training, as `step` reads it: an optimizer step of mean lengths. */
static bool load_training(const struct sp_args *args, const struct sp_sources *sources,
                          const char *hw, struct sp_rl_sides *s, struct sp_error *error)
{
    struct sp_words *const w = &s->train_words;
    const double answers = args->value.prompts * args->value.group;
    const double batch = answers / args->value.minibatches;
    if (floor(batch) != batch)
        return sp_fail(error, SP_INPUT,
                       "--minibatches %.0f does not divide the %.0f answers per step",
                       args->value.minibatches, answers);
    sp_add_word(w, "step");
    sp_add_all(w, args, not_of_training);
    for (int i = w->n - 1; i > 0; i--) /* options that `step` lacks */
        if (strncmp(w->word[i], "--", 2) == 0) {
            const struct sp_option *const own = sp_option_named(args, w->word[i] + 2);
            const bool keeps = own && sp_option_named(s->train_args, w->word[i] + 2);
            const int width = own && own->kind == SP_FLAG ? 1 : 2;
            for (int k = 0; !keeps && k < width; k++) {
                free(w->word[i]);
                memmove(&w->word[i], &w->word[i + 1], (size_t)(w->n - i) * sizeof *w->word);
                w->n--;
            }
        }
    sp_add_option(w, "hw", hw);
    sp_add_word(w, "--batch");
    s->lengths = with_prompt(&s->generates);
    if (!take_room(args, answers, s, error))
        return false;
    s->rows = shape_rows(args, s, batch);
    s->all = shape_rows(args, s, answers);
    sp_add_word(w, "%.0fx%.0f", s->rows.rows, s->rows.tokens);
    pack_rows(s);
    return parse_side("step", w, s->train_args, error) &&
           sp_plan_of(s->train_args, sources, &s->trained, error);
}

/* A model in addition to the policy, on the policy's plan. */
static bool load_beside(const struct sp_rl_sides *s, const struct sp_sources *sources,
                        const char *option, const char *name, struct sp_model *model,
                        struct sp_error *error)
{
    *model = s->trained.model;
    model->tuning = (struct sp_tuning){.packs_head = s->trained.model.tuning.packs_head,
                                       .base_bytes = s->trained.model.tuning.base_bytes};
    if (name && !sp_load_model(name, sources, model, error))
        return false;
    model->documents = s->trained.model.documents;
    const struct sp_plan plan = sp_companion_plan(model, &s->trained.plan);
    const enum sp_plan_problem problem =
        sp_check_plan(model, &plan, sp_chips(&s->trained.hw), s->trained.hw.slices);
    return problem == SP_PLAN_OK ||
           sp_fail(error, SP_INPUT, "--%s %s: the plan does not apply to it: %s", option,
                   model->name, sp_plan_problem_text(problem));
}

/* Whether a model runs beside the policy: `said` is its name, "none" or another word for no, or
 * a word for yes, which means the policy's own; NULL: `usual`. For its own model `said` becomes
 * NULL. */
static bool is_beside(const char **said, bool usual)
{
    const int truth = *said ? sp_truth(*said) : -1;
    const bool none = truth == 0 || (*said && strcmp(*said, "none") == 0);
    const bool runs = *said ? !none : usual;
    if (truth == 1)
        *said = NULL;
    return runs;
}

/* Reference, critic and reward model. */
static bool load_others(const struct sp_args *args, const struct sp_sources *sources,
                        struct sp_rl_sides *s, struct sp_error *error)
{
    const struct sp_rl_traits *const traits = &sp_rl_traits[s->algorithm];
    const struct sp_option_values *const v = &args->value;
    const char *reference = v->reference, *critic = v->critic, *reward = v->reward;
    const bool weighs = is_beside(&reference, traits->reference),
               values = is_beside(&critic, traits->critic), judges = is_beside(&reward, false);
    if (values && !traits->critic)
        return sp_fail(error, SP_INPUT, "--critic: %s has no critic (use --algorithm ppo)",
                       sp_rl_algorithms[s->algorithm]);
    if (traits->groups && v->group < 2)
        return sp_fail(error, SP_INPUT, "--group 1: %s compares at least two answers per prompt",
                       sp_rl_algorithms[s->algorithm]);
    if (weighs) {
        if (!load_beside(s, sources, "reference", reference, &s->reference, error))
            return false;
        s->asked.reference = &s->reference;
    }
    if (values) {
        if (!load_beside(s, sources, "critic", critic, &s->critic, error))
            return false;
        s->asked.critic = &s->critic;
    }
    if (judges) {
        if (!load_beside(s, sources, "reward", reward, &s->reward, error))
            return false;
        s->asked.reward = &s->reward;
    }
    return true;
}

static bool read_without(const char *text, bool without[SP_RL_PARTS], struct sp_error *error)
{
    char word[32];
    while (text && sp_next_item(&text, word, sizeof word)) {
        int part = 0;
        while (part < SP_RL_PARTS && strcmp(part_names[part], word) != 0)
            part++;
        if (part == SP_RL_PARTS)
            return sp_fail(error, SP_INPUT,
                           "--without: \"%s\": expected generation, logprob, reference, critic, "
                           "reward, update, refit or wake",
                           sp_safe(word));
        without[part] = true;
    }
    return true;
}

/* All but the models. */
static void ask(const struct sp_args *args, struct sp_rl_sides *s)
{
    const struct sp_option_values *const v = &args->value;
    const struct serve *const f = &s->generates;
    struct sp_rl_asked *const a = &s->asked;
    a->trained = &s->trained;
    a->instance = &f->instance;
    a->load = &f->load;
    a->serving = f->instance.estimated ? &f->profile : NULL;
    a->output = f->output;
    a->engines = f->replicas;
    a->prompts = v->prompts;
    a->group = v->group;
    a->kept = v->kept;
    a->epochs = v->epochs;
    a->minibatches = v->minibatches;
    a->rows = s->all.rows;
    a->row_tokens = s->all.tokens;
    a->stale = v->stale;
    a->colocated = !args->given.split && !args->given.gen_hw;
    a->partial = args->given.partial;
    a->sleep = (enum sp_rl_sleep)v->sleep;
    a->refit_bandwidth = v->refit_bandwidth;
    a->refit_parts = v->refit == 1;
    a->ideal = v->loop == 1;
    a->overhead_s = args->given.overhead ? v->overhead
                    : a->ideal           ? sp_rl_constants[SP_RL_STEP_CONSTANT].without
                                         : sp_rl_constants[SP_RL_STEP_CONSTANT].value;
    a->devices =
        s->train_devices + s->other_devices + (a->colocated ? 0 : f->replicas * f->group_chips);
}

bool sp_load_sides(const struct sp_args *args, struct sp_report *report, struct sp_rl_sides *s,
                   struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct places at = {.train_devices = 0};
    memset(s, 0, sizeof *s);
    s->train_args = sp_new_args(args->world);
    s->generate_args = sp_new_args(args->world);
    s->algorithm = (enum sp_rl_algorithm)args->value.algorithm;
    const struct sp_command *const step = sp_find_command("step", error);
    s->train_args->n_options = sp_options_of(step, s->train_args->options);
    if (!args->given.prompts)
        return sp_fail(error, SP_USAGE, "--prompts N is needed: prompts per step");
    if (!place(args, &sources, &at, error))
        return false;
    s->train_devices = at.train_devices;
    s->other_devices = at.other_devices;
    s->has_engines = load_engines(args, &sources, &at, report, s, error);
    if (!s->has_engines || !load_training(args, &sources, at.train, s, error) ||
        !load_others(args, &sources, s, error) ||
        !read_without(args->value.without, s->asked.without, error))
        return false;
    ask(args, s);
    return true;
}

double sp_mean_price(const struct sp_rl_sides *s, double of_training, double of_engines)
{
    const double engines = s->generates.replicas * s->generates.group_chips;
    return (engines * of_engines + (s->asked.devices - engines) * of_training) / s->asked.devices;
}

static void add_number(struct sp_words *w, enum sp_option_id id, double value)
{
    sp_add_word(w, "--%s", sp_option_name(id));
    sp_add_word(w, "%.17g", value);
}

/* The plan that `step` chose, in the form in which `search` prints it. */
static void add_plan(struct sp_rl_sides *s)
{
    const struct sp_planned *const p = &s->trained;
    struct sp_words plan = {0};
    sp_plan_words(&p->plan, &p->model, &p->framework.framework, p->hw.slices, &plan);
    if (!s->train_args->given.framework)
        sp_add_option(&s->train_words, "framework", p->framework.framework.name);
    for (int i = 0; i + 1 < plan.n; i += 2)
        if (!s->train_args->given_at[sp_option_named(s->train_args, plan.word[i] + 2)->id])
            sp_add_option(&s->train_words, plan.word[i] + 2, plan.word[i + 1]);
    sp_free_words(&plan);
}

void sp_say_choices(struct sp_rl_sides *s, const struct sp_rl_answer *r)
{
    const struct serve *const f = &s->generates;
    struct sp_words *const w = &s->generate_words;
    const double engines = (double)sp_chips(&f->hw) / f->group_chips; /* `serve` has all of --hw */
    add_plan(s);
    if (!f->degrees.given && f->service.tp > 0) {
        add_number(w, SP_O_tp, f->service.tp);
        if (f->service.attention_dp > 1)
            add_number(w, SP_O_attention_dp, f->service.attention_dp);
    } else if (!f->degrees.given && engines > 1)
        add_number(w, SP_O_replicas, engines);
    add_number(w, SP_O_concurrency, sp_total_of_instances(r->rollout.at_once, engines));
}

void sp_free_sides(struct sp_rl_sides *s)
{
    sp_free_words(&s->train_words);
    sp_free_words(&s->generate_words);
    free(s->train_args);
    free(s->generate_args);
}
