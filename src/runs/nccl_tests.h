/* Reads what nccl-tests and rccl-tests print. */
#ifndef SP_NCCL_TESTS_H
#define SP_NCCL_TESTS_H

#include <stdbool.h>
#include <stddef.h>

#include <scaleplan/machine.h>

#include "base/error.h"

/* One size of one test: its time out of place, and the ranks and hosts that ran it. */
struct sp_nccl_time {
    enum sp_collective op;
    double ranks, hosts, bytes, time_s;
};

struct sp_nccl_times {
    struct sp_nccl_time *of;
    size_t n, room;
};

/* Whether a text is such output: it has their line of parameters. */
bool sp_is_nccl_output(const char *text);

/* The times of a text with one test or several, one after the other. Tests that do not name their
 * operation (before nccl-tests 2.17) are of `op`; SP_COLLECTIVES: an error, as is a test of another
 * operation, or one without its lines of ranks. Free `of`. */
bool sp_read_nccl_times(const char *text, const char *path, enum sp_collective op,
                        struct sp_nccl_times *times, struct sp_error *error);

#endif
