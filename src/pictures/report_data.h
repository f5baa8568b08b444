/* Numbers and texts of a report by quantity, for pictures. */
#ifndef SP_REPORT_DATA_H
#define SP_REPORT_DATA_H

#include "answer/report.h"

/* A number or text of a report; NAN or "" if missing. */
double sp_report_number(const struct sp_report *report, enum sp_quantity_id id);
const char *sp_report_text(const struct sp_report *report, enum sp_quantity_id id);

/* The number at a path; NAN if missing. */
double sp_keyed_number(const struct sp_report *report, const char *key);

/* The number or text at a key of a row of a list; NAN or "" if missing. */
double sp_rows_number(const struct sp_report *report, const char *list, size_t i, const char *key);
const char *sp_rows_text(const struct sp_report *report, const char *list, size_t i,
                         const char *key);

/* The first two functions for the i-th entry of a list such as "plans". */
double sp_listed_number(const struct sp_report *report, const char *list, size_t i,
                        enum sp_quantity_id id);
const char *sp_listed_text(const struct sp_report *report, const char *list, size_t i,
                           enum sp_quantity_id id);

#endif
