/* MaxText: what its own checks refuse (MaxTextConfig of configs/types.py, 0.2.4). Of options that
 * are read the table makes remarks, of those that are written losses. */
#include <string.h>

#include "base/truth.h"
#include "launch/maxtext/maxtext.h"

static bool is_fp8(const struct sp_settings *s)
{
    static const char *const names[] = {"fp8", "nanoo_fp8", "fp8_gpu", "te_fp8_delayedscaling"};
    const char *const text = sp_said(s, "quantization");
    for (size_t i = 0; text && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], text) == 0)
            return true;
    return false;
}

static bool is_on(const struct sp_settings *s, const char *name)
{
    const char *const text = sp_said(s, name);
    return text && sp_truth(text) == 1;
}

/* clang-format off */
void sp_check_maxtext(const struct sp_settings *s, const struct sp_model *model, struct sp_refusals *refused)
{
    const int64_t stages = sp_said_whole(s, "ici_pipeline_parallelism", 1) * sp_said_whole(s, "dcn_pipeline_parallelism", 1),
                  each = sp_said_whole(s, "num_layers_per_pipeline_stage", 1), dense = model && model->moe.experts > 0 ? model->moe.dense_layers : 0,
                  layers = model ? model->layers - dense : 0, repeats = sp_said_whole(s, "num_pipeline_repeats", 0), pieces = sp_said_whole(s, "num_pipeline_microbatches", stages);
    const bool piped = stages > 1, late = piped && is_on(s, "pipeline_delay_activation_forwarding"), ahead = is_on(s, "pipeline_fsdp_ag_per_repeat");
    const struct sp_check checks[] = {
        {piped && layers > 0 && repeats == 0 && layers % (stages * each) != 0, "layers that are no multiple of stages x num_layers_per_pipeline_stage"},
        {piped && layers > 0 && repeats > 0 && stages * repeats * each != layers, "stages x repeats x num_layers_per_pipeline_stage that are not the layers"},
        {piped && pieces % stages != 0, "num_pipeline_microbatches that is no multiple of the stages"},
        {late && pieces < 2 * stages, "fewer micro-batches than delayed stages need"},
        {piped && ahead && each > 1, "weights gathered for each repeat with more than one layer a stage"},
        {piped && ahead && sp_said(s, "quantization") && sp_said(s, "quantization")[0], "weights gathered for each repeat with quantization"},
        {is_fp8(s) && sp_said_whole(s, "gradient_accumulation_steps", 1) > 1, "fp8 with gradient_accumulation_steps"},
    };
    refused->n = 0;
    SP_REFUSE(checks, refused);
}
/* clang-format on */
