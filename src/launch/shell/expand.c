/* Words of a shell's script: quotes, ${NAME:-default}, lists, arithmetic. The output of a command
 * is a mark, since nothing is run. */
#include "launch/shell/expand.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"

#include "launch/shell/arithmetic.h"
#include "launch/shell/braces.h"
#include "launch/shell/filters.h"

enum { DEEPEST = 24 };

int sp_shell_line_at(struct sp_shell *shell, const char *at)
{
    if (!shell->counted)
        return shell->line;
    for (; shell->counted < at; shell->counted++)
        shell->line += *shell->counted == '\n';
    for (; shell->counted > at; shell->counted--)
        shell->line -= shell->counted[-1] == '\n';
    return shell->line;
}

/* A word under construction: finished fields, and the one that grows. */
struct word {
    struct sp_shell *shell;
    struct sp_shell_fields *fields;
    struct sp_shell_piece piece;
    const char *line_of; /* where nested text is in the script */
    bool split, quoted, some;
    bool none;           /* "$@" or "${LIST[@]}" without items: its quotes make no word */
    bool here;           /* of a here-document: its quotes are characters */
    const char *special; /* characters of a pattern that quotes make plain; NULL: none */
    int depth;
};

static void end_field(struct word *w)
{
    if ((w->some && !w->none) || w->piece.n > 0)
        sp_shell_add(w->fields, sp_shell_take(&w->piece, &w->shell->text));
    w->some = w->none = false;
}

static void put_mark(struct word *w, char kind, const char *name)
{
    sp_shell_mark(&w->shell->text, &w->piece, kind, name, sp_shell_line_at(w->shell, w->line_of));
}

/* A character; a plain one of a pattern gets a backslash, "*" and "?" outside quotes are files. */
static void put(struct word *w, char c, bool quoted)
{
    if (quoted && w->special && strchr(w->special, c))
        sp_shell_put(&w->piece, '\\');
    w->shell->globbed = w->shell->globbed || (w->split && !quoted && (c == '*' || c == '?'));
    sp_shell_put(&w->piece, c);
}

/* A value inside a word: outside of quotes, blanks split it into fields, and so do list items. */
static void put_value(struct word *w, const char *value, bool items)
{
    const char *const parts = w->split && !w->quoted && strpbrk(value, ",:;|/=- \t\n")
                                  ? sp_shell_value(&w->shell->scope, "IFS")
                                  : NULL;
    if (parts && !sp_is(parts, " ") && !sp_is(parts, " \t\n")) { /* other words than these */
        put_mark(w, SP_OPEN, "IFS");
        return;
    }
    for (; *value && !w->shell->text.full; value++) {
        const bool item = *value == SP_ITEM;
        if (w->split &&
            ((item && (items || !w->quoted)) || (!w->quoted && strchr(" \t\r\n", *value)))) {
            w->some = w->some || (item && w->quoted);
            end_field(w);
        } else {
            put(w, item ? ' ' : *value, w->quoted);
        }
        if (w->piece.n > (1 << 20))
            w->shell->text.full = "1 MiB in a word";
    }
}

static void expand_text(struct word *w, const char *at, const char *end);

/* The text between two places, expanded as one value, or as a pattern (`special`). */
static const char *expanded(struct word *w, const char *at, const char *end, const char *special)
{
    struct sp_shell_fields fields = {0};
    struct word inner = {.shell = w->shell,
                         .fields = &fields,
                         .line_of = w->line_of,
                         .special = special,
                         .depth = w->depth + 1};
    if (inner.depth <= DEEPEST)
        expand_text(&inner, at, end);
    const char *const value = sp_shell_take(&inner.piece, &w->shell->text);
    free(fields.at);
    return value;
}

static void put_arithmetic(struct word *w, const char *at, const char *end)
{
    char digits[32];
    struct sp_shell_missing missing;
    int64_t value;
    const struct sp_shell_writer writer = {&w->shell->scope, &w->shell->text,
                                           sp_shell_line_at(w->shell, w->line_of)};
    switch (sp_shell_run_sum(expanded(w, at, end, NULL), &writer, &value, &missing)) {
    case SP_NUMBER:
        snprintf(digits, sizeof digits, "%lld", (long long)value);
        sp_shell_puts(&w->piece, digits);
        return;
    case SP_NUMBER_UNKNOWN:
        if (!missing.mark)
            put_mark(w, SP_UNSET, missing.name);
        for (const char *c = missing.mark; c && *c; c = *c == SP_MARK_END ? NULL : c + 1)
            sp_shell_put(&w->piece, *c);
        return;
    case SP_NO_NUMBER:
        put_mark(w, SP_OPEN, "$(( ))");
    }
}

/* "$(cat <<WORD ...)": the here-document; false where it is something else. */
static bool put_here(struct word *w, const char *at)
{
    struct sp_here here = {0}, none = {0};
    at = sp_skip_blanks(at + 1 + (*at == '$'), true, &none);
    if (!sp_is_bare(at, "cat"))
        return false;
    at = sp_skip_blanks(at + strlen("cat"), false, &none);
    if (strncmp(at, "<<", 2) != 0 || at[2] == '<')
        return false;
    at = sp_open_here(at + 2, &here);
    if (here.n == 0)
        return false;
    const char *const text = sp_shell_expand_here(w->shell, at, &here);
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    put_value(w, sp_shell_copy(&w->shell->text, text, n), false);
    return true;
}

/* The words of one command of a group that ends at `last`, and the text after "<<<"; returns its
 * end. */
static const char *read_stage(struct word *w, const char *at, const char *last,
                              struct sp_shell_fields *fields, const char **input)
{
    for (at += strspn(at, " "); at < last; at += strspn(at, " \t")) {
        const char *const past = sp_shell_skip_nowhere(at);
        struct sp_shell_fields text = {0};
        if (past > at) {
            at = past;
        } else if (strncmp(at, "<<<", 3) == 0) {
            at = sp_shell_expand(w->shell, at + 3 + strspn(at + 3, " "), false, &text);
            *input = text.n > 0 ? text.at[0] : "";
            free(text.at);
        } else if (strchr("\n;&|<>()#", *at)) {
            break;
        } else {
            const char *const next = sp_shell_expand_words(w->shell, at, fields);
            if (next == at) /* no character of a word */
                break;
            at = next;
        }
    }
    return at;
}

/* The output of a command; if it depends on a name without a value, its mark, and `done`. */
static const char *output_of(struct word *w, const struct sp_shell_fields *fields,
                             const char *input, bool *done)
{
    struct sp_shell_text *const text = &w->shell->text;
    const char *unset = input ? sp_shell_unset_in(text, input) : NULL;
    bool known = !input || !sp_shell_gap_in(text, input);
    for (int i = 0; i < fields->n; i++) {
        unset = unset ? unset : sp_shell_unset_in(text, fields->at[i]);
        known = known && !sp_shell_gap_in(text, fields->at[i]);
    }
    const bool says = fields->n > 0 && sp_is(fields->at[0], "echo");
    if (!known && !says) {
        *done = unset != NULL;
        return unset;
    }
    return sp_shell_filter(text, fields, input);
}

/* "$(expr A + B)", "$(IFS=X; echo "${LIST[*]}")", and pipelines whose output follows from their
 * words ("$(echo WORDS | sed s/A/B/)", "$(cd A && pwd)"); false for anything else. */
static bool put_output(struct word *w, const char *at, const char *end)
{
    char joint = '\0';
    if (at[0] != '$' || w->depth >= DEEPEST || end[-1] != ')')
        return false;
    at = sp_shell_read_joint(at + 2 + strspn(at + 2, " "), &joint);
    const char *const words = at, *const last = end - 1;
    const char *text = NULL;
    bool ok = true, done = false;
    while (ok && !done) {
        struct sp_shell_fields fields = {0};
        const char *input = text;
        at = read_stage(w, at, last, &fields, &input);
        const bool list =
            !joint || (at == last && fields.n == 2 && sp_is(fields.at[0], "echo") &&
                       strncmp(last - 5, "[*]}\"", 5) == 0 && strncmp(words, "echo \"${", 8) == 0);
        const bool went = fields.n > 0 && sp_is(fields.at[0], "cd");
        text = list ? output_of(w, &fields, input, &done) : NULL;
        free(fields.at);
        const size_t link = went && strncmp(at, "&&", 2) == 0 ? 2 : *at == (went ? ';' : '|');
        ok = text && (done || at == last || (link > 0 && at[link] != '|'));
        done = done || (at == last && !went);
        at += link;
    }
    if (!ok || !text)
        return false;
    char *const made = (char *)sp_shell_copy(&w->shell->text, text, strlen(text));
    for (char *c = made; joint && *c; c++)
        *c = *c == ' ' || *c == SP_ITEM ? joint : *c;
    put_value(w, made, false);
    return true;
}

/* A placeholder for the output of a command, by its first words. */
static const char *put_command(struct word *w, const char *at)
{
    char name[40];
    const char *const end = sp_shell_end_of_group(at);
    const bool arithmetic = at[0] == '$' && strncmp(at, "$((", 3) == 0 && end - at >= 5 &&
                            end[-1] == ')' && end[-2] == ')';
    if (arithmetic) {
        put_arithmetic(w, at + 3, end - 2);
        return end;
    }
    if (put_here(w, at) || put_output(w, at, end))
        return end;
    snprintf(name, sizeof name, "%.*s", (int)(end - at < 36 ? end - at : 36), at);
    name[strcspn(name, "\r\n")] = '\0';
    put_mark(w, SP_OPEN, name);
    return end;
}

/* The length of a name, or of a parameter such as 1, @, #. */
static size_t length_of_name(const char *at)
{
    if (isdigit((unsigned char)*at))
        return 1;
    const size_t n = sp_shell_name_length(at);
    return n > 0 ? n : *at && strchr("@*#?$!-", *at) ? 1 : 0;
}

/* `apart`: "$@", else "$*", which is one word. */
static void put_parameters(struct word *w, bool apart)
{
    char name[16];
    w->none = w->split && apart && sp_shell_parameters(&w->shell->scope) == 0;
    for (int i = 1; i <= sp_shell_parameters(&w->shell->scope); i++) {
        snprintf(name, sizeof name, "%d", i);
        if (i > 1)
            put_value(w, (char[]){SP_ITEM, '\0'}, apart);
        put_value(w, sp_shell_value(&w->shell->scope, name), false);
    }
}

static void put_number_of_parameters(struct word *w)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%d", sp_shell_parameters(&w->shell->scope));
    if (sp_shell_has_files(&w->shell->scope, &w->shell->text))
        put_mark(w, SP_OPEN, "$#");
    else
        sp_shell_puts(&w->piece, digits);
}

/* The value of a name, or the file that $0 or BASH_SOURCE is; NULL: none. */
static const char *value_of(const struct word *w, const char *name)
{
    const char *const value = sp_shell_value(&w->shell->scope, name);
    return value                        ? value
           : sp_is(name, "0")           ? w->shell->script
           : sp_is(name, "BASH_SOURCE") ? w->shell->source
                                        : NULL;
}

static void put_name(struct word *w, const char *name, bool items)
{
    /* these every shell, or its user's login, gives a value */
    static const char given[] = "?,$,!,-,0,HOME,PWD,PATH,USER,LOGNAME,SHELL,HOSTNAME,BASH,UID,EUID,"
                                "BASH_VERSION,PPID,SHLVL,RANDOM,SECONDS,LINENO,OSTYPE";
    const char *const value = value_of(w, name);
    if (sp_is(name, "@") || sp_is(name, "*"))
        put_parameters(w, name[0] == '@');
    else if (sp_is(name, "#"))
        put_number_of_parameters(w);
    else if (!value)
        put_mark(w, sp_is_listed(given, name, '\0') ? SP_OPEN : SP_UNSET, name);
    else
        put_value(w, value, items);
    w->none = w->none || (w->split && items && value && !value[0]);
}

/* $NAME or ${NAME}: of a known list the first item. */
static void put_plain(struct word *w, const char *name)
{
    const char *const value = value_of(w, name), *const stop =
                                                     value ? strchr(value, SP_ITEM) : NULL;
    if (stop && !strpbrk(value, (char[]){SP_UNSET, SP_OPEN, '\0'}))
        put_value(w, sp_shell_copy(&w->shell->text, value, (size_t)(stop - value)), false);
    else
        put_name(w, name, true);
}

/* ${NAME:-word} and similar; other operations of a shell on values are unknown here. */
static void put_operation(struct word *w, const char *name, const char *at, const char *end)
{
    const bool colon = *at == ':' && at + 1 < end && strchr("-=+?", at[1]);
    const char operation = at[colon];
    const char *const value = value_of(w, name);
    const bool given = value && !(colon && (!*value || sp_shell_is_unset(value)));
    if (!strchr("-=+?", operation)) {
        const bool known = value && !strpbrk(value, (char[]){SP_UNSET, SP_OPEN, SP_ITEM, '\0'});
        const char *const stop = operation == '/' ? sp_shell_end_of_replaced(at, end) : end;
        const char *const pattern = expanded(w, at, stop, sp_shell_glob),
                          *const with = expanded(w, stop < end ? stop + 1 : end, end, NULL),
                          *const cut = known && !sp_shell_gap_in(&w->shell->text, pattern)
                                           ? sp_shell_cut(&w->shell->text, value, pattern, with)
                                           : NULL;
        if (cut)
            put_value(w, cut, false);
        else
            put_mark(w, SP_OPEN, name);
    } else if (operation == '+') {
        if (given)
            put_value(w, expanded(w, at + colon + 1, end, NULL), false);
    } else if (given || operation == '?') {
        put_name(w, name, false);
    } else {
        const char *const otherwise = expanded(w, at + colon + 1, end, NULL);
        put_value(w, otherwise, false);
        if (operation == '=')
            sp_shell_set(&w->shell->scope, &w->shell->text, name, otherwise);
    }
}

/* The item of a list at an index, a sum that ends before `last`; items from 0, from the last one
 * where it is negative. "" where it has none; NULL: not known. */
static const char *item_of(struct word *w, const char *name, const char *index, const char *last)
{
    const char *value = value_of(w, name);
    struct sp_shell_missing missing;
    int64_t n = -1;
    const bool known = value && value[0] != '[' && last > index && last[-1] == ']' &&
                       !strstr(value, (char[]){SP_ITEM, '[', '\0'}) &&
                       sp_shell_calculate(expanded(w, index, last - 1, NULL), &w->shell->scope, &n,
                                          &missing) == SP_NUMBER;
    const bool open = value && strchr(value, SP_OPEN); /* it may have been several */
    n += known && n < 0 ? sp_shell_items(value) : 0;
    if (!known || n < 0)
        return NULL;
    for (; n > 0 && value; n--)
        value = (value = strchr(value, SP_ITEM)) ? value + 1 : NULL;
    const char *const stop = value ? strchr(value, SP_ITEM) : NULL;
    if (!value)
        return open ? NULL : "";
    return sp_shell_copy(&w->shell->text, value, stop ? (size_t)(stop - value) : strlen(value));
}

static void put_item(struct word *w, const char *name, const char *index, const char *last)
{
    const char *const item = item_of(w, name, index, last);
    if (!item)
        put_mark(w, SP_OPEN, name);
    else if (*item)
        put_value(w, item, false);
}

/* "${!NAME[@]}": the indices of a list, which are consecutive for a known one. */
static bool put_indices(struct word *w, const char *at, const char *last)
{
    char name[64], digits[24];
    const size_t n = length_of_name(at), rest = (size_t)(last - at) - n;
    if (n == 0 || n >= sizeof name || rest != 3 || at[n] != '[' || !strchr("@*", at[n + 1]))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    const long items = sp_shell_items(sp_shell_value(&w->shell->scope, name));
    for (long i = 0; i < items; i++) {
        snprintf(digits, sizeof digits, "%s%ld", i > 0 ? (char[]){SP_ITEM, '\0'} : "", i);
        put_value(w, digits, at[n + 1] == '@');
    }
    return items >= 0;
}

/* ${#NAME}, ${#NAME[@]} or ${#NAME[INDEX]}; `at` is behind the name. */
static void put_count(struct word *w, const char *name, const char *at, const char *last)
{
    char digits[24];
    const char *const value = sp_shell_value(&w->shell->scope, name);
    const bool all = at[0] == '[' && strchr("@*", at[1]) && at[2] == ']';
    const char *const item = all ? NULL : *at == '[' ? item_of(w, name, at + 1, last) : value;
    const long n = value && !*value ? 0 : sp_shell_items(value);
    const bool known =
        all ? value && n >= 0 : item && !strpbrk(item, (char[]){SP_UNSET, SP_OPEN, SP_ITEM, '\0'});
    if (!known) {
        put_mark(w, SP_OPEN, name);
        return;
    }
    snprintf(digits, sizeof digits, "%ld", all ? n : (long)strlen(item));
    sp_shell_puts(&w->piece, digits);
}

/* "${ ... }" */
static const char *put_braces(struct word *w, const char *at)
{
    char name[64];
    const char *const end = sp_shell_end_of_group(at), *const last = end - (end[-1] == '}');
    const bool count = at[2] == '#' && length_of_name(at + 3) > 0;
    const char *from = at + 2 + count;
    size_t n = length_of_name(from);
    while (n > 0 && isdigit((unsigned char)*from) && isdigit((unsigned char)from[n]))
        n++;
    if (from[0] == '!' && !count && put_indices(w, from + 1, last))
        return end;
    if (n == 0 || n >= sizeof name || from + n > last || *from == '!') {
        snprintf(name, sizeof name, "%.*s", (int)(end - at < 60 ? end - at : 60), at);
        put_mark(w, SP_OPEN, name);
        return end;
    }
    snprintf(name, sizeof name, "%.*s", (int)n, from);
    from += n;
    const bool all = *from == '[' && (from[1] == '@' || from[1] == '*') && from[2] == ']';
    if (count)
        put_count(w, name, from, last);
    else if (from == last)
        put_plain(w, name);
    else if (all && from + 3 == last)
        put_name(w, name, from[1] == '@');
    else if (all)
        put_operation(w, name, from + 3, last);
    else if (*from == '[')
        put_item(w, name, from + 1, last);
    else
        put_operation(w, name, from, last);
    return end;
}

/* "$'...'" behind its quote: some escapes, a mark for others. */
static const char *put_escaped(struct word *w, const char *at)
{
    static const char letters[] = "nt\\'\"", means[] = "\n\t\\'\"";
    w->some = true;
    for (; *at && *at != '\''; at++) {
        const bool escapes = *at == '\\' && at[1];
        const char *const letter = escapes ? strchr(letters, *++at) : NULL;
        if (escapes && !letter)
            put_mark(w, SP_OPEN, "$''");
        else
            put(w, letter ? means[letter - letters] : *at, true);
    }
    return at + (*at == '\'');
}

/* "$ ..." */
static const char *put_dollar(struct word *w, const char *at)
{
    char name[64];
    if (at[1] == '(')
        return put_command(w, at);
    if (at[1] == '{')
        return put_braces(w, at);
    if (at[1] == '[') { /* the older $(( )) */
        const char *const end = sp_shell_end_of_group(at);
        put_arithmetic(w, at + 2, end - (end[-1] == ']'));
        return end;
    }
    const size_t n = length_of_name(at + 1);
    if (n == 0 || n >= sizeof name) {
        if (!w->quoted && at[1] == '\'')
            return put_escaped(w, at + 2);
        if (!w->quoted && at[1] == '"')
            return at + 1;
        sp_shell_put(&w->piece, '$');
        return at + 1;
    }
    snprintf(name, sizeof name, "%.*s", (int)n, at + 1);
    put_plain(w, name);
    return at + 1 + n;
}

/* A backslash: outside quotes it quotes any next character, inside them only some; at the end of a
 * line it joins the next. */
static const char *put_backslash(struct word *w, const char *at)
{
    if (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))
        return at + 2 + (at[1] == '\r');
    const char *const taken = w->here ? "$`\\" : "$`\"\\";
    if (!at[1] || (w->quoted && !strchr(taken, at[1]))) {
        put(w, '\\', true);
        return at + 1;
    }
    put(w, at[1], true);
    return at + 2;
}

/* Appends text up to `end`, inside quotes or not, to the word. */
static void expand_text(struct word *w, const char *at, const char *end)
{
    while (at < end && *at && !w->shell->text.full) {
        if (w->depth == 0)
            w->line_of = at;
        if (*at == '\\') {
            at = put_backslash(w, at);
        } else if (*at == '$') {
            at = put_dollar(w, at);
        } else if (*at == '`') {
            at = put_command(w, at);
        } else if (*at == '\'' && !w->quoted) {
            for (at++; at < end && *at && *at != '\''; at++)
                put(w, *at, true);
            at += at < end && *at == '\'';
            w->some = true;
        } else if (*at == '"' && !w->here) {
            w->quoted = !w->quoted;
            w->some = true;
            at++;
        } else {
            put(w, *at++, w->quoted);
        }
    }
}

const char *sp_shell_expand_here(struct sp_shell *shell, const char *at, const struct sp_here *here)
{
    size_t n;
    const struct sp_here_end *const end = &here->at[here->n - 1];
    const char *const from = sp_here_text(at, here, &n);
    struct sp_shell_fields fields = {0};
    struct word word = {
        .shell = shell, .fields = &fields, .line_of = from, .quoted = true, .here = true};
    if (!end->plain)
        expand_text(&word, from, from + n);
    const char *const text = end->plain ? sp_shell_copy(&shell->text, from, n)
                                        : sp_shell_take(&word.piece, &shell->text);
    free(fields.at);
    return end->tabs ? sp_shell_without_tabs(&shell->text, text) : text;
}

static const char *expand_to(struct word word, const char *at, const char *end)
{
    expand_text(&word, at, end);
    if (!word.split)
        word.some = true;
    end_field(&word);
    free(word.piece.at);
    return end;
}

const char *sp_shell_expand(struct sp_shell *shell, const char *at, bool split,
                            struct sp_shell_fields *fields)
{
    return expand_to((struct word){.shell = shell, .fields = fields, .split = split, .line_of = at},
                     at, sp_shell_end_of_word(at));
}

void sp_shell_expand_pattern(struct sp_shell *shell, const char *at, const char *end,
                             const char *special, struct sp_shell_fields *fields)
{
    expand_to((struct word){.shell = shell, .fields = fields, .line_of = at, .special = special},
              at, end);
}

void sp_shell_expand_apart(struct sp_shell *shell, const char *from, const char *text, bool split,
                           struct sp_shell_fields *fields)
{
    const int line = sp_shell_line_at(shell, from);
    const char *const counted = shell->counted;
    shell->counted = NULL;
    sp_shell_expand(shell, text, split, fields);
    shell->counted = counted;
    shell->line = line;
}

const char *sp_shell_expand_words(struct sp_shell *shell, const char *at,
                                  struct sp_shell_fields *fields)
{
    struct sp_shell_fields words = {0};
    const char *const end = sp_shell_end_of_word(at);
    if (!memchr(at, '{', (size_t)(end - at)))
        return sp_shell_expand(shell, at, true, fields);
    sp_shell_unbrace(&shell->text, sp_shell_copy(&shell->text, at, (size_t)(end - at)), &words);
    for (int i = 0; i < words.n; i++)
        sp_shell_expand_apart(shell, at, words.at[i], true, fields);
    free(words.at);
    return end;
}
