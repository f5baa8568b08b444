/* TOML as settings, as far as configurations go: tables, strings, numbers, booleans, lists. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "launch/formats/syntax.h"

enum { LONGEST_NAME = 48, MOST_TABLES = 64, SECTION = 48 };

struct toml {
    struct sp_settings *settings;
    const char *at;
    int line;
    char table[LONGEST_NAME], list[LONGEST_NAME]; /* list: the last [[name]], or "" */
    char tables[MOST_TABLES][LONGEST_NAME]; /* those of a [name]; later ones are not checked */
    int n_tables, first;                    /* first: number of settings before the file */
    bool cut;                               /* a value had no room */
};

static void skip(struct toml *t, bool lines)
{
    for (const char *before = NULL; before != t->at;) {
        before = t->at;
        t->at += strspn(t->at, " \t\r");
        if (*t->at == '#')
            t->at += strcspn(t->at, "\n");
        if (lines && *t->at == '\n') {
            t->line++;
            t->at++;
        }
    }
}

static bool fail(const struct toml *t, const char *expected)
{
    return sp_fail(t->settings->error, SP_INPUT, "%s:%d: expected %s", sp_safe(t->settings->origin),
                   t->line, expected);
}

/* Whether the table is of a [[list]], each item of which may have the same names. */
static bool is_in_list(const struct toml *t)
{
    const size_t n = strlen(t->list);
    return n > 0 && strncmp(t->table, t->list, n) == 0 && (!t->table[n] || t->table[n] == '.');
}

/* TOML has each name once; readers of frameworks refuse the second. */
static bool refuse_second(const struct toml *t, const char *what, const char *name)
{
    return sp_fail(t->settings->error, SP_INPUT, "%s:%d: duplicate %s \"%s\"",
                   sp_safe(t->settings->origin), t->line, what, sp_safe(name));
}

static void put(struct toml *t, char *out, size_t size, size_t *n, char c)
{
    if (*n + 1 < size)
        out[(*n)++] = c;
    else
        t->cut = true;
    out[*n] = '\0';
}

/* A bare or quoted name, with dots between its parts. */
static bool read_name(struct toml *t, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    skip(t, false);
    for (; isalnum((unsigned char)*t->at) || (*t->at && strchr("_-.\"'", *t->at)); t->at++)
        if (*t->at != '"' && *t->at != '\'')
            put(t, out, size, &n, *t->at);
    skip(t, false);
    return n > 0 || fail(t, "a name");
}

/* A string; three quotes hold several lines. */
static bool read_string(struct toml *t, char *out, size_t size, size_t *n)
{
    const char quote = *t->at;
    const bool lines = t->at[1] == quote && t->at[2] == quote;
    const size_t width = lines ? 3 : 1;
    const char end[] = {quote, lines ? quote : '\0', lines ? quote : '\0', '\0'};
    for (t->at += width; *t->at && strncmp(t->at, end, width) != 0; t->at++) {
        if (*t->at == '\n' && !lines)
            return fail(t, "a string that ends on its line");
        t->line += *t->at == '\n';
        if (*t->at == '\\' && quote == '"' && t->at[1])
            t->at++;
        put(t, out, size, n, *t->at);
    }
    if (!*t->at)
        return fail(t, "the end of a string");
    t->at += width;
    return true;
}

/* Whether a word of n characters without quotes is a value: a number, a date, true, false, inf or
 * nan. */
static bool is_value(const char *word, size_t n)
{
    const size_t sign = *word == '+' || *word == '-';
    char text[8];
    snprintf(text, sizeof text, "%.*s", n < sizeof text ? (int)n : 0, word);
    return isdigit((unsigned char)word[sign]) || sp_is_listed("inf,nan", text + sign, '\0') ||
           sp_is_listed("true,false", text, '\0');
}

static bool read_scalar(struct toml *t, char *out, size_t size, size_t *n)
{
    if (*t->at == '"' || *t->at == '\'')
        return read_string(t, out, size, n);
    const char *const start = t->at;
    for (; *t->at && !strchr(" \t\r\n,]}#=", *t->at); t->at++)
        if (*t->at != '_' || !isdigit((unsigned char)*start)) /* 10_000 is a number */
            put(t, out, size, n, *t->at);
    const size_t length = (size_t)(t->at - start);
    const bool names = t->at[strspn(t->at, " \t")] == '='; /* in braces, with its value */
    return length == 0 ? fail(t, "a value")
                       : names || is_value(start, length) ||
                             fail(t, "a number, true, false or a text in quotes");
}

/* A value; items of a list are separated by blanks. Deeper nesting is kept as one text. */
static bool read_value(struct toml *t, char *out, size_t size)
{
    size_t n = 0;
    int open = 0;
    out[0] = '\0';
    do {
        skip(t, open > 0);
        if (*t->at && strchr("[{", *t->at)) {
            open++;
            t->at++;
        } else if (*t->at && strchr("]}", *t->at) && open > 0) {
            open--;
            t->at++;
        } else if (open > 0 && *t->at && strchr(",=", *t->at)) {
            t->at++;
        } else {
            if (n > 0)
                put(t, out, size, &n, ' ');
            if (!read_scalar(t, out, size, &n))
                return false;
        }
    } while (open > 0);
    return true;
}

static bool read_table(struct toml *t)
{
    const bool several = t->at[1] == '[';
    t->at += 1 + several;
    if (!read_name(t, t->table, sizeof t->table))
        return false;
    if (strncmp(t->at, "]]", 1 + (size_t)several) != 0)
        return fail(t, "] behind the name of a table");
    t->at += 1 + several;
    if (several)
        memcpy(t->list, t->table, sizeof t->list);
    if (is_in_list(t))
        return true;
    for (int i = 0; i < t->n_tables; i++)
        if (strcmp(t->tables[i], t->table) == 0)
            return refuse_second(t, "table", t->table);
    if (t->n_tables < MOST_TABLES)
        memcpy(t->tables[t->n_tables++], t->table, sizeof t->table);
    return true;
}

/* Names that are cut may be alike and are not compared. */
static bool check_name(const struct toml *t, const char *full)
{
    const bool may_repeat = is_in_list(t) || strlen(full) + 1 >= sizeof t->settings->at->name ||
                            strlen(t->table) > SECTION;
    for (int i = t->first; i < t->settings->n && !may_repeat; i++)
        if (strcmp(t->settings->at[i].name, full) == 0)
            return refuse_second(t, "name", full);
    return true;
}

static bool read_entry(struct toml *t)
{
    char name[LONGEST_NAME], full[sizeof t->settings->at->name],
        value[sizeof t->settings->at->value];
    const int line = t->line;
    if (!read_name(t, name, sizeof name))
        return false;
    if (*t->at != '=')
        return fail(t, "name = value");
    t->at++;
    t->cut = false;
    if (!read_value(t, value, sizeof value))
        return false;
    snprintf(full, sizeof full, "%.*s%s%.46s", SECTION, t->table, t->table[0] ? "." : "", name);
    if (!check_name(t, full) || !sp_add_setting(t->settings, full, value))
        return false;
    t->settings->at[t->settings->n - 1].line = line;
    t->settings->at[t->settings->n - 1].cut = t->cut;
    return true;
}

bool sp_read_toml(const char *text, struct sp_settings *settings)
{
    struct toml t = {.settings = settings, .at = text, .line = 1, .first = settings->n};
    for (skip(&t, true); *t.at; skip(&t, true)) {
        if (!(*t.at == '[' ? read_table(&t) : read_entry(&t)))
            return false;
        skip(&t, false);
        if (*t.at && *t.at != '\n')
            return fail(&t, "one value on a line");
    }
    return true;
}
