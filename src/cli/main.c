/* The program on a command line. */
#include "cli/program.h"

int main(int argc, char **argv)
{
    struct sp_world world = {0};
    const struct sp_output to = {stdout, stderr};
    const int code = sp_run_program(argc, argv, &world, &to);
    sp_free_world(&world);
    return code;
}
