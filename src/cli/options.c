/* Parses the words of a command by its table of options. */
#include "cli/options.h"

#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/number.h"
#include "base/suggest.h"
#include "base/text.h"
#include "answer/report.h"
#include "cli/other_words.h"
#include "config/lengths.h"
#include "config/load.h"

/* The place of an option's member in struct sp_option_values. */
#define SP_PLACE_FLAG(member) 0
#define SP_PLACE_MANY(member) 0
#define SP_PLACE_REPEATED(member) 0
#define SP_PLACE_TEXT(member) offsetof(struct sp_option_values, member)
#define SP_PLACE_MAYBE SP_PLACE_TEXT
#define SP_PLACE_REAL SP_PLACE_TEXT
#define SP_PLACE_WHOLE SP_PLACE_TEXT
#define SP_PLACE_LENGTHS SP_PLACE_TEXT
#define SP_PLACE_COUNTED SP_PLACE_TEXT
#define SP_PLACE_CHOICE SP_PLACE_TEXT
#define SP_OPTION(member, spelt, kind, ...) SP_PLACE_##kind(member),
static const size_t places[] = {
#include "cli/options.def"
};

#define SP_OPTION(member, spelt, kind, ...) SP_##kind,
static const enum sp_option_kind kinds[] = {
#include "cli/options.def"
};

/* The options of struct sp_options_given are given_at[SP_O_...]. */
_Static_assert(sizeof(struct sp_options_given) == SP_OPTION_IDS, "one bool an option");

static void *place_of(struct sp_args *args, enum sp_option_id id)
{
    return (char *)&args->value + places[id];
}

static bool is_number(const struct sp_option *option)
{
    return option->kind == SP_REAL || option->kind == SP_WHOLE || option->kind == SP_LENGTHS ||
           option->kind == SP_COUNTED;
}

bool sp_is_short_text(const struct sp_args *args)
{
    return !args->given.details && args->value.format == SP_FORMAT_TEXT;
}

double sp_number_at(const struct sp_args *args, enum sp_option_id id)
{
    const void *const place = (const char *)&args->value + places[id];
    switch (kinds[id]) {
    case SP_REAL:
    case SP_WHOLE:
    case SP_LENGTHS:
    case SP_COUNTED:
        return *(const double *)place;
    case SP_CHOICE:
        return *(const int *)place < 0 ? (double)NAN : *(const int *)place;
    default:
        return NAN;
    }
}

/* Adds to the error which other option of the command has that choice: "--format int8". */
static bool add_other_choice(const struct sp_args *args, const char *text, struct sp_error *error)
{
    for (size_t i = 0; i < args->n_options; i++)
        for (int c = 0; args->options[i].choices && args->options[i].choices[c]; c++)
            if (strcasecmp(args->options[i].choices[c], text) == 0) {
                sp_append(error->text, sizeof error->text, "; --%s %s is", args->options[i].name,
                          args->options[i].choices[c]);
                return false;
            }
    return false;
}

static bool take_choice(struct sp_args *args, const struct sp_option *option, const char *text,
                        struct sp_error *error)
{
    int found = 0;
    if (!sp_find_choice("", option->name, option->choices, text, &found, error))
        return add_other_choice(args, text, error);
    *(int *)place_of(args, option->id) = found;
    args->text[option->id] = option->choices[found];
    return true;
}

/* Units by the option's metavar or name: "3W" stages or "10B" seconds would be read as numbers. */
static const struct {
    const char *of, *unit;
} own_units[] = {
    {"BYTES", "B"},       {"BYTES/S", "B/s"},   {"BYTES/S", "B"},
    {"SECONDS", "s"},     {"TOKENS", "tokens"}, {"TOKENS|DISTRIBUTION|FILE", "tokens"},
    {"FLOPS", "FLOPs"},   {"FLOP/s", "FLOP/s"}, {"W", "W"},
    {"tokens", "tokens"}, {"flops", "FLOPs"},
};

/* Refuses a unit that does not belong to the option; a per cent sign is allowed only if numbers
 * need not be whole. */
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

/* Stores a number within the option's range; `text` is its spelling. */
static bool put_number(struct sp_args *args, const struct sp_option *option, const char *text,
                       double value, struct sp_error *error)
{
    if (!(value >= option->min && value <= option->max)) {
        char min[32], max[32];
        sp_format_double(option->min, min, sizeof min);
        sp_format_double(option->max, max, sizeof max);
        /* of a share, per cent without their sign */
        const bool lacks_sign = option->kind == SP_REAL && option->max <= 2 && value >= 5 &&
                                value <= 100 && !strchr(text, '%');
        return sp_fail(error, SP_INPUT, "--%s: %s is out of range, expected from %s to %s%s%s%s",
                       option->name, sp_safe(text), min, max, lacks_sign ? "; did you mean " : "",
                       lacks_sign ? sp_safe(text) : "", lacks_sign ? "%?" : "");
    }
    if (option->kind != SP_REAL && option->kind != SP_COUNTED && value != floor(value))
        return sp_fail(error, SP_INPUT, "--%s: %s is not a whole number", option->name,
                       sp_safe(text));
    *(double *)place_of(args, option->id) = value;
    return true;
}

static bool take_number(struct sp_args *args, const struct sp_option *option, const char *text,
                        struct sp_error *error)
{
    double value;
    if ((sp_is(option->fallback, "auto") && strcmp(text, "auto") == 0) ||
        (option->kind == SP_LENGTHS && sp_names_lengths(text))) {
        *(double *)place_of(args, option->id) = NAN;
        return true;
    }
    const bool parsed =
        option->kind == SP_COUNTED ? sp_parse_count(text, &value) : sp_parse_number(text, &value);
    if (!parsed && sp_parse_signed(text, &value) && value < option->min)
        return put_number(args, option, text, value, error); /* which gives the range */
    if (!parsed)
        return sp_fail(error, SP_INPUT, "--%s: \"%s\" is not %s%s%s", option->name, sp_safe(text),
                       option->kind == SP_WHOLE ? "a whole number" : SP_NUMBERS_ACCEPTED,
                       option->kind == SP_LENGTHS ? ", " SP_LENGTHS_ACCEPTED : "",
                       sp_prefix_hint(text));
    return check_unit(option, text, error) && put_number(args, option, text, value, error);
}

static bool take_value(struct sp_args *args, const struct sp_option *option, const char *text,
                       struct sp_error *error)
{
    args->text[option->id] = text;
    switch (option->kind) {
    case SP_CHOICE:
        return take_choice(args, option, text, error);
    case SP_REAL:
    case SP_COUNTED:
    case SP_LENGTHS:
    case SP_WHOLE:
        return take_number(args, option, text, error);
    case SP_TEXT:
    case SP_MAYBE:
        *(const char **)place_of(args, option->id) = text;
        return true;
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
        args->repeated_id[args->n_repeated] = option->id;
        args->repeated[args->n_repeated++] = text;
        return true;
    case SP_FLAG:
        return true;
    }
    return true;
}

/* Sets options to "not given": NAN, NULL, -1 for a choice. Options that the command does not take
 * keep these values. */
#define SP_UNSAID_FLAG(member)
#define SP_UNSAID_MANY(member)
#define SP_UNSAID_REPEATED(member)
#define SP_UNSAID_TEXT(member) .member = NULL,
#define SP_UNSAID_MAYBE(member) .member = NULL,
#define SP_UNSAID_REAL(member) .member = NAN,
#define SP_UNSAID_WHOLE(member) .member = NAN,
#define SP_UNSAID_LENGTHS(member) .member = NAN,
#define SP_UNSAID_COUNTED(member) .member = NAN,
#define SP_UNSAID_CHOICE(member) .member = -1,
#define SP_OPTION(member, spelt, kind, ...) SP_UNSAID_##kind(member)
static const struct sp_option_values unsaid = {
#include "cli/options.def"
};

void sp_clear_args(struct sp_args *args)
{
    struct sp_world *const world = args->world;
    memset(args, 0, offsetof(struct sp_args, options));
    args->world = world;
}

void sp_restore_args(struct sp_args *copy, const struct sp_args *args)
{
    memcpy(copy, args, offsetof(struct sp_args, lost));
    copy->n_many = args->n_many;
    copy->n_repeated = args->n_repeated;
}

void sp_copy_args(struct sp_args *copy, const struct sp_args *args)
{
    memcpy(copy, args, offsetof(struct sp_args, options));
    memcpy(copy->options, args->options, args->n_options * sizeof *args->options);
    memcpy(copy->operands, args->operands, (size_t)args->n_operands * sizeof *args->operands);
}

static bool take_defaults(struct sp_args *args, struct sp_error *error)
{
    args->value = unsaid;
    for (size_t i = 0; i < args->n_options; i++) {
        const struct sp_option *const option = &args->options[i];
        if (option->fallback && !take_value(args, option, option->fallback, error))
            return false;
    }
    return true;
}

/* Finds the option with the name nearest to a word, "--mdoel=x" or "mdoel=x"; `name` gets the
 * word's name part. */
static struct sp_nearest nearest_option(const struct sp_args *args, const char *word, char name[64])
{
    const char *const start = word + strspn(word, "-");
    snprintf(name, 64, "%.*s", (int)strcspn(start, "="), start);
    struct sp_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < args->n_options; i++)
        sp_nearest_offer(&nearest, args->options[i].name);
    return nearest;
}

/* Suggests a replacement for a word that is no option of the command if one is known, else the
 * nearest name. */
static bool unknown_option(const struct sp_args *args, const char *word, struct sp_error *error)
{
    char name[64];
    const struct sp_nearest nearest = nearest_option(args, word, name);
    for (const struct sp_other_word *other = sp_other_words; other->word; other++)
        if (other->hint && strcmp(other->word, name) == 0)
            return sp_fail(error, SP_USAGE, "unknown option %s: %s", sp_safe(word), other->hint);
    const struct sp_other_word *const other = sp_other_word_named(name);
    const enum sp_option_id meant = other ? other->id : sp_option_of_name(name);
    if (sp_names_taker(meant, sp_option_taken(args, SP_O_fix), word, error))
        return false;
    const bool near = *sp_nearest_hint(&nearest) != '\0';
    return sp_fail(error, SP_USAGE, "unknown option %s%s%s%s", sp_safe(word),
                   near ? "; did you mean --" : "", near ? nearest.best : "", near ? "?" : "");
}

/* The option that takes a model or a machine of that name, such as "h100-8"; NULL: none. */
static const struct sp_option *option_of_config(const struct sp_args *args, const char *word)
{
    const struct sp_sources sources = {.config_dir = args->value.config_dir};
    const char *const dash = strrchr(word, '-');
    const bool counts = dash && isdigit((unsigned char)dash[1]);
    char chip[64];
    snprintf(chip, sizeof chip, "%.*s", (int)(counts ? (size_t)(dash - word) : strlen(word)), word);
    return sp_config_named(SP_MODELS, word, &sources)     ? sp_option_taken(args, SP_O_model)
           : sp_config_named(SP_HARDWARE, chip, &sources) ? sp_option_taken(args, SP_O_hw)
                                                          : NULL;
}

/* The option that takes a word, which is its choice and that of no other, or a config; NULL: none.
 */
static const struct sp_option *option_for(const struct sp_args *args, const char *word)
{
    const struct sp_option *found = NULL;
    int n = 0;
    for (size_t i = 0; i < args->n_options; i++)
        for (const char *const *c = args->options[i].choices; c && *c; c++)
            if (strcmp(*c, word) == 0 && ++n > 0)
                found = &args->options[i];
    return n == 0 ? option_of_config(args, word) : n == 1 ? found : NULL;
}

/* Refuses a word without dashes: another value of an option that has one, or a misspelt option. */
static bool unexpected_word(const struct sp_args *args, const char *word,
                            const struct sp_option *option, struct sp_error *error)
{
    char name[64];
    const struct sp_nearest nearest = nearest_option(args, word, name);
    const bool near = !option && *sp_nearest_hint(&nearest) != '\0';
    return sp_fail(error, SP_USAGE, "unexpected argument \"%s\"%s%s%s", sp_safe(word),
                   option ? "; given already: --"
                   : near ? "; did you mean \"--"
                          : "",
                   option ? option->name
                   : near ? nearest.best
                          : "",
                   near ? "\"?" : "");
}

/* The text of an option for another tool's word. */
static const char *said_by(const char *name, struct sp_args *args, enum sp_option_id id,
                           const char *value)
{
    const struct sp_other_word *const other = sp_other_word_named(name);
    const char *const mark = other && other->said ? strstr(other->said, "%s") : NULL;
    if (!other || !other->said || strcmp(sp_option_name(id), name) == 0)
        return value;
    if (!mark)
        return other->said;
    const int length = snprintf(args->numeral[id], sizeof args->numeral[id], "%.*s%s%s",
                                (int)(mark - other->said), other->said, value, mark + 2);
    return (size_t)length < sizeof args->numeral[id] ? args->numeral[id] : ""; /* no number */
}

/* Takes a word that can be the value of one option alone as that: "fit llama3-8b h100-8". */
static bool take_bare(struct sp_args *args, const char *word, struct sp_error *error)
{
    const struct sp_option *const option = option_for(args, word);
    if (!option || args->given_at[option->id])
        return unexpected_word(args, word, option, error);
    args->given_at[option->id] = true;
    return take_value(args, option, word, error);
}

static bool take_operand(struct sp_args *args, const char *word, bool takes_operands,
                         struct sp_error *error)
{
    if (!takes_operands)
        return take_bare(args, word, error);
    if (args->n_operands == SP_MAX_OPERANDS)
        return sp_fail(error, SP_USAGE, "more than %d arguments", SP_MAX_OPERANDS);
    args->operands[args->n_operands++] = word;
    return true;
}

/* Puts the typed word before the name that the error contains: "--mbs (--micro-batch): ...". */
static bool fail_as_typed(const char *typed, const char *name, struct sp_error *error)
{
    const struct sp_error own = *error;
    const size_t n = strlen(name);
    if (strcmp(typed, name) != 0 && strncmp(own.text, "--", 2) == 0 &&
        strncmp(own.text + 2, name, n) == 0)
        snprintf(error->text, sizeof error->text, "--%.40s (--%s)%.3900s", typed, name,
                 own.text + 2 + n);
    return false;
}

/* Keys of a further --get follow the earlier ones, as a list does. */
static bool add_keys(struct sp_args *args, const char *earlier, const char *more,
                     struct sp_error *error)
{
    char both[sizeof args->keys];
    if ((size_t)snprintf(both, sizeof both, "%s,%s", earlier, more) >= sizeof both)
        return sp_fail(error, SP_INPUT, "--get: longer than %zu bytes", sizeof both - 1);
    memcpy(args->keys, both, sizeof both);
    args->value.get = args->text[SP_O_get] = args->keys;
    return true;
}

/* "tp=8" of a field's option and its value. */
static const char *fixed_text(struct sp_args *args, int id, const char *value)
{
    const size_t size = sizeof args->numeral[id];
    const int length =
        snprintf(args->numeral[id], size, "%s=%s", sp_option_name((enum sp_option_id)id), value);
    return (size_t)length < size ? args->numeral[id] : NULL; /* --fix has room */
}

/* Reads one option of the line; its word is argv[before], its value optarg. */
static bool take_option(struct sp_args *args, int argc, char **argv, int before, int got,
                        const char *name, bool takes_operands, struct sp_error *error)
{
    const struct sp_option *const option = got == 'o' ? sp_option_taken(args, SP_O_write)
                                           : got >= SP_FIXED_FROM ? sp_option_taken(args, SP_O_fix)
                                           : got >= SP_NAMES_FROM
                                               ? &args->options[got - SP_NAMES_FROM]
                                               : NULL;
    if (!option || !name || (got != 'o' && !sp_is_spelled_out(argv[before], name)))
        return unknown_option(args, argv[before], error);
    const char *const earlier = args->given_at[option->id] ? args->text[option->id] : NULL;
    args->given_at[option->id] = true;
    const char *value =
        got >= SP_FIXED_FROM ? fixed_text(args, got - SP_FIXED_FROM, optarg) : optarg;
    if (!value && got >= SP_FIXED_FROM)
        return unknown_option(args, argv[before], error);
    const bool word_follows = optind < argc && argv[optind][0] != '-';
    if (option->kind == SP_MAYBE && !value && word_follows &&
        (!takes_operands || sp_ends_some_key(argv[optind])))
        value = argv[optind++];
    if (option->id == SP_O_help && word_follows && strcmp(argv[optind], "all") == 0) {
        args->whole_help = true;
        optind++;
    }
    value = said_by(name, args, option->id, value);
    if (!value)
        return true;
    if (option->id == SP_O_get && earlier)
        return add_keys(args, earlier, value, error);
    args->lost[option->id] =
        option->kind == SP_MANY || option->kind == SP_REPEATED ? NULL : earlier;
    return take_value(args, option, value, error) ||
           fail_as_typed(got == 'o' ? option->name : name, option->name, error);
}

/* After -- getopt starts over at each call, so all the rest is taken at once. */
static bool take_operands_left(struct sp_args *args, int argc, char **argv, bool ended,
                               bool takes_operands, struct sp_error *error)
{
    do {
        if (!take_operand(args, argv[optind++], takes_operands, error))
            return false;
    } while (ended && optind < argc);
    return true;
}

static bool value_is_missing(const struct sp_args *args, const char *word, struct sp_error *error)
{
    const struct sp_option *const option = sp_option_named(args, word + strspn(word, "-"));
    if (!option && strncmp(word, "--", 2) == 0) /* the beginning of a name */
        return unknown_option(args, word, error);
    const char *const first = option && option->choices ? option->choices[0] : NULL;
    return sp_fail(error, SP_USAGE, "option %s needs a value%s%s%s%s", sp_safe(word),
                   option && option->metavar ? ", " : "",
                   option && option->metavar ? option->metavar : "", first ? ", such as " : "",
                   first ? first : "");
}

/* Whether the word after an option is the next option: "--kv --model". */
static bool is_own_option(const struct sp_args *args, const char *word)
{
    return strncmp(word, "--", 2) == 0 && sp_option_named(args, word + 2);
}

bool sp_parse_args(int argc, char **argv, bool takes_operands, struct sp_args *args,
                   struct sp_error *error)
{
    struct option longs[SP_LONG_OPTIONS] = {0};
    if (!take_defaults(args, error))
        return false;
    sp_build_long_options(args, longs);
    opterr = 0;
    optind = 0; /* glibc: start over, also when called again in the same process */
    for (;;) {
        const int before = optind ? optind : 1;
        int at = 0;
        const int got = getopt_long(argc, argv, "+:hqo:", longs, &at);
        bool ok = true;
        if (got == -1 && optind >= argc)
            return true;
        if (got >= SP_NAMES_FROM && optarg == argv[optind - 1] && is_own_option(args, optarg))
            return value_is_missing(args, argv[before], error);
        if (got == -1)
            ok = take_operands_left(args, argc, argv,
                                    before < optind && strcmp(argv[before], "--") == 0,
                                    takes_operands, error);
        else if (got == 'h')
            args->given.help = true;
        else if (got == 'q')
            args->given.quiet = true;
        else if (got == ':')
            ok = value_is_missing(args, argv[before], error);
        else
            ok = take_option(args, argc, argv, before, got, longs[at].name, takes_operands, error);
        if (!ok || (got == -1 && optind >= argc))
            return ok;
    }
}

static bool no_option(enum sp_option_id id, struct sp_error *error)
{
    return sp_fail(error, SP_USAGE, "no option --%s", sp_option_name(id));
}

bool sp_take_text(struct sp_args *args, enum sp_option_id id, const char *text,
                  struct sp_error *error)
{
    const struct sp_option *const option = sp_option_taken(args, id);
    if (!option)
        return no_option(id, error);
    args->given_at[id] = true;
    return take_value(args, option, text, error);
}

bool sp_take_number(struct sp_args *args, enum sp_option_id id, double value,
                    struct sp_error *error)
{
    const struct sp_option *const option = sp_option_taken(args, id);
    if (!option)
        return no_option(id, error);
    sp_format_double(value, args->numeral[id], sizeof args->numeral[id]);
    args->text[id] = args->numeral[id];
    args->given_at[id] = true;
    return is_number(option) ? put_number(args, option, args->numeral[id], value, error)
                             : take_value(args, option, args->numeral[id], error);
}
