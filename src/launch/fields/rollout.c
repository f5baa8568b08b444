/* Settings of a reinforcement learning launch besides its training. */
#include "launch/fields/rollout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/truth.h"
#include "launch/fields/deciding.h"
#include "launch/fields/hub.h"

/* The state of reading: names of lines and prefixes of settings are lists (" NAME NAME "). */
struct reading {
    const struct sp_launch_file *file;
    struct sp_settings *s;
    struct sp_rules rules, others; /* with another value for each unknown number */
    char unknown[SP_RULE], prefixes[SP_RULE];
    char needs[64]; /* "?NAME": the input that the last unknown one needs */
    bool ok;
};

/* A line: the option, the words after it ("": none), and the expression that sets it. */
struct line {
    char option[SP_RULE], expression[SP_RULE];
    const char *rest;
};

/* Cuts a text at its first blank; the rest, "" if there is none. */
static char *cut_word(char *text)
{
    char *const blank = strchr(text, ' ');
    if (!blank)
        return text + strlen(text);
    *blank = '\0';
    return blank + 1;
}

/* The name of an option as it is typed. */
static void spell(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%.23s", name);
    for (char *c = out; *c; c++)
        *c = *c == '_' ? '-' : *c;
}

/* Whether an earlier line has set an option. */
static bool is_told(const struct sp_launch *l, const char *name)
{
    char spelled[sizeof l->rollout->name];
    spell(name, spelled, sizeof spelled);
    for (int i = 0; i < l->n_rollout; i++)
        if (sp_is(l->rollout[i].name, spelled))
            return true;
    return false;
}

/* Adds an option of `rl`; an earlier line wins. */
static void add(struct sp_launch *l, const char *name, const char *value)
{
    if (is_told(l, name) || l->n_rollout == SP_LAUNCH_ROLLOUT)
        return;
    spell(name, l->rollout[l->n_rollout].name, sizeof l->rollout->name);
    snprintf(l->rollout[l->n_rollout++].value, sizeof l->rollout->value, "%.63s", value);
}

static void add_unread(struct reading *r, const char *option, const char *name)
{
    char spelled[24];
    spell(option, spelled, sizeof spelled);
    for (int i = r->s->n - 1; i >= 0; i--)
        if (sp_is(r->s->at[i].name, name)) {
            sp_add_unread(r->s->launch, spelled, name, r->s->at[i].value, r->s->at[i].line);
            return;
        }
}

static void note(struct sp_launch *l, const char *text)
{
    if (l->rollout_notes < SP_LAUNCH_REMARKS)
        snprintf(l->rollout_note[l->rollout_notes++], sizeof *l->rollout_note, "%s", text);
}

static bool is_null(const char *value)
{
    return sp_has_word("null None none ~ {} []", value);
}

/* Whether a setting has content: YAML settings may be empty, flags have no value. */
static bool says(const struct sp_setting *at)
{
    return (at->value[0] || at->name[0] == '-') && sp_truth(at->value) != 0 && !is_null(at->value);
}

/* The unknown part of a setting's value: a variable, or a formula instead of a number; NULL:
 * none. */
static const char *gap_of(const struct sp_settings *s, const char *name, bool number)
{
    for (int i = s->n - 1; i >= 0; i--) {
        const struct sp_setting *const at = &s->at[i];
        if (!sp_is(at->name, name))
            continue;
        if (at->gap[0])
            return number || at->tail == 0 ? at->gap : NULL;
        return number && says(at) && at->value[0] && sp_truth(at->value) < 0 &&
                       isnan(sp_said_number(s, name))
                   ? at->value
                   : NULL;
    }
    return NULL;
}

/* Marks the settings of an expression as read. Returns the first gap of one; NULL: there is
 * none. */
static const char *ask_settings(struct sp_settings *s, const char *expression)
{
    char name[SP_ROW_NAME];
    const char *gap = NULL;
    for (const char *at = expression; *at; at++) {
        if (*at != '[' && *at != '{' && at > expression)
            continue;
        const char *const from = at + (*at == '[' || *at == '{');
        snprintf(name, sizeof name, "%.*s", (int)strcspn(from, "=~?|*]}"), from);
        sp_peek_setting(s, name);
        const bool presence = *at == '[' && from[strcspn(from, "=~?]")] == ']';
        gap = gap || presence ? gap : gap_of(s, name, *at == '{');
    }
    return gap;
}

/* Whether an expression contains the name of an unknown value. */
static bool uses_unknown(const char *expression, const char *unknown)
{
    char name[SP_RULE];
    for (const char *at = expression; *at;
         at += strcspn(at, "[{ ()!"), at += strspn(at, "[{ ()!")) {
        snprintf(name, sizeof name, " %.*s ", (int)strcspn(at, " ()]}|=?~"), at);
        if (strstr(unknown, name))
            return true;
    }
    return false;
}

/* Whether a line's value depends on an unknown number. */
static bool depends(const struct reading *r, const struct line *line)
{
    int64_t value = 0, other = 0;
    if (!uses_unknown(line->expression, r->unknown))
        return false;
    sp_calculate(&r->rules, line->expression, &value);
    sp_calculate(&r->others, line->expression, &other);
    return value != other;
}

static int64_t value_of(struct reading *r, const struct line *line)
{
    int64_t value = 0;
    sp_calculate(&r->rules, line->expression, &value);
    return value;
}

static void read_number(struct reading *r, struct line *line)
{
    char number[32];
    const int64_t value = value_of(r, line);
    snprintf(number, sizeof number, "%lld", (long long)value);
    sp_add_fact(&r->rules, line->option, value);
    sp_add_fact(&r->others, line->option, value);
    if (value > 0)
        add(r->s->launch, line->option, number);
}

static void read_word(struct reading *r, struct line *line)
{
    if (value_of(r, line) > 0)
        add(r->s->launch, line->option, line->rest);
}

static void read_share(struct reading *r, struct line *line)
{
    char number[48];
    const int64_t value = value_of(r, line);
    sp_format_double(strtod(line->rest, NULL) / (double)value, number, sizeof number);
    if (value > 0)
        add(r->s->launch, line->option, number);
}

static void read_said(struct reading *r, struct line *line)
{
    char *const otherwise = strchr(line->expression, '|');
    if (otherwise)
        *otherwise = '\0';
    const char *const said = sp_said(r->s, line->expression);
    if (said && !is_null(said))
        add(r->s->launch, line->option, said);
    else if (otherwise)
        add(r->s->launch, line->option, otherwise + 1);
}

static void read_as(struct reading *r, struct line *line)
{
    char engine[32], ours[SP_ROW_WORD];
    const char *const said = sp_said(r->s, line->expression);
    const size_t n = strcspn(line->rest, ":");
    if (!said || !said[0] || is_null(said))
        return;
    snprintf(engine, sizeof engine, "%.*s", (int)n, line->rest);
    struct sp_launch_words *const words = sp_words_of(engine, r->file->sources, r->s->error);
    r->ok = r->ok && words;
    sp_row_ours(words ? sp_row_of(words, line->rest + n + 1) : NULL, said, ours);
    if (words && !ours[0])
        add_unread(r, line->option, line->expression);
    else if (ours[0] && !sp_is(ours, "auto"))
        add(r->s->launch, line->option, ours);
    free(words);
}

/* The known facts of a setting that names a model. */
static const char *model_said(const struct sp_settings *s, const char *name)
{
    const char *const said = sp_said(s, name), *const text = said ? said : sp_said_tail(s, name);
    return text && text[0] && !is_null(text) ? text : NULL;
}

/* A model other than the policy's that has the named fact; the first of several. */
static void read_model(struct reading *r, struct line *line)
{
    char given[128], name[96];
    int64_t counts = 0;
    char *const bar = strchr(line->expression, '|');
    const char *const policy = bar ? model_said(r->s, bar + 1) : NULL;
    if (bar)
        *bar = '\0';
    const char *const text = model_said(r->s, line->expression);
    sp_peek_setting(r->s, line->expression);
    sp_calculate(&r->rules, line->rest, &counts);
    if (counts == 0 || !text || sp_is(policy, text))
        return;
    snprintf(given, sizeof given, "%.*s", (int)strcspn(text, ","), text);
    if (sp_find_hub_model(given, r->file->sources, name, sizeof name))
        add(r->s->launch, line->option, name);
    else
        add_unread(r, line->option, line->expression);
}

static void refuse(struct reading *r, struct line *line)
{
    const char *const end = line->expression + strlen(line->expression);
    for (int i = 0; i < r->s->n && !is_told(r->s->launch, line->option); i++) {
        const struct sp_setting *const at = &r->s->at[i];
        const size_t n = strlen(at->name);
        const bool single = n > 4 && sp_is(at->name + n - 4, "size") && sp_is(at->value, "1");
        if (!says(at) || single || !sp_fits(line->expression, end, at->name))
            continue;
        sp_peek_setting(r->s, at->name);
        add_unread(r, line->option, at->name);
    }
}

static void read_note(struct reading *r, struct line *line)
{
    if (value_of(r, line) > 0)
        note(r->s->launch, line->rest);
}

static void skip(struct reading *r, struct line *line)
{
    const size_t n = strlen(line->rest);
    if (!sp_has_word(r->prefixes, line->rest))
        sp_append(r->prefixes, sizeof r->prefixes, " %s", line->rest);
    for (int i = 0; i < r->s->n; i++)
        if (sp_starts_with(r->s->at[i].name, line->rest) &&
            sp_is_quiet(line->expression, r->s->at[i].name + n))
            r->s->at[i].read = true;
}

/* Names settings that begin with a prefix and that no line has asked for, as many as a remark has
 * room for. */
static void name_rest(struct reading *r)
{
    char list[160] = "", text[240], prefix[SP_ROW_NAME];
    for (int i = 0; i < r->s->n; i++) {
        struct sp_setting *const at = &r->s->at[i];
        bool counts = false;
        for (const char *p = r->prefixes; *p && !counts; p += strcspn(p, " ")) {
            p += strspn(p, " ");
            snprintf(prefix, sizeof prefix, "%.*s", (int)strcspn(p, " "), p);
            counts = sp_starts_with(at->name, prefix);
        }
        if (!counts || at->read || at->usual || !says(at))
            continue;
        sp_peek_setting(r->s, at->name); /* once */
        if (strlen(list) + strlen(at->name) + 3 > sizeof list) {
            snprintf(text, sizeof text, "not read: %s", list);
            note(r->s->launch, text);
            list[0] = '\0';
        }
        sp_append(list, sizeof list, "%s%s", list[0] ? ", " : "", sp_safe(at->name));
    }
    snprintf(text, sizeof text, "not read: %s", list);
    if (list[0])
        note(r->s->launch, text);
}

/* Forms of a line, by the option or by the word after it; `asks`: its expression has settings. */
static const struct form {
    const char *option, *word;
    void (*read)(struct reading *r, struct line *line);
    bool asks;
} forms[] = {
    {"note", NULL, read_note, true}, {"quiet", NULL, skip, false},
    {NULL, "per", read_share, true}, {NULL, "said", read_said, true},
    {NULL, "as", read_as, true},     {NULL, "model", read_model, false},
    {NULL, "unread", refuse, false}, {NULL, "", read_number, true},
    {NULL, NULL, read_word, true},
};

/* The form of a line; removes its word. */
static const struct form *form_of(struct line *line)
{
    line->rest = cut_word(line->option);
    const size_t n = strcspn(line->rest, " ");
    for (const struct form *f = forms;; f++) {
        if (f->option ? sp_is(line->option, f->option) : !f->word)
            return f;
        if (f->word && strlen(f->word) == n && strncmp(f->word, line->rest, n) == 0) {
            line->rest += n + (line->rest[n] == ' ');
            return f;
        }
    }
}

static void read_line(struct reading *r, struct line *line)
{
    const struct form *const form = form_of(line);
    const char *const gap = form->asks ? ask_settings(r->s, line->expression) : NULL;
    if (!gap && !(form->asks && depends(r, line))) {
        form->read(r, line);
        return;
    }
    if (gap) /* else that of the names that make it up */
        snprintf(r->needs, sizeof r->needs, "?%.62s", gap);
    if (form->option) /* a remark */
        return;
    sp_append(r->unknown, sizeof r->unknown, "%s ", line->option);
    sp_add_fact(&r->rules, line->option, 1);
    sp_add_fact(&r->others, line->option, 1 << 20);
    add(r->s->launch, line->option, r->needs);
}

bool sp_read_rollout(const struct sp_launch_file *file, struct sp_settings *s)
{
    struct reading r = {.file = file,
                        .s = s,
                        .rules = {.settings = s, .script = file->script},
                        .others = {.settings = s, .script = file->script},
                        .unknown = " ",
                        .needs = "?",
                        .ok = true};
    struct line line;
    const char *list = s->words->rollout;
    while (sp_next_rule(&list, " = ", line.option, line.expression))
        read_line(&r, &line);
    name_rest(&r);
    return r.ok;
}

int64_t sp_rollout_whole(const struct sp_launch *l, const char *name)
{
    for (int i = 0; i < l->n_rollout; i++)
        if (sp_is(l->rollout[i].name, name))
            return strtoll(l->rollout[i].value, NULL, 10);
    return 0;
}
