/* step --from: launches of any kind, on a switched machine and on a torus. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%s", fuzz_file(data, size));
    const bool torus = size > 0 && data[size - 1] % 2;
    char *words[] = {(char[]){"step"},
                     (char[]){"--from"},
                     path,
                     (char[]){"--hw"},
                     torus ? (char[]){"v5p-64"} : (char[]){"h100-64"},
                     (char[]){"--model"},
                     (char[]){"llama3-8b"},
                     NULL};
    const bool own_model = size > 1 && data[size - 2] % 2;
    fuzz_command(own_model ? 5 : 7, words);
    return 0;
}
