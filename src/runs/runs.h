/* Measured training runs: each row of a CSV file as model, machine, plan and measurement. */
#ifndef SP_RUNS_H
#define SP_RUNS_H

#include "base/csv_table.h"
#include "config/load.h"

enum sp_memory_level { SP_LIVE, SP_RESERVED, SP_DEVICE, SP_CLOSED_FORM, SP_NO_LEVEL };
extern const char *const sp_memory_level_names[SP_NO_LEVEL];

struct sp_run {
    char id[64], source[128], hardware[64], model_name[64], tier[16], scoring[64], group[64];
    struct sp_model model;
    struct sp_hardware hw;
    char chip[64];   /* name of the chip's file */
    char family[64]; /* chip whose profiles are used if it has none */
    int64_t devices_per_node;
    bool own_network; /* the row states the network of its nodes; stored in hw */
    bool own_domain;  /* it uses a part of each domain; stored in hw */
    struct sp_plan plan;
    struct sp_precision precision;
    struct sp_framework_file framework;
    bool recompute_stated;
    double step_s;       /* measured; NAN: not stated */
    double memory_bytes; /* measured peak; NAN: not stated */
    enum sp_memory_level level;
    int64_t stage;     /* whose memory was measured; -1: the fullest stage's */
    bool scored;       /* the source states everything that a prediction needs */
    char problem[192]; /* why it cannot be predicted; "" if it can */
    char note[160];    /* a remark on a run that can be predicted; or "" */
};

struct sp_runs {
    struct sp_run *run; /* NULL where rows are read one by one */
    size_t n;
    struct sp_csv csv;            /* the file, for grouping by any column */
    struct sp_run_loaded *loaded; /* objects that rows share: frameworks, chips, precisions */
};

/* Reads a CSV of runs with the columns of docs/runs.md; unknown columns are ignored. A row without
 * the facts that a prediction needs, or with an unreadable word or number, gets a `problem`. */
bool sp_read_runs(const char *path, const struct sp_sources *sources, struct sp_runs *runs,
                  struct sp_error *error);

/* The same in two parts, since a run takes twenty times the room of its row: the file, and then
 * any row of it. */
bool sp_open_runs(const char *path, const struct sp_sources *sources, struct sp_runs *runs,
                  struct sp_error *error);
bool sp_read_run(const struct sp_runs *runs, size_t row, struct sp_run *run,
                 struct sp_error *error);

/* The configuration that a row repeats, as in `group` of its run. */
enum { SP_RUN_GROUP = sizeof((struct sp_run *)0)->group };
void sp_group_of_row(const struct sp_runs *runs, size_t row, char group[SP_RUN_GROUP]);

void sp_runs_free(struct sp_runs *runs);

#endif
