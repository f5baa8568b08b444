/* Reads NaN and infinities as Python's json writes them. */
#include "hf/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "hf/huggingface.h"

/* Length of such a word at `s`; 0: none. */
static size_t word_at(const char *s)
{
    static const char *const words[] = {"-Infinity", "Infinity", "NaN"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(s, words[i], strlen(words[i])) == 0)
            return strlen(words[i]);
    return 0;
}

/* Returns the end of the string that starts at `s`. */
static char *skip_string(char *s)
{
    for (s++; *s && *s != '"'; s++)
        if (*s == '\\' && s[1])
            s++;
    return *s ? s + 1 : s;
}

/* Replaces these words outside strings; true if there was one. */
static bool empty_words(char *s)
{
    bool any = false;
    while (*s) {
        const size_t n = word_at(s);
        if (*s == '"') {
            s = skip_string(s);
        } else if (n > 0) {
            memset(s, ' ', n);
            s[0] = '[';
            s[1] = ']';
            s += n;
            any = true;
        } else {
            s++;
        }
    }
    return any;
}

void sp_hf_take_infinities(char *text, size_t length)
{
    struct sp_json json;
    struct sp_error error = {0};
    if (memchr(text, 0, length) || (!strstr(text, "Infinity") && !strstr(text, "NaN")))
        return;
    char *const copy = sp_must(strdup(text));
    if (empty_words(copy) && sp_json_parse(copy, length, "", &json, &error)) {
        if (sp_is_huggingface(json.root))
            memcpy(text, copy, length);
        sp_json_free(&json);
    }
    free(copy);
}
