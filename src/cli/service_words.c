/* The words of `serve`: the verdict, what limits it, what it was asked for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/names.h>

#include "base/text.h"
#include "cli/service.h"

double sp_limited_latency_s(const struct serve *f, enum sp_serve_latency latency, double mean_s)
{
    const struct sp_percentiles *const of =
        latency == SP_LATENCY_TTFT ? &f->simulated.ttft : &f->simulated.tpot;
    if (f->is_simulated)
        return f->load.percentile == 99   ? of->p99
               : f->load.percentile == 95 ? of->p95
               : f->load.percentile == 90 ? of->p90
                                          : of->p50;
    return sp_latency_percentile(latency, mean_s, f->load.percentile);
}

bool sp_has_limits(const struct sp_serve_load *load)
{
    return isfinite(load->tpot_s) || isfinite(load->ttft_s);
}

bool sp_in_time(const struct serve *f, const struct sp_steady *y, const struct sp_serve_load *load)
{
    if (!f->is_simulated)
        return sp_keeps_limits(y, load);
    return !(sp_limited_latency_s(f, SP_LATENCY_TPOT, y->tpot_s) > load->tpot_s) &&
           !(load->ttft_s > 0 &&
             sp_limited_latency_s(f, SP_LATENCY_TTFT, y->ttft_s) > load->ttft_s);
}

double sp_working_chips(const struct serve *f)
{
    return f->service.chips + (f->is_split ? f->readers * f->reader.service.chips : 0);
}

double sp_idle_chips(const struct serve *f)
{
    return round(f->replicas * (f->group_chips - sp_working_chips(f)));
}

/* "8 instances of 4 chips (TP 4)", one of them "4 chips (TP 4)". */
static void add_pool(double instances, const struct sp_service *s, char *out, size_t size)
{
    if (instances > 1)
        sp_append(out, size, "%s instances of ", sp_human_text(instances, SP_COUNT));
    sp_append(out, size, "%.0f chip%s", s->chips, s->chips == 1 ? "" : "s");
    if (s->tp > 0)
        sp_append(out, size, " (TP %.0f", s->tp);
    if (s->tp > 0 && s->attention_dp > 1)
        sp_append(out, size, ", DP %.0f", s->attention_dp);
    if (s->tp > 0 && s->pp > 1)
        sp_append(out, size, ", PP %.0f", s->pp);
    if (s->tp > 0)
        sp_append(out, size, ")");
}

static void add_instances(const struct serve *f, char *out, size_t size)
{
    if (f->is_split) {
        add_pool(f->replicas * f->readers, &f->reader.service, out, size);
        sp_append(out, size, " that read and ");
    }
    add_pool(f->replicas, &f->service, out, size);
    const double most = f->service.most_running;
    sp_append(out, size, "%s, ", f->is_split ? " that generate" : "");
    if (most > 0 && f->B > most)
        sp_append(out, size, "%s of ", sp_human_text(most, SP_COUNT));
    sp_append(out, size, "%s ", sp_human_text(f->B, SP_COUNT));
    if (f->B < most)
        sp_append(out, size, "of at most %s ", sp_human_text(most, SP_COUNT));
    sp_append(out, size, "sequence%s%s", f->B == 1 && !(most > 1) ? "" : "s",
              f->replicas > 1 ? " each" : "");
    if (most > 0 && f->B > most)
        sp_append(out, size, " at once");
    if (sp_idle_chips(f) > 0)
        sp_append(out, size, "; %.0f chip%s", sp_idle_chips(f),
                  sp_idle_chips(f) == 1 ? " is idle" : "s are idle");
}

double sp_round_down(double x)
{
    const double unit = pow(10, floor(log10(x)) - 2);
    return x > 0 && isfinite(x) ? floor(x / unit * (1 + 1e-12)) * unit : x;
}

/* ", a token takes 10.4 ms (simulated); --tpot allows 10.0 ms" */
static void add_late(const struct serve *f, const struct sp_steady *y, char *out, size_t size)
{
    struct sp_serve_load tpot = f->load;
    tpot.ttft_s = INFINITY;
    const bool first = sp_in_time(f, y, &tpot); /* then the limit of the first token is exceeded */
    const double s = first ? sp_limited_latency_s(f, SP_LATENCY_TTFT, y->ttft_s)
                           : sp_limited_latency_s(f, SP_LATENCY_TPOT, y->tpot_s);
    char takes[32], allows[32], of[32] = "";
    snprintf(takes, sizeof takes, "%s", sp_human_text(s, SP_SECONDS));
    snprintf(allows, sizeof allows, "%s",
             sp_human_text(first ? f->load.ttft_s : f->load.tpot_s, SP_SECONDS));
    if (f->load.percentile != 50)
        snprintf(of, sizeof of, " (%.0fth percentile)", f->load.percentile);
    sp_append(out, size, ", %s takes %s%s%s%s; --%s allows %s",
              first ? "the first token" : "a token", strcmp(takes, allows) == 0 ? "more than " : "",
              takes, of, f->is_simulated ? " (simulated)" : "", first ? "ttft" : "tpot", allows);
}

/* "21.8 requests/s, on 8 chips", of requests that come at a rate. */
static void add_served(const struct serve *f, const struct sp_steady *y, char *out, size_t size)
{
    const double rate = sp_total_of_instances(y->requests_per_s, f->replicas);
    sp_append(out, size, "%s%s requests/s%s, on ",
              isnan(f->load.step_s) && !f->instance.estimated ? "at best " : "",
              sp_human_text(f->load.rate > 0 ? rate : sp_round_down(rate), SP_NUMBER),
              isnan(f->load.step_s) ? "" : " (--step-time)");
    add_instances(f, out, size);
}

void sp_say_serving(const struct serve *f, const struct sp_steady *y, bool in_time, char *out,
                    size_t size)
{
    char beyond[64] = "";
    sp_say_beyond(f, beyond, sizeof beyond);
    snprintf(out, size, in_time ? "Yes%s: " : "No: ", beyond);
    if (in_time) {
        add_served(f, y, out, size);
    } else if (f->is_overrun && f->most_served > 0) {
        sp_append(out, size, "at most %s of the %.6g requests/s%s, on ",
                  sp_human_text(sp_round_down(f->most_served), SP_NUMBER), f->load.rate,
                  sp_has_limits(&f->load) ? " in time" : "");
        add_instances(f, out, size);
    } else {
        sp_append(out, size, "on ");
        add_instances(f, out, size);
        add_late(f, y, out, size);
    }
    if (!isnan(f->fewest) && (!in_time || f->fewest < (double)sp_chips(&f->hw)))
        sp_append(out, size, "; %.0f chip%s enough for this rate", f->fewest,
                  f->fewest == 1 ? " is" : "s are");
}

const char *sp_limit_of(const struct serve *f)
{
    struct sp_serve_load tpot = f->load;
    if (!isnan(f->load.concurrency) || (f->load.rate > 0 && !f->is_overrun))
        return "";
    const double most = sp_most_sequences(&f->served);
    if (f->B >= most)
        return f->service.most_running == most ? "--max-running" : "the memory";
    const struct sp_steady y = sp_state_of(&f->instance, &f->load, f->B + 1);
    tpot.ttft_s = INFINITY;
    if (!sp_keeps_limits(&y, &tpot))
        return "--tpot";
    return f->is_simulated && sp_keeps_limits(&y, &f->load) ? "the simulation"
           : isfinite(f->load.ttft_s)                       ? "--ttft"
           : f->load.readers > 0                            ? "the readers"
                                                            : "";
}

void sp_say_inputs(const struct serve *f, bool asked, char *out, size_t size)
{
    const struct sp_service *const s = &f->service;
    const bool apart = f->served.experts > 0 && f->expert_weights != f->weights;
    /* --context is longer than the assumed prompt and answer, so the rest was cached before */
    const bool goes_on = !f->args->given.input && s->step_tokens > s->input + s->output;
    const struct {
        const char *before, *value, *after;
        bool given, counts;
    } inputs[] = {
        {"", sp_human_text(round(s->input), SP_COUNT),
         goes_on ? " of them read as a prompt (--input)" : " tokens in", f->args->given.input,
         true},
        {"", sp_human_text(round(s->output), SP_COUNT), " out",
         f->args->given.output ||
             (f->args->given.input && f->output_text == f->args->text[SP_O_input]),
         true},
        {"", sp_human_text(s->step_tokens, SP_COUNT), " tokens cached (--context)", true,
         f->args->given.context},
        {"weights ", sp_storage_names[f->weights],
         !f->args->given.weights && f->weights != (enum sp_storage)f->model.weights ? " (--dtype)"
                                                                                    : "",
         f->args->given.weights, true},
        {"experts ", sp_storage_names[f->expert_weights], "", f->args->given.expert_weights, apart},
        {"cache ", sp_storage_names[f->kv], "", f->args->given.kv, true},
        {"", f->engine.name, "", f->args->given.engine, true},
        {"--ttft ", sp_human_text(f->load.ttft_s, SP_SECONDS), "", true, f->args->given.ttft},
        {"--tpot ", sp_human_text(f->load.tpot_s, SP_SECONDS), "", true, f->args->given.tpot},
        {"--percentile ", sp_serve_percentiles[f->args->value.percentile], "", true,
         f->load.percentile != 50},
    };
    *out = '\0';
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (inputs[i].counts && inputs[i].given == asked)
            sp_append(out, size, "%s%s%s%s", *out ? ", " : "", inputs[i].before, inputs[i].value,
                      inputs[i].after);
}

void sp_say_beyond(const struct serve *f, char *out, size_t size)
{
    *out = '\0';
    if (sp_is_too_long(&f->model, sp_longest_request(f)))
        snprintf(out, size, ", beyond the model's %lld tokens", (long long)f->model.max_seq);
}
