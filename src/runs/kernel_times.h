/* Matmuls and attention that were measured alone, and the curves of a chip fitted to them. */
#ifndef SP_KERNEL_TIMES_H
#define SP_KERNEL_TIMES_H

#include <stddef.h>

#include "config/load.h"

enum sp_kernel_op { SP_MATMUL_TIME, SP_ATTENTION_TIME, SP_KERNEL_OPS };

/* The words of the columns dtype and op. */
extern const char *const sp_kernel_format_names[SP_KERNEL_FORMATS];
extern const char *const sp_kernel_op_names[SP_KERNEL_OPS];

/* A measured kernel: [m, k] x [k, n], or heads, head width and sequence of causal attention. */
struct sp_kernel_time {
    enum sp_kernel_op op;
    int format; /* enum sp_kernel_format */
    double size[3];
    double time_s;
};
struct sp_kernel_times {
    struct sp_kernel_time *of;
    size_t n;
};

/* Whether a file's text is a table of such times: columns op, dtype and time_s. */
bool sp_is_kernel_times(const char *text);

/* Reads rows with op `matmul` (m, n, k) or `attention` (heads, head_dim, seq), a dtype of
 * configs/kernels, and time_s. False with an error where one cannot be read. free() `of`. */
bool sp_read_kernel_times(const char *text, const char *origin, struct sp_kernel_times *times,
                          struct sp_error *error);

/* A curve before and after: mean |ln(curve / measured)|, NAN where there was none. */
struct sp_fitted_kernel {
    enum sp_kernel_op op;
    int format;
    double share, rows, before, after;
};
struct sp_kernel_fit {
    struct sp_kernels kernels; /* the chip's, with the fitted curves in place of its own */
    struct sp_fitted_kernel of[SP_KERNEL_OPS * SP_KERNEL_FORMATS];
    int n;
};

/* Fits each curve that has times, from the chip's own constants or usual ones. */
void sp_fit_kernels(const struct sp_hardware *hw, const struct sp_kernel_times *times,
                    struct sp_kernel_fit *fit);

/* The curves as a file of configs/kernels; free() it. */
char *sp_kernels_text(const struct sp_kernels *kernels, const char *name, const char *source);

#endif
