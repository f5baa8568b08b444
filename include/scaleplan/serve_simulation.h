/* An engine's scheduler, event by event: continuous batching, prompts in chunks, room in the cache,
 * and a queue, for requests whose lengths differ. Step times are those of the estimate
 * (serve_estimate.h). */
#ifndef SCALEPLAN_SERVE_SIMULATION_H
#define SCALEPLAN_SERVE_SIMULATION_H

#include <scaleplan/lengths.h>
#include <scaleplan/serve_estimate.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Requests to one instance. */
struct sp_traffic {
    struct sp_requests requests; /* a closed loop, or random arrivals; no separate prefill */
    struct sp_lengths input, output;
    /* Rows of a trace, in their order and again from the first; NULL: lengths are drawn and
     * arrivals are random. After the last of `arrivals` no request arrives. */
    const double *inputs, *outputs, *arrivals;
    size_t rows;
    double share;   /* of rows with a time, this instance gets one in `share` */
    double context; /* cached tokens per sequence; NAN: its own */
    bool reserves;  /* room for whole answers, else for half of each (sp_held_tokens) */
    uint64_t seed;
    size_t skipped, counted; /* requests before the measured ones; the number of measured ones */
};

/* A request that runs. */
struct sp_running {
    size_t number; /* in order of arrival, from 0 */
    double sent, first;
    double input, output;
    double read;  /* tokens of its prompt that are in the cache */
    double ends;  /* steps of the instance at its last token */
    double bytes; /* of the cache that it keeps */
};

/* Room for a simulation, provided by the caller. */
struct sp_simulation_room {
    struct sp_running *running; /* 2 x most */
    size_t most;                /* most requests that run at once */
    double *sent;               /* of the requests of a closed loop, as many as are in flight */
    double *ttft, *tpot, *e2e;  /* one for each request that is measured */
};

struct sp_percentiles {
    double mean, p50, p90, p95, p99; /* s; by nearest rank */
};

struct sp_simulated {
    struct sp_percentiles ttft, tpot, e2e; /* tpot: of requests with more than one token */
    double requests_per_s, tokens_per_s;   /* of the instance; tokens: generated */
    double running;                        /* mean number of running requests */
    double busy;                           /* share of the time in which a pass runs */
    double requests;                       /* measured */
    double tokens_in, tokens_out;          /* mean lengths of the measured requests */
};

/*
 * Runs the requests through an instance.
 *
 * A step processes one token (with drafts the accepted ones) of each sequence that has its first,
 * and prompts in order of arrival, up to a chunk of tokens on each rank of attention's data
 * parallelism; without chunks a whole prompt on each. It takes sp_pass_time of its sequences and
 * their mean context, and for prompts `mixed` of what these would add to an empty pass, no less
 * than their FLOPs at the peak, all together no less than the pass of the prompts alone: the rules
 * of sp_serve_estimate, request by request. A request starts when its cache fits beside those that
 * run, in order of arrival; none is evicted. A server delays a request by `first_s`. Each
 * pipeline stage counts as an instance with its share of requests and memory.
 *
 * The memory must hold at least one request. Exact between events, whose number is a few per
 * request. The number of measured requests must be positive.
 */
void sp_simulate_serving(const struct sp_pass *pass, const struct sp_traffic *traffic,
                         const struct sp_simulation_room *room, struct sp_simulated *result);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
