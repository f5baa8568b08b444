/* The sides of a step of reinforcement learning as the commands `step` and `serve` read them. */
#ifndef SP_CLI_RL_SIDES_H
#define SP_CLI_RL_SIDES_H

#include "cli/service.h"
#include "study/rl.h"

extern const char *const sp_rl_algorithms[], *const sp_rl_sleeps[], *const sp_rl_refits[],
                                                                        *const sp_rl_loops[];

/* Rows that train: answers or packs of them. */
struct sp_rl_rows {
    double mean, rows, tokens; /* before and after each replica has as many; of a row */
    bool packed;               /* several answers share a row */
};

struct sp_rl_sides {
    struct sp_planned trained;
    struct serve generates;
    struct sp_model reference, critic, reward;
    struct sp_rl_asked asked; /* points into the others */
    enum sp_rl_algorithm algorithm;
    double train_devices, other_devices;         /* that train, and that hold only other models */
    struct sp_lengths lengths;                   /* of answers with their prompts */
    double room;                                 /* tokens of a pack; 0: none */
    struct sp_documents documents;               /* the answers in rows of a forward pass */
    struct sp_rl_rows rows, all;                 /* of an optimizer step, and of all answers */
    struct sp_words train_words, generate_words; /* the sides' own command lines */
    struct sp_args *train_args, *generate_args;
    bool has_engines; /* whether they run, whatever training does */
};

/* Reads both sides. sp_free_sides() it, read or not. */
bool sp_load_sides(const struct sp_args *args, struct sp_report *report, struct sp_rl_sides *sides,
                   struct sp_error *error);
/* Whether a machine can give each side this many devices: engines take any part of a switched one.
 */
bool sp_can_split(const struct sp_hardware *hw, int64_t train, int64_t generate);

/* Completes the sides' command lines with the choices made: the plan of training, and the degrees
 * of engines and the number of answers with which they start. Then `step` gives the step of an
 * update, and `serve` the time of an answer (e2e_s), without the constants of a framework. */
void sp_say_choices(struct sp_rl_sides *sides, const struct sp_rl_answer *answer);

/* Mean price (USD/h) of a device: of engines' devices, and of all others. */
double sp_mean_price(const struct sp_rl_sides *sides, double of_training, double of_engines);

void sp_free_sides(struct sp_rl_sides *sides);

#endif
