/* Does a 13-billion-parameter model train compute-bound under FSDP? The condition of the textbook,
 * B/N > C/W, from the alpha of three torus axes. */
#include <stdio.h>

#include <scaleplan/scaleplan.h>

int main(void)
{
    const struct sp_model model = {.layers = 40,
                                   .d_model = 5120,
                                   .d_ff = 13824,
                                   .heads = 40,
                                   .kv_heads = 40,
                                   .head_dim = 128,
                                   .vocab = 32000,
                                   .norms_per_layer = 2,
                                   .gated_mlp = true};
    const double C = 4.59e14, W_axis = 2 * 9e10; /* FLOP/s, bytes/s of one axis both ways */
    const double tokens = 3e6, chips = 4096;
    const double alpha = C / W_axis / 3; /* tokens a chip that hide gathering over three axes */
    printf("%.0f parameters; %.1f tokens a chip, %.0f needed: FSDP is %s\n",
           sp_count_params(&model).total, tokens / chips, alpha,
           tokens / chips > alpha ? "compute-bound" : "communication-bound");
    return 0;
}
