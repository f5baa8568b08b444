/* serve --from: what starts a server of vLLM, SGLang or TensorRT-LLM. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%s", fuzz_file(data, size));
    char *words[] = {(char[]){"serve"},
                     (char[]){"--from"},
                     path,
                     (char[]){"--hw"},
                     (char[]){"h100-8"},
                     (char[]){"--model"},
                     (char[]){"llama3-8b"},
                     (char[]){"--batch"},
                     (char[]){"1"},
                     NULL};
    fuzz_command(size > 0 && data[size - 1] % 2 ? 5 : 7, words);
    return 0;
}
