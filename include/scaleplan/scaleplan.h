/*
 * scaleplan: analytic models of large-model training and serving.
 *
 * Include this header for everything, or one of those below for one subject. All of them are pure
 * functions over plain structs: no allocation, no I/O, no globals, so that any thread may call
 * them. Every quantity is in SI base units (bytes, FLOPs, seconds, tokens) and carries its unit in
 * its name. NAN stands for "not published" in an input and for "has no meaning here" in a result.
 * Preconditions are checked in builds without NDEBUG, which stop at the call that breaks one.
 *
 * Start here. Most questions need one struct of facts and one call:
 *   model.h           struct sp_model, the shape of a model; sp_count_params
 *   machine.h         struct sp_hardware: chips, networks, slices; sp_aggregate, sp_ridge
 *   fit.h             struct sp_fit_input; sp_fit_best: can this machine train this model, and how
 *   plan.h            struct sp_plan, one explicit plan; sp_check_plan: is it valid
 *   estimate.h        struct sp_step_inputs; sp_estimate: time, memory and MFU of that plan
 *   search.h          sp_open_space, sp_search_group: the best of all plans
 *   serve.h           struct sp_service; sp_prepare_service, sp_decode_time: answering requests
 *
 * Then by subject. Facts:
 *   formats.h         number formats, and bytes of training state per parameter
 *   profile.h         habits of frameworks, calibrated constants, errors of predictions
 *   names.h           the words for all enums
 * Closed forms:
 *   forms.h           formulas of one expression, each with its text, symbols and source
 *   layer.h           the matmuls, weights and activations of a layer, from which all follows
 *   flops.h           FLOPs of operators, layers and steps; the roofline
 *   network.h         collectives on tori and switches, sharded products
 *   pipeline.h        schedules, in closed form and played event by event
 *   laws.h            what a compute budget buys; what grows by a factor a year
 *   training.h        a whole run: days, energy, cost, failures, drives, learning rate
 *   need.h            what a figure of a machine would have to be for a goal
 * Parts of the estimate:
 *   memory.h          bytes on each device: closed forms, peak by stage, course over a step
 *   step.h            time of a step by component, gradient buckets, health
 *   serve_estimate.h  TTFT, TPOT and throughput of an engine on measured chips
 *
 * Letters of the formulas in comments; parameters have their words:
 *   B batch (tokens, in serving sequences)   C FLOP/s            W bytes/s of a link
 *   D model width (d_model)                  F MLP width (d_ff)  L layers
 *   N chips or devices                       P parameters        V bytes of a whole array
 *   S, T tokens of a sequence                X, Y, Z degrees     r E/k
 *
 * The library follows semantic versioning; its soname carries major and minor before 1.0.
 */
#ifndef SCALEPLAN_SCALEPLAN_H
#define SCALEPLAN_SCALEPLAN_H

#include <scaleplan/estimate.h>
#include <scaleplan/fit.h>
#include <scaleplan/flops.h>
#include <scaleplan/formats.h>
#include <scaleplan/forms.h>
#include <scaleplan/laws.h>
#include <scaleplan/layer.h>
#include <scaleplan/machine.h>
#include <scaleplan/memory.h>
#include <scaleplan/model.h>
#include <scaleplan/names.h>
#include <scaleplan/need.h>
#include <scaleplan/network.h>
#include <scaleplan/pipeline.h>
#include <scaleplan/plan.h>
#include <scaleplan/profile.h>
#include <scaleplan/search.h>
#include <scaleplan/serve.h>
#include <scaleplan/serve_estimate.h>
#include <scaleplan/step.h>
#include <scaleplan/training.h>

#endif
