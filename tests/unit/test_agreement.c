/* Commands must agree: random problems go to every command that reports a quantity, and answers
 * must be equal. agreement.def lists commands and quantities. */
#include "asked.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agreement_problem.h"
#include "base/read_file.h"
#include "draws.h"
#include "formula.h"

enum { ALL_PROBLEMS = 2000 };
enum { MAX_LINE = 1800, MAX_SOURCES = 8, MAX_TRAITS = 40 };
#define TOLERANCE 1e-9

/* clang-format off */
/* The command lines of a problem. */
static const struct {
    const char *name, *line;
} runs[] = {
#define RUN(name, line) {name, line},
#include "agreement.def"
};
enum { RUNS = sizeof runs / sizeof *runs };

/* The places where a quantity is reported. */
static const struct quantity {
    const char *name;
    struct source {
        const char *run, *formula, *when;
    } of[MAX_SOURCES];
} quantities[] = {
#define QUANTITY(name) {name, {
#define SOURCE(run, formula, when) {run, formula, when},
#define END }},
#include "agreement.def"
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

/* Sources that may differ from the first. */
static const struct difference {
    const char *quantity, *run, *formula, *when, *reason, *words;
} differences[] = {
#define DIFFERENCE(quantity, run, formula, when, reason, words)                                    \
    {quantity, run, formula, when, reason, words},
#include "agreement.def"
    {NULL, NULL, NULL, NULL, NULL, NULL},
};
enum { DIFFERENCES = sizeof differences / sizeof *differences };
/* clang-format on */

/* How a source compared with the first of its quantity. */
static struct tally {
    int compared, apart;
    double worst;
    char example[2 * MAX_LINE + 200];
    int with[MAX_TRAITS], apart_with[MAX_TRAITS]; /* by trait */
} tallies[QUANTITIES][MAX_SOURCES];

static int differed[DIFFERENCES], told[DIFFERENCES]; /* problems */

/* Answers to one problem; reports are NULL if refused or not asked. */
static struct answers {
    struct problem problem;
    char line[RUNS][MAX_LINE];
    struct sp_report *report[RUNS];
    char *rows[RUNS]; /* CSV, of a sweep in place of a report; NULL: refused */
    bool asked[RUNS];
} now;

/* Where the row for `validate` is written. */
static char runs_path[200];

/* A number or a word; neither if a source has none. */
struct value {
    double number;
    char text[64];
};

/* `.ci/full` asks for 10,000, some fifteen minutes. */
static int problems(void)
{
    return drawn_problems(ALL_PROBLEMS / one_in(), ALL_PROBLEMS);
}

static int run_at(const char *name)
{
    for (int i = 0; i < RUNS; i++)
        if (strcmp(runs[i].name, name) == 0)
            return i;
    fail_msg("no run is called %s", name);
    return -1;
}

/* The value of a formula over a report. */
static struct value value_of(const struct sp_report *report, const char *formula)
{
    struct value v = {.number = NAN};
    const struct sp_entry *const entry = sp_find(report, formula);
    if (entry && entry->kind == SP_VALUE_TEXT)
        snprintf(v.text, sizeof v.text, "%s", sp_entry_text(entry));
    else if (entry)
        v.number = entry->kind == SP_VALUE_NONE ? NAN : entry->number;
    else if (sp_report_size(report) > 0) {
        struct sp_formula f = {.report = report, .at = formula};
        v.number = sp_formula_sum(&f);
        if (f.wrong[0])
            v.number = NAN;
    }
    return v;
}

/* Stage times over the first one's, for `pipeline --scale`: one factor for both passes suffices
 * unless chunks split a stage's passes, or layer kinds, a tower or what is trained differ between
 * stages. */
static bool write_scale(const struct sp_report *step, char *out, size_t size)
{
    double first = NAN, share = NAN;
    size_t used = 0;
    for (int64_t s = 0; s < now.problem.pp; s++) {
        char formula[96], forward[40];
        snprintf(forward, sizeof forward, "stages.%lld.forward_s", (long long)s);
        snprintf(formula, sizeof formula, "%s + stages.%lld.backward_s", forward, (long long)s);
        const double both = value_of(step, formula).number;
        const double mine = value_of(step, forward).number / both;
        first = s == 0 ? both : first;
        share = s == 0 ? mine : share;
        const bool alike = now.problem.vpp == 1 && !sp_is_hybrid(&now.problem.model) &&
                           !has_traits(&now.problem, "frozen|vision");
        if (!alike && fabs(mine - share) > 1e-9)
            return false;
        used += (size_t)snprintf(out + used, size > used ? size - used : 0, "%s%.17g", s ? "," : "",
                                 both / first);
    }
    return used < size && now.problem.pp > 1;
}

/* Spellings of `search --fix` and of simpler commands. */
static bool write_shards(const struct sp_report *step, char *out, size_t size)
{
    const double shards = value_of(step, "shards").number;
    out[0] = '\0';
    return now.problem.zero == 0 || snprintf(out, size, ",fsdp=%.0f", shards) < (int)size;
}

static bool write_policy(const struct sp_report *step, char *out, size_t size)
{
    const struct value remat = value_of(step, "remat");
    return strcmp(remat.text, "qkv") != 0 && strcmp(remat.text, "alternate") != 0 &&
           snprintf(out, size, "--remat %s", remat.text) < (int)size;
}

/* The plan as a row of a runs file. */
static bool write_runs(const struct sp_report *step, char *out, size_t size)
{
    const struct sp_model *const m = &now.problem.model;
    const struct problem *const p = &now.problem;
    char moe[120] = "";
    FILE *const file = fopen(runs_path, "w");
    if (!file)
        return false;
    if (m->moe.experts > 0)
        snprintf(moe, sizeof moe,
                 "%lld/%lld/%lld ff%lld dense_layers=%lld every %lldth layer dense_ff%lld%s",
                 (long long)m->moe.experts, (long long)m->moe.top_k,
                 (long long)m->moe.shared_experts, (long long)m->moe.d_ff_expert,
                 (long long)m->moe.dense_layers, (long long)m->moe.every,
                 (long long)(m->moe.d_ff_dense > 0 ? m->moe.d_ff_dense : m->d_ff),
                 m->mla.kv_lora_rank > 0 ? " MLA" : "");
    fprintf(file, "hardware,framework,n_devices,model,layers,d_model,d_ff,n_heads,n_kv_heads,"
                  "head_dim,vocab,gated_mlp,moe,seq_len,global_batch_seqs,micro_batch_seqs,tp,pp,"
                  "vpp,cp,ep,fsdp_zero,recompute,precision,measured_step_s,measured_peak_mem_gb,"
                  "memory_level,cp_kind\n");
    fprintf(file, "%s,%s,%lld,%s,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%d,%s,", p->hw.name,
            value_of(step, "framework").text, (long long)sp_chips(&p->hw), m->name,
            (long long)m->layers, (long long)m->d_model, (long long)m->d_ff, (long long)m->heads,
            (long long)m->kv_heads, (long long)m->head_dim, (long long)m->vocab, m->gated_mlp, moe);
    fprintf(file, "%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,ZeRO-%lld,%s,bf16,1,1,live,%s\n",
            (long long)p->seq, (long long)p->batch, (long long)p->micro, (long long)p->tp,
            (long long)p->pp, (long long)p->vpp, (long long)p->cp, (long long)p->ep,
            (long long)p->zero, value_of(step, "remat").text, value_of(step, "cp_kind").text);
    return fclose(file) == 0 && snprintf(out, size, "%s", runs_path) < (int)size;
}

/* The command that a run prints for its best plan, under `key`. */
static bool write_command(const char *run, const char *key, char *out, size_t size)
{
    static const char program[] = "scaleplan ";
    const struct sp_report *const report = now.report[run_at(run)];
    if (!report)
        return false;
    const struct sp_entry *const command = sp_find(report, key);
    return command && command->text &&
           snprintf(out, size, "%s", command->text + strlen(program)) < (int)size;
}

static bool write_found(const struct sp_report *step, char *out, size_t size)
{
    (void)step;
    return write_command("find", "command", out, size);
}

static bool write_again(const struct sp_report *step, char *out, size_t size)
{
    (void)step;
    return write_command("search", "plans.0.command", out, size);
}

/* Parts that a report of `step` makes. */
static const struct {
    const char *name;
    bool (*write)(const struct sp_report *step, char *out, size_t size);
} of_step[] = {{"scale", write_scale}, {"shards", write_shards},       {"policy", write_policy},
               {"again", write_again}, {"found by find", write_found}, {"runs.csv", write_runs}};

/* A part of a line: from the problem, or a key of an earlier run. */
static bool write_part(const char *name, char *out, size_t size)
{
    const struct problem *const p = &now.problem;
    for (int i = 0; i < p->parts; i++)
        if (strcmp(p->part[i].name, name) == 0) {
            const size_t length = strlen(p->part[i].text);
            return length < size && memcpy(out, p->part[i].text, length + 1);
        }
    const struct sp_report *const step = now.report[run_at("step")];
    for (size_t i = 0; i < sizeof of_step / sizeof *of_step; i++)
        if (strcmp(of_step[i].name, name) == 0)
            return step && of_step[i].write(step, out, size);
    char run[40];
    const size_t n = strcspn(name, ":");
    if (strcmp(name + n, ":best.command") == 0) {
        snprintf(run, sizeof run, "%.*s", (int)n, name);
        return write_command(run, name + n + 1, out, size);
    }
    snprintf(run, sizeof run, "%.*s", (int)n, name);
    if (name[n] == '\0')
        return false;
    const struct sp_report *const report = now.report[run_at(run)];
    if (!report)
        return false;
    const struct value v = value_of(report, name + n + 1);
    if (!v.text[0] && isnan(v.number))
        return false;
    return (v.text[0] ? snprintf(out, size, "%s", v.text)
                      : snprintf(out, size, "%.17g", v.number)) < (int)size;
}

/* The line of a run with its parts inserted; false if one is unknown. */
static bool write_line(const char *line, char *out)
{
    size_t used = 0;
    while (*line) {
        const size_t plain = strcspn(line, "{");
        used += (size_t)snprintf(out + used, MAX_LINE - used, "%.*s", (int)plain, line);
        line += plain;
        if (*line != '{')
            break;
        char name[80];
        const size_t n = strcspn(++line, "}");
        snprintf(name, sizeof name, "%.*s", (int)n, line);
        line += n + 1;
        if (!write_part(name, out + used, MAX_LINE - used))
            return false;
        used += strlen(out + used);
    }
    return true;
}

static bool is_swept(const char *line)
{
    return strncmp(line, "sweep ", strlen("sweep ")) == 0;
}

/* What a sweep writes: its columns, and one row; NULL if it is refused. */
static char *rows_of(const char *line)
{
    char copy[LINE], *words[WORDS], *rows = NULL;
    size_t size;
    struct sp_error error = {0};
    const int n = cut(line, copy, words);
    const struct sp_command *const command = sp_find_command(words[0], &error);
    FILE *const out = open_memstream(&rows, &size);
    assert_true(command && out);
    const struct sp_output to = {out, out};
    const enum sp_exit code = command->stream(n, words, &asked_world, &to, &error);
    fclose(out);
    if (code == SP_OK && error.lines == 0)
        return rows;
    free(rows);
    return NULL;
}

/* The next cell of a row; the recipes, machines and numbers that are asked for have no commas. */
static size_t cell_of(const char **row, char *out, size_t size)
{
    const size_t n = strcspn(*row, ",\n");
    snprintf(out, size, "%.*s", (int)n, *row);
    *row += n + ((*row)[n] == ',');
    return n;
}

/* The value in the column of that name. */
static struct value value_in_rows(const char *rows, const char *column)
{
    struct value v = {.number = NAN};
    const char *names = rows, *cells = strchr(rows, '\n');
    char name[80], cell[64] = "", *end;
    while (cells && *names && *names != '\n') {
        cells += *cells == '\n';
        cell_of(&names, name, sizeof name);
        cell_of(&cells, cell, sizeof cell);
        if (strcmp(name, column) != 0)
            continue;
        v.number = strtod(cell, &end);
        if (end == cell || *end) {
            v.number = NAN;
            snprintf(v.text, sizeof v.text, "%s", cell);
        }
        break;
    }
    return v;
}

static struct sp_report *answer_of(const char *line)
{
    static struct sp_args args;
    struct sp_error error = {0};
    struct sp_report *const report = answer_or(line, &args, &error);
    if (!report && getenv("AGREEMENT_REFUSED"))
        printf("refused: %s: %s\n", line, error.text);
    return report;
}

static bool source_value(const struct source *s, struct value *v)
{
    const int run = run_at(s->run);
    if (!now.asked[run] || !has_traits(&now.problem, s->when))
        return false;
    if (now.rows[run]) {
        *v = value_in_rows(now.rows[run], s->formula);
        return v->text[0] || !isnan(v->number);
    }
    *v = (struct value){.number = now.report[run] != NULL};
    if (strcmp(s->formula, "?") == 0)
        return true;
    if (!now.report[run])
        return false;
    *v = value_of(now.report[run], s->formula);
    return v->text[0] || !isnan(v->number);
}

static double distance(const struct value *a, const struct value *b)
{
    if (a->text[0] || b->text[0])
        return strcmp(a->text, b->text) == 0 ? 0 : INFINITY;
    if (a->number == b->number)
        return 0;
    return fabs(a->number - b->number) / fmax(fabs(a->number), fabs(b->number));
}

static void print_value(const struct value *v, char *out, size_t size)
{
    if (v->text[0])
        snprintf(out, size, "%s", v->text);
    else
        snprintf(out, size, "%.12g", v->number);
}

/* Whether the whole text of a run has the words; "" are always there. */
static bool tells(const char *run, const char *words)
{
    const struct sp_report *const report = now.report[run_at(run)];
    char *text;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    assert_non_null(out);
    if (report)
        sp_render(report, &(struct sp_render){.format = SP_FORMAT_TEXT, .details = true}, out);
    fclose(out);
    const bool found = strstr(text, words) != NULL;
    free(text);
    return found;
}

/* Whether the table of differences has this one; counts it. */
static bool is_known(const struct quantity *q, const struct source *s)
{
    for (int i = 0; i < DIFFERENCES && differences[i].quantity; i++) {
        const struct difference *const d = &differences[i];
        if (strcmp(d->quantity, q->name) != 0 || strcmp(d->run, s->run) != 0 ||
            strcmp(d->formula, s->formula) != 0 || !has_traits(&now.problem, d->when))
            continue;
        if (differed[i]++ < 20)
            told[i] += tells(d->run, d->words);
        return true;
    }
    return false;
}

static void compare(const struct quantity *q, int i, const struct value *first,
                    const struct value *value)
{
    struct tally *const tally = &tallies[q - quantities][i];
    const double off = distance(first, value);
    const bool apart = !(off <= TOLERANCE) && !is_known(q, &q->of[i]);
    tally->compared++;
    tally->apart += apart;
    for (size_t t = 0; t < sizeof trait_names / sizeof *trait_names; t++) {
        const bool has = has_traits(&now.problem, trait_names[t]);
        tally->with[t] += has;
        tally->apart_with[t] += has && apart;
    }
    if (!apart || !(off > tally->worst))
        return;
    char left[80], right[80];
    print_value(first, left, sizeof left);
    print_value(value, right, sizeof right);
    tally->worst = off;
    snprintf(tally->example, sizeof tally->example, "      %s = %s\n      %s = %s", left,
             now.line[run_at(q->of[0].run)], right, now.line[run_at(q->of[i].run)]);
}

static void compare_all(void)
{
    for (int k = 0; k < QUANTITIES; k++) {
        struct value first, value;
        if (!source_value(&quantities[k].of[0], &first))
            continue;
        for (int i = 1; i < MAX_SOURCES && quantities[k].of[i].run; i++)
            if (source_value(&quantities[k].of[i], &value))
                compare(&quantities[k], i, &first, &value);
    }
}

/* How often a source differs on problems with and without a trait, if informative. */
static void print_cause(const struct tally *t)
{
    printf("      apart:");
    for (size_t i = 0; i < sizeof trait_names / sizeof *trait_names; i++) {
        const int without = t->compared - t->with[i], apart_without = t->apart - t->apart_with[i];
        if (t->with[i] == 0 || without == 0)
            continue;
        const double yes = (double)t->apart_with[i] / t->with[i];
        const double no = (double)apart_without / without;
        if (fabs(yes - no) > 0.3 || (yes != no && fmin(yes, no) == 0))
            printf(" %s %.0f%%/%.0f%%", trait_names[i], 100 * yes, 100 * no);
    }
    printf("\n");
}

/* Prints differences and sources that were never compared; returns the number of the latter. */
static int print_tallies(void)
{
    int wrong = 0, compared = 0, sources = 0;
    for (int k = 0; k < QUANTITIES; k++)
        for (int i = 1; i < MAX_SOURCES && quantities[k].of[i].run; i++) {
            const struct tally *const t = &tallies[k][i];
            const struct source *const a = &quantities[k].of[0], *const b = &quantities[k].of[i];
            compared += t->compared;
            sources++;
            if (t->apart == 0 && (t->compared > 0 || problems() < ALL_PROBLEMS))
                continue;
            wrong++;
            printf("%s: %s %s against %s %s: %d of %d apart, by up to %.3g\n", quantities[k].name,
                   a->run, a->formula, b->run, b->formula, t->apart, t->compared, t->worst);
            print_cause(t);
            printf("%s\n", t->example);
        }
    printf("%d problems, %d quantities from %d sources, %d comparisons\n", problems(), QUANTITIES,
           sources + QUANTITIES, compared);
    return wrong;
}

static char *read_docs(void)
{
    struct sp_error error = {0};
    size_t length;
    char *const text =
        sp_read_file(NULL, SCALEPLAN_SOURCE_DIR "/docs/dev/agreement.md", 1 << 20, &length, &error);
    if (!text)
        fail_msg("%s", error.text);
    return text;
}

/* Every listed difference occurs, is stated in the text, and is in docs/dev/agreement.md. */
static void differences_are_told(void **state)
{
    (void)state;
    char *const docs = read_docs();
    int wrong = 0;
    for (int i = 0; i < DIFFERENCES && differences[i].quantity; i++) {
        const struct difference *const d = &differences[i];
        char row[600];
        const char *const line = runs[run_at(d->run)].line;
        snprintf(row, sizeof row, "| %s | `%.*s` %s | %s |", d->quantity, (int)strcspn(line, " "),
                 line, d->formula, d->reason);
        const bool written = strstr(docs, row) != NULL;
        const bool seen = differed[i] > 0 || problems() < ALL_PROBLEMS;
        if (seen && told[i] == (differed[i] < 20 ? differed[i] : 20) && written)
            continue;
        printf("%s: %d problems, told in %d of the first 20%s\n", row, differed[i], told[i],
               written ? "" : ", not in docs/dev/agreement.md");
        wrong++;
    }
    free(docs);
    assert_int_equal(wrong, 0);
}

static void commands_agree(void **state)
{
    (void)state;
    const char *const directory = getenv("TMPDIR");
    const int length = snprintf(runs_path, sizeof runs_path, "%s/agreement-XXXXXX",
                                directory ? directory : "/tmp");
    assert_true(length < (int)sizeof runs_path);
    const int file = mkstemp(runs_path);
    assert_true(file >= 0);
    close(file);
    for (int k = 0; k < problems(); k++) {
        memset(now.asked, 0, sizeof now.asked);
        draw_problem(&now.problem);
        set_part(&now.problem, "weights", "%.17g", 2 * sp_count_params(&now.problem.model).total);
        for (int i = 0; i < RUNS; i++) {
            now.report[i] = NULL;
            now.rows[i] = NULL;
            now.asked[i] = write_line(runs[i].line, now.line[i]);
            if (now.asked[i] && is_swept(now.line[i]))
                now.rows[i] = rows_of(now.line[i]);
            else if (now.asked[i])
                now.report[i] = answer_of(now.line[i]);
        }
        compare_all();
        for (int i = 0; i < RUNS; i++) {
            sp_report_free(now.report[i]);
            free(now.rows[i]);
        }
    }
    unlink(runs_path);
    assert_int_equal(print_tallies(), 0);
}

int main(void)
{
    random_state = drawn_seed(random_state);
    const struct CMUnitTest tests[] = {cmocka_unit_test(commands_agree),
                                       cmocka_unit_test(differences_are_told)};
    return cmocka_run_group_tests_name("agreement", tests, NULL, NULL);
}
