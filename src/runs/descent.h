/* The least value of a smooth function of a few numbers. */
#ifndef SP_DESCENT_H
#define SP_DESCENT_H

enum { SP_MOST_DESCENT = 8 };

/* A function of n numbers, at most SP_MOST_DESCENT, each between its bounds. */
struct sp_descent {
    int n;
    double (*cost)(const double *x, void *context);
    void *context;
    double low[SP_MOST_DESCENT], high[SP_MOST_DESCENT];
};

/* Moves x to a minimum nearby and returns the cost there: steps along each number, and along each
 * pair of them, halved from 0.5 to 1e-5 while none gains. Deterministic. */
double sp_descend(const struct sp_descent *descent, double *x);

#endif
