/* Serving a model: what its weights and its cache of keys and values take, how long reading a
 * prompt and generating a token last at least, and what follows for batches, machines and money.
 * B stands for the sequences that run at once, S for their tokens.
 * Sources: scaling book, chapters "Inference" and "Applied Inference". */
#ifndef SCALEPLAN_SERVE_H
#define SCALEPLAN_SERVE_H

#include <stdbool.h>

#include <scaleplan/forms.h>
#include <scaleplan/machine.h>
#include <scaleplan/model.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How a weight, or an element of the cache, is stored. */
enum sp_storage {
    SP_STORED_BF16,
    SP_STORED_FP8,
    SP_STORED_INT8,
    SP_STORED_NVFP4, /* blocks of 16 with an 8-bit scale each */
    SP_STORED_MXFP4, /* blocks of 32 with an 8-bit scale each: OCP MX specification */
    SP_STORED_INT4,
    SP_STORED_NF4, /* blocks of 64 with quantised scales: QLoRA, Dettmers et al. 2023 */
    SP_STORAGES
};
struct sp_storage_traits {
    double bytes;         /* of an element, scales included */
    enum sp_dtype matmul; /* the format that multiplies by it as it is stored */
};
extern const struct sp_storage_traits sp_storages[SP_STORAGES];

/* Habits of a program that serves models. */
struct sp_engine {
    char name[64];
    double memory_fraction; /* of a chip's memory that weights and cache take */
    bool of_free;           /* the fraction is of what the weights leave, and the cache's alone */
    double block_tokens;    /* that the cache is given out in */
    bool narrow_cache;      /* in 8 bits where weights are of 8 or fewer */
    bool reserves_answer;   /* a request has room for all of its answer before it starts */
    double chunk_tokens;    /* of a prompt that a step takes at most; 0: all of it */
};

/* One instance of a model that is served, and the requests it gets. Bytes are of an element,
 * lengths in tokens. */
struct sp_service {
    const struct sp_model *model;
    const struct sp_hardware *hw;
    double chips;                  /* N of the instance */
    double tp, attention_dp;       /* tp 0: spread evenly over the chips, however that is done */
    double weight_bytes;           /* of all weights but the routed experts' */
    double expert_bytes, kv_bytes; /* of theirs, and of the cache */
    double kv_token_bytes;         /* of a token's keys and values; NAN: by the model's shape */
    enum sp_dtype compute;         /* a format that the chip has a peak for */
    double pp,
        ep; /* of an estimate: 0 is 1, and for ep all ranks of attention's data parallelism */
    enum sp_dtype math, expert_math; /* of an estimate's matmuls: all but the routed experts' */
    double memory_fraction;          /* of a chip's memory that weights and cache may take */
    double input, output;            /* tokens of a prompt, and generated */
    double held_tokens,
        step_tokens;       /* cached of a sequence: at the most, and in the step asked for */
    bool fraction_of_free; /* see sp_engine.of_free */
    bool reserves_answer;  /* see sp_engine */
    double block;          /* tokens that the cache is given out in */
    double prefix_hit;     /* share of a prompt that is in the cache already */
    double chunk;          /* tokens of a prompt that a pass of an estimate takes; 0: all of it */
    double mfu;            /* of the prefill */
    bool attention;        /* causal attention counts in the prefill */
    bool all_experts; /* every step reads all routed experts, and the input table: the textbook */
    /* speculative decoding: drafts that a step checks, tokens that it gives (drafts 0: one) */
    double drafts, accepted;
    const struct sp_model *draft_model; /* NULL: drafts cost nothing */
};

/* What an instance holds, reads and computes with, whatever the batch. */
struct sp_served {
    struct sp_service service;
    /* parameters */
    double shared, experts; /* held: all but the routed experts', and theirs */
    double table;           /* of tables, which a step looks up and does not read */
    double active;          /* that a token is multiplied by */
    double expert_share;    /* k/E; 1 where every step reads all experts */
    /* bytes */
    double weights;          /* P */
    double capacity;         /* of the instance, what weights and cache may take */
    double kv_token;         /* keys and values of a token; NAN: not known */
    double copies;           /* of a sequence's cache that the instance holds */
    double kv_held, kv_read; /* of a sequence with its copies: held, read in the step; NAN */
    double state;            /* of that, the part that does not grow with its length */
    double prefill_read;     /* of weights, for a prompt */
    double prefill_flops;
    double C, W;                   /* of all chips: FLOP/s, bytes/s */
    const struct sp_served *draft; /* the draft model on the same chips; NULL: none */
};

/* Keys and values of a sequence of so many tokens: the cache of each layer times the tokens that it
 * keeps, min(tokens, W) in a layer with a window of W. bytes. */
double sp_kv_bytes_of_sequence(const struct sp_model *model, double tokens, double element_bytes);

/* Bytes of that cache that one more token reads: less than all of it where an indexer picks the
 * tokens that are attended to, of which it reads its own keys. DeepSeek-V3.2, section 2.1. */
double sp_kv_bytes_read(const struct sp_model *model, double tokens, double element_bytes);

/* Bytes that a sequence keeps whatever its length, one copy: 4 for each element of the state of a
 * recurrence (heads x key width x value width; channels x N), 2 for each channel and token that a
 * convolution still needs. Dao and Gu 2024, section 6; Yang et al. 2024. 0 without a shape. */
double sp_state_bytes_of_sequence(const struct sp_model *model);

/* Times that TP of degree t keeps one cache: t / min(t, K) for K heads of keys and values, t for
 * latent attention, whose one latent every rank needs. DeepSeek-V2, section 2.1, for the latter. */
double sp_kv_copies(const struct sp_model *model, double tp);

/* Tokens that a sequence takes up in blocks: ceil(tokens / block) of them. Kwon et al. 2023. */
double sp_paged_tokens(double tokens, double block);

/* Prepares an instance. The chips and the cache's block must be positive. Weights P: parameters
 * times their bytes, routed experts at their own, those of attention once for each attention-DP
 * rank. A step reads all but the input table, which is looked up. Prefill: 2 P_active T FLOPs of
 * the T tokens that are not cached, with `attention` also those of causal scores. */
void sp_prepare_service(const struct sp_service *service, struct sp_served *served);

/* The draft model of a service on the same chips, its cache of the same lengths, spread evenly. */
void sp_prepare_draft(const struct sp_service *service, struct sp_served *draft);

/* Sequences that fit beside the weights: floor((capacity - P) / (S kv)), weights and cache of a
 * draft model among them; INFINITY where the cache is not known, 0 where not even the weights fit.
 */
double sp_most_sequences(const struct sp_served *served);

/* Tokens of each of B sequences that fit, whole blocks; INFINITY where the cache is not known. */
double sp_most_context(const struct sp_served *served, double sequences);

/* Chips whose memory holds the weights and B sequences, (P + B S kv) / HBM: a real number. */
double sp_chips_to_hold(const struct sp_served *served, double sequences);

/* Routed experts' share that B tokens touch: 1 - (1 - k/E)^B. */
double sp_experts_touched(double expert_share, double tokens);

/* Weights that a step reads which passes so many tokens through the model. bytes. */
double sp_weights_read_bytes(const struct sp_served *served, double tokens);

/* One step that generates a token for each of B sequences. s. */
struct sp_decode_time {
    double kv_s;      /* cache read: B S kv / (N W) */
    double weights_s; /* weights read, experts that are touched: P / (N W) */
    double math_s;    /* 2 B P_active / (N C) */
    double step_s;    /* kv + max(weights, math): the cache's reading hides behind nothing */
};

/* The least time of a decode step. `checked`: tokens of a sequence that the step passes through the
 * model, 1, or 1 + drafts where it checks drafts. Scaling book, "Inference". */
struct sp_decode_time sp_decode_time(const struct sp_served *served, double sequences,
                                     double checked);

/* The least time of one prompt: its FLOPs over the peak times the MFU, or the reading of the
 * weights. s. */
struct sp_prefill_time {
    double math_s, weights_s, prefill_s;
};
struct sp_prefill_time sp_prefill_time(const struct sp_served *served);

/* TP's sends of a step: two blocks a layer, each gathering and reducing B x d_model 16-bit
 * elements, 8 B D L / W for links of W bytes/s. s; NAN without a shape. Scaling book, "Training".
 */
double sp_decode_tp_s(const struct sp_model *model, double sequences, double link_bytes_per_s);

/* Batch from which the arithmetic of a step takes longer than the weights' reading, and from which
 * the cache's does: (C/W) b_w/2 times E/k; the least whole B with B S kv > P. */
double sp_critical_batch(const struct sp_served *served);
double sp_critical_batch_of_context(const struct sp_served *served);

/* W of one axis of the torus, 2 w a ring and w a line, and of how many axes TP has; on switches
 * that of a device inside its domain. bytes/s; NAN: one chip. */
double sp_tp_link_bytes_per_s(const struct sp_hardware *hw, double *axes);

/* A steady state of one instance: B sequences that run, each replaced when it is done. */
struct sp_steady {
    double step_s;                /* the decode step alone */
    double waiting;               /* requests that wait for a place; closed forms: 0 */
    double tpot_s, ttft_s, e2e_s; /* between tokens, to the first, of a request */
    double tokens_per_s;          /* generated */
    double requests_per_s;
    double prompts_per_s;    /* that the reading instance reads at most */
    double evicted_per_step; /* tokens that leave the cache: B (input + output) / output */
    double flops_share, bandwidth_share; /* of the peaks that this uses */
};

/* `step_s`: measured, or NAN for sp_decode_time's, with drafts sp_speculation's over the tokens
 * that it gives. `reader`: the instance that reads prompts, or NULL for this one, each of whose
 * steps then has its share of B prompts in `output` steps. */
struct sp_steady sp_steady(const struct sp_served *served, const struct sp_served *reader,
                           double sequences, double step_s);

/* The most sequences, up to `most`, whose tokens come at least every tpot_s; 0: not even one. */
double sp_sequences_within(const struct sp_served *served, const struct sp_served *reader,
                           double most, double tpot_s, double step_s);

/* Sequences that run where requests_per_s come, of at most `most`; INFINITY where more come than
 * are served. Little 1961. */
double sp_sequences_at_rate(const struct sp_served *served, const struct sp_served *reader,
                            double most, double requests_per_s, double step_s);

/* Chip-seconds of a token of the prompt, of one generated, of any, and of one generated with all of
 * the prompt laid on it. `reader` may be `served`. */
struct sp_token_cost {
    double input, output, blended, all_on_output;
};
struct sp_token_cost sp_token_cost(const struct sp_served *served, const struct sp_served *reader,
                                   double sequences, double step_s);

/* Prefill and decode on chips of their own. */
struct sp_pools {
    double ratio;              /* prefill instances for one that decodes */
    double prefill, decode;    /* instances of a machine that holds `instances` of them */
    double egress_bytes_per_s; /* of the slower instance, what it sends or takes */
    double transfer_s;         /* a prompt's cache from one to the other */
    bool hidden;               /* behind the prefill, layer by layer */
};

/* Ratio B / (prompts_per_s t_step output), t_prefill = 1 / prompts_per_s; transfer: input kv over
 * the slower of what leaves the one instance and enters the other. Of a machine with so many chips,
 * of which both kinds of instances take as many, the split that serves most requests; NAN where
 * there are none to divide. Scaling book, "Applied Inference". */
struct sp_pools sp_pools(const struct sp_served *prefill, const struct sp_served *decode,
                         double sequences, double prompts_per_s, double step_s,
                         double machine_chips);

/* What one instance sends to another: inside a scale-up domain that holds both at its bandwidth,
 * else over the scale-out or data-centre network. bytes/s, all chips of the instance. */
double sp_instance_egress_bytes_per_s(const struct sp_hardware *hw, double chips, double all_chips);

/* Tokens of a step that checks k drafts, of which each is taken with probability a while all before
 * it were: (1 - a^(k+1)) / (1 - a); k + 1 at a = 1. Leviathan et al. 2023, equation 1. */
double sp_speculated_tokens(double drafts, double acceptance);

/* Speculative decoding with k drafts. */
struct sp_speculation {
    double tokens_per_step, step_s, speedup;
};

/* A step of the target on B (k + 1) tokens and k steps of the draft model (NULL: drafts cost
 * nothing) against a step of each token. `tokens`: of a step, by sp_speculated_tokens. */
struct sp_speculation sp_speculation(const struct sp_served *target, const struct sp_served *draft,
                                     double sequences, double drafts, double tokens);

/* The number of drafts, 0 to 16, with the largest speed-up. */
double sp_best_drafts(const struct sp_served *target, const struct sp_served *draft,
                      double sequences, double acceptance);

/* What the best instance is best at. */
enum sp_serve_objective {
    SP_SERVE_THROUGHPUT, /* tokens/s of a chip */
    SP_SERVE_LATENCY,    /* time between tokens */
    SP_SERVE_TTFT,       /* time to the first */
    SP_SERVE_COST,       /* chip-seconds of a request */
    SP_SERVE_OBJECTIVES
};

/* What is asked of a machine. */
struct sp_profile;
struct sp_serve_instance;
struct sp_serve_load {
    double concurrency; /* requests in flight on the machine; NAN: as many as fit and are in time */
    double rate; /* requests per second that come to the machine, in place of that; 0: none */
    double tpot_s, ttft_s;            /* limits; INFINITY: none, and 0 of the latter */
    double percentile;                /* of the latencies that the limits mean; 0: the mean */
    double step_s;                    /* measured time of a step; NAN: the closed form's */
    bool apart;                       /* prompts are read by other instances of the same size */
    const struct sp_profile *profile; /* of the chip and the engine; NULL: closed forms */
    /* of an estimate: the instance that reads and how many of it for one that generates, and the
     * time of a prompt's cache from one to the other; NULL: as many of the same kind as needed */
    const struct sp_serve_instance *reading;
    double readers, transfer_s;
};

/* A machine cut into instances of `chips`. */
struct sp_serve_point {
    double chips, replicas, sequences;
    double tp, attention_dp; /* tp 0: spread evenly */
    double tokens_per_s_per_chip;
    struct sp_steady steady;
};

/* What an objective ranks instances of one machine by, less is better: s of a token of all
 * sequences on a chip, s between tokens, s to the first, chip-seconds of a request. */
double sp_serve_score(const struct sp_serve_point *point, enum sp_serve_objective objective);

/* Chip-seconds of a token of an instance that both reads and generates. */
double sp_chip_seconds_of_token(const struct sp_serve_point *point, double input, double output);

/* Which of n points the i-th of so many that are shown is: the i-th, of a front from end to end. */
int sp_shown_point(int i, int shown, int n, bool front);

/* Whether a is at least as good as b in tokens per second of a user and of a chip. */
bool sp_serve_covers(const struct sp_serve_point *point, const struct sp_serve_point *other);

enum { SP_SERVE_POINTS = 256 };

/* Every instance that the network offers, whole parts of a machine of so many chips (1: machines of
 * any size, up to a pod, or four scale-up domains), whose weights and sequences fit and whose
 * tokens come in time: best first, of equals the smaller. With `degrees` each size as TP that
 * divides the heads, times attention-DP for experts; else spread evenly. Returns
 * how many. */
int sp_serve_points(const struct sp_service *service, const struct sp_serve_load *load,
                    double machine_chips, bool degrees, enum sp_serve_objective objective,
                    struct sp_serve_point points[SP_SERVE_POINTS]);

/* Of all these instances with every batch that is a power of two, or the largest in time, those
 * that no other beats in tokens per second of a user and of a chip; fastest user first. */
int sp_serve_front(const struct sp_service *service, const struct sp_serve_load *load,
                   double machine_chips, bool degrees,
                   struct sp_serve_point points[SP_SERVE_POINTS]);

/* A machine divided between instances that read prompts and instances that generate. */
struct sp_serve_split {
    struct sp_serve_point reads, generates;
    double readers, generators; /* instances of each */
    double requests_per_s;      /* of the slower pool */
};

/* The division with the most requests per second of all sizes and degrees of both kinds of
 * instances (as in sp_serve_points, but not only parts that divide the machine) and all numbers of
 * them, each generating one with the most sequences that fit and are in time; of equals the first,
 * with the smaller instances. False where there is none. */
bool sp_best_split(const struct sp_service *service, const struct sp_serve_load *load,
                   double machine_chips, bool degrees, struct sp_serve_split *best);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
