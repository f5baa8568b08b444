/* The fields of a plan as rows of a table: code that reads, prints or varies plans walks it. */
#ifndef SCALEPLAN_PLAN_FIELDS_H
#define SCALEPLAN_PLAN_FIELDS_H

#include <scaleplan/plan.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How a field is stored in struct sp_plan, and how a search lists its values. */
enum sp_plan_kind {
    SP_PLAN_WHOLE,  /* int64_t; struct sp_degree */
    SP_PLAN_LEVEL,  /* int, whose numbers are its names; bool[] as for all that has names */
    SP_PLAN_REAL,   /* double */
    SP_PLAN_SWITCH, /* bool: off or on */
    SP_PLAN_EITHER, /* bool with other names */
    SP_PLAN_NAME,   /* enum */
    SP_PLAN_POLICY, /* struct sp_recompute: one of sp_policies */
    SP_PLAN_LIST,   /* unsigned: a bit for each of its names */
    SP_PLAN_AXES    /* int32_t[SP_MAX_AXES] */
};

/* How a plan one change away differs in the field. */
enum sp_plan_change {
    SP_PLAN_STAYS,
    SP_PLAN_MOVES,  /* a factor of two moves between it and another one of these */
    SP_PLAN_SCALES, /* twice or half */
    SP_PLAN_SWAPS   /* any other of its names */
};

struct sp_plan_field {
    const char *name;  /* of the option, and in JSON */
    const char *value; /* what stands for the value in a usage: "N" */
    enum sp_plan_kind kind;
    double min, max;          /* of numbers */
    const char *fallback;     /* what a plan has that does not say; NULL: it depends on the rest */
    const char *const *names; /* of its values, or NULL */
    size_t offset;            /* in struct sp_plan */
    size_t space;             /* of its values in struct sp_search_space; 0: a search keeps it */
    const char *most;         /* option of the largest value that a search looks at, or NULL */
    enum sp_plan_change near;
    bool in_line;    /* the line of a plan in a text has it; others where they are unusual */
    bool of_problem; /* of what is trained, not of how: plans that are compared share it */
    const char *text;
};

#define SP_PLAN_FIELD(id, ...) SP_FIELD_##id,
enum sp_plan_field_id {
#include <scaleplan/plan_fields.def>
    SP_PLAN_FIELDS
};
#undef SP_PLAN_FIELD

extern const struct sp_plan_field sp_plan_fields[SP_PLAN_FIELDS];

/* The field's value: its number, the index of its name (0 or 1 of a switch), the bits of a list,
 * and NAN for axes and for a recomputation that is none of sp_policies. */
double sp_plan_value(const struct sp_plan *plan, const struct sp_plan_field *field);

/* The name of that value; NULL: it has none, as a list. */
const char *sp_plan_name(const struct sp_plan *plan, const struct sp_plan_field *field);

/* Puts such a value in. A policy leaves `offload` and `modules` as they are; axes are left alone.
 */
void sp_set_plan_value(struct sp_plan *plan, const struct sp_plan_field *field, double value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
