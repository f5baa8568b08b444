/* Why measured runs do not count. */
#ifndef SP_LEFT_OUT_H
#define SP_LEFT_OUT_H

#include <stddef.h>

/* The runs that do not count, by reason: the first reasons with the first run of each. */
enum { SP_LEFT_OUT_REASONS = 2 };
struct sp_left_out {
    struct {
        char id[128], reason[192];
        size_t n;
    } of[SP_LEFT_OUT_REASONS];
    int reasons;
    size_t n; /* all of them */
};

/* Counts a run that is left out. */
void sp_leave_out(struct sp_left_out *left_out, const char *id, const char *reason);

/* "row 2: its step is not a number; 3 runs of another chip, the first row 4"; "" if there are none.
 */
void sp_left_out_text(const struct sp_left_out *left_out, char *out, size_t size);

#endif
