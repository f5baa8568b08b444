/* What the fuzz targets share. Each defines LLVMFuzzerTestOneInput; libFuzzer's main, or replay.c's
 * for builds without it, calls it. */
#ifndef SP_FUZZ_H
#define SP_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A path under which the bytes can be read; always the same file, in memory. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* The bytes with a NUL at the end; zero bytes become '0'. Valid until the next call. */
char *fuzz_text(const uint8_t *data, size_t size);

/* Splits text in place at newlines; returns how many parts, at most `most`. */
int fuzz_lines(char *text, char **part, int most);

/* Runs a command line (words[0] is the command) and aborts unless it is refused with an error, or
 * answers with strict JSON, text and CSV that hold no NaN or infinity. */
void fuzz_command(int n, char **words);

/* Aborts when `ok` contradicts the error. */
void fuzz_expect(bool ok, const struct sp_error *error);

/* Aborts on NaN or infinity. */
void fuzz_finite(double value);

#endif
