/* The picture of a sweep: its values over the options that have lists. */
#ifndef SP_SWEEP_PLOT_H
#define SP_SWEEP_PLOT_H

#include "answer/report.h"
#include "pictures/pictures.h"
#include "study/axes.h"

/* What of a sweep is drawn: the first swept option makes lines (or rows of a heat map), the last
 * one is along x; each of the first keys of --get that
 * has numbers has a panel. */
struct sp_sweep_picture {
    const char *target; /* --plot; NULL: no picture */
    bool heat;
    const struct sp_axes *axes;
    int along, by; /* axes of x and of the lines; by below 0: one line */
    size_t n;      /* panels */
    struct sp_sweep_panel {
        char label[160];
        enum sp_unit unit;
        double *value; /* of each row; NAN: none */
        bool has_numbers;
    } panel[SP_MAX_PANELS];
};

/* Makes the panels; an error where the sweep has no list or more than two or too many rows, or the
 * target is no file. */
bool sp_begin_sweep_picture(struct sp_sweep_picture *picture, const struct sp_axes *axes,
                            const char *keys, struct sp_error *error);

/* Takes the value of a row that --get's `key`-th key has; no number leaves a gap. */
void sp_take_swept(struct sp_sweep_picture *picture, uint64_t row, size_t key,
                   const struct sp_entry *entry);

/* Draws and writes the file. */
bool sp_end_sweep_picture(struct sp_sweep_picture *picture, const char *command,
                          struct sp_error *error);

void sp_free_sweep_picture(struct sp_sweep_picture *picture);

#endif
