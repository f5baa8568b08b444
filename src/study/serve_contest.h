/* Serving instances of several machines in one order. */
#ifndef SP_SERVE_CONTEST_H
#define SP_SERVE_CONTEST_H

#include <stdbool.h>
#include <stddef.h>

#include <scaleplan/serve_estimate.h>

/* A machine with its instances. */
struct sp_serve_rival {
    const struct sp_serve_point *points;
    int n;
    double usd_per_h;     /* of a chip; NAN: no price */
    double input, output; /* tokens of a request */
    bool estimated;       /* else its points are closed forms, which no engine reaches */
};

/* An instance among those of all machines. */
struct sp_serve_entry {
    int machine;
    const struct sp_serve_point *point;
    bool estimated;
    double usd; /* of a million tokens, read or generated; NAN: no price */
};

/* The instances of all machines, best first by the objective, closed forms after estimates; with
 * `front` only those that no instance of another machine, equally well known, beats in both rates
 * and in price. Returns their number; free() the entries. */
size_t sp_rank_serving(const struct sp_serve_rival *rivals, int n,
                       enum sp_serve_objective objective, bool front,
                       struct sp_serve_entry **entries);

#endif
