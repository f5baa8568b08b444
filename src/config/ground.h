/* Plans that have been run, as files of configs/ground list them. */
#ifndef SP_CONFIG_GROUND_H
#define SP_CONFIG_GROUND_H

#include <scaleplan/search.h>

#include "base/error.h"

enum { SP_MOST_PLACES = 1024 };

/* A file: the places of runs on one kind of network. */
struct sp_ground_file {
    char name[64];
    int network;          /* enum sp_network_kind */
    char places[1 << 15]; /* as written, one per line */
    size_t n;
    struct sp_place place[SP_MOST_PLACES];
};

/* Reads a profile's lines, each a place and a weight, into the runs that it has seen. */
bool sp_finish_seen_runs(struct sp_profile *profile, struct sp_error *error);

/* Reads the lines into places; false with an error if one is not a place. */
bool sp_finish_ground(struct sp_ground_file *file, struct sp_error *error);

#endif
