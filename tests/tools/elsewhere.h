/* Errors of the estimate on runs of a further file, none of which any fit has seen. */
#ifndef SP_ELSEWHERE_H
#define SP_ELSEWHERE_H

#include "study.h"

/* Prints the errors of a file's runs by tier, publication and run: each with the fit of `study`
 * without the runs of its own publication, where the study has some. `fitted` is the fit to all of
 * it. False: the file cannot be read. */
bool sp_print_elsewhere(const struct sp_study *study, const struct sp_profile *fitted,
                        const char *path);

/* The runs with the largest errors, predicted over measured, one line per configuration. */
void sp_print_worst(const struct sp_study *study, const double *log_errors);

#endif
