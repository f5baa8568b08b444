/* The closed-form rows of the bundled runs: Korthikanti et al. 2022, figure 1, as others digitised
 * it. Not measurements; the formulas that `memory` shows must reproduce them. */
#include "check.h"

#include <string.h>

#include <scaleplan/scaleplan.h>

/* Figure 1: 18 bytes a parameter over t p, and all layers of the first stage: sbhL times the rule's
 * bytes, times 1 + (p-1)/(pv) micro-batches when interleaved. */
static const struct {
    const char *id;
    double params, layers, h, a, micro_batch, t, p, v;
    bool selective; /* with sequence parallelism */
    double gb;      /* as printed in the data */
} rows[] = {
    {"pap-009", 22.058e9, 48, 6144, 64, 4, 8, 1, 1, false, 112.542},
    {"pap-010", 22.058e9, 48, 6144, 64, 4, 8, 1, 1, true, 59.190},
    {"pap-011", 174.575e9, 96, 12288, 96, 1, 8, 8, 3, false, 120.695},
    {"pap-012", 174.575e9, 96, 12288, 96, 1, 8, 8, 3, true, 62.185},
    {"pap-013", 529.531e9, 105, 20480, 128, 1, 8, 35, 3, false, 156.406},
    {"pap-014", 529.531e9, 105, 20480, 128, 1, 8, 35, 3, true, 58.752},
    {"pap-015", 1007.944e9, 128, 25600, 160, 1, 8, 64, 1, false, 176.318},
    {"pap-016", 1007.944e9, 128, 25600, 160, 1, 8, 64, 1, true, 63.911},
};

static void figure_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double layer =
            sp_gpt_activation_bytes(rows[i].selective ? SP_GPT_SELECTIVE : SP_GPT_TP, 2048,
                                    rows[i].micro_batch, rows[i].h, rows[i].a, rows[i].t);
        const struct sp_pipeline q = {.schedule = rows[i].v > 1 ? SP_INTERLEAVED : SP_1F1B,
                                      .stages = (int64_t)rows[i].p,
                                      .microbatches = 4096 * (int64_t)rows[i].p,
                                      .chunks = (int64_t)rows[i].v};
        const double in_flight =
            rows[i].p > 1 ? rows[i].p * (1 + (rows[i].p - 1) / (rows[i].p * rows[i].v)) : 1;
        const double kept = layer * rows[i].layers / rows[i].p *
                            (rows[i].v > 1 || rows[i].p == 1 ? in_flight : rows[i].p);
        const double states = 18 * rows[i].params / (rows[i].t * rows[i].p);
        /* read off a figure: within 1.5 % */
        assert_close((kept + states) / 1e9, rows[i].gb, 0.015);
        /* and the schedule's own count of micro-batches in flight is that of the paper */
        if (rows[i].v > 1)
            assert_close(sp_in_flight(&q, 0), in_flight, 0.02);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figure_1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
