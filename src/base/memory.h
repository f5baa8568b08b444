/* Memory that a computation cannot do without. */
#ifndef SP_MEMORY_H
#define SP_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

/* What malloc, realloc, strdup, open_memstream and their like return: where that is NULL, the
 * program says so and ends. No answer is right that lacks a part. */
__attribute__((returns_nonnull)) void *sp_must(void *memory);

/* An array of *room elements of `size` bytes, where n are needed: the same, or one that is at least
 * twice as large. */
__attribute__((returns_nonnull)) void *sp_grow(void *array, size_t n, size_t *room, size_t size);

/* A text as printf makes it; free() it. */
__attribute__((format(printf, 1, 2), returns_nonnull)) char *sp_make_text(const char *format, ...);
__attribute__((format(printf, 1, 0), returns_nonnull)) char *sp_make_text_from(const char *format,
                                                                               va_list arguments);

#endif
