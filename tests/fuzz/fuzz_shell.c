/* Shell scripts: read into commands, with names that were typed. */
#include "fuzz.h"

#include "launch/shell/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_launch launch;
    const char *const set[] = {"TP=4", "1=two words", "A="};
    struct sp_error error = {0};
    struct sp_script script;
    launch.options = launch.notes = 0;
    fuzz_expect(sp_read_script(fuzz_text(data, size), set, 3, "fuzz", &script, &launch, &error),
                &error);
    sp_free_script(&script);
    return 0;
}
