/* What serving takes on a measured chip and engine: a forward pass from the model's layer list, and
 * the closed or open loop of requests around it. The constants of a profile are found by a fit to
 * published runs (tests/data/serving-runs.csv). */
#ifndef SCALEPLAN_SERVE_ESTIMATE_H
#define SCALEPLAN_SERVE_ESTIMATE_H

#include <scaleplan/layer.h>
#include <scaleplan/profile.h>
#include <scaleplan/serve.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How an instance is cut. */
struct sp_serve_plan {
    double tp, attention_dp, pp; /* chips: their product */
    double ep, etp;              /* ep x etp = tp x attention_dp; 1 x tp for a dense model */
};

/* Matmuls that the same tokens pass one after another, in one format; of one rank. */
struct sp_matmul_work {
    double flops;               /* for a token: 2 in out */
    double weight_bytes;        /* read once */
    double token_bytes;         /* read and written for a token */
    double peak;                /* FLOP/s */
    double share, memory_share; /* of it and of the memory's rate: what the chip's kernels reach */
    double rate, bytes_per_s;   /* with the profile's constants */
    double half_tile;           /* tokens that a matmul is rounded up by on average */
};

/* Who passes a group of matmuls. */
enum sp_matmul_group {
    SP_GROUP_ATTENTION, /* projections: the tokens of an attention rank */
    SP_GROUP_MLP,       /* dense MLPs and shared experts: all ranks share all tokens */
    SP_GROUP_PLAIN,     /* routers, in 16 bits */
    SP_GROUP_HEAD,      /* the output head, in 16 bits: one token of a sequence */
    SP_GROUPS
};

/* One forward pass of one instance, ready for any batch. */
struct sp_pass {
    struct sp_serve_plan plan;
    struct sp_served served;
    double value[SP_PROFILE_ROOM]; /* constants: enum sp_serving_constant */
    struct sp_matmul_work group[SP_GROUPS];
    /* routed experts of a rank, all layers */
    double expert_flops, expert_bytes; /* of one expert in each layer */
    double experts;                    /* that a rank holds of a layer */
    double expert_rate, memory_rate;   /* FLOP/s, bytes/s at the peak */
    double expert_share;               /* k/E */
    double imbalance;                  /* tokens of the fullest rank over the mean */
    /* attention of each kind of layer: how many, and what mixes their tokens */
    struct {
        double layers;
        struct sp_mixer mixer;
    } kind[SP_LAYER_KINDS];
    int kinds;
    double cache_share;   /* of a sequence's cache that a rank reads */
    double absorbed;      /* FLOPs of a token and cached token with latent attention; 0: others */
    double plain_peak;    /* FLOP/s of 16-bit matmuls */
    double element_bytes; /* of memory-bound work, for a token of a rank */
    double layers, mixtures;
    /* communication */
    double reduces;            /* all-reduces of a pass */
    double reduce_s_per_token; /* of all of them, at the full link rate */
    double exchanges;          /* dispatches and combines of a pass */
    double exchange_s_per_token;
};

/* Prepares a pass of a prepared instance. The model must have a shape. A service without TP has
 * that of all its chips. `profile` has the constants. Work is that of sp_list_model; rates are
 * those of the chip's kernels (sp_matmul_curve) where they were measured. */
void sp_prepare_pass(const struct sp_served *served, const struct sp_profile *profile,
                     struct sp_pass *pass);

/* Puts other constants into a prepared pass. */
void sp_use_serving_constants(const double value[SP_PROFILE_ROOM], struct sp_pass *pass);

/* What a pass takes, part by part. s. */
struct sp_pass_time {
    double matmul_s, experts_s, attention_s, elementwise_s, comm_s, launch_s;
    double total_s;
};

/* What a sequence of so many tokens keeps of one layer: keys and values, and the state of a
 * recurrence. And what a step moves of it: the tokens that it attends to, and the state twice, read
 * and written. bytes. */
double sp_mixer_kept_bytes(const struct sp_mixer *mixer, double tokens, double element_bytes);
double sp_mixer_step_bytes(const struct sp_mixer *mixer, double tokens, double element_bytes);

/* A pass with `decode` sequences of `context` cached tokens, one token each or with those that are
 * checked 1 + `drafts`, and `prompt` tokens of new prompts that attend to `seen` tokens each on
 * average (their own half, and what is cached). All of the instance. */
struct sp_pass_load {
    double decode, context, drafts;
    double prompts, prompt, seen; /* new prompts, their tokens in all */
};
struct sp_pass_time sp_pass_time(const struct sp_pass *pass, const struct sp_pass_load *load);

/* Requests to one instance. */
struct sp_requests {
    double input, output;         /* mean tokens */
    double in_flight;             /* closed loop: each is followed by another; NAN: see rate */
    double rate;                  /* open loop: requests/s that come at random */
    double all;                   /* closed loop: that a benchmark has in all; 0: without end */
    const struct sp_pass *reader; /* the instance that reads prompts; NULL: this one */
    double readers;    /* of them for each instance that generates; 0: as many as are needed */
    double transfer_s; /* of a prompt's cache from a reader, hidden while the prompt is read */
    const struct sp_pass *draft; /* the draft model; NULL: drafts cost nothing */
    bool direct;                 /* they come to the engine itself, no server stands before it */
};

/* What they get. */
struct sp_serve_estimate {
    struct sp_pass_time prompt, step; /* one prompt alone, a step that generates */
    double token_s;          /* of the step, with the drafts' own, over the tokens that it gives */
    double stall_s;          /* a step that takes a prompt, or a chunk of one, too */
    double most;             /* sequences that the memory holds */
    double running, waiting; /* of the requests in flight */
    double decoding;         /* of those that run, mean over time */
    double wait_s;           /* for a place */
    double queue_s;          /* that, and for other prompts: part of the TTFT */
    double ttft_s, tpot_s, e2e_s; /* means */
    double tokens_per_s;          /* generated */
    double requests_per_s;        /* answered */
    double most_requests_per_s;   /* with a full memory */
    double prompts_per_s;         /* that the reading instance reads at most */
    double prompt_share;          /* of the instance's time, what prompts take */
};

/* The steady state, or of a benchmark that ends the mean: equal requests that start at once end at
 * once, so that N of them take floor(N / c) waves of c and one of the rest. A prompt is read in
 * chunks of the service, each a pass; a step with drafts takes that of the drafts too and gives
 * `accepted` tokens. Closed loop: r = min(c, b_max) run, of which b decode; TPOT is a step of b and
 * what prompts add to it, phi P' (r - 1) / O; TTFT = t_0 + P + half a step + kappa (r - 1) P, and
 * with more requests than places (c - b_max) / b_max times what one takes. Open loop: as many in
 * flight as rate x E2E, and a wait of rho / (1 - rho) E2E / (2 b_max), INFINITY where rho >= 1.
 * Prompts of so many readers: c requests in flight are in both pools, b = X O TPOT(b) of them
 * generate, and a prompt waits rho / (1 - rho) / 2 of the time between two that leave the readers.
 * Little 1961; Kleinrock 1975, chapter 5, for the form of the waits. */
struct sp_serve_estimate sp_serve_estimate(const struct sp_pass *pass,
                                           const struct sp_requests *requests);

/* Memory of each chip that an engine's buffers and graphs take beside weights and cache. bytes. */
#define SP_SERVING_BUFFERS 2.5e9

/* Sequences that an instance holds at once, each with all of its prompt and, on average, half of
 * its answer (all of it where the engine reserves that), beside the weights and the engine's own
 * buffers; 0: not even one. */
double sp_most_running(const struct sp_pass *pass, double input, double output);

/* An instance under a load: closed forms, and where the load has a profile the estimate. */
struct sp_serve_instance {
    struct sp_served served, draft; /* the latter where the service has a draft model */
    bool estimated;
    struct sp_pass pass, draft_pass;
};
/* Not to be copied: a service with a draft model points into it. */
void sp_prepare_instance(const struct sp_service *service, const struct sp_serve_load *load,
                         struct sp_serve_instance *instance);

/* Its requests with B in flight, prompts of a load apart read by an instance like it. */
struct sp_requests sp_requests_of(const struct sp_serve_instance *instance,
                                  const struct sp_serve_load *load, double sequences);

/* The steady state with B in flight: of the estimate, or sp_steady's. */
struct sp_steady sp_state_of(const struct sp_serve_instance *instance,
                             const struct sp_serve_load *load, double sequences);

/* The steady state where so many requests come per second, and the sequences that run then; false:
 * more come than it serves. */
bool sp_state_at_rate(const struct sp_serve_instance *instance, const struct sp_serve_load *load,
                      double requests_per_s, double *sequences, struct sp_steady *state);

/* The same of an estimate that was made. */
struct sp_steady sp_steady_of_estimate(const struct sp_served *served,
                                       const struct sp_serve_estimate *estimate);

/* Prompts per second that an instance which reads gets: of a split those of its share of the
 * requests, else as many as it can. */
double sp_prompts_of_reader(const struct sp_serve_load *load,
                            const struct sp_serve_estimate *estimate);

/* Chip-seconds of tokens by the estimate: of the prompts' share of the time, and of the rest.
 * `reader`: the instance that reads prompts under the load, of which there are as many as it takes;
 * NULL: this one. */
struct sp_token_cost sp_estimated_token_cost(const struct sp_served *served,
                                             const struct sp_served *reader,
                                             const struct sp_serve_load *load,
                                             const struct sp_serve_estimate *estimate);

/* Whether latencies keep the limits of a load. */
bool sp_keeps_limits(const struct sp_steady *state, const struct sp_serve_load *load);

/* The most sequences that fit: each with all of its tokens, and with the engine's own buffers. */
double sp_most_of_instance(const struct sp_serve_instance *instance);

/* Sequences that one of the machine's `replicas` instances runs under a load: those asked for, or
 * as many as fit and are in time. */
double sp_sequences_of_load(const struct sp_serve_instance *instance,
                            const struct sp_serve_load *load, double replicas);

/* The constants of serving: see serving_constants.def. */
#define SP_CONSTANT(id, key, unit, of, gpu, tpu, spread, low, high, meaning) SP_V_##id,
enum sp_serving_constant {
#include <scaleplan/serving_constants.def>
    SP_SERVING_CONSTANTS
};
#undef SP_CONSTANT
extern const struct sp_constant_info sp_serving_constants[SP_SERVING_CONSTANTS];

/* What is expected of a chip and an engine before any run is seen: the list's values, but for what
 * the chip's kernels say. Writes `expected` and `value` of a profile that serves. */
void sp_expect_serving(const struct sp_hardware *hw, struct sp_profile *profile);

/* Percentile 50 or 99 of a latency over requests, by its mean: logarithms are taken as normal, with
 * the spread that 93 valid server results of MLPerf Inference v4.1 have in the median. s. */
enum sp_serve_latency { SP_LATENCY_TTFT, SP_LATENCY_TPOT, SP_SERVE_LATENCIES };
double sp_latency_percentile(enum sp_serve_latency latency, double mean_s, double percentile);

/* Half of the 80 % range, of the logarithm: of published runs that no fit had seen and of whose
 * pair of chip and engine as much was known (serving_widths.def). */
double sp_serving_range_log(const struct sp_profile *profile, const struct sp_model *model,
                            enum sp_serve_latency latency);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
