/* Words for true and false, as Python's readers take them. */
#ifndef SP_TRUTH_H
#define SP_TRUTH_H

#include <stdbool.h>

/* The value of a YAML word without quotes by version 1.1, as PyYAML reads it: 1 true, 0 false, -1
 * not a boolean. yes, no, on, off, true and false in lower, Title and UPPER case; y and n, which
 * 1.1 also lists, are text to PyYAML. */
int sp_yaml_truth(const char *text);

/* The same for the value of a switch, in any case, with the letters and digits that argument
 * parsers also accept: string_to_bool of transformers, str_to_bool of accelerate. */
int sp_truth(const char *text);

/* A YAML word as its reader passes it on: "true" or "false" for a boolean, else unchanged. */
const char *sp_yaml_word(const char *text, bool quoted);

#endif
