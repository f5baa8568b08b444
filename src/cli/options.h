/* Command-line options: a row of options.def parses, checks, documents and binds an option. */
#ifndef SP_OPTIONS_H
#define SP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cli/option_ids.h"
#include "cli/other_words.h"

enum sp_option_kind {
    SP_FLAG,
    SP_TEXT,
    SP_REAL,    /* min..max, as people type numbers */
    SP_WHOLE,   /* the same, whole */
    SP_LENGTHS, /* the same, or a distribution or a file of lengths: the number is then NAN, and the
                   text holds it */
    SP_COUNTED, /* parameters or tokens: a number, and "7B" is 7 * 10^9 */
    SP_CHOICE,  /* one of choices */
    SP_MAYBE,   /* text that may be left out: --explain, --explain=KEY */
    SP_MANY,    /* text, may be repeated: --set */
    SP_REPEATED /* the same for other options, kept with the option's name */
};

/* The values of a command line, a member for each option: the typed value, else the command's
 * default, else NAN, NULL, or -1 for a choice. Flags and repeated options have none. */
#define SP_VALUE_FLAG(member)
#define SP_VALUE_MANY(member)
#define SP_VALUE_REPEATED(member)
#define SP_VALUE_TEXT(member) const char *member;
#define SP_VALUE_MAYBE(member) const char *member;
#define SP_VALUE_REAL(member) double member;
#define SP_VALUE_WHOLE(member) double member;
#define SP_VALUE_LENGTHS(member) double member;
#define SP_VALUE_COUNTED(member) double member;
#define SP_VALUE_CHOICE(member) int member; /* index into choices */
#define SP_OPTION(member, spelt, kind, ...) SP_VALUE_##kind(member)
struct sp_option_values {
#include "cli/options.def"
};

/* Whether each option was given. */
#define SP_OPTION(member, ...) bool member;
struct sp_options_given {
#include "cli/options.def"
};

/* An option that a command takes. */
struct sp_taken {
    enum sp_option_id id;
    const char *fallback;           /* the command's default, shown in --help and parsed; or NULL */
    const char *alias;              /* an older name, still read; or NULL */
    const char *const *choices;     /* where they are the command's own; NULL: those of the row */
    const char *help;               /* the same; NULL: that of the row */
    const enum sp_option_id *needs; /* all of these too; NULL: nothing. SP_THESE(...) */
    const enum sp_option_id *excludes; /* options that this one excludes */
};

/* Options by their SP_O_..., for the columns of struct sp_taken. */
#define SP_THESE(...) ((const enum sp_option_id[]){__VA_ARGS__, SP_NO_OPTION})

#define SP_TAKE(member, ...)                                                                       \
    {                                                                                              \
        .id = SP_O_##member, __VA_ARGS__                                                           \
    } /* a row of such a list */

/* Where --help and the man pages show an option, in this order: SP_UNDER_..., title. */
/* clang-format off */
#define SP_HEADINGS(X) \
    X(MACHINE, "machine") \
    X(MODEL, "model") \
    X(BATCH, "batch") \
    X(PARALLELISM, "parallelism") \
    X(PRECISION, "recomputation and precision") \
    X(TRAINED, "what is trained") \
    X(OPERATION, "operation") \
    X(OPTIMIZER, "optimizer") \
    X(LAW, "scaling law") \
    X(RL, "reinforcement learning") \
    X(SERVING, "requests") \
    X(SEARCH, "search and goal") \
    X(RUN, "run and cost") \
    X(CASES, "cases") \
    X(ESTIMATE, "estimate") \
    X(FILES, "files") \
    X(OUTPUT, "output")
/* clang-format on */
#define SP_UNDER(heading, title) SP_UNDER_##heading,
enum sp_heading { SP_HEADINGS(SP_UNDER) SP_N_HEADINGS };

/* An option of a command: its row with the command's own settings. */
struct sp_option {
    enum sp_option_id id;
    enum sp_heading heading;
    int used;            /* how much, from 0 to 9 */
    const char *name;    /* without the dashes */
    const char *metavar; /* "TOKENS"; NULL for a flag */
    enum sp_option_kind kind;
    double min, max;
    const char *const *choices; /* NULL-terminated */
    const char *help;
    const char *fallback, *alias;
    const enum sp_option_id *needs, *excludes;
};

enum { SP_MAX_OPTIONS = 148, SP_MAX_MANY = 64, SP_MAX_OPERANDS = 1024 };

struct sp_world;
struct sp_known_problem;

/* A parsed command line. */
struct sp_args {
    struct sp_option_values value;
    union {
        struct sp_options_given given;
        bool given_at[SP_OPTION_IDS];
    };
    const char *text[SP_OPTION_IDS]; /* as typed, or the default */
    const char *lost[SP_OPTION_IDS]; /* the value before the last of an option given twice */
    const char *many[SP_MAX_MANY];
    int n_many;
    const char *repeated[SP_MAX_MANY];
    enum sp_option_id repeated_id[SP_MAX_MANY];
    int n_repeated;
    struct sp_world *world; /* of this run of the program; parsing leaves it unchanged */
    const struct sp_known_problem
        *known; /* of the options that lines add to; NULL: there are no lines */
    size_t n_options;
    int n_operands;
    bool whole_help; /* --help all */
    /* Only the first entries of these large arrays are set: clearing them would take longer than
     * parsing most commands. */
    struct sp_option options[SP_MAX_OPTIONS]; /* the command's, then the common ones */
    const char *operands[SP_MAX_OPERANDS];
    char numeral[SP_OPTION_IDS][32]; /* text of a value given as a number */
    char keys[1024];                 /* of --get given more than once */
};

/* Clears all but the world. */
void sp_clear_args(struct sp_args *args);

/* A copy that stays valid as long as the original; and a way to reset the copy after values were
 * taken into it by sp_take_text and sp_take_number. */
void sp_copy_args(struct sp_args *copy, const struct sp_args *args);
void sp_restore_args(struct sp_args *copy, const struct sp_args *args);

/* The row of an option with a command's own settings (NULL: none). */
struct sp_option sp_option_row(enum sp_option_id id, const struct sp_taken *taken);

/* Parses argv[1..] by the n_options of args->options; wrong usage is exit code 2, a wrong value 3.
 * A word after --explain or --check that is not an option is its value if the command takes no
 * operands. */
bool sp_parse_args(int argc, char **argv, bool takes_operands, struct sp_args *args,
                   struct sp_error *error);

/* Finds `text`, or another word for it, among the choices of an option or of a key of one: `where`
 * is "" or "fix: ", `name` the option or key. The error names them and all choices. */
bool sp_find_choice(const char *where, const char *name, const char *const *choices,
                    const char *text, int *found, struct sp_error *error);

/* Sets an option from a source other than the command line, as if it were typed last: text that
 * outlives `args`, or a number. An option that the command does not take is an error. */
bool sp_take_text(struct sp_args *args, enum sp_option_id id, const char *text,
                  struct sp_error *error);
bool sp_take_number(struct sp_args *args, enum sp_option_id id, double value,
                    struct sp_error *error);

/* The command's option of that name or older name; NULL: none. */
const struct sp_option *sp_option_named(const struct sp_args *args, const char *name);

/* Whether the answer is a text without its details. */
bool sp_is_short_text(const struct sp_args *args);

/* The command's option; NULL: it does not take it. */
const struct sp_option *sp_option_taken(const struct sp_args *args, enum sp_option_id id);

/* The name of an option, without the dashes. */
const char *sp_option_name(enum sp_option_id id);

/* The option of a field of a plan, and the option for the field's largest value in a search. */
enum sp_option_id sp_option_of_field(int field);
enum sp_option_id sp_option_of_most(int field);

/* The option of that name, of whatever command; SP_NO_OPTION: none. */
enum sp_option_id sp_option_of_name(const char *name);

/* Refuses an option that the command does not take by naming the option or command that does: --fix
 * for a field of a plan (if the command takes it), `step` or `serve`. False, without an error:
 * there is none. */
bool sp_names_taker(enum sp_option_id id, bool fixes, const char *word, struct sp_error *error);

/* The number of an option, or the index of its choice; NAN: not given and no default, or text. */
double sp_number_at(const struct sp_args *args, enum sp_option_id id);

struct option;

/* What getopt returns: SP_NAMES_FROM and a place in args->options, or SP_FIXED_FROM and the id of a
 * plan's option, which --fix takes. */
enum { SP_NAMES_FROM = 256, SP_FIXED_FROM = SP_NAMES_FROM + SP_MAX_OPTIONS };
enum { SP_LONG_OPTIONS = 3 * SP_MAX_OPTIONS + SP_OTHER_WORDS + 1 };

/* Writes all names of the command's options, for getopt, into SP_LONG_OPTIONS places of zeros. */
void sp_build_long_options(const struct sp_args *args, struct option *longs);

/* Whether a word is the whole name: getopt accepts unique prefixes, and scripts that rely on one
 * would break when an option is added. */
bool sp_is_spelled_out(const char *word, const char *name);

#endif
