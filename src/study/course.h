/* Memory over the first step and later ones. */
#ifndef SP_COURSE_H
#define SP_COURSE_H

#include <scaleplan/memory.h>

#include "study/planned.h"

/* Moments of the fullest stage; none (n = 0) if its schedule cannot be simulated. */
struct sp_course {
    struct sp_memory_moment *moments; /* free() it */
    struct sp_memory_moment marks[SP_MEMORY_MARKS];
    int64_t n;
};
void sp_course_of(const struct sp_planned *planned, const struct sp_estimate *estimate,
                  struct sp_course *course);

#endif
