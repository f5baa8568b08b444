/* Memory that a computation cannot do without. */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef __wasi__
#include <sys/mman.h>
#include <unistd.h>
#endif

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

void sp_give_back(void *from, size_t bytes)
{
#ifndef __wasi__
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t before = (page - (uintptr_t)from % page) % page; /* to the first whole page */
    if (bytes >= before + page)
        madvise((char *)from + before, (bytes - before) / page * page, MADV_DONTNEED);
#else
    (void)from;
    (void)bytes;
#endif
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
