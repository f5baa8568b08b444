/* merge: joins the parts of a search or a sweep. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../config/json.h"
#include "../config/text.h"
#include "search_report.h"

extern const struct sp_command sp_cmd_search;

/* Parts of a sweep: rows of CSV or JSON lines, each file in the order of its rows. */

enum { MAX_PARTS = 1000 };

struct part {
    FILE *file;
    const char *name;
    char *record; /* the next row; NULL at the end */
    size_t room;
    double row;
};

/* Reads one record: a line, and more of them while a quote is open. */
static bool read_record(struct part *p)
{
    size_t used = 0;
    bool quoted = false;
    for (int c; (c = getc(p->file)) != EOF;) {
        if (used + 2 > p->room) {
            p->room = p->room ? 2 * p->room : 1024;
            char *const larger = realloc(p->record, p->room);
            if (!larger)
                abort();
            p->record = larger;
        }
        p->record[used++] = (char)c;
        quoted = quoted != (c == '"' && p->record[0] != '{');
        if (c == '\n' && !quoted)
            break;
    }
    if (used == 0)
        return false;
    p->record[used] = '\0'; /* there is room: it grows two ahead */
    return true;
}

/* The number of a row: "17,..." or {"row":17,...}. */
static bool number_row(struct part *p, struct sp_error *error)
{
    unsigned long long row = 0;
    char end = '\0';
    const int found = p->record[0] == '{' ? sscanf(p->record, "{\"row\":%18llu%c", &row, &end)
                                          : sscanf(p->record, "%18llu%c", &row, &end);
    p->row = (double)row;
    return (found == 2 && (end == ',' || end == '}')) ||
           sp_fail(error, SP_INPUT, "%s: \"%s\" is no row of a sweep", sp_safe(p->name),
                   sp_safe(p->record));
}

static bool next_row(struct part *p, struct sp_error *error)
{
    if (read_record(p))
        return number_row(p, error);
    if (ferror(p->file))
        return sp_fail(error, SP_INPUT, "%s: %s", sp_safe(p->name), strerror(errno));
    free(p->record);
    p->record = NULL;
    return true;
}

/* Opens a part; `header` gets the CSV's header, which all parts must share. */
static bool open_part(struct part *p, const char *name, char **header, struct sp_error *error)
{
    *p = (struct part){.file = fopen(name, "r"), .name = name};
    if (!p->file)
        return sp_fail(error, SP_INPUT, "%s: %s", sp_safe(name), strerror(errno));
    if (!read_record(p))
        return ferror(p->file) ? sp_fail(error, SP_INPUT, "%s: %s", sp_safe(name), strerror(errno))
                               : true; /* a part may have no rows */
    if (p->record[0] == '{')
        return number_row(p, error);
    if (!*header)
        *header = strdup(p->record);
    if (!*header)
        abort();
    if (strcmp(*header, p->record) != 0)
        return sp_fail(error, SP_INPUT, "%s: its columns differ from those of the other parts",
                       sp_safe(name));
    return next_row(p, error);
}

static bool join_rows(struct part *parts, int n, FILE *out, struct sp_error *error)
{
    for (;;) {
        struct part *first = NULL;
        for (int i = 0; i < n; i++) {
            if (!parts[i].record)
                continue;
            if (first && parts[i].row == first->row)
                return sp_fail(error, SP_INPUT, "%s and %s both have row %.0f",
                               sp_safe(first->name), sp_safe(parts[i].name), first->row);
            if (!first || parts[i].row < first->row)
                first = &parts[i];
        }
        if (!first || ferror(out))
            return true;
        fputs(first->record, out);
        if (!next_row(first, error))
            return false;
    }
}

static enum sp_exit stream(int argc, char **argv, FILE *out, struct sp_error *error)
{
    static struct part parts[MAX_PARTS];
    char *header = NULL;
    int n = 0;
    bool ok = argc - 1 <= MAX_PARTS || sp_fail(error, SP_USAGE, "more than %d files", MAX_PARTS);
    for (int i = 1; i < argc && ok; i++)
        ok = open_part(&parts[n++], argv[i], &header, error);
    if (ok && header)
        fputs(header, out);
    if (ok)
        join_rows(parts, n, out, error);
    for (int i = 0; i < n; i++) {
        if (parts[i].file)
            fclose(parts[i].file);
        free(parts[i].record);
    }
    free(header);
    return SP_OK;
}

/* Rows of a sweep, as their first bytes say. */
static bool streams(int argc, char **argv)
{
    char start[8] = "";
    FILE *const file = argc > 1 && argv[1][0] != '-' ? fopen(argv[1], "r") : NULL;
    if (!file)
        return false;
    const size_t n = fread(start, 1, 7, file);
    fclose(file);
    return (n >= 4 && strncmp(start, "row,", 4) == 0) || strcmp(start, "{\"row\":") == 0;
}

/* Parts of a search: its own words, its counts, and where its plans stand. */

struct merging {
    struct sp_searching s;
    struct sp_args args;
    struct sp_words words;
    char arguments[4096]; /* of the first part */
    bool seen[1001];
    int parts;
};

static bool get_number(const struct sp_json *json, const char *group, const char *key,
                       double *value, struct sp_error *error)
{
    const cJSON *at = json->root;
    if (group)
        at = cJSON_GetObjectItemCaseSensitive(at, group);
    at = cJSON_GetObjectItemCaseSensitive(at, key);
    if (!cJSON_IsNumber(at) || !(at->valuedouble >= 0))
        return sp_fail(error, SP_INPUT, "%s: no number %s%s%s: not a part of a search",
                       json->origin, group ? group : "", group ? "." : "", key);
    *value = at->valuedouble;
    return true;
}

/* The first part's words make the search; the others' must be the same. */
static bool take_arguments(struct merging *m, const struct sp_json *json,
                           const struct sp_sources *sources, struct sp_report *report,
                           struct sp_error *error)
{
    const cJSON *const text = cJSON_GetObjectItemCaseSensitive(json->root, "arguments");
    if (!cJSON_IsString(text) || strlen(text->valuestring) >= sizeof m->arguments)
        return sp_fail(error, SP_INPUT,
                       "%s: not a part of a search: it has no \"arguments\" (search --shard I/N "
                       "--format json)",
                       json->origin);
    if (m->parts++ > 0)
        return strcmp(m->arguments, text->valuestring) == 0 ||
               sp_fail(error, SP_INPUT, "%s: a part of another search", json->origin);
    snprintf(m->arguments, sizeof m->arguments, "%s", text->valuestring);
    cJSON *const words = cJSON_Parse(text->valuestring);
    bool ok = cJSON_IsArray(words);
    const cJSON *word;
    cJSON_ArrayForEach(word, words)
    {
        ok = ok && cJSON_IsString(word);
        if (ok)
            sp_add_word(&m->words, "%s", word->valuestring);
    }
    cJSON_Delete(words);
    if (!ok || m->words.n == 0)
        return sp_fail(error, SP_INPUT, "%s: \"arguments\" is no list of words", json->origin);
    return sp_parse_command(&sp_cmd_search, m->words.n, m->words.word, &m->args, error) &&
           sp_open_search(&m->args, sources, report, &m->s, error);
}

static bool take_counts(struct merging *m, const struct sp_json *json, struct sp_error *error)
{
    if (m->s.machines == 0)
        return false;
    double total = 0, evaluated = 0, no_memory = 0, by_memory = 0, by_time = 0, elapsed = 0,
           threads = 0;
    struct sp_search_result *const r = &m->s.machine[0]->result;
    if (!get_number(json, NULL, "plans_total", &total, error) ||
        !get_number(json, NULL, "plans_evaluated", &evaluated, error) ||
        !get_number(json, "excluded", "memory", &no_memory, error) ||
        !get_number(json, "excluded", "memory_bound", &by_memory, error) ||
        !get_number(json, "excluded", "objective_bound", &by_time, error) ||
        !get_number(json, NULL, "elapsed_s", &elapsed, error) ||
        !get_number(json, NULL, "threads", &threads, error))
        return false;
    sp_add_counts(&r->counts, &(struct sp_search_counts){
                                  .total = (uint64_t)total,
                                  .evaluated = (uint64_t)evaluated,
                                  .no_memory = (uint64_t)no_memory,
                                  .by_memory = (uint64_t)by_memory,
                                  .by_time = (uint64_t)by_time,
                              });
    r->elapsed_s = fmax(r->elapsed_s, elapsed);
    r->threads += (int)threads;
    r->partial =
        r->partial || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json->root, "partial"));
    return true;
}

static bool take_shard(struct merging *m, const struct sp_json *json, struct sp_error *error)
{
    const cJSON *const text = cJSON_GetObjectItemCaseSensitive(json->root, "shard");
    int part = 0, parts = 0;
    if (!cJSON_IsString(text) || sscanf(text->valuestring, "%9d/%9d", &part, &parts) != 2 ||
        part < 1 || part > parts || parts > 1000)
        return sp_fail(error, SP_INPUT, "%s: no \"shard\"", json->origin);
    if (m->parts > 1 && parts != m->s.run.shards)
        return sp_fail(error, SP_INPUT, "%s: one of %d parts, the others of %d", json->origin,
                       parts, m->s.run.shards);
    if (m->seen[part])
        return sp_fail(error, SP_INPUT, "%s: part %d/%d is there twice", json->origin, part, parts);
    m->seen[part] = true;
    m->s.run.shards = parts;
    return true;
}

static bool take_plans(struct merging *m, const struct sp_json *json, struct sp_error *error)
{
    const cJSON *plan, *const plans = cJSON_GetObjectItemCaseSensitive(json->root, "plans");
    cJSON_ArrayForEach(plan, plans)
    {
        const struct sp_json place = {.root = cJSON_GetObjectItemCaseSensitive(plan, "place"),
                                      .origin = json->origin};
        double machine = 0, group = 0, leaf = 0;
        struct sp_found found;
        if (!get_number(&place, NULL, "machine", &machine, error) ||
            !get_number(&place, NULL, "group", &group, error) ||
            !get_number(&place, NULL, "leaf", &leaf, error))
            return false;
        if (machine >= m->s.machines || !sp_plan_at(&m->s.machine[(int)machine]->space,
                                                    (uint64_t)group, (uint64_t)leaf, &found))
            return sp_fail(error, SP_INPUT, "%s: a plan stands where there is none", json->origin);
        sp_keep(&m->s.machine[(int)machine]->result.best, &found);
    }
    return true;
}

static bool take_file(struct merging *m, const char *name, const struct sp_sources *sources,
                      struct sp_report *report, struct sp_error *error)
{
    size_t length;
    struct sp_json json;
    char *const text = sp_read_file(name, SP_JSON_MAX_BYTES, &length, error);
    if (!text)
        return false;
    bool ok = sp_json_parse(text, length, name, &json, error);
    if (ok) {
        const bool first = m->parts == 0;
        ok = take_arguments(m, &json, sources, report, error);
        for (int i = 0; ok && first && i < m->s.machines; i++) {
            struct sp_search_result *const r = &m->s.machine[i]->result;
            r->best.wanted = m->s.run.wanted;
            r->best.meshes = m->s.run.meshes;
            r->best.front = m->s.run.front ? &r->front : NULL;
        }
        ok = ok && take_shard(m, &json, error) && take_counts(m, &json, error) &&
             take_plans(m, &json, error);
        sp_json_free(&json);
    }
    free(text);
    return ok;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    static struct merging m;
    const struct sp_sources sources = sp_sources_of(args);
    m = (struct merging){.parts = 0};
    if (args->n_operands == 0)
        return sp_fail(error, SP_USAGE, "files are needed: scaleplan merge PART...");
    bool ok = true;
    for (int i = 0; i < args->n_operands && ok; i++)
        ok = take_file(&m, args->operands[i], &sources, report, error);
    if (ok && m.parts != m.s.run.shards)
        ok = sp_fail(error, SP_INPUT, "%d of %d parts are there", m.parts, m.s.run.shards);
    m.s.run.shard = 0;
    m.s.run.shards = 1;
    ok = ok && sp_report_search(&m.s, error);
    sp_close_search(&m.s);
    sp_free_words(&m.words);
    return ok;
}

static const struct sp_example examples[] = {
    {"scaleplan merge part-1.json part-2.json", "the whole search from its two parts"},
    {"scaleplan merge rows-*.csv", "the whole sweep from its parts"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_merge = {
    .name = "merge",
    .summary = "joins the parts of a search or sweep that was split with --shard",
    .operands = "PART...",
    .about = "Joins the files that `search --shard I/N --format json` or `sweep --shard I/N` wrote "
             "on several machines to what one machine would have printed: the same plans, front "
             "and counts (evaluated anew, to the last bit), or the same rows in the same order.",
    .examples = examples,
    .run = run,
    .streams = streams,
    .stream = stream,
};
