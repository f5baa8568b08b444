/* The time of a decode step of a serving instance over its batch, and the tokens generated. */
#ifndef SP_SERVE_CURVES_H
#define SP_SERVE_CURVES_H

#include <scaleplan/serve_estimate.h>

/* Reads, arithmetic and the least step of the closed forms, and the estimate's time. */
enum sp_serve_curve {
    SP_CURVE_CACHE,
    SP_CURVE_WEIGHTS,
    SP_CURVE_ARITHMETIC,
    SP_CURVE_LEAST,
    SP_CURVE_ESTIMATE,
    SP_CURVE_BETWEEN,
    SP_SERVE_CURVES
};

enum { SP_CURVE_BATCHES = 61 };

/* NAN: not known, or more sequences than run. */
struct sp_serve_curves {
    double batch[SP_CURVE_BATCHES]; /* sequences of an instance */
    double seconds[SP_SERVE_CURVES][SP_CURVE_BATCHES];
    double rate[SP_SERVE_CURVES][SP_CURVE_BATCHES]; /* tokens/s */
    double fits;                                    /* most sequences that fit */
};

/* From one sequence to twice the largest batch that fits or that runs, B. */
void sp_curves_of_service(const struct sp_served *served, const struct sp_serve_instance *instance,
                          const struct sp_serve_load *load, double B,
                          struct sp_serve_curves *curves);

#endif
