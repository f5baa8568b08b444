/* What is said of files that are not read: architectures that no family is, and the other files of
 * a model's folder. */
#ifndef SP_HUGGINGFACE_REFUSE_H
#define SP_HUGGINGFACE_REFUSE_H

#include "hf/keys.h"

/* Refuses an architecture that no family is, with what its config tells and what it is like. Always
 * false. */
bool sp_hf_refuse_architecture(const struct sp_hf_config *config, const char *type,
                               struct sp_error *error);

/* Refuses a family that --assume names and the table does not have. Always false. */
bool sp_hf_refuse_assumed(const char *type, struct sp_error *error);

/* Refuses a config that misses a size or has one that is no whole number, under the names that it
 * is known by. Always false. */
bool sp_hf_refuse_size(const struct sp_hf_config *config, const char *const *keys,
                       struct sp_error *error);

/* Refuses a config of a known family that switches on what no family has. Whether it passes. */
bool sp_hf_check_features(const struct sp_hf_config *config, const char *family,
                          struct sp_error *error);

/* Whether a document without model_type and architectures is another file of a model's folder, told
 * by what it says; then with an error that names it. */
bool sp_hf_is_other_file(const struct sp_json *json, struct sp_error *error);

#endif
