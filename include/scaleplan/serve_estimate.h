/* Estimates of serving on a calibrated chip and engine: a forward pass from the model's layer list,
 * and the loop of requests around it. Constants are fitted to published runs
 * (tests/data/serving-runs.csv). */
#ifndef SCALEPLAN_SERVE_ESTIMATE_H
#define SCALEPLAN_SERVE_ESTIMATE_H

#include <scaleplan/layer.h>
#include <scaleplan/profile.h>
#include <scaleplan/serve.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How an instance is divided. */
struct sp_serve_plan {
    double tp, attention_dp, pp; /* product: chips */
    double ep, etp;              /* ep x etp = tp x attention_dp; 1 x tp for a dense model */
};

/* Degrees of an instance. Open ones: TP of all chips; experts split by TP, with attention-DP over
 * all ranks. */
struct sp_serve_plan sp_serve_plan_of(const struct sp_service *service);

/* Consecutive matmuls of the same tokens in one format, per rank. */
struct sp_matmul_work {
    double flops;               /* per token: 2 in out */
    double weight_bytes;        /* read once */
    double token_bytes;         /* read and written per token */
    double peak;                /* FLOP/s */
    double share, memory_share; /* of the peak and of the memory bandwidth, reached by the chip's
                                   kernels */
    double rate, bytes_per_s;   /* with the profile's constants */
    double half_tile;           /* mean rounding-up of a matmul's tokens */
    double cast_s;              /* launch of a matmul beyond a 16-bit one's: converts its input */
};

/* The tokens of a group of matmuls. */
enum sp_matmul_group {
    SP_GROUP_ATTENTION, /* projections: tokens of an attention rank */
    SP_GROUP_MLP,       /* dense MLPs and shared experts: of the same tokens */
    SP_GROUP_PLAIN,     /* routers, in 16 bits */
    SP_GROUP_HEAD,      /* output head, 16-bit: one token per sequence */
    SP_GROUPS
};

/* A forward pass of one instance, ready for any batch. */
struct sp_pass {
    struct sp_serve_plan plan;
    struct sp_served served;
    double value[SP_PROFILE_ROOM]; /* by enum sp_serving_constant */
    struct sp_matmul_work group[SP_GROUPS];
    /* routed experts of a rank, all layers */
    double expert_flops, expert_bytes; /* of one expert per layer */
    double expert_token_bytes;         /* read and written per token of an expert per layer */
    double experts, routed;            /* per rank and layer: with copies, without */
    struct sp_matmul_work alone;       /* the rates of isolated kernels in their format */
    double expert_rate, memory_rate;   /* FLOP/s that they reach; bytes/s at the peak */
    double expert_share;               /* k/E */
    double imbalance; /* tokens of the busiest rank over the mean, in the long run */
    double greatest;  /* expected greatest of as many normal variables as ranks */
    /* attention per kind of layer: number of layers, and their mixer */
    struct {
        double layers;
        struct sp_mixer mixer;
    } kind[SP_LAYER_KINDS];
    int kinds;
    double cache_share;   /* share of a sequence's cache that a rank reads */
    double absorbed;      /* latent attention: FLOPs per token and cached token; 0: other
                             attention */
    double plain_peak;    /* FLOP/s of 16-bit matmuls */
    double element_bytes; /* memory-bound traffic per token of a rank */
    double layers, mixtures, recurrences;
    /* communication */
    double reduces;            /* all-reduces per pass */
    double reduce_s_per_token; /* of all of them at full link rate */
    double exchanges;          /* dispatches and combines per pass */
    double exchange_s_per_token, prompt_exchange_s_per_token;
};

/* Prepares a pass of an instance prepared by sp_prepare_service. The model must have a shape. A
 * service without TP uses all its chips for TP. Work is sp_list_model's; rates are those of the
 * chip's measured kernels (sp_matmul_curve), else the profile's constants. */
void sp_prepare_pass(const struct sp_served *served, const struct sp_profile *profile,
                     struct sp_pass *pass);

/* Replaces the constants of a prepared pass. */
void sp_use_serving_constants(const double value[SP_PROFILE_ROOM], struct sp_pass *pass);

/* The parts of a pass. s. */
struct sp_pass_time {
    double matmul_s, experts_s, attention_s, elementwise_s, comm_s, launch_s;
    double total_s;
};

/* Bytes that a step of a sequence of `tokens` tokens moves per layer: the attended tokens, and the
 * state read and written. */
double sp_mixer_step_bytes(const struct sp_mixer *mixer, double tokens, double element_bytes);

/* Work of a pass over the whole instance: `decode` sequences with `context` cached tokens, one new
 * token each (1 + `drafts` when checking drafts), and `prompt` tokens of new prompts that attend to
 * `seen` tokens each on average. */
struct sp_pass_load {
    double decode, context, drafts;
    double prompts, prompt, seen; /* new prompts, and their tokens in total */
};
struct sp_pass_time sp_pass_time(const struct sp_pass *pass, const struct sp_pass_load *load);

/* Requests to one instance, of its service's lengths. */
struct sp_requests {
    double in_flight;             /* closed loop: constant number in flight; NAN: open loop */
    double rate;                  /* open loop: requests/s, random arrivals */
    double all;                   /* closed loop: total requests of a benchmark; 0: endless */
    const struct sp_pass *reader; /* prefill instance; NULL: this one */
    double readers;               /* prefill instances per decode instance; 0: as many as needed */
    double transfer_s;            /* of a prompt's cache, hidden during the prefill */
    const struct sp_pass *draft;  /* draft model; NULL: drafts are free */
    bool direct;                  /* sent to the engine without a server */
};

/* Result of an estimate. */
struct sp_serve_estimate {
    struct sp_pass_time prompt, step; /* one prompt alone; one decode step */
    double token_s;                   /* step, drafting included, per accepted token */
    double stall_s;                   /* a step that also processes a prompt or chunk */
    double most;                      /* sequences that fit in memory: sp_room_for_sequences */
    double running, waiting;          /* of the requests in flight */
    double decoding;                  /* mean number decoding among the running */
    double steps_per_s;               /* of all pipeline stages' shares */
    double wait_s;                    /* until admission */
    double queue_s;                   /* admission and other prompts: part of the TTFT */
    double ttft_s, tpot_s, e2e_s;     /* means */
    double tokens_per_s;              /* generated */
    double requests_per_s;            /* answered */
    double most_requests_per_s;       /* with a full memory */
    double prompts_per_s;             /* most prompts that the prefill instance processes */
    double prompt_share;              /* share of the instance's time spent on prompts */
    bool apart;                       /* prompts are processed elsewhere */
};

/*
 * Steady state, or mean over a finite benchmark.
 *
 * Finite: N equal requests that start together end together, so they run as floor(N / c) waves of c
 * and one of the rest. A prompt is processed in the service's chunks, one pass each; a step with
 * drafts includes drafting and yields `accepted` tokens.
 *
 * Closed loop: r = min(c, b_max) requests run. In a step n of them start, and n (O - 1) decode; it
 * takes D + s M, where D is a pass of what decodes, s the share of steps with a prompt or chunk,
 * and M what these add to it: the pass of both less D, no less than the prompts' FLOPs at the peak;
 * for engines that do not mix them a pass of prompts alone. Prompts that arrive together share a
 * pass, a chunk on each rank at most. TTFT = t_0 + the passes of a prompt + half a step + the wait
 * for other prompts, rho / (1 - rho) / 2 of a prompt's passes with rho the used share of the time
 * that prompts can have; in a benchmark also that of the first r, which come at once. n is such
 * that n / (D + s M), the requests per second, is r / E2E (Little): an instance spends each second
 * on prompts and steps. To one request the others are r - 1 of r. If c > b_max, add (c - b_max) /
 * b_max times a request's time.
 *
 * Open loop: rate x E2E requests in flight and a wait of rho / (1 - rho) E2E / (2 b_max); INFINITY
 * if rho >= 1.
 *
 * Separate prefill with a number of readers: c requests are in both pools, b = X O TPOT(b) of them
 * decode, and a prompt waits rho / (1 - rho) / 2 of the interval between prompts leaving the
 * readers; in the open loop, prompts that arrive while all readers are busy wait too.
 *
 * Little 1961; Kleinrock 1975, chapter 5, for the form of the waits.
 */
struct sp_serve_estimate sp_serve_estimate(const struct sp_pass *pass,
                                           const struct sp_requests *requests);

/* An instance under a load: closed forms, and the estimate if the load has a profile. */
struct sp_serve_instance {
    struct sp_served served, draft; /* draft: if the service has a draft model */
    bool estimated;
    struct sp_pass pass, draft_pass;
};
/* Prepares an instance. Do not copy it: a service with a draft model points into it. */
void sp_prepare_instance(const struct sp_service *service, const struct sp_serve_load *load,
                         struct sp_serve_instance *instance);

/* The instance's requests with B in flight; with separate prefill, an instance like it is the
 * reader. */
struct sp_requests sp_requests_of(const struct sp_serve_instance *instance,
                                  const struct sp_serve_load *load, double sequences);

/* Steady state with B in flight, by the estimate or sp_steady. */
struct sp_steady sp_state_of(const struct sp_serve_instance *instance,
                             const struct sp_serve_load *load, double sequences);

/* Steady state at requests_per_s, and its number of concurrent sequences; false if more arrive than
 * it serves. */
bool sp_state_at_rate(const struct sp_serve_instance *instance, const struct sp_serve_load *load,
                      double requests_per_s, double *sequences, struct sp_steady *state);

/* The steady state of an estimate. */
struct sp_steady sp_steady_of_estimate(const struct sp_served *served,
                                       const struct sp_serve_estimate *estimate);

/* Prompts/s that a prefill instance gets: its share of a split's requests, else the most it can
 * process. */
double sp_prompts_of_reader(const struct sp_serve_load *load,
                            const struct sp_serve_estimate *estimate);

/* Chip-seconds per token by the estimate, divided by the time of prompts and of decoding. `reader`:
 * the prefill instance, in any number needed; NULL: this one. */
struct sp_token_cost sp_estimated_token_cost(const struct sp_served *served,
                                             const struct sp_served *reader,
                                             const struct sp_serve_load *load,
                                             const struct sp_serve_estimate *estimate);

/* Whether latencies are within the limits of a load. */
bool sp_keeps_limits(const struct sp_steady *state, const struct sp_serve_load *load);

/* Sequences that each of `replicas` instances runs under a load: those asked for, or as many as fit
 * within the limits; for the shortest latency one, as more are slower. Where prompts queue for a
 * number of readers and nothing limits the TTFT, no more than serve 95 % of what they could. */
double sp_sequences_of_load(const struct sp_serve_instance *instance,
                            const struct sp_serve_load *load, double replicas);

/* The constants of serving: serving_constants.def. */
#define SP_CONSTANT(id, key, unit, of, gpu, tpu, spread, low, high, meaning) SP_V_##id,
enum sp_serving_constant {
#include <scaleplan/serving_constants.def>
    SP_SERVING_CONSTANTS
};
#undef SP_CONSTANT
extern const struct sp_constant_info sp_serving_constants[SP_SERVING_CONSTANTS];

/* Expected constants of a chip and engine without runs, written to `expected` and `value`: the
 * defaults of the list, except where the chip's kernels were measured. */
void sp_expect_serving(const struct sp_hardware *hw, struct sp_profile *profile);

/* Percentile 50, 90, 95 or 99 of a latency from its mean (s): log-normal, with the median spread of
 * 93 valid server results of MLPerf Inference v4.1. */
enum sp_serve_latency { SP_LATENCY_TTFT, SP_LATENCY_TPOT, SP_SERVE_LATENCIES };
double sp_latency_percentile(enum sp_serve_latency latency, double mean_s, double percentile);

/* Half-width of the 80 % range of ln(latency), measured on published runs left out of the fit whose
 * stack was equally well known (serving_widths.def). */
double sp_serving_range_log(const struct sp_profile *profile, const struct sp_model *model,
                            enum sp_serve_latency latency);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
