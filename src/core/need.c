/* What a figure of a machine would have to be, and how much a goal follows it. */
#include <math.h>
#include <string.h>

#include <scaleplan/need.h>

/* Where a figure stands in the struct and in a hardware file. */
static const struct {
    const char *key;
    size_t offset;
    int kind; /* of machine that has it: enum sp_network_kind, or ANY */
} figures[SP_FIGURES] = {
#define ANY (-1)
#define AT(member) offsetof(struct sp_hardware, member)
    [SP_FIGURE_PEAK] = {"chip.peak_flops_per_s", AT(chip.peak_flops_per_s), ANY},
    [SP_FIGURE_HBM_RATE] = {"chip.hbm_bytes_per_s", AT(chip.hbm_bytes_per_s), ANY},
    [SP_FIGURE_HBM] = {"chip.hbm_bytes", AT(chip.hbm_bytes), ANY},
    [SP_FIGURE_LINK] = {"network.link_bytes_per_s", AT(network.link_bytes_per_s), SP_TORUS},
    [SP_FIGURE_DCN] = {"network.dcn_bytes_per_s_per_host", AT(network.dcn_bytes_per_s_per_host),
                       SP_TORUS},
    [SP_FIGURE_DOMAIN_RATE] = {"network.domain_bytes_per_s", AT(network.domain_bytes_per_s),
                               SP_SWITCHED},
    [SP_FIGURE_SCALEOUT] = {"network.scaleout_bytes_per_s", AT(network.scaleout_bytes_per_s),
                            SP_SWITCHED},
    [SP_FIGURE_HOST_LINK] = {"chip.pcie_bytes_per_s", AT(chip.pcie_bytes_per_s), ANY},
    [SP_FIGURE_PRICE] = {"chip.price_usd_per_h", AT(chip.price_usd_per_h), ANY},
    [SP_FIGURE_DOMAIN] = {"network.domain", AT(network.domain), SP_SWITCHED},
    [SP_FIGURE_CHIPS] = {"chips", AT(chips_per_slice), ANY},
#undef AT
};

/* Capacities that verdicts take: what the runtime grants where that is known. */
static bool is_granted(enum sp_machine_figure figure, const struct sp_hardware *hw)
{
    return figure == SP_FIGURE_HBM && !isnan(hw->chip.hbm_usable_bytes);
}

const char *sp_figure_key(enum sp_machine_figure figure, const struct sp_hardware *hw)
{
    return is_granted(figure, hw) ? "chip.hbm_usable_bytes" : figures[figure].key;
}

static bool is_whole(enum sp_machine_figure figure)
{
    return figure == SP_FIGURE_DOMAIN || figure == SP_FIGURE_CHIPS;
}

/* A figure that is a double. */
static double *figure_of(enum sp_machine_figure figure, struct sp_hardware *hw, enum sp_dtype dtype)
{
    if (figure == SP_FIGURE_PEAK)
        return &hw->chip.peak_flops_per_s[dtype];
    if (is_granted(figure, hw))
        return &hw->chip.hbm_usable_bytes;
    return (double *)(void *)((char *)hw + figures[figure].offset);
}

double sp_figure_value(enum sp_machine_figure figure, const struct sp_hardware *hw,
                       enum sp_dtype dtype)
{
    struct sp_hardware copy = *hw;
    if (figures[figure].kind != ANY && figures[figure].kind != hw->network.kind)
        return NAN;
    if (figure == SP_FIGURE_CHIPS)
        return (double)hw->chips_per_slice;
    if (figure == SP_FIGURE_DOMAIN)
        return (double)hw->network.domain;
    if (figure == SP_FIGURE_DCN && hw->slices == 1)
        return NAN;
    const double value = *figure_of(figure, &copy, dtype);
    return value > 0 ? value : NAN;
}

/* Domains of so many devices: whole ones, or one that all devices are in. */
static bool with_domain(struct sp_hardware *hw, int64_t devices)
{
    if (hw->chips_per_slice % devices != 0 && devices % hw->chips_per_slice != 0)
        return false;
    hw->network.domain = devices;
    hw->network.domain_part = 0;
    return true;
}

bool sp_with_figure(const struct sp_hardware *hw, enum sp_machine_figure figure,
                    enum sp_dtype dtype, double value, struct sp_hardware *changed)
{
    *changed = *hw;
    if (is_whole(figure) && (value < 1 || value > 1e9 || value != floor(value)))
        return false;
    if (figure == SP_FIGURE_CHIPS)
        return sp_take_slice(changed, (int64_t)value);
    if (figure == SP_FIGURE_DOMAIN)
        return with_domain(changed, (int64_t)value);
    const double now = sp_figure_value(figure, hw, dtype);
    if (isnan(now) || !(value > 0))
        return false;
    if (is_granted(figure, hw))
        changed->chip.hbm_bytes *= value / now;
    *figure_of(figure, changed, dtype) = value;
    return true;
}

bool sp_is_met(const struct sp_demand *demand, double value)
{
    return demand->at_least ? value >= demand->target : value <= demand->target;
}

/* The goal's value with another figure; NAN where there is no such machine. */
static double value_at(const struct sp_demand *demand, const struct sp_hardware *hw,
                       enum sp_machine_figure figure, double value)
{
    struct sp_hardware changed;
    return sp_with_figure(hw, figure, demand->dtype, value, &changed)
               ? demand->value(&changed, demand->context)
               : NAN;
}

/* Where the goal's value crosses the target between a figure that misses it and one that meets it:
 * the secant on logarithms, kept inside by the side that stays (Illinois), and halving where that
 * makes no way. Returns a figure that meets it. */
static double find_edge(const struct sp_demand *demand, const struct sp_hardware *hw,
                        enum sp_machine_figure figure, double misses, double meets)
{
    enum { MOST = 200 };
    const double target = log(demand->target);
    double a = log(misses), b = log(meets);
    double fa = log(value_at(demand, hw, figure, misses)) - target;
    double fb = log(value_at(demand, hw, figure, meets)) - target;
    for (int i = 0; i < MOST && fabs(b - a) > 1e-10; i++) {
        const double width = b - a;
        const double share = fa / (fa - fb);
        const bool halves = i % 3 == 2 || !isfinite(share) || share <= 0 || share >= 1;
        const double x = a + width * (halves ? 0.5 : share);
        const double v = value_at(demand, hw, figure, exp(x));
        if (sp_is_met(demand, v)) {
            b = x;
            fb = log(v) - target;
            fa /= halves ? 1 : 2;
        } else {
            a = x;
            fa = log(v) - target;
            fb /= halves ? 1 : 2;
        }
    }
    return exp(b);
}

/* A figure beyond `from`, on the way to `to`, at which the goal is met, or is not any more, as
 * `met` says: steps that grow. The last step before it goes to *before. */
static double find_change(const struct sp_demand *demand, const struct sp_hardware *hw,
                          enum sp_machine_figure figure, double from, double to, bool met,
                          double *before)
{
    double step = to > from ? 2 : 0.5, at = from;
    do {
        *before = at;
        at *= step;
        step *= step;
        if ((to > from) != (at < to))
            at = to;
    } while (at != to && sp_is_met(demand, value_at(demand, hw, figure, at)) != met);
    return at;
}

enum { EXTREME = 15 }; /* powers of ten that stand for infinitely much and for nothing */

/* A rate, a size or a price. */
static void need_figure(const struct sp_demand *demand, const struct sp_hardware *hw,
                        enum sp_machine_figure figure, struct sp_need *need)
{
    const double most = need->now * pow(10, EXTREME), least = need->now * pow(10, -EXTREME);
    const double now = demand->value(hw, demand->context);
    const double up = value_at(demand, hw, figure, most),
                 down = value_at(demand, hw, figure, least);
    const bool met = sp_is_met(demand, now);
    need->helps_up = demand->at_least ? up > down : up < down;
    const double better = need->helps_up ? most : least, worse = need->helps_up ? least : most;
    need->limit = need->helps_up ? up : down;
    need->reachable = sp_is_met(demand, need->limit);
    const double to = met ? worse : better;
    if (sp_is_met(demand, met ? (need->helps_up ? down : up) : need->limit) == met)
        return;
    double before;
    const double at = find_change(demand, hw, figure, need->now, to, !met, &before);
    need->needed = find_edge(demand, hw, figure, met ? at : before, met ? before : at);
    need->factor = need->needed / need->now;
}

/* A whole number: multiples and parts of what there is, the nearest first. */
static void need_number(const struct sp_demand *demand, const struct sp_hardware *hw,
                        enum sp_machine_figure figure, struct sp_need *need)
{
    enum { MOST = 4096 };
    const bool met = sp_is_met(demand, demand->value(hw, demand->context));
    need->helps_up = true;
    need->limit = demand->value(hw, demand->context);
    if (met) {
        need->reachable = true;
        need->needed = need->now;
        need->factor = 1;
    }
    for (int k = 2; k <= MOST; k++) {
        const double number = met ? need->now / k : need->now * k;
        const double value = value_at(demand, hw, figure, number);
        if (isnan(value))
            continue;
        need->limit = !demand->at_least == (value < need->limit) ? value : need->limit;
        if (sp_is_met(demand, value)) {
            need->reachable = true;
            need->needed = number;
            need->factor = number / need->now;
        }
        if (sp_is_met(demand, value) != met)
            return;
    }
}

struct sp_need sp_find_need(const struct sp_demand *demand, const struct sp_hardware *hw,
                            enum sp_machine_figure figure)
{
    struct sp_need need = {.now = sp_figure_value(figure, hw, demand->dtype),
                           .needed = NAN,
                           .factor = NAN,
                           .limit = NAN};
    if (isnan(need.now))
        return need;
    if (is_whole(figure))
        need_number(demand, hw, figure, &need);
    else
        need_figure(demand, hw, figure, &need);
    return need;
}

enum sp_machine_figure sp_find_binding(const struct sp_demand *demand, const struct sp_hardware *hw)
{
    const double now = log(demand->value(hw, demand->context));
    double most = 1e-6;
    enum sp_machine_figure binding = SP_FIGURES;
    for (int f = 0; f < SP_FIGURE_PRICE; f++) {
        const double value = sp_figure_value((enum sp_machine_figure)f, hw, demand->dtype);
        const double change = log(value_at(demand, hw, (enum sp_machine_figure)f, 2 * value)) - now;
        const double gain = demand->at_least ? change : -change;
        if (!isnan(value) && gain > most) {
            most = gain;
            binding = (enum sp_machine_figure)f;
        }
    }
    return binding;
}

double sp_elasticity(const struct sp_demand *demand, const struct sp_hardware *hw,
                     enum sp_machine_figure figure, double delta, double *low, double *high)
{
    const double now = sp_figure_value(figure, hw, demand->dtype), step = 1 + delta;
    *low = value_at(demand, hw, figure, now / step);
    *high = value_at(demand, hw, figure, now * step);
    return (log(*high) - log(*low)) / (2 * log(step));
}
