/* New numbers for an exercise. */
#include "cli/exercise_draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct sp_dice sp_dice_of(uint64_t seed, const char *id)
{
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (; *id; id++)
        hash = (hash ^ (unsigned char)*id) * 0x100000001b3;
    return (struct sp_dice){hash ^ (seed * 0x9e3779b97f4a7c15)};
}

/* SplitMix64, Steele et al. 2014. */
uint64_t sp_throw(struct sp_dice *dice)
{
    uint64_t z = (dice->state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static uint64_t one_of(struct sp_dice *dice, uint64_t n)
{
    return sp_throw(dice) % n;
}

enum { LONGEST_WORD = 64 };
static const unsigned long long LARGEST = 1ull << 53; /* that a double has whole */

/* "2..64", "1..16M", "256..8192*2": a whole number from the first to the second, or the first times
 * a power of the third, with what follows the second; any other word stands for itself. */
static void draw_word(const char *word, size_t n, struct sp_dice *dice, char out[LONGEST_WORD])
{
    unsigned long long from, to, factor = 0;
    char copy[LONGEST_WORD], suffix[16] = "";
    int end = 0;
    snprintf(copy, sizeof copy, "%.*s", (int)n, word);
    snprintf(out, LONGEST_WORD, "%s", copy);
    if (sscanf(copy, "%llu..%llu%n", &from, &to, &end) != 2 || to < from || to > LARGEST)
        return;
    sscanf(copy + end, "%15[^*]", suffix);
    if (strchr(copy, '*'))
        factor = strtoull(strchr(copy, '*') + 1, NULL, 10);
    if (factor > 1 && from > 0) {
        uint64_t steps = 1;
        for (unsigned long long at = from; at <= to / factor; at *= factor)
            steps++;
        for (uint64_t left = one_of(dice, steps); left > 0; left--)
            from *= factor;
    } else {
        from += one_of(dice, to - from + 1);
    }
    snprintf(out, LONGEST_WORD, "%llu%s", from, suffix);
}

/* Draws one of the words between blanks. */
static void draw_choice(const char *choices, struct sp_dice *dice, char out[LONGEST_WORD])
{
    uint64_t words = 0, chosen;
    for (const char *at = choices + strspn(choices, " "); *at; words++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    chosen = one_of(dice, words > 0 ? words : 1);
    choices += strspn(choices, " ");
    for (; chosen > 0; chosen--) {
        choices += strcspn(choices, " ");
        choices += strspn(choices, " ");
    }
    draw_word(choices, strcspn(choices, " "), dice, out);
}

/* The text with every key in it replaced at once; free() it. */
static char *redrawn(const struct sp_case *c, const char *text,
                     const char values[SP_CASE_MAX_DRAWS][LONGEST_WORD])
{
    char *made = NULL;
    size_t size;
    FILE *const out = sp_must(open_memstream(&made, &size));
    for (const char *at = text; *at;) {
        const char *next = NULL;
        int key = 0;
        for (int k = 0; k < c->n_draw; k++) {
            const char *const found = sp_find_drawn(text, at, c->draw[k].key);
            if (found && (!next || found < next)) {
                next = found;
                key = k;
            }
        }
        fwrite(at, 1, next ? (size_t)(next - at) : strlen(at), out);
        if (!next)
            break;
        fputs(values[key], out);
        at = next + strlen(c->draw[key].key);
    }
    fclose(out);
    return made;
}

void sp_draw_case(const struct sp_case *original, struct sp_dice *dice, struct sp_drawn *drawn)
{
    char values[SP_CASE_MAX_DRAWS][LONGEST_WORD];
    for (int k = 0; k < original->n_draw; k++)
        draw_choice(original->draw[k].text, dice, values[k]);
    drawn->c = *original;
    drawn->n_texts = 0;
    drawn->c.question = drawn->texts[drawn->n_texts++] =
        redrawn(original, original->question, values);
    for (int i = 0; i < original->n_args; i++)
        drawn->c.args[i] = drawn->texts[drawn->n_texts++] =
            redrawn(original, original->args[i], values);
    /* They belong to the original's numbers. */
    drawn->c.n_printed = 0;
    drawn->c.note = drawn->c.why = "";
}

void sp_free_drawn(struct sp_drawn *drawn)
{
    for (int i = 0; i < drawn->n_texts; i++)
        free(drawn->texts[i]);
    drawn->n_texts = 0;
}
