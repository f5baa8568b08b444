/* Reads the trained parts in a row of post-training. */
#include <strings.h>

#include "runs/runs_internal.h"

/* The matmuls of a layer. */
#define ALL_LINEAR                                                                                 \
    (1U << SP_LORA_Q | 1U << SP_LORA_K | 1U << SP_LORA_V | 1U << SP_LORA_O | 1U << SP_LORA_GATE |  \
     1U << SP_LORA_UP | 1U << SP_LORA_DOWN)

void sp_read_row_tuning(struct sp_row_reader *r)
{
    struct sp_run *const run = r->run;
    const char *const kind = sp_row_text(r, "kind"), *const method = sp_row_text(r, "method");
    const char *const stored = sp_row_text(r, "quantization");
    if (*kind && strcasecmp(kind, "pretrain") != 0 && strcasecmp(kind, "finetune") != 0)
        sp_row_unknown(r, "kind", "pretrain or finetune: other runs do more than training steps");
    if (!*method || strcasecmp(method, "full") == 0)
        return;
    if (strcasecmp(method, "lora") != 0) {
        sp_row_unknown(r, "method", "full or lora");
        return;
    }
    if (*stored)
        sp_row_unknown(r, "quantization", "an empty cell (16-bit base)");
    run->model.tuning = (struct sp_tuning){.trainable = SP_TRAIN_LORA,
                                           .lora_rank = sp_row_whole(r, "lora_rank", 0),
                                           .targets = ALL_LINEAR,
                                           .packs_head = run->framework.framework.packs_head};
    if (run->model.tuning.lora_rank < 1)
        sp_row_problem(run, "lora_rank is not stated");
}
