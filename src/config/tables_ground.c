/* Keys of the files of configs/ground. */
#include "config/field_rows.h"
#include "config/ground.h"

#define OF struct sp_ground_file
static const char *const networks[] = {"torus", "switched", NULL};
static const struct sp_field ground_fields[] = {
    NAMED,
    ENUM(network, networks, SP_SWITCHED, "machines on which the plans were run"),
    LINES(
        places,
        "plans: TP, stages, CP, sequences of a micro-batch, tokens of a rank (micro-batch x "
        "sequence / CP), experts of a rank (0: a dense model), devices of a domain of fast links"),
    REMARKS("where they were run"),
};
#undef OF
FIELD_TABLE(sp_ground_table, "ground", ground_fields, NULL);
