/* Plans as text. */
#ifndef SP_PLAN_TEXT_H
#define SP_PLAN_TEXT_H

#include <scaleplan/search.h>

/* A field's value as its option takes it; "" when there is none to say. */
enum { SP_PLAN_TEXT = 96 };
void sp_format_plan(const struct sp_plan *plan, const struct sp_plan_field *field,
                    char out[SP_PLAN_TEXT]);

/* The fields that changed with their new values, each behind `dash`: "tp 4, dp 16". */
void sp_change_text(const struct sp_neighbour *neighbour, const char *dash, char *out, size_t size);

/* Short names of a list's plans: degrees above 1, ZeRO stage, recomputation, and what else tells
 * two of them apart. */
enum { SP_SHORT_NAME = 112 };
struct sp_short_name {
    char text[SP_SHORT_NAME];
};
void sp_name_plans(const struct sp_plan *plans, size_t n, struct sp_short_name *names);

#endif
