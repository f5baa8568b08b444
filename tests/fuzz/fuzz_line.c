/* Whole command lines, one word per line. Words with a slash are left out (nothing is to be written
 * anywhere), and so are commands whose work is unbounded. */
#include "fuzz.h"

#include <string.h>

enum { MOST = 40 };

static bool is_apart(const char *word)
{
    return strchr(word, '/') || strcmp(word, "-") == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const heavy[] = {"search", "sweep", "calibrate", "validate", "merge"};
    char *words[MOST + 1] = {0};
    const int n = fuzz_lines(fuzz_text(data, size), words, MOST);
    words[n] = NULL;
    if (n == 0)
        return 0;
    for (size_t i = 0; i < sizeof heavy / sizeof *heavy; i++)
        if (strcmp(words[0], heavy[i]) == 0)
            return 0;
    for (int i = 1; i < n; i++)
        if (is_apart(words[i]) || strncmp(words[i], "-o", 2) == 0 ||
            strncmp(words[i], "--o", 3) == 0 || strncmp(words[i], "--plot", 6) == 0)
            return 0;
    fuzz_command(n, words);
    return 0;
}
