/* Plans that have been run, as files of configs/ground list them. */
#ifndef SP_CONFIG_GROUND_H
#define SP_CONFIG_GROUND_H

#include <scaleplan/search.h>

enum { SP_MOST_PLACES = 1024 };

/* A file: the places of runs on one kind of network. */
struct sp_ground_file {
    char name[64];
    int network;         /* enum sp_network_kind */
    char lines[1 << 15]; /* as written, a place a line */
    size_t n;
    struct sp_place places[SP_MOST_PLACES];
};

#endif
