/* The words that an option takes, found by their names and by other spellings of them. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"
#include "base/text.h"
#include "cli/options.h"

/* Other spellings of a choice, in the help and in the field. */
#define SPELLED(option, alias, choice) {option, alias, choice, NULL},
#define ELSEWHERE(option, word, hint) {option, word, word, hint},
static const struct {
    const char *option, *alias, *choice, *hint;
} aliases[] = {
#include "cli/other_choices.def"
};

static bool spells(const char *option, const char *text, const char *choice)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if ((!*aliases[i].option || strcmp(aliases[i].option, option) == 0) &&
            strcasecmp(aliases[i].alias, text) == 0 && strcmp(aliases[i].choice, choice) == 0)
            return true;
    return strcasecmp(choice, text) == 0;
}

/* What to type for a word that is no choice of the option. */
static const char *typed_instead(const char *option, const char *text)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (aliases[i].hint && strcmp(aliases[i].option, option) == 0 &&
            strcasecmp(aliases[i].alias, text) == 0)
            return aliases[i].hint;
    return NULL;
}

/* Whether to offer a choice when `text` is none: for "name@version" the versions of that name, else
 * choices without a version. */
static bool is_offered(const char *choice, const char *text, bool known_name)
{
    const size_t n = strcspn(text, "@");
    return known_name ? strncasecmp(choice, text, n) == 0 && choice[n] == '@'
                      : !strchr(choice, '@');
}

static bool has_versions(const char *const *choices, const char *text)
{
    for (int i = 0; choices[i]; i++)
        if (strchr(text, '@') && is_offered(choices[i], text, true))
            return true;
    return false;
}

bool sp_find_choice(const char *where, const char *name, const char *const *choices,
                    const char *text, int *found, struct sp_error *error)
{
    struct sp_nearest nearest = {.wanted = text};
    char all[200] = "";
    const bool known_name = has_versions(choices, text);
    for (int i = 0; choices[i]; i++) {
        if (spells(name, text, choices[i])) {
            *found = i;
            return true;
        }
        if (!is_offered(choices[i], text, known_name))
            continue;
        sp_nearest_offer(&nearest, choices[i]);
        sp_append(all, sizeof all, "%s%s", all[0] ? ", " : "", choices[i]);
    }
    const char *const instead = typed_instead(name, text);
    return sp_fail(error, SP_INPUT, "--%s%s: \"%s\" is not one of %s%s%s", where, name,
                   sp_safe(text), all, instead ? "; give " : "",
                   instead ? instead : sp_nearest_hint(&nearest));
}
