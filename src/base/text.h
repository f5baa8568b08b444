/* Text that is safe to print. */
#ifndef SP_TEXT_H
#define SP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A short text. SP_ROOM is one that lives to the end of its block (the branch of an `if` is a
 * block): room for the results of sp_safe and similar functions, which a function must not
 * return. */
struct sp_text {
    char s[256];
};
#define SP_ROOM (&(struct sp_text){""})

/* Replaces bytes that are not UTF-8, and characters that steer a terminal except those in `keep`,
 * by question marks: names and paths come from outside. */
void sp_make_printable(char *text, const char *keep);

/* Whether sp_make_printable would leave the text unchanged. */
bool sp_is_printable(const char *text, const char *keep);

/* The first `n` bytes of a text, or as many as there is room for. */
void sp_cut_text(const char *text, size_t n, char *out, size_t size);

/* Appends to a text that has room for `size` bytes; text beyond that is left out. */
__attribute__((format(printf, 3, 4))) void sp_append(char *text, size_t size, const char *format,
                                                     ...);

/* Whether a text is that word; NULL is none. Most words differ in their first letter, which is
 * compared in place; sp_is_all compares the others. */
bool sp_is_all(const char *text, const char *word);
#ifdef __clang_analyzer__ /* it would take an array at the head of a struct for NULL */
bool sp_is(const char *text, const char *word);
#else
static inline bool sp_is(const char *text, const char *word)
{
    return text && text[0] == word[0] && sp_is_all(text, word);
}
#endif

/* The name of a path, without its folders. */
const char *sp_base_name(const char *path);

/* Whether a text begins with another. */
bool sp_starts_with(const char *text, const char *start);

/* Turns "1 devices" into "1 device": the noun after a lone 1, or after "1 whole", loses its s. */
void sp_make_singular(char *text);

#endif
