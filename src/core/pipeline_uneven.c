/* The length of a pipeline with uneven stages, by its longest paths. */
#include <math.h>

#include <scaleplan/pipeline.h>

/* Sums that every path is made of. */
struct sums {
    double forward, backward;               /* of all stages */
    double forward_before, backward_before; /* of the stages before this one */
};

static double gpipe_s(const double *f, const double *b, int64_t p, double m)
{
    double sum_f = 0, sum_b = 0, most_f = 0, most_b = 0;
    for (int64_t k = 0; k < p; k++) {
        sum_f += f[k];
        sum_b += b[k];
        most_f = fmax(most_f, f[k]);
        most_b = fmax(most_b, b[k]);
    }
    return sum_f + sum_b + (m - 1) * (most_f + most_b);
}

/* Stage k works without a gap from its first backward pass on. */
static double busy_path(double f, double b, double warm, double m, const struct sums *s)
{
    const double worked = s->forward_before + warm * f;
    const double first_back = s->forward + s->backward - s->backward_before - b;
    return fmax(worked, first_back) + m * (f + b) - warm * f + s->backward_before;
}

/* Stage k's last forward pass, and its way to the end and back. */
static double last_path(double f, double b, double warm, double m, const struct sums *s)
{
    const double worked = s->forward_before + warm * f;
    const double first_back = s->forward + s->backward - s->backward_before - b;
    const double sent = m > warm ? fmax(worked, first_back) + (m - warm) * (f + b) : worked;
    return sent + s->forward - s->forward_before - f + s->backward;
}

/* With fewer micro-batches than stages ahead, stage `turn` starts its backward passes only after
 * its last forward one; stage k then works off those that are left. */
static double turning_path(const double *f, const double *b, int64_t p, int64_t k, int64_t turn,
                           double m, const struct sums *s)
{
    double between = 0;
    for (int64_t i = k + 1; i <= turn; i++)
        between += f[i] + b[i];
    return s->forward_before + m * f[k] + between + (double)(p - turn) * b[k] + s->backward_before;
}

static double one_f_one_b_s(const double *f, const double *b, int64_t p, int64_t m)
{
    struct sums s = {0, 0, 0, 0};
    for (int64_t k = 0; k < p; k++) {
        s.forward += f[k];
        s.backward += b[k];
    }
    double longest = 0;
    for (int64_t k = 0; k < p; k++) {
        const double warm = (double)(m < p - k ? m : p - k);
        longest = fmax(longest, busy_path(f[k], b[k], warm, (double)m, &s));
        longest = fmax(longest, last_path(f[k], b[k], warm, (double)m, &s));
        const bool ends = k == 0 || k >= p - 2; /* the turn matters where a stage is heavier */
        const int64_t turns[] = {p - m, p - 2, p - 1};
        for (int i = 0; i < 3 && ends && m <= p - k; i++)
            if (turns[i] >= p - m && turns[i] >= k)
                longest = fmax(longest, turning_path(f, b, p, k, turns[i], (double)m, &s));
        s.forward_before += f[k];
        s.backward_before += b[k];
    }
    return longest;
}

double sp_uneven_pipeline_s(enum sp_schedule schedule, const double *forward_s,
                            const double *backward_s, int64_t stages, int64_t microbatches)
{
    if (schedule == SP_GPIPE)
        return gpipe_s(forward_s, backward_s, stages, (double)microbatches);
    if (schedule == SP_1F1B)
        return one_f_one_b_s(forward_s, backward_s, stages, microbatches);
    return NAN;
}
