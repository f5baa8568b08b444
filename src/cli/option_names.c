/* A command's options by their names: its own, other tools' words, and the fields of a plan that it
 * fixes. */
#include <getopt.h>
#include <string.h>

#include <scaleplan/plan.h>

#include "base/text.h"
#include "cli/options.h"
#include "cli/other_words.h"

const struct sp_option *sp_option_taken(const struct sp_args *args, enum sp_option_id id)
{
    for (size_t i = 0; i < args->n_options; i++)
        if (args->options[i].id == id)
            return &args->options[i];
    return NULL;
}

const struct sp_option *sp_option_named(const struct sp_args *args, const char *name)
{
    for (size_t i = 0; i < args->n_options; i++)
        if (sp_is(args->options[i].name, name) || sp_is(args->options[i].alias, name))
            return &args->options[i];
    for (const struct sp_other_word *other = sp_other_words; other->word; other++)
        if (sp_is(other->word, name) && !other->said && sp_option_taken(args, other->id))
            return sp_option_taken(args, other->id);
    return NULL;
}

/* A name of args->options[at]; `said`: the whole text that the name stands for, or NULL. */
static struct option name_of(const struct sp_args *args, size_t at, const char *name,
                             const char *said)
{
    const enum sp_option_kind kind = args->options[at].kind;
    return (struct option){.name = name,
                           .has_arg = kind == SP_FLAG || (said && !strstr(said, "%s")) ? no_argument
                                      : kind == SP_MAYBE ? optional_argument
                                                         : required_argument,
                           .val = SP_NAMES_FROM + (int)at};
}

_Static_assert((int)SP_PLAN_FIELDS <= (int)SP_MAX_OPTIONS, "room for the fields of a plan");

/* Fields of a plan that the command fixes, by their options: "search --tp 8" is --fix tp=8. */
static void name_fixed(const struct sp_args *args, struct option *longs)
{
    size_t n = 0;
    for (int i = 0; i < SP_PLAN_FIELDS && sp_option_taken(args, SP_O_fix); i++) {
        const enum sp_option_id id = sp_option_of_field(i);
        const struct option fixed = {.has_arg = required_argument, .val = SP_FIXED_FROM + (int)id};
        if (sp_option_taken(args, id))
            continue;
        longs[n] = fixed;
        longs[n++].name = sp_option_name(id);
        for (const struct sp_other_word *other = sp_other_words; other->word; other++)
            if (other->id == id && !other->said) {
                longs[n] = fixed;
                longs[n++].name = other->word;
            }
    }
}

void sp_build_long_options(const struct sp_args *args, struct option *longs)
{
    size_t n = 0;
    for (size_t i = 0; i < args->n_options; i++) {
        longs[n++] = name_of(args, i, args->options[i].name, NULL);
        if (args->options[i].alias)
            longs[n++] = name_of(args, i, args->options[i].alias, NULL);
    }
    for (const struct sp_other_word *other = sp_other_words; other->word; other++) {
        const struct sp_option *const option = sp_option_taken(args, other->id);
        bool own = false; /* the word is itself an option here */
        for (size_t k = 0; option && k < args->n_options; k++)
            own = own || sp_is(args->options[k].name, other->word);
        /* a list is not the text of one value */
        const bool is_list = option && option->kind == SP_REPEATED && other->said;
        if (option && !own && !is_list)
            longs[n++] = name_of(args, (size_t)(option - args->options), other->word, other->said);
    }
    name_fixed(args, longs + n); /* after the command's own: of equal names the first counts */
}

bool sp_is_spelled_out(const char *word, const char *name)
{
    return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, strlen(name)) == 0 &&
           (word[2 + strlen(name)] == '\0' || word[2 + strlen(name)] == '=');
}
