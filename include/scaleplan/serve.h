/* Closed forms of serving: memory of weights and KV cache, least times of a prompt and of a decode
 * step, and the batches, machines and costs that follow. B: concurrent sequences; S: their tokens.
 * Scaling book, "Inference" and "Applied Inference". */
#ifndef SCALEPLAN_SERVE_H
#define SCALEPLAN_SERVE_H

#include <stdbool.h>

#include <scaleplan/formats.h>
#include <scaleplan/forms.h>
#include <scaleplan/machine.h>
#include <scaleplan/model.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* An engine's memory and scheduling rules. */
struct sp_engine {
    char name[64];
    double memory_fraction; /* share of a chip's memory for weights and cache */
    bool of_free;           /* the share is of the memory left by the weights, only for the
                               cache */
    double block_tokens;    /* tokens per cache block */
    bool keeps_all;         /* also tokens that layers with a window no longer read */
    bool narrow_cache;      /* 8-bit cache if weights have 8 bits or fewer */
    bool reserves_answer;   /* reserves room for a request's whole answer before it starts */
    double buffer_bytes;    /* per chip: graphs and workspaces besides weights and cache */
    double chunk_tokens;    /* most prompt tokens per step; 0: no limit */
    bool separate_prompts;  /* prompts run in separate passes, which generate nothing */
    double poll_steps;      /* steps between checks for new requests; 0: 1 */
    bool fetches_by_layer;  /* a prompt begins while later layers of its cache come from the host */
};

/* One instance of a served model and its requests: the input of closed forms, estimates, verdicts
 * and costs alike. Bytes per element, lengths in tokens. */
struct sp_service {
    const struct sp_model *model;
    const struct sp_hardware *hw;
    double chips;                    /* N, chips of the instance */
    double tp, attention_dp;         /* tp 0: spread evenly over the chips */
    double weight_bytes;             /* all weights but routed experts */
    double expert_bytes, kv_bytes;   /* routed experts; cache */
    double kv_token_bytes;           /* per token; NAN: from the model's shape */
    enum sp_dtype math, expert_math; /* matmuls outside and inside routed experts; a format without
                                        a peak on this chip counts as sp_compute_dtype's */
    double pp, ep;          /* for estimates; 0 means 1, and for ep all attention-DP ranks */
    double memory_fraction; /* share of a chip's memory for weights and cache */
    double buffer_bytes;    /* see struct sp_engine */
    double input, output;   /* prompt tokens; generated tokens */
    double held_tokens,
        step_tokens;       /* cached tokens per sequence: with room for them, and read by a step */
    bool fraction_of_free; /* see sp_engine.of_free */
    bool keeps_all;        /* see struct sp_engine */
    double block;          /* tokens per cache block */
    double prefix_hit;     /* share of a prompt already cached */
    double host_bytes_per_s; /* host link of a chip, which brings that share; 0: chips hold it */
    bool by_layer;           /* see sp_engine.fetches_by_layer */
    double chunk;            /* prompt tokens per pass of an estimate; 0: all */
    bool separate;           /* see sp_engine.separate_prompts */
    double poll_steps;       /* see struct sp_engine */
    double most_running;     /* sequences that run at once by the engine's own limit; others wait;
                                0: no limit */
    double redundant;        /* copies of routed experts beyond one of each */
    double imbalance;        /* tokens of the busiest EP rank over the mean in the long run; 0: of
                                random places or, with copies, what they leave */
    bool moe_overlap;        /* a pass is two batches: one exchanges while the other computes */
    double mfu;              /* of the prefill */
    bool attention;          /* count causal attention in the prefill */
    bool all_experts;        /* every step reads all routed experts and the input table, as in the
                                textbook */
    /* speculative decoding: drafts checked and tokens accepted per step (drafts 0: one) */
    double drafts, accepted;
    const struct sp_model *draft_model; /* NULL: drafts are free */
};

/* The bytes that an instance holds and reads, and its rates, at any batch. */
struct sp_served {
    struct sp_service service;
    /* parameters */
    double shared, experts; /* held: all but routed experts; routed experts */
    double copied;          /* routed experts with their redundant copies */
    double table;           /* lookup tables, which a step does not read */
    double active;          /* used per token */
    double expert_share;    /* k/E; 1 if every step reads all experts */
    double expert_variance; /* variance of their tokens, over the squared mean */
    /* bytes */
    double weights;                /* P */
    double capacity;               /* for weights and cache of the instance */
    double kv_token;               /* KV cache per token; NAN: unknown */
    double copies;                 /* copies of a sequence's cache in the instance */
    double kv_held, kv_read;       /* per sequence with its copies: held, read per step; NAN */
    double state;                  /* constant part of it */
    double prefill_read;           /* weights read by a prompt */
    double fetched;                /* of a prompt's cache, copies included, from the host */
    double fetch_chips;            /* that fetch it, each its part */
    double fetch_s, fetches_per_s; /* of a prompt, s; most prompts of the instance, INFINITY */
    double prefill_flops;
    double peak;                   /* FLOP/s of a chip: the formats' mean over active parameters */
    double C, W;                   /* FLOP/s and bytes/s of all chips */
    const struct sp_served *draft; /* draft model on the same chips; NULL: none */
};

/* KV cache bytes of a sequence of `tokens` tokens; a layer with a window W keeps min(tokens, W)
 * tokens. */
double sp_kv_bytes_of_sequence(const struct sp_model *model, double tokens, double element_bytes);

/* The same by a service's engine and formats; NAN if unknown. */
double sp_cache_bytes_of_sequence(const struct sp_service *service, double tokens);

/* Cache bytes that one more token reads: less than all of them if an indexer picks the tokens,
 * whose keys it reads too. DeepSeek-V3.2, section 2.1. */
double sp_kv_bytes_read(const struct sp_model *model, double tokens, double element_bytes);

/* Bytes of a sequence's recurrent state, independent of its length, one copy: 4 per element (heads
 * x key width x value width; channels x N) and 2 per channel and token that a convolution needs. 0
 * without a shape. Dao and Gu 2024, section 6; Yang et al. 2024. */
double sp_state_bytes_of_sequence(const struct sp_model *model);

/* Copies of the KV cache under TP degree t: t / min(t, K) for K KV heads; t for latent attention,
 * whose single latent every rank needs (DeepSeek-V2, section 2.1). */
double sp_kv_copies(const struct sp_model *model, double tp);

/* Tokens rounded up to whole blocks. Kwon et al. 2023. */
double sp_paged_tokens(double tokens, double block);

/* Prepares an instance. The chips and the cache's block must be positive. Weight bytes P:
 * parameters times bytes, routed experts at their own, all else once per attention-DP rank. A step
 * reads all weights but the input table, which is a lookup. Prefill: 2 P_active T FLOPs for T
 * uncached tokens, the output head only for the last one (for all with `all_experts`), plus causal
 * scores with `attention`. */
void sp_prepare_service(const struct sp_service *service, struct sp_served *served);

/* The draft model of a service on the same chips, spread evenly, with the same cache lengths. */
void sp_prepare_draft(const struct sp_service *service, struct sp_served *draft);

/* Cached tokens for which a sequence needs room: all of `input + output` if the engine reserves
 * room for the answer, else the mean over its life. */
double sp_held_tokens(const struct sp_engine *engine, double input, double output);

/* Sequences that run at once when `in_flight` are in flight: at most the engine's own limit. */
double sp_at_once(const struct sp_service *service, double in_flight);

/* Room for sequences besides the weights, (capacity - P) / (S kv), the draft model's included, or
 * the engine's own limit if that is less: real, and in whole sequences. INFINITY if the cache is
 * unknown and nothing limits them, 0 if the weights do not fit. */
double sp_room_for_sequences(const struct sp_served *served);
double sp_most_sequences(const struct sp_served *served);

/* Tokens per sequence that fit for B sequences, in whole blocks; INFINITY if the cache is
 * unknown. */
double sp_most_context(const struct sp_served *served, double sequences);

/* Chips (real) whose memory holds the weights and B sequences, (P + B S kv) / HBM; INFINITY if the
 * engine's buffers leave none. */
double sp_chips_to_hold(const struct sp_served *served, double sequences);

/* Variance of the tokens of E routed experts over their squared mean, if those of the i-th most
 * chosen expert fall as i^-0.65; 0: all experts have equally many. */
double sp_expert_variance(double experts);

/* Chances that a token takes an expert: a beta distribution with mean k/E and a variance over its
 * square. `equal`: all have the mean, since the variance is 0 or more than a distribution has. */
struct sp_expert_chances {
    double a, b;
    bool equal;
};
struct sp_expert_chances sp_expert_chances(double expert_share, double variance);

/* Share of routed experts that B tokens use, mean over the chances of experts. Equal chances,
 * 1 - (1 - k/E)^B, use the most, since a chance p is used with the concave 1 - (1 - p)^B: no bound
 * of what uneven ones read. */
double sp_experts_touched(double expert_share, double variance, double tokens);

/* Parameters read by a step that processes `tokens` tokens: `routed` of experts, the share
 * `touched` of all; `shared` of the rest but the input table, which is looked up. */
struct sp_read_weights {
    double touched, routed, shared;
};
struct sp_read_weights sp_read_weights(const struct sp_served *served, double tokens);

/* Their bytes. */
double sp_weights_read_bytes(const struct sp_served *served, double tokens);

/* A decode step: one token for each of B sequences. s. */
struct sp_decode_time {
    double kv_s;      /* cache reads: B S kv / (N W) */
    double weights_s; /* weight reads, used experts only: P / (N W) */
    double math_s;    /* 2 B P_active / (N C) */
    double step_s;    /* kv + max(weights, math): cache reads do not overlap */
};

/* Least time of a decode step. `checked`: tokens per sequence that the step processes, 1 or 1 +
 * drafts. Scaling book, "Inference". */
struct sp_decode_time sp_decode_time(const struct sp_served *served, double sequences,
                                     double checked);

/* Least time of a prompt: its FLOPs over peak x MFU, or the weight reads if longer. s. */
struct sp_prefill_time {
    double math_s, weights_s, prefill_s;
};
struct sp_prefill_time sp_prefill_time(const struct sp_served *served);

/* TP communication of a step: two blocks per layer gather and reduce B x d_model 16-bit elements
 * each, 8 B D L / W for links of W bytes/s. s; NAN without a shape. Scaling book, "Training". */
double sp_decode_tp_s(const struct sp_model *model, double sequences, double link_bytes_per_s);

/* Batch from which a step's arithmetic outlasts its weight reads, (C/W) b_w/2 E/k; and the least
 * whole B whose cache reads do, B S kv > P. */
double sp_critical_batch(const struct sp_served *served);
double sp_critical_batch_of_context(const struct sp_served *served);

/* W of one torus axis of TP (2w for a ring, w for a line), and in `all` of all axes; on switches
 * both are the domain bandwidth of a device. bytes/s; NAN for one chip. */
double sp_tp_link_bytes_per_s(const struct sp_hardware *hw, double *all);

/* Steady state of one instance with B sequences, each replaced when it ends. */
struct sp_steady {
    double step_s;                /* decode step alone */
    double waiting;               /* queued requests; 0 in closed forms */
    double tpot_s, ttft_s, e2e_s; /* time per output token, to the first token, per request */
    double tokens_per_s;          /* generated */
    double requests_per_s;
    double prompts_per_s;                /* most prompts that the prefill instance processes */
    double evicted_per_step;             /* tokens leaving the cache: B (input + output) / output */
    double flops_share, bandwidth_share; /* used shares of the peaks */
};

/* Steady state with step time `step_s`, or sp_decode_time's if NAN (with drafts sp_speculation's
 * per accepted token). `reader`: the prefill instance; NULL: this one, each of whose steps takes
 * its share of B prompts per `output` steps. */
struct sp_steady sp_steady(const struct sp_served *served, const struct sp_served *reader,
                           double sequences, double step_s);

/* Most sequences, at most `most`, whose tokens arrive every tpot_s or sooner; 0: none. */
double sp_sequences_within(const struct sp_served *served, const struct sp_served *reader,
                           double most, double tpot_s, double step_s);

/* Concurrent sequences at requests_per_s, at most `most`; INFINITY if more arrive than are served.
 * Little 1961. */
double sp_sequences_at_rate(const struct sp_served *served, const struct sp_served *reader,
                            double most, double requests_per_s, double step_s);

/* Chip-seconds per prompt token, per generated token, per token of either kind, and per generated
 * token with the prompt's share added. `reader` may equal `served`. */
struct sp_token_cost {
    double input, output, blended, all_on_output;
};
struct sp_token_cost sp_token_cost(const struct sp_served *served, const struct sp_served *reader,
                                   double sequences, double step_s);

/* The cost if `paid` chips are paid for where `chips` of them work. */
struct sp_token_cost sp_cost_with_idle(struct sp_token_cost cost, double chips, double paid);

/* Prefill and decode on separate instances. */
struct sp_pools {
    double ratio;              /* prefill instances per decode instance */
    double prefill, decode;    /* instances of each, of `instances` on the machine */
    double egress_bytes_per_s; /* KV transfer rate: the slower instance's egress */
    double transfer_s;         /* of one prompt's cache */
    bool hidden;               /* transfer hides behind the prefill, layer by layer */
};

/* Ratio of prefill to decode instances, t_prefill B / (t_step output) with t_prefill = 1 /
 * prompts_per_s; transfer time of a prompt's cache at the lower egress of the two; and the split of
 * a machine of `all_chips` chips (both kinds equally large) that serves most requests, NAN if there
 * is none. Scaling book, "Applied Inference". */
struct sp_pools sp_pools(const struct sp_served *prefill, const struct sp_served *decode,
                         double sequences, double prompts_per_s, double step_s,
                         double machine_chips);

/* Egress (bytes/s) of all chips of an instance to another: at the domain's bandwidth if one
 * scale-up domain holds both, else over the scale-out or data-centre network. */
double sp_instance_egress_bytes_per_s(const struct sp_hardware *hw, double chips, double all_chips);

/* The mean of 14 published curves of tokens per step (SemiAnalysis InferenceX 843c6254ff69,
 * golden_al_distribution), and least squares of the logarithms for 2 to 5 drafts. */
#define SP_MEAN_ACCEPTANCE 0.843
#define SP_LATER_ACCEPTANCE 0.918

/* Tokens per step that checks k drafts: 1 and the sum over i of a^i later^(i (i - 1) / 2). With
 * `later` 1 that is (1 - a^(k+1)) / (1 - a), and k + 1 at a = 1. Leviathan et al. 2023, equation
 * 1. */
double sp_speculated_tokens(double drafts, const struct sp_acceptance *acceptance);

/* Speculative decoding with k drafts. */
struct sp_speculation {
    double tokens_per_step, step_s, speedup;
};

/* Steps with k drafts: the target on B (k + 1) tokens plus k steps of the draft model (NULL: free),
 * against one target step per token. `tokens`: accepted per step, see sp_speculated_tokens. */
struct sp_speculation sp_speculation(const struct sp_served *target, const struct sp_served *draft,
                                     double sequences, double drafts, double tokens);

/* Number of drafts, 0 to 16, with the largest speed-up. */
double sp_best_drafts(const struct sp_served *target, const struct sp_served *draft,
                      double sequences, const struct sp_acceptance *acceptance);

/* The goal for which an instance is optimised. */
enum sp_serve_objective {
    SP_SERVE_THROUGHPUT, /* tokens/s per chip */
    SP_SERVE_LATENCY,    /* time per output token */
    SP_SERVE_TTFT,       /* time to first token */
    SP_SERVE_COST,       /* chip-seconds per request */
    SP_SERVE_OBJECTIVES
};

/* Load and limits of a machine. */
struct sp_profile;
struct sp_serve_instance;
struct sp_serve_load {
    double concurrency; /* requests in flight on the machine; NAN: as many as fit within the
                           limits, for a latency one per instance */
    enum sp_serve_objective objective;
    double rate;                      /* requests/s arriving, instead of concurrency; 0: none */
    double tpot_s, ttft_s;            /* limits; INFINITY (ttft_s: 0): none */
    double percentile;                /* percentile of latencies that the limits apply to; 0:
                                         mean */
    double step_s;                    /* measured step time; NAN: closed form */
    bool apart;                       /* other instances of the same size process prompts */
    const struct sp_profile *profile; /* of chip and engine; NULL: closed forms */
    /* For estimates: the prefill instance, its number per decode instance, and the transfer time of
     * a prompt's cache. NULL: as many instances like this one as needed. */
    const struct sp_serve_instance *reading;
    double readers, transfer_s;
};

/* A machine divided into instances of `chips`. */
struct sp_serve_point {
    double chips, replicas, sequences;
    double paid_chips;            /* its chips, and its share of those that stay idle */
    double tp, attention_dp;      /* tp 0: spread evenly */
    double tokens_per_s_per_chip; /* paid for */
    struct sp_steady steady;
};

/* The value that an objective minimises over instances of one machine: s per token of all sequences
 * and chip, s per output token, s to the first token, chip-seconds per request. */
double sp_serve_score(const struct sp_serve_point *point, enum sp_serve_objective objective);

/* Chip-seconds paid for per token of an instance that does both prefill and decode. */
double sp_chip_seconds_of_token(const struct sp_serve_point *point, double input, double output);

/* Index of the `place`-th of `shown` printed points among `points`: evenly spaced over a front,
 * else the first ones. */
int sp_shown_point(int place, int shown, int points, bool front);

/* Whether `point` is at least as good as `other` in tokens/s per user and per chip. */
bool sp_serve_covers(const struct sp_serve_point *point, const struct sp_serve_point *other);

enum { SP_SERVE_POINTS = 256 };

/* Lists the instances within the limits: every part of `machine_chips` chips that the network
 * offers (1: any size up to a pod or four scale-up domains) whose weights and sequences fit. Best
 * by the load's objective first, of equals the smaller; if no part that divides the machine does,
 * those that leave some chips idle. With `degrees`, each size as every TP that
 * divides the heads times attention-DP for experts; else spread evenly. Returns their number. */
int sp_serve_points(const struct sp_service *service, const struct sp_serve_load *load,
                    double machine_chips, bool degrees,
                    struct sp_serve_point points[SP_SERVE_POINTS]);

/* The Pareto front of tokens/s per user and per chip over these instances with batches of powers of
 * two and the largest within the limits; fastest user first. Returns their number. */
int sp_serve_front(const struct sp_service *service, const struct sp_serve_load *load,
                   double machine_chips, bool degrees,
                   struct sp_serve_point points[SP_SERVE_POINTS]);

/* A machine divided into prefill and decode instances. */
struct sp_serve_split {
    struct sp_serve_point reads, generates; /* the latter with the sequences of a decode instance */
    double readers, generators;             /* instances of each kind */
    double requests_per_s;                  /* of both pools */
    double even_requests_per_s; /* of the best split's slower pool, if requests come evenly spaced,
                                   so that none waits for another */
};

/* The split with the most requests/s over all sizes, degrees and numbers of both kinds (as in
 * sp_serve_points, but sizes need not divide the machine). By the estimate, prompts queue for the
 * prefill instances (sp_serve_estimate), and as many requests within the limits may come at random;
 * for a load with a rate, the split keeps the limits at that rate, and is the one with the most
 * requests/s if that does. By closed forms, decode instances run the most sequences within the
 * limits. Of equals, the first with the smaller instances. False if there is none. */
bool sp_best_split(const struct sp_service *service, const struct sp_serve_load *load,
                   double machine_chips, bool degrees, struct sp_serve_split *best);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
