/* The price of a device-hour. */
#include "cli/price.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"

/* Whether "h100=2.10" speaks of this machine: `name` is its name, the word of --hw or what stands
 * there in front of the size. */
static bool is_about(const char *name, const struct sp_hardware *hw, const char *spec)
{
    const size_t n = strlen(name);
    return strcmp(name, hw->name) == 0 || strcmp(name, spec) == 0 ||
           (strncmp(name, spec, n) == 0 && (spec[n] == '-' || spec[n] == ':'));
}

static bool read_price(const char *text, double *usd, struct sp_error *error)
{
    return (sp_parse_number(text, usd) && !*sp_unit_of_number(text) && *usd <= 1e6) ||
           sp_fail(error, SP_INPUT,
                   "--price: \"%s\" is no price of a device-hour in USD, such as 2.10, or one a "
                   "machine, such as h100=2.10,b200=4.5",
                   sp_safe(text));
}

/* One item of --price: the machine's name, or NULL for all, and the price. */
static bool read_item(char *item, const char **name, double *usd, struct sp_error *error)
{
    const char *const value = sp_cut_pair(item);
    *name = value ? item : NULL;
    return read_price(value ? value : item, usd, error);
}

bool sp_price_of(const struct sp_args *args, const struct sp_hardware *hw, const char *spec,
                 struct sp_price *price, struct sp_error *error)
{
    const char *list = sp_text_of(args, "price"), *name;
    char item[192];
    double usd;
    *price = (struct sp_price){NAN, false, 0, ""};
    if (hw)
        *price = (struct sp_price){hw->chip.price_usd_per_h, false, hw->chip.price_year,
                                   hw->chip.price_source};
    while (list && sp_next_item(&list, item, sizeof item)) {
        if (!read_item(item, &name, &usd, error))
            return false;
        if (!name || (hw && is_about(name, hw, spec)))
            *price = (struct sp_price){usd, true, 0, ""};
    }
    return true;
}

bool sp_check_price(const struct sp_args *args, const struct sp_hardware *const *hw,
                    const char *const *specs, int n, struct sp_error *error)
{
    const char *list = sp_text_of(args, "price"), *name;
    char item[192];
    double usd;
    while (list && sp_next_item(&list, item, sizeof item)) {
        bool known = !read_item(item, &name, &usd, error) || !name;
        for (int i = 0; i < n && !known; i++)
            known = is_about(name, hw[i], specs[i]);
        if (!known)
            return sp_fail(error, SP_INPUT, "--price: \"%s\" is no machine of --hw", sp_safe(name));
    }
    return error->lines == 0;
}

void sp_price_text(const struct sp_price *price, char *out, size_t size)
{
    if (isnan(price->usd_per_h))
        snprintf(out, size, "not known (--price)");
    else if (price->is_typed)
        snprintf(out, size, "%.2f USD (--price)", price->usd_per_h);
    else if (price->year > 0)
        snprintf(out, size, "%.2f USD, the list price of %lld (%s)", price->usd_per_h,
                 (long long)price->year, price->source);
    else
        snprintf(out, size, "%.2f USD, the list price of the hardware file, undated",
                 price->usd_per_h);
}
