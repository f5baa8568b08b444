/* Exercise cases as data: a command line, what it must answer, and how exactly. */
#ifndef SP_CASES_H
#define SP_CASES_H

#include "error.h"
#include "json.h"

enum { SP_CASE_MAX_ARGS = 64, SP_CASE_MAX_EXPECT = 64 };

/* One case, pointing into its document. */
struct sp_case {
    const char *id, *question, *source, *note;
    const char *args[SP_CASE_MAX_ARGS];
    int n_args;
    const cJSON *expect; /* object: key -> number, text, true, false or null */
    double rel_tol;      /* 0: exact, up to the last digits of a double (1e-9) */
};

/* Reads member number `index` of the array in `json`. */
bool sp_read_case(const struct sp_json *json, int index, struct sp_case *out,
                  struct sp_error *error);

#endif
