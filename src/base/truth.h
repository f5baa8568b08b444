/* Words for true and false, as Python's readers take them. */
#ifndef SP_TRUTH_H
#define SP_TRUTH_H

#include <stdbool.h>

/* What a word of YAML without quotes is by version 1.1, which PyYAML reads: 1 true, 0 false, -1 no
 * boolean. yes, no, on, off, true and false in lower, Title and UPPER case; y and n, which 1.1
 * lists too, are text to PyYAML. */
int sp_yaml_truth(const char *text);

/* The same of the value of a switch, in any case, with the letters and digits that the parsers of
 * arguments take beside: string_to_bool of transformers, str_to_bool of accelerate. */
int sp_truth(const char *text);

/* A word of YAML as its reader gives it on: "true" or "false" for a boolean, else itself. */
const char *sp_yaml_word(const char *text, bool quoted);

#endif
