/* A line on the terminal while the program works for longer than a second. */
#ifndef SP_TICKER_H
#define SP_TICKER_H

/* From now on standard error, where it is a terminal, shows each second how long the program has
 * worked. */
void sp_start_ticker(void);

/* Ends that and clears the line. */
void sp_stop_ticker(void);

#endif
