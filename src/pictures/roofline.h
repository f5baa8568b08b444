/* The roofline of a chip with operations on it. */
#ifndef SP_ROOFLINE_PICTURE_H
#define SP_ROOFLINE_PICTURE_H

#include "pictures/plot.h"

struct sp_roofline_picture {
    const char *title;
    double C, W; /* peak and bandwidth */
    const char *const *names;
    const double *intensities; /* FLOPs/byte of the operations in `names` */
    size_t n;
    bool one; /* a single operation, labelled alone; else close ones are merged */
};
struct sp_figure *sp_plot_roofline(const struct sp_roofline_picture *picture);

#endif
