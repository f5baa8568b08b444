/* The readers of Python: calls with their arguments, names, a recipe's lines, torchtitan's
 * registry, and notebooks. */
#include "fuzz.h"

#include <stdlib.h>

#include "launch/formats/python.h"
#include "launch/torchtitan/registry.h"

/* Every argument of every call, and its value as a setting. */
static bool take(void *to, const struct sp_python *python, const struct sp_call *call)
{
    struct sp_argument argument;
    struct sp_settings *const settings = to;
    const char *at = call->from;
    while (sp_next_argument(call, &at, &argument)) {
        if (argument.from < call->from || argument.to > call->to || at > call->to + 1)
            abort();
        settings->n = 0; /* a text may have more calls than a launch has settings */
        sp_take_argument(python, call, &argument, "name", settings);
    }
    return true;
}

static void read_python(const char *text)
{
    static const char *const asked[] = {"train", "llama3_8b", "TP=4"};
    static struct sp_settings settings;
    static struct sp_launch launch;
    for (int i = -1; i < 3; i++) {
        const struct sp_typed_names names = {.at = {i < 0 ? "" : asked[i]}, .n = i >= 0};
        struct sp_error error = {0};
        settings.n = 0;
        settings.origin = "fuzz";
        settings.error = &error;
        settings.launch = &launch;
        launch = (struct sp_launch){0};
        sp_read_calls(text, "fuzz.py", &names, take, &settings);
        settings.n = 0;
        sp_read_names(text, &names, &settings);
        settings.n = 0;
        error = (struct sp_error){0};
        const bool is_recipe = sp_read_recipe(text, &names, &settings);
        fuzz_expect(is_recipe, &error);
        if (is_recipe)
            fuzz_expect(sp_spell_titan("fuzz.py", &settings), &error);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_json json;
    struct sp_error error = {0};
    char *const text = fuzz_text(data, size);
    char *code = NULL;
    if (size > 0 && data[0] == '{' && sp_json_parse(text, size, "fuzz", &json, &error)) {
        code = sp_notebook_code(json.root);
        sp_json_free(&json);
    }
    read_python(code ? code : text);
    free(code);
    return 0;
}
