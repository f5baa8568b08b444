/* search and sweep on a small machine: options, one word per line. */
#include "fuzz.h"

#include <string.h>

enum { MOST = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[10 + MOST] = {(char[]){"search"}, (char[]){"--model"}, (char[]){"gpt2"},
                              (char[]){"--hw"},   (char[]){"h100-8"},  (char[]){"--batch"},
                              (char[]){"16x512"}};
    char *part[MOST];
    const int n = fuzz_lines(fuzz_text(data, size), part, MOST);
    for (int i = 0; i < n; i++) {
        /* nothing is written, no file is read, the machine stays small */
        if (strchr(part[i], '/') || strcmp(part[i], "-") == 0 ||
            strncmp(part[i], "--plot", 4) == 0 || strncmp(part[i], "--hw", 4) == 0 ||
            strncmp(part[i], "--tok", 5) == 0 || strncmp(part[i], "--mod", 5) == 0 ||
            strncmp(part[i], "--bat", 5) == 0 || strncmp(part[i], "--fin", 5) == 0 ||
            strncmp(part[i], "--set", 5) == 0)
            return 0;
        words[7 + i] = part[i];
    }
    words[7 + n] = NULL;
    fuzz_command(7 + n, words);
    return 0;
}
