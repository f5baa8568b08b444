/* The program on a command line. */
#include "cli/program.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

int main(int argc, char **argv)
{
#ifdef __GLIBC__
    /* Arrays of a large file grow in place and leave no holes; otherwise each freed array raises
     * the limit below which the next ones are copied. Memory that a search frees is soon needed
     * again: returning it to the system each time takes half of a search for exportable plans. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
    struct sp_world world = {0};
    const struct sp_output to = {stdout, stderr};
    const int code = sp_run_program(argc, argv, &world, &to);
    sp_free_world(&world);
    return code;
}
