/* Commands of the shell itself that change names or parameters. */
#include "launch/shell/builtins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/list.h"
#include "base/text.h"

void sp_set_parameters(struct run *r, const char *const *values, int n)
{
    char name[16];
    const int before = sp_shell_parameters(&r->shell->scope);
    for (int i = 0; i < n || i < before; i++) {
        snprintf(name, sizeof name, "%d", i + 1);
        sp_shell_exchange(&r->shell->scope, &r->shell->text, name, i < n ? values[i] : NULL);
    }
}

static enum status run_shift(struct run *r, const struct sp_shell_fields *fields)
{
    struct sp_shell_fields all = {0};
    const char *const by = fields->n > 1 ? fields->at[1] : "1";
    const bool known = by[0] && by[strspn(by, "0123456789")] == '\0';
    const int n = known ? atoi(by) : 0;
    sp_read_parameters(r, &all);
    const bool fits = known && n <= all.n;
    for (int i = 0; i < all.n && !known; i++) {
        struct sp_shell_piece piece = {0};
        sp_shell_mark(&r->shell->text, &piece, SP_OPEN, "shift", sp_shell_line_at(r->shell, r->at));
        all.at[i] = sp_shell_take(&piece, &r->shell->text);
    }
    if (fits || !known)
        sp_set_parameters(r, all.at + n, all.n - n);
    free(all.at);
    return fits ? WORKED : known ? FAILED : OPEN;
}

void sp_add_function(struct run *r, const char *name, const char *body, const char *text)
{
    r->function = sp_room_for_one(r->function, r->functions, sizeof *r->function);
    r->function[r->functions++] = (struct function){name, body, text, r->open > 0 || r->doubt};
}

static enum status run_unset(struct run *r, const struct sp_shell_fields *fields)
{
    r->bared += r->inside > 0;
    for (int i = 1; i < fields->n; i++) {
        const char *const name = fields->at[i];
        if (name[0] == '-')
            continue;
        if (sp_is(fields->at[1], "-f") ||
            (!sp_shell_value(&r->shell->scope, name) && sp_defined_function(r, name) >= 0)) {
            sp_add_function(r, name, NULL, NULL);
            continue;
        }
        if (sp_is(fields->at[1], "-n")) {
            sp_shell_refer(&r->shell->scope, &r->shell->text, name, NULL);
        } else if (strchr(name, '[')) { /* an item of a list */
            sp_open_name(r, name);
        } else {
            sp_shell_set(&r->shell->scope, &r->shell->text, name, NULL);
            sp_shell_let_reach(&r->shell->scope, &r->shell->text, name, SP_OWN);
        }
    }
    return WORKED;
}

static enum status run_let(struct run *r, const struct sp_shell_fields *fields)
{
    enum status status = FAILED;
    for (int i = 1; i < fields->n; i++)
        status = sp_run_sum(r, fields->at[i]);
    return status;
}

/* `set -a`, `set +o allexport`: whether later assignments export their names; `pipefail`. */
static void take_option(struct run *r, const char *option, const char *next)
{
    if (option[strlen(option) - 1] == 'o' && sp_is(next, "pipefail"))
        r->pipefail = option[0] == '-';
    if (option[1] != '-' &&
        (strchr(option, 'a') || (option[strlen(option) - 1] == 'o' && sp_is(next, "allexport"))))
        r->exports = option[0] == '-';
}

/* `set -- A B` gives parameters; options of the shell change no name. */
static enum status run_set(struct run *r, const struct sp_shell_fields *fields)
{
    int i = 1;
    while (i < fields->n && fields->at[i][0] && strchr("-+", fields->at[i][0]) &&
           !sp_is(fields->at[i], "--")) {
        const char *const option = fields->at[i++];
        take_option(r, option, i < fields->n ? fields->at[i] : "");
        i += option[strlen(option) - 1] == 'o'; /* "-eo pipefail" */
    }
    const bool marked = i < fields->n && sp_is(fields->at[i], "--");
    if (i < fields->n)
        sp_set_parameters(r, fields->at + i + marked, fields->n - i - marked);
    return WORKED;
}

/* The next field of a line for `read`, cut at characters of IFS (`last`: all that is left); moves
 * past its end. */
static const char *next_field(struct run *r, const char **at, const char *ifs, bool last)
{
    char blanks[4] = "";
    for (const char *c = " \t\n"; *c; c++)
        if (strchr(ifs, *c))
            sp_append(blanks, sizeof blanks, "%c", *c);
    const char *const from = *at + strspn(*at, blanks);
    size_t n = last ? strlen(from) : strcspn(from, ifs);
    *at = from + n;
    *at += strspn(*at, blanks);
    *at += **at && !last && strchr(ifs, **at) && !strchr(blanks, **at);
    while (last && n > 0 && strchr(blanks, from[n - 1]))
        n--;
    const bool ends = last && n > 0 && strchr(ifs, from[n - 1]) && strcspn(from, ifs) == n - 1;
    return sp_shell_copy(&r->shell->text, from, n - ends);
}

/* The line of a here-string, or the first of a here-document, into names or (`list`) one list. */
static void read_line(struct run *r, const struct sp_shell_fields *fields, int first, bool list)
{
    struct sp_shell_scope *const scope = &r->shell->scope;
    const char *const set = sp_shell_value(scope, "IFS"), *const ifs = set ? set : " \t\n";
    struct sp_shell_piece items = {0};
    const char *at = sp_shell_copy(&r->shell->text, r->input, strcspn(r->input, "\n"));
    if (list) {
        for (at += strspn(at, " \t"); *at;) {
            if (items.n > 0)
                sp_shell_put(&items, SP_ITEM);
            sp_shell_puts(&items, next_field(r, &at, ifs, false));
        }
        sp_shell_set(scope, &r->shell->text, fields->at[first],
                     sp_shell_take(&items, &r->shell->text));
    }
    for (int i = first; i < fields->n && !list; i++)
        sp_shell_set(scope, &r->shell->text, fields->at[i],
                     next_field(r, &at, ifs, i + 1 == fields->n));
    free(items.at);
}

/* `read`: with `-d ''` all of a here-document into a name; the words of a known line into names;
 * else a value that cannot be known here. */
static enum status run_read(struct run *r, const struct sp_shell_fields *fields)
{
    int first = 1;
    bool all = false, plain = true, list = false, raw = false;
    for (; first < fields->n && fields->at[first][0] == '-'; first++) {
        const char *const letters = fields->at[first] + 1;
        all = all || strchr(letters, 'd');
        plain = plain && !letters[strspn(letters, "ra")];
        list = list || strchr(letters, 'a');
        raw = raw || strchr(letters, 'r');
    }
    if (all && r->input) {
        sp_shell_set(&r->shell->scope, &r->shell->text, fields->at[fields->n - 1], r->input);
        return PRESUMED;
    }
    plain = plain && r->input && first < fields->n && (raw || !strchr(r->input, '\\')) &&
            !sp_shell_gap_in(&r->shell->text, r->input) && !strchr(r->input, SP_ITEM);
    if (!plain) {
        sp_open_names(r, fields);
        return OPEN;
    }
    read_line(r, fields, first, list);
    return WORKED;
}

/* `printf -v NAME FORMAT WORD`: a format of one "%s" and plain text is filled in. */
static enum status run_printf(struct run *r, const struct sp_shell_fields *fields)
{
    struct sp_shell_piece piece = {0};
    const char *const format = fields->n > 3 ? fields->at[3] : "", *const hole =
                                                                       strchr(format, '%');
    if (fields->n < 3 || !sp_is(fields->at[1], "-v"))
        return PRESUMED;
    if (fields->n != 5 || !hole || strchr(fields->at[2], '[') || hole[1] != 's' ||
        strpbrk(hole + 1, "%\\") || memchr(format, '\\', (size_t)(hole - format))) {
        sp_open_name(r, fields->at[2]);
        return PRESUMED;
    }
    for (const char *c = format; c < hole; c++)
        sp_shell_put(&piece, *c);
    sp_shell_puts(&piece, fields->at[4]);
    sp_shell_puts(&piece, hole + 2);
    sp_shell_set(&r->shell->scope, &r->shell->text, fields->at[2],
                 sp_shell_take(&piece, &r->shell->text));
    return WORKED;
}

/* `trap HANDLER SIGNAL...`: from here on the handler may run after any command, so the names that
 * it changes are unknown; for a signal, from where the script sends one. At the end of the shell
 * (EXIT) none is read any more. */
static enum status run_trap(struct run *r, const struct sp_shell_fields *fields)
{
    int first = 1;
    while (first < fields->n && sp_is(fields->at[first], "--"))
        first++;
    const char *const text = first + 1 < fields->n ? fields->at[first] : "";
    bool signals = false, always = false;
    for (int i = first + 1; i < fields->n; i++) {
        const char *const name = fields->at[i] + 3 * (strncasecmp(fields->at[i], "SIG", 3) == 0);
        const bool own = strcasecmp(name, "ERR") == 0 || strcasecmp(name, "DEBUG") == 0 ||
                         strcasecmp(name, "RETURN") == 0 || strcasecmp(name, "CHLD") == 0;
        always = always || own;
        signals = signals || (!own && strcasecmp(name, "EXIT") != 0 && !sp_is(name, "0"));
    }
    if (text[0] && text[0] != '-' && (signals || always)) {
        r->handler = sp_room_for_one(r->handler, r->handlers, sizeof *r->handler);
        r->handler[r->handlers++] = (struct handler){text, !always};
        free(r->handled);
        r->handled = NULL;
    }
    return WORKED;
}

/* `shopt` of options by which the commands after it are other ones: they are not followed. */
static enum status run_shopt(struct run *r, const struct sp_shell_fields *fields)
{
    for (int i = 2; i < fields->n; i++)
        if (sp_is_listed("expand_aliases,extdebug,lastpipe,nocasematch", fields->at[i], '\0') &&
            fields->at[1][1] == 's' && !r->shell->unread[0]) {
            r->shell->unread[0] = fields->at[0];
            r->shell->unread[1] = fields->at[i];
            r->shell->unread_line = sp_shell_line_at(r->shell, r->at);
        }
    return WORKED;
}

/* Builtins that set a variable to something unknown here. */
static enum status run_other(struct run *r, const struct sp_shell_fields *fields)
{
    sp_open_names(r, fields);
    return PRESUMED;
}

/* `getopts LETTERS NAME [WORD...]`: fails where there are no words or parameters. */
static enum status run_getopts(struct run *r, const struct sp_shell_fields *fields)
{
    sp_open_names(r, fields);
    sp_open_name(r, "OPTARG");
    return fields->n > 3 || sp_shell_parameters(&r->shell->scope) > 0 ? OPEN : FAILED;
}

bool sp_run_builtin(struct run *r, const struct sp_shell_fields *fields, enum status *status)
{
    static const struct {
        const char *name;
        enum status (*run)(struct run *r, const struct sp_shell_fields *fields);
    } builtins[] = {{"shift", run_shift},   {"unset", run_unset},     {"let", run_let},
                    {"set", run_set},       {"read", run_read},       {"printf", run_printf},
                    {"mapfile", run_other}, {"readarray", run_other}, {"getopts", run_getopts},
                    {"trap", run_trap},     {"shopt", run_shopt}};
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (sp_is(builtins[i].name, fields->at[0])) {
            *status = builtins[i].run(r, fields);
            return true;
        }
    return false;
}

void sp_keep_local(struct run *r, const char *name)
{
    if (r->inside == 0)
        return;
    r->local = sp_room_for_one(r->local, r->locals, sizeof *r->local);
    r->local[r->locals++] = (struct kept_name){sp_shell_copy(&r->shell->text, name, strlen(name)),
                                               sp_shell_value(&r->shell->scope, name),
                                               sp_shell_reach(&r->shell->scope, name)};
}

void sp_leave_function(struct run *r, int locals)
{
    while (r->locals > locals) {
        const struct kept_name *const kept = &r->local[--r->locals];
        sp_shell_refer(&r->shell->scope, &r->shell->text, kept->name, NULL);
        sp_shell_set(&r->shell->scope, &r->shell->text, kept->name, kept->value);
        sp_shell_let_reach(&r->shell->scope, &r->shell->text, kept->name, kept->reach);
    }
}

void sp_note_unknown(struct run *r, const char *text)
{
    if (sp_runs(r) && text[0] == SP_OPEN)
        sp_add_note(r->launch, "line %d: assignments in an unknown text are not read",
                    sp_shell_line_at(r->shell, r->at));
}

/* Outside the running functions nobody knows what the value of one of their names is now. */
static void forget_outside(struct run *r, const char *name)
{
    for (int i = 0; i < r->locals && sp_runs(r); i++)
        if (sp_is(r->local[i].name, name))
            r->local[i].value = NULL;
}

/* A word of a declaration that is not an assignment as written: a name, or "$NAME=VALUE";
 * SP_MAYBE_EXPORTED: it does not decide exports. */
static void declare_word(struct run *r, bool local, bool global, enum sp_exported reach)
{
    struct sp_shell_fields fields = {0};
    sp_read_field(r, &fields);
    const char *const word = fields.n > 0 ? fields.at[0] : "";
    const size_t n = sp_assigned_here(word);
    const char *const name = sp_shell_copy(&r->shell->text, word, n > 0 ? n : strlen(word));
    const bool named = name[0] && !name[sp_shell_name_length(name)] && sp_runs(r);
    if (!named)
        sp_note_unknown(r, name);
    if (named && local && n > 0)
        sp_keep_local(r, name);
    if (named && global)
        forget_outside(r, name);
    if (named && (n > 0 || local))
        sp_shell_set(&r->shell->scope, &r->shell->text, name, n > 0 ? word + n + 1 : NULL);
    if (named && reach != SP_MAYBE_EXPORTED)
        sp_shell_let_reach(&r->shell->scope, &r->shell->text, name, reach);
    free(fields.at);
}

void sp_run_declaration(struct run *r, bool local)
{
    char name[64];
    bool global = false;                          /* "-g": the outer name */
    bool counts = false;                          /* "-i": the value is arithmetic */
    bool refers = false;                          /* "-n": the value is the name that is meant */
    bool itself = false;                          /* "+n": names stand for themselves again */
    bool freezes = sp_is_bare(r->at, "readonly"); /* also "-r", of names that are not local */
    enum sp_exported reach = sp_is_bare(r->at, "export") ? SP_EXPORTED : SP_MAYBE_EXPORTED;
    r->at = sp_shell_end_of_word(r->at);
    r->bared += reach == SP_EXPORTED && r->inside > 0 && sp_runs(r);
    for (const char *before = NULL; before != r->at && *r->at;) {
        before = r->at;
        sp_skip_run(r, false);
        const size_t n = sp_assigned_here(r->at), bare = sp_shell_name_length(r->at);
        snprintf(name, sizeof name, "%.*s", (int)(n > 0 ? n : bare), r->at);
        if (*r->at == '-') {
            global = global || memchr(r->at, 'g', strcspn(r->at, " \t\n"));
            local = local && !global;
            counts = counts || memchr(r->at, 'i', strcspn(r->at, " \t\n"));
            freezes = freezes || memchr(r->at, 'r', strcspn(r->at, " \t\n"));
            refers =
                refers || (reach != SP_EXPORTED && memchr(r->at, 'n', strcspn(r->at, " \t\n")));
            reach = memchr(r->at, 'x', strcspn(r->at, " \t\n"))   ? SP_EXPORTED
                    : memchr(r->at, 'n', strcspn(r->at, " \t\n")) ? SP_OWN
                                                                  : reach;
        }
        if (local && name[0] && sp_runs(r))
            sp_keep_local(r, name);
        if (n > 0) {
            sp_read_assignment(r, n);
            if (global)
                forget_outside(r, name);
            if (counts && sp_runs(r))
                sp_open_name(r, name);
            if (reach != SP_MAYBE_EXPORTED && sp_runs(r))
                sp_shell_let_reach(&r->shell->scope, &r->shell->text, name, reach);
            if (refers && sp_runs(r))
                sp_shell_refer(&r->shell->scope, &r->shell->text, name,
                               sp_shell_value(&r->shell->scope, name));
        } else if (strncmp(r->at, "+n", 2) == 0) {
            r->at = sp_shell_end_of_word(r->at);
            itself = true;
        } else if (itself && name[0]) {
            r->at = sp_shell_end_of_word(r->at);
            if (sp_runs(r))
                sp_shell_refer(&r->shell->scope, &r->shell->text, name, NULL);
        } else if (*r->at && !strchr("\n;&|<>()", *r->at)) {
            declare_word(r, local, global, reach);
        }
        if (freezes && !local && name[0] && sp_runs(r))
            sp_shell_freeze(&r->shell->scope, name);
    }
}

/* The meaning of an exit status: 0 is success. */
static enum status status_of(const char *number)
{
    return !number[strspn(number, "0")]            ? WORKED
           : !number[strspn(number, "0123456789")] ? FAILED
                                                   : OPEN;
}

void sp_exit_script(struct run *r, const struct sp_shell_fields *fields)
{
    const bool returns = sp_is(fields->at[0], "return") && r->inside > 0;
    const bool fails = fields->n > 1 && !sp_is(fields->at[1], "0");
    if (returns) {
        r->returned = fields->n > 1 ? status_of(fields->at[1]) : PRESUMED;
        r->leave = RETURNS;
    } else if (r->subshells > 0) {
        r->returned = fields->n > 1 ? status_of(fields->at[1]) : PRESUMED;
        r->leave = EXITS;
    } else if (!fails || r->open > 0) {
        r->leave = EXITS;
    } else {
        sp_add_note(r->launch, "line %d: the script would stop here; reading goes on",
                    sp_shell_line_at(r->shell, r->at));
    }
}

/* `break` and `continue`, out of n loops. */
void sp_leave_loop(struct run *r, const struct sp_shell_fields *fields)
{
    r->leave = fields->at[0][0] == 'b' ? BREAKS : CONTINUES;
    r->levels = fields->n > 1 ? atoi(fields->at[1]) : 1;
}
