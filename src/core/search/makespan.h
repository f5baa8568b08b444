/* The makespan of a pipeline built stage by stage: the time that its first stages leave to the
 * rest. */
#ifndef SP_MAKESPAN_H
#define SP_MAKESPAN_H

#include <scaleplan/plan.h>

/* The effect of a pipeline's first stages on its makespan. It grows with every part: of two ways to
 * the same layer, one with no larger part ends no later, for every continuation. */
enum { SP_MAKESPAN_PARTS = 9 };
struct sp_makespan {
    double part[SP_MAKESPAN_PARTS];
};

/* A stage: time of a micro-batch and pass, and idle time per other stage by the closed form. s. */
struct sp_one_stage {
    double forward, backward, idle;
};

/* A pipeline under a schedule. */
struct sp_built {
    enum sp_schedule schedule;
    int64_t stages, microbatches;
};

/* Appends stage `at`, counted from 0. */
void sp_add_stage(const struct sp_built *b, int64_t at, const struct sp_one_stage *stage,
                  struct sp_makespan *m);

/* Least values for all stages from a given one on: the sum of one part, and the largest of the
 * other. */
struct sp_rest {
    double sum, peak;
};

/* Puts stage `at` in front of those that follow it. */
struct sp_rest sp_put_in_front(const struct sp_built *b, int64_t at,
                               const struct sp_one_stage *stage, const struct sp_rest *behind);

/* Least makespan of a pipeline that continues with stages of at least `rest`. s. */
double sp_least_makespan_s(const struct sp_built *b, const struct sp_makespan *m,
                           const struct sp_rest *rest);

#endif
