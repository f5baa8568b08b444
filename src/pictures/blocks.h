/* Blocks of a sharded array as lines of text. */
#ifndef SP_BLOCKS_H
#define SP_BLOCKS_H

#include <scaleplan/network.h>

#include "answer/report.h"

/* The names of some axes of a mesh, "XY". */
void sp_name_axes(const struct sp_mesh *mesh, unsigned axes, char out[SP_MESH_AXES + 1]);

/* Draws the blocks of a two-dimensional array with the axes that number them and the devices per
 * block. An error for other dimensions or too many blocks. */
bool sp_draw_blocks(struct sp_report *report, const struct sp_mesh *mesh,
                    const struct sp_sharded *array, struct sp_error *error);

#endif
