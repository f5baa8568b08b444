/* The requests of a service, one by one. */
#include <math.h>

#include "cli/service.h"

enum { USUAL_REQUESTS = 50000 };

/* The traffic of an instance: rows of a file in their order, or draws. */
static struct sp_traffic traffic_of(const struct serve *f)
{
    const struct sp_trace *const rows = f->rows;
    const bool random = isnan(f->load.concurrency) && (f->load.rate > 0 || sp_has_limits(&f->load));
    struct sp_traffic t = {.requests = sp_requests_of(&f->instance, &f->load, random ? NAN : f->B),
                           .input = f->input,
                           .output = f->output,
                           .context = f->args->value.context,
                           .reserves = f->engine.reserves_answer,
                           .seed = (uint64_t)f->args->value.seed,
                           .counted = USUAL_REQUESTS};
    t.requests.rate = f->load.rate > 0 ? f->load.rate / f->replicas : f->said.requests_per_s;
    if (f->args->given.simulate)
        t.counted = (size_t)f->args->value.simulate;
    if (!rows)
        return t;
    t.rows = rows->n;
    t.inputs = f->input.kind == SP_LENGTHS_TRACE ? rows->column[SP_TRACE_INPUT] : NULL;
    if (sp_arrives_by_rows(f)) {
        t.arrivals = rows->column[SP_TRACE_ARRIVAL];
        t.share = f->replicas;
        t.counted = (size_t)fmax(1, (double)rows->n / (f->replicas * f->service.pp));
    }
    t.outputs = f->output.kind == SP_LENGTHS_TRACE ? rows->column[SP_TRACE_OUTPUT] : NULL;
    return t;
}

/* Simulates an instance with this number of sequences; true if they meet the limits. */
static bool try(struct serve *f, double sequences)
{
    sp_take_sequences(f, sequences);
    struct sp_traffic traffic = traffic_of(f);
    const struct sp_steady y = sp_state_of_service(f);
    f->is_simulated = sp_simulate_instance(&f->instance, &traffic, &f->simulated);
    return f->is_simulated && sp_in_time(f, &y, &f->load);
}

/* If the number of running requests is not given: fewer than the mean lengths allow, until they are
 * in time. */
static void keep_limits(struct serve *f)
{
    const double most = f->B;
    double low = 0, high = most;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        *(try(f, middle) ? &low : &high) = middle;
    }
    if (!try(f, fmax(1, low)))
        try(f, most);
    if (f->B < most)
        sp_note(f->report,
                "by mean values %.0f sequences are in time, as in the list of instances; in the "
                "simulation requests come at random",
                most);
}

void sp_simulate(struct serve *f)
{
    const bool any = isnan(f->load.concurrency) && !(f->load.rate > 0);
    if (!f->holds_weights || f->is_overrun || !sp_wants_simulation(f))
        return;
    const bool fetches = f->service.host_bytes_per_s > 0;
    if (f->instance.estimated && !f->load.apart && !fetches && !try(f, f->B) && any &&
        f->is_simulated)
        keep_limits(f);
    if (!f->is_simulated)
        sp_note(f->report, "%s is not simulated: mean lengths are used",
                fetches                 ? "a cache on the host"
                : f->load.apart         ? "prefill on separate chips"
                : f->instance.estimated ? "a load of a million concurrent requests"
                                        : "a closed form");
}
