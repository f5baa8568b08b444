/* Keys of the files of configs/logs. */
#include "config/field_rows.h"
#include "config/log_words.h"

#define OF struct sp_log_words
static const struct sp_field log_fields[] = {
    NAMED,
    TEXT(iteration,
         "what stands before the number of a step; a list has alternatives, here and below",
         .required = true),
    TEXT(step_time, "what stands before the time of a step"),
    REAL(time_unit_s, "s", 1e-9, 3600, "seconds of a unit of that time", .fallback = 1),
    TEXT(device_rate, "what stands before tokens/s per device, where no time is printed"),
    TEXT(batch, "what stands before the sequences of the step's batch"),
    TEXT(reserved, "what stands before the most memory that the allocator held"),
    TEXT(allocated, "what stands before the most memory that tensors took"),
    REAL(memory_unit_bytes, "bytes", 1, 1e12, "bytes of a unit of both", .fallback = 1),
    REMARKS("where the lines are printed"),
};
#undef OF
FIELD_TABLE(sp_log_table, "log", log_fields, NULL);
