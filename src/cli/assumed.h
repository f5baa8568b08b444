/* Assumptions of an answer that its reader may not know. */
#ifndef SP_CLI_ASSUMED_H
#define SP_CLI_ASSUMED_H

#include "cli/command.h"

/* Notes assumptions about a model that --shape or a file leaves open, and figures of the machine
 * that no real chip has. */
void sp_note_assumed(const struct sp_args *args, struct sp_report *report);

/* Notes the figures of a machine (a file or a spec of --hw) that no real chip has. */
void sp_note_doubts(const char *spec, const struct sp_sources *sources, struct sp_report *report);

#endif
