/* The plan that `search` expects for the problem of another command. */
#ifndef SP_CLI_EXPECTED_H
#define SP_CLI_EXPECTED_H

#include "cli/words.h"
#include "answer/report.h"
#include "cli/options.h"
#include "study/planned.h"

struct sp_expected {
    struct sp_planned planned;
    struct sp_estimate estimate;
    double run_step_s; /* sp_run_step_s */
    char *command;     /* that estimates this plan */
};

/* The options of a command line without the program's name, in the world of `asked`; NULL: it is
 * refused. free() them before the words. */
struct sp_args *sp_args_of_words(const struct sp_words *words, const struct sp_args *asked);

/* Adds the options of `search` that state the problem of another command, and its price. */
void sp_add_problem(const struct sp_args *args, struct sp_words *words);

/* The search for the best plan of the same problem; NULL where a model is known only by its size.
 * Free it. */
char *sp_search_command(const struct sp_args *args);

/* Says in the short text of a plan that does not fit that a search finds one. */
void sp_say_search(struct sp_report *report, const struct sp_args *args);

/* The first plan of `search` with the options of `asked` that it has too; NULL: no plan fits, or it
 * refuses them. sp_free_expected it. */
struct sp_expected *sp_expect_plan(const struct sp_args *asked);
void sp_free_expected(struct sp_expected *expected);

/* The MFU of a run on it. */
double sp_mfu_expected(const struct sp_expected *expected);

/* The same as sp_expect_plan for a run of the model whose days are asked for: NULL if --mfu gives
 * the speed, by the textbook, without a shape, or where no key of "expected" is wanted. */
struct sp_expected *sp_expect_run(const struct sp_args *args, const struct sp_report *report,
                                  const struct sp_model *model);

/* Puts the plan under "expected", as `step` would, with the days and the cost of a run of `tokens`;
 * NAN: no run. */
void sp_put_expected(struct sp_report *report, const struct sp_expected *expected, double tokens,
                     double usd_per_h);

#endif
