/* The state of reading a script: the place, and the words, values and conditions met there. */
#ifndef SP_LAUNCH_SCRIPT_RUN_H
#define SP_LAUNCH_SCRIPT_RUN_H

#include "launch/fields/settings.h"
#include "launch/shell/script_blanks.h"
#include "launch/shell/expand.h"
#include "launch/shell/test.h"

enum { SP_BRANCH_STEPS = 50 };

/* The outcome of a list of commands: PRESUMED is a command assumed to have succeeded. */
enum status { FAILED = SP_FALSE, WORKED = SP_TRUE, OPEN = SP_OPEN_TRUTH, PRESUMED };

enum leave { STAYS, CONTINUES, BREAKS, RETURNS, EXITS };

struct sp_script;

struct run {
    struct sp_shell *shell;
    struct sp_script *script;
    struct sp_launch *launch;
    const char *at, *text; /* the place, and its text */
    int depth, steps, open, skipped;
    int children;     /* scripts that run one another */
    int unclosed;     /* the line of a quote or bracket without its end; 0: none */
    int visible_line; /* the line that set CUDA_VISIBLE_DEVICES last; 0: none */
    bool exports;     /* `set -a`: assigned names are exported */
    bool pipefail;    /* `set -o pipefail`: the first command of a pipeline that fails counts */
    bool foreign;     /* a program ran, which is only assumed to have succeeded */
    bool reads;       /* the command reads a file, which may be missing */
    enum leave leave;
    int levels;                   /* number of loops that `break` or `continue` leaves */
    enum status returned;         /* status of `return`, or of `exit` in a subshell */
    int bared;                    /* how often `unset` or `export` ran in a function */
    int inside;                   /* functions that are called */
    int subshells;                /* "( ... )" around this place */
    bool may_exit;                /* a branch with an unknown condition may have ended the inmost */
    enum leave doubtful;          /* a branch with an unknown condition may have left this way, */
    struct sp_shell_scope *doubt; /* and these were the names then; NULL: none has */
    struct kept_name {
        const char *name, *value;
        enum sp_exported reach;
    } * local; /* names local to the running functions, with their outer values */
    int locals;
    const char *origin; /* of the script */
    const char *beside; /* name of the file that it is including; NULL if none */
    char decider[64];   /* the variable that decides a branch */
    struct function {
        const char *name, *body, *text; /* NULL: `unset` */
        bool open;                      /* in a branch with an unknown condition */
    } * function;
    int functions;
    struct handler {
        const char *text;
        bool waits; /* for a signal */
    } * handler;    /* of `trap`, that may run after any command */
    int handlers;
    bool handles;                   /* one of them is being read: it starts nothing */
    bool sends;                     /* the script sent a signal, perhaps to itself */
    struct sp_shell_scope *handled; /* the names after the handlers were read; NULL: never */
    int handled_functions;          /* functions then */
    struct sp_here here;
    const char *input;  /* the input of a command if the script contains it; else NULL */
    const char *output; /* the file that it writes; NULL: none */
    const char *handed; /* its output to the next command of a pipeline; NULL: unknown */
    const char *piped;  /* the same for the command that comes next */
    enum status (*list)(struct run *run, const char *const *ends); /* reads a list of commands */
    enum status (*again)(struct run *run, const char *text);       /* reads another text */
};

/* The words of a command and their lines. */
struct words {
    struct sp_shell_fields fields;
    int *lines;
    bool opens; /* "*" and "?" stand for files, whose number is unknown */
};

/* Whether this text counts: it is in no skipped branch, and the script has not ended.
 */
bool sp_runs(const struct run *run);

/* Moves past blanks, with `lines` past line ends too. */
void sp_skip_run(struct run *run, bool lines);

/* Whether all of the script was read; else an error with its line. */
bool sp_check_end(struct run *r, struct sp_error *error);

/* Moves past the word at this place; if it counts, its expansion is one field. */
void sp_read_field(struct run *run, struct sp_shell_fields *fields);

/* The same for a pattern, or the regular expression behind "=~". */
void sp_read_pattern(struct run *run, bool regular, struct sp_shell_fields *fields);

/* Reads words up to the end of a command, or with `lines` up to the end of a list in
 * parentheses. */
void sp_read_words(struct run *run, struct words *words, bool lines);
void sp_free_words_of(struct words *words);

/* Fields from one on as a text. */
const char *sp_join_fields(struct run *run, const struct sp_shell_fields *fields, int from,
                           char with);

/* The length of the name that is assigned here, 0 if there is none. */
size_t sp_assigned_here(const char *at);

/* NAME=value, NAME+=value, NAME=(list), NAME[i]=value; the name has `n` bytes. */
void sp_read_assignment(struct run *run, size_t n);

/* "[ ... ]", from the field `first` on; "[[ ... ]]"; "(( ... ))". */
enum status sp_read_test(struct run *run, const struct sp_shell_fields *fields, int first);
enum status sp_read_brackets(struct run *run);
enum status sp_read_arithmetic(struct run *run);

/* Evaluates an expression whose $ are filled in, or a text up to `end`: it holds if it is not 0,
 * and may assign names. */
enum status sp_run_sum(struct run *run, const char *expression);
enum status sp_run_sum_text(struct run *run, const char *from, const char *end);

/* Adds the parameters of the script, or of the function that is called. */
void sp_read_parameters(struct run *run, struct sp_shell_fields *fields);

/* The last definition of a function; -1: there is none. */
int sp_defined_function(const struct run *run, const char *name);

/* Makes a name (of "NAME[INDEX]" the list), or the names from the second field on, unknown. */
void sp_open_name(struct run *run, const char *name);
void sp_open_names(struct run *run, const struct sp_shell_fields *fields);

/* A redirection or process substitution; false if there is none. */
bool sp_skip_redirection(struct run *run);

#endif
