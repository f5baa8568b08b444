/* A shell script as the commands that it would run: lists, branches, loops, functions. A branch
 * with an unknown condition is read on a copy of the names, and the names that it changes are
 * unknown after it. */
#include "launch/shell/script.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/list.h"
#include "base/read_file.h"
#include "launch/fields/named_files.h"
#include "launch/formats/syntax.h"
#include "launch/shell/builtins.h"
#include "launch/shell/script_branches.h"
#include "launch/shell/script_child.h"
#include "launch/shell/script_files.h"
#include "launch/shell/script_flow.h"
#include "launch/shell/slurm.h"

enum { DEEPEST = 40, MOST_STEPS = 100000 };
static const char too_deep[] = "40 nested commands";

static enum status run_list(struct run *r, const char *const *ends);
static enum status run_command(struct run *r);

/* Reads another text: all of it (`whole`), or the command that starts in it. Places in a text other
 * than this have the line of the command from which it came. */
static enum status run_elsewhere(struct run *r, const char *at, const char *whole)
{
    enum status status = PRESUMED;
    struct sp_shell *const shell = r->shell;
    const char *const here = r->at, *const text = r->text, *const counted = shell->counted;
    const struct sp_here open = r->here;
    const int line = sp_shell_line_at(shell, here);
    if (whole != text)
        shell->counted = NULL;
    r->at = at;
    r->text = whole;
    r->here.n = 0;
    if (++r->depth > DEEPEST)
        shell->text.full = too_deep;
    if (at != whole)
        status = run_command(r);
    for (; at == whole && *r->at && sp_runs(r); r->at += *r->at ? 1 : 0)
        status = run_list(r, NULL);
    r->depth--;
    r->at = here;
    r->text = text;
    r->here = open;
    if (whole != text) {
        shell->counted = counted ? here : NULL;
        shell->line = line;
    }
    return status;
}

static enum status run_again(struct run *r, const char *text)
{
    return run_elsewhere(r, text, text);
}

/* Runs a function; its parameters and its local names are its own. */
static enum status call_function(struct run *r, int i, const struct sp_shell_fields *fields)
{
    struct sp_shell_fields outside = {0};
    const int locals = r->locals;
    const struct sp_doubts doubts = sp_start_doubts(r);
    sp_read_parameters(r, &outside);
    sp_set_parameters(r, fields->at + 1, fields->n - 1);
    r->inside++;
    enum status status = run_elsewhere(r, r->function[i].body, r->function[i].text);
    r->inside--;
    if (r->leave == RETURNS) {
        status = r->returned;
        r->leave = STAYS;
    }
    if (r->doubtful == RETURNS)
        status = OPEN;
    sp_end_doubts(r, doubts, RETURNS);
    sp_leave_function(r, locals);
    sp_set_parameters(r, outside.at, outside.n);
    free(outside.at);
    return status;
}

/* Runs a function that branches with unknown conditions define: each definition is a branch. */
static enum status call_open(struct run *r, int i, const struct sp_shell_fields *fields)
{
    const char *const name = r->function[i].name;
    struct sp_branches *const branches = sp_open_branches(r);
    bool open = true;
    for (; i >= 0 && open; i--) {
        if (!sp_is(r->function[i].name, name))
            continue;
        open = r->function[i].open;
        if (r->function[i].body)
            call_function(r, i, fields);
        sp_close_branch(r, branches);
    }
    if (open)
        sp_close_branch(r, branches);
    sp_close_branches(r, branches, r->at);
    return OPEN;
}

/* Words of commands that start nothing. */
static const char quiet[] =
    "echo,cat,tee,grep,sed,awk,mkdir,rm,cp,mv,ls,cd,pushd,popd,"
    "chmod,find,tar,git,pip,conda,module,wget,curl,"
    "ln,rmdir,touch,date,sleep,ulimit,wait,clear,hostname,printf,"
    "kill,pkill,sync,mount,alias,apt,apt-get,type,command,which,hash,diff,cmp,pgrep";

/* Those that do not fail. */
static const char firm[] = "echo,printf,wait";

/* Those that may fail. */
static const char asking[] = "grep,type,command,which,hash,diff,cmp,pgrep";

/* `source`: reads a file that the script itself wrote, or that lies beside it. */
static enum status take_in(struct run *r, const struct words *w)
{
    const char *const before = r->beside, *const name = w->fields.n > 1 ? w->fields.at[1] : "";
    const char *where = before, *text = sp_written_file(r, name);
    if (!text && !sp_starts_with(name, "/dev/"))
        text = sp_file_beside(r, name, &where);
    if (text) {
        const char *const outer = r->shell->source;
        r->beside = r->shell->source = where;
        const enum status status = run_again(r, text);
        r->shell->source = outer;
        r->beside = before;
        return status;
    }
    sp_add_note(r->launch, "line %d: %s is not read: its variables are unknown", w->lines[0],
                w->fields.n > 1 ? "a file that the script sources" : "a file");
    return OPEN;
}

/* Takes `command` or `builtin` off, which run the rest without functions; false: it is not there.
 */
static bool take_lead(struct words *w)
{
    const struct sp_shell_fields *const fields = &w->fields;
    if (fields->n < 2 || !sp_is_listed("command,builtin", fields->at[0], '\0') ||
        fields->at[1][0] == '-')
        return false;
    w->fields.n--;
    memmove(w->fields.at, w->fields.at + 1, (size_t)w->fields.n * sizeof *w->fields.at);
    memmove(w->lines, w->lines + 1, (size_t)w->fields.n * sizeof *w->lines);
    return true;
}

/* Runs a program; behind `exec` the shell does not go on. */
static void launch(struct run *r, struct words *w)
{
    const bool replaces = sp_is(w->fields.at[0], "exec");
    r->foreign = true;
    if (r->handles)
        return;
    if (replaces && (w->fields.n == 1 || w->fields.at[1][0] == '{')) /* files, "{NAME}>FILE" */
        return;
    sp_launch_command(r, w);
    r->returned = PRESUMED;
    r->leave = replaces ? EXITS : r->leave;
}

static enum status execute(struct run *r, struct words *w)
{
    if (!sp_runs(r) || w->fields.n == 0)
        return PRESUMED;
    const bool led = take_lead(w);
    const struct sp_shell_fields *const fields = &w->fields;
    const char *const word = fields->at[0];
    const int i = led ? -1 : sp_defined_function(r, word);
    if (i >= 0 && r->function[i].open)
        return call_open(r, i, fields);
    if (i >= 0 && r->function[i].body)
        return call_function(r, i, fields);
    if (sp_is(word, "[") || sp_is(word, "test"))
        return r->reads ? OPEN : sp_read_test(r, fields, 1);
    if (sp_is(word, "true") || sp_is(word, ":"))
        return WORKED;
    if (sp_is(word, "false"))
        return FAILED;
    enum status status = PRESUMED;
    if (sp_run_builtin(r, fields, &status))
        return status;
    if (sp_is(word, "eval")) {
        const char *const text = sp_join_fields(r, fields, 1, ' ');
        sp_note_unknown(r, text);
        return run_again(r, text);
    }
    if (sp_is(word, "cd"))
        sp_change_folder(r, fields);
    r->foreign = r->foreign || !sp_is_listed(firm, word, '\0');
    if (!r->sends && sp_is_listed("kill,pkill,killall", sp_base_name(word), '\0')) {
        r->sends = true;
        free(r->handled);
        r->handled = NULL;
    }
    if (sp_is(word, "source") || sp_is(word, "."))
        return take_in(r, w);
    if (sp_is(word, "exit") || sp_is(word, "return"))
        sp_exit_script(r, fields);
    else if (sp_is(word, "break") || sp_is(word, "continue"))
        sp_leave_loop(r, fields);
    else if (!sp_is_listed(quiet, word, '\0'))
        launch(r, w);
    else
        sp_keep_file(r, fields);
    return sp_is_listed(asking, word, '\0') ? OPEN
           : sp_is_listed(firm, word, '\0') ? WORKED
                                            : PRESUMED;
}

/* Words before an assignment, such as `export`. */
static const char declaring[] = "export,declare,local,readonly,typeset";

/* Assignments before a command apply only to that command. */
struct ahead {
    struct kept_name *outside, *inside;
    int n;
};

/* Reads one; the names keep their values until the first word of the command is known. */
static void read_ahead(struct run *r, size_t n, struct ahead *ahead)
{
    struct sp_shell_scope *const scope = &r->shell->scope;
    const char *const name = sp_shell_copy(&r->shell->text, r->at, n);
    ahead->outside = sp_room_for_one(ahead->outside, ahead->n, sizeof *ahead->outside);
    ahead->inside = sp_room_for_one(ahead->inside, ahead->n, sizeof *ahead->inside);
    ahead->outside[ahead->n] =
        (struct kept_name){name, sp_shell_value(scope, name), sp_shell_reach(scope, name)};
    sp_read_assignment(r, n);
    ahead->inside[ahead->n++] = (struct kept_name){name, sp_shell_value(scope, name), SP_EXPORTED};
}

/* Gives names the values of a list: from the last one on (`back`), or from the first. */
static void give(struct run *r, const struct kept_name *kept, int n, bool back)
{
    for (int i = 0; i < n && sp_runs(r); i++) {
        const struct kept_name *const one = &kept[back ? n - 1 - i : i];
        sp_shell_set(&r->shell->scope, &r->shell->text, one->name, one->value);
        sp_shell_let_reach(&r->shell->scope, &r->shell->text, one->name, one->reach);
    }
}

/* Words of a command and the assignments before them. */
static void read_simple(struct run *r, struct words *words, struct ahead *ahead)
{
    bool given = true;
    for (const char *before = NULL; before != r->at;) {
        before = r->at;
        sp_skip_run(r, false);
        const size_t n = words->fields.n == 0 ? sp_assigned_here(r->at) : 0;
        if (n > 0) {
            read_ahead(r, n, ahead);
            continue;
        }
        if (given && *r->at && !strchr("\n;&|<>()", *r->at)) { /* words see the earlier values */
            give(r, ahead->outside, ahead->n, true);
            given = false;
        }
        sp_read_words(r, words, false);
        sp_skip_redirection(r);
    }
}

/* The status of assignments from one place to another: that of a command in them. */
static enum status assigned(const char *from, const char *end)
{
    for (; from < end; from++)
        if (*from == '`' || (from[0] == '$' && from[1] == '(' && from[2] != '('))
            return OPEN;
    return WORKED;
}

static enum status run_simple(struct run *r)
{
    struct words words = {0};
    struct ahead ahead = {0};
    char first[16];
    const char *const led = sp_is_bare(r->at, "command") || sp_is_bare(r->at, "builtin")
                                ? r->at + strcspn(r->at, " \t\n")
                                : r->at;
    const char *const at = led + strspn(led, " \t");
    snprintf(first, sizeof first, "%.*s", (int)strcspn(at, " \t\r\n;&|<>()"), at);
    if (sp_is_listed(declaring, first, '\0') && first[0])
        r->at = at;
    if (sp_is_listed(declaring, first, '\0') && first[0]) {
        const bool fails = sp_is(first, "local") && r->inside == 0; /* it sets nothing then */
        const int locals = r->locals;
        r->inside += fails;
        sp_run_declaration(r, r->inside > 0 && sp_is_listed("local,declare,typeset", first, '\0'));
        r->inside -= fails;
        if (fails)
            sp_leave_function(r, locals);
        return fails ? FAILED : WORKED;
    }
    r->input = r->piped;
    r->output = r->handed = r->piped = NULL;
    const int bared = r->bared;
    r->reads = false;
    read_simple(r, &words, &ahead);
    const bool alone = words.fields.n == 0;
    if (words.fields.n == 4 && sp_starts_with(at, "[ -n $") &&
        sp_shell_is_unset(words.fields.at[2]))
        words.fields.at[2] = "-n"; /* without quotes it is no word, and the other one counts */
    if (!alone)
        give(r, ahead.inside, ahead.n, false);
    const enum status status = alone && ahead.n > 0 ? assigned(at, r->at) : execute(r, &words);
    const enum leave leave = r->leave;
    r->leave = STAYS;
    if (!alone)
        give(r, ahead.outside, ahead.n, true);
    for (int i = 0; i < ahead.n && !alone && r->bared != bared; i++)
        sp_open_name(
            r,
            ahead.outside[i].name); /* `unset` or `export` in a function affects the outer name */
    r->leave = leave;
    free(ahead.outside);
    free(ahead.inside);
    sp_free_words_of(&words);
    return status;
}

/* NAME() { ... }: the length up to the end of the parentheses, 0 where no function starts. */
static size_t length_of_function(const char *at, size_t *name)
{
    const bool keyword = sp_is_bare(at, "function");
    const char *c = at + (keyword ? strlen("function") : 0);
    c += strspn(c, " \t");
    const char *const start = c;
    while (*c && !strchr(" \t\r\n;&|<>()'\"$`=", *c))
        c++;
    *name = (size_t)(c - start);
    const char *const open = c + strspn(c, " \t");
    const bool pair = *open == '(' && open[1 + strspn(open + 1, " \t")] == ')';
    if (*name == 0 || (!pair && !keyword))
        return 0;
    return (size_t)((pair ? strchr(open, ')') + 1 : c) - at);
}

static bool define_function(struct run *r)
{
    size_t name;
    const size_t n = length_of_function(r->at, &name);
    if (n == 0)
        return false;
    const char *start = r->at + (sp_is_bare(r->at, "function") ? strlen("function") : 0);
    start += strspn(start, " \t");
    const char *const called = sp_shell_copy(&r->shell->text, start, name);
    r->at += n;
    sp_skip_run(r, true);
    if (sp_runs(r))
        sp_add_function(r, called, r->at, r->text);
    r->skipped++;
    run_command(r);
    r->skipped--;
    return true;
}

static enum status run_command(struct run *r)
{
    static const struct {
        const char *word;
        enum status (*run)(struct run *r);
    } kinds[] = {{"if", sp_run_if},   {"while", sp_run_while}, {"until", sp_run_while},
                 {"for", sp_run_for}, {"select", sp_run_for},  {"case", sp_run_case},
                 {"{", sp_run_group}, {"[[", sp_read_brackets}};
    enum status status = PRESUMED;
    sp_skip_run(r, false);
    if (++r->depth > DEEPEST)
        r->shell->text.full = too_deep;
    if (r->shell->text.full) {
        r->depth--;
        return PRESUMED;
    }
    if (sp_is_bare(r->at, "time"))
        r->at += strlen("time");
    sp_skip_run(r, false);
    enum status (*run)(struct run * r) = strncmp(r->at, "((", 2) == 0 ? sp_read_arithmetic
                                         : *r->at == '('              ? sp_run_group
                                                                      : run_simple;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sp_is_bare(r->at, kinds[i].word))
            run = kinds[i].run;
    if (run != run_simple || !define_function(r))
        status = run(r);
    while (sp_skip_redirection(r) || (sp_skip_run(r, false), sp_skip_redirection(r)))
        continue;
    r->depth--;
    return status;
}

/* Ends a subshell (`apart`): its changes are undone, and an exit there ended only the subshell. */
static void end_apart(struct run *r, bool apart, enum leave leave, struct sp_shell_scope *before)
{
    if (!apart) {
        free(before);
        return;
    }
    sp_restore_scope(&r->shell->scope, before);
    r->leave = leave;
}

/* Commands of a pipeline pass their output on; the last one counts. */
static enum status run_pipeline(struct run *r)
{
    sp_skip_run(r, false);
    const bool negated = sp_is_bare(r->at, "!");
    r->at += negated;
    struct sp_shell_scope *const before = sp_copy_scope(&r->shell->scope);
    const enum leave leave = r->leave;
    const int functions = r->functions;
    enum status status = run_command(r);
    bool piped = false;
    for (sp_skip_run(r, false); *r->at == '|' && r->at[1] != '|'; sp_skip_run(r, false)) {
        r->at += r->at[1] == '&' ? 2 : 1;
        sp_skip_run(r, true);
        r->piped = r->handed;
        const enum status earlier = status;
        status = run_command(r);
        if (r->pipefail && (earlier == FAILED || earlier == OPEN) && status != FAILED)
            status = earlier;
        r->piped = NULL;
        piped = true;
    }
    r->functions = piped ? functions : r->functions;
    end_apart(r, piped, leave, before);
    sp_run_handlers(r);
    if (negated && (status == WORKED || status == FAILED))
        status = status == WORKED ? FAILED : WORKED;
    return negated && status == PRESUMED ? OPEN : status;
}

/* A side that perhaps runs; `presumed`: only if a program fails, so that it counts only where it
 * does not leave. */
static void run_perhaps(struct run *r, const char *from, bool presumed)
{
    struct sp_branches *const branches = sp_open_branches(r);
    const bool may_exit = r->may_exit;
    r->steps -= presumed ? SP_BRANCH_STEPS - 5 : 0; /* they are many */
    run_pipeline(r);
    if (presumed && r->leave != STAYS) {
        r->leave = EXITS;
        from = r->at;
    }
    sp_close_branch(r, branches);
    r->may_exit = presumed ? may_exit : r->may_exit;
    sp_close_branch(r, branches);
    sp_close_branches(r, branches, from);
}

/* Pipelines with && and || between them. What changes behind a program and "&&" is unknown after
 * them. */
static enum status run_chain(struct run *r)
{
    const char *const from = r->at;
    struct sp_shell_scope *before = NULL;
    r->foreign = false;
    enum status status = run_pipeline(r);
    for (;;) {
        sp_skip_run(r, false);
        const bool both = strncmp(r->at, "&&", 2) == 0;
        if (!both && strncmp(r->at, "||", 2) != 0)
            break;
        r->at += 2;
        sp_skip_run(r, true);
        const bool skips = both ? status == FAILED : status == WORKED || status == PRESUMED;
        if (both && status == PRESUMED && r->foreign && !before && sp_runs(r))
            before = sp_copy_scope(&r->shell->scope);
        const bool fails = !both && status == PRESUMED;
        if ((fails || status == OPEN) && sp_runs(r)) {
            run_perhaps(r, fails ? r->at : from, fails);
        } else {
            r->skipped += skips;
            const enum status next = run_pipeline(r);
            r->skipped -= skips;
            status = skips ? status : next;
        }
    }
    if (before)
        sp_open_changed(r->shell, before, sp_shell_line_at(r->shell, r->at));
    r->may_exit = r->may_exit || (before && r->leave == EXITS);
    free(before);
    return status;
}

static bool is_end(const char *at, const char *const *ends)
{
    while (ends && *ends && !sp_is_bare(at, *ends))
        ends++;
    return ends && *ends;
}

/* ";;", ";&" or ";;&" of a `case`. */
static bool ends_body(const char *at)
{
    return at[0] == ';' && (at[1] == ';' || at[1] == '&');
}

/* Commands up to one of the words that end the list, to ")" or to ";;", which are not consumed. */
static enum status run_list(struct run *r, const char *const *ends)
{
    enum status status = PRESUMED;
    while (!r->shell->text.full) {
        const char *before;
        do {
            before = r->at;
            sp_skip_run(r, true);
            r->at +=
                !ends_body(r->at) && strncmp(r->at, "&>", 2) != 0 && *r->at && strchr(";&", *r->at);
        } while (before != r->at);
        if (!*r->at || *r->at == ')' || ends_body(r->at) || is_end(r->at, ends))
            break;
        before = r->at;
        struct sp_shell_scope *const names = sp_copy_scope(&r->shell->scope);
        const enum leave leave = r->leave;
        status = run_chain(r);
        sp_skip_run(r, false);
        end_apart(r, *r->at == '&' && r->at[1] != '&', leave, names);
        sp_doubt_changes(r);
        r->at += r->at == before;
        if (++r->steps > MOST_STEPS)
            r->shell->text.full = "100000 commands";
    }
    return status;
}

/* Names that were typed. */
static bool pin(struct sp_shell *shell, const char *const *set, int n, struct sp_error *error)
{
    for (int i = 0; i < n; i++) {
        char name[64];
        const char *const value = strchr(set[i], '=');
        if (!value || value == set[i] || (size_t)(value - set[i]) >= sizeof name)
            return sp_fail(error, SP_INPUT, "--set-var: \"%s\": expected NAME=VALUE",
                           sp_safe(set[i]));
        snprintf(name, sizeof name, "%.*s", (int)(value - set[i]), set[i]);
        sp_shell_set(&shell->scope, &shell->text, name, sp_shell_clean(&shell->text, value + 1));
    }
    for (int i = 0; i < shell->scope.n; i++)
        shell->scope.at[i].pinned = true;
    return true;
}

bool sp_read_script(const char *text, const char *const *set, int n_set, const char *origin,
                    struct sp_script *script, struct sp_launch *launch, struct sp_error *error)
{
    struct sp_shell *const shell = sp_must(calloc(1, sizeof *shell));
    struct run *const run = sp_must(calloc(1, sizeof *run));
    *script = (struct sp_script){.shell = shell};
    bool ok = pin(shell, set, n_set, error);
    run->shell = shell;
    run->script = script;
    run->launch = launch;
    run->list = run_list;
    run->again = run_again;
    run->origin = origin;
    shell->script = shell->source = sp_is(origin, sp_origin_of("-")) ? NULL : origin;
    run->at = run->text = shell->counted = sp_clean_script(shell, text);
    shell->line = 1;
    script->slurm = sp_start_job(shell, text, NULL, 0);
    while (ok && *run->at && sp_runs(run)) {
        run_list(run, NULL);
        run->at += *run->at ? 1 : 0;
    }
    ok = ok && sp_check_end(run, error);
    free(run->function);
    free(run->local);
    free(run->handler);
    free(run->handled);
    free(run->doubt);
    free(run);
    return ok;
}

void sp_free_script(struct sp_script *script)
{
    for (int i = 0; i < script->n; i++) {
        free(script->commands[i].words);
        free(script->commands[i].lines);
    }
    free(script->commands);
    free(script->files);
    if (script->shell)
        sp_shell_free(&script->shell->text);
    free(script->shell);
    *script = (struct sp_script){0};
}
