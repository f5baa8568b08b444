/* Reads the plan of a row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scaleplan/estimate.h>

#include "base/number.h"
#include "runs/runs_internal.h"

/* "first 2 last 3", either alone, or as sp_read_stages has it. */
static void read_stage_sizes(struct sp_row_reader *r)
{
    struct sp_plan *const p = &r->run->plan;
    const char *const text = sp_row_text(r, "pipeline_layout");
    const char *const first = strstr(text, "first "), *const last = strstr(text, "last ");
    const struct sp_stage_split usual = {
        .stages = p->pp, .balance = (enum sp_balance)r->run->framework.framework.balance};
    if (!*text)
        return;
    if (first || last) {
        p->first_layers = first ? strtoll(first + strlen("first "), NULL, 10) : 0;
        p->last_layers = last ? strtoll(last + strlen("last "), NULL, 10) : 0;
        if (p->first_layers < (first != NULL) || p->last_layers < (last != NULL))
            sp_row_problem(r->run, "pipeline_layout \"%s\" is not \"first N last N\"",
                           sp_safe(text));
        return;
    }
    const char *const wrong = sp_read_stages(text, &r->run->model, &usual, &p->own);
    if (wrong)
        sp_row_problem(r->run, "pipeline_layout \"%s\": %s (%lld layers, pp %lld)", sp_safe(text),
                       wrong, (long long)r->run->model.layers, (long long)p->pp);
}

/* Sequences and their length, in two columns or as --batch takes them, "512x8192". */
static void read_batch(struct sp_row_reader *r, struct sp_plan *p)
{
    const char *const text = sp_row_text(r, "batch_sequences"), *const mark = strchr(text, 'x');
    char sequences[24];
    double batch, seq;
    snprintf(sequences, sizeof sequences, "%.*s", mark ? (int)(mark - text) : 0, text);
    if (mark && sp_parse_count(sequences, &batch) && sp_parse_count(mark + 1, &seq)) {
        p->batch = (int64_t)batch;
        p->seq = (int64_t)seq;
        return;
    }
    p->seq = sp_row_whole(r, "seq", 0);
    p->batch = sp_row_whole(r, "batch_sequences", 0);
}

static void read_degrees(struct sp_row_reader *r)
{
    struct sp_plan *const p = &r->run->plan;
    p->tp = sp_row_whole(r, "tp", 1);
    p->pp = sp_row_whole(r, "pp", 1);
    p->vpp = sp_row_whole(r, "vpp", 1);
    p->cp = sp_row_whole(r, "cp", 1);
    p->ep = sp_row_whole(r, "ep", 1);
    p->etp = sp_row_whole(r, "etp", sp_usual_etp(&r->run->model, p->tp, p->ep));
    p->open_etp = *sp_row_text(r, "etp") == '\0';
    read_batch(r, p);
    p->micro_batch = sp_row_whole(r, "micro_batch", 0);
    p->offload_layers = sp_row_whole(r, "offload_layers", 0);
    p->sequence_parallel =
        sp_row_flag(r, "sequence_parallel", r->run->framework.usual_sequence_parallel) && p->tp > 1;
    if (p->seq < 1 || p->batch < 1)
        sp_row_problem(r->run, "seq or batch_sequences is not stated");
    if ((double)p->ep * (double)p->etp > (double)sp_chips(&r->run->hw))
        sp_row_problem(r->run, "ep x etp are more than the devices");
    read_stage_sizes(r);
    if (p->tp < 1 || p->pp < 1 || p->vpp < 1 || p->cp < 1 || p->ep < 1 || p->etp < 1)
        sp_row_problem(r->run, "a degree of parallelism is 0");
}

/* Devices that share the states: the number in "shard 8", or 0 if it does not divide dp x cp; with
 * HSDP the replicas within a node; else the default. */
static int64_t shards_of(const struct sp_row_reader *r, const struct sp_plan *p)
{
    const char *const text = sp_row_text(r, "zero");
    const char *const named = strcasestr(text, "shard ");
    const bool hybrid = sp_has_words(text, "hsdp") || sp_has_words(text, "hybrid_shard");
    const int64_t all = sp_default_shards(p, r->run->hw.slices), replicas = p->dp * p->cp;
    if (named) {
        const int64_t group = strtoll(named + strlen("shard "), NULL, 10);
        return group >= 1 && replicas % group == 0 ? group : 0;
    }
    if (!hybrid)
        return all;
    const int64_t node = r->run->devices_per_node / p->tp;
    const int64_t group = sp_common_divisor(replicas, node > 0 ? node : 1);
    return group > 1 ? group : all;
}

/* Default micro-batch by the framework: a replica's share of the batch, that over the stages, or
 * one sequence. */
static int64_t usual_micro_batch(const struct sp_run *run)
{
    const struct sp_plan *const p = &run->plan;
    const int64_t share = p->batch / p->dp;
    const int64_t parts[] = {
        [SP_MICRO_SHARE] = 1, [SP_MICRO_ONE] = share, [SP_MICRO_STAGES] = p->pp};
    const int64_t cut = parts[run->framework.usual_micro_batch];
    return cut > 0 && share / cut > 0 ? share / cut : 1;
}

static void read_layout(struct sp_row_reader *r)
{
    struct sp_run *const run = r->run;
    struct sp_plan *const p = &run->plan;
    const int64_t devices = sp_chips(&run->hw);
    if ((double)p->tp * (double)p->pp * (double)p->cp > (double)devices ||
        devices % (p->tp * p->pp * p->cp) != 0) {
        sp_row_problem(run, "tp x pp x cp does not divide the devices");
        return;
    }
    p->dp = devices / (p->tp * p->pp * p->cp);
    p->zero = sp_row_zero(r, sp_usual_zero(&run->framework.framework));
    p->shards = shards_of(r, p);
    if (p->shards == 0)
        sp_row_problem(run, "\"%s\" does not divide the %lld replicas",
                       sp_safe(sp_row_text(r, "zero")), (long long)p->dp * p->cp);
    if (p->micro_batch < 1)
        p->micro_batch = usual_micro_batch(run);
    p->schedule = sp_usual_schedule(p->vpp);
    p->imbalance = 1;
}

/* Notes a row without recomputation that would not have fit. */
static void note_memory(struct sp_run *run)
{
    struct sp_stage_memory m;
    const double capacity = sp_capacity_bytes(&run->hw.chip);
    sp_fullest_stage(&run->model, &run->precision, &run->plan, &run->framework.framework, &m);
    if ((double)m.live > capacity)
        snprintf(run->note, sizeof run->note,
                 "recompute is not stated; without it the tensors take %.0f GB of %.0f",
                 (double)m.live / 1e9, capacity / 1e9);
}

void sp_read_row_plan(struct sp_row_reader *r)
{
    struct sp_run *const run = r->run;
    struct sp_plan *const p = &run->plan;
    p->execution = run->framework.framework.execution;
    read_degrees(r);
    sp_row_precision(r);
    sp_row_recompute(r);
    sp_row_execution(r);
    if (run->problem[0] != '\0')
        return;
    read_layout(r);
    if (run->problem[0] != '\0')
        return;
    if (sp_compute_dtype(&run->hw.chip, p->dtype) == SP_DTYPES)
        sp_row_problem(run, "%s publishes no peak for precision \"%s\"", run->hw.name,
                       sp_safe(sp_row_text(r, "precision")));
    const enum sp_plan_problem problem =
        sp_check_plan(&run->model, p, sp_chips(&run->hw), run->hw.slices);
    if (problem != SP_PLAN_OK)
        sp_row_problem(run, "%s", sp_plan_problem_text(problem));
    else if (!run->recompute_stated)
        note_memory(run);
}
