/* Memory of the loss. */
#ifndef SP_LOSS_MEMORY_H
#define SP_LOSS_MEMORY_H

#include <scaleplan/memory.h>

/* The bytes of a loss's logits that are kept until its backward pass while another loss runs: for
 * losses in 32 bits the softmax, without the 16-bit logits and copies. */
double sp_kept_logit_bytes(const struct sp_plan *plan, const struct sp_framework *framework,
                           double tokens, double outputs);

/* Bytes of the loss with its logits. */
double sp_loss_bytes(const struct sp_model *model, const struct sp_plan *plan,
                     const struct sp_framework *framework, double outputs);

#endif
