/* The plan that `search` expects for the problem of another command. */
#include "cli/expected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/plan_rows.h"
#include "cli/searching.h"
#include "cli/words.h"

struct sp_args *sp_args_of_words(const struct sp_words *w, const struct sp_args *asked)
{
    struct sp_error error = {0};
    struct sp_args *const args = sp_new_args(NULL);
    const struct sp_command *const command = sp_find_command(w->word[0], &error);
    const bool ok = command && sp_parse_command(command, w->n, w->word, args, &error);
    args->world = asked->world;
    if (ok)
        return args;
    free(args);
    return NULL;
}

void sp_add_problem(const struct sp_args *args, struct sp_words *words)
{
    static const enum sp_option_id asked_alike[] = {
        SP_O_model,     SP_O_shape,       SP_O_hw,        SP_O_network,      SP_O_batch,
        SP_O_seq,       SP_O_trainable,   SP_O_lora_rank, SP_O_lora_targets, SP_O_base_format,
        SP_O_precision, SP_O_tokens,      SP_O_price,     SP_O_capex,        SP_O_years,
        SP_O_in_use,    SP_O_usd_per_kwh, SP_O_constants, SP_O_config_dir,   SP_O_idle,
        SP_NO_OPTION};
    sp_add_given(words, args, asked_alike);
    if (args->given.remat) {
        sp_add_word(words, "--fix");
        sp_add_word(words, "remat=%s", args->text[SP_O_remat]);
    }
}

char *sp_search_command(const struct sp_args *args)
{
    struct sp_words w = {0};
    if (args->value.params > 0)
        return NULL;
    sp_add_word(&w, "scaleplan");
    sp_add_word(&w, "search");
    sp_add_problem(args, &w);
    char *const line = sp_shell_line(&w);
    sp_free_words(&w);
    return line;
}

void sp_say_search(struct sp_report *report, const struct sp_args *args)
{
    const enum sp_where before = sp_where_now(report);
    char *const line = sp_search_command(args);
    sp_stand_in(report, SP_BRIEF);
    if (line)
        sp_line(report, "next       %s", line);
    sp_stand_in(report, before);
    free(line);
}

/* Looks for the plan; the search's own remarks are discarded. */
static struct sp_expected *look(const struct sp_args *args, struct sp_report *report,
                                struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    struct sp_expected *x = NULL;
    struct sp_searching s = {0};
    if (sp_open_search(args, &sources, report, &s, error)) {
        size_t n;
        sp_look(&s, 0);
        sp_finish_search(&s.of);
        struct sp_ranked *const all = sp_rank_plans(&s.of, &n);
        const struct sp_candidate *const m = s.of.machine[0];
        if (n > 0) {
            x = sp_must(malloc(sizeof *x));
            sp_planned_of(&m->base, all[0].found, &x->planned);
            sp_estimate_planned(&x->planned, s.of.convention, SP_WITH_ALL & ~SP_WITH_PLAYED,
                                &x->estimate);
            x->run_step_s = sp_run_step_s(&s.of, all[0].found);
            x->planned.problem.machine = NULL; /* it is the candidate's */
            char *const line = sp_step_line(&s, m, &x->planned.plan, NULL);
            x->command = sp_make_text("scaleplan %s", line);
            free(line);
        }
        free(all);
    }
    sp_close_search(&s.of);
    return x;
}

struct sp_expected *sp_expect_plan(const struct sp_args *asked)
{
    struct sp_error error = {0};
    struct sp_words w = {0};
    sp_add_word(&w, "search");
    sp_add_problem(asked, &w);
    struct sp_args *const args = sp_args_of_words(&w, asked);
    struct sp_report *const report = sp_report_new("search");
    struct sp_expected *const x = args ? look(args, report, &error) : NULL;
    sp_report_free(report);
    free(args);
    sp_free_words(&w);
    return x;
}

struct sp_expected *sp_expect_run(const struct sp_args *args, const struct sp_report *report,
                                  const struct sp_model *model)
{
    return args->given.mfu || sp_sources_of(args).textbook || !sp_model_has_shape(model) ||
                   !sp_takes_scope(report, "expected")
               ? NULL
               : sp_expect_plan(args);
}

double sp_mfu_expected(const struct sp_expected *x)
{
    return sp_expected_mfu(x->estimate.rates.mfu, x->run_step_s / x->estimate.time.step);
}

void sp_free_expected(struct sp_expected *x)
{
    if (x)
        free(x->command);
    free(x);
}

void sp_put_expected(struct sp_report *report, const struct sp_expected *x, double tokens,
                     double usd_per_h)
{
    sp_scope(report, "expected");
    sp_put_step(report, &x->planned, &x->estimate);
    if (!isnan(tokens))
        sp_put_run(report, &x->planned, x->run_step_s, tokens, usd_per_h);
    sp_scope(report, "");
}
