/* Figures of a machine, one at a time: what each would have to be for a goal to be met, and how
 * much the goal follows it. Nothing here knows what a goal is: it is a function of the machine. */
#ifndef SCALEPLAN_NEED_H
#define SCALEPLAN_NEED_H

#include <stdbool.h>
#include <stddef.h>

#include <scaleplan/machine.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Figures that may be other than they are. The last two are whole numbers. */
enum sp_machine_figure {
    SP_FIGURE_PEAK, /* FLOP/s of a chip: of each format one, SP_FIGURE_PEAK + its enum sp_dtype */
    SP_FIGURE_HBM_RATE = SP_FIGURE_PEAK + SP_DTYPES, /* bytes/s of its memory */
    SP_FIGURE_HBM,         /* bytes of its memory that verdicts compare with */
    SP_FIGURE_LINK,        /* torus: bytes/s of a link, one way */
    SP_FIGURE_DCN,         /* torus of several slices: bytes/s of a host, one way */
    SP_FIGURE_DOMAIN_RATE, /* switches: bytes/s of a device inside its domain */
    SP_FIGURE_SCALEOUT,    /* switches: bytes/s of a device beyond it */
    SP_FIGURE_HOST_LINK,   /* bytes/s between a chip and its host */
    SP_FIGURE_PRICE,       /* USD of a device-hour */
    SP_FIGURE_DOMAIN,      /* switches: devices of a scale-up domain */
    SP_FIGURE_CHIPS,       /* chips of one slice */
    SP_FIGURES
};

/* The key of a hardware file under which a figure stands; behind that of a peak its format's name
 * follows. */
const char *sp_figure_key(enum sp_machine_figure figure, const struct sp_hardware *hw);

/* What the figure is now, in its unit; NAN where the machine has no such figure. */
double sp_figure_value(enum sp_machine_figure figure, const struct sp_hardware *hw);

/* The machine with another value of one figure. Usable and physical memory scale together. False if
 * no machine has that size: a domain that does not divide the devices, a slice that is not
 * offered. */
bool sp_with_figure(const struct sp_hardware *hw, enum sp_machine_figure figure, double value,
                    struct sp_hardware *changed);

/* What is asked of a machine. */
struct sp_demand {
    double (*value)(const struct sp_hardware *hw,
                    void *context); /* > 0; INFINITY: cannot be; NAN:
                                       means nothing on this machine */
    void *context;
    bool peaks[SP_DTYPES]; /* formats that it is computed in */
    double target;
    bool at_least; /* met where the value is at least the target; else where it is at most */
    bool sparse;   /* values take long: fewer whole numbers are tried */
};

/* Whether the goal is met by such a value of it. */
bool sp_is_met(const struct sp_demand *demand, double value);

/* One figure's answer. */
struct sp_need {
    double now;    /* the figure's value */
    double value;  /* the goal's value then */
    double needed; /* the least change of it that meets the goal: where it is met already, the value
                      up to which it stays met. NAN: no value meets it, or any does */
    double factor; /* needed / now; NAN */
    bool reachable; /* some value meets the goal */
    double limit;   /* what the goal's value comes to as the figure goes to where it helps most */
    bool matters;   /* that is another value than now's, by more than a billionth */
    bool helps_up;  /* more of the figure is better; false: less is, or it does not matter */
};

/* The value of one figure at which a goal is met, all others as they are. `value` is the goal's
 * value on the machine as it is, and has to be monotone in the figure. Rates, sizes and prices: the
 * value at 10^15 times the figure and, where that brings it no nearer, at 10^-15 of it is looked at
 * first, then the edge between
 * what meets the goal and what does not is found to 10^-10 of itself, on the side that meets it.
 * Whole numbers: the multiples of what there is now, up to 4096 times, and its parts, the nearest
 * first; of a sparse demand those by 2 to 8 and by doublings from there. A domain of more than all
 * devices of a slice is no other machine than one of them all. */
struct sp_need sp_find_need(const struct sp_demand *demand, const struct sp_hardware *hw,
                            double value, enum sp_machine_figure figure);

/* What binds a machine: the figure of which twice as much (of a price half) brings the goal's value
 * the furthest. SP_FIGURES where none changes it by a millionth. The price and the numbers of
 * devices do not count, they bind nothing, nor do peaks of formats that nothing is computed in. */
enum sp_machine_figure sp_find_binding(const struct sp_demand *demand,
                                       const struct sp_hardware *hw);

/* The elasticity of a goal's value in a figure, d ln(value) / d ln(figure), by a centred
 * difference: (ln v(f (1 + delta)) - ln v(f / (1 + delta))) / (2 ln(1 + delta)). `low` and `high`
 * get the goal's value at the smaller and the larger figure. NAN where one of them is not known. */
double sp_elasticity_of(const struct sp_demand *demand, const struct sp_hardware *hw,
                        enum sp_machine_figure figure, double delta, double *low, double *high);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
