/* A problem: machine, batch, run, goal, and the tolerances; and the machines and batches that these
 * allow. */
#ifndef SP_STUDY_PROBLEM_H
#define SP_STUDY_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <scaleplan/machine.h>
#include <scaleplan/plan.h>
#include <scaleplan/training.h>

/* A batch about B has at most this share more or fewer sequences. */
#define SP_ABOUT 0.05

/* What ranks plans. */
enum sp_goal { SP_GOAL_STEP, SP_GOAL_MFU, SP_GOAL_COST, SP_GOAL_DEVICES, SP_GOAL_MEMORY };
extern const char *const sp_goal_names[];

/* A price. NAN: none is known. */
struct sp_price {
    double usd_per_h;
    bool is_typed;         /* by --price or --capex */
    int64_t year;          /* of a list price; 0: unknown */
    char source[64];       /* the option, or that of a list price; "": unknown */
    bool is_offered;       /* to be bought, by --capex */
    struct sp_owned own;   /* by --capex */
    double rent_usd_per_h; /* by --price, else the list price; NAN: neither is known */
};

/* A requested batch. */
struct sp_asked_batch {
    double tokens, seq;
    bool is_typed;         /* else the model's or the default, which nobody asked for */
    bool counts_sequences; /* given in sequences, so it is not rounded */
    bool is_about;         /* any within SP_ABOUT will do */
    const char *origin;    /* "--batch", "model file" or "default" */
};

/* NAN: not asked. */
struct sp_problem {
    const char *machine; /* as given to --hw; NULL: none */
    int64_t idle;        /* devices of it that may stay idle */
    struct sp_asked_batch batch;
    double tokens;           /* of the whole run */
    double days, max_step_s; /* most that the run, and a step, may take */
    double budget_usd;       /* most that the run may cost */
    struct sp_price price;   /* of a device-hour */
    const char *framework;   /* NULL: the machine's default */
    enum sp_goal goal;
};

/* Whether a batch is within SP_ABOUT of the requested one. */
bool sp_is_about(double sequences, double asked);

/* Whether a search may take any batch within SP_ABOUT: one requested with ~, one that nobody typed,
 * or tokens that are not a whole number of sequences and cannot be kept anyway. */
bool sp_is_free_batch(const struct sp_asked_batch *batch);

/* Longest step in s that meets the deadline and --max-step with batches of `batch_tokens`;
 * INFINITY: neither is asked for. */
double sp_longest_step_s(const struct sp_problem *problem, double batch_tokens);

/* Whether a plan meets them: --max-step by its step, the deadline by the step of a run on it. */
bool sp_is_in_time(const struct sp_problem *problem, double batch_tokens, double step_s,
                   double run_step_s);

/* The machine with another number of devices: whole slices of several, else one slice. False if
 * there is no such machine. */
bool sp_take_devices(struct sp_hardware *hw, int64_t devices);

/* The machine as --hw takes it, from how it was typed with another number of devices. */
void sp_name_machine(const struct sp_hardware *hw, const char *typed, char *out, size_t size);

/* Whether a machine was typed with its number of devices, or is a system of several. */
bool sp_is_counted(const struct sp_hardware *hw, const char *typed);

/* The next number of devices below; 0: none. */
int64_t sp_fewer_devices(const struct sp_hardware *hw, int64_t devices);

/* A machine and a batch that represent a problem. */
struct sp_variant {
    int64_t devices, batch;
};

enum { SP_MAX_VARIANTS = 64 };

/* The numbers of replicas that share one batch but not the other, or whose micro-batches or stages
 * do (an interleaved schedule passes as many micro-batches as it has stages); in rising order.
 * Returns how many there are of them, `most` are listed. */
int sp_list_new_replicas(int64_t devices, int64_t batch, int64_t than, int64_t *found, int most);

/* The most replicas times sequences of a micro-batch (up to 8; where devices have less than a
 * sequence each also of 3, 5, 6 or 7) that share a batch. */
int64_t sp_batch_shares(int64_t devices, int64_t batch);

/* The same with micro-batches of powers of two alone. */
int64_t sp_round_shares(int64_t devices, int64_t batch);

/* The odd factor of the devices that stages, TP and CP must absorb if replicas share a batch: few
 * head and layer counts have it. */
int64_t sp_odd_rest(int64_t devices, int64_t batch);

/* The tolerances on a machine and a batch. */
struct sp_tolerance {
    int64_t least;                /* devices */
    int64_t batch;                /* sequences that represent the requested batch */
    double asked;                 /* requested sequences */
    bool batches;                 /* others within SP_ABOUT too */
    const struct sp_model *model; /* whose layers stages divide; NULL: any */
    bool only_rounder;            /* of fewer devices only those that are rounder */
};

/* The numbers of devices and batches to look at, of hw's own first: the largest numbers of devices,
 * then those that are rounder than each larger one, in the odd part that replicas leave, the power
 * of two, the numbers of stages, or the replicas that share the batch; with each, the batches of
 * which none is shared by all that share another, and by more. Fewer of them as `least` grows.
 * Returns their number. */
int sp_list_variants(const struct sp_hardware *hw, const struct sp_tolerance *tolerance,
                     struct sp_variant found[SP_MAX_VARIANTS]);

#endif
