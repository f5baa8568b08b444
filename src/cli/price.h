/* The price of a device-hour: from --price or --capex, else the list price with its year and
 * source. */
#ifndef SP_PRICE_H
#define SP_PRICE_H

#include "cli/command.h"

/* A price. NAN: none is known. */
struct sp_price {
    double usd_per_h;
    bool is_typed;      /* by --price or --capex */
    int64_t year;       /* of a list price; 0: not said */
    const char *source; /* the option, or that of a list price, which outlives the hardware; "": not
                           said */
};

/* The price of the machine `spec` of --hw: from --price, for that word, the machine's name or all
 * machines; the cost of owning it, from --capex; else the list price. False with an error if an
 * option cannot be read. */
bool sp_price_of(const struct sp_args *args, const struct sp_hardware *hw, const char *spec,
                 struct sp_price *price, struct sp_error *error);

/* Refuses a --price or --capex for a machine that is not among the `n` of --hw. */
bool sp_check_price(const struct sp_args *args, const struct sp_hardware *const *hw,
                    const char *const *specs, int n, struct sp_error *error);

/* "6.88 USD, the list price of 2025 (AWS p5 over 8, on demand)", in a buffer of its own. */
void sp_price_text(const struct sp_price *price, char *out, size_t size);

#endif
