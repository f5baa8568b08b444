/* Arithmetic of the shell, $(( ... )). */
#ifndef SP_LAUNCH_SHELL_ARITHMETIC_H
#define SP_LAUNCH_SHELL_ARITHMETIC_H

#include <stdint.h>

#include "launch/shell/state.h"

enum sp_shell_number { SP_NUMBER, SP_NUMBER_UNKNOWN, SP_NO_NUMBER };

/* The reason why an expression has no value: a mark in it, or (NULL) a name without a value. */
struct sp_shell_missing {
    const char *mark;
    char name[64];
};

/* The value of an expression whose $ are filled in: whole numbers, names, + - * / % **,
 * comparisons, && || !, ?: and parentheses. SP_NUMBER_UNKNOWN: the name `missing` is not known;
 * SP_NO_NUMBER: not an expression, a division by zero, or more than 64 bits. */
enum sp_shell_number sp_shell_calculate(const char *expression, const struct sp_shell_scope *scope,
                                        int64_t *value, struct sp_shell_missing *missing);

/* Where an expression may give names values: `=`, `+=`, `++` and similar. An unknown value leaves
 * its name unknown, at that line. */
struct sp_shell_writer {
    struct sp_shell_scope *scope;
    struct sp_shell_text *text;
    int line;
};

/* The same of an expression that may change names. */
enum sp_shell_number sp_shell_run_sum(const char *expression, const struct sp_shell_writer *writer,
                                      int64_t *value, struct sp_shell_missing *missing);

#endif
