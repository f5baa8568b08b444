/* The picture of `rl`. */
#ifndef SP_PICTURE_RL_H
#define SP_PICTURE_RL_H

#include "pictures/plot.h"

/* Parts of a step, in its order. */
enum sp_loop_part {
    SP_LOOP_GENERATION,
    SP_LOOP_LOGPROB,
    SP_LOOP_REFERENCE,
    SP_LOOP_CRITIC,
    SP_LOOP_REWARD,
    SP_LOOP_UPDATE,
    SP_LOOP_REST,
    SP_LOOP_REFIT,
    SP_LOOP_WAKE,
    SP_LOOP_PARTS
};

struct sp_loop {
    const char *model, *hw;
    double part_s[SP_LOOP_PARTS];
    double step_s;
    double work_s; /* generation by engines that are ahead */
    bool apart;    /* both sides have separate devices */
    bool ahead;    /* and generation does not wait for training */
};

/* Two steps of both sides as a timeline. */
struct sp_figure *sp_draw_loop(const struct sp_loop *loop);

#endif
