/* Inputs that one run of the program has read, so that nothing is read twice. */
#ifndef SP_WORLD_H
#define SP_WORLD_H

#include "base/read_file.h"
#include "config/kinds.h"
#include "config/sources.h"

/* A config that was loaded, or the place where one was found. */
struct sp_remembered;
struct sp_trace;

/* Begins as {0}. Everything of a run shares one: the lines of a stream, the rows of a sweep, the
 * cases of a file. A config that changes in the meantime is read as it was at first. */
struct sp_world {
    struct sp_pipes pipes;
    struct sp_remembered *kept;
    int n_kept;
    struct sp_trace *traces; /* trace.h */
};
void sp_free_world(struct sp_world *world);

/* Where texts that can be read only once are kept; NULL without a world. */
struct sp_pipes *sp_pipes_of(struct sp_world *world);

/* Kept results for a config: its struct, where its name was found, or all configs of its kind. */
enum sp_keeping { SP_KEPT_CONFIG, SP_KEPT_PLACE, SP_KEPT_ALL };

/* The result kept for a spec read from the same sources, and its size; NULL: nothing. Valid until
 * the next sp_remember. */
const void *sp_recall(enum sp_keeping what, enum sp_config_kind kind, const char *spec,
                      const struct sp_sources *sources, size_t *size);

/* Keeps a copy; without a world it does nothing. */
void sp_remember(enum sp_keeping what, enum sp_config_kind kind, const char *spec,
                 const struct sp_sources *sources, const void *data, size_t size);

#endif
