/* Measured serving runs: each row of a CSV file as instance, requests and measurements. */
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
    char group[160]; /* a configuration: all columns except the number of requests in flight */
    struct sp_service service; /* points into the lists of sp_serving_runs */
    struct sp_pass pass;       /* prepared, without constants */
    struct sp_pass *reader;    /* prefill instance; NULL: no pools */
    struct sp_requests requests;
    const struct sp_engine *engine;
    double measured[SP_SERVING_MEASURES]; /* s, s, tokens/s generated */
    bool scored;       /* the source states everything that a prediction needs, and no limit queues
                          requests */
    bool waits;        /* requests were queued */
    char why[96];      /* why it does not count, from its source; "": it counts */
    char problem[160]; /* why it cannot be predicted; "" if it can */
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

/* Predicts a run without a problem. */
struct sp_serve_estimate sp_estimate_serving_run(const struct sp_serving_run *run,
                                                 const double *constants);

#endif
