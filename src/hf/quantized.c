/* Reads quantization_config: fp8, mxfp4, AWQ, GPTQ, compressed-tensors, ModelOpt, bitsandbytes. */
#include "hf/quantized.h"

#include <string.h>

/* A method, the other conditions on the config, and the format. */
struct method {
    const char *method, *key, *value; /* value: of a text, or "" for any object, array or true */
    double bits;                      /* 0: any */
    const char *format;
};
static const struct method methods[] = {
    {"fp8", "weight_block_size", "", 0, "fp8_block"},
    {"fp8", NULL, NULL, 0, "fp8"},
    {"fbgemm_fp8", NULL, NULL, 0, "fp8"},
    {"mxfp4", NULL, NULL, 0, "mxfp4"},
    {"awq", NULL, NULL, 4, "awq"},
    {"gptq", NULL, NULL, 4, "gptq"},
    {"gptq", NULL, NULL, 8, "int8"},
    {"modelopt", "quant_algo", "NVFP4", 0, "nvfp4"},
    {"modelopt", "quant_algo", "FP8", 0, "fp8"},
    {"modelopt_fp4", NULL, NULL, 0, "nvfp4"},
    {"bitsandbytes", "load_in_4bit", "", 0, "nf4"},
    {"bitsandbytes", "load_in_8bit", "", 0, "int8"},
};

static bool says(const cJSON *o, const char *key, const char *value)
{
    const cJSON *const at = sp_hf_member(o, key);
    const char *const text = sp_hf_text_at(o, key);
    if (*value)
        return text && strcmp(text, value) == 0;
    return at && (cJSON_IsArray(at) || cJSON_IsObject(at) || cJSON_IsTrue(at));
}

/* The weights of the first group of compressed-tensors. */
static const char *of_group(const cJSON *q)
{
    const cJSON *const groups = sp_hf_member(q, "config_groups");
    const cJSON *const group = groups ? groups->child : NULL, *const w =
                                                                  sp_hf_member(group, "weights");
    const double bits = sp_hf_at(w, "num_bits");
    const bool alone = !sp_hf_member(group, "input_activations");
    if (says(w, "type", "float"))
        return bits == 8   ? sp_hf_member(w, "block_structure") ? "fp8_block" : "fp8"
               : bits == 4 ? "nvfp4"
                           : NULL;
    return bits == 8 ? "int8" : bits == 4 ? alone ? "int4_wo" : "int4" : NULL;
}

static const char *format_of(const cJSON *q)
{
    const char *const method = sp_hf_text_at(q, "quant_method");
    if (strcmp(method, "compressed-tensors") == 0)
        return of_group(q);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *const m = &methods[i];
        if (strcmp(m->method, method) == 0 && (!m->key || says(q, m->key, m->value)) &&
            (m->bits == 0 || sp_hf_at(q, "bits") == m->bits))
            return m->format;
    }
    return NULL;
}

/* Whether attention of all layers keeps its 16 bits, which leaves the experts. */
static bool is_of_experts(const cJSON *q)
{
    static const char *const lists[] = {"modules_to_not_convert", "ignore", "exclude_modules"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const cJSON *name;
        cJSON_ArrayForEach(
            name,
            sp_hf_member(q, lists[i])) if (cJSON_IsString(name) && strchr(name->valuestring, '*') &&
                                           strstr(name->valuestring, "self_attn") &&
                                           !strstr(name->valuestring, "layers.0")) return true;
    }
    return false;
}

static bool keeps_narrow_cache(const cJSON *q)
{
    return sp_hf_at(sp_hf_member(q, "kv_cache_scheme"), "num_bits") == 8 ||
           says(q, "kv_cache_quant_algo", "FP8");
}

bool sp_hf_put_formats(cJSON *out, const struct sp_hf_config *c)
{
    const cJSON *const nested = sp_hf_member(c->sizes, "quantization_config");
    const cJSON *const q = nested ? nested : sp_hf_member(c->json->root, "quantization_config");
    if (!sp_hf_text_at(q, "quant_method"))
        return true;
    const char *const format = format_of(q);
    if (!format)
        return false;
    if (says(c->sizes, "expert_dtype", "fp4")) /* DeepSeek-V4: scales of 32 weights beside fp8 */
        cJSON_AddStringToObject(out, "experts", "mxfp4");
    cJSON_AddStringToObject(
        out, sp_hf_member(out, "moe") && is_of_experts(q) ? "experts" : "weights", format);
    if (keeps_narrow_cache(q))
        cJSON_AddStringToObject(out, "kv", "fp8");
    return true;
}
