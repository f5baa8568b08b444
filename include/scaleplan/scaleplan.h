/*
 * scaleplan: analytic models of large-model training.
 *
 * Include this header for everything, or one of the headers below for one subject. All of them are
 * pure functions over plain structs: no allocation, no I/O, no globals, so that any thread may call
 * them. Every quantity is in SI base units (bytes, FLOPs, seconds, tokens) and carries its unit in
 * its name. NAN stands for "not published" in an input and for "has no meaning here" in a result.
 * The library follows semantic versioning; its soname carries major and minor before 1.0.
 *
 * Facts
 *   model.h          the shape of a model, its parameters and its activations
 *   layer.h          the matmuls, weights and activations of its layers, from which all follows
 *   hardware.h       chips, networks, slices and their legal sizes
 *   kernels.h        what a chip's kernels and collectives were measured to reach
 *   number_format.h  range, precision and bytes of a number
 *   precision.h      bytes of training state per parameter
 *   range.h          how far a measurement may lie from an estimate
 *   software.h       frameworks and calibrated profiles
 *   names.h          the words for all of these
 * Closed forms
 *   forms.h          formulas that are one expression, each with its text, symbols and source
 *   chip.h           what follows from a machine: ridge points, sums, bisection, switches
 *   flops.h          FLOPs of operators, layers, steps
 *   activations.h    bytes of a model in training, by part
 *   roofline.h       compute or memory, which limits
 *   collective.h     time of collectives on tori and switches
 *   sharding.h       what a sharded product communicates
 *   critical.h       batch sizes at which communication hides
 *   fit.h            the verdicts behind `scaleplan fit`
 *   pipeline.h       schedules, closed and played event by event
 *   training_run.h   days, energy, cost, failures of a run
 *   scaling_law.h    what a compute budget buys
 *   trend.h          what grows by a factor a year: compute, algorithms, memories
 *   storage.h        drives that feed a run and hold its checkpoints
 *   time_to_loss.h   how soon and for how much a machine reaches a loss
 *   learning_rate.h  warmup and decay, Adam's corrections, clipping, effective batch
 *   need.h           what a figure of a machine would have to be for a goal
 *   statistics.h     errors of predictions
 * The estimator
 *   plan.h           one explicit plan, its validity, where its layers go
 *   plan_fields.h    its fields as a table: names, ranges, places in the struct
 *   plan_memory.h    its bytes on each device
 *   memory_course.h  what a device holds over a step, the first one and those after it
 *   step.h           its time, by component
 *   buckets.h        gradients that are reduced beside the backward pass
 *   health.h         shares of communication and idleness in a step, against their rules
 *   estimate.h       all that the models say of one plan: time, memory, MFU, odds of running out
 *   companions.h     models that work forward beside the one that is trained
 *   neighbours.h     plans one change away, and the changes that make a plan fit
 *   search.h         the best of all plans, proven
 *   serve.h          a model that answers requests: weights, cache, prefill, decode, pools, cost
 *   serve_estimate.h what an engine on measured chips makes of it: TTFT, TPOT, throughput
 */
#ifndef SCALEPLAN_SCALEPLAN_H
#define SCALEPLAN_SCALEPLAN_H

#include <scaleplan/activations.h>
#include <scaleplan/buckets.h>
#include <scaleplan/chip.h>
#include <scaleplan/collective.h>
#include <scaleplan/companions.h>
#include <scaleplan/critical.h>
#include <scaleplan/estimate.h>
#include <scaleplan/flops.h>
#include <scaleplan/hardware.h>
#include <scaleplan/health.h>
#include <scaleplan/kernels.h>
#include <scaleplan/layer.h>
#include <scaleplan/learning_rate.h>
#include <scaleplan/memory_course.h>
#include <scaleplan/model.h>
#include <scaleplan/names.h>
#include <scaleplan/need.h>
#include <scaleplan/neighbours.h>
#include <scaleplan/number_format.h>
#include <scaleplan/pipeline.h>
#include <scaleplan/plan.h>
#include <scaleplan/plan_fields.h>
#include <scaleplan/plan_memory.h>
#include <scaleplan/precision.h>
#include <scaleplan/roofline.h>
#include <scaleplan/scaling_law.h>
#include <scaleplan/search.h>
#include <scaleplan/serve.h>
#include <scaleplan/serve_estimate.h>
#include <scaleplan/sharding.h>
#include <scaleplan/range.h>
#include <scaleplan/software.h>
#include <scaleplan/statistics.h>
#include <scaleplan/step.h>
#include <scaleplan/fit.h>
#include <scaleplan/forms.h>
#include <scaleplan/storage.h>
#include <scaleplan/time_to_loss.h>
#include <scaleplan/training_run.h>
#include <scaleplan/trend.h>

#endif
