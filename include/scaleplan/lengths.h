/* Lengths of prompts, answers and documents: one distribution, with its moments,
 * quantiles and the expected greatest of n; documents packed into rows. Tokens. */
#ifndef SCALEPLAN_LENGTHS_H
#define SCALEPLAN_LENGTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum sp_lengths_kind {
    SP_LENGTHS_FIXED,       /* a: all of them */
    SP_LENGTHS_LOGNORMAL,   /* a: mean, b: standard deviation of the logarithm */
    SP_LENGTHS_UNIFORM,     /* a to b */
    SP_LENGTHS_EXPONENTIAL, /* a: mean */
    SP_LENGTHS_TRACE,       /* one of `sorted`, each as likely */
    SP_LENGTHS_KINDS
};

struct sp_lengths {
    enum sp_lengths_kind kind;
    double a, b;
    double plus;          /* tokens before each of them, such as a prompt */
    double most;          /* longer ones end there, `plus` included; 0: no limit */
    const double *sorted; /* n lengths, rising; owned by the caller */
    size_t n;
    double mean, square; /* of the lengths, and of their squares: sp_settle_lengths */
};

/* Writes `mean` and `square`, with what `most` cuts. */
void sp_settle_lengths(struct sp_lengths *lengths);

/* A fixed length. */
struct sp_lengths sp_fixed_length(double tokens);

/* Length that this share of them does not exceed, 0 < share < 1; of a trace by nearest rank. */
double sp_lengths_quantile(const struct sp_lengths *lengths, double share);

/* Share of them that is longer than `tokens`. */
double sp_lengths_over(const struct sp_lengths *lengths, double tokens);

/* Expected greatest of this many: the integral of x d F(x)^draws. Their number must be at least 1.
 * From a trace they are drawn with replacement. David and Nagaraja 2003, section 3.1. */
double sp_greatest_length(const struct sp_lengths *lengths, double draws);

/* The next length of a sequence of independent ones, in whole tokens, at least 1. Any `state`
 * begins one. Steele, Lea and Flood 2014 (SplitMix). */
double sp_draw_length(const struct sp_lengths *lengths, uint64_t *state);

/* The same sequence's next number between 0 and 1, both excluded. */
double sp_draw_share(uint64_t *state);

/* Packs whole documents into rows of equal room, each into the first row with room for it (first
 * fit). Attention stays within each document; a document longer than a row is cut. */
enum { SP_DOCUMENT_SIZES = 64, SP_DOCUMENT_PLACES = 64 };
struct sp_document_size {
    double tokens; /* of the document of a token, mean */
    double share;  /* of all tokens */
};
struct sp_documents {
    double row;          /* tokens for which a row has room */
    double filled;       /* tokens of a row, mean */
    double mean, square; /* mean of their lengths, and of the squares */
    double reach;        /* tokens of the document of a token, mean: square / mean */
    double spread, skew; /* of a row's sum of squares: standard deviation over the mean, skewness */
    double at[SP_DOCUMENT_PLACES]; /* of a row over the mean, at quantiles of a normal variable */
    int n; /* sizes, rising; exact if there are no more lengths than these */
    struct sp_document_size of[SP_DOCUMENT_SIZES];
};

/* Packs the documents; false: each document fills a row. For the spread of the sum of squares of
 * the documents that fill the rest of a row beside one longer than half a row: Feller 1971,
 * section XI.5 (renewal-reward). No row has two such long documents (Martello and Toth 1990,
 * section 8.2). */
bool sp_pack_documents(const struct sp_lengths *lengths, double row, double filled,
                       struct sp_documents *packed);

/* Expected sum of squared lengths on the busiest of `replicas`, each with `rows` rows, over the
 * mean of all replicas. For one row from its distribution; for more from a gamma distribution with
 * the same spread and skewness. Both numbers must be at least 1. Wilson and Hilferty 1931, "The
 * distribution of chi-square". */
double sp_busiest_documents(const struct sp_documents *packed, double replicas, double rows);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
