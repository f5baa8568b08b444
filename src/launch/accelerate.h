/* What reading and writing of accelerate's YAML share. */
#ifndef SP_LAUNCH_ACCELERATE_H
#define SP_LAUNCH_ACCELERATE_H

#include "launch/settings.h"

/* What accelerate itself refuses in its settings. */
void sp_check_accelerate(const struct sp_settings *settings, struct sp_refusals *refused);

/* A plan as its YAML, for sp_target_accelerate. */
void sp_write_accelerate(const struct sp_launched *launched, struct sp_written *lost, FILE *out);

#endif
