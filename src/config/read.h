/* Reads a config of each kind from its text; sp_load_... keeps what it read. */
#ifndef SP_READ_H
#define SP_READ_H

#include "config/load.h"

#define SP_READER(kind, folder, name, noun, nouns, type, load, ...)                                \
    bool sp_read_##load(const char *spec, const struct sp_sources *sources, type *config,          \
                        struct sp_error *error);
SP_KINDS(SP_READER, )
#undef SP_READER

#endif
