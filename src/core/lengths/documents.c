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
        return fmin(l->most, l->plus + (l->kind == SP_LENGTHS_FIXED ? l->a : l->sorted[i]));
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

/* Groups points: each length by itself, or sizes of equal shares of the tokens. */
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
    for (int i = 0; i < d->n; i++) { /* whatever the points lack is added to all of them */
        d->of[i].tokens *= d->reach / reach * so_far / d->of[i].share;
        d->of[i].share /= so_far;
    }
}

/* The documents that fill a row besides its long one: their squares per token on average, and the
 * spread around that average for as many independent documents as fill a token. */
struct filling {
    double reach, variance, third;
};

static bool is_long(const struct sp_documents *d, double tokens)
{
    return tokens > d->row / 2;
}

static struct filling filling_of(const struct points *p, const struct sp_documents *d)
{
    struct filling f = {0, 0, 0};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double tokens = tokens_of_point(p, i);
        if (is_long(d, tokens))
            continue;
        sum += share_of_point(p, i) * tokens;
        squares += share_of_point(p, i) * tokens * tokens;
    }
    if (!(sum > 0))
        return f;
    f.reach = squares / sum;
    for (size_t i = 0; i < p->n; i++) {
        const double tokens = tokens_of_point(p, i), beyond = tokens * (tokens - f.reach);
        if (is_long(d, tokens))
            continue;
        f.variance += share_of_point(p, i) / sum * beyond * beyond;
        f.third += share_of_point(p, i) / sum * beyond * beyond * beyond;
    }
    return f;
}

/* Sum of squares of a row with one long document, or none of 0 tokens: mean and central moments. */
struct row_with {
    double mean, variance, third;
};

static struct row_with row_with(const struct sp_documents *d, const struct filling *f,
                                double tokens)
{
    const double rest = d->row - tokens;
    return (struct row_with){tokens * tokens + rest * fmin(f->reach, rest), rest * f->variance,
                             rest * f->third};
}

/* Adds a share of the rows, with moments about the mean of all rows; `all` provides the mean if it
 * is 0. */
static void add_rows(struct row_with *all, double share, const struct row_with *r, double mean)
{
    const double off = r->mean - mean;
    all->mean += share * r->mean;
    all->variance += share * (off * off + r->variance);
    all->third += share * (off * off * off + 3 * off * r->variance + r->third);
}

/* Long documents of a row, each in a separate row. If there are more of them than full rows,
 * there are as many rows as long documents. */
static double long_documents(const struct points *p, const struct sp_documents *d)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += is_long(d, tokens_of_point(p, i)) ? share_of_point(p, i) : 0;
    return sum * d->row / d->mean;
}

static struct row_with moments_about(const struct points *p, const struct sp_documents *d,
                                     const struct filling *f, double mean)
{
    const double longer = long_documents(p, d), each = d->row / d->mean / fmax(1, longer);
    const struct row_with none = row_with(d, f, 0);
    struct row_with all = {0, 0, 0};
    add_rows(&all, fmax(0, 1 - longer), &none, mean);
    for (size_t i = 0; i < p->n; i++) {
        const struct row_with r = row_with(d, f, tokens_of_point(p, i));
        if (is_long(d, tokens_of_point(p, i)))
            add_rows(&all, each * share_of_point(p, i), &r, mean);
    }
    return all;
}

/* Normal variable below which the same share of rows lies, by the cube of Wilson and Hilferty. */
static double normal_of(const struct row_with *r, double squares)
{
    const double deviation = sqrt(r->variance), off = squares - r->mean;
    if (!(deviation > 0))
        return off < 0 ? -INFINITY : INFINITY;
    const double t = off / deviation, a = r->third / (deviation * r->variance) / 6;
    return fabs(a) > 1e-6 ? (cbrt(1 + 3 * a * t) - 1 + a * a) / a : t;
}

/* Rows of all kinds, by their long document. */
struct rows {
    int n;
    struct row_with with[SP_DOCUMENT_SIZES + 1];
    double share[SP_DOCUMENT_SIZES + 1];
};

static double share_beyond(const struct rows *all, double squares)
{
    double sum = 0;
    for (int i = 0; i < all->n; i++)
        sum += all->share[i] * erfc(normal_of(&all->with[i], squares) / sqrt(2)) / 2;
    return sum;
}

static double place_of(int i)
{
    return -4 + 10 * (i + 0.5) / SP_DOCUMENT_PLACES;
}

/* By bisection: the squares that the same share of rows exceeds as of normal variables exceed a
 * point. */
static void place_rows(const struct filling *f, double longer, struct sp_documents *d)
{
    enum { HALVINGS = 24 };
    struct rows all = {1, {row_with(d, f, 0)}, {fmax(0, 1 - longer)}};
    double mean = all.share[0] * all.with[0].mean, low = 0;
    for (int i = 0; i < d->n; i++)
        if (is_long(d, d->of[i].tokens)) {
            all.with[all.n] = row_with(d, f, d->of[i].tokens);
            all.share[all.n] = d->of[i].share * d->row / d->of[i].tokens / fmax(1, longer);
            mean += all.share[all.n] * all.with[all.n].mean;
            all.n++;
        }
    for (int place = 0; place < SP_DOCUMENT_PLACES; place++) {
        const double beyond = erfc(place_of(place) / sqrt(2)) / 2;
        double high = d->row * d->row;
        for (int i = 0; i < HALVINGS; i++) {
            const double middle = low > 0 ? sqrt(low * high) : high / 1024;
            if (share_beyond(&all, middle) > beyond)
                low = middle;
            else
                high = middle;
        }
        d->at[place] = high / mean;
    }
}

/* Documents are kept whole, each in the first row that has room, as Grain (MaxText's default),
 * Megatron-Bridge and torchtitan's FirstFitPackingConfig pack them: rows are full to within a few
 * per cent. No two documents longer than half a row share one, so the number of rows with each of
 * them is known; shorter ones fill the rest. This does not model documents cut at the ends of rows,
 * as in Megatron-LM's GPTDataset and torchtitan's ConcatThenSplitPackingConfig. */
static void spread_rows(const struct points *p, struct sp_documents *d)
{
    const struct filling f = filling_of(p, d);
    const struct row_with mean = moments_about(p, d, &f, 0);
    const struct row_with r = moments_about(p, d, &f, mean.mean);
    d->spread = sqrt(r.variance) / r.mean;
    d->skew = r.variance > 0 ? r.third / (r.variance * sqrt(r.variance)) : 0;
    place_rows(&f, long_documents(p, d), d);
}

bool sp_pack_documents(const struct sp_lengths *lengths, double row, double filled,
                       struct sp_documents *d)
{
    const struct points p = points_of(lengths, row);
    *d = (struct sp_documents){
        .row = row, .filled = filled, .mean = p.lengths.mean, .square = p.lengths.square};
    d->reach = d->square / d->mean;
    if (!(d->reach < row))
        return false;
    list_sizes(&p, d);
    spread_rows(&p, d);
    return true;
}

/* The greatest of n standard normal variables has the density n F(z)^(n - 1) f(z). Returns the mean
 * under that density of a row's load at z (d->at), or of several rows' load at z, which the cube of
 * Wilson and Hilferty gives. */
double sp_busiest_documents(const struct sp_documents *d, double replicas, double rows)
{
    sp_require(replicas >= 1 && rows >= 1, "both numbers must be at least 1");
    const double spread = d->spread / sqrt(rows), skew = d->skew / sqrt(rows);
    double sum = 0, weights = 0;
    if (replicas <= 1 || !(spread > 0))
        return 1;
    for (int i = 0; i < SP_DOCUMENT_PLACES; i++) {
        const double z = place_of(i);
        const double weight = pow(erfc(-z / sqrt(2)) / 2, replicas - 1) * exp(-z * z / 2);
        const double a = skew / 6, cube = fmax(0, 1 - a * a + a * z);
        const double beyond = fabs(a) > 1e-6 ? (cube * cube * cube - 1) / (3 * a) : z;
        sum += weight * (rows > 1 ? fmin(1 + spread * beyond, d->row / d->reach) : d->at[i]);
        weights += weight;
    }
    return fmax(1, sum / weights);
}
