/* Settings that rows of a sweep leave open: those that are not chosen alike differ by more than the
 * sweep. */
#ifndef SP_LEFT_OPEN_H
#define SP_LEFT_OPEN_H

#include "answer/report.h"
#include "study/plan_text.h"
#include "study/planned.h"

/* The values of a setting that rows leave open, each once. */
struct sp_left_open {
    char values[SP_PLAN_TEXT];
    bool differs;   /* not the same in all rows */
    bool is_chosen; /* among several, in a row at least */
};

/* Keeps what the plan of a row left open, unless `keys` show it. */
void sp_keep_choices(struct sp_left_open open[SP_PLAN_FIELDS], const char *keys,
                     const struct sp_report *report);

/* Names the settings that differ, in a line; nothing if there are none, or if `keys` ask for
 * settings alone: then no figures are compared. */
void sp_note_choices(const struct sp_left_open open[SP_PLAN_FIELDS], const char *keys, FILE *notes);

#endif
