/* Reads what nccl-tests and rccl-tests print. */
#include "runs/nccl_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MOST_COLUMNS = 32, WORD = 64, MOST_HOSTS = 4096 };

/* A text being read: the test that its lines are of. */
struct reading {
    const char *path;
    int line;
    enum sp_collective op, given;
    double ranks;
    char (*hosts)[WORD]; /* seen, MOST_HOSTS at most */
    size_t n_hosts;
    int size, time; /* columns; -1: no header yet */
};

struct words {
    char at[MOST_COLUMNS][WORD];
    int n;
};

static struct words words_of(const char *line, size_t length)
{
    struct words w = {.n = 0};
    size_t i = 0;
    while (i < length && w.n < MOST_COLUMNS) {
        size_t end;
        i += strspn(line + i, " \t\r#");
        for (end = i; end < length && !strchr(" \t\r\n", line[end]);)
            end++;
        if (end == i || i >= length)
            break;
        snprintf(w.at[w.n++], WORD, "%.*s", (int)(end - i), line + i);
        i = end;
    }
    return w;
}

static int find(const struct words *w, const char *word)
{
    for (int i = 0; i < w->n; i++)
        if (strcmp(w->at[i], word) == 0)
            return i;
    return -1;
}

bool sp_is_nccl_output(const char *text)
{
    return strstr(text, "# nThread ") || strstr(text, "#nThread ");
}

/* "all_reduce_perf", with a folder before and a suffix after. */
static enum sp_collective op_of(const char *program)
{
    static const char *const names[SP_COLLECTIVES] = {"all_gather", "reduce_scatter", "all_reduce",
                                                      "alltoall"};
    int op = 0;
    while (op < SP_COLLECTIVES && !strstr(program, names[op]))
        op++;
    return strstr(program, "alltoallv") ? SP_COLLECTIVES : (enum sp_collective)op;
}

static void add_host(struct reading *r, const char *host)
{
    for (size_t i = 0; i < r->n_hosts; i++)
        if (strcmp(r->hosts[i], host) == 0)
            return;
    if (r->n_hosts < MOST_HOSTS)
        snprintf(r->hosts[r->n_hosts++], WORD, "%s", host);
}

/* "Rank 0 Group 0 Pid 17 on host device 0 ...": other groups run the same at the same time as the
 * first. */
static void read_rank(struct reading *r, const struct words *w)
{
    const int group = find(w, "Group"), on = find(w, "on");
    if (on < 0 || on + 1 >= w->n)
        return;
    if (group >= 0 && (group + 1 >= w->n || strcmp(w->at[group + 1], "0") != 0))
        return;
    r->ranks++;
    add_host(r, w->at[on + 1]);
}

/* Lines of parameters, ranks and headings. False: the test is of no known operation. */
static bool read_comment(struct reading *r, const struct words *w, struct sp_error *error)
{
    const int start = find(w, "starting:"), time = find(w, "time");
    if (start >= 0 && start + 1 < w->n) {
        r->op = op_of(w->at[start + 1]);
        if (r->op == SP_COLLECTIVES)
            return sp_fail(error, SP_INPUT,
                           "%s:%d: a test of %s: expected all_gather, reduce_scatter, all_reduce "
                           "or alltoall",
                           r->path, r->line, sp_safe(w->at[start + 1]));
    } else if (find(w, "nThread") == 0) {
        r->ranks = 0;
        r->n_hosts = 0;
        r->size = r->time = -1;
    } else if (find(w, "Rank") == 0) {
        read_rank(r, w);
    } else if (find(w, "concluded:") >= 0) {
        r->op = r->given;
    } else if (find(w, "size") >= 0 && (time >= 0 || find(w, "cputime") >= 0)) {
        r->size = find(w, "size");
        r->time = time >= 0 ? time : find(w, "cputime");
    }
    return true;
}

static bool is_number(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*value);
}

/* A line of results; other lines between them are ignored. */
static bool read_result(const struct reading *r, const struct words *w, struct sp_nccl_times *times,
                        struct sp_error *error)
{
    double bytes, us;
    if (r->time < 0 || r->time >= w->n || r->size >= w->n || !is_number(w->at[r->size], &bytes) ||
        !is_number(w->at[r->time], &us) || bytes <= 0 || us <= 0)
        return true;
    if (r->op == SP_COLLECTIVES)
        return sp_fail(error, SP_INPUT, "%s:%d: the operation is not given: use --op", r->path,
                       r->line);
    if (r->ranks < 2)
        return sp_fail(error, SP_INPUT,
                       "%s:%d: expected lines of at least two ranks (\"#  Rank  0 ... on HOST\") "
                       "before the results",
                       r->path, r->line);
    times->of = sp_grow(times->of, times->n + 1, &times->room, sizeof *times->of);
    times->of[times->n++] = (struct sp_nccl_time){.op = r->op,
                                                  .ranks = r->ranks,
                                                  .hosts = (double)r->n_hosts,
                                                  .bytes = bytes,
                                                  .time_s = us / 1e6};
    return true;
}

bool sp_read_nccl_times(const char *text, const char *path, enum sp_collective op,
                        struct sp_nccl_times *times, struct sp_error *error)
{
    struct reading r = {.path = path, .op = op, .given = op, .size = -1, .time = -1};
    bool ok = true;
    *times = (struct sp_nccl_times){0};
    r.hosts = sp_must(calloc(MOST_HOSTS, sizeof *r.hosts));
    for (const char *line = text; ok && *line;) {
        const size_t length = strcspn(line, "\n");
        const struct words w = words_of(line, length);
        r.line++;
        ok = line[strspn(line, " \t")] == '#' ? read_comment(&r, &w, error)
                                              : read_result(&r, &w, times, error);
        line += length + (line[length] == '\n');
    }
    free(r.hosts);
    if (ok && times->n == 0)
        ok = sp_fail(error, SP_INPUT,
                     "%s: no results, such as \"1048576 262144 float sum -1 35.2 29.8 52.1 0\"",
                     path);
    return ok;
}
