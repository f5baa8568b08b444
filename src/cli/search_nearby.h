/* Beside the list of a search: problems close by that are better, and why a space is empty. */
#ifndef SP_CLI_SEARCH_NEARBY_H
#define SP_CLI_SEARCH_NEARBY_H

#include "cli/searching.h"
#include "study/empty_space.h"
#include "study/find.h"
#include "study/nearby.h"

enum sp_search_outcome {
    SP_SEARCH_FOUND,
    SP_SEARCH_EMPTY,     /* no plan is in the space */
    SP_SEARCH_TOO_LARGE, /* none of them fits */
    SP_SEARCH_STOPPED    /* before one was found */
};

/* Who asked. */
struct sp_asked_near {
    struct sp_report *report;
    const struct sp_args *args;
    const char *command;
    int64_t devices;
    bool idles;        /* the command takes --idle; else a smaller --hw is offered */
    const char *named; /* before the words; "": nothing */
    char scope[32];    /* before "nearby" */
};

/* Puts nearby problems that are better, and a line about them; false: there are none. */
bool sp_put_close_by(const struct sp_asked_near *asked, const struct sp_close_by *found);

/* Puts the nearby problems known for each machine of a finished search. */
void sp_put_nearby(const struct sp_searching *searching, enum sp_search_outcome outcome);

/* Puts the smaller number of devices that suffices with another batch, as nearby.`name` of a
 * command. */
void sp_put_fewer_devices(struct sp_report *report, const struct sp_args *args, const char *command,
                          const char *name, const struct sp_finding *fewer);

/* Puts why a space has no plan. */
void sp_put_emptied(struct sp_report *report, const struct sp_planned *base,
                    const struct sp_emptied *why);

#endif
