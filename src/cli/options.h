/* Command-line options as rows of a table: one row parses, checks, and documents an option. */
#ifndef SP_OPTIONS_H
#define SP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum sp_option_kind {
    SP_FLAG,
    SP_TEXT,
    SP_REAL,       /* min..max, as people type numbers */
    SP_WHOLE,      /* the same, whole */
    SP_COUNTED,    /* parameters or tokens: a number, and "7B" is 7 * 10^9 */
    SP_CHOICE,     /* one of choices */
    SP_MAYBE,      /* text that may be left out: --explain, --explain=KEY */
    SP_MANY,       /* text, may be repeated: --set */
    SP_REPEATED,   /* the same for other options, kept with the option's name */
    SP_EACH_FIELD, /* stands for an option for each field of a plan: see sp_options_of */
    SP_EACH_MOST   /* stands for --max-... for each field that a search counts up */
};

struct sp_option {
    const char *name;    /* without the dashes */
    const char *metavar; /* "TOKENS"; NULL for a flag */
    enum sp_option_kind kind;
    double min, max;
    const char *const *choices; /* NULL-terminated */
    const char *fallback;       /* shown in --help; parsed when the option is not given */
    const char *help;
};

enum { SP_MAX_OPTIONS = 96, SP_MAX_MANY = 64, SP_MAX_OPERANDS = 1024 };

struct sp_pipes;

/* A parsed command line. */
struct sp_args {
    const struct sp_option *options; /* the command's, then the common ones */
    size_t n_options;
    bool given[SP_MAX_OPTIONS];
    const char *text[SP_MAX_OPTIONS];
    double number[SP_MAX_OPTIONS];
    char numeral[SP_MAX_OPTIONS][32]; /* text of what was given as a number */
    const char *many[SP_MAX_MANY];
    int n_many;
    const char *repeated[SP_MAX_MANY], *repeated_name[SP_MAX_MANY];
    int n_repeated;
    const char *operands[SP_MAX_OPERANDS];
    int n_operands;
    struct sp_pipes *pipes; /* of the run of the program; parsing leaves it as it is */
};

/* Parses argv[1..]; wrong usage is exit code 2, a wrong value 3. A word after --explain or --check
 * that is no option counts as its value where the command takes no operands. */
bool sp_parse_args(int argc, char **argv, const struct sp_option *options, size_t n,
                   bool takes_operands, struct sp_args *args, struct sp_error *error);

/* Finds `text`, or another word for it, among the choices of an option or of a key of one: `where`
 * is "" or "fix: ", `name` the option or key. The error names them and all choices. */
bool sp_find_choice(const char *where, const char *name, const char *const *choices,
                    const char *text, int *found, struct sp_error *error);

/* Takes an option's value that stands elsewhere than on the command line, as if it were typed last:
 * text that outlives `args`, or a number. */
bool sp_take_text(struct sp_args *args, const char *name, const char *text, struct sp_error *error);
bool sp_take_number(struct sp_args *args, const char *name, double value, struct sp_error *error);

/* The option of that name; NULL: the command has none. */
const struct sp_option *sp_option_named(const struct sp_args *args, const char *name);

/* Whether the command has an option of that name. */
bool sp_takes(const struct sp_args *args, const char *name);

/* Whether an option was given, and its value: what was typed, or the default of its row. */
bool sp_given(const struct sp_args *args, const char *name);
const char *sp_text_of(const struct sp_args *args,
                       const char *name);                          /* NULL: not given, no default */
double sp_number_of(const struct sp_args *args, const char *name); /* NAN: not given, no default */
int sp_choice_of(const struct sp_args *args, const char *name);    /* index into choices */

/* Puts another text in place of a text option's. */
void sp_replace_text(struct sp_args *args, const char *name, const char *text);

#endif
