/* Keys of the files of configs/logs. */
#define NOT_IN_PAGE
#include "config/field_rows.h"
#include "config/log_words.h"

#define OF struct sp_log_words
static const struct sp_field log_fields[] = {
    NAMED,
    TEXT(iteration, "text before the step number; a list has alternatives, here and below",
         .required = true),
    TEXT(step_time, "text before the step time"),
    REAL(time_unit_s, "s", 1e-9, 3600, "unit of that time, in seconds", .fallback = 1),
    TEXT(device_rate, "text before tokens/s per device, if no time is printed"),
    TEXT(batch, "text before the sequences of the batch"),
    TEXT(reserved, "text before the peak memory reserved by the allocator"),
    TEXT(allocated, "text before the peak memory of tensors"),
    REAL(memory_unit_bytes, "bytes", 1, 1e12, "unit of both, in bytes", .fallback = 1),
    REMARKS("where the framework prints these lines"),
};
#undef OF
FIELD_TABLE(sp_log_table, "log", log_fields, NULL);
