/* Memory over a step: the first one and those after it, for `step`'s report and picture. */
#ifndef SP_STEP_COURSE_H
#define SP_STEP_COURSE_H

#include <scaleplan/memory.h>

#include "commands/step_report.h"
#include "pictures/plot.h"

/* The moments of the fullest stage; none (n is 0) where its schedule cannot be played. */
struct course {
    struct sp_memory_moment *moments; /* to be freed */
    struct sp_memory_moment marks[SP_MEMORY_MARKS];
    int64_t n;
};
void sp_course_of(const struct sp_planned *planned, const struct sp_estimate *estimate,
                  struct course *course);

/* Peaks and named moments, and their lines. */
void sp_put_course(struct sp_report *report, const struct sp_planned *planned,
                   const struct sp_estimate *estimate);

/* The panel of a picture: bytes over time. */
void sp_draw_course(struct sp_figure *figure, const struct course *course, double capacity);

#endif
