/* Errors for files that are not read: unknown architectures, and the other files of a model's
 * folder. */
#ifndef SP_HUGGINGFACE_REFUSE_H
#define SP_HUGGINGFACE_REFUSE_H

#include "hf/keys.h"

/* Refuses an unknown architecture, with facts from its config and the nearest family. Always
 * false. */
bool sp_hf_refuse_architecture(const struct sp_hf_config *config, const char *type,
                               struct sp_error *error);

/* Refuses an --assume family that is not in the table. Always false. */
bool sp_hf_refuse_assumed(const char *type, struct sp_error *error);

/* Refuses a config in which a size is missing or not a whole number, with all names of that size.
 * Always false. */
bool sp_hf_refuse_size(const struct sp_hf_config *config, const char *const *keys,
                       struct sp_error *error);

/* Refuses a config of a known family that switches on a feature no family has. Whether it
 * passes. */
bool sp_hf_check_features(const struct sp_hf_config *config, const char *family,
                          struct sp_error *error);

/* Whether a document without model_type and architectures is another file of a model's folder, by
 * its keys; then with an error that names it. */
bool sp_hf_is_other_file(const struct sp_json *json, struct sp_error *error);

#endif
