/* Sharded arrays as the textbook writes them: bf16[1024_X,4096_Y], A[I_XY,J]{U_Z}. */
#ifndef SP_SHARDED_H
#define SP_SHARDED_H

#include <stdbool.h>

#include <scaleplan/network.h>

#include "base/error.h"

/* An array's sizes and its sharding apart: "bf16[1024,4096]" and "I_X,J_Y". */
struct sp_notation {
    char plain[256], spec[256];
    int n; /* dimensions */
};

/* Takes "bf16[1024_X,4096_Y]{U_Z}" or "A[I_XY,J]" apart. A dimension that is a letter has its size
 * in `dims`, "I=128,J=2048"; one that is a size gets a letter, from `first` on. An array without a
 * type, or with a name that begins with a capital letter in its place, has 2-byte elements. */
bool sp_split_sharded(const char *text, const char *dims, char first, struct sp_notation *out,
                      struct sp_error *error);

/* Reads "I_XY,J{U_Z}" of an array whose sizes are known: which axes of the mesh cut each dimension,
 * and over which it is an unreduced sum. An error when a size does not divide by its axes. */
bool sp_parse_sharding(const struct sp_mesh *mesh, const char *spec, struct sp_sharded *array,
                       struct sp_error *error);

/* An array of those sizes, "bf16[1024,4096]", sharded so, "I_X,J_Y". */
bool sp_read_sharded(const struct sp_mesh *mesh, const char *sizes, const char *spec,
                     struct sp_sharded *array, struct sp_error *error);

#endif
