/* Keys of the files of configs/ground. */
#include "config/field_rows.h"
#include "config/ground.h"

#define G struct sp_ground_file
static const char *const networks[] = {"torus", "switched", NULL};
static const struct sp_field ground_fields[] = {
    TEXT_("name", G, name, "canonical name"),
    PROSE_("aliases", "other names people type"),
    ENUM_("network", G, network, networks, SP_SWITCHED, "machines on which the plans were run"),
    LINES_(
        "places", G, lines,
        "plans: TP, stages, CP, sequences of a micro-batch, tokens of a rank (micro-batch x "
        "sequence / CP), experts of a rank (0: a dense model), devices of a domain of fast links"),
    PROSE_("source", "where they were run"),
    PROSE_("note", "remarks"),
};
#undef G
const struct sp_field_table sp_ground_table = {"ground", ground_fields, N_FIELDS(ground_fields),
                                               NULL};
