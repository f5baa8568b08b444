/* Shared by the files of `serve`: inputs in serve.c and serve_inputs.c, the answer in
 * serve_report.c, instances of other sizes in serve_points.c. */
#ifndef SP_CMD_SERVE_H
#define SP_CMD_SERVE_H

#include <scaleplan/serve_estimate.h>

#include "cli/price.h"

/* Degrees of one instance. */
struct serve_degrees {
    double tp, attention_dp, pp;
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
    enum sp_storage kv;
    struct sp_service service;
    struct sp_served served, reader, draft; /* that generates, that reads prompts, that drafts */
    struct sp_serve_load load;
    struct sp_profile
        profile;      /* of the chip and the engine; load.profile points to it or nowhere */
    bool own_profile; /* the pair has measured runs */
    struct sp_serve_instance instance, reading; /* the latter reads prompts */
    struct sp_serve_estimate said;              /* of it, where instance.estimated */
    double replicas, B;
    bool textbook, is_split, has_draft, holds_weights, fits;
    struct sp_price price;
};

/* Degrees, machine, formats and lengths of the options; what they may be. */
bool sp_load_service(struct serve *f, const struct sp_sources *sources, struct sp_error *error);

/* Sequences of an instance, by --concurrency, --rate or the limits. */
bool sp_load_sequences(struct serve *f, struct sp_error *error);

/* The answer. */
void sp_put_service(struct serve *f);

/* The steady state that it is about: the estimate's, or the closed forms'. */
struct sp_steady sp_state_of_service(const struct serve *f);

/* What the estimate says of the step, the prompt, latencies and rates; null without one. */
void sp_put_estimate(const struct serve *f, const struct sp_steady *state);

/* Speculative decoding and pools, where they are asked for. */
bool sp_put_speculation(struct serve *f, struct sp_error *error);
void sp_put_pools(struct serve *f);

/* Instances of other sizes, best first. */
void sp_put_serve_points(struct serve *f);

#endif
