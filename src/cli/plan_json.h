/* Plans in JSON: {"model": "llama3-8b", "tp": 8}, or what a report printed. */
#ifndef SP_PLAN_JSON_H
#define SP_PLAN_JSON_H

#include <cjson/cJSON.h>

#include "cli/options.h"
#include "answer/quantity.h"

/* What a report states and an estimate takes: a quantity and the option that it is. */
struct sp_plan_input {
    enum sp_quantity_id row;
    const char *option;
};

/* The inputs that are no field of a plan, and how many. */
extern const struct sp_plan_input sp_plan_inputs[];
extern const size_t sp_n_plan_inputs;

/* Takes one member of a plan: an option of `args` by its name, or an input by the key that a report
 * gives it (where the plan has it by its option's name too, that counts). Results of a report say
 * nothing new and are passed over; a key that is neither is an error. */
bool sp_take_member(struct sp_args *args, const cJSON *plan, const cJSON *member,
                    struct sp_error *error);

#endif
