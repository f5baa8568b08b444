/* How many devices a script starts: by its launchers and its "#SBATCH" lines. */
#include "launch/shell/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"

#include "launch/fields/settings.h"
#include "launch/shell/slurm.h"
#include "launch/shell/starter.h"

enum { MOST = 1000000 };

/* Whether a command's own options give the number of processes or devices that it starts. */
static bool starts(const struct sp_script_command *command)
{
    return command->n > 0 &&
           sp_is_listed("srun,mpirun,mpiexec,sbatch,docker,podman", command->words[0], '\0');
}

/* Whether a launcher only moves files or asks about the system. */
static bool moves_files(const struct sp_script_command *command)
{
    bool moves = false;
    for (int j = 1; j < command->n && !moves; j++)
        moves = sp_is_listed("rsync,cp,mv,rm,mkdir,ls,hostname,nvidia-smi,rocm-smi,pkill",
                             command->words[j], '\0');
    return moves && starts(command);
}

/* The numbers of the commands, and the last line of each amount that was taken. */
struct told {
    int64_t amount[SP_AMOUNTS];
    int line[SP_AMOUNTS];
    bool hosts; /* a file that is not opened gives the nodes */
};

/* Takes the numbers that a command gives, of those that are still unset. */
static void take_command(const struct sp_script_command *command, struct told *told)
{
    const struct told before = *told;
    for (int j = 0; j < command->n; j++) {
        told->hosts |= strncmp(command->words[j], "--hostfile", 10) == 0;
        sp_take_amount(command->words[j], j + 1 < command->n ? command->words[j + 1] : "",
                       told->amount);
    }
    if (!starts(command)) /* the "-n" of other launchers may mean anything */
        told->amount[SP_ALL] = before.amount[SP_ALL];
    for (int k = 0; k < SP_AMOUNTS; k++)
        if (told->amount[k] != before.amount[k])
            told->line[k] = command->lines[0];
}

/* Whether a launcher's words hold the training as text (`srun bash -c "python train.py ..."`). */
static bool holds(const struct sp_script_command *command, const struct sp_script_command *training)
{
    bool all = starts(command) && training->n > 0;
    for (int j = 0; j < training->n && j < 3 && all; j++) {
        bool held = false;
        for (int i = 1; i < command->n && !held; i++)
            held = strchr(command->words[i], ' ') && strstr(command->words[i], training->words[j]);
        all = held;
    }
    return all;
}

/* An amount that is unknown here counts as not given. */
static void drop_unknown(struct told *told)
{
    for (int k = 0; k < SP_AMOUNTS; k++)
        told->amount[k] = told->amount[k] == SP_AMOUNT_UNKNOWN ? 0 : told->amount[k];
}

/* Numbers given by the commands: by the training (-1: none) and the command that contains it, then
 * by the others from the first or from the last. If the training gives a number that is unknown
 * here, it stays unknown, unless the others are asked from the last. */
static struct told ask(const struct sp_script *script, int training, bool from_last)
{
    const struct sp_script_command *const commands = script->commands;
    struct told told = {0};
    if (training >= 0)
        take_command(&commands[training], &told);
    for (int i = 0; i < script->n && training >= 0; i++)
        if (holds(&commands[i], &commands[training]))
            take_command(&commands[i], &told);
    if (from_last)
        drop_unknown(&told);
    for (int i = 0; i < script->n; i++) {
        const int at = from_last ? script->n - 1 - i : i;
        if (!moves_files(&commands[at]) && commands[at].n > 0 && at != training)
            take_command(&commands[at], &told);
    }
    for (int i = 0; i < script->n; i++) /* of the last one: before it a server may start */
        if (commands[i].visible > 0 && !moves_files(&commands[i]))
            told.amount[SP_VISIBLE] = commands[i].visible;
    if (training >= 0 && commands[training].visible > 0)
        told.amount[SP_VISIBLE] = commands[training].visible;
    drop_unknown(&told);
    return told;
}

/* Devices per node of a job, by its commands or its lines. */
static int64_t granted(const struct told *told, const struct sp_slurm *slurm)
{
    return told->amount[SP_GRANTED] > 0 ? told->amount[SP_GRANTED] : slurm->gpus;
}

/* The resulting devices; the job's lines count where the commands give no number. */
static void count(const struct told *told, const struct sp_slurm slurm, struct sp_launch *launch)
{
    const int64_t *const amount = told->amount;
    const int64_t nodes = amount[SP_NODES] > 0 ? amount[SP_NODES] : slurm.nodes,
                  tasks = amount[SP_TASKS] > 0 ? amount[SP_TASKS] : slurm.tasks,
                  job = granted(told, &slurm),
                  said = amount[SP_GPUS] > 0 ? amount[SP_GPUS]
                         : job > 0           ? job
                                             : amount[SP_VISIBLE],
                  all = amount[SP_ALL] > 0 ? amount[SP_ALL] : slurm.all,
                  gpus = said == 0 && tasks > 1 ? tasks : said; /* one process per device */
    launch->devices = launch->per_node = 0;
    if (amount[SP_PROCESSES] > 0)
        sp_launch_devices(launch, nodes, amount[SP_PROCESSES], 0);
    else if (gpus == 0 && all > 1 && all > nodes)
        sp_launch_devices(launch, nodes, all, 0);
    else if (gpus > 0 && (nodes > 0 || (job == 0 && !told->hosts)) && gpus * nodes <= MOST)
        sp_launch_devices(launch, nodes, 0, gpus);
}

void sp_count_devices(const struct sp_script *script, struct sp_launch *launch)
{
    const struct told told = ask(script, -1, false);
    count(&told, script->slurm, launch);
}

/* Whether a file gives what the starter's words do not, and is here; `lacks`: it is missing. */
static bool has_config(const struct sp_starter *starter, const struct sp_launch *launch,
                       bool *lacks)
{
    const bool asks = starter->kind == SP_STARTS_ALL_OF_CONFIG && starter->config,
               here = asks && launch->config.name[0];
    *lacks = asks && !here;
    return here;
}

/* Devices of a node that the starter may use, by their numbers or CUDA_VISIBLE_DEVICES; 0: not
 * given. */
static int64_t seen(const struct sp_starter *starter, const struct sp_launch *launch,
                    const struct told *told)
{
    const int64_t *const own = starter->amount;
    bool lacks;
    if (starter->ids > 0)
        return starter->ids;
    if (has_config(starter, launch, &lacks) && launch->config.ids > 0)
        return launch->config.ids;
    return starter->ignores && (own[SP_GPUS] != 0 || own[SP_PROCESSES] != 0)
               ? 0
               : told->amount[SP_VISIBLE];
}

/* The words of the program that starts the processes override those of others: it starts on one
 * node, on one or all of its devices, unless its words give more. Unknown words, and a file of
 * hosts, leave it to the others. */
static void settle(const struct sp_starter *starter, const struct sp_launch *launch,
                   struct told *told)
{
    const int64_t *const own = starter->amount;
    int64_t *const amount = told->amount;
    bool lacks;
    const bool config = has_config(starter, launch, &lacks), one = starter->kind == SP_STARTS_ONE;
    if (starter->kind == SP_NO_STARTER || starter->open || lacks)
        return;
    if (own[SP_NODES] > 0)
        amount[SP_NODES] = own[SP_NODES];
    else if (own[SP_NODES] == 0 && !starter->hosts)
        amount[SP_NODES] = config ? launch->config.machines : 1;
    if (own[SP_PROCESSES] != SP_AMOUNT_UNKNOWN)
        amount[SP_PROCESSES] =
            own[SP_PROCESSES] == 0 && config ? launch->config.processes : own[SP_PROCESSES];
    if (own[SP_GPUS] != SP_AMOUNT_UNKNOWN)
        amount[SP_GPUS] = own[SP_GPUS] > 0 || starter->all || !one ? own[SP_GPUS] : 1;
    if (amount[SP_GPUS] == 0 && amount[SP_PROCESSES] == 0)
        amount[SP_GPUS] = seen(starter, launch, told);
}

/* Gives no number of devices, and the reason. */
__attribute__((format(printf, 2, 3))) static void refuse(struct sp_launch *launch,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(launch->two_sizes, sizeof launch->two_sizes, format, arguments);
    va_end(arguments);
    launch->devices = launch->per_node = 0;
}

/* Refuses amounts that are unknown here, and more processes on a node than visible
 * devices. */
static void check_starter(const struct sp_script *script, int training, const struct told *told,
                          const struct sp_starter *starter, struct sp_launch *launch)
{
    const struct sp_script_command *const command = &script->commands[training];
    const int64_t told_nodes =
                      told->amount[SP_NODES] > 0 ? told->amount[SP_NODES] : script->slurm.nodes,
                  nodes = told_nodes > 0 ? told_nodes : 1;
    const int64_t job = granted(told, &script->slurm), see = seen(starter, launch, told);
    const int64_t allowed = see > 0 ? see : job, each = (launch->devices + nodes - 1) / nodes;
    const int line = see == 0 && told->amount[SP_GRANTED] > 0 ? told->line[SP_GRANTED]
                     : see == 0                               ? script->slurm.gpus_line
                     : see == command->visible                ? command->visible_line
                                                              : starter->line;
    if (starter->unknown[0] &&
        ((starter->amount[SP_NODES] == SP_AMOUNT_UNKNOWN && told_nodes == 0) ||
         (starter->kind != SP_NO_STARTER && launch->devices == 0)))
        refuse(launch, "line %d: the value of %s is not known here", starter->line,
               sp_safe(starter->unknown));
    else if (starter->kind != SP_NO_STARTER && launch->devices == 0 && nodes > 1)
        refuse(launch, "line %d: %s starts on %lld nodes, whose devices are not given",
               starter->line, starter->name, (long long)nodes);
    else if (starter->kind != SP_NO_STARTER && allowed > 0 && each > allowed)
        refuse(launch,
               "line %d starts %lld processes on a node%s%.72s, and line %d has %lld devices there",
               starter->line, (long long)each, launch->config.name[0] ? " by " : "",
               sp_safe(launch->config.name), line, (long long)allowed);
}

/* Notes that a job has more nodes than the starter starts on. */
static void note_nodes(const struct sp_script *script, const struct sp_starter *starter,
                       const struct told *told, struct sp_launch *launch)
{
    const int64_t nodes = told->amount[SP_NODES],
                  job = starter->nodes > 0 ? starter->nodes : script->slurm.nodes;
    if (starter->kind != SP_NO_STARTER && !starter->open && nodes > 0 && job > nodes)
        sp_add_note(launch, "line %d: %s starts on %lld of the job's %lld nodes", starter->line,
                    starter->name, (long long)nodes, (long long)job);
}

void sp_count_training(const struct sp_script *script, int training, struct sp_launch *launch)
{
    const struct sp_script_command *const command = &script->commands[training];
    const struct sp_starter starter = sp_starter_of(script, command);
    struct told first = ask(script, training, false), last = ask(script, training, true);
    struct sp_launch other = {0};
    int at = 0, to = 0;
    settle(&starter, launch, &first);
    settle(&starter, launch, &last);
    count(&first, script->slurm, launch);
    count(&last, script->slurm, &other);
    if (launch->devices == other.devices) {
        check_starter(script, training, &first, &starter, launch);
        note_nodes(script, &starter, &first, launch);
        return;
    }
    for (int k = 0; k < SP_AMOUNTS; k++)
        if (first.amount[k] != last.amount[k]) {
            at = first.line[k] > 0 ? first.line[k] : command->lines[0];
            to = last.line[k];
        }
    refuse(launch, "lines %d and %d start different numbers of devices (%lld and %lld)", at, to,
           (long long)launch->devices, (long long)other.devices);
}
