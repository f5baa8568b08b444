/* How files of a kind are read, apart from their fields. */
#ifndef SP_READ_H
#define SP_READ_H

#include "config/load.h"

/* Reads a machine spec, and a framework's words into zeroed memory, which a user's file extends. */
bool sp_read_hardware(const char *spec, const struct sp_sources *sources, struct sp_hardware *hw,
                      struct sp_error *error);
bool sp_read_launch_words(const char *spec, const struct sp_sources *sources,
                          struct sp_launch_words *words, struct sp_error *error);

#endif
