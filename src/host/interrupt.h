/* Ctrl-C ends long work early with a message. */
#ifndef SP_INTERRUPT_H
#define SP_INTERRUPT_H

#include <stdbool.h>

/* The exit code that a shell reports for a program ended by an interrupt: 128 + SIGINT. */
enum { SP_INTERRUPTED = 130 };

/* After this call the first interrupt sets the flag, and a second one ends the program. */
void sp_catch_interrupt(void);

/* Whether there was an interrupt. The flag stays set, so that later rows of a sweep do not run. */
bool sp_was_interrupted(void);

/* Restores the handler that caught interrupts before this program, and clears the flag. */
void sp_release_interrupt(void);

/* Not 0 after an interrupt; cheap enough for inner loops. */
extern const volatile int *const sp_interrupt_flag;

#endif
