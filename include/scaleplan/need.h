/* Inverse questions: the value that each figure of a machine needs for a goal, one figure at a
 * time, and how strongly the goal depends on it. A goal is any function of the machine. */
#ifndef SCALEPLAN_NEED_H
#define SCALEPLAN_NEED_H

#include <stdbool.h>
#include <stddef.h>

#include <scaleplan/machine.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Figures that can be varied. The last two are whole numbers. */
enum sp_machine_figure {
    SP_FIGURE_PEAK, /* peak FLOP/s of a chip in one format: SP_FIGURE_PEAK + enum sp_dtype */
    SP_FIGURE_HBM_RATE = SP_FIGURE_PEAK + SP_DTYPES, /* memory bandwidth */
    SP_FIGURE_HBM,                                   /* memory that verdicts compare with */
    SP_FIGURE_LINK,                                  /* torus: bytes/s per link, one way */
    SP_FIGURE_DCN,         /* torus of several slices: bytes/s per host, one way */
    SP_FIGURE_DOMAIN_RATE, /* switches: bytes/s per device inside its domain */
    SP_FIGURE_SCALEOUT,    /* switches: bytes/s per device beyond its domain */
    SP_FIGURE_HOST_LINK,   /* bytes/s between a chip and its host */
    SP_FIGURE_PRICE,       /* USD per device-hour */
    SP_FIGURE_DOMAIN,      /* switches: devices per scale-up domain */
    SP_FIGURE_CHIPS,       /* chips per slice */
    SP_FIGURES
};

/* The figure's key in a hardware file; a peak's is followed by the name of its format. */
const char *sp_figure_key(enum sp_machine_figure figure, const struct sp_hardware *hw);

/* Current value in the figure's unit; NAN if the machine has no such figure. */
double sp_figure_value(enum sp_machine_figure figure, const struct sp_hardware *hw);

/* The machine with one figure changed. Usable and physical memory scale together. False if no such
 * machine exists: a domain that does not divide the devices, an unavailable slice. */
bool sp_with_figure(const struct sp_hardware *hw, enum sp_machine_figure figure, double value,
                    struct sp_hardware *changed);

/* A goal. */
struct sp_demand {
    double (*value)(const struct sp_hardware *hw,
                    void *context); /* > 0; INFINITY: impossible; NAN: undefined on this machine */
    void *context;
    bool peaks[SP_DTYPES]; /* formats that the computation uses */
    double target;
    bool at_least; /* met if value >= target; else if value <= target */
    bool sparse;   /* values are slow to compute: try fewer whole numbers */
};

/* Whether the goal is met by this value. */
bool sp_is_met(const struct sp_demand *demand, double value);

/* The answer for one figure. */
struct sp_need {
    double now;    /* current value of the figure */
    double value;  /* value of the goal at `needed` */
    double needed; /* value nearest to `now` that meets the goal; if it is met already, the value up
                      to which it stays met. NAN: no value meets it, or any does */
    double factor; /* needed / now; or NAN */
    bool reachable; /* some value meets the goal */
    double limit;   /* limit of the goal's value as the figure goes to its most helpful extreme */
    bool matters;   /* that differs from `value` by more than a billionth */
    bool helps_up;  /* raising the figure helps; false: lowering helps, or it has no effect */
};

/* The value of one figure at which a goal is met, all else unchanged. `value` is the goal's current
 * value. Works for goals monotone in the figure. Rates, sizes, prices: tries 10^15 times the figure
 * (at most SP_MOST_FIGURE) and, if that does not help, 10^-15 of it, then bisects to a relative
 * 10^-10 on the side that meets the goal. Whole numbers: tries multiples of the current value up to
 * 4096 times and its divisors, nearest first (for a `sparse` goal multiples of 2 to 8, then
 * doublings). A domain larger than the slice counts as one of the whole slice. */
struct sp_need sp_find_need(const struct sp_demand *demand, const struct sp_hardware *hw,
                            double value, enum sp_machine_figure figure);

/* The binding figure: the one whose doubling (a price: halving) improves the goal's value most.
 * SP_FIGURES if none changes it by a millionth. Prices, numbers of devices and peaks of unused
 * formats are not considered. */
enum sp_machine_figure sp_find_binding(const struct sp_demand *demand,
                                       const struct sp_hardware *hw);

/* Elasticity of a goal in a figure, d ln(value) / d ln(figure), by a centred difference: (ln v(f (1
 * + delta)) - ln v(f / (1 + delta))) / (2 ln(1 + delta)). `low` and `high` get the goal's values at
 * the smaller and larger figure. NAN if either is unknown. */
double sp_elasticity_of(const struct sp_demand *demand, const struct sp_hardware *hw,
                        enum sp_machine_figure figure, double delta, double *low, double *high);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
