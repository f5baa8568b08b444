/* Work on several cores: the numbers 0, 1, ... n - 1 in chunks, each taken by a thread that is
 * free. */
#ifndef SP_PARALLEL_H
#define SP_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SP_MAX_THREADS = 1024 };

/* One thread's end of the work. */
struct sp_share {
    int thread; /* which of the threads: 0, 1, ... */
    struct sp_work *work;
};

/* Takes the next chunk, *from up to but without *to; false when nothing is left. */
bool sp_take(struct sp_share *share, int64_t *from, int64_t *to);

/* Whether this build makes threads; where it does not, sp_threads is 1. */
extern const bool sp_makes_threads;

/* How many threads: `wanted`, or as many as OMP_NUM_THREADS says or this process has cores when it
 * is 0. At most SP_MAX_THREADS. */
int sp_threads(int wanted);

/* Calls `run` once in each of up to `threads` threads, which takes chunks of `chunk` of the `n`
 * numbers until nothing is left, and waits for all. Where no thread can be made the calling one
 * does the work. Each has a stack of its own, whatever the shell's limit. */
void sp_parallel(int threads, int64_t n, int64_t chunk,
                 void (*run)(struct sp_share *share, void *context), void *context);

/* Stack of a thread, and the least that the program runs on: a model in lists is 130 kB, and a
 * command nests several. bytes. */
enum { SP_STACK_BYTES = 4 << 20 };

/* Whether the calling thread has a stack of so many bytes. */
bool sp_has_stack(size_t bytes);

#endif
