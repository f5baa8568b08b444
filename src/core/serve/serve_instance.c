/* An instance under a load, by closed forms or by the estimate. */
#include <math.h>

#include <scaleplan/serve_estimate.h>

void sp_prepare_instance(const struct sp_service *service, const struct sp_serve_load *load,
                         struct sp_serve_instance *i)
{
    sp_prepare_service(service, &i->served);
    if (service->draft_model) {
        sp_prepare_draft(service, &i->draft);
        i->served.draft = &i->draft;
    }
    i->estimated = load->profile && isnan(load->step_s);
    if (i->estimated)
        sp_prepare_pass(&i->served, load->profile, &i->pass);
    if (i->estimated && service->draft_model)
        sp_prepare_pass(&i->draft, load->profile, &i->draft_pass);
}

struct sp_requests sp_requests_of(const struct sp_serve_instance *i,
                                  const struct sp_serve_load *load, double B)
{
    const struct sp_service *const s = &i->served.service;
    const struct sp_pass *const reader = load->reading ? &load->reading->pass : &i->pass;
    return (struct sp_requests){.in_flight = B,
                                .reader = load->apart ? reader : NULL,
                                .readers = load->readers,
                                .transfer_s = load->transfer_s,
                                .draft = s->draft_model ? &i->draft_pass : NULL};
}

struct sp_steady sp_steady_of_estimate(const struct sp_served *v, const struct sp_serve_estimate *e)
{
    const struct sp_service *const s = &v->service;
    const double together = e->decoding / fmax(1, s->pp); /* in a step */
    const struct sp_decode_time least = sp_decode_time(v, together, 1 + s->drafts);
    const double given = s->drafts > 0 ? s->accepted : 1; /* tokens per step */
    const double steps = s->output / (together * given), rate = e->requests_per_s;
    const double prompts = e->apart ? 0 : 1;
    return (struct sp_steady){
        .step_s = e->token_s,
        .waiting = e->waiting,
        .tpot_s = e->tpot_s,
        .ttft_s = e->ttft_s,
        .e2e_s = e->e2e_s,
        .tokens_per_s = e->tokens_per_s,
        .requests_per_s = rate,
        .prompts_per_s = e->prompts_per_s,
        .evicted_per_step = sp_evicted_tokens(e->decoding, s->input, s->output),
        .flops_share = rate * (steps * least.math_s + prompts * v->prefill_flops / v->C),
        /* a prompt in a step reads no further weights */
        .bandwidth_share = e->steps_per_s * (least.kv_s + least.weights_s),
    };
}

struct sp_steady sp_state_of(const struct sp_serve_instance *i, const struct sp_serve_load *load,
                             double B)
{
    if (!i->estimated)
        return sp_steady(&i->served, load->apart ? &i->served : NULL,
                         sp_at_once(&i->served.service, B), load->step_s);
    const struct sp_requests requests = sp_requests_of(i, load, B);
    const struct sp_serve_estimate e = sp_serve_estimate(&i->pass, &requests);
    return sp_steady_of_estimate(&i->served, &e);
}

bool sp_state_at_rate(const struct sp_serve_instance *i, const struct sp_serve_load *load,
                      double rate, double *sequences, struct sp_steady *y)
{
    const struct sp_served *const reader = load->apart ? &i->served : NULL;
    struct sp_serve_load any = *load;
    if (i->estimated) {
        struct sp_requests requests = sp_requests_of(i, load, NAN);
        requests.rate = rate;
        const struct sp_serve_estimate e = sp_serve_estimate(&i->pass, &requests);
        *sequences = e.running;
        *y = sp_steady_of_estimate(&i->served, &e);
        return isfinite(e.wait_s);
    }
    any.concurrency = NAN;
    *sequences = sp_sequences_at_rate(&i->served, reader, sp_sequences_of_load(i, &any, 1), rate,
                                      load->step_s);
    if (!isfinite(*sequences))
        return false;
    *y = sp_state_of(i, load, *sequences);
    return true;
}

double sp_prompts_of_reader(const struct sp_serve_load *load, const struct sp_serve_estimate *e)
{
    return load->readers > 0 ? e->requests_per_s / load->readers : e->prompts_per_s;
}

struct sp_token_cost sp_estimated_token_cost(const struct sp_served *v,
                                             const struct sp_served *reader,
                                             const struct sp_serve_load *load,
                                             const struct sp_serve_estimate *e)
{
    const struct sp_service *const s = &v->service;
    const double here = s->chips / e->requests_per_s;
    const double prompt =
        reader ? reader->service.chips / sp_prompts_of_reader(load, e) : e->prompt_share * here;
    const double request = reader ? here + prompt : here;
    return (struct sp_token_cost){.input = prompt / s->input,
                                  .output = (request - prompt) / s->output,
                                  .blended = request / (s->input + s->output),
                                  .all_on_output = request / s->output};
}

/* Only an estimate has a limit on the TTFT: closed forms know neither queues nor launches, so their
 * TTFT would promise what no server keeps. */
bool sp_keeps_limits(const struct sp_steady *y, const struct sp_serve_load *load)
{
    const double at = load->percentile;
    return sp_latency_percentile(SP_LATENCY_TPOT, y->tpot_s, at) <= load->tpot_s &&
           (!(load->ttft_s > 0) ||
            sp_latency_percentile(SP_LATENCY_TTFT, y->ttft_s, at) <= load->ttft_s);
}

/* Whether B sequences in flight keep the limits; where their prompts queue for a number of readers,
 * also if as many requests come at random. */
static bool keeps_with(const struct sp_serve_instance *i, const struct sp_serve_load *load,
                       double B)
{
    struct sp_steady y = sp_state_of(i, load, B);
    if (!sp_keeps_limits(&y, load))
        return false;
    return !(i->estimated && load->readers > 0) ||
           (sp_state_at_rate(i, load, y.requests_per_s, &B, &y) && sp_keeps_limits(&y, load));
}

/* Share of the rate that pools reach with a full memory; the rest would only wait longer. */
#define NEARLY_ALL 0.95

/* Fewest sequences in flight, at most `most`, with nearly the rate of `most`. */
static double fewest_for(const struct sp_serve_instance *i, const struct sp_serve_load *load,
                         double most)
{
    const double rate = NEARLY_ALL * sp_state_of(i, load, most).requests_per_s;
    double low = 0, high = most;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (sp_state_of(i, load, middle).requests_per_s < rate)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double sp_sequences_of_load(const struct sp_serve_instance *i, const struct sp_serve_load *load,
                            double replicas)
{
    if (!isnan(load->concurrency))
        return load->concurrency / replicas;
    const bool quick = load->objective == SP_SERVE_LATENCY || load->objective == SP_SERVE_TTFT;
    const double most = fmin(sp_most_sequences(&i->served), quick ? 1 : 1e9);
    double low = 0, high = most + 1;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (keeps_with(i, load, middle))
            low = middle;
        else
            high = middle;
    }
    const bool queues =
        i->estimated && load->readers > 0 && !(isfinite(load->ttft_s) && load->ttft_s > 0);
    return queues && low > 1 ? fewest_for(i, load, low) : low;
}
