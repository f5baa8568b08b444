/* Shared by the files of `fit`: inputs and header in fit.c, strategies in fit_plans.c, what turns a
 * no into a yes in fit_ways.c. */
#ifndef SP_CMD_FIT_H
#define SP_CMD_FIT_H

#include "cli/price.h"

/* What the command knows after its options are read. */
struct fit {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_framework_pair frameworks;
    struct sp_fit_input in;
    struct sp_fit_terms t;
    const char *batch_origin;
    bool recipe_inferred, textbook; /* no --precision; --constants textbook */
    double mfu;
    struct sp_price price;
    int only; /* strategy asked for, or -1 */
    struct sp_report *report;
};

extern const char *const sp_strategy_titles[SP_STRATEGIES];
extern const char *const sp_link_titles[SP_LINKS];

/* Puts r, the ratio by which a strategy moves more weights than it computes with; `of_weights` is
 * its traffic over that of weights and gradients. */
void sp_put_weights_ratio(const struct fit *fit, double of_weights);

/* Loads what the closed forms stand on, which point into `fit`: model, machine, recipe, batch. The
 * report, --mfu and prices are the caller's. */
bool sp_load_fit(const struct sp_args *args, struct fit *fit, struct sp_error *error);

/* The smallest change for each no, as numbers and in words. */
void sp_put_way_out(const struct fit *f, const struct sp_strategy *s, bool real_axes);

/* One scope and one row per strategy, and the way out of each no. */
void sp_put_strategies(const struct fit *f);

/* Everything that a strategy, the best plan and a mesh that was asked for have in common. */
void sp_put_strategy(const struct fit *f, const struct sp_strategy *s);

/* Its verdict's reason in one line. */
void sp_put_reason(const struct fit *f, const struct sp_strategy *s);

/* The mesh of --mesh: the rule's verdict, and what it is on real axes. */
bool sp_put_given_mesh(const struct fit *f, const char *mesh, struct sp_error *error);

/* The best plan on the machine of --against, and how it compares. */
bool sp_put_against(const struct fit *f, const char *other, const struct sp_sources *sources,
                    struct sp_error *error);

/* The decision guide's questions for this model and machine, and their picture. */
void sp_put_path(const struct fit *f);
struct sp_figure *sp_plot_path(const struct sp_args *args, const struct sp_report *report,
                               struct sp_error *error);

/* Days and cost of the whole run with the best plan, where --tokens says how long it is. */
bool sp_put_fit_run(struct fit *f, const struct sp_args *args, struct sp_error *error);

/* Writes the report as a page of HTML: nothing in it is loaded or run, all text is escaped. */
bool sp_write_fit_page(const struct fit *f, const char *path, struct sp_error *error);

/* The best plan on real axes. */
void sp_put_best(const struct fit *f);

#endif
