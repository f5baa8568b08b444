/* The matmuls and collectives of a layer under each plan, from one list. */
#include "study/layer_steps.h"

#include <string.h>

/* Plans that have a row. In[B_X,D] as gathered is kept from the forward pass; a plan that drops it,
 * as Megatron's sequence parallelism does, gathers it again for dWin. */
enum {
    WHOLE = 1 << SP_LAYER_DP | 1 << SP_LAYER_DP_TP,
    SHARDED = 1 << SP_LAYER_FSDP | 1 << SP_LAYER_FSDP_TP,
    SPLIT = 1 << SP_LAYER_TP | 1 << SP_LAYER_DP_TP | 1 << SP_LAYER_FSDP_TP,
    ALL = WHOLE | SHARDED | SPLIT
};

/* clang-format off */
static const struct {
    int plans;
    struct sp_layer_step step;
} rows[] = {
    {SPLIT,   {"In[B_X,D] from In[B_X,D_Y]",               SP_DO_GATHER,  false, false}},
    {SHARDED, {"Win[D,F_Y] from Win[D_X,F_Y]",             SP_DO_GATHER,  false, true}},
    {ALL,     {"Tmp[B_X,F_Y] = In[B_X,D] Win[D,F_Y]",      SP_DO_MATMUL,  false, false}},
    {SHARDED, {"Wout[F_Y,D] from Wout[F_Y,D_X]",           SP_DO_GATHER,  false, true}},
    {ALL,     {"Out[B_X,D] = Tmp[B_X,F_Y] Wout[F_Y,D]",    SP_DO_MATMUL,  false, false}},
    {SPLIT,   {"Out[B_X,D_Y] from Out[B_X,D]{U_Y}",        SP_DO_SCATTER, false, false}},
    {SPLIT,   {"dOut[B_X,D] from dOut[B_X,D_Y]",           SP_DO_GATHER,  true,  false}},
    {ALL,     {"dWout[F_Y,D] = Tmp[B_X,F_Y] dOut[B_X,D]",  SP_DO_MATMUL,  true,  false}},
    {SHARDED, {"dWout[F_Y,D_X] from dWout[F_Y,D]{U_X}",    SP_DO_SCATTER, true,  true}},
    {WHOLE,   {"dWout[F_Y,D] from dWout[F_Y,D]{U_X}",      SP_DO_REDUCE,  true,  true}},
    {SHARDED, {"Wout[F_Y,D] from Wout[F_Y,D_X]",           SP_DO_GATHER,  true,  true}},
    {ALL,     {"dTmp[B_X,F_Y] = dOut[B_X,D] Wout[F_Y,D]",  SP_DO_MATMUL,  true,  false}},
    {ALL,     {"dWin[D,F_Y] = In[B_X,D] dTmp[B_X,F_Y]",    SP_DO_MATMUL,  true,  false}},
    {SHARDED, {"dWin[D_X,F_Y] from dWin[D,F_Y]{U_X}",      SP_DO_SCATTER, true,  true}},
    {WHOLE,   {"dWin[D,F_Y] from dWin[D,F_Y]{U_X}",        SP_DO_REDUCE,  true,  true}},
    {SHARDED, {"Win[D,F_Y] from Win[D_X,F_Y]",             SP_DO_GATHER,  true,  true}},
    {ALL,     {"dIn[B_X,D] = dTmp[B_X,F_Y] Win[D,F_Y]",    SP_DO_MATMUL,  true,  false}},
    {SPLIT,   {"dIn[B_X,D_Y] from dIn[B_X,D]{U_Y}",        SP_DO_SCATTER, true,  false}},
};
/* clang-format on */
_Static_assert(sizeof rows / sizeof *rows <= SP_MOST_LAYER_STEPS, "room for all of them");

/* Drops an axis, such as "_Y", that the plan does not have. */
static void drop_axis(char *what, const char *axis)
{
    for (char *at; (at = strstr(what, axis));)
        memmove(at, at + 2, strlen(at + 2) + 1);
}

/* A group of one chip has nothing to gather. */
static bool is_done(const struct sp_layer_step *step, double X, double Y)
{
    return step->work == SP_DO_MATMUL || (step->of_weights ? X : Y) > 1;
}

int sp_layer_steps(enum sp_layer_plan plan, double X, double Y,
                   struct sp_layer_step steps[SP_MOST_LAYER_STEPS])
{
    int n = 0;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].plans >> plan & 1 && is_done(&rows[i].step, X, Y)) {
            steps[n] = rows[i].step;
            if (!(X > 1))
                drop_axis(steps[n].what, "_X");
            if (!(Y > 1))
                drop_axis(steps[n].what, "_Y");
            n++;
        }
    return n;
}

struct sp_moved_array sp_moved_array(const struct sp_layer_step *step, double B, double D, double F,
                                     double X, double Y)
{
    const double times = step->work == SP_DO_REDUCE ? 2 : 1;
    return step->of_weights ? (struct sp_moved_array){times, D, F, Y}
                            : (struct sp_moved_array){times, B, D, X};
}
