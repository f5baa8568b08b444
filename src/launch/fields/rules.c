/* Rules of a framework's file, and which of them apply to settings, a model and a machine. */
#include "launch/fields/rules.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/plan.h>

#include "base/text.h"
#include "base/truth.h"
#include "launch/fields/programs.h"
#include "launch/shell/arithmetic.h"

/* The text of a setting, or else of a key of the model in `room`; NULL: neither exists. */
static const char *text_of(const struct sp_rules *r, const char *name, char *room, size_t size)
{
    const char *const said = sp_said(r->settings, name);
    const struct sp_field *const key =
        !said && r->model ? sp_find_field(&sp_model_table, name) : NULL;
    if (key)
        sp_format_field(key, r->model, room, size);
    return key ? room : said;
}

/* The value of a fact; false: there is no fact of that name. */
static bool find_fact(const struct sp_rules *r, const char *name, int64_t *value)
{
    for (int i = 0; i < SP_FACTS && r->fact[i].name[0]; i++)
        if (sp_is(r->fact[i].name, name)) {
            *value = r->fact[i].value;
            return true;
        }
    return false;
}

void sp_add_fact(struct sp_rules *r, const char *name, int64_t value)
{
    int i = 0;
    while (i < SP_FACTS - 1 && r->fact[i].name[0] &&
           !(r->fact[i].value == 0 && sp_is(r->fact[i].name, name)))
        i++;
    snprintf(r->fact[i].name, sizeof r->fact[i].name, "%.15s", name);
    r->fact[i].value = value;
}

/* "NAME", "NAME?", "NAME=THIS|THAT" (* for any text), "NAME~WORD", ">PATTERN" */
static bool holds_of(const struct sp_rules *r, char *test)
{
    char room[256];
    if (test[0] == '>')
        return sp_starts_program(r->script, test + 1);
    const size_t n = strcspn(test, "=~?");
    const char how = test[n];
    test[n] = '\0';
    if (!how)
        return sp_has_setting(r->settings, test);
    const char *text = text_of(r, test, room, sizeof room);
    if (!text && how == '=' && strchr(test + n + 1, '*')) /* a pattern of a file's name */
        text = sp_said_tail(r->settings, test);
    if (!text)
        return false;
    if (how == '?')
        return sp_truth(text) != 0;
    char *rest = test + n + 1;
    for (char *value; (value = strsep(&rest, "|"));)
        if (how == '~' ? sp_has_word(text, value) : fnmatch(value, text, 0) == 0)
            return true;
    return false;
}

/* "NAME", "NAME|OTHERWISE", "NAME*TIMES|OTHERWISE" */
static int64_t number_of(const struct sp_rules *r, char *name)
{
    char room[256];
    char *const bar = strchr(name, '|');
    const int64_t otherwise = bar ? strtoll(bar + 1, NULL, 10) : 0;
    if (bar)
        *bar = '\0';
    char *const times = strchr(name, '*');
    if (times) {
        *times = '\0';
        const double number = sp_said_number(r->settings, name);
        return isnan(number) ? otherwise : (int64_t)(number * strtod(times + 1, NULL) + 0.5);
    }
    if (sp_said(r->settings, name))
        return sp_said_whole(r->settings, name, otherwise);
    const char *const text = text_of(r, name, room, sizeof room);
    return !text ? otherwise : sp_is(text, "true") ? 1 : strtoll(text, NULL, 10);
}

/* A condition with numbers in place of names. Every plan of a search is checked against every rule,
 * so characters are copied unchanged. */
static void fill_in(const struct sp_rules *r, const char *condition, char *out, size_t size)
{
    char name[128];
    char *const end = out + size - 1;
    while (*condition && out < end) {
        const char *const closes = *condition == '[' ? "]" : *condition == '{' ? "}" : NULL;
        size_t n = 0;
        if (closes)
            n = strcspn(++condition, closes);
        while (!closes && (isalnum((unsigned char)condition[n]) || condition[n] == '_'))
            n++;
        if (!closes && n == 0) {
            *out++ = *condition++;
            continue;
        }
        sp_cut_text(condition, n, name, sizeof name);
        int64_t value = 0;
        const bool number =
            closes ? true : isalpha((unsigned char)*name) && find_fact(r, name, &value);
        if (closes)
            value = *closes == ']' ? holds_of(r, name) : number_of(r, name);
        if (number)
            snprintf(name, sizeof name, "%lld", (long long)value);
        for (const char *c = name; *c && out < end; c++)
            *out++ = *c;
        condition += n;
        condition += closes && *condition;
    }
    *out = '\0';
}

bool sp_calculate(const struct sp_rules *r, const char *expression, int64_t *value)
{
    struct sp_shell_scope
        none; /* not a constant: its zeros would add 24 kB to the program's file */
    none.n = 0;
    char text[SP_RULE];
    struct sp_shell_missing missing;
    fill_in(r, expression, text, sizeof text);
    const enum sp_shell_number kind = sp_shell_calculate(text, &none, value, &missing);
    if (kind != SP_NUMBER)
        *value = 0;
    return kind != SP_NUMBER_UNKNOWN;
}

bool sp_next_rule(const char **list, const char *between, char before[SP_RULE],
                  char behind[SP_RULE])
{
    const size_t n = strcspn(*list, "\n");
    sp_cut_text(*list, n, before, SP_RULE);
    *list += n + ((*list)[n] == '\n');
    char *cut = strstr(before, between);
    while (cut && cut > before && cut[-1] == ' ') /* of "A ? B : C" */
        cut = strstr(cut + 1, between);
    if (!cut)
        return false;
    *cut = '\0';
    cut += strlen(between);
    memcpy(behind, cut, strlen(cut) + 1);
    return true;
}

/* The facts with which rules of the file start, after the given ones. */
static void take_facts(struct sp_rules *r, const char *facts)
{
    char version[SP_ROW_WORD], name[SP_RULE], expression[SP_RULE];
    sp_version_name(r->settings->words, r->version, version);
    const char *const dot = strrchr(version, '.');
    sp_add_fact(r, "devices", r->devices);
    sp_add_fact(r, "newest", r->version == 0);
    sp_add_fact(r, "minor", dot ? strtoll(dot + 1, NULL, 10) : 0);
    sp_add_fact(r, "known", r->model != NULL);
    while (sp_next_rule(&facts, " = ", name, expression)) {
        int64_t value;
        sp_calculate(r, expression, &value);
        sp_add_fact(r, name, value);
    }
}

/* The message of an applicable rule, with values in place of {NAME}. */
static void put_values(const struct sp_rules *r, const char *what, char *out, size_t size)
{
    for (size_t n = 0; *what && n + 1 < size; n = strlen(out)) {
        const size_t length = strcspn(what, "{");
        char name[SP_ROW_NAME];
        int64_t number;
        snprintf(out + n, size - n, "%.*s", (int)length, what);
        what += length;
        if (!*what)
            return;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(what + 1, "}"), what + 1);
        what += strlen(name) + 2;
        n = strlen(out);
        char room[256];
        const bool fact = find_fact(r, name, &number);
        const char *const text = fact ? NULL : text_of(r, name, room, sizeof room);
        if (fact)
            snprintf(out + n, size - n, "%lld", (long long)number);
        else if (text)
            snprintf(out + n, size - n, "%s", text);
    }
}

/* Adds the message of a rule to its subject. */
typedef void sp_hear(const struct sp_rules *rules, const struct sp_launched *launched,
                     const char *what);

static void hear(const struct sp_rules *given, const char *facts, const char *list,
                 const struct sp_launched *l, sp_hear *say)
{
    char condition[SP_RULE], what[SP_RULE], said[2 * SP_RULE];
    if (l && sp_is_settled(l))
        return;
    struct sp_rules r = *given;
    take_facts(&r, facts);
    while ((!l || !sp_is_settled(l)) && sp_next_rule(&list, ": ", condition, what)) {
        int64_t holds;
        said[0] = '\0';
        if (!sp_calculate(&r, condition, &holds))
            snprintf(said, sizeof said, "unknown name: %.100s", condition);
        else if (holds)
            put_values(&r, what, said, sizeof said);
        if (said[0])
            say(&r, l, said);
    }
}

/* Options that must, or must not, occur beside others, by a row that needs or excludes them:
 * "[VALUE: ]OPTION[=VALUE]". */
static void hear_row(const struct sp_rules *r, const struct sp_launch_row *row, bool needs,
                     const struct sp_launched *l, sp_hear *say)
{
    const char *list = needs ? row->needs : row->excludes;
    struct sp_spelling other;
    char test[2 * SP_ROW_NAME], what[400];
    if (!*list || !sp_has_setting(r->settings, row->name))
        return;
    const char *const value = sp_said(r->settings, row->name);
    while (sp_next_spelling(&list, &other)) {
        snprintf(test, sizeof test, "%s%s%s", other.option, other.value[0] ? "=" : "", other.value);
        if ((other.when[0] && !(sp_is(value, other.when))) || holds_of(r, test) == needs)
            continue;
        snprintf(what, sizeof what, "%s%s%s %s %s%s%s", row->name, other.when[0] ? " " : "",
                 other.when, needs ? "without" : "and", other.option, other.value[0] ? " " : "",
                 other.value);
        say(r, l, what);
    }
}

static void hear_rows(const struct sp_rules *r, const struct sp_launched *l, sp_hear *say)
{
    const struct sp_launch_words *const w = r->settings->words;
    for (int64_t i = 0; i < w->options.rows.n && (!l || !sp_is_settled(l)); i++)
        for (int needs = 0; needs < 2; needs++)
            hear_row(r, &w->options.row[i], needs, l, say);
}

static void note(const struct sp_rules *r, const struct sp_launched *l, const char *what)
{
    (void)l;
    r->settings->launch->refusals++;
    sp_launch_note(r->settings, "%s refuses this: %s", r->settings->words->framework, what);
}

static void lose_refused(const struct sp_rules *r, const struct sp_launched *l, const char *what)
{
    sp_lose(l, "what %s refuses: %s", r->settings->words->framework, what);
}

static void lose(const struct sp_rules *r, const struct sp_launched *l, const char *what)
{
    (void)r;
    sp_lose(l, "%s", what);
}

static void hear_refusals(const struct sp_rules *r, const struct sp_launched *l, sp_hear *say)
{
    const struct sp_launch_words *const words = r->settings->words;
    hear(r, words->facts, words->refuses, l, say);
    hear_rows(r, l, say);
}

void sp_note_rules(const struct sp_rules *r)
{
    hear_refusals(r, NULL, note);
}

void sp_lose_rules(const struct sp_launched *l, const struct sp_rules *r)
{
    hear_refusals(r, l, lose_refused);
}

/* A plan as settings by the names of its fields, and what rules ask of it besides. */
static void put_plan(const struct sp_launched *l, struct sp_settings *s)
{
    const struct sp_plan *const p = l->plan;
    for (int i = 0; i < SP_PLAN_FIELDS; i++) {
        const struct sp_plan_field *const field = &sp_plan_fields[i];
        const char *const name = sp_plan_name(p, field);
        char list[160] = "";
        const unsigned bits = field->kind == SP_PLAN_LIST ? (unsigned)sp_plan_value(p, field) : 0;
        for (int j = 0; bits >> j; j++)
            if (bits >> j & 1)
                sp_append(list, sizeof list, " %s", field->names[j]);
        if (field->kind == SP_PLAN_LIST)
            sp_make_setting(s, field->name, "%s", list);
        else if (name)
            sp_make_setting(s, field->name, "%s", name);
        else
            sp_make_setting(s, field->name, "%.17g", sp_plan_value(p, field));
    }
    sp_make_setting(s, "remat", "%s", l->remat);
    sp_make_setting(s, "hw", "%s", l->hw->name);
    sp_make_setting(s, "recipe", "%s", l->recipe);
    if (sp_recipe_is(l, l->precision->name))
        sp_make_setting(s, "states-and-matmuls", "%s", l->precision->name);
    if (sp_states_are(l, l->precision->name))
        sp_make_setting(s, "states", "%s", l->precision->name);
}

void sp_lose_plan(const struct sp_launched *l, const struct sp_fact *fact)
{
    const struct sp_plan *const p = l->plan;
    struct sp_settings *const s = sp_settings_of(l);
    struct sp_rules r = {.settings = s, .model = l->model, .version = l->version};
    put_plan(l, s);
    for (; fact && fact->name[0]; fact++)
        sp_add_fact(&r, fact->name, fact->value);
    const struct sp_fact facts[] = {
        {"dp", p->dp},
        {"tp", p->tp},
        {"pp", p->pp},
        {"vpp", p->vpp},
        {"cp", p->cp},
        {"ep", p->ep},
        {"etp", p->etp},
        {"zero", p->zero},
        {"shards", p->shards},
        {"ranks", p->dp * p->cp},
        {"seq", p->seq},
        {"some", p->recompute_layers < 1},
        {"torus", l->hw->network.kind == SP_TORUS},
        {"plain", sp_multiplies_in_fp32(p) || p->dtype == SP_BF16},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        sp_add_fact(&r, facts[i].name, facts[i].value);
    hear(&r, "", s->words->loses, l, lose);
    free(s);
}
