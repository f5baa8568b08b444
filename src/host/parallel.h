/* Runs the numbers 0 to n - 1 in chunks on several threads. */
#ifndef SP_PARALLEL_H
#define SP_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SP_MAX_THREADS = 1024 };

/* One thread's share of the work. */
struct sp_share {
    int thread; /* index of the thread */
    struct sp_work *work;
};

/* Takes the next chunk, from *from up to but excluding *to; false when nothing is left. */
bool sp_take(struct sp_share *share, int64_t *from, int64_t *to);

/* Whether this build has threads; without them sp_threads returns 1. */
extern const bool sp_makes_threads;

/* Number of threads: `wanted`; if that is 0, OMP_NUM_THREADS or the cores of this process. At most
 * SP_MAX_THREADS. */
int sp_threads(int wanted);

/* Calls `run` once in each of up to `threads` threads. They take chunks of `chunk` of the `n`
 * numbers until nothing is left; the call waits for all. If no thread can be created, the calling
 * one does the work. Each thread has its own stack, whatever the shell's limit. */
void sp_parallel(int threads, int64_t n, int64_t chunk,
                 void (*run)(struct sp_share *share, void *context), void *context);

/* Stack of a thread, and the least on which the program runs, in bytes: a model in lists takes 130
 * kB, and a command nests several. */
enum { SP_STACK_BYTES = 4 << 20 };

/* Whether the calling thread has a stack of this many bytes. */
bool sp_has_stack(size_t bytes);

#endif
