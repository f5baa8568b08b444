/* The JSON parser, and the places of its keys. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_json json;
    struct sp_error error = {0};
    char *const text = fuzz_text(data, size);
    const bool ok = sp_json_parse(text, size, "fuzz", &json, &error);
    fuzz_expect(ok, &error);
    if (!ok)
        return 0;
    for (const cJSON *at = json.root->child; at; at = at->child)
        if (at->string)
            sp_json_place(&json, at->string);
    sp_json_free(&json);
    return 0;
}
