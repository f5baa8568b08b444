/* Memory that a computation cannot do without. */
#ifndef SP_MEMORY_H
#define SP_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

/* Passes on the results of malloc, realloc, strdup, open_memstream and the like; if one is NULL,
 * the program reports it and ends, because an answer that lacks a part is wrong. */
__attribute__((returns_nonnull)) void *sp_must(void *memory);

/* Makes room for n elements of `size` bytes in an array of *room: returns the array itself, or one
 * at least twice as large. */
__attribute__((returns_nonnull)) void *sp_grow(void *array, size_t n, size_t *room, size_t size);

/* Gives the whole pages among these bytes back to the system, where it takes them; the bytes hold
 * nothing from then on. For the middle of a block, which free() cannot give back. */
void sp_give_back(void *from, size_t bytes);

/* A text as printf makes it; free() it. */
__attribute__((format(printf, 1, 2), returns_nonnull)) char *sp_make_text(const char *format, ...);
__attribute__((format(printf, 1, 0), returns_nonnull)) char *sp_make_text_from(const char *format,
                                                                               va_list arguments);

#endif
