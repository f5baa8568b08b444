/* A `fit` problem of a unit test: names in, terms and strategies out. */
#ifndef SP_TEST_FIT_CASE_H
#define SP_TEST_FIT_CASE_H

#include "check.h"

#include "config/load.h"

struct fit_case {
    struct sp_model model;
    struct sp_hardware hw;
    struct sp_precision precision;
    struct sp_fit_input in;
    struct sp_fit_terms t;
};

/* Loads the configs; precision adam10, policy mlp, overlapping axes, all axes, one pass per
 * step. */
static inline void load_case(struct fit_case *c, const char *model, const char *hw, double batch,
                             double seq)
{
    const struct sp_sources sources = {0};
    struct sp_error error = {0};
    if (!sp_load_model(model, &sources, &c->model, &error) ||
        !sp_load_hardware(hw, &sources, &c->hw, &error) ||
        !sp_load_precision("adam10", &sources, &c->precision, &error))
        fail_msg("%s", error.text);
    c->in = (struct sp_fit_input){.model = &c->model,
                                  .hw = &c->hw,
                                  .precision = &c->precision,
                                  .batch_tokens = batch,
                                  .seq = seq,
                                  .remat = SP_REMAT_MLP,
                                  .accumulate = 1};
    c->t = sp_fit_terms(&c->in);
}

#endif
