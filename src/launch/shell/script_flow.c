/* Branches and loops of a script. A branch with an unknown condition is read on a copy of the
 * names, and the names that it changes are unknown after it. */
#include "launch/shell/script_flow.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TURNS = 256 };

bool sp_take_bare(struct run *r, const char *word)
{
    sp_skip_run(r, true);
    if (!sp_is_bare(r->at, word))
        return false;
    r->at += strlen(word);
    return true;
}

static void skip_list(struct run *r, const char *const *ends)
{
    r->skipped++;
    r->list(r, ends);
    r->skipped--;
}

struct sp_branches *sp_open_branches(struct run *r)
{
    r->open++;
    r->steps += SP_BRANCH_STEPS;
    return sp_start_branches(r->shell, sp_shell_line_at(r->shell, r->at), r->decider);
}

void sp_close_branch(struct run *r, struct sp_branches *branches)
{
    sp_end_branch(branches, r->shell, r->leave == EXITS);
    r->may_exit = r->may_exit || r->leave == EXITS;
    if (r->leave != EXITS && r->leave > r->doubtful)
        r->doubtful = r->leave;
    r->leave = STAYS;
}

/* The arguments in a skipped text, "--fp8-format, --fp8-recipe". */
static void list_flags(const char *at, const char *end, char *list, size_t size)
{
    list[0] = '\0';
    for (bool start = true; at < end; at++) {
        const size_t n = strspn(at, "-abcdefghijklmnopqrstuvwxyz0123456789_"), used = strlen(list);
        if (start && strncmp(at, "--", 2) == 0 && n > 3 && used + n + 8 < size)
            sp_append(list, size, "%s%.*s", used ? ", " : "", (int)n, at);
        start = strchr(" \t\n\"'(", *at) != NULL;
    }
}

/* Leaves branches, and reports that their text, from `from` to here, has an unknown condition. */
void sp_close_branches(struct run *r, struct sp_branches *branches, const char *from)
{
    char flags[120];
    const int line = branches->line;
    list_flags(from, r->at, flags, sizeof flags);
    r->leave = sp_end_branches(branches, r->shell) ? STAYS : EXITS;
    r->open--;
    if (flags[0] && r->open == 0)
        sp_add_note(r->launch, "line %d: %s%s: left out with %s", line,
                    r->decider[0] ? "a branch that depends on " : "an undecided branch",
                    sp_safe(r->decider), flags);
    if (r->open == 0)
        r->decider[0] = '\0';
    if (r->doubtful != STAYS && !r->doubt)
        r->doubt = sp_copy_scope(&r->shell->scope);
}

void sp_doubt_changes(struct run *r)
{
    if (!r->doubt)
        return;
    sp_open_changed(r->shell, r->doubt, sp_shell_line_at(r->shell, r->at));
    free(r->doubt);
    r->doubt = sp_copy_scope(&r->shell->scope);
}

struct sp_doubts sp_start_doubts(struct run *r)
{
    const struct sp_doubts around = {r->doubtful, r->doubt};
    r->doubtful = STAYS;
    r->doubt = NULL;
    return around;
}

/* If a branch with an unknown condition may have left at most this much, names changed after it are
 * unknown, and later commands are certain again. */
static void settle(struct run *r, enum leave most)
{
    if (r->doubtful == STAYS || r->doubtful > most)
        return;
    sp_doubt_changes(r);
    free(r->doubt);
    r->doubt = NULL;
    r->doubtful = STAYS;
}

void sp_end_doubts(struct run *r, struct sp_doubts around, enum leave most)
{
    settle(r, most);
    if (around.doubt) {
        sp_doubt_changes(r);
        sp_open_changed(r->shell, around.doubt, sp_shell_line_at(r->shell, r->at));
        free(r->doubt);
        free(around.doubt);
        r->doubt = sp_copy_scope(&r->shell->scope);
    }
    r->doubtful = r->doubtful > around.doubtful ? r->doubtful : around.doubtful;
}

/* Whether nothing that a handler reads has changed since the handlers were read last. */
static bool is_settled(const struct run *r)
{
    const struct sp_shell_scope *const now = &r->shell->scope, *const then = r->handled;
    bool same = then && r->handled_functions == r->functions && now->n == then->n;
    for (int i = 0; same && i < now->n; i++)
        same = now->at[i].value == then->at[i].value;
    return same;
}

void sp_run_handlers(struct run *r)
{
    const struct run before = *r;
    bool some = false;
    for (int i = 0; i < r->handlers; i++)
        some = some || !r->handler[i].waits || r->sends;
    if (!some || r->handles || !sp_runs(r) || is_settled(r))
        return;
    struct sp_branches *const branches = sp_open_branches(r);
    r->handles = true;
    for (int i = 0; i < r->handlers; i++) {
        if (!r->handler[i].waits || r->sends)
            r->again(r, r->handler[i].text);
        sp_close_branch(r, branches);
    }
    sp_close_branch(r, branches); /* none of them */
    sp_close_branches(r, branches, r->at);
    r->handles = false;
    r->steps = before.steps + 1 + (r->steps - before.steps) / 50; /* they are many */
    r->leave = before.leave;
    r->returned = before.returned;
    r->foreign = before.foreign;
    r->reads = before.reads;
    r->input = before.input;
    r->output = before.output;
    r->handed = before.handed;
    r->piped = before.piped;
    memcpy(r->decider, before.decider, sizeof r->decider);
    free(r->handled);
    r->handled = sp_copy_scope(&r->shell->scope);
    r->handled_functions = r->functions;
}

/* One body of an `if`, a `case` or a loop: run, skipped, or read as a branch. */
struct choice {
    struct sp_branches *branches;
    bool done;          /* a body before it certainly runs */
    enum status status; /* of the last command in it */
};

static void run_body(struct run *r, struct choice *choice, enum status when,
                     const char *const *ends)
{
    if (!sp_runs(r) || choice->done || when == FAILED) {
        skip_list(r, ends);
        return;
    }
    const bool open = when != WORKED;
    if (open && !choice->branches)
        choice->branches = sp_open_branches(r);
    const enum status last = r->list(r, ends);
    choice->status = choice->branches ? OPEN : last;
    choice->done = choice->done || !open;
    if (choice->branches)
        sp_close_branch(r, choice->branches);
}

static void end_choice(struct run *r, struct choice *choice, const char *from)
{
    if (choice->branches && !choice->done)
        sp_close_branch(r, choice->branches); /* none of them */
    if (choice->branches)
        sp_close_branches(r, choice->branches, from);
}

enum status sp_run_if(struct run *r)
{
    static const char *const then[] = {"then", NULL}, *const ends[] = {"elif", "else", "fi", NULL};
    struct choice choice = {.status = WORKED};
    const char *const from = r->at;
    r->at += strlen("if");
    do {
        r->skipped += choice.done;
        const enum status when = r->list(r, then);
        r->skipped -= choice.done;
        sp_take_bare(r, "then");
        run_body(r, &choice, when, ends);
    } while (sp_take_bare(r, "elif"));
    if (sp_take_bare(r, "else"))
        run_body(r, &choice, WORKED, ends);
    sp_take_bare(r, "fi");
    end_choice(r, &choice, from);
    return choice.status;
}

/* A body that runs an unknown number of times: never, once or often. */
static void run_open_body(struct run *r, const char *const *ends, const char *from)
{
    struct choice choice = {0};
    const char *const body = r->at;
    if (sp_runs(r)) {
        choice.branches = sp_open_branches(r);
        for (int turn = 0; turn < 2;
             turn++) { /* twice: an iteration may use values set in the one before */
            r->at = body;
            r->list(r, ends);
            r->leave = r->leave == CONTINUES ? STAYS : r->leave;
        }
        r->leave = r->leave == BREAKS ? STAYS : r->leave;
        sp_close_branch(r, choice.branches);
    } else {
        skip_list(r, ends);
    }
    end_choice(r, &choice, from);
}

/* A loop whose condition is at r->at and is read by `when`; its body follows "do". */
struct loop {
    enum status (*when)(struct run *r, void *context);
    void (*step)(struct run *r, void *context);
    void *context;
};

/* Ends a turn: whether the loop goes on. */
static bool goes_on(struct run *r)
{
    const bool leaves = r->leave == BREAKS || r->leave == CONTINUES;
    if (leaves && r->levels > 1) { /* the loop around it too */
        r->levels--;
        return false;
    }
    const bool on = r->leave == STAYS || r->leave == CONTINUES;
    r->leave = leaves ? STAYS : r->leave;
    settle(r, CONTINUES); /* the next iteration runs, even if `continue` left this one */
    return on;
}

static void run_loop(struct run *r, const struct loop *loop)
{
    static const char *const ends[] = {"done", NULL};
    const char *const condition = r->at;
    struct sp_shell_scope *const before = sp_copy_scope(&r->shell->scope);
    const struct sp_doubts doubts = sp_start_doubts(r);
    bool on = true;
    for (int turn = 0; on; turn++) {
        r->at = condition;
        const enum status when = turn > MOST_TURNS ? FAILED : loop->when(r, loop->context);
        sp_take_bare(r, "do");
        if (turn > MOST_TURNS)
            sp_open_changed(r->shell, before, sp_shell_line_at(r->shell, condition));
        if (!sp_runs(r) || when == FAILED) {
            skip_list(r, ends);
            break;
        }
        if (when != WORKED) {
            run_open_body(r, ends, condition);
            break;
        }
        r->list(r, ends);
        on = goes_on(r);
        if (on && loop->step)
            loop->step(r, loop->context);
    }
    free(before);
    sp_end_doubts(r, doubts, BREAKS);
    sp_take_bare(r, "done");
}

static enum status read_while(struct run *r, void *until)
{
    static const char *const start[] = {"do", NULL};
    const enum status when = r->list(r, start);
    if (!*(const bool *)until || (when != WORKED && when != FAILED))
        return when == PRESUMED ? OPEN : when;
    return when == WORKED ? FAILED : WORKED;
}

enum status sp_run_while(struct run *r)
{
    bool until = sp_is_bare(r->at, "until");
    r->at += strlen("while");
    run_loop(r, &(struct loop){read_while, NULL, &until});
    return PRESUMED;
}

/* "for ((FIRST; WHEN; STEP))": the places of its three parts and their ends. */
struct sums {
    const char *part[3], *end[3];
    const char *behind;
};

static enum status read_sum(struct run *r, void *context)
{
    const struct sums *const s = context;
    r->at = s->behind;
    const enum status when = sp_runs(r) ? sp_run_sum_text(r, s->part[1], s->end[1]) : PRESUMED;
    sp_skip_run(r, true);
    r->at += *r->at == ';';
    return when;
}

static void run_step(struct run *r, void *context)
{
    const struct sums *const s = context;
    const char *const at = r->at;
    sp_run_sum_text(r, s->part[2], s->end[2]);
    r->at = at;
}

static void run_counted(struct run *r)
{
    struct sums s = {.behind = sp_shell_end_of_group(r->at)};
    const char *at = r->at + 2;
    for (int i = 0; i < 3; i++) {
        s.part[i] = at;
        while (at < s.behind - 2 && *at != ';')
            at++;
        s.end[i] = at;
        at += at < s.behind - 2;
    }
    if (sp_runs(r))
        sp_run_sum_text(r, s.part[0], s.end[0]);
    run_loop(r, &(struct loop){read_sum, run_step, &s});
}

/* The body of a loop over some words. If those are unknown, too many, or for a person to choose
 * from
 * (`select`), it is read once for any number of iterations. */
static void run_turns(struct run *r, const char *name, const struct sp_shell_fields *fields,
                      bool is_chosen)
{
    static const char *const ends[] = {"done", NULL};
    const char *const body = r->at;
    bool open = is_chosen || fields->n > MOST_TURNS || !name[0];
    for (int i = 0; i < fields->n && !open; i++) {
        const struct sp_shell_gap *const gap = sp_shell_gap_in(&r->shell->text, fields->at[i]);
        if (gap && !r->decider[0])
            snprintf(r->decider, sizeof r->decider, "%s",
                     sp_starts_with(gap->name, sp_shell_files) ? "a file" : gap->name);
        open = gap != NULL;
    }
    if (!sp_runs(r) || fields->n == 0) {
        skip_list(r, ends);
        return;
    }
    if (open) {
        sp_open_name(r, name[0] ? name : "_");
        run_open_body(r, ends, body);
        return;
    }
    bool on = true;
    for (int i = 0; i < fields->n && on; i++) {
        r->at = body;
        if (sp_runs(r))
            sp_shell_set(&r->shell->scope, &r->shell->text, name, fields->at[i]);
        r->list(r, ends);
        on = goes_on(r);
    }
}

enum status sp_run_for(struct run *r)
{
    const struct sp_doubts doubts = sp_start_doubts(r);
    struct words words = {.opens = true};
    char name[64] = "";
    const bool is_chosen = sp_is_bare(r->at, "select");
    r->at = sp_shell_end_of_word(r->at);
    sp_skip_run(r, false);
    const size_t n = sp_shell_name_length(r->at);
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), r->at);
    if (strncmp(r->at, "((", 2) == 0) {
        run_counted(r);
        sp_end_doubts(r, doubts, BREAKS);
        return PRESUMED;
    }
    r->at += n;
    if (sp_take_bare(r, "in"))
        sp_read_words(r, &words, false);
    else
        sp_read_parameters(r, &words.fields);
    sp_skip_run(r, true);
    r->at += *r->at == ';';
    if (sp_take_bare(r, "do"))
        run_turns(r, name, &words.fields, is_chosen);
    sp_end_doubts(r, doubts, BREAKS);
    sp_take_bare(r, "done");
    sp_free_words_of(&words);
    return PRESUMED;
}

/* "(pattern|pattern)": whether the word is of one of them. */
static enum status read_patterns(struct run *r, const char *word)
{
    enum status any = FAILED;
    sp_skip_run(r, true);
    r->at += *r->at == '(';
    for (const char *before = NULL; *r->at && *r->at != ')' && before != r->at;) {
        struct sp_shell_fields fields = {0};
        before = r->at;
        sp_skip_run(r, true);
        sp_read_pattern(r, false, &fields);
        const enum sp_shell_truth one =
            fields.n > 0 ? sp_shell_matches(word, fields.at[0]) : SP_FALSE;
        any = any == WORKED || one == SP_TRUE       ? WORKED
              : any == OPEN || one == SP_OPEN_TRUTH ? OPEN
                                                    : FAILED;
        free(fields.at);
        sp_skip_run(r, true);
        r->at += *r->at == '|';
    }
    r->at += *r->at == ')';
    return any;
}

enum status sp_run_case(struct run *r)
{
    static const char *const ends[] = {"esac", NULL};
    struct sp_shell_fields word = {0};
    struct choice choice = {.status = WORKED};
    const char *const from = r->at;
    r->at += strlen("case");
    sp_skip_run(r, true);
    sp_read_field(r, &word);
    const char *const text = word.n > 0 ? word.at[0] : "";
    enum status last = FAILED;
    bool falls = false; /* the body before this one goes on in it */
    sp_take_bare(r, "in");
    for (const char *before = NULL; *r->at && before != r->at && !sp_take_bare(r, "esac");) {
        before = r->at;
        const enum status when = read_patterns(r, text);
        if (when == OPEN && sp_runs(r) && sp_shell_gap_in(&r->shell->text, text))
            snprintf(r->decider, sizeof r->decider, "%s",
                     sp_shell_gap_in(&r->shell->text, text)->name);
        const bool done = choice.done;
        const enum status runs = done ? FAILED : falls ? last : when;
        run_body(r, &choice, runs, ends);
        last = runs;
        falls = strncmp(r->at, ";&", 2) == 0 && runs != FAILED;
        if (falls || strncmp(r->at, ";;&", 3) == 0) /* the next one counts too */
            choice.done = done;
        r->at += strspn(r->at, ";&");
    }
    free(word.at);
    end_choice(r, &choice, from);
    return choice.status;
}

/* "{ ... }" and "( ... )"; changes in the second are lost afterwards. */
enum status sp_run_group(struct run *r)
{
    static const char *const ends[] = {"}", NULL};
    const bool apart = *r->at == '(';
    const enum leave leave = r->leave;
    const bool may_exit = r->may_exit;
    const int functions = r->functions, handlers = r->handlers;
    struct sp_shell_scope *const before = sp_copy_scope(&r->shell->scope);
    r->steps += SP_BRANCH_STEPS;
    r->at++;
    r->subshells += apart;
    r->may_exit = r->may_exit && !apart;
    enum status status = r->list(r, apart ? NULL : ends);
    if (apart && r->may_exit)
        status = OPEN;
    else if (apart && r->leave == EXITS && leave != EXITS)
        status = r->returned;
    r->subshells -= apart;
    r->may_exit = apart ? may_exit : r->may_exit;
    if (!apart) {
        sp_take_bare(r, "}");
        free(before);
    } else {
        r->at += *r->at == ')';
        r->leave = leave; /* an exit in it ends only the subshell */
        r->functions = functions;
        r->handlers = handlers;
        sp_restore_scope(&r->shell->scope, before);
    }
    return status;
}
