/* Words for true and false. */
#include "base/truth.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *word;
    bool value, yaml;
} words[] = {
    {"true", true, true}, {"false", false, true}, {"yes", true, true}, {"no", false, true},
    {"on", true, true},   {"off", false, true},   {"y", true, false},  {"n", false, false},
    {"t", true, false},   {"f", false, false},    {"1", true, false},  {"0", false, false},
};

/* Whether the letters after the first are all lower case, or all upper case if the first is. */
static bool is_one_case(const char *text)
{
    bool small = true, capital = isupper((unsigned char)text[0]);
    for (const char *c = text + 1; *c; c++) {
        small = small && islower((unsigned char)*c);
        capital = capital && isupper((unsigned char)*c);
    }
    return small || capital;
}

static int find(const char *text, bool yaml)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(words[i].word, text) == 0 && (words[i].yaml || !yaml))
            return words[i].value;
    return -1;
}

int sp_yaml_truth(const char *text)
{
    return text[0] != '\0' && is_one_case(text) ? find(text, true) : -1;
}

int sp_truth(const char *text)
{
    return find(text, false);
}

const char *sp_yaml_word(const char *text, bool quoted)
{
    static const char *const spelled[] = {"false", "true"};
    const int truth = quoted ? -1 : sp_yaml_truth(text);
    return truth < 0 ? text : spelled[truth];
}
