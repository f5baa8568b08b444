/*
 * scaleplan: analytic models of large-model training.
 *
 * Include this header for everything, or one of the headers below for one subject. All of them are
 * pure functions over plain structs: no allocation, no I/O, no globals. Every quantity is in SI
 * base units (bytes, FLOPs, seconds, tokens) and carries its unit in its name. NAN stands for "not
 * published" in an input and for "has no meaning here" in a result.
 *
 *   model.h      the shape of a model, its parameters and its activations
 *   hardware.h   chips, networks, slices and their legal sizes
 *   chip.h       what follows from them: units, ridge points, sums, bisection, switches
 *   precision.h  bytes of training state per parameter
 *   scaling_law.h  what a compute budget buys: size, tokens, loss; steps against batch
 *   learning_rate.h  warmup and decay, Adam's corrections, clipping, effective batch
 *   plan.h       one explicit plan, its validity, where its layers go
 *   plan_memory.h  its bytes on each device
 *   step.h       its time, by component; software.h the frameworks and calibrated profiles behind
 * it strategy.h   the closed forms behind `scaleplan fit`
 */
#ifndef SCALEPLAN_SCALEPLAN_H
#define SCALEPLAN_SCALEPLAN_H

#include <scaleplan/chip.h>
#include <scaleplan/collective.h>
#include <scaleplan/critical.h>
#include <scaleplan/flops.h>
#include <scaleplan/footprint.h>
#include <scaleplan/hardware.h>
#include <scaleplan/learning_rate.h>
#include <scaleplan/model.h>
#include <scaleplan/pipeline.h>
#include <scaleplan/plan.h>
#include <scaleplan/plan_memory.h>
#include <scaleplan/precision.h>
#include <scaleplan/scaling_law.h>
#include <scaleplan/roofline.h>
#include <scaleplan/sharding.h>
#include <scaleplan/software.h>
#include <scaleplan/statistics.h>
#include <scaleplan/step.h>
#include <scaleplan/strategy.h>
#include <scaleplan/training_run.h>

#endif
