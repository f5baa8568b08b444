/* --from: a launch instead of options. */
#include "cli/launched.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/plan_options.h"

/* Whether a typed option replaces one of the launch. A launch states parts of a model, and of a
 * recipe of training state; if another one is typed, all of those parts are replaced. */
static bool is_replaced(const struct sp_args *typed, enum sp_option_id id, const char *value)
{
    const bool sets = id == SP_O_set;
    const char *const trained = typed->value.trainable;
    if (trained && strcmp(trained, "lora") != 0 &&
        (id == SP_O_lora_rank || id == SP_O_lora_targets || id == SP_O_base_format))
        return true; /* adapters that are not trained then */
    const bool of_model =
        id == SP_O_model || id == SP_O_shape || (sets && strncmp(value, "model.", 6) == 0);
    if (of_model && (typed->given.model || typed->given.shape))
        return true;
    if (id == SP_O_dtype && strcmp(value, "fp32") == 0)
        return typed->given.precision || typed->given.dtype;
    if (sets && strncmp(value, "precision.", 10) == 0)
        return typed->given.precision;
    return !sets && typed->given_at[id];
}

/* Whether the command answers about a service; `export` does where it writes one. */
static bool asks_service(const struct sp_args *typed)
{
    int version;
    return sp_option_taken(typed, SP_O_concurrency) &&
           (!sp_option_taken(typed, SP_O_to) ||
            sp_is_server(sp_target_of(typed->value.to, &version)));
}

/* Names of the script that were given values. */
static struct sp_typed_names names_of(const struct sp_args *args)
{
    struct sp_typed_names names = {.recipe = args->value.recipe, .trains = !asks_service(args)};
    for (int i = 0; i < args->n_repeated; i++)
        if (args->repeated_id[i] == SP_O_set_var)
            names.at[names.n++] = args->repeated[i];
    return names;
}

/* Whether the command plans both sides of reinforcement learning. */
static bool plans_rollout(const struct sp_args *typed)
{
    return sp_option_taken(typed, SP_O_rollout_engine) != NULL;
}

/* Its settings besides the training: the rollout's devices, engine, lengths and batch. */
static bool take_rollout(const struct sp_args *typed, const struct sp_launch *launch,
                         struct sp_args *args, struct sp_error *error)
{
    const char *const count = strrchr(launch->machine, '-');
    const int64_t apart = sp_rollout_whole(launch, "apart"),
                  said = sp_rollout_whole(launch, "beside"),
                  beside = said > 0 && count
                               ? strtoll(count + 1, NULL, 10) - launch->devices - apart
                               : said; /* with the rest of the last host */
    const bool placed = typed->given.split || typed->given.gen_hw || typed->given.colocate;
    bool ok = true;
    for (int i = 0; i < launch->n_rollout && ok; i++) {
        const char *const name = launch->rollout[i].name, *const value = launch->rollout[i].value;
        const bool splits = strcmp(name, "apart") == 0 || strcmp(name, "beside") == 0;
        const struct sp_option *const option = sp_option_named(args, splits ? "split" : name);
        if (!option || typed->given_at[option->id] || (splits && (placed || value[0] != '?')))
            continue;
        if (value[0] == '?' && strpbrk(value, "${}()"))
            ok = sp_fail(
                error, SP_INPUT, "%s: the value of --%s is %s, which is not a number: give --%s",
                sp_safe(typed->value.from), option->name, sp_safe(value + 1), option->name);
        else if (value[0] == '?')
            ok = sp_fail(error, SP_INPUT,
                         "%s: the value of --%s needs %s, which is not set here: give --%s, or "
                         "--set-var %s=VALUE",
                         sp_safe(typed->value.from), option->name, sp_safe(value + 1), option->name,
                         sp_safe(value + 1));
        else
            ok = sp_take_text(args, option->id, option->kind == SP_FLAG ? NULL : value, error);
    }
    if (ok && apart > 0 && !placed) {
        snprintf(args->numeral[SP_O_split], sizeof *args->numeral,
                 beside > 0 ? "%lld:%lld:%lld" : "%lld:%lld", (long long)launch->devices,
                 (long long)apart, (long long)beside);
        ok = sp_take_text(args, SP_O_split, args->numeral[SP_O_split], error);
    }
    return ok;
}

static bool take_option(const struct sp_args *typed, struct sp_launch *launch, int i,
                        struct sp_args *args, struct sp_error *error)
{
    const struct sp_option *const option = sp_option_named(args, launch->option[i].name);
    if (plans_rollout(typed) &&
        (!option || (option->id == SP_O_micro_batch && sp_rollout_whole(launch, "pack") > 0)))
        return true; /* of its batch, which `rl` makes of prompts and answers */
    if (!option)
        return sp_fail(error, SP_USAGE, "no option --%s", launch->option[i].name);
    if (is_replaced(typed, option->id, launch->option[i].value))
        return true;
    if (option->id == SP_O_reference &&
        typed->given.model) { /* the model itself, which was typed */
        char *const value = launch->option[i].value, place[32];
        const char *const colon = strchr(value, ':');
        snprintf(place, sizeof place, "%s", colon ? colon : "");
        snprintf(value, sizeof launch->option[i].value, "%.120s%s", typed->value.model, place);
        return sp_take_text(args, option->id, value, error);
    }
    if (launch->etp_is_tp && option->id == SP_O_etp && typed->given.tp)
        return sp_take_number(args, option->id, typed->value.tp, error);
    return sp_take_text(args, option->id, launch->option[i].value, error);
}

static bool is_said(const struct sp_args *typed, const struct sp_launch *launch, const char *name)
{
    const struct sp_option *const option = sp_option_named(typed, name);
    const char *const by = typed->value.batch ? strchr(typed->value.batch, 'x') : NULL;
    bool said = !option || typed->given_at[option->id] ||
                (option->id == SP_O_seq && by && by[1]); /* "64x4096" */
    for (int i = 0; i < launch->options && !said; i++)
        said = strcmp(launch->option[i].name, name) == 0;
    return said;
}

/* Settings that decide the answer, that the launch leaves to other files (the training script, its
 * data) and that were not typed: one line names them all. Without a machine the batch is not yet
 * known. */
static bool check_left_out(const char *path, const struct sp_args *typed,
                           const struct sp_args *args, const struct sp_launch *launch,
                           struct sp_error *error)
{
    static const struct {
        const char *option, *what;
    } parts[] = {{"batch", "batch"}, {"seq", "length of sequences"}};
    const bool trains = typed->given.hw && !launch->serves && !plans_rollout(typed),
               lacks_model = launch->no_model[0] && !args->given.model && !args->given.shape;
    const char *separator = "";
    char lacks[256] = "", give[40] = "";
    if (lacks_model) {
        sp_append(lacks, sizeof lacks, "%s", launch->no_model);
        sp_append(give, sizeof give, " --model");
        separator = "; ";
    }
    for (size_t i = 0; trains && i < sizeof parts / sizeof *parts; i++)
        if (!is_said(typed, launch, parts[i].option)) {
            sp_append(lacks, sizeof lacks, "%sno %s", separator, parts[i].what);
            sp_append(give, sizeof give, " --%s", parts[i].option);
            separator = ", ";
        }
    return !lacks[0] ||
           sp_fail(error, SP_INPUT, "%s: %s: give%s",
                   strcmp(path, "-") == 0 ? "standard input" : sp_safe(path), lacks, give);
}

/* Refuses a server's command where training is asked for, and the reverse. */
static bool check_kind(const char *path, const struct sp_args *typed,
                       const struct sp_launch *launch, struct sp_error *error)
{
    const bool service = asks_service(typed);
    if (plans_rollout(typed) && sp_rollout_whole(launch, "prompts") == 0 && !launch->serves)
        return sp_fail(error, SP_INPUT, "%s: %s: it has no generation: use `step --from`",
                       strcmp(path, "-") == 0 ? "standard input" : sp_safe(path), launch->format);
    return launch->serves == service ||
           sp_fail(error, SP_INPUT, "%s: %s: use `%s --from`",
                   strcmp(path, "-") == 0 ? "standard input" : sp_safe(path), launch->format,
                   launch->serves ? "serve" : "step");
}

/* Requests longer than the server accepts. */
static bool check_length(const struct sp_args *args, const struct sp_launch *launch,
                         struct sp_error *error)
{
    const double length = args->value.input + args->value.output;
    return !launch->serves || launch->longest <= 0 || !(length > launch->longest) ||
           sp_fail(error, SP_INPUT,
                   "--input %.0f and --output %.0f are %.0f tokens; the server's limit is %.0f",
                   args->value.input, args->value.output, length, launch->longest);
}

/* Refuses a launch with a setting that decides the answer but cannot be read, unless its option was
 * typed. */
static bool check_unread(const char *path, const struct sp_args *typed,
                         const struct sp_launch *launch, struct sp_error *error)
{
    const int before = error->lines;
    for (int i = 0; i < launch->n_unread; i++) {
        const struct sp_unread *const u = &launch->unread[i];
        const struct sp_option *const option = sp_option_named(typed, u->option);
        char line[16] = "", value[sizeof u->value + 1];
        if (!option || typed->given_at[option->id])
            continue;
        if (u->line > 0)
            snprintf(line, sizeof line, ":%d", u->line);
        snprintf(value, sizeof value, "%s%s", u->value[0] ? " " : "", u->value);
        sp_fail(error, SP_INPUT, "%s%s: %s%s decides the answer but cannot be read: give --%s",
                strcmp(path, "-") == 0 ? "standard input" : sp_safe(path), line, sp_safe(u->name),
                sp_safe(value), u->option);
    }
    return error->lines == before;
}

/* The number of nodes if a launch uses the same part of each; 0 if it uses whole nodes or a single
 * one. */
static int64_t parts_of_nodes(const struct sp_launch *launch, const struct sp_network *network)
{
    const bool parts = network->kind == SP_SWITCHED && network->devices_per_host == 0 &&
                       launch->per_node > 0 && launch->per_node < network->domain;
    return parts ? launch->devices / launch->per_node : 0;
}

/* Answers for the devices that a server starts where the machine has more, unless other degrees
 * were typed; a remark tells for how many such servers it has room. */
static bool read_part(const struct sp_args *typed, const struct sp_sources *sources,
                      struct sp_launch *launch, const struct sp_hardware *hw)
{
    static const enum sp_option_id degrees[] = {SP_O_tp, SP_O_pp, SP_O_attention_dp, SP_O_replicas,
                                                SP_O_disaggregate};
    struct sp_hardware part;
    struct sp_error unknown = {0};
    const char *const text = typed->value.hw, *const count = strrchr(text, '-');
    const int64_t room = sp_chips(hw) / launch->devices;
    char spec[sizeof launch->machine];
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (typed->given_at[degrees[i]])
            return false;
    if (!launch->serves || !count || room < 1 || launch->notes == SP_LAUNCH_NOTES)
        return false;
    snprintf(spec, sizeof spec, "%.*s-%lld", (int)(count - text), text, (long long)launch->devices);
    if (!sp_load_hardware(spec, sources, &part, &unknown))
        return false;
    snprintf(launch->machine, sizeof launch->machine, "%s", spec);
    snprintf(launch->note[launch->notes++], sizeof *launch->note,
             room > 1 ? "the launch starts %lld devices; the machine has %lld, room for %lld such "
                        "servers: the answer is for one"
                      : "the launch starts %lld devices; the machine has %lld",
             (long long)launch->devices, (long long)sp_chips(hw), (long long)room);
    return true;
}

/* Gives a machine typed without a count the devices that the launch starts, and remarks on a
 * machine with another count. `hw` then is that of the launch. False with an error. */
static bool read_machine(const struct sp_args *typed, const struct sp_sources *sources,
                         const struct sp_typed_names *names, struct sp_launch *launch,
                         struct sp_hardware *hw, struct sp_error *error)
{
    char spec[128];
    const char *const text = typed->value.hw;
    const bool both = plans_rollout(typed) && !typed->given.gen_hw;
    const int64_t beside = both ? sp_rollout_whole(launch, "beside") : 0,
                  sides = launch->devices + (both ? sp_rollout_whole(launch, "apart") : 0);
    const int64_t devices =
        beside > 0 ? sp_nearest_chips(&hw->network, sides + beside, true) : sides;
    if (devices < 1 && launch->two_sizes[0] && sp_is_bare_chip(text))
        return sp_fail(error, SP_INPUT, "%s: %s: give --hw %.100s-N with N devices",
                       sp_safe(typed->value.from), launch->two_sizes, text);
    const bool one = devices < 1 && sp_chips(hw) == 1 && sp_is_bare_chip(text);
    if (one && launch->notes < SP_LAUNCH_NOTES)
        snprintf(
            launch->note[launch->notes++], sizeof *launch->note,
            "the launch does not give the number of devices: 1 is assumed (--hw %.100s-8 for 8)",
            text);
    if (devices < 1)
        return true;
    const int64_t nodes = devices == launch->devices ? parts_of_nodes(launch, &hw->network) : 0;
    const bool bare = sp_is_bare_chip(text), apart = nodes > 0 && devices == sp_chips(hw);
    snprintf(spec, sizeof spec, nodes > 0 ? "%.100s-%lldx%lld" : "%.100s-%lld", text,
             (long long)(nodes > 0 ? launch->per_node : devices), (long long)nodes);
    if (!bare && sp_chips(hw) != devices && read_part(typed, sources, launch, hw))
        return true;
    if (!bare && (apart || sp_chips(hw) != devices) && launch->notes < SP_LAUNCH_NOTES)
        snprintf(launch->note[launch->notes++], sizeof *launch->note,
                 apart ? "the launch starts %lld devices on each node; the machine has %lld (--hw "
                         "NAME-%lldx%lld matches)"
                       : "the launch starts %lld devices; the machine has %lld",
                 (long long)(apart ? launch->per_node : devices),
                 (long long)(apart ? hw->network.domain : sp_chips(hw)),
                 (long long)launch->per_node, (long long)nodes);
    if (!bare || (nodes == 0 && sp_chips(hw) == devices))
        return true;
    if (!sp_load_hardware(spec, sources, hw, error) ||
        !sp_read_launch(typed->value.from, hw, sources, names, launch, error))
        return false;
    snprintf(launch->machine, sizeof launch->machine, "%s", spec);
    return true;
}

/* Reads the launch for the typed machine. A chip without a count does not yet have the launch's
 * devices; until it does, degrees that one device cannot have are not an error. */
static bool read_first(const struct sp_args *typed, const struct sp_sources *sources,
                       const struct sp_typed_names *names, struct sp_launch *launch,
                       const struct sp_hardware *hw, struct sp_error *error)
{
    const char *const path = typed->value.from;
    const struct sp_error before = *error;
    struct sp_error unknown = {0};
    if (sp_read_launch(path, hw, sources, names, launch, error))
        return true;
    if (!hw || !sp_is_bare_chip(typed->value.hw) ||
        !sp_read_launch(path, NULL, sources, names, launch, &unknown) || launch->devices <= 1)
        return false;
    *error = before;
    return true;
}

/* Whether --input is a file, whose rows may have both lengths. */
static bool reads_requests(const struct sp_args *typed)
{
    const char *const text = typed->text[SP_O_input];
    return typed->given.input && strcspn(text, ":") == strlen(text) &&
           !isdigit((unsigned char)*text);
}

/* Whether a remark asks for options ("give --input and --output") that were all typed. */
static bool is_answered(const struct sp_args *typed, const char *note)
{
    const char *at = strstr(note, "give --");
    bool answered = at != NULL;
    while (answered && (at = strstr(at, "--")) != NULL) {
        char name[64];
        at += 2;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " ,;"), at);
        const struct sp_option *const option = sp_option_named(typed, name);
        answered = option && (typed->given_at[option->id] ||
                              (option->id == SP_O_output && reads_requests(typed)));
    }
    return answered;
}

static void drop_answered(const struct sp_args *typed, struct sp_launch *launch)
{
    int kept = 0;
    for (int i = 0; i < launch->notes; i++)
        if (!is_answered(typed, launch->note[i]))
            memmove(launch->note[kept++], launch->note[i], sizeof *launch->note);
    launch->notes = kept;
}

bool sp_take_launch(const struct sp_args *typed, struct sp_launch *launch, struct sp_args *args,
                    struct sp_error *error)
{
    struct sp_hardware hw;
    const struct sp_sources sources = sp_sources_of(typed);
    const char *const path = typed->value.from;
    const bool several = asks_service(typed) && typed->value.hw && strchr(typed->value.hw, ',');
    const bool machine = typed->given.hw && !several; /* the service compares them itself */
    const struct sp_typed_names names = names_of(typed);
    sp_copy_args(args, typed);
    launch->format = NULL;
    if (!path)
        return true;
    if ((machine && !sp_hardware_of(typed, &sources, &hw, error)) ||
        !read_first(typed, &sources, &names, launch, machine ? &hw : NULL, error) ||
        (machine && !read_machine(typed, &sources, &names, launch, &hw, error)))
        return false;
    bool ok = check_kind(path, typed, launch, error);
    args->n_many = 0; /* typed options come last and win */
    for (int i = 0; i < launch->options && ok; i++)
        ok = take_option(typed, launch, i, args, error);
    if (plans_rollout(typed))
        ok = ok && take_rollout(typed, launch, args, error);
    for (int i = 0; i < typed->n_many && ok; i++)
        ok = sp_take_text(args, SP_O_set, typed->many[i], error);
    drop_answered(typed, launch);
    if (launch->machine[0])
        ok = ok && sp_take_text(args, SP_O_hw, launch->machine, error);
    const bool read = ok && check_unread(path, typed, launch, error);
    return ok && check_left_out(path, typed, args, launch, error) && read &&
           check_length(args, launch, error);
}

void sp_put_launch(struct sp_report *r, const struct sp_launch *launch,
                   const struct sp_planned *planned)
{
    char why[SP_MOST_REFUSED][SP_REFUSED_TEXT];
    const int refused = planned ? sp_list_refused(planned, why) : 0;
    struct sp_words words = {0};
    for (int i = 0; i < launch->options; i++)
        sp_add_option(&words, launch->option[i].name, launch->option[i].value);
    char *const line = sp_shell_line(&words);
    sp_put_text(r, SP_Q_STEP_LAUNCH_FORMAT, "%s", launch->format);
    sp_put_text(r, SP_Q_STEP_LAUNCH_OPTIONS, "%s", line);
    free(line);
    sp_free_words(&words);
    sp_put(r, SP_Q_STEP_LAUNCH_REFUSALS, launch->refusals + refused);
    sp_stand_in(r, SP_DETAILS);
    sp_line(r, "read       {launch.format}: {launch.options!}");
    sp_stand_in(r, SP_BOTH);
    for (int i = 0; i < launch->notes; i++)
        sp_warn(r, "%s", launch->note[i]);
}

void sp_note_rollout(struct sp_report *r, const struct sp_launch *launch,
                     const struct sp_args *typed)
{
    if (!launch->format)
        return;
    sp_note(r, "%s: read as both sides", launch->format);
    if (!typed->given.output)
        sp_note(r, "lengths are the launch's limits: give real ones with --input and --output");
    for (int i = 0; i < launch->notes; i++)
        if (strncmp(launch->note[i], "not ", 4) == 0)
            sp_warn(r, "%s", launch->note[i]);
    for (int i = 0; i < launch->rollout_notes; i++)
        if (!is_answered(typed, launch->rollout_note[i]))
            sp_warn(r, "%s", launch->rollout_note[i]);
}
