/* The words of `serve`'s verdict for limits that are exceeded and rates that are not reached. */
#include <math.h>
#include <stdio.h>

#include "cli/service.h"

double sp_limited_latency_s(const struct serve *f, enum sp_serve_latency latency, double mean_s)
{
    const struct sp_percentiles *const of =
        latency == SP_LATENCY_TTFT ? &f->simulated.ttft : &f->simulated.tpot;
    if (f->is_simulated)
        return f->load.percentile == 99 ? of->p99 : of->p50;
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

void sp_say_late(const struct serve *f, const struct sp_steady *y, char *out, size_t size)
{
    struct sp_serve_load tpot = f->load;
    tpot.ttft_s = INFINITY;
    const bool first = sp_in_time(f, y, &tpot); /* then the limit of the first token is exceeded */
    const double s = first ? sp_limited_latency_s(f, SP_LATENCY_TTFT, y->ttft_s)
                           : sp_limited_latency_s(f, SP_LATENCY_TPOT, y->tpot_s);
    char takes[96] = ""; /* the mean time between tokens comes before this */
    if (first || f->load.percentile == 99)
        snprintf(takes, sizeof takes, "; %s takes %s%s", first ? "the first token" : "a token",
                 sp_human_text(s, SP_SECONDS),
                 f->load.percentile == 99 ? " (99th percentile)" : "");
    snprintf(out, size, "%s; --%s allows %s", takes, first ? "ttft" : "tpot",
             sp_human_text(first ? f->load.ttft_s : f->load.tpot_s, SP_SECONDS));
}

void sp_say_fewest(const struct serve *f, char *out, size_t size)
{
    char most[96] = "", chips[64] = "";
    if (f->is_overrun && f->most_served > 0)
        snprintf(most, sizeof most, "; it serves at most %s of the %.6g requests/s%s",
                 sp_human_text(f->most_served, SP_NUMBER), f->load.rate,
                 sp_has_limits(&f->load) ? " in time" : "");
    if (!isnan(f->fewest))
        snprintf(chips, sizeof chips, "; the fewest chips that serve this rate: %.0f", f->fewest);
    snprintf(out, size, "%s%s", most, chips);
}

void sp_say_beyond(const struct serve *f, char *out, size_t size)
{
    *out = '\0';
    if (sp_is_too_long(&f->model, sp_longest_request(f)))
        snprintf(out, size, ", beyond the model's %lld tokens", (long long)f->model.max_seq);
}
