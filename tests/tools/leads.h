/* Lead between two plans' estimates from which their order is reliable. */
#ifndef SP_LEADS_H
#define SP_LEADS_H

#include "study.h"

/* Prints by tier how runs with their publication left out (`log_errors`) order pairs of plans of
 * one series, and how often pairs of plans of one problem were ordered correctly. Returns the
 * number of tiers whose width in lead_widths.def is refuted. */
int sp_print_leads(const struct sp_study *study, const double *log_errors);

#endif
