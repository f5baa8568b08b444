/* Why a space holds no plan, and the smallest change after which it holds one. */
#ifndef SP_STUDY_EMPTY_SPACE_H
#define SP_STUDY_EMPTY_SPACE_H

#include "study/nearby.h"

enum sp_empty_cause {
    SP_EMPTY_OPTION,  /* one limit of a dimension */
    SP_EMPTY_OPTIONS, /* several of them together */
    SP_EMPTY_BATCH,   /* a batch close by has plans */
    SP_EMPTY_DEVICES, /* fewer devices have */
    SP_EMPTY_MODEL,   /* none of the changes that were tried has plans */
    SP_EMPTY_CAUSES
};
extern const char *const sp_empty_causes[];

struct sp_emptied {
    enum sp_empty_cause cause;
    enum sp_plan_field_id field; /* of the option */
    struct sp_variant change;    /* devices and batch of the nearest space with plans; the requested
                                    ones if the options are the cause */
};

/* Finds why a machine's space is empty. `nearby` (sp_look_close_by) gives the usual causes. */
struct sp_emptied sp_why_empty(const struct sp_search *search, int machine,
                               const struct sp_close_by *nearby);

#endif
