/* sweep: any command over the product of option lists, one row per combination. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/json.h"
#include "base/json_syntax.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "answer/rows.h"
#include "cli/help.h"
#include "host/interrupt.h"
#include "host/write_file.h"
#include "cli/command.h"
#include "cli/together.h"
#include "cli/words.h"
#include "cli/left_open.h"
#include "pictures/sweep.h"
#include "study/axes.h"

extern const struct sp_command sp_cmd_sweep;

static const char *const formats[] = {"csv", "json", "tsv", NULL};

/* The sweep's own options; all others are the swept command's. */
static const struct sp_taken options[] = {
    SP_TAKE(get, .help = "values in a row: keys of the command's answer, in base units"),
    SP_TAKE(format, .fallback = "csv", .choices = formats,
            .help = "csv, tsv or json (an object per row)"),
    SP_TAKE(write, .help = "write the rows to this file (also -o FILE)"),
    SP_TAKE(valid),
    SP_TAKE(shard),
    SP_TAKE(plot),
    SP_OPTION_PLOT_WIDTH,
    SP_TAKE(heat, .needs = SP_THESE(SP_O_plot)),
    SP_TAKE(stack, .needs = SP_THESE(SP_O_plot), .excludes = SP_THESE(SP_O_heat)),
};
enum { OWN_OPTIONS = sizeof options / sizeof *options };

/* The columns without --get, and more of them with --tokens; the last row that applies counts. */
static const struct {
    const char *command, *keys, *of_a_run;
    bool finds; /* with --find */
} defaults[] = {
    {"step", "step_s,mfu,memory.device_bytes,memory.fits,micro_batch,remat", ",days,cost_usd",
     false},
    {"search",
     "plans.0.dp,plans.0.tp,plans.0.pp,plans.0.vpp,plans.0.cp,plans.0.ep,plans.0.zero,"
     "plans.0.micro_batch,plans.0.remat,plans.0.schedule,plans.0.step_s,"
     "plans.0.mfu,plans.0.memory.device_bytes",
     ",plans.0.days,plans.0.cost_usd", false},
    {"search", "answer,answer_step_s", ",answer_days,answer_cost_usd", true},
    {"fit", "best.strategy,best.fits,best.compute_bound,best.step_s,best.step_at_mfu_s", "", false},
    {"memory", "memory.total_bytes,memory.fits", "", false},
    {"train", "days,device_hours,cost_usd", "", false},
    {"pipeline", "bubble_fraction,efficiency,microbatches_for", "", false},
    {"comm", "time_s,effective_bytes_per_s,reached_bytes_per_s", "", false},
    {"shard", "local_bytes,replicas,collective,time_s", "", false},
    {"serve", "fits,batch,tpot_s,ttft_s,tokens_per_s_per_device,cost_usd_per_mtoken.blended", "",
     false},
};

struct sweep {
    const struct sp_command *command;
    struct sp_args *args; /* the line: the sweep's options, and lists of the command's */
    struct sp_axes axes;
    char keys[1024];
    char asked[1200]; /* the same, and the settings left open in plans and services */
    bool json, valid;
    char separator; /* of CSV or TSV */
    uint64_t shard, shards;
    struct sp_world *world;
    FILE *out;
    struct sp_asker asker;
    struct sp_sweep_picture picture;
    uint64_t answered, failed; /* rows */
    char first_reason[600];
    struct sp_left_open open[SP_LEFT_OPEN];
};

static bool take_keys(struct sweep *s, const char *keys, struct sp_error *error)
{
    if (strlen(keys) >= sizeof s->keys)
        return sp_fail(error, SP_INPUT, "--get: longer than %zu bytes", sizeof s->keys - 1);
    snprintf(s->keys, sizeof s->keys, "%s", keys);
    char key[sizeof s->keys];
    while (sp_next_item(&keys, key, sizeof key)) {
        struct sp_nearest nearest = {.wanted = key};
        if (strcmp(key, "row") == 0 || strcmp(key, "reason") == 0)
            return sp_fail(error, SP_INPUT, "--get: every row already has \"%s\"", key);
        if (!sp_is_known_key(key, &nearest))
            return sp_fail(error, SP_INPUT, "--get: unknown key \"%s\"%s", sp_safe(key),
                           sp_nearest_hint(&nearest));
        if (keys && sp_is_listed(keys, key, '\0'))
            return sp_fail(error, SP_INPUT, "--get: \"%s\" is given twice", sp_safe(key));
    }
    return true;
}

/* Leaves out of the usual columns those that a swept option already is. */
static void drop_swept(struct sweep *s)
{
    char kept[sizeof s->keys] = "", key[sizeof s->keys];
    const char *keys = s->keys;
    while (sp_next_item(&keys, key, sizeof key))
        if (!sp_swept_as(&s->axes, key))
            sp_append(kept, sizeof kept, "%s%s", kept[0] ? "," : "", key);
    memcpy(s->keys, kept, sizeof kept);
}

static bool take_shard(struct sweep *s, const char *text, struct sp_error *error)
{
    int part, parts;
    if (!sp_take_shard(text, INT32_MAX, &part, &parts, error))
        return false;
    s->shard = (uint64_t)part - 1;
    s->shards = (uint64_t)parts;
    return true;
}

static bool take_format(struct sweep *s, const char *text, struct sp_error *error)
{
    int i = 0;
    const bool ok = sp_find_choice("", "format", formats, text, &i, error);
    s->json = i == 1;
    s->separator = i == 2 ? '\t' : ',';
    return ok;
}

/* Which of the sweep's own options that is. */
static int own_option(enum sp_option_id id)
{
    int i = 0;
    while (i < OWN_OPTIONS && options[i].id != id)
        i++;
    return i;
}

/* Where the swept command is: first, or after options; 0: nowhere. */
static int place_of_command(int argc, char **argv)
{
    int i = 1;
    struct sp_error unknown = {0};
    if (argc > 1 && argv[1][0] != '-')
        return 1;
    while (i < argc && !sp_find_command(argv[i], &unknown))
        i++;
    return i < argc ? i : 0;
}

/* Whether an option's value may be a price for each machine: "h100=2,b200=4". */
static bool is_price(const char *option)
{
    return strcmp(option, sp_option_name(SP_O_price)) == 0 ||
           strcmp(option, sp_option_name(SP_O_capex)) == 0;
}

static bool add_axis(struct sweep *s, const struct sp_option *option, const char *text,
                     struct sp_error *error)
{
    /* options whose text means something with its commas */
    static const enum sp_option_id whole[] = {
        SP_O_shape,           SP_O_get,    SP_O_measured, SP_O_near,
        SP_O_explain_rejects, SP_O_pareto, SP_O_scale,    SP_O_config_dir};
    /* options that take a list separated by semicolons */
    static const enum sp_option_id texts[] = {SP_O_mesh, SP_O_dims, SP_O_chain, SP_O_grad};
    const enum sp_option_kind kind_of = sp_option_row(option->id, NULL).kind;
    enum sp_axis_text kind = kind_of == SP_MANY       ? SP_AXIS_OF_SETS
                             : kind_of == SP_REPEATED ? SP_AXIS_OF_MANY
                                                      : SP_AXIS_OF_LIST;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (whole[i] == option->id)
            kind = SP_AXIS_OF_ONE;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] == option->id)
            kind = SP_AXIS_OF_TEXTS;
    /* a plan or prices of machines contain commas; machines, files and numbers are lists */
    if ((option->id == SP_O_against || is_price(option->name)) && text && strchr(text, '='))
        kind = SP_AXIS_OF_ONE;
    return sp_add_axis(&s->axes, option->name, kind, text, error);
}

/* The options of a line: the sweep's own and, of the command's, those that only compute. A number,
 * a choice or a text of the command is a list here. */
static size_t options_of_line(const struct sp_command *command, struct sp_option *line)
{
    struct sp_option swept[SP_MAX_OPTIONS];
    const size_t n_swept = sp_options_of(command, swept);
    size_t n = 0;
    for (int i = 0; i < OWN_OPTIONS; i++, n++) {
        line[n] = sp_option_row(options[i].id, &options[i]);
        if (options[i].id == SP_O_format) { /* read by take_format */
            line[n].kind = SP_TEXT;
            line[n].fallback = NULL;
        }
    }
    for (size_t i = 0; i < n_swept; i++) {
        const enum sp_option_id id = swept[i].id;
        if (own_option(id) < OWN_OPTIONS)
            continue;
        line[n] = swept[i];
        line[n].fallback = NULL;
        line[n].needs = line[n].excludes = NULL;
        if (swept[i].kind != SP_FLAG)
            line[n].kind = SP_REPEATED;
        n++;
    }
    return n;
}

/* Makes axes of the command's options that the line gives. */
static bool take_axes(struct sweep *s, struct sp_error *error)
{
    const struct sp_args *const args = s->args;
    for (size_t i = 0; i < args->n_options; i++) {
        const struct sp_option *const option = &args->options[i];
        if (!args->given_at[option->id] || own_option(option->id) < OWN_OPTIONS)
            continue;
        if (!sp_only_computes(option, error) ||
            (option->kind == SP_FLAG && !add_axis(s, option, NULL, error)))
            return false;
    }
    for (int i = 0; i < args->n_repeated; i++)
        if (!add_axis(s, sp_option_taken(args, args->repeated_id[i]), args->repeated[i], error))
            return false;
    return true;
}

static struct sp_sweep_axis drawn_axis(const struct sp_axis *axis)
{
    const char **const value = sp_must(malloc(axis->n * sizeof *value));
    for (size_t i = 0; i < axis->n; i++)
        value[i] = sp_value_name(axis, i);
    return (struct sp_sweep_axis){sp_axis_name(axis), value, axis->n};
}

/* One or two lists are drawn: the first makes lines, the last is along x. */
static bool begin_picture(struct sweep *s, struct sp_error *error)
{
    const struct sp_axis *swept[3];
    int n = 0;
    for (int a = 0; a < s->axes.n && n < 3; a++)
        if (s->axes.axis[a].n > 1)
            swept[n++] = &s->axes.axis[a];
    if (n < 1 || n > 2)
        return sp_fail(error, SP_USAGE, "--plot draws a sweep of one or two lists, not of %s",
                       n == 0 ? "none" : "more");
    s->picture.rows = (size_t)s->axes.rows;
    s->picture.by = (struct sp_sweep_axis){"", NULL, 0};
    s->picture.along = drawn_axis(swept[n - 1]);
    if (n == 2)
        s->picture.by = drawn_axis(swept[0]);
    return sp_begin_sweep_picture(&s->picture, s->keys, error);
}

/* "step: model llama3-8b, hw h100-64": the command and what all rows share. */
static bool end_picture(struct sweep *s, struct sp_error *error)
{
    char title[SP_PLOT_TEXT];
    snprintf(title, sizeof title, "%s", s->command->name);
    const char *separator = ":";
    for (int a = 0; a < s->axes.n; a++) {
        const struct sp_axis *const axis = &s->axes.axis[a];
        if (axis->n > 1)
            continue;
        sp_append(title, sizeof title, "%s %s%s%s", separator, sp_axis_name(axis),
                  axis->text ? " " : "", axis->text ? sp_value_name(axis, 0) : "");
        separator = ",";
    }
    return sp_end_sweep_picture(&s->picture, title, error);
}

/* Reads the sweep's own options. */
static bool take_own(struct sweep *s, struct sp_error *error)
{
    const struct sp_args *const args = s->args;
    const char *const file = args->value.write, *const typed = args->text[SP_O_format],
                      *const format = typed || !file ? typed : sp_format_of_file(file);
    s->valid = args->given.valid;
    s->picture.heat = args->given.heat;
    s->picture.stack = args->given.stack;
    s->picture.target = args->value.plot;
    s->picture.width = (double)args->value.plot_width;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (strcmp(defaults[i].command, s->command->name) == 0 &&
            (!defaults[i].finds || args->given_at[SP_O_find]))
            snprintf(s->keys, sizeof s->keys, "%s%s", defaults[i].keys,
                     args->given_at[SP_O_tokens] ? defaults[i].of_a_run : "");
    return (!args->value.get || take_keys(s, args->value.get, error)) &&
           (!format || take_format(s, format, error)) &&
           (!args->value.shard || take_shard(s, args->value.shard, error));
}

static bool parse(struct sweep *s, int argc, char **argv, struct sp_error *error)
{
    struct sp_args *const args = s->args;
    s->command = sp_find_command(argv[place_of_command(argc, argv)], error);
    s->shards = 1;
    s->separator = ',';
    s->axes.rows = 1;
    if (!s->command)
        return false;
    if (strcmp(s->command->name, "sweep") == 0 || strcmp(s->command->name, "merge") == 0)
        return sp_fail(error, SP_USAGE, "%s cannot be swept", s->command->name);
    args->n_options = options_of_line(s->command, args->options);
    if (!sp_parse_args(argc, argv, true, args, error))
        return false;
    if (args->given.help)
        return true;
    if (args->n_operands > 1)
        return sp_fail(error, SP_USAGE, "unexpected argument \"%s\"; a sweep takes --option list",
                       sp_safe(args->operands[1]));
    if (!sp_check_together(args, error) || !take_own(s, error) || !take_axes(s, error))
        return false;
    if (!args->value.get)
        drop_swept(s);
    if (s->keys[0] == '\0')
        return sp_fail(error, SP_USAGE, "--get KEY,... is needed: the values in a row of %s",
                       s->command->name);
    if (s->picture.target && s->shards > 1)
        return sp_fail(error, SP_USAGE, "--plot needs all rows, not a --shard");
    return !s->picture.target || begin_picture(s, error);
}

/* As many keys as --get can name: each with its comma takes two bytes or more. */
enum { MOST_KEYS = 512, MOST_CELLS = SP_MAX_AXES_SWEPT + MOST_KEYS + 2 };

/* Cells of a row, with room for their numbers and names. */
struct row_cells {
    struct sp_cell cell[MOST_CELLS];
    char number[MOST_CELLS][64];
    char name[SP_MAX_AXES_SWEPT][80], answer[MOST_CELLS][80];
    char keys[1024];
    size_t n;
};

static void add_cell(struct row_cells *r, const char *name, const char *value, bool words)
{
    r->cell[r->n++] = (struct sp_cell){.name = name, .value = value, .words = words};
}

/* Whether some key of --get is inside a group of that name. */
static bool is_group(const char *keys, const char *name)
{
    const size_t n = strlen(name);
    for (; keys; keys = strchr(keys, ',') ? strchr(keys, ',') + 1 : NULL)
        if (strncmp(keys, name, n) == 0 && keys[n] == '.')
            return true;
    return false;
}

/* The values of the swept options, under their names; "option.lr" where an object has a group "lr"
 * too. */
static void add_options(struct row_cells *r, const struct sweep *s, uint64_t row)
{
    for (int a = 0; a < s->axes.n; a++) {
        const struct sp_axis *const axis = &s->axes.axis[a];
        if (axis->n < 2)
            continue;
        const char *const name = sp_axis_name(axis);
        const char *const value = sp_value_name(axis, sp_axis_place(&s->axes, a, row));
        const bool twice = s->json && is_group(s->keys, name);
        snprintf(r->name[a], sizeof r->name[a], "%s%s", twice ? "option." : "", name);
        char *const number = r->number[r->n];
        const bool plain = sp_to_json_number(value, number, sizeof r->number[0]);
        add_cell(r, r->name[a], plain && s->json ? number : value, !plain);
        r->cell[r->n - 1].flat = axis->path[0]; /* "hw.chip.hbm_bytes" beside an option "hw" */
    }
}

/* The name of a key's column: "answer.lr" where "lr" is swept and has its own. */
static const char *name_value(struct row_cells *r, const struct sweep *s, const char *key)
{
    snprintf(r->answer[r->n], sizeof r->answer[0], "answer.%s", key);
    return sp_is(sp_swept_as(&s->axes, key), key) ? r->answer[r->n] : key;
}

/* Puts the values of --get; `missing` becomes the first that the answer lacks. Whether it has
 * any. */
static bool add_values(struct row_cells *r, struct sweep *s, uint64_t row,
                       const struct sp_report *report, const char **missing)
{
    bool any = false;
    size_t k = 0;
    snprintf(r->keys, sizeof r->keys, "%s", s->keys);
    for (char *rest = r->keys, *key; (key = strsep(&rest, ",")) != NULL;) {
        char path[160];
        struct sp_error unknown = {0};
        const bool known = report && sp_full_key(report, key, path, sizeof path, &unknown);
        const struct sp_entry *const entry = known ? sp_find(report, path) : NULL;
        any = any || entry;
        const char *const name = name_value(r, s, key);
        sp_take_swept(&s->picture, (size_t)row, k++, entry);
        if (report && !entry && !*missing)
            *missing = key;
        if (!entry || entry->kind == SP_VALUE_NONE) {
            add_cell(r, name, NULL, false);
        } else if (entry->kind == SP_VALUE_TEXT) {
            add_cell(r, name, sp_entry_text(entry), true);
        } else {
            char *const number = r->number[r->n];
            snprintf(number, sizeof r->number[0], "%s", sp_exact_value(entry, SP_ROOM));
            add_cell(r, name, number, false);
        }
    }
    return any;
}

/* Adds --price or --capex of a row: the prices of its own machine. */
static void add_prices(struct sp_words *words, const struct sweep *s, uint64_t row,
                       const char *option, const char *list)
{
    char kept[1024];
    if (sp_prices_in_row(&s->axes, sp_option_name(SP_O_hw), row, list, kept, sizeof kept))
        sp_add_option(words, option, kept);
}

/* Runs the command of a row; NULL with an error when it has no answer. */
static struct sp_report *answer_row(struct sweep *s, uint64_t row, struct sp_error *error)
{
    struct sp_args *const args = sp_new_args(s->world);
    struct sp_words words = {0};
    sp_add_word(&words, "%s", s->command->name);
    for (int a = 0; a < s->axes.n; a++) {
        const char *const value = sp_axis_value(&s->axes, a, row);
        const char *const option = s->axes.axis[a].name;
        if (value && is_price(option)) {
            add_prices(&words, s, row, option, value);
            continue;
        }
        sp_add_word(&words, "--%s", option);
        if (value)
            sp_add_word(&words, "%s", value);
    }
    struct sp_report *const report =
        sp_compute_asked(&s->asker, s->command, words.n, words.word, args, s->asked, error);
    sp_free_words(&words);
    free(args);
    return report;
}

/* Counts a row, and keeps the first reason. A row with a reason makes the exit code 1, a sweep of
 * such rows alone 3, as the command of the row alone: a grid that computed nothing must not look
 * like one that did. --valid means that failures are expected. A part never gives 3, because the
 * other parts may have answers: `merge` gives the code of the whole. */
static void count_row(struct sweep *s, bool answered, const char *reason)
{
    s->answered += answered;
    if (reason[0] != '\0' && s->failed++ == 0)
        snprintf(s->first_reason, sizeof s->first_reason, "%s", reason);
}

static void write_row(const struct sweep *s, const struct row_cells *cells, bool first, bool shown)
{
    if (!s->json && first)
        sp_write_row(cells->cell, cells->n, true, s->separator, s->out);
    if (shown && s->json)
        sp_write_json_row(cells->cell, cells->n, s->out);
    else if (shown)
        sp_write_row(cells->cell, cells->n, false, s->separator, s->out);
    fflush(s->out);
}

static void put_row(struct sweep *s, uint64_t row, struct row_cells *cells, bool first)
{
    struct sp_error error = {0};
    struct sp_report *const report = answer_row(s, row, &error);
    const char *missing = NULL;
    char reason[600] = "";
    if (sp_was_interrupted()) { /* half an answer must not look like a row */
        sp_report_free(report);
        return;
    }
    cells->n = 0;
    snprintf(cells->number[0], sizeof cells->number[0], "%llu", (unsigned long long)row);
    add_cell(cells, "row", cells->number[0], false);
    add_options(cells, s, row);
    const bool answered = add_values(cells, s, row, report, &missing);
    sp_keep_choices(s->open, s->keys, s->args, report);
    if (!report)
        /* no cell begins with a dash, which a spreadsheet would read as a formula */
        snprintf(reason, sizeof reason, "%s%.*s", error.text[0] == '-' ? "option " : "",
                 (int)strcspn(error.text, "\n"), error.text);
    else if (missing && (s->args->value.get || !answered)) /* asked for, or nothing else to print */
        sp_say_missing(report, missing, reason, sizeof reason);
    count_row(s, answered, reason);
    add_cell(cells, "reason", reason[0] ? reason : NULL, true);
    write_row(s, cells, first, reason[0] == '\0' || !s->valid);
    sp_report_free(report);
}

static void put_rows(struct sweep *s)
{
    struct row_cells *const cells = sp_must(malloc(sizeof *cells));
    snprintf(s->asked, sizeof s->asked, "%s", s->keys);
    sp_ask_choices(s->command->name, s->asked, sizeof s->asked);
    for (uint64_t row = s->shard; row < s->axes.rows && !ferror(s->out) && !sp_was_interrupted();
         row += s->shards)
        put_row(s, row, cells, row == s->shard);
    free(cells);
}

/* Writes the rows to a file when all are known: it appears whole or not at all. */
static void write_rows(struct sweep *s, const char *path, struct sp_error *error)
{
    char *text;
    size_t size;
    if (!sp_may_write(path, error))
        return;
    s->out = sp_must(open_memstream(&text, &size));
    put_rows(s);
    fclose(s->out);
    if ((s->failed < s->axes.rows || s->shards > 1) && !sp_was_interrupted())
        sp_write_file(path, text, size, error);
    free(text);
}

static bool streams(int argc, char **argv, struct sp_world *world)
{
    (void)world;
    return place_of_command(argc, argv) > 0;
}

static enum sp_exit stream(int argc, char **argv, struct sp_world *world,
                           const struct sp_output *to, struct sp_error *error)
{
    struct sweep *const s = sp_must(calloc(1, sizeof *s));
    s->world = world;
    s->args = sp_new_args(world);
    s->out = to->out;
    if (parse(s, argc, argv, error) && s->args->given.help)
        sp_print_command_help(&sp_cmd_sweep, s->args->whole_help, to->out);
    else if (!SP_IN_PAGE && error->lines == 0 && s->args->value.write &&
             !sp_is_stdout(s->args->value.write))
        write_rows(s, s->args->value.write, error);
    else if (error->lines == 0)
        put_rows(s);
    if (error->lines == 0 && s->picture.target && s->answered > 0 && !sp_was_interrupted())
        end_picture(s, error);
    if (s->failed > 0 && s->failed == s->axes.rows && s->shards == 1 && !sp_was_interrupted())
        sp_fail(error, SP_INPUT, "no row has %s; the first: %s",
                s->answered > 0 ? "all its values" : "an answer", s->first_reason);
    if (error->lines == 0 && !s->args->given.quiet)
        sp_note_choices(s->open, s->keys, to->notes);
    const enum sp_exit code = s->failed > 0 && !s->valid ? SP_NO : SP_OK;
    sp_free_sweep_picture(&s->picture);
    sp_free_axes(&s->axes);
    free(s->args);
    sp_free_asker(&s->asker);
    free(s);
    return code;
}

static bool run(const struct sp_args *args, struct sp_report *report, struct sp_error *error)
{
    (void)args;
    (void)report;
    return sp_fail(error, SP_USAGE,
                   "give a command first: scaleplan sweep step --model A,B --tp 1..8:x2");
}

static const struct sp_example examples[] = {
    {"sweep step --model llama3-8b,llama3-70b --hw h100-64 --batch 256x8192 --tp 1..8:x2 --get "
     "step_s,mfu,memory.fits",
     "eight rows of CSV"},
    {"sweep search --model llama3-8b,llama3-70b --hw h100-64,h100-128,h100-256 --batch 512x8192 "
     "--valid",
     "the best plans by model and machine"},
    {"sweep step --model llama3-8b --hw h100-64 --batch 256x8192 --tp 1..8:x2 --micro-batch 1,2 "
     "--format json | jq -c 'select(.memory.fits)'",
     "JSON lines"},
    {"sweep search --model llama3-8b,llama3-70b --hw h100-64,h100-128,h100-256 --batch 512x8192 "
     "--get plans.0.mfu --plot mfu.svg --heat",
     "heat map of the best MFU by model and machine"},
    {NULL, NULL},
};

const struct sp_command sp_cmd_sweep = {
    .name = "sweep",
    .summary = "run a command for all combinations of option values, one row each",
    .operands = "COMMAND --option LIST...",
    .about =
        "Runs a command for all combinations of option values; the last option changes fastest. "
        "Lists are comma-separated (semicolons if values have commas: --mesh 'X=4,Y=8;X=8,Y=4') "
        "and may have ranges: 1..8, 1..9:+2, 1..64:x2, h100-8..1024:x2; --set PATH=A,B is a list "
        "too. A row without an answer or a value has the reason (--valid omits it) and gives exit "
        "code 1; 3 if all rows have one, except in a part (--shard).",
    SP_OPTIONS(options),
    .without = SP_THESE(SP_O_get, SP_O_format, SP_O_write, SP_O_details, SP_O_explain, SP_O_derive),
    .examples = examples,
    .run = run,
    .streams = streams,
    .stream = stream,
};
