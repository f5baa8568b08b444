/* Numbers as people type them: finite and not negative, or refused. */
#include "fuzz.h"

#include "base/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = fuzz_text(data, size);
    double value = 0, dims[8];
    if (sp_parse_number(text, &value) && !(value >= 0 && isfinite(value)))
        __builtin_trap();
    if (sp_parse_count(text, &value) && !(value >= 0 && isfinite(value)))
        __builtin_trap();
    const int n = sp_parse_dims(text, dims, 8);
    if (n < 0 || n > 8)
        __builtin_trap();
    for (int i = 0; i < n; i++)
        if (!(dims[i] >= 0 && isfinite(dims[i])))
            __builtin_trap();
    return 0;
}
