/* Blanks, comments and here-documents of a script. */
#ifndef SP_LAUNCH_SCRIPT_BLANKS_H
#define SP_LAUNCH_SCRIPT_BLANKS_H

#include <stdbool.h>

/* Here-documents that a line opened: the words that end them. */
enum { SP_MOST_HERE = 8 };
struct sp_here {
    struct {
        char word[64];
        bool tabs; /* tabs in front of the word do not count */
    } at[SP_MOST_HERE];
    int n;
};

/* The place behind blanks, comments and continued lines, with `lines` behind line ends and the
 * here-documents that they start too. */
const char *sp_skip_blanks(const char *at, bool lines, struct sp_here *here);

/* Whether this bare word stands here. */
bool sp_is_bare(const char *at, const char *word);

/* Reads the word behind "<<", and the place behind it. */
const char *sp_open_here(const char *at, struct sp_here *here);

#endif
