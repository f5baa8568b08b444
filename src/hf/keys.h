/* Keys of Hugging Face configs under all their names, and their values. */
#ifndef SP_HUGGINGFACE_KEYS_H
#define SP_HUGGINGFACE_KEYS_H

#include "base/json.h"

/* Names of one quantity, the main one first, up to NULL. */
extern const char *const sp_hf_layers[];
extern const char *const sp_hf_width[];
extern const char *const sp_hf_heads[];
extern const char *const sp_hf_kv[];
extern const char *const sp_hf_ff[];
extern const char *const sp_hf_vocab[];
extern const char *const sp_hf_positions[];
extern const char *const sp_hf_experts[];
extern const char *const sp_hf_top[];
extern const char *const sp_hf_expert_width[];
extern const char *const sp_hf_shared[];
extern const char *const sp_hf_every[];
extern const char *const sp_hf_dense[];
extern const char *const sp_hf_head_dim[];
extern const char *const sp_hf_window[];
extern const char *const sp_hf_latent[];
extern const char *const sp_hf_nope[];
extern const char *const sp_hf_rope[];
extern const char *const sp_hf_value[];

/* The key of our model files for a config's key of a size ("layers" of "num_hidden_layers"); NULL:
 * none. */
const char *sp_hf_native_of(const char *key);

/* A config being read: `part` is the path of `sizes` in the document ("text_config." or ""). */
struct sp_hf_config {
    const struct sp_json *json;
    const char *part;
    const cJSON *sizes;
};

/* The member, unless it is null. */
const cJSON *sp_hf_member(const cJSON *object, const char *key);

/* The number under the first of the keys that has one; 0 if none has. */
double sp_hf_number(const cJSON *object, const char *const *keys);

/* The number under a key; `otherwise`, or 0, if there is none. */
double sp_hf_number_at(const cJSON *object, const char *key, double otherwise);
double sp_hf_at(const cJSON *object, const char *key);

/* The number under either key, else `otherwise`. */
double sp_hf_either(const cJSON *object, const char *key, const char *other, double otherwise);

bool sp_hf_flag_at(const cJSON *object, const char *key, bool otherwise);

/* The value of a rule: "0", "1", or "key=default". */
bool sp_hf_flag(const cJSON *object, const char *rule);

/* The text under a key; NULL if there is none. */
const char *sp_hf_text_at(const cJSON *object, const char *key);

/* The first of the keys that the config has, even if its value is null; NULL if it has none. */
const char *sp_hf_key_in(const cJSON *object, const char *const *keys);

/* The first class that a config names; "" if none. */
const char *sp_hf_class(const cJSON *config);

/* Sets a member, replacing any other value; 0 and false are left out, as they are the defaults of
 * native documents. */
void sp_hf_put(cJSON *object, const char *key, double value);

/* Takes numbers of a config under our keys: pairs of ours and theirs, up to one of NULL. */
void sp_hf_take(cJSON *out, const cJSON *o, const char *const pairs[][2]);
#define SP_HF_TAKE(out, o, ...)                                                                    \
    sp_hf_take(out, o, (const char *const[][2]){__VA_ARGS__, {NULL, NULL}})
void sp_hf_put_flag(cJSON *object, const char *key, bool value);

/* Whether a text ends with this ending. */
bool sp_hf_ends(const char *text, const char *ending);

/* Whether the key of an object names a part of a model: a tower, a projector. */
bool sp_hf_is_model_part(const char *key);

#endif
