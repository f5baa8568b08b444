/* The makespan of sp_uneven_pipeline_s and of the closed forms, built stage by stage. */
#include "core/search/makespan.h"

#include <math.h>

#include "core/smooth.h"

/* Parts by schedule. Closed forms: a stage works m times, and filling and draining pass the others.
 * GPipe: sums and the longest passes. 1F1B: paths that turn at two stages and work on a third, of
 * which both turns, one or none are still to come; pipeline_uneven.c has the terms. */
enum { SUM, MOST }; /* of closed forms: idle time; a stage's m micro-batches less its idle time */
enum {
    DONE = SUM,    /* forward and backward passes so far */
    MOST_F = MOST, /* longest passes */
    MOST_B,
    FEW_F, /* the same over stages that run all forward passes before a backward one */
    FEW_B,
    NO_TURN, /* longest path with neither turn; both go through all stages so far */
    OUT,     /* with the way out turned, and back */
    BACK,
    WHOLE /* with both */
};

static bool is_exact(const struct sp_built *b)
{
    return sp_schedules[b->schedule].exact;
}

static void add_passes(const struct sp_one_stage *stage, struct sp_makespan *m)
{
    double *const part = m->part;
    part[DONE] += stage->forward + stage->backward;
    part[MOST_F] = sp_larger(part[MOST_F], stage->forward);
    part[MOST_B] = sp_larger(part[MOST_B], stage->backward);
}

/* Paths that turn at a stage with all micro-batches waiting on one side. */
static void turn_with_few(double ahead, double m, double *part)
{
    const double waits = sp_smaller(ahead, m - 1);
    const double one = waits * part[MOST_F] + (m - 1) * part[FEW_B],
                 other = (m - 1) * part[FEW_F] + waits * part[MOST_B];
    part[WHOLE] = sp_larger(part[WHOLE], part[DONE] + sp_larger(one, other));
}

static void add_1f1b(const struct sp_built *b, int64_t at, const struct sp_one_stage *stage,
                     struct sp_makespan *makespan)
{
    double *const part = makespan->part;
    const double both = stage->forward + stage->backward, before = part[DONE];
    const double ahead = (double)(b->stages - 1 - at), m = (double)b->microbatches;
    const int64_t rounds = b->microbatches - b->stages + at - 1;
    add_passes(stage, makespan);
    if (b->microbatches <= b->stages - at) {
        part[FEW_F] = part[MOST_F];
        part[FEW_B] = part[MOST_B];
    }
    if (b->microbatches <= b->stages)
        turn_with_few(ahead, m, part);
    part[NO_TURN] += part[NO_TURN] > 0 ? 2 * both : 0;
    part[OUT] += part[OUT] > 0 ? both : 0;
    part[BACK] += part[BACK] > 0 ? both : 0;
    if (rounds >= 0)
        part[NO_TURN] = sp_larger(part[NO_TURN], 2 * part[DONE] - before + (double)rounds * both);
    if (part[NO_TURN] <= 0)
        return;
    part[OUT] = sp_larger(part[OUT], part[NO_TURN] + ahead * part[MOST_F]);
    part[BACK] = sp_larger(part[BACK], part[NO_TURN] + ahead * part[MOST_B]);
    part[WHOLE] = sp_larger(part[WHOLE], sp_larger(part[OUT] + ahead * part[MOST_B],
                                                   part[BACK] + ahead * part[MOST_F]));
}

static double worked(const struct sp_built *b, const struct sp_one_stage *stage)
{
    return (double)b->microbatches * (stage->forward + stage->backward) - stage->idle;
}

void sp_add_stage(const struct sp_built *b, int64_t at, const struct sp_one_stage *stage,
                  struct sp_makespan *m)
{
    if (b->schedule == SP_1F1B) {
        add_1f1b(b, at, stage, m);
    } else if (is_exact(b)) {
        add_passes(stage, m);
    } else {
        m->part[SUM] += stage->idle;
        m->part[MOST] = sp_larger(m->part[MOST], worked(b, stage));
    }
}

/* The time of a path through all stages, beyond the stages themselves, if its work is on this
 * stage: the way back, and the rounds. */
static double on_stage(const struct sp_built *b, int64_t at, double both, double sum)
{
    const int64_t rounds = b->microbatches - b->stages + at - 1;
    return rounds >= 0 ? sum + (double)rounds * both : 0;
}

struct sp_rest sp_put_in_front(const struct sp_built *b, int64_t at,
                               const struct sp_one_stage *stage, const struct sp_rest *behind)
{
    const double both = stage->forward + stage->backward;
    const double sum = behind->sum + (is_exact(b) ? both : stage->idle);
    const double peak = b->schedule == SP_1F1B ? on_stage(b, at, both, sum)
                        : is_exact(b)          ? both
                                               : worked(b, stage);
    return (struct sp_rest){sum, sp_larger(behind->peak, peak)};
}

double sp_least_makespan_s(const struct sp_built *b, const struct sp_makespan *m,
                           const struct sp_rest *rest)
{
    const double *const part = m->part;
    if (b->schedule == SP_1F1B)
        return sp_larger(
            sp_larger(part[WHOLE], part[DONE] + rest->sum + rest->peak),
            sp_larger(part[NO_TURN] > 0 ? part[NO_TURN] + 2 * rest->sum : 0,
                      part[OUT] > 0 ? sp_larger(part[OUT], part[BACK]) + rest->sum : 0));
    if (is_exact(b))
        return part[DONE] + rest->sum +
               (double)(b->microbatches - 1) * sp_larger(part[MOST_F] + part[MOST_B], rest->peak);
    return part[SUM] + rest->sum + sp_larger(part[MOST], rest->peak);
}
