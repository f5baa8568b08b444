/* Plans in JSON: {"model": "llama3-8b", "tp": 8}, or the output of a report. */
#ifndef SP_PLAN_JSON_H
#define SP_PLAN_JSON_H

#include <cjson/cJSON.h>

#include "cli/options.h"
#include "answer/quantity.h"

/* A quantity of a report that is an input of an estimate, and its option. */
struct sp_plan_input {
    enum sp_quantity_id row;
    const char *option;
};

/* The inputs that are not fields of a plan, and their number. */
extern const struct sp_plan_input sp_plan_inputs[];
extern const size_t sp_n_plan_inputs;

/* Takes one member of a plan: an option of `args` by its name, or an input by the report's key (the
 * option's own name overrides it). Results of a report are skipped; any other key is an error. */
bool sp_take_member(struct sp_args *args, const cJSON *plan, const cJSON *member,
                    struct sp_error *error);

#endif
