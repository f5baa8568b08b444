/* Grades a student's answers. */
#include "cli/exercise_grade.h"

#include <ctype.h>
#include <stdarg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

void sp_name_part(char out[16], int number, int part, int parts)
{
    snprintf(out, 16, "%d%.*s%c", number, parts == 1 ? 0 : part / 26, "zz",
             parts == 1 ? '\0' : (char)('a' + part % 26));
}

void sp_open_answers(const char *text, struct sp_answers *answers)
{
    size_t lines = 1;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    *answers = (struct sp_answers){.lines = sp_must(calloc(lines, sizeof *answers->lines))};
    for (int number = 1; *text; number++, text += strcspn(text, "\n"), text += *text == '\n') {
        text += strspn(text, " \t\r");
        if (*text != '\n' && *text != '#' && *text)
            answers->lines[answers->n++] = (struct sp_answer_line){.text = text, .number = number};
    }
}

void sp_close_answers(struct sp_answers *answers)
{
    free(answers->lines);
}

/* The answer of a line, without blanks at its ends. */
static void take_given(const char *at, char out[64])
{
    at += strspn(at, " \t:=.)");
    snprintf(out, 64, "%.*s", (int)strcspn(at, "\r\n#"), at);
    for (size_t end = strlen(out); end > 0 && isspace((unsigned char)out[end - 1]); end--)
        out[end - 1] = '\0';
}

/* The length of the name of a part at the start of a line: "3b"; "1", and of an only part also
 * "1a". 0: the line has another name. */
static size_t length_of_name(const char *line, const char *name, bool is_only)
{
    size_t n = strlen(name);
    if (strncasecmp(line, name, n) != 0)
        return 0;
    n += is_only && (line[n] == 'a' || line[n] == 'A');
    return isalnum((unsigned char)line[n]) ? 0 : n;
}

/* The answer after the name of a part: the last one if there are several. */
static void find_given(struct sp_answers *answers, const char *name, bool is_only, char out[64])
{
    size_t n = 0;
    struct sp_answer_line *last = NULL;
    *out = '\0';
    for (size_t i = 0; i < answers->n; i++) {
        struct sp_answer_line *const line = &answers->lines[i];
        const size_t length = length_of_name(line->text, name, is_only);
        if (length == 0)
            continue;
        if (last)
            last->state = SP_LINE_OUTDATED;
        line->state = SP_LINE_READ;
        last = line;
        n = length;
    }
    if (last)
        take_given(last->text + n, out);
}

void sp_note_unread_answers(struct sp_report *report, const struct sp_answers *answers)
{
    static const char *const why[] = {
        [SP_LINE_UNREAD] = "no such question",
        [SP_LINE_OUTDATED] = "answered again below",
    };
    enum { MOST_NAMED = 5 };
    for (int state = SP_LINE_UNREAD; state < SP_LINE_READ; state++) {
        char named[MOST_NAMED * 64] = "";
        int n = 0;
        for (size_t i = 0; i < answers->n; i++) {
            const struct sp_answer_line *const line = &answers->lines[i];
            if ((int)line->state != state || n++ >= MOST_NAMED)
                continue;
            char start[32];
            snprintf(start, sizeof start, "%.*s", (int)strcspn(line->text, "\r\n"), line->text);
            sp_append(named, sizeof named, "%sline %d \"%s\"", *named ? ", " : "", line->number,
                      sp_safe(start));
        }
        if (n > MOST_NAMED)
            sp_append(named, sizeof named, " and %d more", n - MOST_NAMED);
        if (n > 0)
            sp_note(report, "not graded, %s: %s", why[state], named);
    }
}

/* Whether the text ends in a unit, with or without its last letter ("FLOP" for FLOPs); cuts the
 * unit off. */
static bool drop_unit(char *text, const char *unit)
{
    const size_t n = strlen(text);
    for (size_t length = strlen(unit), least = length - (length > 3); length >= least && length > 0;
         length--)
        if (n > length && strncasecmp(text + n - length, unit, length) == 0) {
            text[n - length] = '\0';
            return true;
        }
    return false;
}

/* Takes out blanks, and commas between groups of three digits; a single comma with other digits
 * after it is a point. */
static void plain_number(const char *given, char text[64])
{
    const char *const comma = strchr(given, ',');
    const bool is_point = comma && comma == strrchr(given, ',') && !strchr(given, '.') &&
                          strspn(comma + 1, "0123456789") != 3;
    size_t n = 0;
    for (; *given; given++)
        if (*given != ' ' && (*given != ',' || is_point))
            text[n++] = *given == ',' ? '.' : *given;
    text[n] = '\0';
}

/* A number with a prefix and a unit, which may be the quantity's own, or "2x". */
static bool read_number(const char *given, const char *unit, double *value)
{
    char text[64], bare[64];
    plain_number(given, text);
    memcpy(bare, text, sizeof bare);
    return (drop_unit(bare, unit) && sp_parse_number(bare, value)) ||
           sp_parse_number(text, value) || (drop_unit(text, "x") && sp_parse_number(text, value));
}

static const double ROUNDING = 0.01; /* of answers by hand */

/* How far rounding may move a typed number: half a unit of its last digit, and as much again for an
 * intermediate figure of three digits. */
static double rounding_of(const char *typed)
{
    double digits = 0;
    char text[64];
    plain_number(typed, text);
    const char *given = text;
    for (given += strcspn(given, "0123456789"); isdigit((unsigned char)*given) || *given == '.';
         given++)
        digits = *given == '.' ? digits : 10 * digits + (*given - '0');
    return fmin(0.002 + 0.5 / fmax(digits, 1), ROUNDING);
}

enum { MOST_ARGUMENTS = 64 };

/* The quantities on which an answer depends: the arguments of its formula, and of the formulas that
 * give these. */
struct basis {
    const struct sp_report *answer;
    struct {
        const char *name, *unit; /* "" of values that are no arguments */
        double value;
    } of[MOST_ARGUMENTS];
    int n;
};

static void add_argument(struct basis *basis, const char *name, const char *unit, double value)
{
    if (basis->n < MOST_ARGUMENTS) {
        basis->of[basis->n].name = name;
        basis->of[basis->n].unit = unit;
        basis->of[basis->n++].value = value;
    }
}

static bool form_takes(const struct sp_report *answer, const struct sp_entry *entry,
                       const char *unit, double value)
{
    if (entry->form == SP_CLOSED_NONE)
        return false;
    const struct sp_form form = sp_form(entry->form);
    for (size_t i = 0; form.arguments[i].name; i++)
        if (strcmp(form.arguments[i].unit, unit) == 0 &&
            sp_argument_value(answer, entry, form.arguments[i].name, NULL, NULL) == value)
            return true;
    return false;
}

static void add_form(struct basis *basis, const struct sp_entry *entry, int depth);

/* Adds the formulas that give a value in a unit. */
static void add_value(struct basis *basis, const char *unit, double value, int depth)
{
    for (size_t i = 0; i < sp_report_size(basis->answer) && *unit; i++) {
        const struct sp_entry *const entry = sp_report_entry(basis->answer, i);
        if (entry->kind == SP_VALUE_NUMBER && entry->number == value &&
            strcmp(sp_unit_name(entry->info->unit), unit) == 0)
            add_form(basis, entry, depth);
    }
}

static void add_form(struct basis *basis, const struct sp_entry *entry, int depth)
{
    enum { DEEPEST = 4 };
    if (entry->form == SP_CLOSED_NONE || depth > DEEPEST)
        return;
    const struct sp_form form = sp_form(entry->form);
    for (size_t i = 0; form.arguments[i].name; i++) {
        const char *unit;
        const double value =
            sp_argument_value(basis->answer, entry, form.arguments[i].name, &unit, NULL);
        add_argument(basis, form.arguments[i].name, unit, value);
        add_value(basis, unit, value, depth + 1);
    }
}

/* A quantity without a formula depends on the other quantities of a formula that uses it (the
 * bandwidth is bytes over the time), and the time of an exchange on the bytes in the question. */
static void add_takers(struct basis *basis, const struct sp_entry *of)
{
    const char *const unit = sp_unit_name(of->info->unit);
    const struct sp_entry *const bytes = sp_find(basis->answer, "bytes");
    if (bytes && of->info->unit == SP_SECONDS) {
        add_argument(basis, "", "bytes", bytes->number);
        add_argument(basis, "", "bytes/s", NAN);
    }
    for (size_t i = 0; i < sp_report_size(basis->answer); i++) {
        const struct sp_entry *const entry = sp_report_entry(basis->answer, i);
        if (!form_takes(basis->answer, entry, unit, of->number))
            continue;
        add_argument(basis, "", sp_unit_name(entry->info->unit), entry->number);
        add_form(basis, entry, 1);
    }
}

static void find_basis(struct basis *basis, const struct sp_entry *of)
{
    const char *const unit = sp_unit_name(of->info->unit);
    add_argument(basis, "", unit, of->number);
    add_form(basis, of, 0);
    add_value(basis, unit, of->number, 0);
    if (of->form == SP_CLOSED_NONE)
        add_takers(basis, of);
}

/* Whether an answer depends on all units of a list; "FLOP*" is each unit that begins so. */
static bool has_units(const struct basis *basis, const char *units)
{
    for (const char *at = units; *at; at += strcspn(at, " "), at += *at == ' ') {
        const size_t n = strcspn(at, " *");
        bool has = false;
        for (int i = 0; i < basis->n && !has; i++)
            has = strncmp(basis->of[i].unit, at, n) == 0 &&
                  (at[n] == '*' || basis->of[i].unit[n] == '\0');
        if (!has)
            return false;
    }
    return true;
}

/* Units of answers, for exercise_mistakes.def. */
enum {
    DATA = 1 << SP_BYTES | 1 << SP_CAPACITY | 1 << SP_BYTES_PER_S,
    TIMES = 1 << SP_SECONDS | 1 << SP_DAYS | 1 << SP_HOURS,
    SHARES = 1 << SP_FRACTION,
    SIZES = 1 << SP_PARAMETERS | 1 << SP_NUMBER | 1 << SP_FLOPS_PER_BYTE,
    ALL = (1 << SP_UNITS) - 1,
};

/* A wrong number, and what may explain it. */
struct wrong {
    struct sp_graded *graded;
    const struct basis *basis;
    double given, ratio, slack;
    const char *more;
};

static bool fits(const struct wrong *w, double by)
{
    return sp_case_is_close(w->ratio, by, w->slack);
}

/* Adds a reason to the remark. */
__attribute__((format(printf, 3, 4))) static void blame(const struct wrong *w, double by,
                                                        const char *format, ...)
{
    struct sp_graded *const g = w->graded;
    char words[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (strstr(g->remark, words))
        return;
    if (*g->remark)
        sp_append(g->remark, sizeof g->remark, "; or %s", words);
    else if (by >= 1e6 && log10(by) == floor(log10(by)))
        sp_append(g->remark, sizeof g->remark, "10^%.0f times too %s: %s", log10(by), w->more,
                  words);
    else if (by > 0)
        sp_append(g->remark, sizeof g->remark, "%.4g times too %s: %s", by, w->more, words);
    else
        sp_append(g->remark, sizeof g->remark, "%s", words);
}

/* Factors of a unit. */
static void blame_units(const struct wrong *w)
{
#define MISTAKE(by, units, needs, words) {by, units, needs, words},
    static const struct {
        double by;
        unsigned units;
        const char *needs, *words;
    } mistakes[] = {
#include "cli/exercise_mistakes.def"
    };
#undef MISTAKE
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        if (fits(w, mistakes[i].by) && mistakes[i].units & 1u << w->graded->of->info->unit &&
            has_units(w->basis, mistakes[i].needs))
            blame(w, mistakes[i].by, "%s", mistakes[i].words);
}

/* Factors of a quantity. */
static void blame_keys(const struct wrong *w)
{
#define MISTAKE(...)
#define KEYED(by, key, words) {by, key, words},
    static const struct {
        double by;
        const char *key, *words;
    } keyed[] = {
#include "cli/exercise_mistakes.def"
    };
#undef KEYED
#undef MISTAKE
    for (size_t i = 0; i < sizeof keyed / sizeof *keyed; i++)
        if (fits(w, keyed[i].by) &&
            strncmp(sp_path(w->graded->of), keyed[i].key, strlen(keyed[i].key)) == 0)
            blame(w, keyed[i].by, "%s", keyed[i].words);
}

/* A share in its formula that is left out. */
static void blame_shares(const struct wrong *w)
{
#define MISTAKE(...)
#define SHARE(name, words) {name, words},
    static const struct {
        const char *name, *words;
    } shares[] = {
#include "cli/exercise_mistakes.def"
    };
#undef SHARE
#undef MISTAKE
    for (int i = 0; i < w->basis->n; i++)
        for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
            if (strcmp(w->basis->of[i].name, shares[s].name) == 0 &&
                fits(w, 1 / w->basis->of[i].value))
                blame(w, w->ratio, "%s", shares[s].words);
}

/* One in place of all n, or the (n-1)/n of an exchange between n. */
static void blame_count(const struct wrong *w, double n, const char *what, bool is_exchanged)
{
    if (!(n > 1) || n != floor(n))
        return;
    if (fits(w, n))
        blame(w, n, "one in place of all %.0f %s, or the reverse", n, what);
    if (is_exchanged && fits(w, n / (n - 1)))
        blame(w, w->ratio, "(n-1)/n of %.0f %s", n, what);
}

/* Counts in the answer, and in its formula. */
static void blame_counts(const struct wrong *w)
{
#define MISTAKE(...)
#define COUNTED(key, what) {key, what},
    static const struct {
        const char *key, *what;
    } counted[] = {
#include "cli/exercise_mistakes.def"
    };
#undef COUNTED
#undef MISTAKE
    static const char *const units[] = {"devices", "chips",  "nodes",
                                        "stages",  "layers", "sequences"};
    const bool is_exchanged = has_units(w->basis, "bytes/s");
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        const struct sp_entry *const entry = sp_find(w->basis->answer, counted[i].key);
        if (entry && entry != w->graded->of && entry->kind == SP_VALUE_NUMBER &&
            w->graded->of->info->unit != SP_FRACTION)
            blame_count(w, entry->number, counted[i].what, is_exchanged);
    }
    for (int i = 0; i < w->basis->n; i++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++)
            if (strcmp(w->basis->of[i].unit, units[u]) == 0)
                blame_count(w, w->basis->of[i].value, units[u], is_exchanged);
}

/* Another quantity of the answer; for a bare number also its inverse, its difference from 1, or its
 * ratio to that. */
static void blame_others(const struct wrong *w)
{
    const struct sp_entry *const of = w->graded->of;
    const bool is_bare = of->info->unit == SP_NUMBER || of->info->unit == SP_FRACTION;
    if (is_bare && sp_case_is_close(w->given, 1 / of->number, w->slack))
        blame(w, 0, "that is the reciprocal");
    if (is_bare && sp_case_is_close(w->given, 1 - of->number, w->slack))
        blame(w, 0, "that is its difference from 1");
    if (of->info->unit == SP_FRACTION &&
        sp_case_is_close(w->given, of->number / (1 - of->number), w->slack))
        blame(w, 0, "that is its ratio to the rest, not to the whole");
    for (size_t i = 0; i < sp_report_size(w->basis->answer) && of->info->unit != SP_COUNT; i++) {
        const struct sp_entry *const other = sp_report_entry(w->basis->answer, i);
        if (other->kind == SP_VALUE_NUMBER && other->info->unit == of->info->unit &&
            sp_case_is_close(w->given, other->number, w->slack)) {
            blame(w, 0, "that is %s", sp_path(other));
            return;
        }
    }
}

static void blame_round_factor(const struct wrong *w)
{
#define MISTAKE(...)
#define ROUND(by, words) {by, words},
    static const struct {
        double by;
        const char *words;
    } factors[] = {
#include "cli/exercise_mistakes.def"
    };
#undef ROUND
#undef MISTAKE
    for (size_t i = 0; i < sizeof factors / sizeof *factors && !*w->graded->remark; i++)
        if (fits(w, factors[i].by))
            blame(w, factors[i].by, "%s", factors[i].words);
}

/* Names the steps that may have gone wrong: all that fit the answer's unit and the factor. */
static void find_mistake(struct sp_graded *g, const struct sp_report *answer, double given,
                         double slack)
{
    const double right = g->of->number;
    struct basis basis = {.answer = answer};
    const bool is_more = fabs(given) > fabs(right);
    const struct wrong wrong = {.graded = g,
                                .basis = &basis,
                                .given = given,
                                .ratio = is_more ? given / right : right / given,
                                .slack = slack,
                                .more = is_more ? "large" : "small"};
    find_basis(&basis, g->of);
    blame_keys(&wrong);
    blame_units(&wrong);
    blame_shares(&wrong);
    blame_counts(&wrong);
    blame_others(&wrong);
    blame_round_factor(&wrong);
}

static void grade_number(struct sp_graded *g, const struct sp_case *c,
                         const struct sp_report *answer)
{
    const char *const unit = sp_unit_name(g->of->info->unit);
    double given;
    char number[64];
    /* a number may name what it counts, "11.5 nats", or be in per cent, "5 %" */
    snprintf(number, sizeof number - 1, "%.*s%s",
             (int)(*unit ? strlen(g->given) : strcspn(g->given, " ")), g->given,
             !*unit && (strstr(g->given, " %") || strstr(g->given, " per")) ? "%" : "");
    if (!read_number(number, unit, &given)) {
        snprintf(g->remark, sizeof g->remark, "not a number%s%s, such as 850 or 16.9k",
                 *unit ? " of " : "", unit);
        return;
    }
    g->off = sp_case_off(given, g->of->number);
    if (fabs(g->off) > 1e9) /* such a difference means nothing, and may not be a number */
        g->off = NAN;
    g->right = sp_case_is_close(given, g->of->number, fmax(c->rel_tol, ROUNDING));
    if (!g->right)
        find_mistake(g, answer, given, rounding_of(number));
}

struct sp_graded sp_grade(struct sp_answers *answers, int number, int part, const struct sp_case *c,
                          const struct sp_report *answer)
{
    struct sp_graded g = {.of = sp_find(answer, c->expect[part].key), .off = NAN};
    sp_name_part(g.question, number, part, c->n_expect);
    find_given(answers, g.question, c->n_expect == 1, g.given);
    if (!*g.given)
        snprintf(g.remark, sizeof g.remark, "no answer");
    else if (g.of->kind == SP_VALUE_NUMBER)
        grade_number(&g, c, answer);
    else if (g.of->kind == SP_VALUE_BOOL)
        g.right = strchr(g.of->number != 0 ? "yYtT1" : "nNfF0", *g.given) != NULL;
    else
        g.right = g.of->kind == SP_VALUE_TEXT && strcasecmp(g.given, g.of->text) == 0;
    return g;
}
