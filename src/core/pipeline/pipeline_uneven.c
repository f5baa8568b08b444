/* The makespan of a pipeline with uneven stages, as its longest path. */
#include <math.h>

#include <scaleplan/pipeline.h>

#include "core/smooth.h"
#include "core/require.h"

/* The maximum so far, raised by a value that may be NAN. */
static double raised(double most, double value)
{
    return value > most ? value : most;
}

static double gpipe_s(const double *f, const double *b, int64_t p, double m)
{
    double sum_f = 0, sum_b = 0, most_f = 0, most_b = 0;
    for (int64_t k = 0; k < p; k++) {
        sum_f += f[k];
        sum_b += b[k];
        most_f = raised(most_f, f[k]);
        most_b = raised(most_b, b[k]);
    }
    return sum_f + sum_b + (m - 1) * (most_f + most_b);
}

/* Paths from the first stage to a stage and back. The way out takes each stage's forward pass once,
 * and the slowest one's once more per micro-batch that it waits for; the way back likewise with
 * backward passes. s. */
struct turn {
    double first;  /* out with as many waits as the stage runs ahead, straight back */
    double last;   /* straight out, back with as many waits */
    double before; /* out and back over the earlier stages, once */
};

/* Sums and maxima over stages so far; `few`: over stages that run all m forward passes before a
 * backward one. */
struct up_to {
    double f, b, most_f, most_b, few_f, few_b;
};

/* Longest path that turns at a stage with all m waits on one side (only possible if stages run all
 * forward passes first) and `ahead` on the other. */
static double turn_of_few(const struct up_to *at, double ahead, double m)
{
    return at->f + at->b +
           sp_larger(ahead * at->most_f + (m - 1) * at->few_b,
                     (m - 1) * at->few_f + ahead * at->most_b);
}

/* Finds the turns of every stage; returns the longest turn_of_few, 0 if all stages run ahead less
 * than m. */
static double find_turns(const double *f, const double *b, int64_t p, int64_t m, struct turn *turns)
{
    struct up_to at = {0};
    double longest = 0;
    for (int64_t k = 0; k < p; k++) {
        const double ahead = (double)(p - 1 - k);
        turns[k].before = at.f + at.b;
        at.f += f[k];
        at.b += b[k];
        at.most_f = raised(at.most_f, f[k]);
        at.most_b = raised(at.most_b, b[k]);
        if (m <= p - k) {
            at.few_f = at.most_f;
            at.few_b = at.most_b;
        }
        turns[k].first = at.f + at.b + ahead * at.most_f;
        turns[k].last = at.f + at.b + ahead * at.most_b;
        if (m <= p)
            longest = raised(longest, turn_of_few(&at, fmin(ahead, (double)m - 1), (double)m));
    }
    return longest;
}

/* The longest path works on one stage k from its first backward to its last forward pass, for m - p
 * + k rounds of f + b less the two passes at its ends, between turns at or after k. Working on two
 * stages is never longer than on the slower alone. */
static double one_f_one_b_s(const double *f, const double *b, int64_t p, int64_t m)
{
    struct turn turns[SP_MAX_STAGES];
    double longest = find_turns(f, b, p, m, turns), first = 0, last = 0;
    for (int64_t k = p; k-- > 0 && m > p - k;) {
        first = raised(first, turns[k].first);
        last = raised(last, turns[k].last);
        const double rounds = (double)(m - p + k - 1);
        longest = raised(longest, first + last - turns[k].before + rounds * (f[k] + b[k]));
    }
    return longest;
}

double sp_uneven_pipeline_s(enum sp_schedule schedule, const double *forward_s,
                            const double *backward_s, int64_t stages, int64_t microbatches)
{
    sp_require(stages >= 1 && stages <= SP_MAX_STAGES, "there must be 1 to SP_MAX_STAGES stages");
    if (schedule == SP_GPIPE)
        return gpipe_s(forward_s, backward_s, stages, (double)microbatches);
    if (schedule == SP_1F1B)
        return one_f_one_b_s(forward_s, backward_s, stages, microbatches);
    return NAN;
}
