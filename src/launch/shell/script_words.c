/* Words, values and conditions of a script. */
#include "launch/shell/script_run.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"

#include "launch/shell/arithmetic.h"

bool sp_runs(const struct run *r)
{
    return r->skipped == 0 && r->leave == STAYS && !r->shell->text.full;
}

void sp_skip_run(struct run *r, bool lines)
{
    r->at = sp_skip_blanks(r->at, lines, &r->here);
}

/* Notes a word that the script ends in: bash refuses an open quote or bracket. */
static void look_at_end(struct run *r, const char *word)
{
    if (!*r->at && r->unclosed == 0 && !sp_shell_is_whole(word, r->at))
        r->unclosed = sp_shell_line_at(r->shell, word);
}

bool sp_check_end(struct run *r, struct sp_error *error)
{
    struct sp_shell *const shell = r->shell;
    const char *const origin = sp_safe(r->origin);
    if (shell->text.full)
        return sp_fail(error, SP_INPUT, "%s:%d: the script nests or grows too far: more than %s",
                       origin, sp_shell_line_at(shell, r->at), shell->text.full);
    if (r->unclosed > 0)
        return sp_fail(error, SP_INPUT,
                       "%s:%d: a quote or bracket is not closed, so bash refuses it", origin,
                       r->unclosed);
    return !shell->unread[0] ||
           sp_fail(error, SP_INPUT,
                   "%s:%d: %s ... %s is not read: what follows it may run otherwise", origin,
                   shell->unread_line, shell->unread[0], shell->unread[1]);
}

void sp_read_field(struct run *r, struct sp_shell_fields *fields)
{
    const char *const word = r->at;
    r->at =
        sp_runs(r) ? sp_shell_expand(r->shell, word, false, fields) : sp_shell_end_of_word(word);
    look_at_end(r, word);
}

/* An unknown value. */
static const char *open_value(struct run *r, const char *name)
{
    struct sp_shell_piece piece = {0};
    sp_shell_mark(&r->shell->text, &piece, SP_OPEN, name, sp_shell_line_at(r->shell, r->at));
    return sp_shell_take(&piece, &r->shell->text);
}

void sp_read_pattern(struct run *r, bool regular, struct sp_shell_fields *fields)
{
    const char *const special = regular ? ".[]()*+?{}|^$\\" : sp_shell_glob, *end = r->at;
    bool groups = false; /* "@(a|b)" and the like */
    for (const char *before = NULL; before != end;) {
        before = end;
        end = sp_shell_end_of_word(end);
        groups = groups || *end == '(';
        if (*end == '(')
            end = sp_shell_end_of_group(end);
        end += regular && *end == '|';
    }
    if (sp_runs(r) && groups && !regular)
        sp_shell_add(fields, open_value(r, "pattern"));
    else if (sp_runs(r))
        sp_shell_expand_pattern(r->shell, r->at, end, special, fields);
    r->at = end;
}

int sp_defined_function(const struct run *r, const char *name)
{
    int i = r->functions - 1;
    while (i >= 0 && !sp_is(r->function[i].name, name))
        i--;
    return i;
}

void sp_free_words_of(struct words *w)
{
    free(w->fields.at);
    free(w->lines);
}

/* Whether a pattern at a field is the files that match it: of a list, a loop, `set` or a function,
 * but not behind an option, whose values match none. */
static bool stands_for_files(const struct run *r, const struct words *w, int field)
{
    const char *const command = field > 0 ? w->fields.at[0] : "";
    for (int i = 0; i < field; i++)
        if (w->fields.at[i][0] == '-' && w->fields.at[i][1] == '-' && w->fields.at[i][2])
            return false;
    return w->opens || sp_is(command, "set") || sp_defined_function(r, command) >= 0;
}

static void expand_word(struct run *r, struct words *w)
{
    const int first = w->fields.n;
    const size_t digits = strspn(r->at, "0123456789");
    if (digits > 0 && (r->at[digits] == '<' || r->at[digits] == '>')) { /* "2>&1" */
        r->at += digits;
        return;
    }
    if (!sp_runs(r)) {
        r->at = sp_shell_end_of_word(r->at);
        return;
    }
    const int line = sp_shell_line_at(r->shell, r->at);
    r->shell->globbed = false;
    r->at = sp_shell_expand_words(r->shell, r->at, &w->fields);
    if (r->shell->globbed && w->fields.n > first && stands_for_files(r, w, first)) {
        char name[64];
        snprintf(name, sizeof name, sp_shell_files "%s", w->fields.at[first]);
        w->fields.n = first;
        sp_shell_add(&w->fields, open_value(r, name));
    }
    for (int i = first; i < w->fields.n; i++) {
        w->lines = sp_room_for_one(w->lines, i, sizeof *w->lines);
        w->lines[i] = line;
    }
}

/* Words up to the end of a line or command, or to ")". */
void sp_read_words(struct run *r, struct words *w, bool lines)
{
    for (const char *before = NULL; before != r->at && *r->at;) {
        before = r->at;
        sp_skip_run(r, lines);
        const char *const word = r->at;
        if (*r->at && !strchr("\n;&|<>()", *r->at)) {
            expand_word(r, w);
            look_at_end(r, word);
        }
    }
}

/* A name in front of "=", "+=" or "[": its length, 0 where no value is given to one. */
size_t sp_assigned_here(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    if (n == 0 || isdigit((unsigned char)*at))
        return 0;
    return at[n] == '=' || (at[n] == '+' && at[n + 1] == '=') || at[n] == '[' ? n : 0;
}

const char *sp_join_fields(struct run *r, const struct sp_shell_fields *fields, int from, char with)
{
    struct sp_shell_piece piece = {0};
    for (int i = from; i < fields->n; i++) {
        if (i > from)
            sp_shell_put(&piece, with);
        sp_shell_puts(&piece, fields->at[i]);
    }
    return sp_shell_take(&piece, &r->shell->text);
}

/* The value after "=": a list in parentheses, or one field. */
static const char *read_value(struct run *r)
{
    struct words list = {.opens = true};
    struct sp_shell_fields one = {0};
    const char *value = "";
    if (*r->at == '(') {
        r->at++;
        sp_read_words(r, &list, true);
        r->at += *r->at == ')';
        value = sp_runs(r) ? sp_join_fields(r, &list.fields, 0, SP_ITEM) : "";
        if (list.fields.n == 1 && !*value) /* not an empty list */
            value = open_value(r, "the items");
        sp_free_words_of(&list);
    } else {
        sp_read_field(r, &one);
        value = one.n > 0 ? one.at[0] : "";
        free(one.at);
    }
    return value;
}

/* NAME=value, NAME+=value, NAME=(list) */
void sp_read_assignment(struct run *r, size_t n)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), r->at);
    r->at += n;
    const bool item = *r->at == '[', adds = *r->at == '+';
    if (item)
        r->at += strcspn(r->at, "=\n");
    r->at += adds + (*r->at == '=' || adds);
    const bool list = *r->at == '(';
    const char *value = read_value(r);
    if (!sp_runs(r))
        return;
    struct sp_shell_piece piece = {0};
    const char *const before = sp_shell_value(&r->shell->scope, name);
    const bool opens = item || (adds && !list && before && strchr(before, SP_ITEM));
    if (opens)
        sp_shell_mark(&r->shell->text, &piece, SP_OPEN, name, sp_shell_line_at(r->shell, r->at));
    if (adds && before && !opens) {
        sp_shell_puts(&piece, before);
        if (list && before[0] && value[0])
            sp_shell_put(&piece, SP_ITEM);
    }
    if (!opens)
        sp_shell_puts(&piece, value);
    value = sp_shell_take(&piece, &r->shell->text);
    sp_shell_set(&r->shell->scope, &r->shell->text, name, value);
    if (sp_is(name, "CUDA_VISIBLE_DEVICES"))
        r->visible_line = sp_shell_line_at(r->shell, r->at);
    if (r->exports)
        sp_shell_let_reach(&r->shell->scope, &r->shell->text, name, SP_EXPORTED);
}

/* Remembers the variable that decides. */
static void remember_decider(struct run *r, const struct sp_shell_fields *fields)
{
    for (int i = 0; i < fields->n && !r->decider[0]; i++)
        if (sp_is_listed("-f,-d,-e,-s,-x,-r,-w", fields->at[i], '\0'))
            snprintf(r->decider, sizeof r->decider, "a file");
    for (int i = 0; i < fields->n && !r->decider[0]; i++) {
        const struct sp_shell_gap *const gap = sp_shell_gap_in(&r->shell->text, fields->at[i]);
        if (gap)
            snprintf(r->decider, sizeof r->decider, "%s", gap->name);
    }
}

enum status sp_read_test(struct run *r, const struct sp_shell_fields *fields, int first)
{
    int n = fields->n - first;
    if (n > 0 && sp_is(fields->at[fields->n - 1], "]"))
        n--;
    if (n <= 0) /* nothing is false */
        return FAILED;
    const enum sp_shell_truth result = sp_shell_test(fields->at + first, n, first == 0);
    if (result == SP_OPEN_TRUTH)
        remember_decider(r, fields);
    return (enum status)result;
}

/* [[ ... ]]: its operators are not parsed as command words. */
enum status sp_read_brackets(struct run *r)
{
    static const char *const signs[] = {"&&", "||", "(", ")", "<", ">", NULL};
    struct sp_shell_fields fields = {0};
    r->at += 2;
    const char *last = r->at; /* the word before */
    while (*r->at) {
        const char *sign = NULL;
        sp_skip_run(r, true);
        const char *const word = r->at;
        for (int i = 0; signs[i] && !sign; i++)
            sign = strncmp(r->at, signs[i], strlen(signs[i])) == 0 ? signs[i] : NULL;
        if (sp_is_bare(r->at, "]]") || (!sign && strchr(";&|", *r->at)))
            break;
        if (sign) {
            sp_shell_add(&fields, sign);
            r->at += strlen(sign);
        } else if (sp_is_bare(last, "=~") || sp_is_bare(last, "=") || sp_is_bare(last, "==") ||
                   sp_is_bare(last, "!=")) {
            sp_read_pattern(r, last[1] == '~', &fields);
        } else {
            sp_read_field(r, &fields);
        }
        last = word;
    }
    r->at += sp_is_bare(r->at, "]]") ? 2 : 0;
    const enum status status = sp_runs(r) ? sp_read_test(r, &fields, 0) : PRESUMED;
    free(fields.at);
    return status;
}

enum status sp_run_sum(struct run *r, const char *expression)
{
    struct sp_shell_missing missing = {0};
    int64_t value = 0;
    const struct sp_shell_writer writer = {&r->shell->scope, &r->shell->text,
                                           sp_shell_line_at(r->shell, r->at)};
    if (sp_shell_run_sum(expression, &writer, &value, &missing) == SP_NUMBER)
        return value ? WORKED : FAILED;
    if (!r->decider[0])
        snprintf(r->decider, sizeof r->decider, "%s", missing.name);
    return OPEN;
}

enum status sp_run_sum_text(struct run *r, const char *from, const char *end)
{
    struct sp_shell_fields fields = {0};
    struct sp_shell_piece piece = {0};
    enum status status = WORKED;
    sp_shell_put(&piece, '"');
    for (const char *c = from; c < end; c++)
        if (*c != '"')
            sp_shell_put(&piece, *c);
    sp_shell_put(&piece, '"');
    sp_shell_expand_apart(r->shell, from, sp_shell_take(&piece, &r->shell->text), false, &fields);
    const char *const sum = fields.n > 0 ? fields.at[0] : "";
    if (sum[strspn(sum, " \t\n")])
        status = sp_run_sum(r, sum);
    if (status == OPEN)
        remember_decider(r, &fields);
    free(fields.at);
    return status;
}

enum status sp_read_arithmetic(struct run *r)
{
    const char *const from = r->at, *const end = sp_shell_end_of_group(from);
    r->at = end;
    if (end - from < 4 || !sp_runs(r))
        return PRESUMED;
    return sp_run_sum_text(r, from + 2, end - 2);
}

/* The name of the file after ">". */
static void take_output(struct run *r)
{
    struct sp_shell_fields fields = {0};
    r->at = sp_shell_expand(r->shell, r->at, false, &fields);
    r->output = fields.n > 0 ? fields.at[0] : NULL;
    free(fields.at);
}

/* "<<< WORD": the input is the word and a line end. */
static void take_here_string(struct run *r, const char *at)
{
    struct sp_shell_fields fields = {0};
    struct sp_shell_piece line = {0};
    r->at = at;
    sp_skip_run(r, false);
    if (!sp_runs(r)) {
        r->at = sp_shell_end_of_word(r->at);
        return;
    }
    r->at = sp_shell_expand(r->shell, r->at, false, &fields);
    sp_shell_puts(&line, fields.n > 0 ? fields.at[0] : "");
    sp_shell_put(&line, '\n');
    r->input = sp_shell_take(&line, &r->shell->text);
    free(fields.at);
}

bool sp_skip_redirection(struct run *r)
{
    const char *at = r->at + (r->at[0] == '&' && r->at[1] == '>');
    if (*at != '<' && *at != '>')
        return false;
    if (at[1] == '(') {
        r->at = sp_shell_end_of_group(at);
        look_at_end(r, at);
        return true;
    }
    if (strncmp(at, "<<", 2) == 0 && at[2] != '<') {
        const int before = r->here.n;
        r->at = sp_open_here(at + 2, &r->here);
        if (r->here.over)
            r->shell->text.full = "8 here-documents per line";
        if (r->here.n > before && sp_runs(r))
            r->input = sp_shell_expand_here(r->shell, r->at, &r->here);
        return true;
    }
    if (strncmp(at, "<<<", 3) == 0) {
        take_here_string(r, at + 3);
        return true;
    }
    const bool writes = *at == '>' && sp_runs(r);
    r->reads = r->reads || (*at == '<' && at[1] != '<');
    r->at = at + strspn(at, "<>&|");
    sp_skip_run(r, false);
    if (writes)
        take_output(r);
    else
        r->at = sp_shell_end_of_word(r->at);
    return true;
}

void sp_open_name(struct run *r, const char *name)
{
    const char *const list = sp_shell_copy(&r->shell->text, name, strcspn(name, "["));
    sp_shell_set(&r->shell->scope, &r->shell->text, list, open_value(r, list));
}

void sp_open_names(struct run *r, const struct sp_shell_fields *fields)
{
    for (int i = 1; i < fields->n; i++)
        if (fields->at[i][0] != '-')
            sp_open_name(r, fields->at[i]);
}

void sp_read_parameters(struct run *r, struct sp_shell_fields *fields)
{
    char name[16];
    const int n = sp_runs(r) ? sp_shell_parameters(&r->shell->scope) : 0;
    for (int i = 1; i <= n; i++) {
        snprintf(name, sizeof name, "%d", i);
        sp_shell_add(fields, sp_shell_value(&r->shell->scope, name));
    }
}
