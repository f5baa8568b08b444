/* The dynamic loader. */
#include "host/library.h"

#include <dlfcn.h>

const bool sp_loads_libraries = true;

void *sp_open_library(const char *soname)
{
    return dlopen(soname, RTLD_NOW | RTLD_LOCAL);
}

void sp_close_library(void *library)
{
    dlclose(library);
}

void *sp_function_of(void *library, const char *name)
{
    return dlsym(library, name);
}
