/*
 * scaleplan: analytic models of large-model training and serving.
 *
 * Include this header for everything, or one of those below for one subject. All are pure functions
 * over plain structs (no allocation, I/O or globals), so any thread may call them. Quantities are
 * in SI base units (bytes, FLOPs, seconds, tokens), named in the identifier; a comment that ends
 * with "s." or "bytes." gives the unit of the result. NAN means "not published" in an input, "not
 * defined here" in a result. Builds without NDEBUG check preconditions and stop at the call that
 * breaks one.
 *
 * Start here. Most questions need one struct of facts and one call:
 *   model.h           struct sp_model, the shape of a model; sp_count_params
 *   machine.h         struct sp_hardware: chips, networks, slices; sp_aggregate, sp_ridge
 *   fit.h             struct sp_fit_input; sp_fit_best: how this machine can train this model
 *   plan.h            struct sp_plan, one explicit plan; sp_check_plan: is it valid
 *   estimate.h        struct sp_step_inputs; sp_estimate: time, memory and MFU of that plan
 *   search.h          sp_open_space, sp_search_group: the best of all plans
 *   serve.h           struct sp_service; sp_prepare_service, sp_decode_time: answering requests
 *
 * Then by subject. Facts:
 *   formats.h         number formats, and bytes of training state per parameter
 *   profile.h         rules of frameworks, calibrated constants, prediction errors
 *   names.h           names of all enum values
 * Closed forms:
 *   forms.h           formulas of one expression, each with its text, symbols and source
 *   layer.h           matmuls, weights and activations of each kind of layer
 *   flops.h           FLOPs of operators, layers and steps; the roofline
 *   network.h         collectives on tori and switches, sharded products
 *   pipeline.h        schedules, in closed form and simulated event by event
 *   laws.h            scaling laws, and trends over years
 *   training.h        a whole run: days, energy, cost, failures, drives, learning rate
 *   lengths.h         distributions of lengths: moments, quantiles, the greatest of n
 *   need.h            the value of a machine's figure that a goal needs
 * Parts of the estimate:
 *   memory.h          bytes on each device: closed forms, peak by stage, course over a step
 *   step.h            time of a step by component, gradient buckets, health
 *   serve_estimate.h  TTFT, TPOT and throughput of an engine on measured chips
 *   serve_simulation.h  the scheduler of an engine, request by request
 *   rl.h              generation of a batch of answers that starts together
 *
 * Letters of the formulas in comments; parameter names are words:
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
#include <scaleplan/lengths.h>
#include <scaleplan/machine.h>
#include <scaleplan/memory.h>
#include <scaleplan/model.h>
#include <scaleplan/names.h>
#include <scaleplan/need.h>
#include <scaleplan/network.h>
#include <scaleplan/pipeline.h>
#include <scaleplan/plan.h>
#include <scaleplan/profile.h>
#include <scaleplan/rl.h>
#include <scaleplan/search.h>
#include <scaleplan/serve.h>
#include <scaleplan/serve_estimate.h>
#include <scaleplan/serve_simulation.h>
#include <scaleplan/step.h>
#include <scaleplan/training.h>

#endif
