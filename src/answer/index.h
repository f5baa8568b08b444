/* A hash table of numbered strings; finds the first of equal strings. */
#ifndef SP_REPORT_INDEX_H
#define SP_REPORT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Numbered strings: each is stored somewhere, or is made in `room`. */
struct sp_strings {
    const void *of;
    const char *(*at)(const void *of, size_t i, struct sp_text *room);
};

/* Open addressing: each slot holds the number of a string plus one, or 0. At most three of
 * four slots are taken. */
struct sp_index {
    uint32_t *slot;
    size_t slots, taken;
    size_t known; /* number of added strings, for the caller's use */
};

/* Adds the string at `at`, unless an earlier one is the same. */
void sp_index_add(struct sp_index *index, struct sp_strings strings, size_t at);

/* The index of the first equal string; SIZE_MAX: none. */
size_t sp_index_find(const struct sp_index *index, struct sp_strings strings, const char *text);

#endif
