/* A line on the terminal, written each second by a timer's signal. */
#include "host/ticker.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t seconds; /* since the start; 0: nothing is written yet */

/* Writes with functions that a signal handler may call. */
static void put(const char *text, size_t n)
{
    while (n > 0) {
        const ssize_t written = write(STDERR_FILENO, text, n);
        if (written <= 0)
            return;
        text += written;
        n -= (size_t)written;
    }
}

static void on_tick(int number)
{
    static const char words[] = "\rworking, ";
    char digits[16];
    size_t at = sizeof digits;
    (void)number;
    seconds++;
    for (int left = seconds; left > 0 && at > 0; left /= 10)
        digits[--at] = (char)('0' + left % 10);
    put(words, sizeof words - 1);
    put(digits + at, sizeof digits - at);
    put(" s", 2);
}

static void set(int period, void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    const struct itimerval timer = {{period, 0}, {period, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

void sp_start_ticker(void)
{
    if (isatty(STDERR_FILENO))
        set(1, on_tick);
}

void sp_stop_ticker(void)
{
    static const char blank[] = "\r                        \r";
    if (!isatty(STDERR_FILENO))
        return;
    set(0, SIG_DFL);
    if (seconds > 0)
        put(blank, sizeof blank - 1);
    seconds = 0;
}
