/* Printed formulas are true: every quantity of the command lines below is recomputed from its
 * formula and the report's values, and must equal the printed value. A command without a line here
 * fails. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/command.h"
#include "draws.h"
#include "formula.h"

enum { MAX_WORDS = 40, MAX_LENGTH = 600 };

/* Arguments of `scaleplan`, run in the root of the source; sorted by command. */
static const char *const lines[] = {
#include "command_lines.inc"
};

/* The names of the rows. */
#define SP_QUANTITIES_END(command)
#define Q(id, ...) #id,
#define Q_FORM Q
static const char *const ids[] = {
#include "answer/all_quantities.def"
};
#undef Q_FORM
#undef Q
#undef SP_QUANTITIES_END

/* Totals over all lines. */
static struct {
    int lines, numbers, formulas;
    bool seen[SP_QUANTITIES]; /* evaluated at least once */
} total;

static int split(char *line, char **words)
{
    int n = 0;
    for (char *word = strtok(line, " "); word && n < MAX_WORDS; word = strtok(NULL, " "))
        words[n++] = word;
    words[n] = NULL;
    return n;
}

/* Whether a row was marked before: most are those of the line before. By the address of its text;
 * rows with equal texts at other addresses are marked again. */
static bool is_marked(const struct sp_quantity_info *info)
{
    enum { PLACES = 1 << 14 };
    static struct {
        const char *meaning, *formula;
    } marked[PLACES];
    const size_t at = ((uintptr_t)info->meaning ^ (uintptr_t)info->formula >> 3) % PLACES;
    const bool known = marked[at].meaning == info->meaning && marked[at].formula == info->formula;
    marked[at].meaning = info->meaning;
    marked[at].formula = info->formula;
    return known;
}

/* Rows are identified by formula and meaning, because keys can be made at run time ("alpha.2"). */
static void mark_seen(const struct sp_quantity_info *info)
{
    if (is_marked(info))
        return;
    for (enum sp_quantity_id id = 0; id < SP_QUANTITIES; id++)
        if (strcmp(sp_quantity(id).meaning, info->meaning) == 0 &&
            strcmp(sp_quantity(id).formula, info->formula) == 0)
            total.seen[id] = true;
}

static char *rendered(const struct sp_report *report, const struct sp_render *how)
{
    static char *text; /* set when `out` is closed */
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    assert_non_null(out);
    sp_render(report, how, out);
    fclose(out);
    return text;
}

/* The value at a dotted path of a JSON document. */
static const cJSON *value_at(const cJSON *at, const char *path)
{
    while (at && *path) {
        char part[160];
        const size_t n = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(part))
                               : cJSON_GetObjectItemCaseSensitive(at, part);
        path += n + (path[n] == '.');
    }
    return at;
}

/* JSON, CSV and --get reproduce every number bit for bit. */
static int check_renderers(const char *line, const struct sp_report *report)
{
    int lies = 0;
    char *const json = rendered(report, &(struct sp_render){.format = SP_FORMAT_JSON});
    char *const csv = rendered(report, &(struct sp_render){.format = SP_FORMAT_CSV});
    cJSON *const document = cJSON_Parse(json);
    assert_non_null(document);
    /* the CSV's second row, cell by cell in the order of the report */
    const char *cell = strchr(csv, '\n') ? strchr(csv, '\n') + 1 : csv;
    for (size_t i = 0; i < sp_report_size(report); i++) {
        const struct sp_entry *const entry = sp_report_entry(report, i);
        const cJSON *const value = value_at(document, sp_path(entry));
        if (entry->kind == SP_VALUE_NUMBER) {
            const char *const bare = sp_exact_value(entry, SP_ROOM);
            const bool same =
                value && cJSON_IsNumber(value) && value->valuedouble == entry->number &&
                strtod(cell, NULL) == entry->number && strtod(bare, NULL) == entry->number;
            if (!same) {
                print_error("%s: %s is %.17g, but JSON, CSV or --get say otherwise\n", line,
                            sp_path(entry), entry->number);
                lies++;
            }
        } else if (entry->kind == SP_VALUE_TEXT &&
                   !(value && cJSON_IsString(value) &&
                     strcmp(value->valuestring, entry->text) == 0)) {
            print_error("%s: %s is another text in JSON\n", line, sp_path(entry));
            lies++;
        }
        for (bool quoted = false; *cell && (quoted || (*cell != ',' && *cell != '\n')); cell++)
            quoted = quoted != (*cell == '"');
        cell += *cell == ',';
    }
    cJSON_Delete(document);
    free(json);
    free(csv);
    return lies;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The number of paths that are put twice. */
static int count_twins(const char *line, const struct sp_report *report)
{
    const size_t n = sp_report_size(report);
    const char **const paths = calloc(n + 1, sizeof *paths);
    struct sp_text *const rooms = calloc(n + 1, sizeof *rooms);
    int twins = 0;
    assert_non_null(paths);
    assert_non_null(rooms);
    for (size_t i = 0; i < n; i++)
        paths[i] = sp_path_in(&rooms[i], sp_report_entry(report, i));
    qsort(paths, n, sizeof *paths, by_path);
    for (size_t i = 1; i < n; i++)
        if (strcmp(paths[i - 1], paths[i]) == 0) {
            print_error("%s: %s is put twice\n", line, paths[i]);
            twins++;
        }
    free(paths);
    free(rooms);
    return twins;
}

/* Checks every formula of a report; returns the number of wrong ones. */
static int check_report(const char *line, const struct sp_report *report)
{
    int lies = count_twins(line, report);
    for (size_t i = 0; i < sp_report_size(report); i++) {
        const struct sp_entry *entry = sp_report_entry(report, i);
        char wrong[128];
        if (entry->kind != SP_VALUE_NUMBER)
            continue;
        total.numbers++;
        if (!isfinite(entry->number)) {
            print_error("%s: %s is %g\n", line, sp_path(entry), entry->number);
            lies++;
        }
        if (!entry->info->formula || !*entry->info->formula)
            continue;
        const double value = sp_formula_value(report, entry, wrong, sizeof wrong);
        total.formulas++;
        mark_seen(entry->info);
        if (!*wrong && sp_test_is_close(value, entry->number, 1e-12))
            continue;
        print_error("%s: %s is %.17g, but %s is %.17g%s%s\n", line, sp_path(entry), entry->number,
                    entry->info->formula, value, *wrong ? ": " : "", wrong);
        lies++;
    }
    return lies;
}

/* Runs one command line in this process and checks its report. */
static int check_line(const char *line)
{
    static struct sp_args args;
    char copy[MAX_LENGTH];
    char *words[MAX_WORDS + 1];
    snprintf(copy, sizeof copy, "%s", line);
    const int n = split(copy, words);
    struct sp_error error = {0};
    const struct sp_command *command = sp_find_command(words[0], &error);
    if (command && command->streams && command->streams(n, words, NULL))
        return 0; /* rows of other commands; tests/cli/sweep.test has them */
    struct sp_report *report = command ? sp_report_new(command->name) : NULL;
    int lies = 1;
    if (command && sp_run_command(command, n, words, &args, report, &error))
        lies =
            check_report(line, report) + (total.lines % 4 == 0 ? check_renderers(line, report) : 0);
    else
        print_error("%s: %s\n", line, error.text);
    sp_report_free(report);
    total.lines++;
    return lies;
}

static bool is_of(const char *line, const char *command)
{
    const size_t n = strlen(command);
    return strncmp(line, command, n) == 0 && (line[n] == ' ' || line[n] == '\0');
}

static void listed_lines(void **state)
{
    (void)state;
    int lies = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        lies += check_line(lines[i]);
    assert_int_equal(lies, 0);
}

static void every_command_is_listed(void **state)
{
    (void)state;
    for (size_t c = 0; c < sp_n_commands; c++) {
        bool listed = false;
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
            listed = listed || is_of(lines[i], sp_commands[c]->name);
        if (!listed)
            fail_msg("`%s` has no line in command_lines.inc", sp_commands[c]->name);
    }
}

/* Command lines in --help are checked up to the first pipe. */
static void examples(void **state)
{
    (void)state;
    int lies = 0, n = 0;
    for (size_t c = 0; c < sp_n_commands; c++) {
        if (!sp_commands[c]->examples || !sp_commands[c]->examples->line)
            fail_msg("`%s --help` shows no example", sp_commands[c]->name);
        for (const struct sp_example *e = sp_commands[c]->examples; e && e->line; e++) {
            char line[MAX_LENGTH];
            assert_int_not_equal(strncmp(e->line, "scaleplan ", 10), 0);
            snprintf(line, sizeof line, "%s", e->line);
            line[strcspn(line, "|&;<>")] = '\0';
            if (strpbrk(line, "'\"$") || strstr(line, ".json") || strstr(line, ".csv") ||
                strstr(line, ".sh"))
                continue; /* needs a shell or a file of the reader's */
            lies += check_line(line);
            n++;
        }
    }
    assert_true(n > 0);
    assert_int_equal(lies, 0);
}

/* fit: models x machines x options. */
static void fit_grid(void **state)
{
    (void)state;
    static const char *const models[] = {
        "--model llama2-13b",   "--model llama3-70b",  "--model llama3-405b", "--model gpt2",
        "--model mixtral-8x7b", "--model deepseek-v3", "--model resnet50",    "--params 25M",
        "--model qwen3-8b",     "--model gpt3-175b"};
    static const char *const machines[] = {
        "v5p",     "v5p-4096", "v5p-8960", "v5p-8960x4", "v5p:2x4x4", "v5p-4x2",    "v4-64",
        "v5e-256", "v5e-128",  "v5e-4",    "v6e-256x2",  "v3-64",     "h100",       "h100-8",
        "h100-4",  "h100-512", "a100-16",  "gb200-72",   "gb200-576", "b200-16384", "v100-64"};
    static const char *const options[] = {
        "",
        "--overlap none",
        "--batch 64Mi --precision mixed16 --remat full",
        "--batch 1 --overlap none",
        "--batch 3x17 --remat none --mfu 1",
        "--axes 1 --constants textbook",
        "--axes 2 --overlap none --mfu 0.0001 --remat dots",
        "--axes 1 --overlap none",
        "--batch 1e15 --seq 131072 --precision fp8 --remat selective"};
    int lies = 0, at = 0;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (size_t h = 0; h < sizeof machines / sizeof *machines; h++)
            for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
                char line[MAX_LENGTH];
                const bool has_length = strstr(options[o], "3x17") || strstr(options[o], "--seq");
                if (at++ % (one_in() < 10 ? one_in() : 10) != 0 || /* fewer miss some formulas */
                    (strstr(models[m], "resnet50") && has_length))
                    continue; /* an image has no length */
                snprintf(line, sizeof line, "fit %s --hw %s %s", models[m], machines[h],
                         options[o]);
                lies += check_line(line);
                if (lies > 2000)
                    fail_msg("more than 2000 formulas lie");
            }
    assert_int_equal(lies, 0);
}

/* show: every config there is. */
static void show_all(void **state)
{
    (void)state;
    int lies = 0;
    for (size_t i = 0; i < sp_n_builtins; i++) {
        char line[MAX_LENGTH];
        snprintf(line, sizeof line, "show %s --kind %s", sp_builtins[i].name,
                 sp_config_kinds[sp_builtins[i].kind].name);
        lies += check_line(line);
    }
    assert_int_equal(lies, 0);
}

/* A formula that no line reaches would not be tested. Runs last. */
static void every_formula_is_reached(void **state)
{
    (void)state;
    int missed = 0;
    for (enum sp_quantity_id id = 0; id < SP_QUANTITIES; id++) {
        if (!*sp_quantity(id).formula || total.seen[id])
            continue;
        print_error("no line reaches %s = %s\n", sp_quantity(id).key, sp_quantity(id).formula);
        missed++;
    }
    printf("%d command lines, %d numbers, %d with a formula\n", total.lines, total.numbers,
           total.formulas);
    assert_int_equal(missed, 0);
}

/* Whether a row is an input whose source names an option, a file or the mesh. */
static bool is_input(const struct sp_quantity_info *q)
{
    static const char *const inputs[] = {"option", "file", "mesh"};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (strstr(q->source, inputs[i]))
            return true;
    return q->unit == SP_WORDS;
}

/* Every number of `step`, `comm`, `fit` and `memory` has a formula, or a meaning of the form "what:
 * how it is computed". */
static void every_number_is_explained(void **state)
{
    static const char *const commands[] = {"STEP_", "COMM_", "FIT_", "MEMORY_"};
    int formulas = 0, sentences = 0, bare = 0;
    (void)state;
    for (enum sp_quantity_id id = 0; id < SP_QUANTITIES; id++) {
        const struct sp_quantity_info q = sp_quantity(id);
        bool ours = false;
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
            ours = ours || strncasecmp(ids[id], commands[i], strlen(commands[i])) == 0;
        if (!ours || is_input(&q))
            continue;
        formulas += q.formula[0] != '\0';
        sentences += !q.formula[0] && strstr(q.meaning, ": ");
        if (!q.formula[0] && !strstr(q.meaning, ": ")) {
            print_error("%s (%s): neither formula nor how it is computed\n", ids[id], q.key);
            bare++;
        }
    }
    printf("%d formulas, %d sentences\n", formulas, sentences);
    assert_int_equal(bare, 0);
    assert_true(formulas > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_is_listed),
        cmocka_unit_test(listed_lines),
        cmocka_unit_test(examples),
        cmocka_unit_test(fit_grid),
        cmocka_unit_test(show_all),
        cmocka_unit_test(every_formula_is_reached),
        cmocka_unit_test(every_number_is_explained),
    };
    return cmocka_run_group_tests_name("formulas", tests, NULL, NULL);
}
