/* A second implementation, slow and obvious, which the library must agree with on random inputs.
 * Shared by its parts: a model as a list of tensors, random models and plans, and where the layers
 * go. */
#ifndef SP_OBVIOUS_H
#define SP_OBVIOUS_H

#include "../unit/check.h"

#include <stdlib.h>

#include <scaleplan/scaleplan.h>

/* One of the numbers listed. */
int64_t any(const int64_t *list, size_t n);
#define ANY(...)                                                                                   \
    any((const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Who shares a weight. */
enum share { ALL_HOLD_IT, OVER_TP, OVER_KV_HEADS, OVER_EXPERTS };

struct tensor {
    double rows, columns;
    enum share share;
    bool multiplies; /* a matmul: 2 FLOPs a weight for each token that passes */
    bool expert;     /* one of the routed experts */
    bool table;      /* rows are padded to the vocabulary's multiple */
    int layer;       /* -1: before the layers, L: after them */
};

struct listing {
    struct tensor at[20000];
    size_t n;
};

/* Every tensor of a model; those of one layer's attention or MLP are added to what is there. */
void list_model(const struct sp_model *m, struct listing *l);
void put_attention(struct listing *l, const struct sp_model *m, int layer);
void put_mlp(struct listing *l, const struct sp_model *m, int layer, double width, enum share share,
             bool bias);

/* Positions that a token of a sequence may attend to in a layer; between one token and the next the
 * count rises in a straight line. */
double reach(const struct sp_model *m, int layer, int token);

bool has_experts(const struct sp_model *m, int layer);

/* The first layer of a stage, and for `stage` == `stages` the number of layers: as many each as
 * possible, the first stages one more; where only L + 2 divides, the ends have one less. */
int first_layer(const struct sp_model *m, int64_t stages, int64_t stage);

/* The vocabulary up to the next multiple of 128 a TP rank. */
double padded(double vocab, double tp);

/* TP ranks that hold different parts of a weight: with fewer KV heads than ranks some hold the same
 * head. */
double sharers(const struct sp_model *m, const struct sp_plan *p, enum share share);

/* Parameters of the layers from `from` to before `to`, and of the ends beside them, on one device
 * that shards nothing over its replicas. */
void held_of(const struct sp_model *m, const struct sp_plan *p, int from, int to, double *dense,
             double *experts);

/* Micro-batches of the replica that has most sequences, one dealt after the other. */
int microbatches_of(const struct sp_plan *p);

/* When the last task of m micro-batches on p stages ends. Every task waits for the one before it on
 * its stage and for its input; times are found by going over all tasks until nothing moves. */
double played(bool gpipe, int p, int m, const double *forward, const double *backward);

/* A rate that makes its work free, and one so slow that waits do not count beside it. */
#define FREE 1e300
#define SLOW 1.0

/* All inputs of an estimate. */
struct world {
    struct sp_model m;
    struct sp_hardware hw;
    struct sp_plan p;
    struct sp_framework f;
    struct sp_profile profile;
    struct sp_precision precision;
};

struct sp_step_time estimate(const struct world *w);
double k(const struct world *w, enum sp_constant id);

/* Tokens of a micro-batch on one device. */
double tokens_of(const struct world *w);

/* Tokens that the experts of a rank compute over the mean: the tokens that the router sends to the
 * busiest, or a capacity. */
double load_of(const struct sp_plan *p);

/* Nothing takes any time: two axes that close, or nodes of 8. */
struct sp_hardware free_machine(bool torus, int64_t chips);

/* A random plan on a free machine, without launches or stragglers; false if it is not a plan. */
bool draw(struct world *w, bool torus, bool stages);

struct sp_model random_model(void);
struct sp_plan random_plan(const struct sp_model *m);

#endif
