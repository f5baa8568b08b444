/* The settings that a plan leaves open: one resolver for all commands. */
#ifndef SP_RESOLVE_H
#define SP_RESOLVE_H

#include "base/error.h"
#include "study/planned.h"

/* Which fields of a plan are given; planned->plan has their values. */
struct sp_said {
    bool given[SP_PLAN_FIELDS];
    /* A launch file: settings that it leaves out take the framework's own defaults, not the best
     * values. Recomputation stays open if the file leaves it to the model's code. */
    bool is_launch;
    bool open_modules, open_away; /* recomputed modules and offloaded tensors are chosen
                                     together, by sp_choose_kept */
    bool any;                     /* beyond what the framework's file lists */
    const struct sp_repertoire
        *runs;                      /* abilities of the framework: sp_repertoire_of(planned, any) */
    const struct sp_ground *ground; /* measured runs, as in a search; NULL: not known */
};

/* Whether more than one micro-batch is possible and none was given: only then `ground` counts. The
 * degrees must be resolved. */
bool sp_opens_micro_batch(const struct sp_said *said, const struct sp_plan *plan);

/* Fills the degrees: replicas from the devices and the other degrees, or TP where only replicas are
 * given; the framework's ZeRO stage, over all replicas; its pipeline schedule for the chunks. An
 * error if they do not make the devices. */
bool sp_resolve_degrees(const struct sp_said *said, struct sp_planned *planned,
                        struct sp_error *error);

/* The schedule of such a plan if none is given: 1F1B, or interleaved with chunks; of a framework
 * without it the first it has for the chunks (MaxText: GPipe, circular). */
enum sp_schedule sp_schedule_left_open(const struct sp_repertoire *runs, int64_t pp, int64_t vpp);

/* Fills the settings, of a plan that passes sp_check_plan: micro-batch, recomputation (policies and
 * sets of modules), how experts exchange tokens and whether that hides, the kind of CP.
 * Placement is not among them: like the degrees, it determines where ranks are, and a framework
 * places ranks in its own order (replicas inside) unless told otherwise. They are those that
 * `search` takes at these degrees: of the framework's, the least expected step of the plans that
 * fit with memory to spare, else of those that fit, the simplest within SP_SIMPLER; if none fits,
 * the least memory. Writes where each field came from into planned->origin. */
void sp_resolve_settings(const struct sp_said *said, struct sp_planned *planned);

#endif
