/* The components of a step's time: their rows, and their place in struct sp_step_time. */
#ifndef SP_TIME_PARTS_H
#define SP_TIME_PARTS_H

#include <stddef.h>

#include <scaleplan/step.h>

#include "answer/quantity.h"

struct sp_time_part {
    enum sp_quantity_id id;
    const char *name;
    size_t offset;
};
enum { SP_TIME_PARTS = 14 };
extern const struct sp_time_part sp_time_parts[SP_TIME_PARTS];

/* The i-th component of a step. s. */
double sp_time_part(const struct sp_step_time *time, size_t i);

/* The largest component other than the first, matmuls. */
size_t sp_most_time_beside_matmuls(const struct sp_step_time *time);

#endif
