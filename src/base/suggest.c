/* The known name that is nearest to a mistyped one. */
#include "base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

/* Longest compared prefix. */
enum { LONGEST_NAME = 63 };

/* A letter as it counts: in lower case, "_" as "-". */
static int letter(char c)
{
    return c == '_' ? '-' : tolower((unsigned char)c);
}

/* How many letters two names end alike in: "70b" is what distinguishes the models of a family. */
static size_t alike_at_end(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    size_t k = 0;
    while (k < n && k < m && letter(a[n - 1 - k]) == letter(b[m - 1 - k]))
        k++;
    return k;
}

/* Edits (insert, delete, replace, swap neighbours) between two short names. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST_NAME + 1];
    const size_t n = strnlen(a, LONGEST_NAME), m = strnlen(b, LONGEST_NAME);
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const int x = letter(a[i - 1]), y = letter(b[j - 1]);
            size_t cost = last[j - 1] + (x != y);
            if (last[j] + 1 < cost)
                cost = last[j] + 1;
            if (now[j - 1] + 1 < cost)
                cost = now[j - 1] + 1;
            if (i > 1 && j > 1 && x == letter(b[j - 2]) && y == letter(a[i - 2]) &&
                before[j - 2] + 1 < cost)
                cost = before[j - 2] + 1;
            now[j] = cost;
        }
        size_t *const oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

const char *sp_other_word(const char *word, int i)
{
    enum { MOST_WORDS = 5 };
    static const char *const same[][MOST_WORDS] = {
        {"vpp", "chunks", "virtual-stages", "interleave"},
        {"pp", "stages"},
        {"pod", "node"},
        {"gbs", "bs", "global-batch", "batch"},
        {"mbs", "micro-batch", "microbatch"},
        {"gpus", "hw", "machine", "hardware"},
        {"seq", "seqlen", "seq-len", "context"},
        {"remat", "recompute", "checkpointing"},
        {"fsdp", "shards", "shard-group"},
    };
    for (size_t group = 0; group < sizeof same / sizeof *same; group++) {
        const char *const *const words = same[group];
        int own = 0, other = -1;
        while (own < MOST_WORDS && words[own] && strcasecmp(words[own], word) != 0)
            own++;
        if (own == MOST_WORDS || !words[own])
            continue;
        for (int at = 0; at < MOST_WORDS && words[at]; at++)
            if (at != own && ++other == i)
                return words[at];
        return NULL;
    }
    return NULL;
}

static bool means_same(const char *a, const char *b)
{
    const char *word;
    for (int i = 0; (word = sp_other_word(a, i)) != NULL; i++)
        if (strcmp(word, b) == 0)
            return true;
    return false;
}

/* Edits to the first word of a name: 0 for "tpu" of "tpu-v5p", 1 for "lama3" of "llama3-8b". */
static size_t edits_of_first(const char *text, const char *name)
{
    char first[LONGEST_NAME + 1];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(name, "-"), name);
    return edit_distance(text, first);
}

static bool begins_alike(const char *a, const char *b)
{
    return tolower((unsigned char)a[0]) == tolower((unsigned char)b[0]);
}

static bool goes_on(const char *name, const char *text)
{
    return strncasecmp(name, text, strlen(text)) == 0;
}

/* Whether a name as far from the wanted one as the best is still better: it goes on from it ("v5e"
 * from "v5"), else begins alike, then ends in three or more of the same letters, and of
 * "llama2-70b" and "llama3-70b" it is the later one.
 */
static bool wins_tie(const char *candidate, const char *best, const char *wanted)
{
    const size_t end = alike_at_end(candidate, wanted), best_end = alike_at_end(best, wanted);
    if (goes_on(candidate, wanted) != goes_on(best, wanted))
        return goes_on(candidate, wanted);
    if (begins_alike(candidate, wanted) != begins_alike(best, wanted))
        return begins_alike(candidate, wanted);
    return end > 2 && (end > best_end || (end == best_end && strcmp(candidate, best) > 0));
}

void sp_nearest_offer(struct sp_nearest *nearest, const char *candidate)
{
    const char *const wanted = nearest->wanted;
    const size_t edits = means_same(wanted, candidate) ? 0 : edit_distance(wanted, candidate);
    const size_t first =
        strlen(wanted) > 2 && edits > 1 ? edits_of_first(wanted, candidate) : edits;
    const size_t distance = first < 2 && first + 1 < edits ? first + 1 : edits;
    const bool is_tie = distance == nearest->distance && distance > 0;
    const bool is_nearer =
        distance < nearest->distance || (is_tie && edits < nearest->edits) ||
        (is_tie && edits == nearest->edits && wins_tie(candidate, nearest->best, wanted));
    if (nearest->best[0] && !is_nearer)
        return;
    nearest->distance = distance;
    nearest->edits = edits;
    snprintf(nearest->best, sizeof nearest->best, "%s", candidate);
}

const char *sp_nearest_hint_in(struct sp_text *room, const struct sp_nearest *nearest)
{
    const size_t length = strnlen(nearest->wanted, LONGEST_NAME);
    room->s[0] = '\0';
    const bool alike = nearest->distance < length || nearest->distance == 0;
    const size_t part = begins_alike(nearest->wanted, nearest->best) ? 3 : 4; /* of the letters */
    if (nearest->best[0] && alike && nearest->distance <= (length < 4 ? 1 : 1 + length / part))
        snprintf(room->s, sizeof room->s, "; did you mean \"%s\"?", sp_safe(nearest->best));
    return room->s;
}
