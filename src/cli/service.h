/* The service that options ask for: its degrees, formats, lengths and load on a machine. */
#ifndef SP_SERVICE_H
#define SP_SERVICE_H

#include <scaleplan/serve_estimate.h>

#include "cli/price.h"

/* Degrees of instances, and how many of them a pool has. */
struct serve_degrees {
    double instances;
    double tp, attention_dp, pp;
    double ep; /* 0: what the ranks make of it */
    bool given;
};

/* What the command knows after its options are read. */
struct serve {
    const struct sp_args *args;
    struct sp_report *report;
    struct sp_model model, draft_model;
    struct sp_hardware hw, part; /* the machine, and an instance of it */
    struct serve_degrees degrees;
    struct sp_engine engine;
    enum sp_storage weights, expert_weights, kv;
    struct sp_service service;
    struct sp_served served, reader, draft; /* that generates, that reads prompts, that drafts */
    struct sp_serve_load load;
    struct sp_profile
        profile;      /* of the chip and the engine; load.profile points to it or nowhere */
    bool own_profile; /* the pair has measured runs */
    struct sp_serve_instance instance, reading; /* the latter reads prompts */
    struct sp_serve_estimate said;              /* of it, where instance.estimated */
    double replicas, B;
    double readers;              /* of a split: instances that read for one that generates */
    double group_chips;          /* of an instance, and of those that read for it */
    struct sp_serve_split split; /* the best of --disaggregate auto, where it is `is_best` */
    bool is_best;
    bool textbook, is_split, holds_weights, fits;
    struct sp_price price;
};

/* Degrees, machine, formats and lengths of the options; what they may be. */
bool sp_load_service(struct serve *f, const struct sp_sources *sources, struct sp_error *error);

/* The same where model, machine, engine and constants are there: of another machine, say. */
bool sp_settle_service(struct serve *f, const struct sp_sources *sources, struct sp_error *error);

/* Makes the chips of an instance its machine: on a torus the slice of that size. */
void sp_take_part(struct serve *f, double chips);

/* Sequences of an instance, by --concurrency, --rate or the limits. */
bool sp_load_sequences(struct serve *f, struct sp_error *error);

/* The same service on another machine: instances of the same degrees, as many as it has room for,
 * under the same load. `f` points into `from`, which has to outlive it. False where the machine is
 * no whole number of instances, has more of them than requests in flight, or does not serve as many
 * requests as come. */
bool sp_move_service(const struct serve *from, const struct sp_hardware *hw, struct serve *f);

/* The steady state that it is about: the estimate's, or the closed forms'. */
struct sp_steady sp_state_of_service(const struct serve *f);

/* Sequences of an instance whose next token a step makes, by the estimate the mean; and those that
 * hold memory: of a split only what generates. */
double sp_generating(const struct serve *f);
double sp_holding(const struct serve *f);

/* Whether the instance holds the weights and its sequences, and whether it is in time too. */
bool sp_service_fits(const struct serve *f);
bool sp_serves(const struct serve *f);

/* Instances of other sizes, best first, or the front; how many. */
int sp_find_serve_points(const struct serve *f, struct sp_serve_point points[SP_SERVE_POINTS]);

/* One of them under the current scope, and the columns of a table of them; %s is its key of the
 * first token. */
void sp_put_serve_point(const struct serve *f, const struct sp_serve_point *point);
#define SP_SERVE_POINT_COLUMNS                                                                     \
    "devices: chips, replicas: instances, tp: TP, attention_dp: attention DP, batch: sequences, "  \
    "tpot_s: "                                                                                     \
    "between "                                                                                     \
    "tokens, %s: first token, tokens_per_s_per_user: per user, tokens_per_s_per_device: per chip"

/* The answer for several machines of --hw. */
bool sp_compare_serving(const struct sp_args *args, struct sp_report *report,
                        struct sp_error *error);

#endif
