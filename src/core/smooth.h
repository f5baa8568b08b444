/* A maximum without a corner. */
#ifndef SP_SMOOTH_H
#define SP_SMOOTH_H

/* A smooth maximum, (a^4 + b^4)^(1/4): continuous, monotone, never below either. */
double sp_smooth_max(double a, double b);

#endif
