/* Blocks of a sharded array as lines of text, and as a grid of devices. */
#include "pictures/blocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

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
            char cell[64] = "";
            if (names[0][0])
                snprintf(cell, sizeof cell, "%s%lld", names[0], (long long)y);
            if (names[1][0])
                sp_append(cell, sizeof cell, "%s%lld", names[1], (long long)x);
            sp_append(line, sizeof line, "| %-10s", *cell ? cell : "all");
        }
        sp_line(report, "%s|", line);
    }
    const bool copied = sp_axes_product(mesh, ~sp_sharding_axes(a)) > 1;
    sp_line(report, copied ? "each block is on the {replicas} devices "
                             "that differ only in the other axes"
                           : "each block is on one device");
    return true;
}

/* A device's position on each axis of the mesh. */
struct place {
    int64_t at[SP_MESH_AXES];
};

static struct place place_of(const struct sp_mesh *mesh, int64_t device)
{
    struct place place = {{0}};
    for (int i = mesh->n; i-- > 0; device /= mesh->length[i])
        place.at[i] = device % mesh->length[i];
    return place;
}

/* Which block of a dimension it holds. */
static int64_t block_of(const struct sp_mesh *mesh, const struct place *place, unsigned axes)
{
    int64_t block = 0;
    for (int i = 0; i < mesh->n; i++)
        if (axes >> i & 1)
            block = block * mesh->length[i] + place->at[i];
    return block;
}

/* The coordinates of a device along some axes, "X0 Z1". */
static void name_place(const struct sp_mesh *mesh, const struct place *place, unsigned axes,
                       char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < mesh->n; i++)
        if (axes >> i & 1)
            sp_append(out, size, "%s%c%lld", out[0] ? " " : "", mesh->name[i],
                      (long long)place->at[i]);
}

enum { MOST_BLOCKS = 36, MOST_ACROSS = 16 };

/* One device: the array as a frame, and in it the device's block, filled and numbered. */
static void draw_device(struct sp_panel *panel, const struct sp_mesh *mesh,
                        const struct sp_sharded *a, int64_t device, int64_t across)
{
    const struct place place = place_of(mesh, device);
    const int64_t down = device / across;
    const double rows = sp_axes_product(mesh, a->axes[0]),
                 columns = sp_axes_product(mesh, a->axes[1]), wide = 0.8 / columns,
                 high = 0.8 / rows, left = (double)(device % across) + 0.1,
                 top = -(double)down - 0.1;
    const int64_t row = block_of(mesh, &place, a->axes[0]),
                  column = block_of(mesh, &place, a->axes[1]);
    const double x = left + wide * (double)column, y = top - high * (double)row;
    struct sp_series *const block = &panel->series[row * (int64_t)columns + column];
    sp_add_box(block, x, x + wide, y - high, y);
    sp_add_box(&panel->series[panel->n_series - 1], left, left + 0.8, top - 0.8, top);
    struct sp_label *const label = sp_add_label(panel, x + wide / 2, y - high / 2, SP_CENTRE,
                                                "%lld,%lld", (long long)row, (long long)column);
    label->yields = true;
    label->light = !block->hatched && block->look == SP_BLUE;
}

static void draw_devices(struct sp_figure *figure, const struct sp_mesh *mesh,
                         const struct sp_sharded *a, const char *title)
{
    const int64_t devices = (int64_t)sp_axes_product(mesh, ~0u),
                  down = mesh->n > 1 ? mesh->length[0] : 1, across = devices / down;
    const int blocks = (int)sp_axes_product(mesh, sp_sharding_axes(a));
    struct sp_panel *const panel =
        sp_add_panel(figure, sp_make_axis("", "", false), sp_make_axis("", "", false), title);
    char name[64];
    for (int i = 0; i < blocks; i++) {
        struct sp_series *const block =
            sp_add_series(panel, SP_BOXES, sp_look_of((size_t)i), "%s", "");
        block->letter = (char)(i < 26 ? 'a' + i : 'A' + i - 26);
        block->hatched = i / SP_YELLOW % 2;
        block->bare = true;
    }
    sp_add_series(panel, SP_HOLLOW, SP_BLACK, "%s", "")->letter = ' ';
    for (int64_t i = 0; i < devices; i++)
        draw_device(panel, mesh, a, i, across);
    for (int64_t i = 0; i < across; i++) {
        const struct place place = place_of(mesh, i);
        name_place(mesh, &place, mesh->n > 1 ? ~1u : 1u, name, sizeof name);
        sp_add_tick(&panel->x, (double)i + 0.5, "%s", name);
    }
    for (int64_t i = 0; i < down; i++) {
        const struct place place = place_of(mesh, i * across);
        name_place(mesh, &place, mesh->n > 1 ? 1u : 0u, name, sizeof name);
        sp_add_tick(&panel->y, -(double)i - 0.5, "%s", name);
    }
    panel->x.min = 0;
    panel->x.max = (double)across;
    panel->y.floating = true;
    panel->y.min = -(double)down;
    panel->y.max = 0;
    panel->height_px = fmin(760 / (double)across * 0.7, 140) * (double)down;
    panel->rows = (int)down * 6 + 1;
}

struct sp_figure *sp_draw_grid(const struct sp_mesh *mesh, const struct sp_sharded *arrays, int n,
                               struct sp_error *error)
{
    const double devices = sp_axes_product(mesh, ~0u),
                 down = mesh->n > 1 ? (double)mesh->length[0] : 1;
    for (int i = 0; i < n; i++)
        if (arrays[i].n != 2 || sp_axes_product(mesh, sp_sharding_axes(&arrays[i])) > MOST_BLOCKS ||
            devices / down > MOST_ACROSS || down > MOST_ACROSS) {
            sp_fail(error, SP_INPUT,
                    "--plot draws arrays of two dimensions and up to %d blocks on up to %d x %d "
                    "devices",
                    MOST_BLOCKS, MOST_ACROSS, MOST_ACROSS);
            return NULL;
        }
    struct sp_figure *const figure =
        sp_figure_new("What each of %s devices holds: one colour and number, one block",
                      sp_human_text(devices, SP_COUNT));
    for (int i = 0; i < n; i++) {
        const struct sp_sharded *const a = &arrays[i];
        char title[SP_PLOT_TEXT], axes[2][SP_MESH_AXES + 1];
        for (int k = 0; k < 2; k++)
            sp_name_axes(mesh, a->axes[k], axes[k]);
        snprintf(title, sizeof title, "[%c%s%s, %c%s%s]: %s blocks, each on %s devices", a->name[0],
                 axes[0][0] ? "_" : "", axes[0], a->name[1], axes[1][0] ? "_" : "", axes[1],
                 sp_human_text(sp_axes_product(mesh, sp_sharding_axes(a)), SP_COUNT),
                 sp_human_text(devices / sp_axes_product(mesh, sp_sharding_axes(a)), SP_COUNT));
        draw_devices(figure, mesh, a, title);
    }
    return figure;
}
