/* All renderers print the same values, which read back. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "answer/report_internal.h"
#include "cli/command.h"
#include "base/json.h"

/* What sp_render writes; free() it. */
/* noinline: gcc otherwise warns that the stream's pointer dangles */
__attribute__((noinline)) static char *rendered(const struct sp_report *report,
                                                const struct sp_render *how)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    sp_render(report, how, out);
    fclose(out);
    return text;
}

static struct sp_report *run(int argc, char **argv)
{
    static struct sp_args args;
    struct sp_error error = {0};
    const struct sp_command *command = sp_find_command(argv[0], &error);
    struct sp_report *report = sp_report_new(command->name);
    if (!sp_run_command(command, argc, argv, &args, report, &error))
        fail_msg("%s", error.text);
    return report;
}

static struct sp_report *fit_report(void)
{
    char *argv[] = {"fit", "--model", "llama2-13b", "--hw", "v5p-4096", "--batch", "3M", NULL};
    return run(7, argv);
}

static const cJSON *at(const cJSON *node, const char *path)
{
    while (node && *path) {
        char name[80];
        const size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        node = cJSON_IsArray(node) ? cJSON_GetArrayItem(node, atoi(name))
                                   : cJSON_GetObjectItemCaseSensitive(node, name);
        path += n + (path[n] == '.');
    }
    return node;
}

/* One line of a CSV with one record: cuts the next cell off, unquoted. */
static char *next_cell(char **line)
{
    char *cell = *line, *to = cell, *from = cell;
    const bool quoted = *from == '"';
    for (from += quoted; *from; from++) {
        if (quoted && *from == '"' && from[1] != '"') {
            from++;
            break;
        }
        if (!quoted && (*from == ',' || *from == '\n'))
            break;
        from += quoted && *from == '"';
        *to++ = *from;
    }
    *line = from + (*from != '\0');
    *to = '\0';
    return cell;
}

/* JSON, CSV and --get give the value of every entry, to the last bit. */
static void formats_agree(void **state)
{
    (void)state;
    struct sp_report *report = fit_report();
    char *json = rendered(report, &(struct sp_render){.format = SP_FORMAT_JSON});
    char *csv = rendered(report, &(struct sp_render){.format = SP_FORMAT_CSV});
    cJSON *root = cJSON_Parse(json);
    assert_non_null(root);
    char *keys = csv, *values = strchr(csv, '\n') + 1;
    for (size_t i = 0; i < sp_report_size(report); i++) {
        const struct sp_entry *entry = sp_report_entry(report, i);
        const cJSON *node = at(root, sp_path(entry));
        char *got = rendered(report, &(struct sp_render){.get = sp_path(entry)});
        got[strcspn(got, "\n")] = '\0';
        if (!node)
            fail_msg("%s is not in the JSON", sp_path(entry));
        assert_string_equal(next_cell(&keys), sp_path(entry));
        const char *const cell = next_cell(&values);
        switch (entry->kind) {
        case SP_VALUE_NUMBER:
            assert_true(cJSON_IsNumber(node) && node->valuedouble == entry->number);
            assert_true(strtod(got, NULL) == entry->number && strtod(cell, NULL) == entry->number);
            break;
        case SP_VALUE_BOOL:
            assert_true(cJSON_IsBool(node) && cJSON_IsTrue(node) == (entry->number != 0));
            assert_string_equal(got, entry->number != 0 ? "true" : "false");
            assert_string_equal(cell, got);
            break;
        case SP_VALUE_TEXT:
            assert_string_equal(cJSON_GetStringValue(node), entry->text);
            assert_string_equal(got, entry->text);
            assert_string_equal(cell, entry->text);
            break;
        default:
            assert_true(cJSON_IsNull(node));
            assert_string_equal(got, "null");
            assert_string_equal(cell, "");
        }
        free(got);
    }
    assert_string_equal(values, "");
    cJSON_Delete(root);
    free(json);
    free(csv);
    sp_report_free(report);
}

/* Keys that scripts rely on, including those of impossible strategies. */
static void keys_of_fit(void **state)
{
    (void)state;
    static const char *const top[] = {"devices",
                                      "shape",
                                      "batch_tokens",
                                      "tokens_per_device",
                                      "best.strategy",
                                      "best.dp",
                                      "best.fsdp",
                                      "best.tp",
                                      "best.pp",
                                      "best.fits",
                                      "best.compute_bound",
                                      "best.comms_over_math",
                                      "best.step_s",
                                      "best.mfu",
                                      "best.step_at_mfu_s",
                                      "strategies.tp.max_degree",
                                      "strategies.fsdp_tp.x_opt",
                                      "strategies.fsdp_tp.fsdp",
                                      "strategies.fsdp_tp.tp",
                                      "strategies.fsdp_tp.comms_over_math"};
    static const char *const each[] = {
        "fits",     "compute_bound", "device_bytes", "critical_tokens_per_device",
        "t_math_s", "t_comms_s",     "step_s",       "reason"};
    static const char *const names[] = {"dp", "fsdp", "tp", "fsdp_tp", "pp_fsdp", "hsdp"};
    struct sp_report *report = fit_report();
    for (size_t i = 0; i < sizeof top / sizeof *top; i++)
        if (!sp_find(report, top[i]))
            fail_msg("%s is missing", top[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
            char path[96];
            snprintf(path, sizeof path, "strategies.%s.%s", names[i], each[k]);
            if (!sp_find(report, path))
                fail_msg("%s is missing", path);
        }
    assert_int_equal(sp_find(report, "strategies.hsdp.fits")->kind, SP_VALUE_NONE);
    sp_report_free(report);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Random doubles in a report read back from JSON and --get with the same bits. */
static void random_doubles(void **state)
{
    (void)state;
    uint64_t seed = 99;
    struct sp_report *report = sp_report_new("test");
    static double values[3000];
    enum { N = sizeof values / sizeof *values };
    for (int i = 0; i < N; i++) {
        const uint64_t bits = next_random(&seed);
        char key[32];
        memcpy(&values[i], &bits, sizeof bits);
        snprintf(key, sizeof key, "values.%d", i);
        sp_put_described(report, key, key, SP_NUMBER, "", "", values[i], NULL);
    }
    char *json = rendered(report, &(struct sp_render){.format = SP_FORMAT_JSON});
    cJSON *root = cJSON_Parse(json);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "values"), *item;
    int i = 0;
    assert_int_equal(cJSON_GetArraySize(list), N);
    cJSON_ArrayForEach(item, list)
    {
        if (isfinite(values[i]))
            assert_true(cJSON_IsNumber(item) && item->valuedouble == values[i]);
        else
            assert_true(cJSON_IsNull(item));
        i++;
    }
    cJSON_Delete(root);
    free(json);
    sp_report_free(report);
}

/* Quotes are doubled, and text that a spreadsheet would run gets an apostrophe; negative numbers
 * stay unchanged. */
static void csv_guards(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cell;
    } rows[] = {{"plain", "plain"},
                {"a,b", "\"a,b\""},
                {"say \"x\"", "\"say \"\"x\"\"\""},
                {"=1+2", "\"'=1+2\""},
                {"+1", "\"'+1\""},
                {"-cmd", "\"'-cmd\""},
                {"@sum", "\"'@sum\""},
                {"\ttab", "?tab"},
                {"two\nlines", "two lines"},
                {"", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sp_report *report = sp_report_new("test");
        char expected[80];
        sp_put_described(report, "key", "key", SP_WORDS, "", "", 0, rows[i].text);
        sp_put_described(report, "number", "number", SP_NUMBER, "", "", -5, NULL);
        char *csv = rendered(report, &(struct sp_render){.format = SP_FORMAT_CSV});
        snprintf(expected, sizeof expected, "key,number\n%s,-5\n", rows[i].cell);
        assert_string_equal(csv, expected);
        free(csv);
        sp_report_free(report);
    }
}

/* --get of a group prints all of it; an unknown key is an error that names it. */
static void get_keys(void **state)
{
    (void)state;
    struct sp_report *report = fit_report();
    struct sp_render how = {.get = "best.tp,best.fsdp,chips"};
    char *got = rendered(report, &how);
    assert_string_equal(got, "4\n1024\n4096\n");
    free(got);
    static const char *const wrong[] = {"best.tpp", "bes",          "",      "chips,",
                                        ",chips",   "chips,,shape", "best.", "chips chips"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sp_error error = {0};
        if (sp_full_keys(report, wrong[i], &error) || error.lines == 0)
            fail_msg("--get \"%s\" was accepted", wrong[i]);
    }
    how = (struct sp_render){.format = SP_FORMAT_JSON, .get = "best"};
    got = rendered(report, &how);
    cJSON *root = cJSON_Parse(got);
    assert_int_equal(cJSON_GetArraySize(root), 1);
    assert_true(cJSON_IsNumber(at(root, "best.tp")));
    cJSON_Delete(root);
    free(got);
    sp_report_free(report);
}

/* The explanation shows the formula, the numbers put in, and the source. */
static void explanation(void **state)
{
    (void)state;
    struct sp_report *report = fit_report();
    char *text = rendered(
        report, &(struct sp_render){.explain = true,
                                    .explain_key = "strategies.fsdp.critical_tokens_per_device"});
    assert_non_null(strstr(text, "r * C / W"));
    assert_non_null(strstr(text, "1 * 459000000000000 / 540000000000"));
    assert_non_null(strstr(text, "scaling book"));
    free(text);
    sp_report_free(report);
}

/* A key of the previous version answers like the new one, and belongs to no other quantity of its
 * command. */
static void old_keys(void **state)
{
    (void)state;
    size_t old = 0;
    for (size_t i = 0; i < sp_n_commands; i++) {
        enum sp_quantity_id first;
        const enum sp_quantity_id end = sp_quantities_of(sp_commands[i]->name, &first);
        for (enum sp_quantity_id id = first; id < end; id++) {
            const char *const key = sp_quantity(id).old_key;
            old += key != NULL;
            for (enum sp_quantity_id other = first; key && other < end; other++)
                assert_string_not_equal(key, sp_quantity(other).key);
        }
    }
    assert_true(old > 30);
    struct sp_report *const report = fit_report();
    static const char *const both[][2] = {
        {"chips", "devices"},
        {"strategies.tp.memory_bytes", "strategies.tp.device_bytes"},
        {"compute_dtype", "dtype"}};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        const struct sp_entry *const a = sp_find(report, both[i][0]), *const b = sp_find(
                                                                          report, both[i][1]);
        assert_non_null(a);
        assert_non_null(b);
        assert_string_equal(sp_exact_value(a, SP_ROOM), sp_exact_value(b, SP_ROOM));
        assert_true(a->is_old && !b->is_old);
    }
    char *const all = rendered(report, &(struct sp_render){.explain = true});
    assert_non_null(strstr(all, "\ndevices = "));
    assert_null(strstr(all, "\nchips = "));
    free(all);
    sp_report_free(report);
}

/* Three significant digits for people, with the right prefix at its edges. */
static void human(void **state)
{
    (void)state;
    static const struct {
        double value;
        enum sp_unit unit;
        const char *text;
    } rows[] = {
        {103079215104., SP_BYTES, "103 GB"},
        {999.4, SP_BYTES, "999 bytes"},
        {1, SP_BYTES, "1 byte"},
        {85899345920., SP_CAPACITY, "85.9 GB (80 GiB)"},
        {141e9, SP_CAPACITY, "141 GB"},
        {0.571e-9, SP_SECONDS, "0.571 ns"},
        {1.57e-5, SP_FRACTION, "< 0.01 %"},
        {999.6, SP_BYTES, "1.00 kB"},
        {0.3115, SP_SECONDS, "312 ms"},
        {0.9999, SP_SECONDS, "1000 ms"},
        {59.99, SP_SECONDS, "60.0 s"},
        {13015864320., SP_PARAMETERS, "13.0 B"},
        {4096, SP_COUNT, "4096"},
        {732.421875, SP_TOKENS, "732"},
        {0.4, SP_FRACTION, "40 %"},
        {NAN, SP_BYTES, "-"},
        {INFINITY, SP_TOKENS, "never"},
        {0, SP_SECONDS, "0 s"},
        {0.738, SP_NUMBER, "0.738"},
        {1.3056, SP_NUMBER, "1.31"},
        {1, SP_VERDICT, "yes"},
        {44.7, SP_DAYS, "44.7 days"},
        {0.25, SP_DAYS, "0.250 days"},
        {4.08e-5, SP_DAYS, "3.53 s"}, /* of 86,400 s */
        {0.05, SP_DAYS, "72.0 min"},
        {0, SP_DAYS, "0 s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        sp_human(rows[i].value, rows[i].unit, text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
}

/* Both ends of a range take the unit of the longer one: 459 s are 7.65 min. A lead of 100 % or more
 * is a factor: 303.9 % more is 4.04 times. */
static void ranges_and_leads(void **state)
{
    (void)state;
    assert_string_equal(sp_human_range(459, 834, SP_SECONDS), "7.65 min to 13.9 min");
    assert_string_equal(sp_human_range(49.3, 89.8, SP_SECONDS), "49.3 s to 89.8 s");
    assert_string_equal(sp_human_range(0.00095, 0.0012, SP_SECONDS), "0.950 ms to 1.20 ms");
    assert_string_equal(sp_human_range(0, 3, SP_SECONDS), "0 s to 3.00 s");
    assert_string_equal(sp_human_range(2e9, 4e9, SP_BYTES_PER_S), "2.00 GB/s to 4.00 GB/s");
    assert_string_equal(sp_human_lead(0.929), "0.929 %");
    assert_string_equal(sp_human_lead(99.9), "99.9 %");
    assert_string_equal(sp_human_lead(303.9), "4.04 times");
}

/* In a line of text, too. */
static void ranges_in_lines(void **state)
{
    (void)state;
    struct sp_report *const r = sp_report_new("rl");
    struct sp_spans spans;
    sp_scope(r, "");
    sp_put_described(r, "low", "", SP_SECONDS, "", "", 459, NULL);
    sp_put_described(r, "high", "", SP_SECONDS, "", "", 834, NULL);
    char *const line = sp_fill_line(r, "from {low} to {high}, {low} at least", &spans);
    assert_string_equal(line, "from 7.65 min to 13.9 min, 459 s at least");
    assert_int_equal(spans.n, 3);
    free(line);
    sp_report_free(r);
}

/* Each of 5000 keys is found while the table grows; of equal keys the first counts. */
static void many_keys(void **state)
{
    (void)state;
    struct sp_report *const r = sp_report_new("fit");
    char key[32];
    sp_scope(r, "");
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "k.%d", i);
        assert_null(sp_find(r, key));
        sp_put_described(r, key, "", SP_NUMBER, "", "", i, NULL);
    }
    sp_put_described(r, "k.7", "", SP_NUMBER, "", "", -1, NULL);
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "k.%d", i);
        const struct sp_entry *const entry = sp_find(r, key);
        assert_non_null(entry);
        assert_close(entry->number, i, 0);
    }
    assert_null(sp_find(r, "k.5000"));
    assert_null(sp_find(r, ""));
    sp_report_free(r);
}

/* A text of 6,000 letters stays whole in a line and in a cell, for people and for pages. */
static void long_texts(void **state)
{
    (void)state;
    char word[6001], doubled[6100];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    snprintf(doubled, sizeof doubled, "reason %s.", word);
    struct sp_report *const report = sp_report_new("serve");
    sp_begin_row(report, "", "machines.0");
    sp_put_text(report, SP_Q_SERVE_M_WHY, "%s", word);
    sp_list_table(report, "machines", "reason: why");
    sp_line(report, "reason {machines.0.reason}.");
    char *const text = rendered(report, &(struct sp_render){.format = SP_FORMAT_TEXT});
    char *const layout = rendered(report, &(struct sp_render){.format = SP_FORMAT_LAYOUT});
    assert_non_null(strstr(text, doubled));
    const char *const cell = strstr(text, word);
    assert_true(cell && cell < strstr(text, doubled));
    int whole = 0;
    for (const char *found = layout; (found = strstr(found, word)) != NULL; found += 6000)
        whole++;
    assert_true(whole >= 3); /* the cell, the line, the list of quantities */
    free(text);
    free(layout);
    sp_report_free(report);
}

/* A list with so many rows that it is printed row by row, from key FIRST on, is printed where and
 * as cJSON prints the whole: read and printed again, it has the same bytes. */
static void check_long_list(int rows, int first, const char *get)
{
    struct sp_report *const report = sp_report_new("validate");
    sp_scope(report, "before");
    sp_put_described(report, "a", "", SP_NUMBER, "", "", 1, NULL);
    for (int i = 0; i < rows; i++) {
        sp_begin_row(report, "", "runs.%d", i + first);
        sp_put_described(report, "id", "", SP_WORDS, "", "", NAN, i % 3 ? "a \"b\"" : "c");
        sp_put_described(report, "time.step_s", "", SP_NUMBER, "", "", i, NULL);
        sp_put_described(report, "time.low_s", "", SP_NUMBER, "", "", NAN, NULL);
    }
    sp_scope(report, "");
    sp_put_described(report, "before.b", "", SP_NUMBER, "", "", 2, NULL);
    sp_put_described(report, "n", "", SP_NUMBER, "", "", rows, NULL);
    char *const text = rendered(report, &(struct sp_render){.format = SP_FORMAT_JSON, .get = get});
    cJSON *const root = cJSON_Parse(text);
    assert_non_null(root);
    char *const again = cJSON_Print(root);
    assert_int_equal(strlen(text), strlen(again) + 1);
    assert_memory_equal(text, again, strlen(again));
    const cJSON *const list = cJSON_GetObjectItemCaseSensitive(root, "runs");
    assert_int_equal(cJSON_GetArraySize(list), rows);
    int i = 0;
    for (const cJSON *row = list->child; row; row = row->next, i++)
        assert_true(at(row, "time.step_s")->valuedouble == i);
    assert_true(get || at(root, "before.b")->valuedouble == 2);
    cJSON_Delete(root);
    free(again);
    free(text);
    sp_report_free(report);
}

static void long_lists(void **state)
{
    (void)state;
    check_long_list(999, 0, NULL);
    check_long_list(1000, 0, NULL);
    check_long_list(3001, 0, NULL);
    check_long_list(3001, 0, "runs");
    check_long_list(3001, 7, NULL); /* no array */
}

/* Bytes in use; 0 if they are not counted. */
static double held(void)
{
#ifdef __GLIBC__
    const struct mallinfo2 all = mallinfo2();
    return (double)(all.uordblks + all.hblkhd);
#else
    return 0;
#endif
}

/* A row of a list of 12 numbers and 2 texts, as one of a file of runs: for each 32 bytes, and for
 * the row two pointers, in arrays at most half empty; its scope, which they share, and a text,
 * which the two share, of at most 16 bytes each. No path, and no index before something is looked
 * for. */
static void bytes_of_a_row(void **state)
{
    (void)state;
    enum { ROWS = 10000, COLUMNS = 14 };
    const double before = held();
    enum sp_quantity_id first;
    struct sp_report *const report = sp_report_new("validate");
    assert_true(sp_quantities_of("validate", &first) >= first + COLUMNS);
    for (int i = 0; i < ROWS; i++) {
        sp_begin_row(report, "", "runs.%d", i);
        for (int k = 0; k < COLUMNS; k++)
            if (k < 2)
                sp_put_text(report, (enum sp_quantity_id)((int)first + k), "run %d", i);
            else
                sp_put(report, (enum sp_quantity_id)((int)first + k), i * COLUMNS + k);
    }
    const double each = (held() - before) / ROWS;
    print_message("%.0f bytes a row\n", each);
    assert_true(each < 2 * 32 * COLUMNS + 2 * 16 + 3 * 16);
    sp_report_free(report);
    assert_true(held() - before < 1e5);
}

/* A line of a broken paragraph holds as many words as fit, and no more; all but the first are
 * indented by two columns. */
static void broken_lines(void **state)
{
    (void)state;
    srand(61);
    for (int i = 0; i < 200; i++) {
        const size_t width = 40 + (size_t)(rand() % 40);
        char words[1024] = "", again[1024] = "", *lines;
        size_t size, at = 0;
        for (int word = 0; word < 60; word++) {
            at += word > 0 ? (size_t)snprintf(words + at, 2, " ") : 0;
            for (int n = 1 + rand() % 12; n > 0; n--)
                words[at++] = (char)('a' + rand() % 26);
        }
        FILE *const out = open_memstream(&lines, &size);
        assert_non_null(out);
        sp_print_paragraph(words, (int)width, out);
        fclose(out);
        at = 0;
        for (char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            const char *const next = end[1] ? end + 3 : end + 1;
            const size_t indent = line == lines ? 0 : 2, length = (size_t)(end - line);
            assert_int_equal(strspn(line, " "), indent);
            assert_true(length <= width);
            assert_true(!*next || length + 1 + strcspn(next, " \n") > width);
            at += (size_t)snprintf(again + at, sizeof again - at, "%s%.*s", at > 0 ? " " : "",
                                   (int)(length - indent), line + indent);
        }
        assert_string_equal(again, words);
        free(lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_agree),   cmocka_unit_test(keys_of_fit),
        cmocka_unit_test(random_doubles),  cmocka_unit_test(csv_guards),
        cmocka_unit_test(get_keys),        cmocka_unit_test(explanation),
        cmocka_unit_test(human),           cmocka_unit_test(ranges_and_leads),
        cmocka_unit_test(ranges_in_lines), cmocka_unit_test(many_keys),
        cmocka_unit_test(old_keys),        cmocka_unit_test(long_texts),
        cmocka_unit_test(bytes_of_a_row),  cmocka_unit_test(long_lists),
        cmocka_unit_test(broken_lines),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
