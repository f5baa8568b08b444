/* Einsums as text: ij,jk->ik. */
#ifndef SP_EINSUM_H
#define SP_EINSUM_H

#include <stdbool.h>

#include <scaleplan/flops.h>

#include "base/error.h"

/* FLOPs and bytes of "ij,jk->ik" with the sizes of its letters, "i=2,j=3": twice the product of all
 * sizes, and its operands and output once. */
bool sp_read_einsum(const char *spec, const char *dims, struct sp_operands types,
                    struct sp_work *work, struct sp_error *error);

#endif
