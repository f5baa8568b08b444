/* What is trained of a model, from the command line. */
#ifndef SP_CLI_TUNING_H
#define SP_CLI_TUNING_H

#include "cli/options.h"
#include "answer/report.h"

#include <scaleplan/model.h>

extern const char *const sp_base_formats[]; /* of frozen weights */

/* clang-format off */
#define SP_OPTIONS_TUNING \
    SP_TAKE(trainable), \
    SP_TAKE(lora_rank), \
    SP_TAKE(lora_targets), \
    SP_TAKE(base_format, .choices = sp_base_formats)
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
