/* The kinds of config files, one row each; other code takes everything about kinds from here. */
#ifndef SP_KINDS_H
#define SP_KINDS_H

#include <stdbool.h>

#include "config/fields.h"

/* X(kind, folder, name for --kind, noun, plural, struct, loader behind sp_load_, table, whether
 * --set applies, keys that identify its files or "", description); AND separates rows. embed.cmake
 * reads the first two columns. */
/* clang-format off */
#define SP_KINDS(X, AND) \
    X(SP_MODELS, "models", "model", "model", "models", \
      struct sp_model, model, sp_model_table, true, "", \
      "the shape of a transformer, or the size alone of any other model") AND \
    X(SP_HARDWARE, "hardware", "hardware", "hardware", "hardware", \
      struct sp_hardware, hardware, sp_hardware_table, true, "chip", \
      "a chip and the network that joins chips to machines") AND \
    X(SP_PRECISIONS, "precision", "precision", "precision", "precisions", \
      struct sp_precision, precision, sp_precision_table, true, "weight_bytes", \
      "bytes that training keeps of each parameter, and the matmuls' format") AND \
    X(SP_NETWORKS, "networks", "network", "network", "networks", \
      struct sp_scaleout, scaleout, sp_network_table, false, "bytes_per_s", \
      "a scale-out network, for `--network`") AND \
    X(SP_LAWS, "laws", "law", "scaling law", "scaling laws", \
      struct sp_scaling_law, law, sp_law_table, true, "optimum", \
      "a fitted scaling law") AND \
    X(SP_FRAMEWORKS, "frameworks", "framework", "framework", "frameworks", \
      struct sp_framework_file, framework, sp_framework_table, true, "logit_bytes,marks", \
      "facts of a training framework's code") AND \
    X(SP_PROFILES, "profiles", "profile", "profile", "profiles", \
      struct sp_profile, profile, sp_profile_table, true, "constants", \
      "efficiencies of a chip under a framework, fitted by `calibrate`") AND \
    X(SP_KERNELS, "kernels", "kernels", "kernels", "kernels", \
      struct sp_kernels, kernels, sp_kernels_table, false, "matmul,collectives", \
      "what a chip's matmuls, attention and collectives were measured to reach") AND \
    X(SP_ENGINES, "engines", "engine", "engine", "engines", \
      struct sp_engine, engine, sp_engine_table, true, "memory_fraction", \
      "habits of a program that serves models") AND \
    X(SP_SERVING, "serving", "serving", "serving profile", "serving profiles", \
      struct sp_profile, serving_profile, sp_serving_table, true, "engine", \
      "efficiencies of a chip under an engine, fitted by `calibrate`") AND \
    X(SP_FORMATS, "formats", "format", "number format", "number formats", \
      struct sp_number_format, number_format, sp_number_format_table, true, \
      "mantissa_bits", "the bits of a number format: its range, precision and bytes follow") AND \
    X(SP_TRENDS, "trends", "trend", "trend", "trends", \
      struct sp_trend_file, trend, sp_trend_table, true, "factor", \
      "what grows by the same factor every year, and figures of some years") AND \
    X(SP_DRIVES, "storage", "storage", "drive", "drives", \
      struct sp_drive, drive, sp_drive_table, true, "endurance_bytes", \
      "a drive that holds data and checkpoints: rates, capacity, endurance") AND \
    X(SP_LAUNCHES, "launch", "launch", "launch dialect", "launch dialects", \
      struct sp_launch_words, launch_words, sp_launch_table, false, "options", \
      "how a framework spells what a plan and a model are") AND \
    X(SP_LOGS, "logs", "log", "log dialect", "log dialects", \
      struct sp_log_words, log_words, sp_log_table, false, "iteration", \
      "how a framework prints a step in its log, for `calibrate --log`") AND \
    X(SP_GROUNDS, "ground", "ground", "known ground", "known grounds", \
      struct sp_ground_file, ground, sp_ground_table, false, "places", \
      "plans that have been run, near which `search` looks first")
/* clang-format on */

/* Lists of kinds for messages: SP_KINDS(SP_KIND_FOLDER, ", "). */
#define SP_KIND_FOLDER(kind, folder, ...) folder
#define SP_KIND_NAME(kind, folder, name, ...) name
#define SP_KIND_NOUN(kind, folder, name, noun, ...) noun
#define SP_KIND_NOUNS(kind, folder, name, noun, nouns, ...) nouns

#define SP_KIND(kind, ...) kind,
enum sp_config_kind { SP_KINDS(SP_KIND, ) SP_CONFIG_KINDS };
#undef SP_KIND

/* A kind of config files. */
struct sp_config_kind_info {
    const char *folder; /* "models" */
    const char *name;   /* "model", of --kind */
    const char *noun;   /* in sentences */
    const struct sp_field_table *table;
    bool sets;         /* --set applies, prefixed by the table's name */
    const char *marks; /* keys, comma-separated, that distinguish its files from earlier kinds */
    const char *about;
};
extern const struct sp_config_kind_info sp_config_kinds[SP_CONFIG_KINDS];

/* The kind of a file by its keys; a model if no key decides. */
enum sp_config_kind sp_guess_kind(const cJSON *root);

#endif
