/* rl: a step of reinforcement learning: generation, scoring passes, training, weight transfer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <scaleplan/flops.h>

#include "base/memory.h"
#include "cli/companions.h"
#include "cli/launched.h"
#include "cli/plan_options.h"
#include "cli/price.h"
#include "cli/rl_search.h"
#include "cli/rl_sides.h"
#include "cli/tuning.h"
#include "pictures/rl.h"

/* clang-format off */
static const struct sp_taken options[] = {
    SP_OPTIONS_FROM,
    SP_OPTIONS_MODEL, SP_OPTIONS_MACHINE, {.id = SP_EACH_FIELD}, SP_OPTIONS_STACK,
    SP_OPTIONS_TUNING,
    SP_TAKE(algorithm, .fallback = "grpo", .choices = sp_rl_algorithms),
    SP_TAKE(prompts),
    SP_TAKE(group, .fallback = "8"),
    SP_TAKE(kept, .fallback = "1"),
    SP_TAKE(input, .fallback = "1024"),
    SP_TAKE(output, .fallback = "1024"),
    SP_TAKE(max_response),
    SP_TAKE(search),
    SP_TAKE(colocate, .excludes = SP_THESE(SP_O_split, SP_O_gen_hw)),
    SP_TAKE(split, .excludes = SP_THESE(SP_O_gen_hw)),
    SP_TAKE(gen_hw),
    SP_TAKE(stale, .fallback = "0"),
    SP_TAKE(partial),
    SP_TAKE(epochs, .fallback = "1"),
    SP_TAKE(minibatches, .fallback = "1"),
    SP_TAKE(reference),
    SP_TAKE(critic),
    SP_TAKE(reward),
    SP_TAKE(rollout_engine),
    SP_TAKE(gen_tp),
    SP_TAKE(gen_pp),
    SP_TAKE(gen_ep),
    SP_TAKE(gen_attention_dp),
    SP_TAKE(gen_profile),
    SP_TAKE(weights),
    SP_TAKE(kv),
    SP_TAKE(memory_fraction),
    SP_TAKE(prefix_hit),
    SP_TAKE(sleep, .fallback = "both", .choices = sp_rl_sleeps),
    SP_TAKE(refit, .fallback = "whole", .choices = sp_rl_refits),
    SP_TAKE(refit_bandwidth),
    SP_TAKE(overhead),
    SP_TAKE(loop, .fallback = "fitted", .choices = sp_rl_loops),
    SP_TAKE(pack),
    SP_TAKE(without),
    SP_TAKE(price),
    SP_OPTIONS_CAPEX,
    SP_TAKE(check),
    SP_OPTION_PLOT,
};
/* clang-format on */

static const struct sp_example examples[] = {
    {"rl --model llama3-8b --hw h100-16 --prompts 32 --group 16 --input 512 --output "
     "lognormal:1000:0.8 --max-response 4096",
     "a GRPO step, colocated"},
    {"rl --model llama3-8b --hw h100-32 --split 16:16 --stale 1 --prompts 64 --group 16 --output "
     "uniform:1:4096 --pack 8192",
     "generation on separate devices, one step ahead"},
    {"rl --model llama3-8b --hw h100-16 --gen-hw h20-16 --prompts 64 --algorithm ppo --group 1",
     "PPO with a critic, generation on other chips"},
    {"rl --from run_grpo.sh --hw h100 --output lognormal:1500:0.6",
     "both sides from a launch of verl, NeMo-RL, OpenRLHF or slime"},
    {NULL, NULL},
};

struct rl {
    const struct sp_rl_asked *a;
    const struct sp_rl_answer *r;
    const struct sp_planned *p;
    const struct serve *f;
    const struct sp_rl_sides *sides;
    const char *algorithm, *loop, *train_line, *generate_line;
    struct sp_price price;
    double devices, seq, input, output, tokens, chips, weights, train_chips;
    double generation_s, logprob_s, reference_s, critic_s, reward_s, update_s, refit_s, wake_s;
    double step_of_update, rate, parts;
    double longer, train_longer, row_answers, over;
    bool is_split, sleeps;
    bool together, beside; /* sides, or states, that do not leave the devices */
    const char *largest;   /* part of the step, which takes largest_s */
    double largest_s;
    char at_once[80], longer_text[80]; /* of an engine's answers; what a real loop adds */
    char assumed[160];                 /* lengths and answers that nobody gave; "" */
    const struct sp_rl_found *found;   /* NULL: nothing was searched */
};

/* Whether the short text has a line to spare for what is no part. */
#define HAS_ROOM (!s->found && !(s->critic_s + s->reward_s > 0))

#define SP_PART rl
#define SP_PART_OF struct rl
#include "answer/put_rows.h"

/* Says how many answers of an engine run at once. */
static void say_at_once(struct rl *s)
{
    struct sp_text room;
    snprintf(s->at_once, sizeof s->at_once, "each with %s of its %s answers at once",
             sp_human_text_in(&room, s->r->rollout.at_once, SP_COUNT),
             sp_human_text(s->r->answers_each, SP_COUNT));
}

/* Says which lengths are the defaults. */
static void say_assumed(const struct sp_args *args, struct rl *s)
{
    if (args->value.from)
        return;
    if (!args->given.output)
        sp_append(s->assumed, sizeof s->assumed, "answers of %s tokens (--output%s)",
                  sp_human_text(s->output, SP_TOKENS),
                  args->given.max_response ? "; --max-response is only a limit" : "");
    if (!args->given.input)
        sp_append(s->assumed, sizeof s->assumed, "%sprompts of %s (--input)",
                  s->assumed[0] ? ", " : "", sp_human_text(s->input, SP_TOKENS));
    if (!args->given.group)
        sp_append(s->assumed, sizeof s->assumed, "%s%s per prompt (--group)",
                  s->assumed[0] ? ", " : "", sp_human_text(s->a->group, SP_COUNT));
}

/* The part of the step to shorten first. */
static void find_largest(struct rl *s)
{
    const struct {
        const char *name;
        double takes_s;
    } parts[] = {{"generation", s->generation_s},
                 {"training", s->r->training_s},
                 {"weights", s->refit_s},
                 {"sleep", s->wake_s},
                 {"all else", s->a->overhead_s}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (i == 0 || parts[i].takes_s > s->largest_s) {
            s->largest = parts[i].name;
            s->largest_s = parts[i].takes_s;
        }
}

static void fill(const struct sp_rl_sides *sides, const struct sp_rl_answer *r, struct rl *s)
{
    const struct sp_rl_asked *const a = &sides->asked;
    const struct serve *const f = &sides->generates;
    *s = (struct rl){.a = a, .r = r, .p = &sides->trained, .f = f};
    s->algorithm = sp_rl_algorithms[sides->algorithm];
    s->devices = a->devices;
    s->train_chips = (double)sp_chips(&sides->trained.hw);
    s->input = f->service.input;
    s->output = f->service.output;
    s->seq = s->input + s->output;
    s->tokens = sp_rl_tokens(a->prompts, a->group, s->input, s->output);
    s->rate = sp_tokens_over_time(s->tokens, r->step_s);
    s->chips = f->service.chips;
    s->weights = f->served.weights;
    s->parts = a->refit_parts ? s->chips : 1;
    s->generation_s = r->part_s[SP_RL_GENERATION];
    s->logprob_s = r->part_s[SP_RL_LOGPROB];
    s->reference_s = r->part_s[SP_RL_REFERENCE];
    s->critic_s = r->part_s[SP_RL_CRITIC];
    s->reward_s = r->part_s[SP_RL_REWARD];
    s->update_s = r->part_s[SP_RL_UPDATE];
    s->refit_s = r->part_s[SP_RL_REFIT];
    s->wake_s = r->part_s[SP_RL_WAKE];
    s->step_of_update = r->training.time.step;
    s->longer = r->generation_longer;
    s->train_longer = r->passes_longer;
    if (s->longer > 1)
        snprintf(s->longer_text, sizeof s->longer_text,
                 "; published steps take %.3g times as long (--loop)", s->longer);
    s->loop = sp_rl_loops[a->ideal];
    s->row_answers = a->prompts * a->group / a->minibatches;
    s->over = sides->room > 0 ? sp_lengths_over(&sides->lengths, sides->room / 2) : 0;
    s->sides = sides;
    s->is_split = !a->colocated;
    s->sleeps = a->colocated && a->sleep == SP_RL_SLEEP_BOTH;
    s->together = a->colocated && a->sleep == SP_RL_SLEEP_NONE;
    s->beside = a->colocated && a->sleep != SP_RL_SLEEP_BOTH;
    find_largest(s);
}

/* The mean over the devices: engines on a separate machine have its price. */
static bool take_price(const struct sp_args *args, const struct sp_rl_sides *sides,
                       struct sp_price *price, struct sp_error *error)
{
    struct sp_price engines;
    if (!sp_price_of(args, &sides->trained.hw, args->value.hw, price, error))
        return false;
    if (!args->given.gen_hw)
        return true;
    if (!sp_price_of(args, &sides->generates.hw, args->value.gen_hw, &engines, error))
        return false;
    price->usd_per_h = sp_mean_price(sides, price->usd_per_h, engines.usd_per_h);
    return true;
}

static bool answer(const struct sp_args *args, const struct sp_rl_found *found,
                   struct sp_report *report, struct sp_error *error)
{
    struct sp_rl_sides *const sides = sp_must(calloc(1, sizeof *sides));
    struct sp_rl_answer *const r = sp_must(calloc(1, sizeof *r));
    struct rl s;
    const bool ok = sp_load_sides(args, report, sides, error);
    if (ok) {
        sp_estimate_rl(&sides->asked, r);
        fill(sides, r, &s);
        s.found = found;
        say_at_once(&s);
        say_assumed(args, &s);
        sp_say_choices(sides, r);
        char *const train = sp_shell_line(&sides->train_words);
        char *const generate = sp_shell_line(&sides->generate_words);
        s.train_line = train;
        s.generate_line = generate;
        if (take_price(args, sides, &s.price, error))
            put_rl_rows(report, &s);
        free(train);
        free(generate);
    }
    sp_free_sides(sides);
    free(sides);
    free(r);
    return error->lines == 0;
}

static bool answer_best(const struct sp_args *args, struct sp_report *report,
                        struct sp_error *error)
{
    struct sp_rl_found found;
    struct sp_args *const best = sp_new_args(args->world);
    const bool ok = sp_search_rl(args, &found, error) &&
                    sp_take_rl_choice(args, &found.best, best, error) &&
                    answer(best, &found, report, error);
    free(best);
    return ok;
}

static bool run(const struct sp_args *typed, struct sp_report *report, struct sp_error *error)
{
    struct sp_args *const args = sp_new_args(typed->world);
    struct sp_launch *const launch = sp_must(calloc(1, sizeof *launch));
    bool ok = sp_take_launch(typed, launch, args, error);
    if (ok && typed->given.search)
        ok = answer_best(args, report, error);
    else if (ok)
        ok = answer(args, NULL, report, error);
    if (ok)
        sp_note_rollout(report, launch, typed);
    free(launch);
    free(args);
    return ok;
}

/* The picture of a step whose options are complete. */
static struct sp_figure *draw(const struct sp_args *args, struct sp_error *error)
{
    struct sp_rl_sides *const sides = sp_must(calloc(1, sizeof *sides));
    struct sp_rl_answer *const r = sp_must(calloc(1, sizeof *r));
    struct sp_report *const apart = sp_report_new("rl");
    struct sp_figure *figure = NULL;
    if (sp_load_sides(args, apart, sides, error)) {
        sp_estimate_rl(&sides->asked, r);
        const struct sp_loop loop = {
            .model = sides->trained.model.name,
            .hw = sides->trained.hw.name,
            .part_s = {r->part_s[SP_RL_GENERATION], r->part_s[SP_RL_LOGPROB],
                       r->part_s[SP_RL_REFERENCE], r->part_s[SP_RL_CRITIC], r->part_s[SP_RL_REWARD],
                       r->part_s[SP_RL_UPDATE], sides->asked.overhead_s, r->part_s[SP_RL_REFIT],
                       r->part_s[SP_RL_WAKE]},
            .step_s = r->step_s,
            .work_s = r->work_s,
            .apart = !sides->asked.colocated,
            .ahead = sides->asked.stale > 0};
        figure = sp_draw_loop(&loop);
    }
    sp_free_sides(sides);
    sp_report_free(apart);
    free(sides);
    free(r);
    return figure;
}

static struct sp_figure *plot(const struct sp_args *typed, const struct sp_report *report,
                              struct sp_error *error)
{
    struct sp_args *const args = sp_new_args(typed->world), *const best = sp_new_args(typed->world);
    struct sp_launch *const launch = sp_must(calloc(1, sizeof *launch));
    struct sp_rl_found found;
    struct sp_figure *figure = NULL;
    (void)report;
    if (sp_take_launch(typed, launch, args, error)) {
        sp_copy_args(best, args);
        if (!typed->given.search || (sp_search_rl(args, &found, error) &&
                                     sp_take_rl_choice(args, &found.best, best, error)))
            figure = draw(best, error);
    }
    free(launch);
    free(best);
    free(args);
    return figure;
}

const struct sp_command sp_cmd_rl = {
    .name = "rl",
    .summary = "a reinforcement learning step: generation, training and weight transfer",
    .about = "Estimates a step of GRPO, PPO, DAPO or RLOO on --prompts x --group answers: "
             "generation as in `serve`, with the tail of long answers; training and the passes of "
             "all models as in `step`; weight transfer to the engines; states moved to the hosts. "
             "Both sides take turns on the same devices or have their own (--split, --gen-hw), "
             "with generation up to --stale steps ahead.",
    SP_OPTIONS(options),
    .examples = examples,
    .fits_key = "memory.fits",
    .run = run,
    .plot = plot,
};
