/* Sheets of exercises. */
#include "cli/exercise_sheet.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "answer/markdown.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/exercise_book.h"
#include "cli/exercise_draw.h"
#include "cli/exercise_grade.h"

struct sp_outcome sp_answer_case(const struct sp_case *c, struct sp_world *world)
{
    struct sp_args *const args = sp_new_args(world);
    char *argv[SP_CASE_MAX_ARGS + 1] = {0};
    struct sp_outcome got = {.report = sp_report_new(c->args[0])};
    for (int i = 0; i < c->n_args; i++)
        argv[i] = (char *)c->args[i];
    const struct sp_command *command = sp_find_command(c->args[0], &got.error);
    if (command && strcmp(command->name, "check") == 0)
        sp_fail(&got.error, SP_USAGE, "check does not run inside a case");
    else if (command)
        got.answered = sp_compute(command, c->n_args, argv, args, got.report, &got.error);
    free(args);
    if (got.answered && sp_report_size(got.report) == 0)
        got.answered = sp_fail(&got.error, SP_USAGE, "the command gives no answer");
    return got;
}

const char *sp_unknown_key_in(struct sp_text *room, const struct sp_report *report, const char *key)
{
    struct sp_nearest nearest = {.wanted = key};
    for (size_t i = 0; i < sp_report_size(report); i++)
        sp_nearest_offer(&nearest, sp_path(sp_report_entry(report, i)));
    snprintf(room->s, sizeof room->s, "unknown key%s", sp_nearest_hint(&nearest));
    return room->s;
}

/* Whether every expected key has a value to ask for; `missing` is else the first that is unknown.
 */
static bool is_answered(const struct sp_case *c, const struct sp_outcome *got, const char **missing)
{
    *missing = NULL;
    for (int i = 0; i < c->n_expect && got->answered; i++) {
        const struct sp_entry *const entry = sp_find(got->report, c->expect[i].key);
        if (!entry)
            *missing = c->expect[i].key;
        if (!entry || entry->kind == SP_VALUE_NONE)
            return false;
    }
    return got->answered;
}

enum { MOST_DRAWS = 50 };

/* Asks a case, with new numbers until the program answers them all. */
static bool ask(const struct sp_sheet *sheet, int number, const struct sp_case *c,
                struct sp_error *error)
{
    struct sp_dice dice = sp_dice_of(sheet->seed, c->id);
    struct sp_drawn drawn = {.c = *c};
    struct sp_outcome got = {0};
    const char *missing = NULL;
    bool ok = false;
    for (int i = 0; i < (sheet->is_random ? MOST_DRAWS : 1) && !ok; i++) {
        sp_free_drawn(&drawn);
        sp_report_free(got.report);
        if (sheet->is_random)
            sp_draw_case(c, &dice, &drawn);
        got = sp_answer_case(&drawn.c, sheet->world);
        ok = is_answered(&drawn.c, &got, &missing);
    }
    if (ok)
        sheet->question(sheet->context, number, &drawn.c, got.report);
    else if (missing)
        sp_fail(error, SP_INPUT, "%s: %s: %s", sp_safe(c->id), sp_safe(missing),
                sp_unknown_key(got.report, missing));
    else
        sp_fail(error, SP_INPUT, "%s: no answer%s%s", sp_safe(c->id), *got.error.text ? ": " : "",
                got.error.text);
    sp_free_drawn(&drawn);
    sp_report_free(got.report);
    return ok;
}

/* A case of the files, and its number in the draw. */
struct pick {
    int file, at;
    uint64_t lot;
    bool is_asked;
};

static int by_lot(const void *a, const void *b)
{
    const struct pick *const x = *(struct pick *const *)a, *const y = *(struct pick *const *)b;
    return x->lot != y->lot ? (x->lot > y->lot) - (x->lot < y->lot) : (x > y) - (x < y);
}

/* Chooses `count` of the picks by the numbers they drew. */
static void draw_lots(struct pick *picks, size_t n, size_t count)
{
    struct pick **const order = sp_must(calloc(n + 1, sizeof(struct pick *)));
    for (size_t i = 0; i < n; i++)
        order[i] = &picks[i];
    qsort(order, n, sizeof(struct pick *), by_lot);
    for (size_t i = 0; i < n; i++)
        order[i]->is_asked = i < count;
    free(order);
}

/* The cases that can be asked: with an answer, of those of `only`, with numbers to draw where they
 * are drawn. */
static size_t collect(const struct sp_sheet *sheet, const struct sp_cases *files,
                      struct pick *picks, struct sp_case *c)
{
    size_t n = 0;
    for (int f = 0; f < sheet->n_files; f++)
        for (int i = 0; i < files[f].n; i++) {
            sp_case_at(&files[f], i, c);
            if (c->n_expect == 0 || (sheet->is_random && c->n_draw == 0) ||
                (sheet->only && !sp_is_listed(sheet->only, c->id, ':')))
                continue;
            struct sp_dice dice = sp_dice_of(~sheet->seed, c->id);
            picks[n++] = (struct pick){f, i, sp_throw(&dice), true};
        }
    return n;
}

static bool ask_all(const struct sp_sheet *sheet, const struct sp_cases *files,
                    struct sp_error *error)
{
    size_t cases = 1;
    bool ok = true;
    for (int f = 0; f < sheet->n_files; f++)
        cases += (size_t)files[f].n;
    struct pick *const picks = sp_must(calloc(cases, sizeof *picks));
    struct sp_case *const c = sp_must(malloc(sizeof *c));
    const size_t n = collect(sheet, files, picks, c);
    int number = 0;
    if (sheet->is_random)
        draw_lots(picks, n, (size_t)sheet->count);
    for (size_t i = 0; i < n && ok; i++) {
        if (!picks[i].is_asked)
            continue;
        sp_case_at(&files[picks[i].file], picks[i].at, c);
        ok = ask(sheet, ++number, c, error);
    }
    free(c);
    free(picks);
    return ok && (n > 0 || sp_fail(error, SP_INPUT, "no case to draw%s%s",
                                   sheet->is_random ? ": none has a \"draw\"" : "",
                                   sheet->only ? " among those of --cases" : ""));
}

bool sp_each_question(const struct sp_sheet *sheet, struct sp_error *error)
{
    struct sp_cases *const files = sp_must(calloc((size_t)sheet->n_files + 1, sizeof *files));
    int opened = 0;
    while (opened < sheet->n_files &&
           sp_open_cases(sp_pipes_of(sheet->world), sheet->files[opened], &files[opened], error))
        opened++;
    const bool ok = opened == sheet->n_files && ask_all(sheet, files, error);
    while (opened > 0)
        sp_close_cases(&files[--opened]);
    free(files);
    return ok;
}

static void put_model(const struct sp_model *m, FILE *out)
{
    if (!sp_splits_layers(m))
        return;
    fprintf(
        out,
        "\nGiven: the model has %lld layers of %lld, %sMLP %lld, %lld heads of %lld, %lld for keys "
        "and values, %s parameters.\n",
        (long long)m->layers, (long long)m->d_model, m->gated_mlp ? "gated " : "",
        (long long)m->d_ff, (long long)m->heads, (long long)m->head_dim, (long long)m->kv_heads,
        sp_human_text(sp_count_params(m).total, SP_PARAMETERS));
}

/* The peak in 16 bits, and in the format that the case asks for. */
static void put_machine(const struct sp_hardware *hw, const char *format, FILE *out)
{
    const struct sp_network *const net = &hw->network;
    fprintf(out, "\nGiven: a chip has %s in 16 bits",
            sp_human_text(sp_peak16_flops_per_s(&hw->chip), SP_FLOPS_PER_S));
    for (int i = 0; i < SP_DTYPES; i++)
        if (strcmp(format, sp_dtype_names[i]) == 0 && sp_dtypes[i].bytes != 2 &&
            hw->chip.peak_flops_per_s[i] > 0)
            fprintf(out, ", %s in %s", sp_human_text(hw->chip.peak_flops_per_s[i], SP_FLOPS_PER_S),
                    format);
    fprintf(out, ", %s at %s", sp_human_text(hw->chip.hbm_bytes, SP_BYTES),
            sp_human_text(hw->chip.hbm_bytes_per_s, SP_BYTES_PER_S));
    if (net->kind == SP_TORUS)
        fprintf(out, ", %s one way on each of %d axes.\n",
                sp_human_text(net->link_bytes_per_s, SP_BYTES_PER_S), (int)net->axes);
    else
        fprintf(out, ", %s one way inside a node of %d, %s across nodes.\n",
                sp_human_text(net->domain_bytes_per_s, SP_BYTES_PER_S), (int)net->domain,
                sp_human_text(net->scaleout_bytes_per_s, SP_BYTES_PER_S));
}

/* Facts that nobody knows by heart: the sizes of the model and rates of the machine in a case's
 * question. */
static void put_given(const struct sp_case *c, FILE *out)
{
    enum { MOST_SETS = 8 };
    const char *machine = NULL, *network = NULL, *model = NULL, *format = "", *sets[MOST_SETS];
    struct sp_sources sources = {.sets = sets};
    struct sp_error ignored = {0};
    struct sp_hardware hw;
    struct sp_model m;
    for (int i = 1; i + 1 < c->n_args; i++) {
        const char *const word = c->args[i], *const value = c->args[i + 1];
        if (strcmp(word, "--hw") == 0)
            machine = value;
        if (strcmp(word, "--network") == 0)
            network = value;
        if (strcmp(word, "--model") == 0)
            model = value;
        if (strcmp(word, "--dtype") == 0)
            format = value;
        sources.textbook |= strcmp(word, "--constants") == 0 && strcmp(value, "textbook") == 0;
        if (strcmp(word, "--set") == 0 && sources.n_sets < MOST_SETS)
            sets[sources.n_sets++] = value;
    }
    if (model && sp_load_model(model, &sources, &m, &ignored))
        put_model(&m, out);
    if (machine && sp_load_hardware(machine, &sources, &hw, &ignored) &&
        (!network || sp_put_network(network, &sources, &hw, &ignored)))
        put_machine(&hw, format, out);
}

void sp_put_question(int number, const struct sp_case *c, const struct sp_report *answer, FILE *out)
{
    char name[16];
    fprintf(out, "\n### %d\n\n", number);
    sp_markdown_text(c->question, out);
    fputs("\n\n", out);
    for (int i = 0; i < c->n_expect; i++) {
        const struct sp_entry *const entry = sp_find(answer, c->expect[i].key);
        const char *const unit = sp_unit_name(entry->info->unit);
        sp_name_part(name, number, i, c->n_expect);
        fprintf(out, "- **%s** ", name);
        sp_markdown_text(entry->info->label, out);
        fprintf(out, " (`%s`%s%s%s):\n", sp_path(entry), *unit ? ", " : "", unit,
                entry->kind == SP_VALUE_BOOL ? ", yes or no" : "");
    }
    put_given(c, out);
}
