/* Sequences of UTF-8. */
#include "base/utf8.h"

size_t sp_utf8_length(const unsigned char *s, size_t left)
{
    static const struct {
        unsigned char low, high, second_low, second_high, length;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (s[0] < forms[i].low || s[0] > forms[i].high || forms[i].length > left)
            continue;
        if (forms[i].length > 1 && (s[1] < forms[i].second_low || s[1] > forms[i].second_high))
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if (s[k] < 0x80 || s[k] > 0xbf)
                return 0;
        return forms[i].length;
    }
    return 0;
}

size_t sp_plain_length(const unsigned char *s, size_t left)
{
    size_t n = 0;
    while (n < left && s[n] >= 0x20 && s[n] <= 0x7e)
        n++;
    return n;
}
