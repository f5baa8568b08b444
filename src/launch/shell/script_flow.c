/* Branches and loops of a script. A branch that nothing decides is read on a copy of the names, and
 * what it changes is not known after it. */
#include "launch/shell/script_flow.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TURNS = 64 };

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
    r->leave = STAYS;
}

/* The arguments in a text that is left out, "--fp8-format, --fp8-recipe". */
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

/* Leaves branches, and says of their text, from `from` to here, that nothing decides it. */
void sp_close_branches(struct run *r, struct sp_branches *branches, const char *from)
{
    char flags[120];
    const int line = branches->line;
    list_flags(from, r->at, flags, sizeof flags);
    r->leave = sp_end_branches(branches, r->shell) ? STAYS : EXITS;
    r->open--;
    if (flags[0] && r->open == 0)
        sp_add_note(r->launch, "line %d: %s%s: left out with %s", line,
                    r->decider[0] ? "a branch that hangs on " : "a branch that nothing decides",
                    sp_safe(r->decider), flags);
    if (r->open == 0)
        r->decider[0] = '\0';
}

/* One body of an `if`, a `case` or a loop: run, left out, or read as a branch. */
struct choice {
    struct sp_branches *branches;
    bool done; /* a body before it is run for certain */
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
    r->list(r, ends);
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
    struct choice choice = {0};
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
    return PRESUMED;
}

enum status sp_run_while(struct run *r)
{
    static const char *const start[] = {"do", NULL}, *const ends[] = {"done", NULL};
    struct choice choice = {0};
    const char *const from = r->at;
    const bool until = sp_is_bare(r->at, "until");
    r->at += strlen("while");
    enum status when = r->list(r, start);
    if (until && (when == WORKED || when == FAILED))
        when = when == WORKED ? FAILED : WORKED;
    sp_take_bare(r, "do");
    run_body(r, &choice, when, ends);
    r->leave = r->leave == EXITS ? EXITS : STAYS;
    sp_take_bare(r, "done");
    end_choice(r, &choice, from);
    return PRESUMED;
}

static void open_name(struct run *r, const char *name)
{
    const struct sp_shell_fields one = {.at = (const char *[]){"", name}, .n = 2};
    sp_open_names(r, &one);
}

/* The body of a loop for each of some words; where those are not known, or too many, once for any
 * or none. */
static void run_turns(struct run *r, const char *name, const struct sp_shell_fields *fields)
{
    static const char *const ends[] = {"done", NULL};
    const char *const body = r->at;
    bool open = fields->n > MOST_TURNS || !name[0];
    for (int i = 0; i < fields->n; i++)
        open = open || sp_shell_gap_in(&r->shell->text, fields->at[i]);
    if (!sp_runs(r) || fields->n == 0 || open) {
        struct choice choice = {0};
        if (sp_runs(r) && open)
            open_name(r, name[0] ? name : "_");
        run_body(r, &choice, open ? OPEN : FAILED, ends);
        end_choice(r, &choice, body);
        return;
    }
    for (int i = 0; i < fields->n; i++) {
        r->at = body;
        if (r->leave == CONTINUES)
            r->leave = STAYS;
        if (sp_runs(r))
            sp_shell_set(&r->shell->scope, &r->shell->text, name, fields->at[i]);
        r->list(r, ends);
    }
}

enum status sp_run_for(struct run *r)
{
    struct words words = {0};
    char name[64] = "";
    r->at = sp_shell_end_of_word(r->at);
    sp_skip_run(r, false);
    const size_t n =
        strspn(r->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), r->at);
    if (*r->at == '(')
        r->at = sp_shell_end_of_group(r->at);
    r->at += n;
    if (sp_take_bare(r, "in"))
        sp_read_words(r, &words, false);
    else if (!name[0])
        sp_shell_add(&words.fields, ""); /* (( ... )): turns are not counted */
    sp_skip_run(r, true);
    r->at += *r->at == ';';
    if (sp_take_bare(r, "do"))
        run_turns(r, name, &words.fields);
    r->leave = r->leave == EXITS ? EXITS : STAYS;
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
        sp_read_field(r, &fields);
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
    struct choice choice = {0};
    const char *const from = r->at;
    r->at += strlen("case");
    sp_skip_run(r, true);
    sp_read_field(r, &word);
    const char *const text = word.n > 0 ? word.at[0] : "";
    sp_take_bare(r, "in");
    for (const char *before = NULL; *r->at && before != r->at && !sp_take_bare(r, "esac");) {
        before = r->at;
        const enum status when = read_patterns(r, text);
        if (when == OPEN && sp_runs(r) && sp_shell_gap_in(&r->shell->text, text))
            snprintf(r->decider, sizeof r->decider, "%s",
                     sp_shell_gap_in(&r->shell->text, text)->name);
        run_body(r, &choice, when, ends);
        r->at += strspn(r->at, ";&");
    }
    free(word.at);
    end_choice(r, &choice, from);
    return PRESUMED;
}

/* "{ ... }" and "( ... )"; what the second changes is gone behind it. */
enum status sp_run_group(struct run *r)
{
    static const char *const ends[] = {"}", NULL};
    const bool apart = *r->at == '(';
    struct sp_shell_scope *const before = malloc(sizeof *before);
    if (!before)
        abort();
    *before = r->shell->scope;
    r->steps += SP_BRANCH_STEPS;
    r->at++;
    const enum status status = r->list(r, apart ? NULL : ends);
    if (!apart) {
        sp_take_bare(r, "}");
    } else {
        r->at += *r->at == ')';
        r->leave = r->leave == EXITS ? STAYS : r->leave;
        r->shell->scope = *before;
    }
    free(before);
    return status;
}
