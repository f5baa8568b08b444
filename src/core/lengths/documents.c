/* Documents packed into rows: their sizes by share of the tokens, and the busiest of replicas. */
#include <math.h>

#include <scaleplan/lengths.h>

#include "core/require.h"

/* Lengths in rising order, each with its share of the documents. */
enum { POINTS = 1024 };
struct points {
    struct sp_lengths lengths; /* cut at the row */
    size_t n;
};

static struct points points_of(const struct sp_lengths *lengths, double row)
{
    struct points p = {.lengths = *lengths, .n = POINTS};
    if (!(p.lengths.most > 0 && p.lengths.most < row))
        p.lengths.most = row;
    if (p.lengths.kind == SP_LENGTHS_TRACE)
        p.n = p.lengths.n;
    if (p.lengths.kind == SP_LENGTHS_FIXED)
        p.n = 1;
    sp_settle_lengths(&p.lengths);
    return p;
}

/* Between -7 and 7 standard deviations of a normal variable, so that both tails have points. */
static double edge(const struct points *p, size_t i)
{
    return erfc(-(14 * (double)i / (double)p->n - 7) / sqrt(2)) / 2;
}

static double share_of_point(const struct points *p, size_t i)
{
    return p->n == POINTS && p->lengths.kind != SP_LENGTHS_TRACE ? edge(p, i + 1) - edge(p, i)
                                                                 : 1 / (double)p->n;
}

static double tokens_of_point(const struct points *p, size_t i)
{
    const struct sp_lengths *const l = &p->lengths;
    if (l->kind == SP_LENGTHS_TRACE || l->kind == SP_LENGTHS_FIXED)
        return fmin(l->most, l->kind == SP_LENGTHS_FIXED ? l->a : l->sorted[i]);
    return sp_lengths_quantile(l, (edge(p, i) + edge(p, i + 1)) / 2);
}

/* Whether the documents have at most SP_DOCUMENT_SIZES different lengths. */
static bool are_few(const struct points *p)
{
    int n = 1;
    for (size_t i = 1; i < p->n && n <= SP_DOCUMENT_SIZES; i++)
        n += tokens_of_point(p, i) > tokens_of_point(p, i - 1);
    return n <= SP_DOCUMENT_SIZES;
}

/* Puts points together, each length by itself or sizes of equal shares of the tokens. */
static void list_sizes(const struct points *p, struct sp_documents *d)
{
    const bool few = are_few(p);
    double so_far = 0, before = 0, reach = 0;
    d->n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double tokens = tokens_of_point(p, i);
        const double share = share_of_point(p, i) * tokens / d->mean;
        const bool next = few ? tokens > before : so_far * SP_DOCUMENT_SIZES >= d->n;
        if (d->n == 0 || (next && d->n < SP_DOCUMENT_SIZES))
            d->of[d->n++] = (struct sp_document_size){0, 0};
        d->of[d->n - 1].tokens += share * tokens;
        d->of[d->n - 1].share += share;
        so_far += share;
        before = tokens;
        reach += share * tokens;
    }
    for (int i = 0; i < d->n; i++) { /* what the points lack is made up in all */
        d->of[i].tokens *= d->reach / reach * so_far / d->of[i].share;
        d->of[i].share /= so_far;
    }
}

/* Squares beyond what as many tokens have in the mean vary between rows as between as many
 * independent documents as fill one. */
static void spread_rows(const struct points *p, struct sp_documents *d)
{
    double second = 0, third = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double tokens = tokens_of_point(p, i);
        const double beyond = tokens * (tokens - d->reach), share = share_of_point(p, i);
        second += share * beyond * beyond;
        third += share * beyond * beyond * beyond;
    }
    const double documents = d->row / d->mean;
    d->spread = sqrt(second / documents) / d->square;
    d->skew = second > 0 ? third / (second * sqrt(second * documents)) : 0;
}

bool sp_pack_documents(const struct sp_lengths *lengths, double row, struct sp_documents *d)
{
    const struct points p = points_of(lengths, row);
    *d = (struct sp_documents){.row = row, .mean = p.lengths.mean, .square = p.lengths.square};
    d->reach = d->square / d->mean;
    if (!(d->reach < row))
        return false;
    list_sizes(&p, d);
    spread_rows(&p, d);
    return true;
}

/* Of n standard normal variables the greatest has the density n F(z)^(n - 1) f(z): a sum of its
 * places, each with what a row has there, by the cube of Wilson and Hilferty. No row has more than
 * one document of its length. */
double sp_busiest_documents(const struct sp_documents *d, double replicas, double rows)
{
    enum { STEPS = 64 };
    sp_require(replicas >= 1 && rows >= 1, "both numbers must be at least 1");
    const double spread = d->spread / sqrt(rows), skew = d->skew / sqrt(rows);
    double sum = 0, weights = 0;
    if (replicas <= 1 || !(spread > 0))
        return 1;
    for (int i = 0; i < STEPS; i++) {
        const double z = -4 + 10 * (i + 0.5) / STEPS;
        const double weight = pow(erfc(-z / sqrt(2)) / 2, replicas - 1) * exp(-z * z / 2);
        const double a = skew / 6, cube = fmax(0, 1 - a * a + a * z);
        const double beyond = fabs(a) > 1e-6 ? (cube * cube * cube - 1) / (3 * a) : z;
        sum += weight * fmin(1 + spread * beyond, d->row / d->reach);
        weights += weight;
    }
    return fmax(1, sum / weights);
}
