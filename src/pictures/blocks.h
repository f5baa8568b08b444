/* Blocks of a sharded array as lines of text, and as a grid of devices. */
#ifndef SP_BLOCKS_H
#define SP_BLOCKS_H

#include <scaleplan/network.h>

#include "answer/report.h"
#include "pictures/plot.h"

/* The names of some axes of a mesh, "XY". */
void sp_name_axes(const struct sp_mesh *mesh, unsigned axes, char out[SP_MESH_AXES + 1]);

/* A panel for each array of two dimensions: the devices of the mesh as a grid, on each the whole
 * array with the block that it holds. An error for other dimensions, or more than can be told
 * apart. */
struct sp_figure *sp_draw_grid(const struct sp_mesh *mesh, const struct sp_sharded *arrays, int n,
                               struct sp_error *error);

/* Draws the blocks of a two-dimensional array with the axes that number them and the devices per
 * block. An error for other dimensions or too many blocks. */
bool sp_draw_blocks(struct sp_report *report, const struct sp_mesh *mesh,
                    const struct sp_sharded *array, struct sp_error *error);

#endif
