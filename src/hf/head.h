/* The head of a Hugging Face model, from the class in its config. */
#ifndef SP_HUGGINGFACE_HEAD_H
#define SP_HUGGINGFACE_HEAD_H

#include "hf/keys.h"

enum sp_hf_head_kind {
    HF_HEAD_VOCABULARY, /* logits of the next token */
    HF_HEAD_SCORE,      /* one weight row per label */
    HF_HEAD_NONE,       /* the model ends with its last norm */
};

struct sp_hf_head {
    enum sp_hf_head_kind kind;
    double labels;   /* outputs of a score head */
    bool bias;       /* of a score head */
    bool each_token; /* labels per token, not per sequence */
};

/* The class that determines the head: the nested config's own, else the outer one's; "" if there is
 * none. */
const char *sp_hf_deciding_class(const struct sp_hf_config *config);

/* The head of the config's class; a language model's if it names none. Fails for draft models, and
 * for classes with an unknown head unless the family is `assumed`. */
bool sp_hf_head_of(const struct sp_hf_config *config, bool assumed, struct sp_hf_head *head,
                   struct sp_error *error);

/* The model_type in the name of a class: "Qwen2MoeForCausalLM" gives qwen2_moe; "" for a class with
 * no known ending. */
void sp_hf_type_of_class(const char *class, char *out, size_t size);

#endif
