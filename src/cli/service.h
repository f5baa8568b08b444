/* The service that options ask for: its degrees, formats, lengths and load on a machine. */
#ifndef SP_SERVICE_H
#define SP_SERVICE_H

#include <scaleplan/serve_estimate.h>

#include "cli/price.h"
#include "config/lengths.h"
#include "study/serve_traffic.h"

/* Options of a service besides its model, its machine and the degrees of plans. */
extern const char *const sp_serve_attentions[], *const sp_serve_percentiles[],
                                                    *const sp_serve_loads[];
/* clang-format off */
#define SP_OPTIONS_SERVICE \
    SP_TAKE(input, .fallback = "1024"), \
    SP_TAKE(output, .fallback = "1024"), \
    SP_TAKE(max_response), \
    SP_TAKE(simulate), \
    SP_TAKE(seed, .fallback = "1"), \
    SP_TAKE(context), \
    SP_TAKE(concurrency), \
    SP_TAKE(max_running), \
    SP_TAKE(rate), \
    SP_TAKE(attention_dp), \
    SP_TAKE(redundant_experts), \
    SP_TAKE(imbalance), \
    SP_TAKE(moe_overlap), \
    SP_TAKE(replicas), \
    SP_TAKE(weights), \
    SP_TAKE(expert_weights, .alias = "experts"), \
    SP_TAKE(kv), \
    SP_TAKE(engine), \
    SP_TAKE(prefix_hit, .fallback = "0"), \
    SP_TAKE(host_cache, .needs = SP_THESE(SP_O_prefix_hit)), \
    SP_TAKE(chunk), \
    SP_TAKE(block), \
    SP_TAKE(memory_fraction), \
    SP_TAKE(mfu, .fallback = "1"), \
    SP_TAKE(attention, .choices = sp_serve_attentions), \
    SP_TAKE(experts_loaded, .choices = sp_serve_loads), \
    SP_TAKE(step_time), \
    SP_TAKE(tpot), \
    SP_TAKE(ttft), \
    SP_TAKE(percentile, .fallback = "50", .choices = sp_serve_percentiles), \
    SP_TAKE(objective, .fallback = "throughput", .choices = sp_serve_objectives), \
    SP_TAKE(disaggregate), \
    SP_TAKE(draft_tokens), \
    SP_TAKE(acceptance), \
    SP_TAKE(accepted), \
    SP_TAKE(draft_model)
/* clang-format on */

/* Degrees of instances, and how many of them a pool has. */
struct serve_degrees {
    double instances;
    double tp, attention_dp, pp;
    double ep; /* 0: follows from the ranks */
    bool given;
};

/* Everything that the command knows after its options are read. */
struct serve {
    const struct sp_args *args;
    struct sp_report *report;
    struct sp_model model, draft_model;
    struct sp_acceptance acceptance; /* acceptance of the drafts; first NAN: --accepted gives it */
    struct sp_hardware hw, part;     /* the machine, and an instance of it */
    struct serve_degrees degrees;
    struct sp_engine engine;
    enum sp_storage weights, expert_weights, kv;
    struct sp_lengths input, output;
    const char *output_text;     /* that the latter were read from */
    const struct sp_trace *rows; /* of requests, in their order; NULL: lengths are drawn */
    struct sp_service service;
    struct sp_served served, reader, draft; /* that generates, that reads prompts, that drafts */
    struct sp_serve_load load;
    struct sp_profile
        profile;      /* of the chip and the engine; load.profile points to it or nowhere */
    bool own_profile; /* the pair has measured runs */
    struct sp_serve_instance instance, reading; /* `reading` reads prompts */
    struct sp_serve_estimate said;              /* of it, where instance.estimated */
    double replicas, B;
    double readers;              /* of a split: instances that read for one that generates */
    double group_chips;          /* of an instance, and of those that read for it */
    struct sp_serve_split split; /* the best, where it is `is_best` */
    bool is_best;
    bool pooled;    /* prompts are on separate chips, by --disaggregate or as the best answer */
    bool may_split; /* they may be without --disaggregate */
    bool textbook, is_split, holds_weights, fits;
    struct sp_simulated simulated;
    bool is_simulated;
    struct sp_price price;
    bool is_overrun;    /* more requests arrive than it serves */
    double most_served; /* then, in requests/s */
    double fewest;      /* chips of the smallest machine that serves --rate; NAN: not known */
};

/* Reads degrees, machine, formats and lengths from the options, and checks them. */
bool sp_load_service(struct serve *f, const struct sp_sources *sources, struct sp_error *error);

/* The same with model, machine, engine and constants given, such as for another machine. */
bool sp_settle_service(struct serve *f, const struct sp_sources *sources, struct sp_error *error);

/* Tokens of the longest request: those of --context, else the prompt and its answer. */
double sp_longest_request(const struct serve *f);

/* Makes the chips of an instance its machine: on a torus the slice of that size. */
void sp_take_part(struct serve *f, double chips);

/* Sequences of an instance, by --concurrency, --rate or the limits. */
bool sp_load_sequences(struct serve *f, struct sp_error *error);

/* Refuses --check slo of a service without limits: it would only repeat whether it fits. */
bool sp_check_slo(const struct serve *f, struct sp_error *error);

/* Sets the sequences of an instance; for arriving requests the rate alone decides. */
void sp_take_sequences(struct serve *f, double sequences);

/* If more requests arrive than it can serve: replaces --rate by the most that it serves, and
 * returns true. */
bool sp_load_most(struct serve *f, struct sp_error *error);

/* Chips of the smallest machine of this kind whose instances serve --rate within the limits; NAN
 * without a rate, with degrees that are given, or if none was found. */
double sp_fewest_to_serve(const struct serve *f);

/* The same service on another machine: as many instances of the same degrees as fit, under the same
 * load. `f` points into `from`, which must outlive it. False if the machine is not a whole number
 * of instances, has more instances than requests in flight, or serves fewer requests than arrive.
 */
bool sp_move_service(const struct serve *from, const struct sp_hardware *hw, struct serve *f);

/* The steady state of the answer: the estimate's, or the closed forms'. */
struct sp_steady sp_state_of_service(const struct serve *f);

/* Sequences of an instance that get a token in a step (in the estimate the mean number); and those
 * that hold memory: in a split only those being generated. */
double sp_generating(const struct serve *f);
double sp_holding(const struct serve *f);

/* Whether the instance holds the weights and its sequences, and whether it is in time too. */
bool sp_service_fits(const struct serve *f);
bool sp_serves(const struct serve *f);

/* A latency as the limits are meant: of the median request, or of nearly all. */
double sp_limited_latency_s(const struct serve *f, enum sp_serve_latency latency, double mean_s);

/* Three digits, rounded down: a rate that is served. */
double sp_round_down(double x);

/* Chips of an instance, and of those that read for it. */
double sp_working_chips(const struct serve *f);

/* Chips of the machine that belong to no instance. */
double sp_idle_chips(const struct serve *f);

/* Whether --tpot or --ttft limits what is served. */
bool sp_has_limits(const struct sp_serve_load *load);

/* Whether latencies are within the limits; by the simulation if there is one. */
bool sp_in_time(const struct serve *f, const struct sp_steady *y, const struct sp_serve_load *load);

/* Whether the rows of a file state when requests arrive. */
bool sp_arrives_by_rows(const struct serve *f);

/* Whether lengths differ or --simulate is given. */
bool sp_wants_simulation(const struct serve *f);

/* Runs the requests through the instance if so. Where limits decide how many they are, they come at
 * random. */
void sp_simulate(struct serve *f);

/* The answer in words: "Yes: 21.8 requests/s, on 8 instances of 4 chips (TP 4), 14 sequences each",
 * or what is late and how much of the rate is served; and what is enough for the rate. */
void sp_say_serving(const struct serve *f, const struct sp_steady *y, bool in_time, char *out,
                    size_t size);

/* What the answer was asked for, and what was assumed instead. */
void sp_say_inputs(const struct serve *f, bool asked, char *out, size_t size);

/* What keeps more requests from being served: a limit, or the memory; "" if the load is given. */
const char *sp_limit_of(const struct serve *f);

/* ", beyond the model's 8192 tokens", where requests are longer than the model allows. */
void sp_say_beyond(const struct serve *f, char *out, size_t size);

/* Instances of other sizes, best first, or the front; returns their number. */
int sp_find_serve_points(const struct serve *f, struct sp_serve_point points[SP_SERVE_POINTS]);

/* One of them under the current scope, and the columns of a table of them; %s is its key of the
 * first token. */
void sp_put_serve_point(const struct serve *f, const struct sp_serve_point *point);
#define SP_SERVE_POINT_COLUMNS(one, between) /* "": of one machine; "+": of several, fewer */      \
    "devices: chips, +replicas: instances, tp: TP, " one                                           \
    "attention_dp: attention DP, batch: sequences, tpot_s: " between ", " one                      \
    "%s: first token, +tokens_per_s_per_user: per user, tokens_per_s_per_device: per chip"
#define SP_SERVE_RIVAL_COLUMNS /* of several machines */                                           \
    "hw: machine, " SP_SERVE_POINT_COLUMNS(                                                        \
        "+", "per token") ", cost_usd_per_mtoken.blended: Mtoken in+out"

/* The answer for several machines of --hw. */
bool sp_compare_serving(const struct sp_args *args, struct sp_report *report,
                        struct sp_error *error);

#endif
