/* How far one plan's estimate must lead another's before their order can be believed. */
#ifndef SP_LEADS_H
#define SP_LEADS_H

#include "study.h"

/* Prints by tier what runs with their publication left out (`log_errors`) say of two plans of one
 * series, and how often the predicted order of two plans of one problem was that of their runs.
 * Returns how many tiers have a width (lead_widths.def) that the runs do not bear out. */
int sp_print_leads(const struct sp_study *study, const double *log_errors);

#endif
