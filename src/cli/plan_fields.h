/* The fields of a plan (sp_plan_fields) at the command line: options, rows of a report, words. */
#ifndef SP_CLI_PLAN_FIELDS_H
#define SP_CLI_PLAN_FIELDS_H

#include "cli/options.h"
#include "cli/words.h"
#include "answer/report.h"
#include "study/plan_text.h"
#include "study/planned.h"

#include <scaleplan/profile.h>

/* The quantity of a field in a report. */
extern const enum sp_quantity_id sp_plan_rows[SP_PLAN_FIELDS];

/* Puts every field into the report. */
void sp_put_fields(struct sp_report *report, const struct sp_plan *plan);

/* Adds the options that make the plan, including settings that `step` would choose, without the
 * defaults of plans and of its framework and without those that follow from the number of slices of
 * its machine. */
void sp_plan_words(const struct sp_plan *plan, const struct sp_model *model,
                   const struct sp_framework *framework, int64_t slices, struct sp_words *words);

/* The end of a plan's line after its degrees, ", etp 2, sp off": unusual values, without the fields
 * that the line always shows (the column `in_line`). */
enum { SP_PLAN_REST = 512 };
void sp_plan_rest(const struct sp_plan *plan, const struct sp_model *model,
                  const struct sp_framework *framework, int64_t slices, char *out, size_t size);

/* The settings that were chosen as `search` does, as options: "--micro-batch 1 --remat full"; "":
 * all were given. */
void sp_chosen_words(const struct sp_planned *planned, char out[SP_PLAN_REST]);

#endif
