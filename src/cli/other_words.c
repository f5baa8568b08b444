/* Looks up the words of other tools for our options. */
#include "cli/other_words.h"

#include "base/text.h"

#define OURS(word, member, text) {word, SP_O_##member, text, NULL},
#define OTHER(word, member) {word, SP_O_##member, NULL, NULL},
#define SAID(word, member, text) {word, SP_O_##member, text, NULL},
#define HINT(word, text) {word, SP_NO_OPTION, NULL, text},
const struct sp_other_word sp_other_words[] = {
#include "cli/other_words.def"
    {NULL, SP_NO_OPTION, NULL, NULL},
};

const struct sp_other_word *sp_other_word_named(const char *word)
{
    const struct sp_other_word *other = sp_other_words;
    while (other->word && !sp_is(other->word, word))
        other++;
    return other->word ? other : NULL;
}
