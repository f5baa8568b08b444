/* Settings that rows of a sweep leave open: if the program chooses them differently, rows differ by
 * more than the swept option. */
#ifndef SP_LEFT_OPEN_H
#define SP_LEFT_OPEN_H

#include "answer/report.h"
#include "cli/options.h"
#include "study/plan_text.h"
#include "study/planned.h"

/* The framework, the precision, each setting of a plan, and four of a service. */
#define SP_LEFT_OPEN (2 + SP_PLAN_FIELDS + 4)

/* The values of a setting that rows leave open, each once. */
struct sp_left_open {
    char values[SP_PLAN_TEXT];
    bool differs;   /* not the same in all rows */
    bool is_chosen; /* chosen among several values in at least one row */
};

/* Appends the keys of a command's answer by which such settings are known, each after a comma. */
void sp_ask_choices(const char *command, char *keys, size_t size);

/* Records the settings that a row left open, unless `keys` show them. `line`: of the sweep. */
void sp_keep_choices(struct sp_left_open open[SP_LEFT_OPEN], const char *keys,
                     const struct sp_args *line, const struct sp_report *report);

/* Names the settings that differ, in a line; nothing if there are none, or if `keys` ask only
 * for settings: then no figures are compared. */
void sp_note_choices(const struct sp_left_open open[SP_LEFT_OPEN], const char *keys, FILE *notes);

#endif
