/* What is trained of a model, from the command line. */
#ifndef SP_CLI_TUNING_H
#define SP_CLI_TUNING_H

#include "cli/options.h"
#include "report/report.h"

#include <scaleplan/model.h>

extern const char *const sp_base_formats[]; /* of frozen weights */

/* clang-format off */
#define SP_OPTIONS_TUNING \
    {.name = "trainable", .metavar = "PART,...", .kind = SP_TEXT, \
     .help = "what is trained: all (the default), lora (adapters alone), last:N (the last N layers), none (a forward pass " \
             "alone), or parts: embeddings, attention, mlp, experts, norms; the rest is frozen, without gradients and " \
             "optimizer"}, \
    {.name = "lora-rank", .metavar = "R", .kind = SP_WHOLE, .min = 1, .max = 1e6, \
     .help = "rank of the adapters (default: 16), and --trainable lora"}, \
    {.name = "lora-targets", .metavar = "LIST", .kind = SP_TEXT, \
     .help = "projections with adapters: q, k, v, qkv, o, gate, up, down, attention, all-linear (the default)"}, \
    {.name = "base-format", .metavar = "FORMAT", .kind = SP_CHOICE, .choices = sp_base_formats, \
     .help = "how frozen weights of matmuls are stored: bf16 (the default), fp8, int8, nf4 (0.5625 bytes), nf4-double " \
             "(0.516 bytes, scales quantised too)"}
/* clang-format on */

/* Puts --trainable and its kin into the model, for a command that has them. What the model has no
 * such part of, and options that mean nothing beside the others, are errors. */
bool sp_take_tuning(const struct sp_args *args, struct sp_model *model, struct sp_error *error);

/* "adapters of rank 16 on q, v", "the last 4 layers": what is trained, in words; "" for all of it.
 */
enum { SP_TUNING_TEXT = 160 };
void sp_tuning_text(const struct sp_model *model, char out[SP_TUNING_TEXT]);

/* Puts what is trained, for a model of which something is frozen; nothing for others. */
void sp_put_tuning(struct sp_report *report, const struct sp_model *model);

#endif
