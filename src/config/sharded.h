/* Sharded arrays as the textbook writes them: bf16[1024_X,4096_Y], A[I_XY,J]{U_Z}. */
#ifndef SP_SHARDED_H
#define SP_SHARDED_H

#include <stdbool.h>

#include <scaleplan/network.h>

#include "base/error.h"

/* The sizes and the sharding of an array as separate texts: "bf16[1024,4096]" and "I_X,J_Y". */
struct sp_notation {
    char plain[256], spec[256];
    int n; /* dimensions */
};

/* Splits "bf16[1024_X,4096_Y]{U_Z}" or "A[I_XY,J]". `dims` ("I=128,J=2048") gives the sizes of
 * letters; sizes get letters from `first` on. Without a type, or with a capitalised name instead,
 * elements have 2 bytes. */
bool sp_split_sharded(const char *text, const char *dims, char first, struct sp_notation *out,
                      struct sp_error *error);

/* Parses "I_XY,J{U_Z}" for an array of known sizes: mesh axes per dimension, and axes over which it
 * is an unreduced sum. Sizes must be divisible by their axes. */
bool sp_parse_sharding(const struct sp_mesh *mesh, const char *spec, struct sp_sharded *array,
                       struct sp_error *error);

/* Reads an array from its sizes, "bf16[1024,4096]", and its sharding, "I_X,J_Y". */
bool sp_read_sharded(const struct sp_mesh *mesh, const char *sizes, const char *spec,
                     struct sp_sharded *array, struct sp_error *error);

#endif
