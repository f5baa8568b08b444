/* The head of a Hugging Face model, from the suffix of its class name. */
#include "hf/head.h"

#include <string.h>

/* The first match decides. Score heads built by GenericForSequenceClassification
 * (modeling_layers.py) have no bias, others have one. */
static const struct ending {
    const char *ending;
    double labels; /* 0: as many as the config has */
    enum sp_hf_head_kind kind;
    bool bias;
} endings[] = {
    {"ForCausalLM", 0, HF_HEAD_VOCABULARY, false},
    {"LMHeadModel", 0, HF_HEAD_VOCABULARY, false},
    {"ForConditionalGeneration", 0, HF_HEAD_VOCABULARY, false},
    {"ForMaskedLM", 0, HF_HEAD_VOCABULARY, false},
    {"ChatGLMModel", 0, HF_HEAD_VOCABULARY, false},
    {"InternVLChatModel", 0, HF_HEAD_VOCABULARY, false},
    {"LLaDAModelLM", 0, HF_HEAD_VOCABULARY, false},
    {"LLaDA2MoeModelLM", 0, HF_HEAD_VOCABULARY, false},
    {"DreamModel", 0, HF_HEAD_VOCABULARY, false},
    {"ForSequenceClassification", 0, HF_HEAD_SCORE, false},
    {"ForTokenClassification", 0, HF_HEAD_SCORE, true},
    {"ForImageClassification", 0, HF_HEAD_SCORE, true},
    {"ForQuestionAnswering", 2, HF_HEAD_SCORE, true},
    {"Model", 0, HF_HEAD_NONE, false},
};

/* Whether the class ends in a known suffix but has another head: half a model, a reward MLP, two
 * heads. */
static bool is_beyond(const char *class)
{
    return sp_hf_ends(class, "EncoderModel") || sp_hf_ends(class, "RewardModel") ||
           sp_hf_ends(class, "HeadsModel");
}

static const struct ending *ending_of(const char *class)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (sp_hf_ends(class, endings[i].ending))
            return is_beyond(class) ? NULL : &endings[i];
    return NULL;
}

const char *sp_hf_deciding_class(const struct sp_hf_config *c)
{
    const char *const own = sp_hf_class(c->sizes);
    return *own ? own : sp_hf_class(c->json->root);
}

/* Words in the class names of draft models. */
static bool is_draft(const char *class)
{
    static const char *const words[] = {"Eagle", "Medusa", "Speculator", "NextN", "MTP", "Draft"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(class, words[i]))
            return true;
    return false;
}

/* Labels of a classifier: their number, the length of their list, or transformers' default of
 * two. */
static double labels_of(const cJSON *root, const cJSON *sizes)
{
    const cJSON *const names = sp_hf_member(sizes, "id2label") ? sp_hf_member(sizes, "id2label")
                                                               : sp_hf_member(root, "id2label");
    const double listed = cJSON_IsObject(names) ? cJSON_GetArraySize(names) : 0;
    const double said = sp_hf_number_at(sizes, "num_labels", sp_hf_at(root, "num_labels"));
    return said >= 1 ? said : listed >= 1 ? listed : 2;
}

/* Refuses a class with an unknown head: a guess could be wrong by a whole table. */
bool sp_hf_head_of(const struct sp_hf_config *c, bool assumed, struct sp_hf_head *head,
                   struct sp_error *error)
{
    const char *const class = sp_hf_deciding_class(c);
    const struct ending *const end = ending_of(class);
    *head = (struct sp_hf_head){.kind = HF_HEAD_VOCABULARY};
    if (!*class || (assumed && !end))
        return true;
    const char *const at = sp_json_place(c->json, "architectures");
    if (!assumed && is_draft(class))
        return sp_fail(error, SP_INPUT,
                       "%s: class \"%s\" is a draft for another model, with inputs and a head of "
                       "different sizes",
                       at, sp_safe(class));
    if (!end)
        return sp_fail(error, SP_INPUT,
                       "%s: unknown head of class \"%s\" (expected ...ForCausalLM, ...LMHeadModel, "
                       "...ForConditionalGeneration, ...ForSequenceClassification, "
                       "...ForTokenClassification, ...ForQuestionAnswering or ...Model)",
                       at, sp_safe(class));
    const double labels = end->labels > 0 ? end->labels : labels_of(c->json->root, c->sizes);
    *head = (struct sp_hf_head){end->kind, end->kind == HF_HEAD_SCORE ? labels : 0, end->bias,
                                end->kind == HF_HEAD_SCORE &&
                                    !sp_hf_ends(class, "ForSequenceClassification")};
    return true;
}

void sp_hf_type_of_class(const char *class, char *out, size_t size)
{
    const struct ending *const end = ending_of(class);
    const size_t stem = end ? strlen(class) - strlen(end->ending) : 0;
    size_t n = 0;
    for (const char *at = class; at < class + stem && n + 2 < size; at++) {
        const bool upper = *at >= 'A' && *at <= 'Z';
        const bool after = at > class && !(at[-1] >= 'A' && at[-1] <= 'Z');
        if (upper && after)
            out[n++] = '_';
        out[n++] = (char)(upper ? *at - 'A' + 'a' : *at);
    }
    out[n] = '\0';
}
