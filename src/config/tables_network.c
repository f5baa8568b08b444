/* Table of the keys of a scale-out network's config. */
#include <scaleplan/scaleplan.h>

#include "config/field_rows.h"
#include "config/load.h"

#define OF struct sp_scaleout
static const char *const pers[] = {"device", "node", NULL};
/* NOLINTBEGIN(bugprone-macro-parentheses): members have none */
#define CURVE(key, member, where)                                                                  \
    REAL_AT(key ".share", member.share, "", 1e-3, 8,                                               \
            "share of the bound's rate that long messages reach " where "; 0: not measured"),      \
        REAL_AT(key ".start_s", member.start_s, "s", 0, 1, "before the first byte"),               \
        REAL_AT(key ".ramp_s", member.ramp_s, "s", 0, 1,                                           \
                "a transfer of this time reaches a quarter of the share"),                         \
        REAL_AT(key ".growth", member.growth, "", 0, 1,                                            \
                "relative growth of the time per doubling of the nodes"),                          \
        REAL_AT(key ".rows", member.rows, "", 0, 1e9, "measurements behind the curve"),            \
        REAL_AT(key ".residual", member.residual, "", 0, 10, "mean of |ln(curve / measured)|")
/* NOLINTEND(bugprone-macro-parentheses) */
#define CURVES(op, id)                                                                             \
    CURVE("collectives." op, transport.across[id], "between nodes"),                               \
        CURVE("node_collectives." op, transport.inside[id], "inside a node")
static const struct sp_field network_fields[] = {
    NAMED,
    FIGURE(bytes_per_s, "bytes/s", 1, "line rate, one way"),
    ENUM_AT("per", per_node, pers, 0, "whether each device has one, or a node shares it"),
    FIGURE(latency_s, "s", 0, "latency of one step of a ring of nodes (default: the machine's)"),
    CURVES("all_gather", SP_ALL_GATHER),
    CURVES("reduce_scatter", SP_REDUCE_SCATTER),
    CURVES("all_reduce", SP_ALL_REDUCE),
    CURVES("all_to_all", SP_ALL_TO_ALL),
    REMARKS("where the figures come from"),
};
#undef OF
_Static_assert(N_FIELDS(network_fields) <= SP_MOST_FIELDS, "a decoder marks each row");
FIELD_TABLE(sp_network_table, "network", network_fields, NULL);
