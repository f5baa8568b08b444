/* Plans as text. */
#ifndef SP_PLAN_TEXT_H
#define SP_PLAN_TEXT_H

#include <scaleplan/search.h>

/* A field's value in its option's syntax; "" if there is none. */
enum { SP_PLAN_TEXT = 192 /* 32 stages of 10000 layers */ };
void sp_format_plan(const struct sp_plan *plan, const struct sp_plan_field *field,
                    char out[SP_PLAN_TEXT]);

/* Whether other values of the field would make another plan: without EP nothing is exchanged, and
 * so on. */
bool sp_has_effect(const struct sp_plan *plan, enum sp_plan_field_id field);

/* The changed fields with their new values, each prefixed by `dash`: "tp 4, dp 16". */
void sp_change_text(const struct sp_neighbour *neighbour, const char *dash, char *out, size_t size);

/* Short names for a list of plans: degrees above 1, ZeRO stage, recomputation, and other fields
 * only to tell two plans apart. */
enum { SP_SHORT_NAME = 112 };
struct sp_short_name {
    char text[SP_SHORT_NAME];
};
void sp_name_plans(const struct sp_plan *plans, size_t n, struct sp_short_name *names);

/* The same in memory of its own, which the caller frees. */
struct sp_short_name *sp_names_of_plans(const struct sp_plan *plans, size_t n);

#endif
