/* The trained part of a model, from the command line. */
#ifndef SP_CLI_TUNING_H
#define SP_CLI_TUNING_H

#include "cli/options.h"
#include "answer/report.h"
#include "config/load.h"

#include <scaleplan/model.h>

extern const char *const sp_base_formats[]; /* of frozen weights */

/* clang-format off */
#define SP_OPTIONS_TUNING \
    SP_TAKE(trainable), \
    SP_TAKE(lora_rank), \
    SP_TAKE(lora_targets), \
    SP_TAKE(base_format, .choices = sp_base_formats)
/* clang-format on */

/* Puts --trainable and related options into the model, for a command that has them. Parts that the
 * model does not have, and options without effect, are errors. */
bool sp_take_tuning(const struct sp_args *args, const struct sp_sources *sources,
                    struct sp_model *model, struct sp_error *error);

/* "adapters of rank 16 on q, v", "the last 4 layers": the trained part in words; "" for all of
 * it. */
enum { SP_TUNING_TEXT = 160 };
void sp_tuning_text(const struct sp_model *model, char out[SP_TUNING_TEXT]);

/* Puts the trained part of a model, if some of it is frozen. */
void sp_put_tuning(struct sp_report *report, const struct sp_model *model);

#endif
