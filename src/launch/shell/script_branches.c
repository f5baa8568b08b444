/* Branches of a script with an unknown condition: each is read with the names as they were before
 * it. */
#include "launch/shell/script_branches.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* A branch with an unknown condition is read on a copy of the variables; variables that differ
 * between the ends of the branches are unknown afterwards, so that no branch is assumed taken. */
struct sp_branches *sp_start_branches(struct sp_shell *shell, int line, const char *by)
{
    struct sp_branches *const b = sp_must(calloc(1, sizeof *b));
    b->before = shell->scope;
    b->line = line;
    b->by = sp_shell_copy(&shell->text, by, strlen(by));
    return b;
}

/* The earlier text, with an open end. */
static const char *open_value(struct sp_shell *shell, const char *name, const char *before,
                              const struct sp_branches *b)
{
    struct sp_shell_piece piece = {0};
    sp_shell_puts(&piece, before);
    if (before[0])
        sp_shell_put(&piece, SP_ITEM);
    sp_shell_mark(&shell->text, &piece, SP_OPEN, name, b->line);
    if (!shell->text.full)
        shell->text.gaps[shell->text.n_gaps - 1].by = b->by;
    return sp_shell_take(&piece, &shell->text);
}

/* Whether a value is another one with more words appended: 256 is not 2 with more. */
static bool is_longer(const char *text, const char *start)
{
    static const char between[] = {' ', '\t', '\n', SP_ITEM, '\0'};
    const size_t n = start ? strlen(start) : 0;
    return text && n > 0 && sp_starts_with(text, start) &&
           (!text[n] || strchr(between, text[n]) || strchr(between, start[n - 1]));
}

static const char *merge(struct sp_shell *shell, const char *name, const char *before,
                         const char *first, const char *second, const struct sp_branches *b)
{
    if (first == second || (first && second && sp_is(first, second)))
        return first;
    const bool longer = before && is_longer(first, before) && is_longer(second, before);
    return open_value(shell, name, longer ? before : "", b);
}

/* A variable that only one branch exports may be set in scripts that are run. */
static void merge_reach(struct sp_shell_scope *merged, const struct sp_shell_scope *now,
                        struct sp_shell_text *text)
{
    for (int i = 0; i < merged->n; i++)
        if (merged->at[i].reach != sp_shell_reach(now, merged->at[i].name))
            merged->at[i].reach = SP_MAYBE_EXPORTED;
    for (int i = 0; i < now->n; i++)
        if (now->at[i].reach != SP_OWN && sp_shell_reach(merged, now->at[i].name) == SP_OWN)
            sp_shell_let_reach(merged, text, now->at[i].name, SP_MAYBE_EXPORTED);
}

void sp_end_branch(struct sp_branches *b, struct sp_shell *shell, bool stopped)
{
    struct sp_shell_scope *const now = &shell->scope, *const merged = &b->merged;
    if (!stopped && !b->some) {
        *merged = *now;
    } else if (!stopped) {
        merge_reach(merged, now, &shell->text);
        for (int i = 0; i < b->before.n; i++) /* names stay where they are */
            merged->at[i].value = merge(shell, now->at[i].name, b->before.at[i].value,
                                        merged->at[i].value, now->at[i].value, b);
        for (int i = b->before.n; i < merged->n; i++)
            merged->at[i].value = merge(shell, merged->at[i].name, NULL, merged->at[i].value,
                                        sp_shell_value(now, merged->at[i].name), b);
        for (int i = b->before.n; i < now->n; i++)
            if (!sp_shell_value(merged, now->at[i].name))
                sp_shell_set(merged, &shell->text, now->at[i].name,
                             merge(shell, now->at[i].name, NULL, NULL, now->at[i].value, b));
    }
    b->some = b->some || !stopped;
    *now = b->before;
}

bool sp_end_branches(struct sp_branches *b, struct sp_shell *shell)
{
    const bool some = b->some;
    if (some)
        shell->scope = b->merged;
    free(b);
    return some;
}

void sp_open_changed(struct sp_shell *shell, const struct sp_shell_scope *before, int line)
{
    for (int i = 0; i < shell->scope.n; i++) {
        struct sp_shell_name *const now = &shell->scope.at[i];
        const char *const old = i < before->n ? before->at[i].value : NULL;
        if (now->value == old || (now->value && old && sp_is(now->value, old)))
            continue;
        struct sp_shell_piece piece = {0};
        sp_shell_mark(&shell->text, &piece, SP_OPEN, now->name, line);
        now->value = sp_shell_take(&piece, &shell->text);
    }
}

struct sp_shell_scope *sp_copy_scope(const struct sp_shell_scope *scope)
{
    const size_t used = offsetof(struct sp_shell_scope, at) + (size_t)scope->n * sizeof *scope->at;
    struct sp_shell_scope *const copy = sp_must(malloc(sizeof *copy));
    memcpy(copy, scope, used);
    copy->n = scope->n;
    return copy;
}

void sp_restore_scope(struct sp_shell_scope *scope, struct sp_shell_scope *copy)
{
    memcpy(scope->at, copy->at, (size_t)copy->n * sizeof *copy->at);
    scope->n = copy->n;
    free(copy);
}
