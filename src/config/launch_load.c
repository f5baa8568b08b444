/* Files of configs/launch: merges a user's file with the built-in one and checks both. */
#include <stdio.h>
#include <string.h>

#include <scaleplan/plan.h>

#include "base/list.h"
#include "base/suggest.h"
#include "config/load.h"
#include "config/read.h"

#ifdef __wasi__ /* the page has the built-in files alone, which tests check */
enum { TAKES_FILES = 0 };
#else
enum { TAKES_FILES = 1 };
#endif

/* Whether a plan has the field; else offers the nearest. */
static bool has_field(const char *name, struct sp_nearest *nearest)
{
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        if (strcmp(sp_plan_fields[i].name, name) == 0)
            return true;
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        sp_nearest_offer(nearest, sp_plan_fields[i].name);
    return false;
}

const char *const sp_served_names[] = {"model",
                                       "tp",
                                       "ranks",
                                       "pp",
                                       "dp",
                                       "attention-dp",
                                       "all-ep",
                                       "ep",
                                       "sequences",
                                       "rank-sequences",
                                       "stage-sequences",
                                       "length",
                                       "weights",
                                       "plain",
                                       "kv",
                                       "chunk",
                                       "all-chunk",
                                       "memory-fraction",
                                       "block",
                                       "draft-kind",
                                       "draft-model",
                                       "draft-tokens",
                                       "connector",
                                       "role",
                                       NULL};

/* Whether a service has what a row sets; else offers the nearest. */
static bool is_served(const char *name, struct sp_nearest *nearest)
{
    for (int i = 0; sp_served_names[i]; i++) {
        if (strcmp(sp_served_names[i], name) == 0)
            return true;
        sp_nearest_offer(nearest, sp_served_names[i]);
    }
    return false;
}

/* Whether a blank-separated list has the name, without its dashes. */
static bool is_listed(const char *list, const char *name)
{
    name += strspn(name, "-");
    const size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

/* Checks that what an option sets exists, and that options which set something are not also listed
 * as harmless. */
static bool check_row(const struct sp_launch_words *w, const struct sp_launch_row *row,
                      struct sp_error *error)
{
    struct sp_nearest nearest = {.wanted = row->plan};
    if (row->plan[0] && !has_field(row->plan, &nearest))
        return sp_fail(error, SP_INPUT, "launch %s: %s: \"%s\" is not a field of a plan%s",
                       sp_safe(w->name), sp_safe(row->name), sp_safe(row->plan),
                       sp_nearest_hint(&nearest));
    struct sp_nearest served = {.wanted = row->serve};
    if (row->serve[0] && !is_served(row->serve, &served))
        return sp_fail(error, SP_INPUT, "launch %s: %s: \"%s\" is not a setting of a service%s",
                       sp_safe(w->name), sp_safe(row->name), sp_safe(row->serve),
                       sp_nearest_hint(&served));
    if ((row->plan[0] || row->serve[0]) &&
        (is_listed(w->quiet, row->name) || is_listed(w->quiet_switches, row->name)))
        return sp_fail(error, SP_INPUT, "launch %s: %s sets %s of a %s but is listed as quiet",
                       sp_safe(w->name), sp_safe(row->name),
                       sp_safe(row->plan[0] ? row->plan : row->serve),
                       row->plan[0] ? "plan" : "service");
    char key[sizeof row->model];
    for (const char *keys = row->model; row->model[0] && sp_next_item(&keys, key, sizeof key);)
        if (!sp_find_field(&sp_model_table, key))
            return sp_fail(error, SP_INPUT, "launch %s: %s: \"%s\" is not a key of a model",
                           sp_safe(w->name), sp_safe(row->name), sp_safe(key));
    return true;
}

/* Checks that a list of harmless options has no pattern, which would cover later options too. */
static bool check_names(const struct sp_launch_words *w, const char *list, struct sp_error *error)
{
    const char *at = list + strcspn(list, "*?");
    char word[96];
    if (!*at)
        return true;
    while (at > list && at[-1] != ' ')
        at--;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " "), at);
    return sp_fail(error, SP_INPUT, "launch %s: %s: harmless options are listed by name",
                   sp_safe(w->name), sp_safe(word));
}

bool sp_read_launch_words(const char *spec, const struct sp_sources *sources,
                          struct sp_launch_words *words, struct sp_error *error)
{
    bool ok = true;
    if (sp_has_builtin(SP_LAUNCHES, spec))
        ok = sp_load_builtin(SP_LAUNCHES, spec, words, error);
    if (ok && !sp_is_builtin(SP_LAUNCHES, spec, sources))
        ok = sp_load_fields(SP_LAUNCHES, spec, sources, words, error);
    if (TAKES_FILES && ok)
        ok = check_names(words, words->quiet, error) &&
             check_names(words, words->quiet_switches, error);
    for (int64_t i = 0; TAKES_FILES && i < words->options.rows.n && ok; i++)
        ok = check_row(words, &words->options.row[i], error);
    return ok;
}
