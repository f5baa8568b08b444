/* Words of other tools for our options, from other_words.def. */
#ifndef SP_OTHER_WORDS_H
#define SP_OTHER_WORDS_H

#include "cli/option_ids.h"

struct sp_other_word {
    const char *word;
    enum sp_option_id id; /* SP_NO_OPTION: no option means the same */
    const char *said;     /* the option's text, with %s for the value; NULL: the value itself */
    const char *hint;     /* what to type in place of a word that means no option */
};

enum {
    SP_OTHER_WORDS = 0
#define OTHER(...) +1
#define SAID(...) +1
#define OURS(...) +1
#define HINT(...) +1
#include "cli/other_words.def"
};

/* Ends with a row without a word. */
extern const struct sp_other_word sp_other_words[];

/* The first row of a word, which may stand for one option in one command and for another in the
 * next; NULL: none. */
const struct sp_other_word *sp_other_word_named(const char *word);

#endif
