/* The price of a device-hour. */
#include "cli/price.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <scaleplan/training.h>

#include "base/list.h"
#include "base/number.h"

/* Whether "h100=2.10" is for this machine: `name` is its name, the word of --hw, or that word
 * without the size. */
static bool is_about(const char *name, const struct sp_hardware *hw, const char *spec)
{
    const size_t n = strlen(name);
    return strcmp(name, hw->name) == 0 || strcmp(name, spec) == 0 ||
           (strncmp(name, spec, n) == 0 && (spec[n] == '-' || spec[n] == ':'));
}

/* An option with a number of USD, or one per machine. */
struct prices {
    enum sp_option_id option;
    const char *what;
    double most;
};
static const struct prices per_hour = {
    SP_O_price,
    "price of a device-hour in USD, such as 2.10, or one a machine, such as h100=2.10,b200=4.5",
    1e6};
static const struct prices to_buy = {
    SP_O_capex,
    "price of a device in USD, such as 30k, or one a machine, such as h100=30k,b200=45k", 1e9};

/* One item: the machine's name, or NULL for all, and the price. */
static bool read_item(const struct prices *of, char *item, const char **name, double *usd,
                      struct sp_error *error)
{
    const char *const value = sp_cut_pair(item), *const text = value ? value : item;
    *name = value ? item : NULL;
    return (sp_parse_number(text, usd) && !*sp_unit_of_number(text) && *usd > 0 &&
            *usd <= of->most) ||
           sp_fail(error, SP_INPUT, "--%s: \"%s\" is no %s", sp_option_name(of->option),
                   sp_safe(text), of->what);
}

/* The option's value for a machine; unchanged if it has none. */
static bool read_prices(const struct prices *of, const struct sp_args *args,
                        const struct sp_hardware *hw, const char *spec, double *usd,
                        struct sp_error *error)
{
    const char *list = args->text[of->option], *name;
    char item[192];
    double one;
    while (list && sp_next_item(&list, item, sizeof item)) {
        if (!read_item(of, item, &name, &one, error))
            return false;
        if (!name || (hw && is_about(name, hw, spec)))
            *usd = one;
    }
    return true;
}

/* Cost of a device-hour when the hardware is bought: capital over the hours of use, and energy. */
static bool own_price(const struct sp_args *args, const struct sp_hardware *hw, const char *spec,
                      struct sp_price *price, struct sp_error *error)
{
    double capex = NAN;
    if (!read_prices(&to_buy, args, hw, spec, &capex, error) || isnan(capex))
        return error->lines == 0;
    const double watts = sp_option_taken(args, SP_O_watts) ? args->value.watts : NAN;
    const double pue = sp_option_taken(args, SP_O_pue) ? args->value.pue : 1;
    const struct sp_owned owned = {
        .capex_usd = capex,
        .years = args->value.years,
        .in_use = args->value.in_use,
        .watts = (!isnan(watts)              ? watts
                  : hw && hw->chip.tdp_w > 0 ? hw->chip.tdp_w
                                             : NAN) *
                 pue,
        .usd_per_kwh = args->value.usd_per_kwh,
    };
    if (isnan(owned.watts) && owned.usd_per_kwh > 0)
        return sp_fail(error, SP_INPUT,
                       "--capex: the power of this device is not published; give --watts, or "
                       "--usd-per-kwh 0");
    *price = (struct sp_price){sp_owned_usd_per_h(&owned), true, 0, "--capex"};
    return true;
}

bool sp_price_of(const struct sp_args *args, const struct sp_hardware *hw, const char *spec,
                 struct sp_price *price, struct sp_error *error)
{
    double typed = NAN;
    *price = (struct sp_price){NAN, false, 0, ""};
    if (hw)
        *price = (struct sp_price){hw->chip.price_usd_per_h, false, hw->chip.price_year,
                                   hw->chip.price_source};
    if (!read_prices(&per_hour, args, hw, spec, &typed, error))
        return false;
    if (!isnan(typed))
        *price = (struct sp_price){typed, true, 0, "--price"};
    return own_price(args, hw, spec, price, error);
}

static bool check_names(const struct prices *of, const struct sp_args *args,
                        const struct sp_hardware *const *hw, const char *const *specs, int n,
                        struct sp_error *error)
{
    const char *list = args->text[of->option], *name;
    char item[192];
    double usd;
    while (list && sp_next_item(&list, item, sizeof item)) {
        bool known = !read_item(of, item, &name, &usd, error) || !name;
        for (int i = 0; i < n && !known; i++)
            known = is_about(name, hw[i], specs[i]);
        if (!known)
            return sp_fail(error, SP_INPUT, "--%s: \"%s\" is no machine of --hw",
                           sp_option_name(of->option), sp_safe(name));
    }
    return error->lines == 0;
}

bool sp_check_price(const struct sp_args *args, const struct sp_hardware *const *hw,
                    const char *const *specs, int n, struct sp_error *error)
{
    return check_names(&per_hour, args, hw, specs, n, error) &&
           check_names(&to_buy, args, hw, specs, n, error);
}

void sp_price_text(const struct sp_price *price, char *out, size_t size)
{
    if (isnan(price->usd_per_h))
        snprintf(out, size, "not known (--price)");
    else if (price->is_typed)
        snprintf(out, size, "%.2f USD (%s)", price->usd_per_h, price->source);
    else if (price->year > 0)
        snprintf(out, size, "%.2f USD, the list price of %lld (%s)", price->usd_per_h,
                 (long long)price->year, price->source);
    else
        snprintf(out, size, "%.2f USD, the list price of the hardware file, undated",
                 price->usd_per_h);
}
