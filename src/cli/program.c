/* The one place that prints results and errors and picks the exit code. */
#include "cli/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/parallel.h"
#include "config/world.h"
#include "host/write_file.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/help_json.h"
#include "host/interrupt.h"
#include "cli/picture.h"
#include "cli/printed_by_sources.h"
#include "host/terminal.h"
#include "host/ticker.h"

static enum sp_exit print_errors(const struct sp_error *error, FILE *notes)
{
    for (const char *line = error->text; *line;) {
        const int n = (int)strcspn(line, "\n");
        fprintf(notes, "scaleplan: %.*s\n", n, line);
        line += n + (line[n] == '\n');
    }
    return error->code;
}

/* Flushes the output; a reader that has gone away is not an error, a full disk is. */
static enum sp_exit finish_output(enum sp_exit code, const struct sp_output *to)
{
    if (fflush(to->out) == 0 && !ferror(to->out))
        return code;
    if (errno == EPIPE)
        return code;
    fprintf(to->notes, "scaleplan: standard output: %s\n", strerror(errno));
    return SP_INTERNAL;
}

/* The lines of an answer, and its columns without a terminal; then the text of --details is not
 * wrapped. */
enum { ANSWER_LINES = 12, ANSWER_COLUMNS = 80 };

static struct sp_render render_of(const struct sp_args *args, const struct sp_output *to)
{
    return (struct sp_render){
        .format = (enum sp_format)args->value.format,
        .colour = sp_terminal_has_colour(to->out),
        .width = sp_terminal_width(to->out),
        .details = args->given.details,
        .quiet = args->given.quiet,
        .get = args->value.get,
        .explain = args->given.explain,
        .explain_key = args->value.explain,
        .derive = args->given.derive,
        .notes = to->notes,
    };
}

/* The requested form of a report, from the typed options. */
struct asked {
    char *get, *explain, *rows;
};

static void free_asked(struct asked *a)
{
    free(a->get);
    free(a->explain);
    free(a->rows);
}

/* Whether the answer consists only of rows, and the keys are theirs. */
static bool are_of_rows(const struct sp_report *report, const char *keys)
{
    char *left = (char *)keys;
    char *const rows = sp_is_one_list(report) ? sp_rows_asked(report, &left) : NULL;
    const bool are = rows && left;
    if (rows)
        free(left);
    free(rows);
    return are;
}

/* The keys of --get and --explain as whole paths, or the rows of a list. */
static bool take_keys(const struct sp_report *report, struct sp_render *how, struct asked *a,
                      struct sp_error *error)
{
    bool table = how->format == SP_FORMAT_CSV || how->format == SP_FORMAT_TSV;
    if (how->explain_key) {
        a->explain = sp_full_keys(report, how->explain_key, error);
        how->explain_key = a->explain;
    }
    if (how->format == SP_FORMAT_TEXT && how->get && are_of_rows(report, how->get)) {
        how->format = SP_FORMAT_TSV;
        how->no_header = table = true;
    }
    if (table && !how->explain) {
        char *keys = (char *)how->get;
        a->rows = sp_rows_asked(report, &keys);
        a->get = a->rows ? keys : NULL;
        how->rows = a->rows;
    }
    if (how->get && !a->rows)
        a->get = sp_full_keys(report, how->get, error);
    how->get = a->get;
    return error->lines == 0;
}

/* Whether the plan has memory to spare: neither "no" nor "tight". */
static bool is_roomy(const struct sp_command *command, const struct sp_report *report, bool *yes,
                     struct sp_error *error)
{
    char key[64], verdict_key[64];
    struct sp_error unknown = {0};
    /* "mesh.fits" is beside "mesh.memory.verdict" */
    const bool asked = command->asked_fits && sp_find(report, command->asked_fits);
    const int scope =
        asked ? (int)(strrchr(command->asked_fits, '.') + 1 - command->asked_fits) : 0;
    snprintf(verdict_key, sizeof verdict_key, "%.*smemory.verdict", scope,
             asked ? command->asked_fits : "");
    if (!sp_full_key(report, verdict_key, key, sizeof key, &unknown))
        return sp_fail(error, SP_INPUT, "--check yes: this answer has no memory.verdict");
    const struct sp_entry *const verdict = sp_find(report, key);
    *yes = verdict && sp_is(sp_entry_text(verdict), sp_verdict_names[SP_VERDICT_YES]);
    return true;
}

/* The key that --check judges: the one asked about, if the answer has it. */
static const char *judged_key(const struct sp_report *report, const char *asked, const char *key)
{
    return asked && sp_find(report, asked) ? asked : key;
}

/* The key of --check: fits, compute-bound or both, or the command's own word. */
static bool verdict_of(const struct sp_command *command, const struct sp_args *args,
                       const struct sp_report *report, bool *yes, struct sp_error *error)
{
    const char *what = args->value.check;
    const char *const second = command->bound_word ? command->bound_word : "compute-bound";
    const char *const fits_key = judged_key(report, command->asked_fits, command->fits_key);
    const bool on_paper = command->paper_key && sp_find(report, command->paper_key);
    *yes = true;
    if (!args->given.check || !command->fits_key)
        return true;
    if (what && strcmp(what, "yes") == 0) {
        const bool ok = is_roomy(command, report, yes, error);
        *yes = *yes && !on_paper;
        return ok;
    }
    if (!command->compute_bound_key) {
        *yes = sp_says_yes(report, fits_key);
        return !what || strcmp(what, "fits") == 0 ||
               sp_fail(error, SP_INPUT, "--check: \"%s\" is not fits or yes", sp_safe(what));
    }
    if (!what)
        what = command->bare_check ? command->bare_check : "both";
    const bool fits = strcmp(what, "fits") == 0, bound = strcmp(what, second) == 0;
    if (!fits && !bound && strcmp(what, "both") != 0)
        return sp_fail(error, SP_INPUT, "--check: \"%s\" is not one of fits, %s, both, yes",
                       sp_safe(what), second);
    const char *const bound_key =
        judged_key(report, command->asked_bound, command->compute_bound_key);
    *yes = (bound || sp_says_yes(report, fits_key)) && (fits || sp_says_yes(report, bound_key)) &&
           (fits || bound || !on_paper);
    return true;
}

/* Says why a plan that fits fails --check: without a word it judges a second verdict too. */
static void say_second_verdict(const struct sp_command *command, const struct sp_args *args,
                               const struct sp_report *report, FILE *notes)
{
    const char *const second = command->bound_word ? command->bound_word : "compute-bound";
    if (args->given.check && !args->value.check && !command->bare_check &&
        command->compute_bound_key &&
        sp_says_yes(report, judged_key(report, command->asked_fits, command->fits_key)) &&
        !sp_says_yes(report, judged_key(report, command->asked_bound, command->compute_bound_key)))
        fprintf(notes,
                "note: it fits, and --check fails by \"%s\"; --check fits judges memory alone\n",
                second);
}

/* Whether the answer breaks a limit that was given with the question. */
static bool is_beyond(const struct sp_command *command, const struct sp_args *args,
                      const struct sp_report *report)
{
    return args->given.check && command->limits_key && sp_find(report, command->limits_key) &&
           !sp_says_yes(report, command->limits_key);
}

/* Whether the plan is of a launch that its framework refuses, so that it never runs. */
static bool is_refused(const struct sp_args *args, const struct sp_report *report)
{
    const struct sp_entry *const refusals = sp_find(report, "launch.refusals");
    return args->given.check && refusals && refusals->number > 0;
}

static bool has_failed(const struct sp_command *command, const struct sp_report *report)
{
    const struct sp_entry *failed =
        command->failed_key ? sp_find(report, command->failed_key) : NULL;
    return failed && failed->number > 0;
}

/* Writes the answer into a file, as it would print it into a pipe. */
static bool write_answer(const struct sp_report *report, struct sp_render how, const char *path,
                         struct sp_error *error)
{
    char *text;
    size_t size;
    FILE *const out = sp_must(open_memstream(&text, &size));
    how.colour = false;
    if (how.width > 0)
        how.width = ANSWER_COLUMNS;
    sp_render(report, &how, out);
    fclose(out);
    const bool ok = sp_write_file(path, text, size, error);
    free(text);
    return ok;
}

static enum sp_exit print_answer(const struct sp_command *command, const struct sp_args *args,
                                 const struct sp_report *report, const struct sp_output *to)
{
    struct sp_error error = {0};
    struct sp_render how = render_of(args, to);
    const int terminal = how.width;
    struct asked asked = {0};
    char *picture = NULL;
    bool yes = true;
    if (!how.details && terminal == 0)
        how.width = ANSWER_COLUMNS;
    if (!command->is_list)
        how.lines = ANSWER_LINES;
    const bool clear = verdict_of(command, args, report, &yes, &error);
    bool ok = clear && take_keys(report, &how, &asked, &error) &&
              sp_draw_picture(command, args, report, terminal, &picture, &error);
    /* The file comes last, so that a refused answer leaves none. */
    const char *text, *const file = sp_report_file(report, &text);
    const bool file_alone = file && sp_is_stdout(file);
    if (ok && file_alone && picture)
        ok = sp_fail(
            &error, SP_USAGE,
            "--plot - and the file both go to standard output: give one of them a file name");
    if (ok && file && !file_alone)
        ok = sp_write_file(file, text, strlen(text), &error);
    if (!ok)
        return print_errors(&error, to->notes);
    if (file_alone) {
        fputs(text, to->out);
        fflush(to->out); /* notes are below it in a terminal; finish_output looks for errors */
        if (!how.quiet)
            sp_render_notes(report, to->notes);
    } else if (args->given.write && !file && !sp_is_stdout(args->value.write)) {
        ok = write_answer(report, how, args->value.write, &error);
    } else if (!how.quiet || !args->given.check || how.format != SP_FORMAT_TEXT || how.get) {
        sp_render(report, &how, to->out); /* else the exit code is the answer, as of grep -q */
    }
    if (picture)
        fprintf(to->out, "\n%s", picture);
    free(picture);
    free_asked(&asked);
    if (!ok)
        return print_errors(&error, to->notes);
    if (!yes && !how.quiet)
        say_second_verdict(command, args, report, to->notes);
    return yes && !is_beyond(command, args, report) && !is_refused(args, report) &&
                   !has_failed(command, report)
               ? SP_OK
               : SP_NO;
}

struct running {
    const struct sp_command *command;
    int argc;
    char **argv;
    struct sp_world *world;
    const struct sp_output *to;
    enum sp_exit code;
};

static bool is_quiet(int argc, char **argv)
{
    bool quiet = false;
    for (int i = 1; i < argc; i++)
        quiet = quiet || strcmp(argv[i], "--quiet") == 0 || strcmp(argv[i], "-q") == 0;
    return quiet;
}

static enum sp_exit run(const struct running *r)
{
    const struct sp_command *const command = r->command;
    struct sp_args args;
    struct sp_error error = {0};
    enum sp_exit code = SP_OK;
    if (command->streams && command->streams(r->argc, r->argv, r->world)) {
        if (command->stream)
            code = command->stream(r->argc, r->argv, r->world, r->to, &error);
        else
            sp_refuse_in_page(&error);
        return error.lines > 0 ? print_errors(&error, r->to->notes) : code;
    }
    struct sp_report *report = sp_report_new(command->name);
    args.world = r->world;
    const bool ticks = r->to->notes == stderr && !is_quiet(r->argc, r->argv);
    if (ticks)
        sp_start_ticker();
    const bool ok = sp_run_command(command, r->argc, r->argv, &args, report, &error);
    if (ticks)
        sp_stop_ticker();
    if (ok && !args.given.help)
        sp_note_printed(command, &args, report);
    if (!ok && error.code == SP_INPUT)
        sp_add_printed(&error);
    if (!ok)
        code = print_errors(&error, r->to->notes);
    else if (args.given.help && args.value.format == SP_FORMAT_JSON)
        sp_print_help_json(&command, 1, r->to->out);
    else if (args.given.help)
        sp_print_command_help(command, args.whole_help, r->to->out);
    else
        code = print_answer(command, &args, report, r->to);
    sp_report_free(report);
    return code;
}

static void run_here(struct sp_share *share, void *context)
{
    struct running *const r = context;
    (void)share;
    r->code = run(r);
}

/* If the shell allows less stack than a command may need, a thread runs it. */
static enum sp_exit run_somewhere(struct running *r)
{
    if (sp_has_stack(SP_STACK_BYTES))
        run_here(NULL, r);
    else
        sp_parallel(1, 1, 1, run_here, r);
    return r->code;
}

/* An interrupt decides the exit code, whatever the verdict: the answer is partial. */
static int exit_code(enum sp_exit code, const struct sp_output *to)
{
    if (!sp_was_interrupted() || code == SP_INTERNAL)
        return (int)code;
    fprintf(to->notes, "scaleplan: interrupted: the answer is incomplete\n");
    return SP_INTERRUPTED;
}

/* Whether the words are --format json. */
static bool asks_for_json(int argc, char **argv)
{
    return argc == 2 ? strcmp(argv[0], "--format") == 0 && strcmp(argv[1], "json") == 0
                     : argc == 1 && strcmp(argv[0], "--format=json") == 0;
}

/* The first line is for scripts, the second gives the number of threads of a search. */
static void print_version(FILE *out)
{
    const int threads = sp_threads(0);
    fputs("scaleplan " SCALEPLAN_VERSION "\n", out);
    if (sp_makes_threads)
        fprintf(out, "%d thread%s (OMP_NUM_THREADS)\n", threads, threads == 1 ? "" : "s");
    else
        fputs("1 thread: this build is single-threaded\n", out);
}

/* Other programs take common options before the command: `--format json fit`. Such words go after
 * the command, the first word that names one. */
static void put_command_first(int argc, char **argv)
{
    int at = 1;
    struct sp_error unknown = {0};
    while (at < argc && !sp_find_command(argv[at], &unknown))
        at++;
    if (argv[1][0] != '-' || at == argc)
        return;
    char *const command = argv[at];
    memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
    argv[1] = command;
}

int sp_run_program(int argc, char **argv, struct sp_world *world, const struct sp_output *to)
{
    if (argc < 2) {
        sp_print_tasks(sp_commands, sp_n_commands, to->notes);
        return SP_USAGE;
    }
    const bool wants_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                            strcmp(argv[1], "help") == 0;
    const bool as_json = wants_help && asks_for_json(argc - 2, argv + 2);
    if (wants_help && (argc == 2 || as_json)) {
        (as_json ? sp_print_help_json : sp_print_help)(sp_commands, sp_n_commands, to->out);
        return (int)finish_output(SP_OK, to);
    }
    if (strcmp(argv[1], "--version") == 0) {
        print_version(to->out);
        return (int)finish_output(SP_OK, to);
    }
    struct sp_error error = {0};
    if (!wants_help)
        put_command_first(argc, argv);
    const struct sp_command *command = sp_find_command(argv[wants_help ? 2 : 1], &error);
    if (!command)
        return (int)print_errors(&error, to->notes);
    if (wants_help) {
        if (asks_for_json(argc - 3, argv + 3))
            sp_print_help_json(&command, 1, to->out);
        else
            sp_print_command_help(command, argc > 3 && strcmp(argv[3], "all") == 0, to->out);
        return (int)finish_output(SP_OK, to);
    }
    struct running running = {command, argc - 1, argv + 1, world, to, SP_OK};
    return exit_code(finish_output(run_somewhere(&running), to), to);
}
