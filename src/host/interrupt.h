/* Ctrl-C: long work ends early and says so. */
#ifndef SP_INTERRUPT_H
#define SP_INTERRUPT_H

#include <stdbool.h>

/* What a shell reports of a program that an interrupt ended: 128 + SIGINT. */
enum { SP_INTERRUPTED = 130 };

/* From here on the first interrupt sets the flag, and one that follows ends the program. */
void sp_catch_interrupt(void);

/* Whether there was one. It stays: rows of a sweep that would follow must not run. */
bool sp_was_interrupted(void);

/* Not 0 after an interrupt, for those who look often. */
extern const volatile int *const sp_interrupt_flag;

#endif
