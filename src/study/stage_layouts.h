/* The layers of each stage with which a plan, or the plans of a search, are the fastest. */
#ifndef SP_STUDY_STAGE_LAYOUTS_H
#define SP_STUDY_STAGE_LAYOUTS_H

#include "study/search_machines.h"

/* Gives a plan the layers of stages with the least step of those that fit, with memory to spare if
 * some do; the framework's split where no other is faster. False if that is not known
 * (sp_find_layout). */
bool sp_lay_out_stages(struct sp_planned *planned);

/* A plan of a search's list with its own layout. */
struct sp_laid_out {
    size_t of; /* its place in the list */
    struct sp_plan plan;
    double step_s, device_bytes;
    double value, first_value; /* the value that ranks it, and that of the first plan */
};

/* The listed plan of the first one's machine that its best layout brings furthest ahead of the
 * first, by more than a simpler plan may be behind (SP_SIMPLER). False if there is none, the
 * framework takes no layout, or plans are not ranked by the estimate of their step. */
bool sp_find_laid_out(const struct sp_search *search, const struct sp_ranked *all, size_t n,
                      struct sp_laid_out *found);

#endif
