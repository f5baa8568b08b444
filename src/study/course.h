/* Memory over a step: the first one, and those after it. */
#ifndef SP_COURSE_H
#define SP_COURSE_H

#include <scaleplan/memory.h>

#include "study/planned.h"

/* The moments of the fullest stage; none (n is 0) where its schedule cannot be played. */
struct sp_course {
    struct sp_memory_moment *moments; /* free() it */
    struct sp_memory_moment marks[SP_MEMORY_MARKS];
    int64_t n;
};
void sp_course_of(const struct sp_planned *planned, const struct sp_estimate *estimate,
                  struct sp_course *course);

#endif
