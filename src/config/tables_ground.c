/* Keys of the files of configs/ground. */
#define NOT_IN_PAGE
#include "config/field_rows.h"
#include "config/ground.h"

#define OF struct sp_ground_file
static const struct sp_field ground_fields[] = {
    NAMED,
    ENUM(network, sp_network_kinds, SP_SWITCHED, "machines on which the plans were run"),
    LINES(places, "plans: TP, stages, CP, sequences per micro-batch, tokens per rank (micro-batch "
                  "x sequence / CP), experts per rank (0: dense), devices per fast domain"),
    REMARKS("where they were run"),
};
#undef OF
FIELD_TABLE(sp_ground_table, "ground", ground_fields, NULL);
