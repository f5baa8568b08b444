/* Where a command writes. */
#ifndef SP_OUTPUT_H
#define SP_OUTPUT_H

#include <stdio.h>

/* Where answers go, and where messages do. */
struct sp_output {
    FILE *out, *notes;
};

#endif
