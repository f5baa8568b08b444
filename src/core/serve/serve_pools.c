/* Serving in two pools, and with drafts. */
#include <math.h>

#include <scaleplan/serve.h>

double sp_instance_egress_bytes_per_s(const struct sp_hardware *hw, double chips, double all_chips)
{
    const struct sp_network *const net = &hw->network;
    if (net->kind == SP_TORUS)
        return chips * sp_dcn_bytes_per_s_per_chip(net);
    return chips *
           (all_chips <= (double)net->domain ? net->domain_bytes_per_s : net->scaleout_bytes_per_s);
}

/* Of n instances, the prefill instances that maximise the slower pool: near n r / (1 + r). */
static double best_share(double n, double ratio)
{
    const double low = fmin(fmax(floor(n * ratio / (1 + ratio)), 1), n - 1);
    const double high = fmin(low + 1, n - 1);
    /* requests per second of each pool in units of a decode instance: p / ratio and n - p */
    return fmin(low / ratio, n - low) >= fmin(high / ratio, n - high) ? low : high;
}

/* A request is in both pools: a limited prefill pool makes a queue, not a slower decode. */
struct sp_pools sp_pools(const struct sp_served *prefill, const struct sp_served *decode, double B,
                         double prompts_per_s, double step_s, double machine_chips)
{
    const struct sp_service *const p = &prefill->service, *const d = &decode->service;
    const double rate = fmin(sp_instance_egress_bytes_per_s(p->hw, p->chips, machine_chips),
                             sp_instance_egress_bytes_per_s(d->hw, d->chips, machine_chips));
    const double instances = p->chips == d->chips ? machine_chips / d->chips : 0;
    struct sp_pools pools = {.ratio = sp_readers_per_generator(B, prompts_per_s, step_s, d->output),
                             .egress_bytes_per_s = rate,
                             .transfer_s =
                                 sp_cache_transfer_time(p->input, prefill->kv_token, rate)};
    pools.prefill = instances >= 2 ? best_share(instances, pools.ratio) : NAN;
    pools.decode = instances - pools.prefill;
    pools.hidden = pools.transfer_s < 1 / prompts_per_s;
    return pools;
}

double sp_speculated_tokens(double k, const struct sp_acceptance *a)
{
    double tokens = 1, taken = 1, next = a->first; /* probabilities of all so far, of one more */
    for (int i = 0; i < k; i++) {
        taken *= next;
        tokens += taken;
        next *= a->later;
    }
    return tokens;
}

enum { MOST_DRAFTS = 16 };

double sp_best_drafts(const struct sp_served *target, const struct sp_served *draft, double B,
                      const struct sp_acceptance *a)
{
    int best = 0;
    double most = 1;
    for (int k = 1; k <= MOST_DRAFTS; k++) {
        const double gain = sp_speculation(target, draft, B, k, sp_speculated_tokens(k, a)).speedup;
        if (gain > most) {
            most = gain;
            best = k;
        }
    }
    return best;
}
