/* The price of a device-hour. */
#include "cli/price.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/rows.h"
#include "base/list.h"
#include "base/number.h"
#include "base/quote.h"

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
    "price of a device-hour in USD, such as 2.10, or one per machine, such as h100=2.10,b200=4.5",
    1e6};
static const struct prices to_buy = {
    SP_O_capex,
    "price of a device in USD, such as 30k, or one per machine, such as h100=30k,b200=45k", 1e9};

/* One item: the machine's name, or NULL for all, and the price. */
static bool read_item(const struct prices *of, char *item, const char **name, double *usd,
                      struct sp_error *error)
{
    const char *const value = sp_cut_pair(item), *const text = value ? value : item;
    *name = value ? item : NULL;
    return (sp_parse_number(text, usd) && !*sp_unit_of_number(text) && *usd > 0 &&
            *usd <= of->most) ||
           sp_fail(error, SP_INPUT, "--%s: \"%s\": expected a %s", sp_option_name(of->option),
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

/* The price from --capex for a machine: is_offered if there is one. */
static bool read_purchase(const struct sp_args *args, const struct sp_hardware *hw,
                          const char *spec, struct sp_price *price, struct sp_error *error)
{
    double capex = NAN;
    if (!read_prices(&to_buy, args, hw, spec, &capex, error) || isnan(capex))
        return error->lines == 0;
    const double watts = sp_option_taken(args, SP_O_watts) ? args->value.watts : NAN;
    /* A command that takes no PUE counts only the devices. */
    const double pue = sp_option_taken(args, SP_O_pue) ? args->value.pue : 1;
    price->is_offered = true;
    price->own = (struct sp_owned){
        .capex_usd = capex,
        .years = args->value.years,
        .in_use = args->value.in_use,
        .watts = (!isnan(watts)              ? watts
                  : hw && hw->chip.tdp_w > 0 ? hw->chip.tdp_w
                                             : NAN) *
                 pue,
        .usd_per_kwh = args->value.usd_per_kwh,
    };
    return !(isnan(price->own.watts) && price->own.usd_per_kwh > 0) ||
           sp_fail(error, SP_INPUT,
                   "--capex: this device has no published power; give --watts, or --usd-per-kwh 0");
}

bool sp_price_of(const struct sp_args *args, const struct sp_hardware *hw, const char *spec,
                 struct sp_price *price, struct sp_error *error)
{
    double typed = NAN;
    *price = (struct sp_price){.usd_per_h = hw ? hw->chip.price_usd_per_h : NAN,
                               .year = hw ? hw->chip.price_year : 0};
    if (hw)
        snprintf(price->source, sizeof price->source, "%s", hw->chip.price_source);
    if (!read_prices(&per_hour, args, hw, spec, &typed, error) ||
        !read_purchase(args, hw, spec, price, error))
        return false;
    if (!isnan(typed))
        *price = (struct sp_price){.usd_per_h = typed,
                                   .is_typed = true,
                                   .source = "--price",
                                   .is_offered = price->is_offered,
                                   .own = price->own};
    price->rent_usd_per_h = price->usd_per_h;
    if (price->is_offered && !price->is_typed) {
        price->usd_per_h = sp_owned_usd_per_h(&price->own);
        price->is_typed = true;
        price->year = 0;
        snprintf(price->source, sizeof price->source, "%s", "--capex");
    }
    return true;
}

/* The figures of a purchase. */
struct purchase {
    const char *machine;
    const struct sp_owned *own;
    double capital, energy, owned, rent, from;
    double devices, wall_s;       /* of the run */
    bool has_rent, pays, has_run; /* pays: owned is cheaper at this use */
};

#define SP_PART train_purchase
#define SP_PART_OF struct purchase
#include "answer/put_rows.h"

void sp_put_purchase(struct sp_report *report, const char *machine, const struct sp_price *price,
                     double devices, double wall_s)
{
    if (!price->is_offered)
        return;
    struct purchase s = {.machine = machine,
                         .own = &price->own,
                         .owned = sp_owned_usd_per_h(&price->own),
                         .rent = price->rent_usd_per_h,
                         .devices = devices,
                         .wall_s = wall_s};
    s.capital = sp_capital_usd_per_h(s.own->capex_usd, s.own->years, s.own->in_use);
    s.energy = sp_energy_usd_per_h(s.own);
    s.has_rent = s.rent > 0;
    s.from = s.has_rent ? sp_break_even_in_use(s.own, s.rent) : NAN;
    s.pays = s.owned < s.rent;
    s.has_run = s.has_rent && !isnan(wall_s);
    put_train_purchase_rows(report, &s);
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
            return sp_fail(error, SP_INPUT, "--%s: \"%s\" is not a machine of --hw",
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

/* Whether two sources name the same seller, their first word. */
static bool is_same_seller(const char *one, const char *other)
{
    const size_t n = strcspn(one, " ,:");
    return n == strcspn(other, " ,:") && strncmp(one, other, n) == 0;
}

bool sp_are_prices_alike(const void *all, int n,
                         const struct sp_price *(*at)(const void *all, int i))
{
    bool alike = true;
    for (int i = 1; i < n; i++)
        alike = alike && at(all, i)->is_typed == at(all, 0)->is_typed &&
                at(all, i)->year == at(all, 0)->year &&
                is_same_seller(at(all, i)->source, at(all, 0)->source);
    return alike;
}

void sp_note_prices(struct sp_report *report, const void *all, int n,
                    const struct sp_price *(*at)(const void *all, int i))
{
    if (!sp_are_prices_alike(all, n, at))
        sp_note(report, "the prices differ in seller, year or kind: the order by cost holds only "
                        "for them; yours: --price MACHINE=USD,MACHINE=USD");
}

void sp_price_text(const struct sp_price *price, char *out, size_t size)
{
    if (isnan(price->usd_per_h))
        snprintf(out, size, "not known (--price)");
    else if (price->is_typed)
        snprintf(out, size, "%.2f USD (%s)", price->usd_per_h, price->source);
    else if (strncmp(price->source, "estimate: ", 10) == 0)
        snprintf(out, size, "%.2f USD, an estimate of %lld (%s)", price->usd_per_h,
                 (long long)price->year, price->source + 10);
    else if (price->year > 0)
        snprintf(out, size, "%.2f USD, the list price of %lld (%s)", price->usd_per_h,
                 (long long)price->year, price->source);
    else
        snprintf(out, size, "%.2f USD, the list price of the hardware file, undated",
                 price->usd_per_h);
}

bool sp_grid_of(const char *carbon, const struct sp_sources *sources, struct sp_grid *grid,
                bool *typed, struct sp_error *error)
{
    double kg;
    *typed = sp_parse_number(carbon, &kg) && !*sp_unit_of_number(carbon);
    if (!*typed)
        return sp_load_grid(carbon, sources, grid, error);
    grid->carbon_kg_per_kwh = kg;
    return (kg >= 0 && kg <= 10) ||
           sp_fail(error, SP_INPUT, "--carbon %s: expected 0 to 10 kg per kWh", sp_safe(carbon));
}
