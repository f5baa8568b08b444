/* shard: the mesh, then arrays and their specs, one per line. */
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *part[5] = {0};
    char *words[10] = {(char[]){"shard"}, (char[]){"--mesh"}};
    const int n = fuzz_lines(fuzz_text(data, size), part, 5);
    if (n < 2)
        return 0;
    for (int i = 0; i < n; i++) {
        if (strncmp(part[i], "-o", 2) == 0) /* nothing is to be written */
            return 0;
        words[2 + i] = part[i];
    }
    fuzz_command(2 + n, words);
    return 0;
}
