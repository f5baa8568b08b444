/* merge: joins the parts of a search or a sweep. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "config/world.h"
#include "base/json.h"
#include "base/memory.h"
#include "cli/searching.h"
#include "study/joined_rows.h"

extern const struct sp_command sp_cmd_search, sp_cmd_merge;

/* Parts of a sweep: rows of CSV or JSON lines. */

static const struct sp_taken options[] = {
    SP_TAKE(valid),
};

/* The options of the line; free() them. NULL with an error. */
static struct sp_args *parsed(int argc, char **argv, struct sp_world *world, struct sp_error *error)
{
    struct sp_args *const args = sp_new_args(world);
    if (sp_parse_command(&sp_cmd_merge, argc, argv, args, error))
        return args;
    free(args);
    return NULL;
}

/* Whether the first file that is not empty holds rows; a part of a sweep may have none. */
static bool names_rows(const struct sp_args *args, struct sp_world *world)
{
    struct sp_error ignored = {0};
    for (int i = 0; i < args->n_operands; i++) {
        size_t length;
        char *const text = sp_read_file(sp_pipes_of(world), args->operands[i], SP_MOST_PART_BYTES,
                                        &length, &ignored);
        const bool empty = text && length == 0, rows = text && sp_holds_rows(text);
        free(text);
        if (!empty)
            return rows;
    }
    return args->n_operands > 0 && args->given.valid; /* no row was valid */
}

/* Rows of a sweep, recognised by their first bytes. A file that cannot be read or parsed is left to
 * `run`, which reports the reason. */
static bool streams(int argc, char **argv, struct sp_world *world)
{
    struct sp_error ignored = {0};
    struct sp_args *const args = parsed(argc, argv, world, &ignored);
    const bool rows = args && !args->given.help && names_rows(args, world);
    free(args);
    return rows;
}

/* Rows are joined unchanged: options that shape an answer have no meaning. */
static bool check_options(const struct sp_args *args, struct sp_error *error)
{
    for (size_t i = 0; i < args->n_options; i++)
        if (args->given_at[args->options[i].id] && args->options[i].id != SP_O_valid)
            return sp_fail(error, SP_USAGE, "--%s does not apply to the rows of a sweep",
                           args->options[i].name);
    return true;
}

static void write_rows(const struct sp_joined_rows *j, FILE *out)
{
    if (j->header)
        fwrite(j->header, 1, j->header_length, out);
    for (size_t i = 0; i < j->n_rows && !ferror(out); i++)
        fwrite(j->rows[i].text, 1, j->rows[i].length, out);
}

static enum sp_exit stream(int argc, char **argv, struct sp_world *world,
                           const struct sp_output *to, struct sp_error *error)
{
    struct sp_joined_rows j = {0};
    struct sp_args *const args = parsed(argc, argv, world, error);
    if (args && check_options(args, error) &&
        sp_join_rows(sp_pipes_of(world), args->operands, args->n_operands, args->given.valid, &j,
                     error)) {
        write_rows(&j, to->out);
        if (j.n_failed == j.n_rows)
            sp_fail(error, SP_INPUT, "no row has an answer%s",
                    j.n_rows > 0 ? "; each has its reason" : "");
    }
    const enum sp_exit code = j.n_failed > 0 ? SP_NO : SP_OK; /* as the sweep as a whole */
    sp_free_joined_rows(&j);
    free(args);
    return code;
}

/* Parts of a search: its own words, its counts, and the place of its plans. */

struct merging {
    struct sp_searching s;
    struct sp_args args;
    struct sp_words words;
    char *arguments; /* of the first part */
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
        return sp_fail(error, SP_INPUT, "%s: not a part of a search: no number %s%s%s",
                       sp_safe(json->origin), group ? group : "", group ? "." : "", key);
    *value = at->valuedouble;
    return true;
}

/* A number of things, at most `most`: the largest number that a double counts exactly, or less. */
static bool get_count(const struct sp_json *json, const char *group, const char *key, double most,
                      uint64_t *count, struct sp_error *error)
{
    double value = 0;
    if (!get_number(json, group, key, &value, error))
        return false;
    if (value != floor(value) || value > most)
        return sp_fail(error, SP_INPUT, "%s: %s%s%s is %g, expected a whole number up to %g",
                       sp_safe(json->origin), group ? group : "", group ? "." : "", key, value,
                       most);
    *count = (uint64_t)value;
    return true;
}

/* The first part's words make the search; those of the others must be the same. */
static bool take_arguments(struct merging *m, const struct sp_json *json,
                           const struct sp_sources *sources, struct sp_report *report,
                           struct sp_error *error)
{
    const cJSON *const text = cJSON_GetObjectItemCaseSensitive(json->root, "arguments");
    if (!cJSON_IsString(text))
        return sp_fail(
            error, SP_INPUT,
            "%s: not a part of a search: no \"arguments\" (search --shard I/N --format json)",
            json->origin);
    if (m->parts++ > 0)
        return strcmp(m->arguments, text->valuestring) == 0 ||
               sp_fail(error, SP_INPUT, "%s: a part of another search", json->origin);
    m->arguments = sp_must(strdup(text->valuestring));
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
        return sp_fail(error, SP_INPUT, "%s: \"arguments\" is not a list of words", json->origin);
    m->args.world = sources->world;
    return sp_parse_command(&sp_cmd_search, m->words.n, m->words.word, &m->args, error) &&
           sp_open_search(&m->args, sources, report, &m->s, error);
}

static bool take_counts(struct merging *m, const struct sp_json *json, struct sp_error *error)
{
    if (m->s.of.machines == 0)
        return false;
    const double most = 9007199254740992; /* 2^53 */
    struct sp_search_counts counts = {0};
    uint64_t threads = 0;
    double elapsed = 0;
    struct sp_search_result *const r = &m->s.of.machine[0]->result;
    if (!get_count(json, NULL, "plans_total", most, &counts.total, error) ||
        !get_count(json, NULL, "plans_evaluated", most, &counts.evaluated, error) ||
        !get_count(json, "excluded", "memory", most, &counts.no_memory, error) ||
        !get_count(json, "excluded", "memory_bound", most, &counts.by_memory, error) ||
        !get_count(json, "excluded", "objective_bound", most, &counts.by_time, error))
        return false;
    m->s.timings = cJSON_HasObjectItem(json->root, "elapsed_s"); /* as the last part */
    if (m->s.timings && (!get_number(json, NULL, "elapsed_s", &elapsed, error) ||
                         !get_count(json, NULL, "threads", 1e6, &threads, error)))
        return false;
    sp_add_counts(&r->counts, &counts);
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
    if (!cJSON_IsString(text) || !sp_parse_part(text->valuestring, &part, &parts) || parts > 1000)
        return sp_fail(error, SP_INPUT, "%s: no \"shard\"", json->origin);
    if (m->parts > 1 && parts != m->s.of.run.shards)
        return sp_fail(error, SP_INPUT, "%s: one of %d parts; the others are of %d", json->origin,
                       parts, m->s.of.run.shards);
    if (m->seen[part])
        return sp_fail(error, SP_INPUT, "%s: part %d/%d is given twice", json->origin, part, parts);
    m->seen[part] = true;
    m->s.of.run.shards = parts;
    return true;
}

static bool take_plans(struct merging *m, const struct sp_json *json, struct sp_error *error)
{
    const cJSON *plan, *const plans = cJSON_GetObjectItemCaseSensitive(json->root, "plans");
    uint64_t listed = 0;
    if (!get_count(json, NULL, "plans_listed", 1e9, &listed, error))
        return false;
    /* A part without plans has no such key. */
    if ((plans && !cJSON_IsArray(plans)) || listed != (uint64_t)cJSON_GetArraySize(plans))
        return sp_fail(error, SP_INPUT, "%s: \"plans\" does not list the %llu plans",
                       sp_safe(json->origin), (unsigned long long)listed);
    cJSON_ArrayForEach(plan, plans)
    {
        const struct sp_json place = {.root = cJSON_GetObjectItemCaseSensitive(plan, "place"),
                                      .origin = json->origin};
        const double most = 9007199254740992; /* 2^53 */
        uint64_t machine = 0, group = 0, leaf = 0;
        struct sp_found found;
        if (!get_count(&place, NULL, "machine", most, &machine, error) ||
            !get_count(&place, NULL, "group", most, &group, error) ||
            !get_count(&place, NULL, "leaf", most, &leaf, error))
            return false;
        if (machine >= (uint64_t)m->s.of.machines ||
            !sp_plan_at(&m->s.of.machine[machine]->space, group, leaf, &found))
            return sp_fail(error, SP_INPUT, "%s: a plan is not in the search space",
                           sp_safe(json->origin));
        sp_keep(&m->s.of.machine[machine]->result.best, &found);
    }
    return true;
}

static bool take_file(struct merging *m, const char *name, const struct sp_sources *sources,
                      struct sp_report *report, struct sp_error *error)
{
    size_t length;
    struct sp_json json;
    char *const text =
        sp_read_file(sp_pipes_of(sources->world), name, SP_JSON_MAX_BYTES, &length, error);
    if (!text)
        return false;
    bool ok = sp_json_parse(text, length, name, &json, error);
    if (ok) {
        const bool first = m->parts == 0;
        ok = take_arguments(m, &json, sources, report, error);
        for (int i = 0; ok && first && i < m->s.of.machines; i++) {
            struct sp_search_result *const r = &m->s.of.machine[i]->result;
            r->best.wanted = m->s.of.run.wanted;
            r->best.meshes = m->s.of.run.meshes;
            r->best.grounded = m->s.of.grounded;
            r->best.front = m->s.of.run.front ? &r->front : NULL;
        }
        ok = ok && take_shard(m, &json, error) && take_counts(m, &json, error) &&
             take_plans(m, &json, error);
        sp_json_free(&json);
    }
    free(text);
    return ok;
}

/* Every plan was evaluated or ruled out, unless the search was interrupted. */
static bool check_counts(const struct merging *m, struct sp_error *error)
{
    const struct sp_search_result *const r = &m->s.of.machine[0]->result;
    const struct sp_search_counts *const of = &r->counts;
    const uint64_t seen = of->evaluated + of->no_memory + of->by_memory + of->by_time;
    return r->partial || seen == of->total ||
           sp_fail(error, SP_INPUT,
                   "the parts count %llu plans but account for %llu: a part was changed",
                   (unsigned long long)of->total, (unsigned long long)seen);
}

static bool join(struct merging *m, const struct sp_args *args, struct sp_report *report,
                 struct sp_error *error)
{
    const struct sp_sources sources = sp_sources_of(args);
    bool ok = true;
    for (int i = 0; i < args->n_operands && ok; i++)
        ok = take_file(m, args->operands[i], &sources, report, error);
    if (ok && m->parts != m->s.of.run.shards)
        ok =
            sp_fail(error, SP_INPUT, "only %d of %d parts are given", m->parts, m->s.of.run.shards);
    if (!ok || !check_counts(m, error))
        return false;
    m->s.of.run.shard = 0;
    m->s.of.run.shards = 1;
    for (int i = 0; i < m->s.of.machines; i++) {
        const struct sp_search_result *const r = &m->s.of.machine[i]->result;
        if (r->best.n == 0 && r->front.n == 0 && !r->partial)
            sp_look(&m->s, i); /* for plans that fit tightly, or none */
    }
    sp_finish_search(&m->s.of);
    sp_report_search(&m->s);
    return true;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    if (args->n_operands < 1)
        return sp_fail(error, SP_USAGE, "give files: scaleplan merge PART...");
    struct merging *const m = sp_must(calloc(1, sizeof *m));
    const bool ok = join(m, args, report, error);
    sp_close_search(&m->s.of);
    sp_free_words(&m->words);
    free(m->arguments);
    free(m);
    return ok;
}

static const struct sp_example examples[] = {
    {"merge part-1.json part-2.json", "the search from its two parts"},
    {"merge rows-*.csv", "the sweep from its parts"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_merge = {
    .name = "merge",
    .summary = "join the parts of a search or sweep split with --shard",
    .operands = "PART...",
    .about = SP_ABOUT_IN_SHELL(
        "Joins the files of `search --shard I/N --format json` or `sweep --shard I/N` into "
        "the output of an unsplit run: the same plans, front and counts, to the last bit, or "
        "the same rows and exit code. Missing rows are an error."),
    SP_OPTIONS(options),
    .examples = SP_EXAMPLES_IN_SHELL(examples),
    .run = SP_IN_SHELL(run),
    .streams = streams,
    .stream = SP_IN_SHELL(stream),
};
