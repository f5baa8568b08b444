/* search --find: the inverse questions, each a row of searches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search_report.h"

struct finding {
    struct sp_searching *s;
    const struct sp_sources *sources;
    struct sp_candidate *at; /* what is tried */
    int tried;
    double max_step_s, deadline_days, tokens;
};

/* The best step of a changed problem; NAN when nothing fits or it cannot be searched. */
static double best_step(struct finding *f, const struct sp_planned *base)
{
    struct sp_error ignored = {0};
    struct sp_search_run run = f->s->run;
    f->at->base = *base;
    run.wanted = 1;
    run.front = false;
    f->tried++;
    if (!sp_space_of(f->s->args, &f->at->base, &f->at->space, &ignored))
        return NAN;
    sp_run_search(&f->at->space, &run, &f->at->result);
    return f->at->result.best.n > 0 ? f->at->result.best.found[0].step_s : NAN;
}

static bool is_fast_enough(const struct finding *f, const struct sp_planned *base, double step_s)
{
    const double batch = (double)base->plan.batch * (double)base->plan.seq;
    if (isnan(step_s))
        return false;
    if (!isnan(f->max_step_s) && step_s > f->max_step_s)
        return false;
    return isnan(f->deadline_days) || f->tokens / batch * step_s / 86400 <= f->deadline_days;
}

/* Remembers an answer. */
struct answer {
    double value, step_s, batch_tokens, params;
};

static void note_answer(struct answer *answer, double value, const struct sp_planned *base,
                        double step_s)
{
    *answer = (struct answer){value, step_s, (double)base->plan.batch * (double)base->plan.seq,
                              sp_count_params(&base->model).total};
}

/* Machines of 1, 2, 3, 4, 6, 8, 12, ... nodes, or the slices on offer of about those sizes. */
static struct answer find_devices(struct finding *f)
{
    struct answer answer = {NAN, NAN, NAN, NAN};
    char name[128], spec[160];
    struct sp_hardware chip;
    struct sp_error ignored = {0};
    sp_machine_name(f->s->machine[0]->hw, f->sources, name, sizeof name);
    if (!sp_load_chip(name, f->sources, &chip, &ignored))
        return answer;
    const double node = chip.network.kind == SP_TORUS ? 1 : (double)chip.network.domain;
    for (int k = 0; k < 42; k++) {
        static struct sp_planned base;
        struct sp_args args = *f->s->args;
        struct sp_error none = {0};
        const double devices = node * (k % 2 ? 3 : 2) * exp2(floor(k / 2.0) - 1);
        if (devices != floor(devices) || devices > 4e6)
            continue;
        snprintf(spec, sizeof spec, "%s-%.0f", name, devices);
        sp_replace_text(&args, "hw", spec);
        if (!sp_base_of(&args, f->sources, &base, &none))
            continue;
        const double step = best_step(f, &base);
        if (is_fast_enough(f, &base, step)) {
            note_answer(&answer, (double)sp_chips(&base.hw), &base, step);
            return answer;
        }
    }
    return answer;
}

/* The largest of 1, 2, 4, ... and then of halves between that `try` accepts, where every smaller
 * one is accepted too. */
static struct answer find_largest(struct finding *f, double most,
                                  bool (*change)(struct sp_planned *, double))
{
    struct answer answer = {NAN, NAN, NAN, NAN};
    static struct sp_planned base;
    double good = 0, bad = NAN;
    for (double value = 1; value <= most;) {
        base = f->s->machine[0]->base;
        const double step = change(&base, value) ? best_step(f, &base) : NAN;
        if (is_fast_enough(f, &base, step)) {
            good = value;
            note_answer(&answer, value, &base, step);
        } else {
            bad = value;
        }
        if (isnan(bad))
            value *= 2;
        else if (bad - good <= fmax(1, good / 64) || f->tried > 64)
            break;
        else
            value = floor((good + bad) / 2);
    }
    return answer;
}

static bool with_batch(struct sp_planned *base, double sequences)
{
    base->plan.batch = (int64_t)sequences;
    return true;
}

/* Sequences in steps of 1024 tokens; the batch keeps its tokens where it can. */
static bool with_seq(struct sp_planned *base, double thousands)
{
    const double tokens = (double)base->plan.batch * (double)base->plan.seq;
    base->plan.seq = (int64_t)(1024 * thousands);
    base->plan.batch = (int64_t)fmax(1, exp2(floor(log2(tokens / (double)base->plan.seq))));
    return true;
}

static bool with_layers(struct sp_planned *base, double layers)
{
    if (base->model.moe.dense_layers >= (int64_t)layers)
        base->model.moe.dense_layers = (int64_t)layers - 1;
    base->model.layers = (int64_t)layers;
    return true;
}

static void put_answer(struct finding *f, const char *what, const struct answer *answer)
{
    struct sp_report *const r = f->s->report;
    sp_put_text(r, SP_Q_FIND_WHAT, "%s", what);
    sp_put(r, SP_Q_FIND_VALUE, answer->value);
    sp_put(r, SP_Q_FIND_TRIED, f->tried);
    sp_put(r, SP_Q_FIND_STEP, answer->step_s);
    sp_put(r, SP_Q_FIND_DAYS, f->tokens / answer->batch_tokens * answer->step_s / 86400);
    sp_put(r, SP_Q_FIND_PARAMS, answer->params);
    sp_put_bool(r, SP_Q_SEARCH_FITS, !isnan(answer->value));
    if (isnan(answer->value))
        sp_line(r,
                "find       %s: none of {tried} searches has a plan that fits and is fast enough",
                what);
    else
        sp_line(r,
                "find       %s: {answer!} (step {answer_step_s}, {answer_days} for the tokens, "
                "{answer_params}); {tried} searches",
                what);
}

bool sp_report_find(struct sp_searching *s, const struct sp_sources *sources,
                    struct sp_error *error)
{
    static const char *const names[] = {"devices", "batch", "seq", "model"};
    const int what = sp_choice_of(s->args, "find");
    struct finding f = {.s = s,
                        .sources = sources,
                        .at = calloc(1, sizeof *f.at),
                        .max_step_s = sp_number_of(s->args, "max-step"),
                        .deadline_days = sp_number_of(s->args, "deadline"),
                        .tokens = sp_number_of(s->args, "tokens")};
    if (!f.at)
        abort();
    bool ok = true;
    struct answer answer = {NAN, NAN, NAN, NAN};
    if (!isnan(f.deadline_days) && isnan(f.tokens))
        ok = sp_fail(error, SP_USAGE, "--deadline needs --tokens");
    else if (what < 2 && isnan(f.deadline_days) && isnan(f.max_step_s))
        ok = sp_fail(error, SP_USAGE, "--find %s needs --max-step%s", names[what],
                     what == 0 ? ", or --deadline with --tokens" : "");
    else if (what == 0)
        answer = find_devices(&f);
    else
        answer = find_largest(&f, what == 3 ? 1e4 : 1e8,
                              what == 1   ? with_batch
                              : what == 2 ? with_seq
                                          : with_layers);
    if (what == 2)
        answer.value *= 1024;
    if (ok)
        put_answer(&f, names[what], &answer);
    free(f.at);
    return ok;
}
