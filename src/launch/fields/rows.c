/* Options of a framework by the rows of its file: read, and looked up. */
#include "launch/fields/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <scaleplan/plan.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/truth.h"
#include "base/list.h"

/* A name is in one list of the file, but a switch that changes nothing is in two. Every list has
 * room for all names. */
static void complete(struct sp_launch_words *w)
{
    sp_append(w->quiet, sizeof w->quiet, " %s", w->quiet_switches);
    sp_append(w->switches, sizeof w->switches, " %s", w->quiet_switches);
    for (int64_t i = 0; i < w->options.rows.n; i++) {
        const char *const name = w->options.row[i].name;
        if (w->options.row[i].takes_none)
            sp_append(w->switches, sizeof w->switches, " %s", name + strspn(name, "-"));
    }
}

struct sp_launch_words *sp_words_of(const char *name, const struct sp_sources *sources,
                                    struct sp_error *error)
{
    const struct sp_sources none = {0};
    struct sp_launch_words *const words = sp_must(calloc(1, sizeof *words));
    if (sp_load_launch_words(name, sources ? sources : &none, words, error)) {
        complete(words);
        return words;
    }
    free(words);
    return NULL;
}

const struct sp_launch_row *sp_row_of(const struct sp_launch_words *w, const char *option)
{
    for (int64_t i = 0; i < w->options.rows.n; i++)
        if (sp_is(w->options.row[i].name, option))
            return &w->options.row[i];
    return NULL;
}

const struct sp_launch_row *sp_row_of_plan(const struct sp_launch_words *w, const char *plan,
                                           const struct sp_launch_row *row)
{
    const struct sp_launch_row *const end = w->options.row + w->options.rows.n;
    for (row = row ? row + 1 : w->options.row; row < end; row++)
        if (sp_is(row->plan, plan))
            return row;
    return NULL;
}

const struct sp_launch_row *sp_row_of_service(const struct sp_launch_words *w, const char *serve)
{
    for (int64_t i = 0; i < w->options.rows.n; i++)
        if (sp_is(w->options.row[i].serve, serve))
            return &w->options.row[i];
    return NULL;
}

int64_t sp_plan_whole(struct sp_settings *s, const char *plan)
{
    return sp_setting_whole(s, sp_row_of_plan(s->words, plan, NULL)->name, 1, 1);
}

const struct sp_launch_row *sp_next_dimension(const struct sp_launch_words *w,
                                              const struct sp_launch_row *row)
{
    const struct sp_launch_row *const end = w->options.row + w->options.rows.n;
    for (row = row ? row + 1 : w->options.row; row < end; row++)
        if (row->model[0])
            return row;
    return NULL;
}

bool sp_says(const struct sp_launched *l, const char *plan)
{
    for (int i = 0; i < SP_LAUNCH_FILES; i++)
        if (l->words[i] && sp_row_of_plan(l->words[i], plan, NULL))
            return true;
    return false;
}

/* Finds a word in "THEIRS=OURS, BOTH", and gives the other half. */
static void look_up(const char *values, const char *word, bool ours, char *out)
{
    char item[2 * SP_ROW_WORD];
    out[0] = '\0';
    for (size_t n; *values; values += n) {
        values += strspn(values, " ,");
        n = strcspn(values, " ,");
        snprintf(item, sizeof item, "%.*s", (int)n, values);
        const char *const cut = sp_cut_pair(item), *const mine = cut ? cut : item;
        if (n == 0 || strcasecmp(ours ? item : mine, word) != 0)
            continue;
        snprintf(out, SP_ROW_WORD, "%.47s", ours ? mine : item);
        return;
    }
}

void sp_model_ours(const struct sp_launch_words *words, const char *theirs, char *out)
{
    look_up(words->models, theirs, true, out);
}

void sp_model_theirs(const struct sp_launch_words *words, const char *ours, char *out)
{
    look_up(words->models, ours, false, out);
}

void sp_row_ours(const struct sp_launch_row *row, const char *theirs, char *out)
{
    look_up(row ? row->values : "", theirs, true, out);
}

void sp_row_theirs(const struct sp_launch_row *row, const char *ours, char *out)
{
    look_up(row ? row->values : "", ours, false, out);
}

bool sp_next_spelling(const char **list, struct sp_spelling *out)
{
    char text[96];
    if (!*list || !**list || !sp_next_item(list, text, sizeof text))
        return false;
    const char *item = text + strspn(text, " "), *const colon = strstr(item, ": ");
    *out = (struct sp_spelling){.when = ""};
    if (colon)
        snprintf(out->when, sizeof out->when, "%.*s", (int)(colon - item), item);
    item = colon ? colon + 2 : item;
    const size_t n = strcspn(item, " ");
    snprintf(out->option, sizeof out->option, "%.*s", (int)n, item);
    snprintf(out->value, sizeof out->value, "%s", item[n] ? item + n + 1 : "");
    return true;
}

/* Adds one spelling of a setting that was given as `said`, if it counts. */
static bool add_spelling(const struct sp_setting from, const struct sp_spelling *as,
                         const char *said, struct sp_settings *s)
{
    const struct sp_launch_row *const row = sp_row_of(s->words, as->option);
    const bool own = !as->value[0], none = own && row && row->takes_none;
    if (as->when[0] && !sp_has_word(from.value, as->when))
        return true;
    if (!sp_add_setting(s, as->option, !own ? as->value : none ? "" : from.value))
        return false;
    struct sp_setting *const to = &s->at[s->n - 1];
    to->line = from.line;
    to->gap_line = from.gap_line;
    to->said = said;
    if (own) {
        memcpy(to->gap, from.gap, sizeof to->gap);
        memcpy(to->by, from.by, sizeof to->by);
    }
    return true;
}

bool sp_spell_rows(struct sp_settings *s)
{
    const int n = s->n;
    bool ok = true;
    for (int64_t i = 0; i < s->words->options.rows.n; i++) {
        const struct sp_launch_row *const row = &s->words->options.row[i];
        for (int j = 0; j < n && row->as[0] && ok; j++) {
            struct sp_spelling as;
            const char *list = row->as;
            if (!sp_is(s->at[j].name, row->name))
                continue;
            if (strstr(row->as, ": ")) /* its meaning depends on the value */
                sp_setting(s, row->name);
            else
                sp_peek_setting(s, row->name);
            while (ok && sp_next_spelling(&list, &as))
                ok = add_spelling(s->at[j], &as, row->name, s);
        }
    }
    return ok;
}

/* The value of a setting by its row, as text; false if it is left out or the row has no such
 * word. */
static bool read_row(const struct sp_launch_row *row, struct sp_settings *s, int64_t least,
                     bool number, char *out)
{
    const char *const given = sp_setting(s, row->name);
    if (!given || (!number && !row->takes_none && !row->values[0]))
        return false;
    if (row->takes_none)
        snprintf(out, SP_ROW_WORD, "%s", row->gives);
    else if (row->values[0])
        sp_row_ours(row, !row->is_truth ? given : sp_truth(given) != 0 ? "true" : "false", out);
    else
        snprintf(out, SP_ROW_WORD, "%lld", (long long)sp_setting_whole(s, row->name, least, least));
    return out[0] != '\0';
}

/* The same of a row whose value is any number. */
static bool read_real(const struct sp_launch_row *row, struct sp_settings *s, char *out)
{
    const double value = sp_setting_number(s, row->name, NAN);
    if (!isnan(value))
        sp_format_double(value, out, SP_ROW_WORD);
    return !isnan(value);
}

/* Whether rows of a kind count. */
static bool counts(const struct sp_launch_row *row, const char *of)
{
    return row->of[0] == '\0' || sp_has_word(of, row->of);
}

static const struct sp_plan_field *plan_field(const char *name)
{
    for (int i = 0; i < SP_PLAN_FIELDS; i++)
        if (sp_is(sp_plan_fields[i].name, name))
            return &sp_plan_fields[i];
    return NULL;
}

/* Whether the launch already sets an option of `step`. */
static bool is_told(const struct sp_settings *s, const char *option)
{
    for (int i = 0; i < s->launch->options; i++)
        if (sp_is(s->launch->option[i].name, option))
            return true;
    return false;
}

/* Adds a row's setting of a plan as an option of `step`; `usual`: also if it is left out. */
static void read_plan_row(const struct sp_launch_row *row, const struct sp_plan_field *field,
                          bool usual, struct sp_settings *s)
{
    char value[SP_ROW_WORD];
    const bool real = field->kind == SP_PLAN_REAL, number = field->kind == SP_PLAN_WHOLE;
    /* than what `step` takes: numbers without a fallback are the framework file's */
    const bool other =
        row->unsaid[0] && (field->fallback ? !sp_is(field->fallback, row->unsaid) : real);
    const bool read =
        real ? read_real(row, s, value) : read_row(row, s, (int64_t)field->min, number, value);
    if (real && is_told(s, row->plan)) /* set by an earlier row */
        return;
    if (read)
        sp_launch_option(s, row->plan, "%s", value);
    else if (other && usual)
        sp_launch_option(s, row->plan, "%s", row->unsaid);
}

void sp_read_plan_rows(struct sp_settings *s, bool numbers, const char *of)
{
    for (int64_t i = 0; i < s->words->options.rows.n; i++) {
        const struct sp_launch_row *const row = &s->words->options.row[i];
        const struct sp_plan_field *const field = plan_field(row->plan);
        if (field && !row->by_code && counts(row, of) && (field->kind == SP_PLAN_WHOLE) == numbers)
            read_plan_row(row, field, true, s);
    }
}

void sp_read_rest(struct sp_settings *s)
{
    for (int64_t i = 0; i < s->words->options.rows.n; i++) {
        const struct sp_launch_row *const row = &s->words->options.row[i];
        const struct sp_plan_field *const field = plan_field(row->plan);
        if (!row->by_code && field && !sp_was_read(s, row->name))
            read_plan_row(row, field, false, s);
    }
}

void sp_read_cp_kind(struct sp_settings *s, int64_t cp, const char *usual)
{
    const struct sp_launch_row *const row = sp_row_of_plan(s->words, "cp-kind", NULL);
    const char *const theirs = row ? sp_setting(s, row->name) : NULL;
    char ours[SP_ROW_WORD] = "";
    if (theirs)
        sp_row_ours(row, theirs, ours);
    if (cp <= 1)
        return;
    if (theirs && !ours[0])
        sp_launch_note(s, "not modelled: %s %s; read as cp-kind %s", row->name, sp_safe(theirs),
                       usual);
    sp_launch_option(s, "cp-kind", "%s", ours[0] ? ours : usual);
}

/* ",KEY=VALUE" for each of some keys. */
static void put_keys(const char *keys, const char *value, char *out, size_t size)
{
    char key[sizeof((struct sp_launch_row *)0)->model];
    while (sp_next_item(&keys, key, sizeof key))
        sp_append(out, size, ",%s=%s", key, value);
}

void sp_read_model_rows(struct sp_settings *s, bool numbers, const char *of, char *shape,
                        size_t size)
{
    for (int64_t i = 0; i < s->words->options.rows.n; i++) {
        const struct sp_launch_row *const row = &s->words->options.row[i];
        const bool number = !row->takes_none && !row->values[0];
        char value[SP_ROW_WORD];
        if (!row->model[0] || row->by_code || !sp_is(row->of, of) || number != numbers)
            continue;
        const bool said = read_row(row, s, 1, numbers, value);
        if (said || row->unsaid[0])
            put_keys(row->model, said ? value : row->unsaid, shape, size);
    }
}

void sp_note_rows(struct sp_settings *s)
{
    for (int64_t i = 0; i < s->words->options.rows.n; i++) {
        const struct sp_launch_row *const row = &s->words->options.row[i];
        const char *const value = row->note[0] ? sp_peek_setting(s, row->name) : NULL;
        if (value && !sp_is(value, "0") && !sp_is(value, "None") && strcasecmp(value, "false") != 0)
            sp_launch_note(s, "not modelled: %s, %s", row->name, row->note);
    }
}
