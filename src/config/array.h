/* Arrays as the textbook writes them: bf16[1024,4096]. */
#ifndef SP_ARRAY_H
#define SP_ARRAY_H

#include <stdbool.h>

#include <scaleplan/formats.h>
#include <scaleplan/network.h>

#include "base/error.h"

enum { SP_MAX_DIMS = 8 };

struct sp_array {
    double element_bytes;
    enum sp_dtype dtype; /* SP_DTYPES: a type that no chip multiplies */
    double dim[SP_MAX_DIMS];
    int n;
};

/* Parses "bf16[1024,4096]"; `what` names the option in errors. A bare list "1024,4096" has 2-byte
 * elements. */
bool sp_parse_array(const char *text, const char *what, struct sp_array *array,
                    struct sp_error *error);

/* Parses "X=4,Y=8": axes, a capital letter each, and their lengths. */
bool sp_parse_mesh(const char *text, struct sp_mesh *mesh, struct sp_error *error);

/* Number of the axis of that name, -1 when the mesh has none. */
int sp_mesh_axis(const struct sp_mesh *mesh, char name);

/* An element type by its name ("bf16", "f32", "int32"): its format, SP_DTYPES of a type that no
 * chip multiplies, and its bytes, 0 if the name is not one. */
struct sp_element {
    enum sp_dtype dtype;
    double bytes;
};
struct sp_element sp_element_of(const char *name);

/* Product of the dimensions times the bytes of an element. */
double sp_array_bytes(const struct sp_array *array);

#endif
