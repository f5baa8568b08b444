/* Memory of the loss. */
#include "core/memory/loss_memory.h"

#include "core/layers/layer_rank.h"

/* Bytes of the logits and their copies in the loss, on a rank with this many tokens and outputs. */
static double logit_bytes(const struct sp_plan *plan, const struct sp_framework *framework,
                          double tokens, double outputs)
{
    const bool split = plan->tp > 1 && framework->split_logit_bytes > 0;
    const double logit = split ? framework->split_logit_bytes : framework->logit_bytes;
    const double all = logit * tokens * outputs;
    switch (plan->execution.logits) {
    case SP_LOGITS_FUSED:
        return SP_ELEMENT * tokens * outputs;
    case SP_LOGITS_CHUNKED:
        return all / SP_LOGITS_CHUNKS;
    case SP_LOGITS_LINEAR:
        return 0;
    case SP_LOGITS_NATIVE:
        return (SP_ELEMENT + 4 + 4) * tokens * outputs;
    default:
        return all;
    }
}

double sp_kept_logit_bytes(const struct sp_plan *plan, const struct sp_framework *framework,
                           double tokens, double outputs)
{
    const enum sp_logits logits = plan->execution.logits;
    return logits == SP_LOGITS_UNFUSED || logits == SP_LOGITS_NATIVE
               ? 4 * tokens * outputs
               : logit_bytes(plan, framework, tokens, outputs);
}

double sp_loss_bytes(const struct sp_model *model, const struct sp_plan *plan,
                     const struct sp_framework *framework, double outputs)
{
    const double T = sp_shard_tokens(plan), t = (double)plan->tp, h = (double)model->d_model;
    return 4 * T * h / t + logit_bytes(plan, framework, T, outputs / t) + SP_ELEMENT * T * h;
}
