/* A module of WebAssembly loads no others. */
#include "host/library.h"

#include <stddef.h>

const bool sp_loads_libraries = false;

void *sp_open_library(const char *soname)
{
    (void)soname;
    return NULL;
}

void sp_close_library(void *library)
{
    (void)library;
}

void *sp_function_of(void *library, const char *name)
{
    (void)library;
    (void)name;
    return NULL;
}
