/* The fields of a plan (sp_plan_fields) at the command line: options, rows of a report, words. */
#ifndef SP_CLI_PLAN_FIELDS_H
#define SP_CLI_PLAN_FIELDS_H

#include "cli/options.h"
#include "cli/words.h"
#include "answer/report.h"
#include "study/plan_text.h"

#include <scaleplan/software.h>

/* The quantity that a report states a field under. */
extern const enum sp_quantity_id sp_plan_rows[SP_PLAN_FIELDS];

/* Puts every field into the report. */
void sp_put_fields(struct sp_report *report, const struct sp_plan *plan);

/* Adds the options that make the plan, without those that `step` infers alike: what a plan has that
 * does not say, what its framework does, and what its machine of so many slices leaves. */
void sp_plan_words(const struct sp_plan *plan, const struct sp_framework *framework, int64_t slices,
                   struct sp_words *words);

/* What the line of a plan has behind its degrees, ", etp 2, sp off": the same options without those
 * that the line has anyway (the column `in_line`). */
enum { SP_PLAN_REST = 512 };
void sp_plan_rest(const struct sp_plan *plan, const struct sp_framework *framework, int64_t slices,
                  char *out, size_t size);

#endif
