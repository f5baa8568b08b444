/* Reads the output of a cluster's tools about a node. */
#include "config/node.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "base/text.h"

/* The next word of a line, skipping colour codes; false at the line's end. */
static bool next_word(const char **line, char *word, size_t size)
{
    const char *at = *line;
    size_t n = 0;
    while (*at && *at != '\n') {
        if (*at == '\033') { /* ESC [ digits m: nvidia-smi underlines its header */
            at += strcspn(at, "m\n");
            at += *at == 'm';
        } else if (isspace((unsigned char)*at)) {
            if (n > 0)
                break;
            at++;
        } else {
            if (n + 1 < size)
                word[n++] = *at;
            at++;
        }
    }
    word[n] = '\0';
    *line = at;
    return n > 0;
}

static const char *next_line(const char *text)
{
    text += strcspn(text, "\n");
    return *text ? text + 1 : text;
}

/* "GPU12": a GPU, or 0 beyond its digits. */
static bool is_gpu(const char *word)
{
    return strncmp(word, "GPU", 3) == 0 && isdigit((unsigned char)word[3]);
}

/* A count in a word: digits, at most a million. */
static int count_of(const char *digits)
{
    const long n = strtol(digits, NULL, 10);
    return n < 0 || n > 1000000 ? 1000000 : (int)n;
}

/* The header of a topology is the line whose first word is the first column, "GPU0", and whose
 * second word is not a cell. */
static const char *find_header(const char *text)
{
    for (; *text; text = next_line(text)) {
        char first[64] = "", second[64] = "";
        const char *line = text;
        if (next_word(&line, first, sizeof first) && strcmp(first, "GPU0") == 0)
            return !next_word(&line, second, sizeof second) || strcmp(second, "X") != 0 ? text
                                                                                        : NULL;
    }
    return NULL;
}

bool sp_is_topology(const char *text)
{
    return find_header(text) != NULL;
}

bool sp_is_node_list(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return strncmp(text, "NodeName=", 9) == 0;
}

enum { MOST_COLUMNS = 128 };

struct columns {
    int n, gpus;
    bool gpu[MOST_COLUMNS], near[MOST_COLUMNS]; /* near: a card next to a GPU */
};

static bool read_header(const char *line, const char *path, struct columns *columns,
                        struct sp_error *error)
{
    char word[64] = "";
    while (next_word(&line, word, sizeof word) && strcmp(word, "CPU") != 0) {
        if (columns->n == MOST_COLUMNS)
            return sp_fail(error, SP_INPUT, "%s: more than %d columns", sp_safe(path),
                           MOST_COLUMNS);
        columns->gpus += is_gpu(word);
        columns->gpu[columns->n++] = is_gpu(word);
    }
    return true;
}

/* The links of a GPU's row. */
static bool read_row(const char *line, const char *gpu, const char *path, struct columns *columns,
                     struct sp_node *row, struct sp_error *error)
{
    char cell[64] = "";
    *row = (struct sp_node){0};
    for (int i = 0; i < columns->n; i++) {
        if (!next_word(&line, cell, sizeof cell))
            return sp_fail(error, SP_INPUT, "%s: the row of %s has %d cells; the header has %d",
                           sp_safe(path), gpu, i, columns->n);
        const int links = strncmp(cell, "NV", 2) == 0 ? count_of(cell + 2) : 0;
        if (columns->gpu[i] && links > 0) {
            row->peers++;
            row->links += links;
            row->to_peer = links;
        }
        /* at most PCIe switches lie between */
        const bool near = strcmp(cell, "PIX") == 0 || strcmp(cell, "PXB") == 0;
        columns->near[i] = columns->near[i] || (near && !columns->gpu[i]);
    }
    return true;
}

static int count_cards(const struct columns *columns)
{
    int all = 0, near = 0;
    for (int i = 0; i < columns->n; i++) {
        all += !columns->gpu[i];
        near += columns->near[i];
    }
    return near > 0 ? near : all;
}

bool sp_read_topology(const char *text, const char *path, struct sp_node *node,
                      struct sp_error *error)
{
    struct columns columns = {0};
    struct sp_node row;
    char word[64] = "";
    const char *line = find_header(text);
    int rows = 0;
    if (!line || !read_header(line, path, &columns, error))
        return error->lines > 0 ? false
                                : sp_fail(error, SP_INPUT, "%s: no topology", sp_safe(path));
    for (line = next_line(line); *line; line = next_line(line)) {
        const char *cells = line;
        if (!next_word(&cells, word, sizeof word) || !is_gpu(word))
            continue;
        if (!read_row(cells, word, path, &columns, &row, error))
            return false;
        if (rows++ == 0) {
            node->peers = row.peers;
            node->links = row.links;
            node->to_peer = row.to_peer;
        } else if (row.peers != node->peers || row.links != node->links) {
            return sp_fail(
                error, SP_INPUT,
                "%s: %s has %d NVLinks to %d GPUs, GPU0 has %d to %d: all devices must be alike",
                sp_safe(path), word, row.links, row.peers, node->links, node->peers);
        }
    }
    if (rows != columns.gpus)
        return sp_fail(error, SP_INPUT, "%s: rows of %d GPUs; the header has %d", sp_safe(path),
                       rows, columns.gpus);
    if (node->devices > 0 && node->devices != rows)
        return sp_fail(error, SP_INPUT, "%s: %d GPUs; Slurm has %d per node", sp_safe(path), rows,
                       node->devices);
    node->devices = rows;
    node->cards = count_cards(&columns);
    return true;
}

/* One NODE: "Key=value" words up to the next NodeName. */
struct record {
    char device[64];
    int devices;
    double memory_bytes;
    bool down;
};

/* "gpu:h100:8(S:0-1),nic:2": the first GPUs of a list of Gres. */
static void read_gres(const char *text, struct record *record)
{
    const char *gpu = strstr(text, "gpu:");
    if (!gpu || record->devices > 0)
        return;
    gpu += 4;
    if (!isdigit((unsigned char)*gpu)) {
        const size_t n = strcspn(gpu, ":,(");
        snprintf(record->device, sizeof record->device, "%.*s", (int)n, gpu);
        gpu += n + (gpu[n] == ':');
    }
    record->devices = isdigit((unsigned char)*gpu) ? count_of(gpu) : 1;
}

static void read_word(const char *word, struct record *record)
{
    if (strncmp(word, "Gres=", 5) == 0)
        read_gres(word + 5, record);
    else if (strncmp(word, "RealMemory=", 11) == 0)
        record->memory_bytes = strtod(word + 11, NULL) * 1048576; /* Slurm counts in MiB */
    else if (strncmp(word, "State=", 6) == 0)
        record->down = strstr(word, "DOWN") || strstr(word, "DRAIN") || strstr(word, "FAIL");
}

/* Takes a node's record. Nodes without GPUs, such as those that users log in to, are skipped.
 */
static bool take_record(const struct record *record, const char *path, struct sp_node *node,
                        struct sp_error *error)
{
    if (record->devices == 0)
        return true;
    node->nodes++;
    node->down += record->down;
    if (node->devices == 0)
        node->devices = record->devices;
    if (node->device[0] == '\0')
        snprintf(node->device, sizeof node->device, "%s", record->device);
    if (node->devices != record->devices || strcmp(node->device, record->device) != 0)
        return sp_fail(error, SP_INPUT,
                       "%s: nodes of %d x %s and of %d x %s: give nodes of one kind", sp_safe(path),
                       node->devices, sp_safe(node->device), record->devices,
                       sp_safe(record->device));
    /* the smallest one counts: a plan runs on all of them */
    if (node->memory_bytes == 0 || record->memory_bytes < node->memory_bytes)
        node->memory_bytes = record->memory_bytes;
    return true;
}

bool sp_read_node_list(const char *text, const char *path, struct sp_node *node,
                       struct sp_error *error)
{
    struct record record = {0};
    char word[4096];
    for (; *text; text = next_line(text)) {
        for (const char *line = text; next_word(&line, word, sizeof word);) {
            if (strncmp(word, "NodeName=", 9) != 0) {
                read_word(word, &record);
                continue;
            }
            if (!take_record(&record, path, node, error))
                return false;
            record = (struct record){0};
        }
    }
    if (!take_record(&record, path, node, error))
        return false;
    return node->nodes > 0 ||
           sp_fail(error, SP_INPUT, "%s: no node has Gres=gpu:...", sp_safe(path));
}
