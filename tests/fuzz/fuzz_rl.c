/* rl --from: launches of RL frameworks, both sides of them. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%s", fuzz_file(data, size));
    char *words[] = {(char[]){"rl"},
                     (char[]){"--from"},
                     path,
                     (char[]){"--hw"},
                     (char[]){"h100-16"},
                     (char[]){"--gen-tp"},
                     (char[]){"1"},
                     (char[]){"--model"},
                     (char[]){"qwen3-0.6b"},
                     (char[]){"--input"},
                     (char[]){"128"},
                     (char[]){"--output"},
                     (char[]){"128"},
                     NULL};
    fuzz_command(size > 0 && data[size - 1] % 2 ? 7 : 13, words);
    return 0;
}
