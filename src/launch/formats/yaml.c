/* YAML as settings: names of nested values are joined by dots. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/json_syntax.h"
#include "base/truth.h"
#include "launch/formats/syntax.h"

/* Where the next value belongs: under a name of a mapping, or in a list. */
struct level {
    size_t path; /* bytes of the path in front */
    bool list, named;
    int items; /* of a list */
};

/* What an anchor (&NAME) names: a value, or the settings of a mapping or list that are named below
 * `path`. */
struct anchor {
    char name[64], path[sizeof((struct sp_setting *)NULL)->name],
        value[sizeof((struct sp_setting *)NULL)->value];
    bool scalar, quoted, nothing;
    int depth, first, last; /* of the settings; last -1: it is not over */
};
enum { MOST_ANCHORS = 64 };

struct reader {
    struct sp_settings *settings;
    const struct sp_typed_names *names;
    FILE *scripts;
    char path[sizeof((struct sp_setting *)NULL)->name];
    struct level level[SP_JSON_MAX_DEPTH + 1];
    int depth;
    struct anchor anchor[MOST_ANCHORS];
    int anchors, documents;
};

/* The value of another setting, "${.sibling}" or "${section.name}", if it precedes this one. */
static const char *referred(const struct reader *r, const char *name, size_t n)
{
    char full[2 * sizeof r->path];
    const char *const dot = strrchr(r->path, '.');
    const int section = dot && *name == '.' ? (int)(dot - r->path) + 1 : 0;
    snprintf(full, sizeof full, "%.*s%.*s", section, r->path, (int)n - (*name == '.'),
             name + (*name == '.'));
    for (int i = r->settings->n - 2; i >= 0; i--) /* the last is the one that refers */
        if (sp_is(r->settings->at[i].name, full) && !r->settings->at[i].gap[0])
            return r->settings->at[i].value;
    return NULL;
}

/* The brace that closes "${", with others like it inside; NULL: none. */
static const char *end_of_braces(const char *at)
{
    for (int open = 1; *at; at++) {
        open += *at == '{';
        open -= *at == '}';
        if (open == 0)
            return at;
    }
    return NULL;
}

static void fill_in(const struct reader *r, const char *text, struct sp_setting *setting);

/* OmegaConf's resolvers "mul" and "div", as NeMo-RL registers them: the product of numbers with
 * commas between, or a quotient rounded down; the numbers may be references themselves. False if it
 * is another resolver, or if one of the numbers is not known. A list longer than a value is left,
 * so that nested ones have a limit. */
static bool put_result(const struct reader *r, const char *name, const char *end, char *out,
                       size_t size)
{
    struct sp_setting numbers;
    const bool times = strncmp(name, "mul:", 4) == 0;
    const size_t n = (size_t)(end - name);
    char text[sizeof numbers.value], *stop;
    if ((!times && strncmp(name, "div:", 4) != 0) || n - 4 >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)n - 4, name + 4);
    memset(&numbers, 0, sizeof numbers);
    fill_in(r, text, &numbers);
    double result = strtod(numbers.value, &stop);
    const char *at = numbers.value;
    while (stop != at && stop[strspn(stop, " ")] == ',') {
        at = stop + strspn(stop, " ") + 1;
        const double next = strtod(at, &stop);
        if (!times && !(next > 0))
            return false;
        result = times ? result * next : floor(result / next);
    }
    if (numbers.gap[0] || numbers.cut || stop == at || stop[strspn(stop, " ")] != '\0')
        return false;
    snprintf(out, size, "%.15g", result);
    return true;
}

/* Replaces "${NAME:default}" by its value, or leaves it and names the gap. */
static void fill_in(const struct reader *r, const char *text, struct sp_setting *setting)
{
    size_t used = 0;
    setting->value[0] = '\0';
    while (*text && used + 1 < sizeof setting->value) {
        const bool braces = text[0] == '$' && text[1] == '{';
        const char *const name = text + 1 + braces;
        size_t n = 0;
        while (*text == '$' &&
               (isalnum((unsigned char)name[n]) || name[n] == '_' || (braces && name[n] == '.')))
            n++;
        const char *const end = braces ? end_of_braces(name) : name + n;
        if (n == 0 || !end) {
            setting->value[used++] = *text++;
            setting->value[used] = '\0';
            continue;
        }
        char result[32];
        const char *typed = sp_typed_value(r->names, name, n);
        if (!typed)
            typed = referred(r, name, n);
        if (!typed && braces && put_result(r, name, end, result, sizeof result))
            typed = result;
        const char *const otherwise = name + n + 1 + (name[n + 1] == '-');
        const bool defaulted = braces && name[n] == ':' && otherwise <= end &&
                               !memchr(name, '$', (size_t)(end - name));
        const int length = (int)((defaulted ? end : name + n) - (defaulted ? otherwise : name));
        if (typed)
            snprintf(setting->value + used, sizeof setting->value - used, "%s", typed);
        else
            snprintf(setting->value + used, sizeof setting->value - used, "%.*s", length,
                     defaulted ? otherwise : name);
        if (!typed && !defaulted && !setting->gap[0])
            snprintf(setting->gap, sizeof setting->gap, "%.*s", (int)n, name);
        used = strlen(setting->value);
        text = braces ? end + 1 : end;
    }
    setting->cut = *text != '\0';
}

/* A whole number of another base, as YAML 1.1 has them, in decimal: 0x400, 02000 and 0b10 are 1024,
 * 1024 and 2. */
static void make_decimal(char *value, size_t size)
{
    const char *const digits = value + (*value == '-' || *value == '+');
    const bool marked = digits[0] == '0' && digits[1] && strchr("xb", digits[1]);
    const int base = !marked ? 8 : digits[1] == 'x' ? 16 : 2;
    const char *const from = digits + (marked ? 2 : 1);
    char *end;
    if (digits[0] != '0' || !*from || strlen(from) > 12 || !isxdigit((unsigned char)*from))
        return;
    const long long number = strtoll(from, &end, base);
    if (*end == '\0')
        snprintf(value, size, "%s%lld", *value == '-' ? "-" : "", number);
}

static bool add_value(struct reader *r, const char *value, bool quoted, int line)
{
    struct sp_settings *const s = r->settings;
    const struct level *const level = &r->level[r->depth];
    struct sp_setting *const last = s->n > 0 ? &s->at[s->n - 1] : NULL;
    if (r->scripts && strpbrk(value, " \n"))
        fprintf(r->scripts, "%s\n", value);
    if (level->list && level->items > 0 && last && sp_is(last->name, r->path)) {
        const size_t used = strlen(last->value);
        const size_t room = sizeof last->value - used;
        const int n = snprintf(last->value + used, room, " %s", sp_yaml_word(value, quoted));
        last->cut = last->cut || (size_t)n >= room;
        return true;
    }
    if (!sp_add_setting(s, r->path, NULL))
        return false;
    struct sp_setting *const setting = &s->at[s->n - 1];
    setting->line = setting->gap_line = line;
    if (sp_length_of_blank(value) == strlen(value) && value[0]) {
        snprintf(setting->value, sizeof setting->value, "%s", value);
        snprintf(setting->gap, sizeof setting->gap, "%s", value);
        return true;
    }
    fill_in(r, value, setting);
    /* A name's value counts as if it were written there: Primus and OmegaConf fill in and then
     * resolve. */
    const char *const word = sp_yaml_word(setting->value, quoted);
    if (word != setting->value && !setting->gap[0])
        snprintf(setting->value, sizeof setting->value, "%s", word);
    if (!quoted && !setting->gap[0])
        make_decimal(setting->value, sizeof setting->value);
    return true;
}

/* The path of the entry under a name, or at an index of a list. */
static void enter(struct reader *r, const char *name)
{
    const size_t at = r->level[r->depth].path;
    snprintf(r->path + at, sizeof r->path - at, "%s%s", at > 0 ? "." : "", name);
}

static bool open_level(struct reader *r, bool list)
{
    char item[16];
    struct level *const above = &r->level[r->depth];
    if (r->depth == SP_JSON_MAX_DEPTH)
        return sp_fail(r->settings->error, SP_INPUT, "%s: nested deeper than %d",
                       sp_safe(r->settings->origin), SP_JSON_MAX_DEPTH);
    if (above->list) {
        snprintf(item, sizeof item, "%d", above->items);
        enter(r, item);
    }
    above->items++;
    above->named = false;
    r->level[++r->depth] = (struct level){.path = strlen(r->path), .list = list};
    return true;
}

static void close_level(struct reader *r)
{
    r->depth -= r->depth > 0;
    r->path[r->level[r->depth].path] = '\0';
}

/* Remembers an anchor; NULL: it has no name, or there is no room, so that its alias is refused. */
static struct anchor *add_anchor(struct reader *r, const yaml_char_t *name)
{
    if (!name || r->anchors == MOST_ANCHORS)
        return NULL;
    struct anchor *const a = &r->anchor[r->anchors++];
    *a = (struct anchor){.first = r->settings->n, .last = -1, .depth = r->depth};
    snprintf(a->name, sizeof a->name, "%s", (const char *)name);
    snprintf(a->path, sizeof a->path, "%s", r->path);
    return a;
}

/* Ends the anchors of the mapping or list that is over. */
static void end_anchors(struct reader *r)
{
    for (int i = 0; i < r->anchors; i++)
        if (r->anchor[i].last < 0 && r->anchor[i].depth == r->depth)
            r->anchor[i].last = r->settings->n;
}

static bool is_null(const yaml_event_t *event)
{
    const char *const value = (const char *)event->data.scalar.value;
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (value[0] == '\0' || sp_is(value, "~") || strcasecmp(value, "null") == 0 ||
            sp_is(value, "None"));
}

/* The end of the entry at this place. */
static void end_entry(struct reader *r)
{
    struct level *const level = &r->level[r->depth];
    level->items++;
    level->named = false;
    if (!level->list)
        r->path[level->path] = '\0';
}

static bool take_scalar(struct reader *r, const yaml_event_t *event)
{
    const char *const value = (const char *)event->data.scalar.value;
    const bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    struct level *const level = &r->level[r->depth];
    struct anchor *const anchor = add_anchor(r, event->data.scalar.anchor);
    if (anchor) {
        anchor->scalar = true;
        anchor->quoted = quoted;
        anchor->nothing = is_null(event);
        snprintf(anchor->value, sizeof anchor->value, "%s", value);
    }
    if (r->depth == 0)
        return true;
    if (!level->list && !level->named) {
        enter(r, value);
        level->named = true;
        return true;
    }
    const bool ok = is_null(event) || add_value(r, value, quoted, (int)event->start_mark.line + 1);
    end_entry(r);
    return ok;
}

/* Cuts "<<", the name under which a mapping takes the entries of others, from a path; false: it is
 * not there. */
static bool cut_merge(char *path)
{
    size_t n = strlen(path);
    while (n > 0 && isdigit((unsigned char)path[n - 1]))
        n--;
    n -= n > 0 && path[n] && path[n - 1] == '.'; /* "<<.0" of a list of mappings */
    const bool merges =
        n >= 2 && strncmp(path + n - 2, "<<", 2) == 0 && (n == 2 || path[n - 3] == '.');
    if (merges)
        path[n > 2 ? n - 3 : 0] = '\0';
    return merges;
}

/* The settings below an anchor, below this path too; in a merge those that it lacks. */
static bool copy_below(struct reader *r, const struct anchor *a)
{
    struct sp_settings *const s = r->settings;
    char path[sizeof r->path], name[2 * sizeof r->path];
    snprintf(path, sizeof path, "%s", r->path);
    const bool merges = cut_merge(path);
    for (int i = a->first; i < a->last; i++) {
        const char *rest = s->at[i].name + strlen(a->path);
        rest += path[0] == '\0' && *rest == '.';
        snprintf(name, sizeof name, "%s%s%s", path, a->path[0] == '\0' && path[0] ? "." : "", rest);
        s->at[i].read = true;
        if (!(merges && sp_has_setting(s, name)) && !sp_copy_setting(s, &s->at[i], name))
            return false;
    }
    return true;
}

/* "*NAME": what an anchor names, once more. */
static bool take_alias(struct reader *r, const yaml_event_t *event)
{
    const char *const name = (const char *)event->data.alias.anchor;
    const int line = (int)event->start_mark.line + 1;
    struct level *const level = &r->level[r->depth];
    char item[16];
    int i = r->anchors - 1;
    bool ok = true;
    while (i >= 0 && !sp_is(r->anchor[i].name, name))
        i--;
    const struct anchor *const a = i >= 0 ? &r->anchor[i] : NULL;
    if (!a || (!a->scalar && a->last < 0))
        return sp_fail(r->settings->error, SP_INPUT, "%s:%d: no anchor &%s before this",
                       sp_safe(r->settings->origin), line, sp_safe(name));
    if (a->scalar && !level->list && !level->named) { /* a key */
        enter(r, a->value);
        level->named = true;
        return true;
    }
    if (a->scalar) {
        ok = a->nothing || add_value(r, a->value, a->quoted, line);
    } else {
        const size_t before = strlen(r->path);
        snprintf(item, sizeof item, "%d", level->items);
        if (level->list)
            enter(r, item);
        ok = copy_below(r, a);
        r->path[before] = '\0';
    }
    end_entry(r);
    return ok;
}

/* Frameworks read one document of a file (yaml.safe_load refuses more); a manifest of a cluster has
 * several. */
static bool open_document(struct reader *r, const yaml_event_t *event)
{
    if (++r->documents == 1 || sp_has_setting(r->settings, "apiVersion"))
        return true;
    return sp_fail(r->settings->error, SP_INPUT,
                   "%s:%zu: a second document begins here, and a launch file has one",
                   sp_safe(r->settings->origin), event->start_mark.line + 1);
}

static bool take_event(struct reader *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return open_document(r, event);
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        if (!open_level(r, event->type == YAML_SEQUENCE_START_EVENT))
            return false;
        add_anchor(r, event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor
                                                               : event->data.mapping_start.anchor);
        return true;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        end_anchors(r);
        close_level(r);
        return true;
    case YAML_ALIAS_EVENT:
        return take_alias(r, event);
    case YAML_SCALAR_EVENT:
        return take_scalar(r, event);
    default:
        return true;
    }
}

static bool parse(struct reader *r, const char *text)
{
    yaml_parser_t parser;
    yaml_event_t event;
    bool ok = true;
    if (!yaml_parser_initialize(&parser))
        return sp_fail(r->settings->error, SP_INTERNAL, "out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    for (bool done = false; ok && !done;) {
        if (!yaml_parser_parse(&parser, &event)) {
            ok = sp_fail(r->settings->error, SP_INPUT, "%s:%zu:%zu: %s",
                         sp_safe(r->settings->origin), parser.problem_mark.line + 1,
                         parser.problem_mark.column + 1,
                         parser.problem ? parser.problem : "not YAML");
            break;
        }
        done = event.type == YAML_STREAM_END_EVENT;
        ok = take_event(r, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return ok;
}

bool sp_read_yaml(const char *text, const struct sp_typed_names *names,
                  struct sp_settings *settings, char **scripts)
{
    size_t size;
    struct reader *const r = sp_must(calloc(1, sizeof *r));
    r->settings = settings;
    r->names = names;
    r->scripts = scripts ? open_memstream(scripts, &size) : NULL;
    const bool ok = parse(r, text);
    if (r->scripts)
        fclose(r->scripts);
    free(r);
    return ok;
}

void sp_put_yaml(const struct sp_settings *s, FILE *out)
{
    const char *section = "";
    int n = 0; /* of the section's name */
    for (int i = 0; i < s->n; i++) {
        const char *const name = s->at[i].name, *const dot = strchr(name, '.');
        const int own = dot ? (int)(dot - name) : 0;
        if (own > 0 && (own != n || strncmp(name, section, (size_t)own) != 0))
            fprintf(out, "%.*s:\n", own, name);
        section = name;
        n = own;
        fprintf(out, "%s%s: %s\n", own > 0 ? "  " : "", dot ? dot + 1 : name, s->at[i].value);
    }
}

void sp_read_json(const char *text, const struct sp_typed_names *names,
                  struct sp_settings *settings)
{
    struct sp_error none = {0}, *const error = settings->error;
    char *const copy = sp_must(strdup(text));
    for (char *c = copy; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    settings->error = &none;
    sp_read_yaml(copy, names, settings, NULL);
    settings->error = error;
    free(copy);
}
