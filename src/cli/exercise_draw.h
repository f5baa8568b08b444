/* New numbers for an exercise: the same for the same seed and case, on every machine. */
#ifndef SP_EXERCISE_DRAW_H
#define SP_EXERCISE_DRAW_H

#include <stdint.h>

#include "config/exercises.h"

/* Random draws, of whole numbers only, so that compilers and libraries cannot differ. */
struct sp_dice {
    uint64_t state;
};

/* Random numbers from a seed and a case's name. */
struct sp_dice sp_dice_of(uint64_t seed, const char *id);
uint64_t sp_throw(struct sp_dice *dice);

/* A case with drawn texts, which sp_free_drawn frees; the rest is the original's. */
struct sp_drawn {
    struct sp_case c;
    char *texts[SP_CASE_MAX_ARGS + 1];
    int n_texts;
};
void sp_draw_case(const struct sp_case *original, struct sp_dice *dice, struct sp_drawn *drawn);
void sp_free_drawn(struct sp_drawn *drawn);

#endif
