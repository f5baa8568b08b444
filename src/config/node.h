/* Reads the output of a cluster's tools about a node: nvidia-smi topo -m, and scontrol show node of
 * Slurm. */
#ifndef SP_NODE_H
#define SP_NODE_H

#include <stdbool.h>

#include "base/error.h"

/* A node, from either text or both; 0 for figures that are not given. */
struct sp_node {
    char device[64];     /* GPU type of Slurm's Gres, such as "h100" */
    int devices;         /* GPUs of a node */
    int peers;           /* GPUs that NVLink joins to each */
    int links, to_peer;  /* NVLinks that a GPU has by the sum over its peers; to one peer */
    int cards;           /* network cards: those next to a GPU on PCIe, or all if none is */
    double memory_bytes; /* of the host */
    int nodes, down;     /* nodes of the text; of them those that are down or drained */
};

/* Whether a text is one of these. */
bool sp_is_topology(const char *text);
bool sp_is_node_list(const char *text);

/* Reads a topology. False if a row is cut, or its GPUs are not alike. */
bool sp_read_topology(const char *text, const char *path, struct sp_node *node,
                      struct sp_error *error);

/* Reads nodes. False if they have no GPUs, or differ in them or in their memory. */
bool sp_read_node_list(const char *text, const char *path, struct sp_node *node,
                       struct sp_error *error);

#endif
