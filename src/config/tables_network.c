/* Table of the keys of a scale-out network's config. */
#include <scaleplan/scaleplan.h>

#include "config/field_rows.h"
#include "config/load.h"

#define W struct sp_scaleout
static const char *const pers[] = {"device", "node", NULL};
#define CURVE_(key, member, where)                                                                 \
    REAL_(key ".share", W, member.share, "", 1e-3, 8,                                              \
          "share of the bound's rate that long messages reach " where "; 0: not measured"),        \
        REAL_(key ".start_s", W, member.start_s, "s", 0, 1, "before the first byte"),              \
        REAL_(key ".ramp_s", W, member.ramp_s, "s", 0, 1,                                          \
              "a transfer that takes as long reaches a quarter of the share"),                     \
        REAL_(key ".growth", W, member.growth, "", 0, 1,                                           \
              "of the transfer's time for each doubling of the nodes"),                            \
        REAL_(key ".rows", W, member.rows, "", 0, 1e9, "measurements behind the curve"),           \
        REAL_(key ".residual", W, member.residual, "", 0, 10, "mean of |ln(curve / measured)|")
#define CURVES_(op, id)                                                                            \
    CURVE_("collectives." op, transport.across[id], "between nodes"),                              \
        CURVE_("node_collectives." op, transport.inside[id], "inside a node")
static const struct sp_field network_fields[] = {
    TEXT_("name", W, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    FIGURE_("bytes_per_s", W, bytes_per_s, "bytes/s", 1, "line rate, one way"),
    ENUM_("per", W, per_node, pers, 0, "whether every device has one, or a node shares it"),
    FIGURE_("latency_s", W, latency_s, "s", 0,
            "latency of one step of a ring of nodes (default: the machine's)"),
    CURVES_("all_gather", SP_ALL_GATHER),
    CURVES_("reduce_scatter", SP_REDUCE_SCATTER),
    CURVES_("all_reduce", SP_ALL_REDUCE),
    CURVES_("all_to_all", SP_ALL_TO_ALL),
    PROSE_("source", "where the figures come from"),
    PROSE_("note", "remarks"),
};
#undef W
_Static_assert(N_FIELDS(network_fields) <= SP_MOST_FIELDS, "a decoder marks each row");
const struct sp_field_table sp_network_table = {"network", network_fields, N_FIELDS(network_fields),
                                                NULL};
