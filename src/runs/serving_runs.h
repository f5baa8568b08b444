/* Measured serving runs: rows of a CSV file as an instance, its requests and its measurements. */
#ifndef SP_SERVING_RUNS_H
#define SP_SERVING_RUNS_H

#include <scaleplan/serve_estimate.h>

#include "base/csv_table.h"
#include "config/load.h"

/* The measurements of a row. NAN: not stated. */
enum sp_serving_measure {
    SP_MEASURED_TPOT,
    SP_MEASURED_TTFT,
    SP_MEASURED_RATE,
    SP_SERVING_MEASURES
};
extern const char *const sp_serving_measure_names[SP_SERVING_MEASURES];

struct sp_serving_run {
    char id[128], model_name[64], engine_name[64], hardware[64];
    char source[128];
    char group[160]; /* a configuration: everything except the number of requests in flight */
    struct sp_service service; /* points into the lists of sp_serving_runs */
    struct sp_pass pass;       /* prepared, without constants */
    struct sp_pass *reader;    /* with pools the instance that prefills; NULL: no pools */
    struct sp_requests requests;
    const struct sp_engine *engine;
    double measured[SP_SERVING_MEASURES]; /* s, s, tokens/s generated */
    bool scored; /* the source states all that a prediction needs, and no cap makes requests wait */
    bool waits;  /* requests waited for a place */
    char why[96];      /* the reason in its source why it does not count; "": none */
    char problem[160]; /* why it cannot be predicted; "" when it can */
};

struct sp_serving_runs {
    struct sp_serving_run *run;
    size_t n;
    struct sp_csv csv;
    void *loaded; /* models, machines and engines that rows point to */
};

/* Whether the header of a CSV has the columns of serving runs, isl and osl. */
bool sp_is_serving_csv(const struct sp_csv *csv);

/* Reads a CSV of serving runs with the columns of docs/runs.md. A row without the facts that a
 * prediction needs gets a `problem`. */
bool sp_read_serving_runs(const char *path, const struct sp_sources *sources,
                          struct sp_serving_runs *runs, struct sp_error *error);
void sp_serving_runs_free(struct sp_serving_runs *runs);

/* The estimates of a run without a problem: by sp_serving_measure, and in full. */
double sp_predict_serving(const struct sp_serving_run *run, const double *constants,
                          enum sp_serving_measure measure);
struct sp_serve_estimate sp_estimate_serving_run(const struct sp_serving_run *run,
                                                 const double *constants);

#endif
