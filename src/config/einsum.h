/* Einsums as text: ij,jk->ik. */
#ifndef SP_EINSUM_H
#define SP_EINSUM_H

#include <stdbool.h>

#include <scaleplan/flops.h>

#include "base/error.h"

/* FLOPs and bytes of "ij,jk->ik" with sizes "i=2,j=3": twice the product of all sizes; operands and
 * output once. */
bool sp_read_einsum(const char *spec, const char *dims, struct sp_operands types,
                    struct sp_work *work, struct sp_error *error);

#endif
