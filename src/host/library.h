/* Shared libraries that are loaded when they are needed. */
#ifndef SP_LIBRARY_H
#define SP_LIBRARY_H

#include <stdbool.h>

/* Whether this host loads libraries at all. */
extern const bool sp_loads_libraries;

/* Opens a library by its soname; NULL when there is none. */
void *sp_open_library(const char *soname);
void sp_close_library(void *library);

/* The address of a function of an open library; NULL when it has none of that name. */
void *sp_function_of(void *library, const char *name);

#endif
