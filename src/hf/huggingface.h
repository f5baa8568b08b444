/* Converts Hugging Face configs to native model documents. */
#ifndef SP_HUGGINGFACE_H
#define SP_HUGGINGFACE_H

#include "base/json.h"

/* Whether a document is a Hugging Face config: it names its architecture and has no native keys. */
bool sp_is_huggingface(const cJSON *root);

/* Whether a document has the native keys of a model: layers or params. */
bool sp_is_native_model(const cJSON *root);

/* Whether sp_from_huggingface reads the document: a config, or, if a family is assumed, any object
 * without native keys. */
bool sp_reads_as_huggingface(const cJSON *root, const char *assume);

/* The native model document of a config: a new object for cJSON_Delete, or NULL with an error.
 * Unknown architectures are refused with the known facts about them; `assume` (or NULL) is the
 * family to read them as. Other files of a model folder are refused by kind. "note" says what was
 * assumed or left out. */
cJSON *sp_from_huggingface(const struct sp_json *json, const char *assume, struct sp_error *error);

/* Remark i of a document that sp_from_huggingface made; NULL past the last. */
const char *sp_huggingface_remark(const cJSON *native, int i);

/* Name of family i for --assume; NULL past the last. */
const char *sp_huggingface_family(size_t i);

#endif
