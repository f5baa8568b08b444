/* Reports of models of images count images where others count tokens. */
#include "answer/report_internal.h"

#include <string.h>

/* Keys, options and longer words keep "token"; so does a unit with a prefix ("Mtokens"). */
static bool is_word(const char *text, const char *at)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.-{}";
    const char after = at[5] == 's' ? at[6] : at[5];
    const bool prefixed = at >= text + 2 && at[-2] == ' ' && strchr("kMGT", at[-1]);
    static const char json[] = "\"key\":\t\"";
    const size_t n = sizeof json - 1;
    if (((at == text || at[-1] == '\n') && strncmp(at, "tokens = ", 9) == 0) ||
        ((size_t)(at - text) >= n && memcmp(at - n, json, n) == 0))
        return false;
    return (at == text || prefixed || !strchr(letters, at[-1])) && !(after && strchr("_-}", after));
}

void sp_say_images(const struct sp_report *r, char *text)
{
    for (char *at = text; r->in_images && (at = strstr(at, "token")); at += 5)
        if (is_word(text, at))
            for (int i = 0; i < 5; i++)
                at[i] = "image"[i];
}

void sp_count_images(struct sp_report *r, bool in_images)
{
    r->in_images = in_images;
}
