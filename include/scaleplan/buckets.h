/* Gradient buckets of data parallelism: reduced while the backward pass still runs. */
#ifndef SCALEPLAN_BUCKETS_H
#define SCALEPLAN_BUCKETS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What a timeline of buckets is made of. */
struct sp_bucket_times {
    double gradient_bytes; /* of a device */
    double bucket_bytes;   /* that a bucket is sent at */
    double backward_s;     /* of the last micro-batch */
    double full_s, last_s; /* to reduce a full bucket, and what is left over for the last one */
    double all_s;          /* to reduce all gradients in one go */
};

/* A timeline; times count from the start of the backward pass. */
struct sp_buckets {
    bool exist;            /* there are replicas, and gradients that wait for a backward pass */
    double gradient_bytes; /* of a device */
    double count;          /* of buckets */
    double bytes;          /* of a full one; of all gradients where one bucket takes them */
    double last_bytes;     /* of the last */
    double backward_s;     /* as given */
    double bucket_s;       /* to reduce one */
    double first_launch_s; /* the first is full */
    double end_s;          /* the last is reduced */
    double tail_s;         /* exposed: end_s behind the backward pass */
    double naive_s;        /* exposed where all gradients are reduced behind the backward pass */
    double hidden;         /* share of the reductions that runs beside the backward pass */
};

/* The timeline of equal buckets: gradients come evenly over the backward pass, a bucket is sent
 * when it is full or the pass is over, one after the other. Full bucket k ends at k T_b b / G + t
 * where reducing keeps up, else at T_b b / G + k t. Li et al. 2020, "PyTorch Distributed",
 * section 3.2. */
struct sp_buckets sp_bucket_timeline(const struct sp_bucket_times *times);

/* When the k-th bucket, from 0, is sent and when it is reduced; s from the start of the pass. */
struct sp_bucket_span {
    double start_s, end_s;
};
struct sp_bucket_span sp_bucket_span(const struct sp_buckets *buckets, double k);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
