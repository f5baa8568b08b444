/* Keys of the files of configs/logs. */
#include "config/field_rows.h"
#include "config/log_words.h"

#define W struct sp_log_words
static const struct sp_field log_fields[] = {
    TEXT_("name", W, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    {"iteration", SP_FIELD_TEXT, offsetof(W, iteration), sizeof((W *)0)->iteration, "", 0, 0, NULL,
     0, true, "what stands before the number of a step; a list has alternatives, here and below"},
    TEXT_("step_time", W, step_time, "what stands before the time of a step"),
    {"time_unit_s", SP_FIELD_REAL, offsetof(W, time_unit_s), 0, "s", 1e-9, 3600, NULL, 1, false,
     "seconds of a unit of that time"},
    TEXT_("device_rate", W, device_rate,
          "what stands before tokens/s per device, where no time is printed"),
    TEXT_("batch", W, batch, "what stands before the sequences of the step's batch"),
    TEXT_("reserved", W, reserved, "what stands before the most memory that the allocator held"),
    TEXT_("allocated", W, allocated, "what stands before the most memory that tensors took"),
    {"memory_unit_bytes", SP_FIELD_REAL, offsetof(W, memory_unit_bytes), 0, "bytes", 1, 1e12, NULL,
     1, false, "bytes of a unit of both"},
    PROSE_("source", "where the lines are printed"),
    PROSE_("note", "remarks"),
};
#undef W
const struct sp_field_table sp_log_table = {"log", log_fields, N_FIELDS(log_fields), NULL};
