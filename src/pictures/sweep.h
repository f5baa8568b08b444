/* The picture of a sweep: its values over the options that have lists. */
#ifndef SP_SWEEP_PLOT_H
#define SP_SWEEP_PLOT_H

#include "answer/report.h"
#include "pictures/pictures.h"

enum { SP_MOST_SWEPT_ROWS = 4096 };

/* An option that has a list; the array of its values is the picture's to free. */
struct sp_sweep_axis {
    const char *name; /* "" without values */
    const char **value;
    size_t n;
};

/* The part of a sweep that is drawn: one swept option makes lines (or rows of a heat map), the
 * other one, which changes faster, is along x; each of the first keys of --get that has numbers has
 * a panel, or with `stack` a part of the bar of each row. */
struct sp_sweep_picture {
    const char *target; /* --plot; NULL: no picture */
    double width;       /* px */
    bool heat, stack;
    struct sp_sweep_axis along, by; /* of x and of the lines; without lines one */
    size_t rows;
    size_t n; /* panels */
    struct sp_sweep_panel {
        char label[160];
        enum sp_unit unit;
        double *value; /* of each row; NAN: none */
        bool has_numbers;
    } panel[SP_MAX_PARTS];
};

/* Makes the panels of target, heat, axes and rows; an error where these are too many to draw, or
 * the target is not a file. */
bool sp_begin_sweep_picture(struct sp_sweep_picture *picture, const char *keys,
                            struct sp_error *error);

/* Takes the value of a row that --get's `key`-th key has; no number leaves a gap. */
void sp_take_swept(struct sp_sweep_picture *picture, size_t row, size_t key,
                   const struct sp_entry *entry);

/* Draws and writes the file. */
bool sp_end_sweep_picture(struct sp_sweep_picture *picture, const char *title,
                          struct sp_error *error);

void sp_free_sweep_picture(struct sp_sweep_picture *picture);

#endif
