/* Memory that a computation cannot do without. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

void *sp_must(void *memory)
{
    if (!memory) {
        fputs("scaleplan: out of memory\n", stderr);
        exit(SP_INTERNAL);
    }
    return memory;
}

void *sp_grow(void *array, size_t n, size_t *room, size_t size)
{
    if (n <= *room)
        return array;
    const size_t larger = *room ? 2 * *room : 16; /* many arrays stay this short */
    *room = n > larger ? n : larger;
    return sp_must(realloc(array, *room * size));
}

char *sp_make_text_from(const char *format, va_list arguments)
{
    char *text;
    return sp_must(vasprintf(&text, format, arguments) < 0 ? NULL : text);
}

char *sp_make_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *const text = sp_make_text_from(format, arguments);
    va_end(arguments);
    return text;
}
