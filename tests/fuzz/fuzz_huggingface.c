/* Hugging Face configs: what is accepted becomes a native model that is accepted too. */
#include "fuzz.h"

#include <string.h>

#include "hf/huggingface.h"

#include <scaleplan/scaleplan.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_model model;
    struct sp_json json;
    struct sp_error error = {0};
    char *const text = fuzz_text(data, size);
    if (!sp_json_parse(text, size, "fuzz", &json, &error))
        return 0;
    for (int assumed = 0; assumed < 2 && sp_is_huggingface(json.root); assumed++) {
        error = (struct sp_error){0};
        cJSON *const native = sp_from_huggingface(&json, assumed ? "llama" : NULL, &error);
        fuzz_expect(native != NULL, &error);
        const struct sp_json document = {.root = native, .origin = "fuzz"};
        if (native && sp_decode_model(&document, &model, &error))
            fuzz_finite(sp_count_params(&model).total);
        cJSON_Delete(native);
    }
    sp_json_free(&json);
    return 0;
}
