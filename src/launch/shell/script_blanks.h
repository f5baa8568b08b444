/* Blanks, comments and here-documents of a script. */
#ifndef SP_LAUNCH_SCRIPT_BLANKS_H
#define SP_LAUNCH_SCRIPT_BLANKS_H

#include <stdbool.h>
#include <stddef.h>

/* The word whose line ends a here-document. */
struct sp_here_end {
    char word[64];
    bool tabs;  /* tabs in front of lines do not count */
    bool plain; /* the word was quoted: names in the text stay as they are */
};

/* Here-documents that a line opened. */
enum { SP_MOST_HERE = 8 };
struct sp_here {
    struct sp_here_end at[SP_MOST_HERE];
    int n;
    bool over; /* there were more */
};

/* The place after blanks, comments and continued lines, with `lines` also after line ends and the
 * here-documents that they start. */
const char *sp_skip_blanks(const char *at, bool lines, struct sp_here *here);

/* Whether this bare word is here. */
bool sp_is_bare(const char *at, const char *word);

/* The text of the last here-document that the line opened, and its bytes; `at` is after the word
 * that ends it. */
const char *sp_here_text(const char *at, const struct sp_here *here, size_t *n);

/* Reads the word after "<<", and the place after it. */
const char *sp_open_here(const char *at, struct sp_here *here);

#endif
