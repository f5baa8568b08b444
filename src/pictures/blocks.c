/* Blocks of a sharded array as lines of text. */
#include "pictures/blocks.h"

#include <stdio.h>
#include <string.h>

void sp_name_axes(const struct sp_mesh *mesh, unsigned axes, char out[SP_MESH_AXES + 1])
{
    for (int i = 0; i < mesh->n; i++)
        if (axes >> i & 1)
            *out++ = mesh->name[i];
    *out = '\0';
}

bool sp_draw_blocks(struct sp_report *report, const struct sp_mesh *mesh,
                    const struct sp_sharded *a, struct sp_error *error)
{
    if (a->n != 2)
        return sp_fail(error, SP_INPUT, "--draw: only arrays of two dimensions are drawn");
    const int64_t rows = (int64_t)sp_axes_product(mesh, a->axes[0]),
                  columns = (int64_t)sp_axes_product(mesh, a->axes[1]);
    if (rows > 64 || columns > 16)
        return sp_fail(error, SP_INPUT,
                       "--draw: at most 64 x 16 blocks are drawn, this array has %lld x %lld",
                       (long long)rows, (long long)columns);
    char names[2][SP_MESH_AXES + 1];
    for (int i = 0; i < 2; i++)
        sp_name_axes(mesh, a->axes[i], names[i]);
    sp_line(report, " ");
    for (int64_t y = 0; y < rows; y++) {
        char line[512] = "";
        for (int64_t x = 0; x < columns; x++) {
            const size_t used = strlen(line);
            char cell[64] = "";
            if (names[0][0])
                snprintf(cell, sizeof cell, "%s%lld", names[0], (long long)y);
            if (names[1][0])
                snprintf(cell + strlen(cell), sizeof cell - strlen(cell), "%s%lld", names[1],
                         (long long)x);
            snprintf(line + used, sizeof line - used, "| %-10s", *cell ? cell : "all");
        }
        sp_line(report, "%s|", line);
    }
    sp_line(report,
            "a block lies on each of the {replicas} devices that differ in the other axes only");
    return true;
}
