/* Parses the words of a command by its table of options. */
#include "cli/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/number.h"
#include "base/suggest.h"
#include "report/quantity.h"

static int find_option(const struct sp_args *args, const char *name)
{
    for (size_t i = 0; i < args->n_options; i++)
        if (strcmp(args->options[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Other spellings of a choice, as the help and the field say them. */
static const struct {
    const char *option, *alias, *choice;
} aliases[] = {
    {"schedule", "afab", "gpipe"},      {"schedule", "one-f-one-b", "1f1b"},
    {"schedule", "vpp", "interleaved"}, {"schedule", "zbh1", "zb-h1"},
    {"schedule", "zbh2", "zb-h2"},      {"from", "ici", "link"},
    {"strategy", "fsdp+tp", "fsdp_tp"}, {"strategy", "pp+fsdp", "pp_fsdp"},
    {"strategy", "fsdp-tp", "fsdp_tp"}, {"strategy", "pp-fsdp", "pp_fsdp"},
    {"strategy", "zero3", "fsdp"},      {"strategy", "ddp", "dp"},
};

static const char *spelled(const char *option, const char *text)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].option, option) == 0 && strcasecmp(aliases[i].alias, text) == 0)
            return aliases[i].choice;
    return text;
}

/* Whether a choice is to be named where `text` is none: of "name@version" the versions of the name
 * that was said, else those without one. */
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
    const char *const choice = spelled(name, text);
    struct sp_nearest nearest = {.wanted = text};
    char all[200] = "";
    const bool known_name = has_versions(choices, text);
    for (int i = 0; choices[i]; i++) {
        if (strcasecmp(choices[i], choice) == 0) {
            *found = i;
            return true;
        }
        if (!is_offered(choices[i], text, known_name))
            continue;
        sp_nearest_offer(&nearest, choices[i]);
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", choices[i]);
    }
    return sp_fail(error, SP_INPUT, "--%s%s: \"%s\" is not one of %s%s", where, name, sp_safe(text),
                   all, sp_nearest_hint(&nearest));
}

static bool take_choice(struct sp_args *args, int at, const char *text, struct sp_error *error)
{
    const struct sp_option *const option = &args->options[at];
    int found = 0;
    if (!sp_find_choice("", option->name, option->choices, text, &found, error))
        return false;
    args->number[at] = found;
    args->text[at] = option->choices[found];
    return true;
}

/* Units by the option's metavar or name: "3W" stages or "10B" seconds would be read as numbers. */
static const struct {
    const char *of, *unit;
} own_units[] = {
    {"BYTES", "B"},       {"BYTES/S", "B/s"}, {"BYTES/S", "B"},     {"SECONDS", "s"},
    {"TOKENS", "tokens"}, {"FLOPS", "FLOPs"}, {"FLOP/s", "FLOP/s"}, {"W", "W"},
    {"tokens", "tokens"}, {"flops", "FLOPs"},
};

/* Refuses a unit that does not belong to the option; a share of one, in per cent, only where
 * numbers need not be whole. */
static bool check_unit(const struct sp_option *option, const char *text, struct sp_error *error)
{
    const char *const unit = sp_unit_of_number(text), *own = NULL;
    const size_t n = strlen(text);
    if (!*unit || (option->kind == SP_COUNTED && n > 1 && strcmp(text + n - 1, "B") == 0 &&
                   strchr("0123456789.", text[n - 2]))) /* 7 * 10^9, see sp_parse_count */
        return true;
    for (size_t i = 0; i < sizeof own_units / sizeof *own_units; i++) {
        if (strcmp(own_units[i].of, option->metavar) != 0 &&
            strcmp(own_units[i].of, option->name) != 0)
            continue;
        if (strcmp(own_units[i].unit, unit) == 0)
            return true;
        own = own ? own : own_units[i].unit;
    }
    const bool share = strcmp(unit, "%") == 0, bytes = strcmp(unit, "B") == 0;
    if (share && !own && option->kind == SP_REAL)
        return true;
    return sp_fail(error, SP_INPUT, "--%s: \"%s\" is in %s, expected a plain number%s%s",
                   option->name, sp_safe(text),
                   share   ? "per cent"
                   : bytes ? "bytes"
                           : sp_safe(unit),
                   own ? " or one in " : "", own ? own : "");
}

/* A number within the option's range; `text` is how it was said. */
static bool put_number(struct sp_args *args, int at, const char *text, double value,
                       struct sp_error *error)
{
    const struct sp_option *option = &args->options[at];
    char min[32], max[32];
    sp_format_double(option->min, min, sizeof min);
    sp_format_double(option->max, max, sizeof max);
    if (!(value >= option->min && value <= option->max))
        return sp_fail(error, SP_INPUT, "--%s: %s is out of range, expected from %s to %s",
                       option->name, sp_safe(text), min, max);
    if (option->kind == SP_WHOLE && value != floor(value))
        return sp_fail(error, SP_INPUT, "--%s: %s is not a whole number", option->name,
                       sp_safe(text));
    args->number[at] = value;
    return true;
}

static bool take_number(struct sp_args *args, int at, const char *text, struct sp_error *error)
{
    const struct sp_option *option = &args->options[at];
    double value;
    const bool parsed =
        option->kind == SP_COUNTED ? sp_parse_count(text, &value) : sp_parse_number(text, &value);
    if (!parsed)
        return sp_fail(error, SP_INPUT, "--%s: \"%s\" is not %s%s", option->name, sp_safe(text),
                       SP_NUMBERS_ACCEPTED, sp_prefix_hint(text));
    return check_unit(option, text, error) && put_number(args, at, text, value, error);
}

static bool take_value(struct sp_args *args, int at, const char *text, struct sp_error *error)
{
    const struct sp_option *option = &args->options[at];
    args->text[at] = text;
    switch (option->kind) {
    case SP_CHOICE:
        return take_choice(args, at, text, error);
    case SP_REAL:
    case SP_COUNTED:
    case SP_WHOLE:
        return take_number(args, at, text, error);
    case SP_MANY:
        if (args->n_many == SP_MAX_MANY)
            return sp_fail(error, SP_USAGE, "--%s: given more than %d times", option->name,
                           SP_MAX_MANY);
        args->many[args->n_many++] = text;
        return true;
    case SP_REPEATED:
        if (args->n_repeated == SP_MAX_MANY)
            return sp_fail(error, SP_USAGE, "--%s: given more than %d times", option->name,
                           SP_MAX_MANY);
        args->repeated_name[args->n_repeated] = option->name;
        args->repeated[args->n_repeated++] = text;
        return true;
    default:
        return true;
    }
}

static bool take_defaults(struct sp_args *args, struct sp_error *error)
{
    for (size_t i = 0; i < args->n_options; i++) {
        const struct sp_option *option = &args->options[i];
        args->number[i] = NAN;
        const bool parsed = option->kind == SP_CHOICE || option->kind == SP_REAL ||
                            option->kind == SP_COUNTED || option->kind == SP_WHOLE ||
                            option->kind == SP_TEXT;
        if (option->fallback && parsed && !take_value(args, (int)i, option->fallback, error))
            return false;
    }
    return true;
}

/* The option whose name is nearest to a word, "--mdoel=x" or "mdoel=x"; `name` has what stands for
 * the name. */
static struct sp_nearest nearest_option(const struct sp_args *args, const char *word, char name[64])
{
    const char *const start = word + strspn(word, "-");
    snprintf(name, 64, "%.*s", (int)strcspn(start, "="), start);
    struct sp_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < args->n_options; i++)
        sp_nearest_offer(&nearest, args->options[i].name);
    return nearest;
}

static bool unknown_option(const struct sp_args *args, const char *word, struct sp_error *error)
{
    char name[64];
    const struct sp_nearest nearest = nearest_option(args, word, name);
    return sp_fail(error, SP_USAGE, "unknown option %s%s", sp_safe(word),
                   sp_nearest_hint(&nearest));
}

/* A word where none is taken: an option without its dashes, or with a letter wrong as well. */
static bool unexpected_word(const struct sp_args *args, const char *word, struct sp_error *error)
{
    char name[64];
    const struct sp_nearest nearest = nearest_option(args, word, name);
    const bool near = *sp_nearest_hint(&nearest) != '\0';
    return sp_fail(error, SP_USAGE, "unexpected argument \"%s\"%s%s%s", sp_safe(word),
                   near ? "; did you mean \"--" : "", near ? nearest.best : "", near ? "\"?" : "");
}

/* Whether a word that follows --explain names a quantity: where a command takes operands, it might
 * be one. */
static bool is_quantity(const char *word)
{
    const size_t n = strlen(word);
    for (enum sp_quantity_id id = 0; id < SP_QUANTITIES; id++) {
        const char *const key = sp_quantity(id).key;
        const size_t length = strlen(key);
        if (length >= n && strcmp(key + length - n, word) == 0 &&
            (length == n || key[length - n - 1] == '.'))
            return true;
    }
    return false;
}

static void build_long_options(const struct sp_args *args, struct option *longs)
{
    for (size_t i = 0; i < args->n_options; i++) {
        const enum sp_option_kind kind = args->options[i].kind;
        longs[i] = (struct option){args->options[i].name,
                                   kind == SP_FLAG    ? no_argument
                                   : kind == SP_MAYBE ? optional_argument
                                                      : required_argument,
                                   NULL, (int)i + 256};
    }
}

/* getopt accepts unique prefixes; scripts that rely on one would break when an option is added. */
static bool is_spelled_out(const char *word, const char *name)
{
    return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, strlen(name)) == 0 &&
           (word[2 + strlen(name)] == '\0' || word[2 + strlen(name)] == '=');
}

static bool take_operand(struct sp_args *args, const char *word, bool takes_operands,
                         struct sp_error *error)
{
    if (!takes_operands)
        return unexpected_word(args, word, error);
    if (args->n_operands == SP_MAX_OPERANDS)
        return sp_fail(error, SP_USAGE, "more than %d arguments", SP_MAX_OPERANDS);
    args->operands[args->n_operands++] = word;
    return true;
}

bool sp_parse_args(int argc, char **argv, const struct sp_option *options, size_t n,
                   bool takes_operands, struct sp_args *args, struct sp_error *error)
{
    struct option longs[SP_MAX_OPTIONS + 1] = {0};
    *args = (struct sp_args){.options = options, .n_options = n, .pipes = args->pipes};
    if (n > SP_MAX_OPTIONS)
        return sp_fail(error, SP_INTERNAL, "more options than there is room for");
    if (!take_defaults(args, error))
        return false;
    build_long_options(args, longs);
    opterr = 0;
    optind = 0; /* glibc: start over, also when called again in the same process */
    for (;;) {
        const int before = optind ? optind : 1;
        const int got = getopt_long(argc, argv, "+:ho:", longs, NULL);
        if (got == -1) {
            /* After -- getopt starts over at each call: all that follows is taken at once. */
            const bool ended = before < optind && strcmp(argv[before], "--") == 0;
            do {
                if (optind >= argc)
                    return true;
                if (!take_operand(args, argv[optind++], takes_operands, error))
                    return false;
            } while (ended);
            continue;
        }
        if (got == 'h') {
            args->given[find_option(args, "help")] = true;
            continue;
        }
        if (got == ':')
            return sp_fail(error, SP_USAGE, "option %s needs a value", sp_safe(argv[before]));
        const int at = got == 'o' ? find_option(args, "output") : got - 256;
        const bool no_file = got == 'o' && at >= 0 && options[at].kind != SP_TEXT;
        if (got == '?' || at < 0 || no_file ||
            (got != 'o' && !is_spelled_out(argv[before], options[at].name)))
            return unknown_option(args, argv[before], error);
        args->given[at] = true;
        const char *value = optarg;
        const bool word_follows = optind < argc && argv[optind][0] != '-';
        if (options[at].kind == SP_MAYBE && !value && word_follows &&
            (!takes_operands || is_quantity(argv[optind])))
            value = argv[optind++];
        if (value && !take_value(args, at, value, error))
            return false;
    }
}

static bool no_option(const char *name, struct sp_error *error)
{
    return sp_fail(error, SP_USAGE, "no option --%s", sp_safe(name));
}

bool sp_take_text(struct sp_args *args, const char *name, const char *text, struct sp_error *error)
{
    const int at = find_option(args, name);
    if (at < 0)
        return no_option(name, error);
    args->given[at] = true;
    return take_value(args, at, text, error);
}

bool sp_take_number(struct sp_args *args, const char *name, double value, struct sp_error *error)
{
    const int at = find_option(args, name);
    if (at < 0)
        return no_option(name, error);
    const enum sp_option_kind kind = args->options[at].kind;
    sp_format_double(value, args->numeral[at], sizeof args->numeral[at]);
    args->text[at] = args->numeral[at];
    args->given[at] = true;
    return kind == SP_REAL || kind == SP_WHOLE || kind == SP_COUNTED
               ? put_number(args, at, args->numeral[at], value, error)
               : take_value(args, at, args->numeral[at], error);
}

const struct sp_option *sp_option_named(const struct sp_args *args, const char *name)
{
    const int at = find_option(args, name);
    return at >= 0 ? &args->options[at] : NULL;
}

bool sp_takes(const struct sp_args *args, const char *name)
{
    return find_option(args, name) >= 0;
}

bool sp_given(const struct sp_args *args, const char *name)
{
    const int at = find_option(args, name);
    return at >= 0 && args->given[at];
}

const char *sp_text_of(const struct sp_args *args, const char *name)
{
    const int at = find_option(args, name);
    return at >= 0 ? args->text[at] : NULL;
}

double sp_number_of(const struct sp_args *args, const char *name)
{
    const int at = find_option(args, name);
    return at >= 0 ? args->number[at] : NAN;
}

int sp_choice_of(const struct sp_args *args, const char *name)
{
    const double choice = sp_number_of(args, name);
    return isnan(choice) ? -1 : (int)choice;
}

void sp_replace_text(struct sp_args *args, const char *name, const char *text)
{
    const int at = find_option(args, name);
    if (at < 0)
        return;
    args->text[at] = text;
    args->given[at] = true;
}
