/* A service: what a chip generates against what a user sees, and a decode step over the batch. */
#ifndef SP_SERVING_PICTURE_H
#define SP_SERVING_PICTURE_H

#include <stddef.h>

#include "pictures/plot.h"

/* An instance; those of one kind, of equal machine, chips and degrees, share a mark. */
struct sp_service_mark {
    const char *hw;       /* "" if there is one machine */
    double chips, tp, dp; /* tp NAN: spread evenly */
    double user, chip;    /* tokens per second of each */
};

/* A curve over the batch. */
struct sp_service_curve {
    const char *name;
    enum sp_look look;
    bool dashed;
    const double *height; /* of each batch; what is not above 0 is left out */
    bool ranges;          /* with the 80 % range of the time between tokens */
};

struct sp_service_panel {
    const char *axis, *unit, *title;
    const struct sp_service_curve *curves;
    size_t n;
};

struct sp_service_picture {
    const char *model, *hw;
    const struct sp_service_mark *marks;
    size_t n_marks; /* 0: no panel of them */
    const double *batch;
    size_t n_batches;
    const struct sp_service_panel *panels; /* over the batch */
    size_t n_panels;
    double runs, fits; /* sequences; fits INFINITY: no number is too many */
    double tpot_s, tpot_low_s,
        tpot_high_s; /* of one instance, whose range the others share; NAN: none */
};
struct sp_figure *sp_plot_service(const struct sp_service_picture *picture);

#endif
