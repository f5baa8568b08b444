/* Shared by the formats: settings of a file, options and remarks of a launch, losses. */
#include "launch/fields/settings.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <scaleplan/names.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/truth.h"
#include "launch/fields/models.h"

bool sp_add_setting(struct sp_settings *settings, const char *name, const char *value)
{
    if (settings->n == SP_MAX_SETTINGS)
        return settings->error && sp_fail_in(settings, "more than %d options", SP_MAX_SETTINGS);
    struct sp_setting *const setting = &settings->at[settings->n++];
    *setting = (struct sp_setting){0};
    const size_t n = value ? strlen(value) : 0;
    /* No reader asks for a name that was cut: readers' names are shorter. */
    sp_cut_text(name, strlen(name), setting->name, sizeof setting->name);
    sp_cut_text(value ? value : "", n, setting->value, sizeof setting->value);
    setting->cut = n >= sizeof setting->value;
    return true;
}

bool sp_copy_setting(struct sp_settings *to, const struct sp_setting *from, const char *name)
{
    if (!sp_add_setting(to, name, NULL))
        return false;
    struct sp_setting *const copy = &to->at[to->n - 1], named = *copy;
    *copy = *from;
    memcpy(copy->name, named.name, sizeof copy->name);
    copy->read = copy->needed = copy->refused = false;
    return true;
}

bool sp_copy_lacking(struct sp_settings *to, const struct sp_settings *from)
{
    bool ok = true;
    for (int i = 0; i < from->n && ok; i++)
        ok = sp_has_setting(to, from->at[i].name) ||
             sp_copy_setting(to, &from->at[i], from->at[i].name);
    return ok;
}

void sp_make_setting(struct sp_settings *settings, const char *name, const char *format, ...)
{
    if (!sp_add_setting(settings, name, NULL))
        return;
    struct sp_setting *const setting = &settings->at[settings->n - 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(setting->value, sizeof setting->value, format, arguments);
    va_end(arguments);
}

void sp_make_whole(struct sp_settings *settings, const char *name, int64_t value)
{
    sp_make_setting(settings, name, "%lld", (long long)value);
}

void sp_make_switch(struct sp_settings *settings, const char *name, bool on)
{
    if (on)
        sp_make_setting(settings, name, "%s", "");
}

static const char *said_as(const struct sp_setting *setting)
{
    return setting->said ? setting->said : setting->name;
}

static int find_setting(const struct sp_settings *settings, const char *name)
{
    int i = settings->n - 1;
    while (i >= 0 && !sp_is(settings->at[i].name, name))
        i--;
    return i;
}

const char *sp_peek_setting(struct sp_settings *settings, const char *name)
{
    const int last = find_setting(settings, name);
    for (int i = 0; i <= last; i++)
        if (sp_is(settings->at[i].name, name))
            settings->at[i].read = true;
    return last >= 0 ? settings->at[last].value : NULL;
}

bool sp_has_setting(const struct sp_settings *settings, const char *name)
{
    return find_setting(settings, name) >= 0;
}

bool sp_chooses(struct sp_settings *settings, const char *name)
{
    const int last = find_setting(settings, name);
    return sp_setting(settings, name) && !settings->at[last].usual;
}

bool sp_was_read(const struct sp_settings *settings, const char *name)
{
    const int last = find_setting(settings, name);
    return last >= 0 && settings->at[last].read;
}

const char *sp_said(const struct sp_settings *settings, const char *name)
{
    const int last = find_setting(settings, name);
    return last >= 0 && !settings->at[last].gap[0] ? settings->at[last].value : NULL;
}

/* A number as Python, YAML and TOML write it: "1e3", "32_000"; false if the text is not one. */
static bool read_number(const char *text, double *value)
{
    char digits[64], *end;
    size_t n = 0;
    for (const char *c = text; *c && n + 1 < sizeof digits; c++)
        if (*c != '_' || c == text || !isdigit((unsigned char)c[-1]) ||
            !isdigit((unsigned char)c[1]))
            digits[n++] = *c;
    digits[n] = '\0';
    errno = 0;
    *value = strtod(digits, &end);
    return end != digits && *end == '\0' && isfinite(*value) && errno == 0 &&
           !strpbrk(digits, "xX");
}

double sp_said_number(const struct sp_settings *settings, const char *name)
{
    const char *const text = sp_said(settings, name);
    double value;
    return text && read_number(text, &value) ? value : NAN;
}

int64_t sp_said_whole(const struct sp_settings *settings, const char *name, int64_t otherwise)
{
    const double value = sp_said_number(settings, name);
    return value >= 1 && value <= 1e12 ? (int64_t)value : otherwise;
}

/* Keeps a name that a reader missed: another may be a misspelling of it. */
static void note_absent(struct sp_settings *settings, const char *name)
{
    int i = 0;
    while (i < settings->n_absent && !sp_is(settings->absent[i], name))
        i++;
    if (i == settings->n_absent && i < SP_MAX_ABSENT)
        snprintf(settings->absent[settings->n_absent++], sizeof *settings->absent, "%s", name);
}

const char *sp_setting(struct sp_settings *settings, const char *name)
{
    const int last = find_setting(settings, name);
    if (last >= 0)
        settings->at[last].needed = true;
    else
        note_absent(settings, name);
    return sp_peek_setting(settings, name);
}

const char *sp_setting_file(struct sp_settings *settings, const char *name)
{
    const int last = find_setting(settings, name);
    const int tail = last >= 0 ? settings->at[last].tail : 0;
    return tail > 0 ? sp_peek_setting(settings, name) + tail : sp_setting(settings, name);
}

const char *sp_launcher_file(struct sp_settings *settings, const char *name, char *out, size_t size)
{
    const char *const file = sp_setting_file(settings, name);
    if (!file)
        return NULL;
    const struct sp_setting *const s = &settings->at[find_setting(settings, name)];
    const int whole = s->first > 0 ? s->first : (int)strlen(s->value);
    snprintf(out, size, "%.*s", whole - (int)(file - s->value), file);
    return out;
}

const char *sp_said_tail(const struct sp_settings *settings, const char *name)
{
    const int last = find_setting(settings, name);
    const int tail = last >= 0 ? settings->at[last].tail : 0;
    return tail > 0 ? settings->at[last].value + tail : NULL;
}

void sp_put_place(const struct sp_settings *settings, int line, char *out, size_t size)
{
    if (line > 0)
        snprintf(out, size, "%s:%d", sp_safe(settings->origin), line);
    else
        snprintf(out, size, "%s", sp_safe(settings->origin));
}

/* Reports that a value is unknown, and that a name of the script can be given one. */
static void refuse_gap(struct sp_settings *settings, struct sp_setting *setting)
{
    char place[128];
    sp_put_place(settings, setting->gap_line, place, sizeof place);
    const bool by =
        setting->by[0] && !sp_is(setting->by, "a file"); /* the names that can be typed */
    const char *const typed = by ? setting->by : setting->gap, *const branch = "the branch of ";
    if (sp_starts_with(typed, branch)) { /* in Python, with an unknown condition */
        sp_fail(settings->error, SP_INPUT, "%s: %s is set in %s: --set-var '%s=yes' or no", place,
                sp_safe(said_as(setting)), sp_safe(typed), sp_safe(typed + strlen(branch)));
        setting->refused = true;
        return;
    }
    const bool name = !strpbrk(typed, "$`\n") && typed[0] != '(' &&
                      strlen(typed) + 1 < sizeof setting->gap && strncmp(typed, "the ", 4) != 0 &&
                      strncmp(typed, "one of ", 7) != 0,
               parameter = typed[strspn(typed, "0123456789")] == '\0';
    const char *const quote = name && strpbrk(typed, "\"'[]() ") ? "'" : "";
    sp_fail(settings->error, SP_INPUT, "%s: %s needs %s%s%s%s%s%s%s%s%s%s", place,
            sp_safe(said_as(setting)),
            parameter && typed == setting->gap ? "the script's parameter " : "",
            sp_safe(setting->gap),
            setting->by[0] ? ", which depends on " : ", which is not set here",
            setting->by[0] && parameter ? "the script's parameter " : "",
            setting->by[0] ? sp_safe(setting->by) : "", name ? "; --set-var " : "", quote,
            name ? sp_safe(typed) : "", name ? "=VALUE" : "", quote);
    setting->refused = true;
}

static void refuse_cut(struct sp_settings *settings, struct sp_setting *setting)
{
    char place[128];
    sp_put_place(settings, setting->line, place, sizeof place);
    sp_fail(settings->error, SP_INPUT, "%s: %s: value longer than %zu characters", place,
            sp_safe(said_as(setting)), sizeof setting->value - 1);
    setting->refused = true;
}

bool sp_refuse_gaps(struct sp_settings *settings)
{
    const int before = settings->error->lines;
    for (int i = 0; i < settings->n; i++) {
        struct sp_setting *const setting = &settings->at[i];
        const bool last = find_setting(settings, setting->name) == i,
                   counts = last && setting->needed && !setting->refused;
        if (counts && setting->gap[0])
            refuse_gap(settings, setting);
        else if (counts && setting->cut)
            refuse_cut(settings, setting);
    }
    return settings->error->lines == before;
}

bool sp_has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; at && *at; at += strcspn(at, " ,")) {
        at += strspn(at, " ,");
        if (strncmp(at, word, n) == 0 && (at[n] == '\0' || at[n] == ' ' || at[n] == ','))
            return true;
    }
    return false;
}

/* A setting is refused once, however often it is asked for. */
static void refuse(struct sp_settings *settings, int i, const char *expected)
{
    struct sp_setting *const setting = &settings->at[i];
    char place[128];
    sp_put_place(settings, setting->line, place, sizeof place);
    if (!setting->refused && setting->gap[0])
        refuse_gap(settings, setting);
    else if (!setting->refused)
        sp_fail(settings->error, SP_INPUT, "%s: %s: \"%s\": expected %s", place,
                sp_safe(said_as(setting)), sp_safe(setting->value), expected);
    setting->refused = true;
}

double sp_setting_number(struct sp_settings *settings, const char *name, double otherwise)
{
    const int i = find_setting(settings, name);
    double value;
    sp_setting(settings, name);
    if (i < 0 || settings->at[i].refused)
        return otherwise;
    if (!settings->at[i].gap[0] && read_number(settings->at[i].value, &value))
        return value;
    refuse(settings, i, "a number");
    return otherwise;
}

int64_t sp_setting_whole(struct sp_settings *settings, const char *name, int64_t least,
                         int64_t otherwise)
{
    char expected[64];
    const double value = sp_setting_number(settings, name, NAN);
    const int i = find_setting(settings, name);
    if (i < 0 || isnan(value))
        return otherwise;
    /* options of a command are Python's int(), which takes neither "64.0" nor "6.4e1" */
    const bool plain = name[0] != '-' || !strpbrk(settings->at[i].value, ".eE");
    if (plain && value == floor(value) && value >= (double)least && value <= 1e9)
        return (int64_t)value;
    snprintf(expected, sizeof expected, "a whole number from %lld to 10^9", (long long)least);
    refuse(settings, i, expected);
    return otherwise;
}

bool sp_setting_is(struct sp_settings *settings, const char *name, const char *value)
{
    const char *const text = sp_setting(settings, name);
    return text && strcasecmp(text, value) == 0;
}

bool sp_setting_on(struct sp_settings *settings, const char *name)
{
    const char *const text = sp_setting(settings, name);
    return text && sp_truth(text) != 0;
}

bool sp_setting_away(struct sp_settings *settings, const char *name)
{
    return sp_setting_on(settings, name) && !sp_has_word("none null", sp_setting(settings, name));
}

bool sp_setting_off(struct sp_settings *settings, const char *name)
{
    const char *const text = sp_setting(settings, name);
    return text && sp_truth(text) == 0;
}

void sp_launch_option(const struct sp_settings *settings, const char *name, const char *format, ...)
{
    struct sp_launch *const launch = settings->launch;
    if (launch->options == SP_LAUNCH_OPTIONS)
        return;
    va_list arguments;
    va_start(arguments, format);
    snprintf(launch->option[launch->options].name, sizeof launch->option->name, "%s", name);
    vsnprintf(launch->option[launch->options].value, sizeof launch->option->value, format,
              arguments);
    va_end(arguments);
    launch->options++;
}

void sp_launch_devices(struct sp_launch *launch, int64_t nodes, int64_t all, int64_t gpus)
{
    const int64_t places = nodes > 1 ? nodes : 1;
    launch->devices = all > 0 ? all : places * gpus;
    launch->per_node = places > 1 && launch->devices % places == 0 ? launch->devices / places : 0;
}

void sp_launch_whole(const struct sp_settings *settings, const char *name, int64_t value)
{
    sp_launch_option(settings, name, "%lld", (long long)value);
}

void sp_launch_no_model(const struct sp_settings *settings, const char *format, ...)
{
    char *const why = settings->launch->no_model;
    const size_t size = sizeof settings->launch->no_model;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, size, format, arguments);
    va_end(arguments);
}

/* Adds a line to a list; after the last place there is only a note that there were more. */
static void put_line(char *lines, size_t size, int most, int *n, const char *of, const char *format,
                     va_list arguments)
{
    if (*n == most)
        snprintf(lines + (size_t)(most - 1) * size, size, "more %s than %d: the others are ignored",
                 of, most - 1);
    else
        vsnprintf(lines + (size_t)(*n)++ * size, size, format, arguments);
}
#define PUT_LINE(lines, n, of)                                                                     \
    va_list arguments;                                                                             \
    va_start(arguments, format);                                                                   \
    put_line(*(lines), sizeof *(lines), (int)(sizeof(lines) / sizeof *(lines)), &(n), of, format,  \
             arguments);                                                                           \
    va_end(arguments)

void sp_add_note(struct sp_launch *launch, const char *format, ...)
{
    PUT_LINE(launch->note, launch->notes, "remarks");
}

void sp_launch_note(const struct sp_settings *settings, const char *format, ...)
{
    PUT_LINE(settings->launch->note, settings->launch->notes, "remarks");
}

const char *sp_lost_kind(const char **lost)
{
    static const char *const kinds[][2] = {{"code: ", "needs code"},
                                           {"later: ", "not written yet"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sp_starts_with(*lost, kinds[i][0])) {
            *lost += strlen(kinds[i][0]);
            return kinds[i][1];
        }
    return "cannot express";
}

void sp_put_lost(const struct sp_written *written, const char *before, const char *after, FILE *out)
{
    for (int i = 0; i < written->n_lost; i++) {
        const char *lost = written->lost[i], *const kind = sp_lost_kind(&lost);
        fprintf(out, "%s%s: %s%s", before, kind, lost, after);
    }
}

/* A ZeRO stage that the framework lacks is a loss too; the stage that replaces it is named beside
 * it. */
void sp_lose(const struct sp_launched *l, const char *format, ...)
{
    PUT_LINE(l->written->lost, l->written->n_lost, "parts of the plan");
}

bool sp_is_settled(const struct sp_launched *l)
{
    return l->only_asks && l->written->n_lost > 0;
}

struct sp_settings *sp_settings_of(const struct sp_launched *l)
{
    struct sp_settings *const settings =
        sp_must(malloc(sizeof *settings)); /* too large for the stack */
    memset(settings, 0,
           offsetof(struct sp_settings, at)); /* an entry of `at` is cleared when it is added */
    settings->words = l ? l->words[0] : NULL;
    return settings;
}

struct sp_settings *sp_new_settings(const struct sp_settings *like)
{
    struct sp_settings *const settings = sp_settings_of(NULL);
    settings->origin = like->origin;
    settings->words = like->words;
    settings->core = like->core;
    settings->launch = like->launch;
    settings->error = like->error;
    return settings;
}

bool sp_fail_in(const struct sp_settings *settings, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return sp_fail(settings->error, SP_INPUT, "%s: %s", sp_safe(settings->origin), what);
}

void sp_write_title(const struct sp_launched *l, FILE *out)
{
    const struct sp_plan *const p = l->plan;
    fprintf(out, "%s on %s, %lld devices: dp %lld tp %lld pp %lld cp %lld", sp_safe(l->model->name),
            sp_safe(l->hw->name), (long long)sp_plan_devices(p), (long long)p->dp, (long long)p->tp,
            (long long)p->pp, (long long)p->cp);
    if (p->ep > 1)
        fprintf(out, " ep %lld", (long long)p->ep);
    fprintf(out, ", ZeRO %d over %lld; %lld ", p->zero, (long long)p->shards, (long long)p->batch);
    if (sp_takes_pictures(l->model))
        fputs("images", out);
    else
        fprintf(out, "sequences of %lld tokens", (long long)p->seq);
}

bool sp_multiplies_in_fp32(const struct sp_plan *plan)
{
    return plan->dtype == SP_FP32 || plan->dtype == SP_TF32;
}

/* The format of a recipe's matmuls, as far as frameworks distinguish them. */
static enum sp_dtype format_of(const char *recipe)
{
    return sp_is(recipe, "fp32") ? SP_FP32 : strncmp(recipe, "fp8-", 4) == 0 ? SP_FP8 : SP_BF16;
}

/* An export of FSDP's fp32 states to Megatron-LM or DeepSpeed writes bf16 and counts a loss: the
 * matmuls equal the plan's, the states do not. */
bool sp_states_are(const struct sp_launched *l, const char *name)
{
    return sp_is(l->precision->name, name) && sp_ships_precision(l);
}

bool sp_recipe_is(const struct sp_launched *l, const char *name)
{
    const enum sp_dtype format = format_of(name);
    return sp_states_are(l, name) &&
           (format == SP_FP32 ? sp_multiplies_in_fp32(l->plan) : l->plan->dtype == format);
}

void sp_recipe_text(const struct sp_launched *l, char *text, size_t size)
{
    const char *const name = l->precision->name;
    const enum sp_dtype format = format_of(name);
    const bool same = format == SP_FP32 ? sp_multiplies_in_fp32(l->plan) : l->plan->dtype == format;
    snprintf(text, size, "%.64s%s%s%s", name, sp_ships_precision(l) ? "" : " with your own bytes",
             same ? "" : " with matmuls in ", same ? "" : sp_dtype_names[l->plan->dtype]);
}

void sp_spell_model(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s", sp_base_name(name));
    char *const dot = strrchr(out, '.');
    if (dot && (sp_is(dot, ".yaml") || sp_is(dot, ".yml")))
        *dot = '\0';
    for (char *c = out; *c; c++)
        *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
}
