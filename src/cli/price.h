/* The price of a device-hour: rented, from --price or the list price with its year and source, or
 * owned, from --capex. */
#ifndef SP_PRICE_H
#define SP_PRICE_H

#include <scaleplan/training.h>

#include "cli/command.h"
#include "study/problem.h"

/* The price of the machine `spec` of --hw: from --price, for that word, the machine's name or all
 * machines; else the cost of owning it, from --capex; else the list price. With --capex the answer
 * has both, for sp_put_purchase. False with an error if an option cannot be read. */
bool sp_price_of(const struct sp_args *args, const struct sp_hardware *hw, const char *spec,
                 struct sp_price *price, struct sp_error *error);

/* Refuses a --price or --capex for a machine that is not among the `n` of --hw. */
bool sp_check_price(const struct sp_args *args, const struct sp_hardware *const *hw,
                    const char *const *specs, int n, struct sp_error *error);

/* Puts what it costs to own the device of a machine beside what it costs to rent it: the price of
 * an hour, and the share of hours in use from which owning is cheaper; and, for a run of `devices`
 * and `wall_s` (NAN: none), what each costs. Nothing without --capex. */
void sp_put_purchase(struct sp_report *report, const char *machine, const struct sp_price *price,
                     double devices, double wall_s);

/* Whether prices of machines that are compared are of one kind, year and seller: others compare
 * their sellers too. `at` gives the i-th price of `all`. */
bool sp_are_prices_alike(const void *all, int n,
                         const struct sp_price *(*at)(const void *all, int i));

/* Notes that they are not. */
void sp_note_prices(struct sp_report *report, const void *all, int n,
                    const struct sp_price *(*at)(const void *all, int i));

/* "6.88 USD, the list price of 2025 (AWS p5 over 8, on demand)", in a separate buffer. */
void sp_price_text(const struct sp_price *price, char *out, size_t size);

/* Reads --carbon: kilograms of CO2 per kWh (typed), or a grid's name. */
bool sp_grid_of(const char *carbon, const struct sp_sources *sources, struct sp_grid *grid,
                bool *typed, struct sp_error *error);

#endif
