/* The mesh of MaxText's options: axes inside of slices and between them. */
#include <math.h>

#include "base/text.h"

#include "launch/maxtext/maxtext.h"

int64_t sp_jax_devices_of(const struct sp_hardware *hw)
{
    return hw->network.jax_devices_per_chip > 0 ? hw->network.jax_devices_per_chip : 1;
}

/* Axes of its mesh. Several stand for one degree of a plan; `as` tells if they mean more than that,
 * and is "" if no field here corresponds to them. */
static const struct {
    const char *name;
    enum sp_maxtext_degree degree;
    const char *as;
} axes[] = {
    {"tensor", TENSOR, NULL},
    {"tensor_sequence", TENSOR, NULL},
    {"tensor_transpose", TENSOR, "tensor"},
    {"context", CONTEXT, NULL},
    {"sequence", CONTEXT, "context"},
    {"expert", EXPERT, NULL},
    {"pipeline", PIPELINE, NULL},
    {"fsdp", FSDP, NULL},
    {"fsdp_transpose", FSDP, NULL},
    {"data", DATA, NULL},
    {"autoregressive", DATA, ""},
    {"context_autoregressive", DATA, ""},
};
enum { AXES = sizeof axes / sizeof *axes };

/* Axes inside of slices and between them. base.yml leaves one of each level to it (-1). */
static const struct {
    const char *name, *automatic;
} levels[] = {{"ici", "fsdp"}, {"dcn", "data"}};

/* A mesh as far as the options state it: the degree of each axis; `left` is the axis of each level
 * that takes the rest of the devices, or -1. */
struct mesh {
    double degree[2][AXES], product[2];
    int left[2];
};

/* The axes of one level; false with an error. */
static bool read_level(struct sp_settings *s, int level, struct mesh *mesh)
{
    char key[64];
    const int before = s->error->lines;
    mesh->product[level] = 1;
    mesh->left[level] = -1;
    for (int i = 0; i < AXES; i++) {
        snprintf(key, sizeof key, "%s_%s_parallelism", levels[level].name, axes[i].name);
        const char *const text = sp_setting(s, key);
        const bool left = sp_is(text, "-1");
        mesh->degree[level][i] = left ? 1 : fmax(1, (double)sp_setting_whole(s, key, 1, 1));
        mesh->product[level] *= mesh->degree[level][i];
        if (left && mesh->left[level] >= 0)
            return sp_fail_in(s, "%s_%s_parallelism and %s are both -1; one axis takes the rest",
                              levels[level].name, axes[mesh->left[level]].name, key);
        if (left)
            mesh->left[level] = i;
    }
    for (int i = 0; i < AXES && mesh->left[level] < 0; i++) {
        snprintf(key, sizeof key, "%s_%s_parallelism", levels[level].name, axes[i].name);
        if (sp_is(axes[i].name, levels[level].automatic) && !sp_setting(s, key))
            mesh->left[level] = i;
    }
    return s->error->lines == before;
}

/* Slices where the file leaves both levels to MaxText: on a torus a fact; of GPUs JAX takes each
 * host for one. */
static double slices_left(const struct sp_hardware *hw, double devices)
{
    const double host = hw->network.devices_per_host > 0 ? (double)hw->network.devices_per_host
                                                         : (double)hw->network.domain;
    return host > 0 && fmod(devices, host) == 0 ? devices / host : 1;
}

/* Gives the axes that are left to MaxText what `devices` leave, and checks that the mesh is all of
 * them. On a torus slices are a fact; elsewhere the reader decides what lies between domains. */
static bool close_mesh(struct mesh *mesh, const struct sp_hardware *hw, double devices,
                       const char *origin, struct sp_error *error)
{
    const bool torus = hw->network.kind == SP_TORUS;
    const bool left = mesh->left[0] >= 0 && mesh->left[1] >= 0;
    const bool divides = mesh->left[0] < 0 && fmod(devices, mesh->product[0]) == 0;
    const double between = torus     ? (double)hw->slices
                           : left    ? slices_left(hw, devices)
                           : divides ? devices / mesh->product[0]
                                     : mesh->product[1];
    const double have[2] = {devices / fmax(1, between), between};
    static const char *const noun[] = {"devices of a slice", "slices"};
    for (int level = 0; level < 2; level++) {
        const double rest = have[level] / mesh->product[level];
        const bool takes_rest = mesh->left[level] >= 0;
        if (takes_rest ? rest != floor(rest) || rest < 1 : rest != 1)
            return sp_fail(
                error, SP_INPUT,
                "%s: the %s_*_parallelism multiply to %.0f%s, which %s the %.0f %s of %s",
                sp_safe(origin), levels[level].name, mesh->product[level],
                takes_rest ? " and a rest (-1)" : "", takes_rest ? "does not divide" : "is not",
                have[level], noun[level], sp_safe(hw->name));
        if (takes_rest)
            mesh->degree[level][mesh->left[level]] = rest;
    }
    return true;
}

/* Degrees of a plan, in chips: where a chip is two devices to JAX, one of the axes that shard or
 * replicate runs over them. On GPUs JAX counts hosts as slices: without degrees there is FSDP
 * inside each host and replicas between hosts, as in MaxText's own scripts. */
static bool degrees_of(const struct mesh *mesh, int64_t jax_devices, double degree[DEGREES],
                       const char *origin, struct sp_error *error)
{
    static const enum sp_maxtext_degree over_cores[] = {FSDP, DATA, EXPERT};
    for (int i = 0; i < DEGREES; i++)
        degree[i] = 1;
    for (int i = 0; i < AXES; i++)
        degree[axes[i].degree] *= mesh->degree[0][i] * mesh->degree[1][i];
    const double cores = (double)jax_devices;
    for (size_t i = 0; i < sizeof over_cores / sizeof *over_cores; i++)
        if (fmod(degree[over_cores[i]], cores) == 0) {
            degree[over_cores[i]] /= cores;
            return true;
        }
    return sp_fail(error, SP_INPUT,
                   "%s: %.0f devices of a chip that no fsdp, data or expert axis runs over",
                   sp_safe(origin), cores);
}

/* The axes that the mesh runs over, as rules of sharding name them. */
static void list_used(const struct mesh *mesh, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < AXES; i++) {
        if (mesh->degree[0][i] * mesh->degree[1][i] > 1)
            sp_append(out, size, " %s", axes[i].degree == PIPELINE ? "stage" : axes[i].name);
    }
}

bool sp_read_mesh(struct sp_settings *s, const struct sp_hardware *hw, int64_t jax_devices,
                  double degree[DEGREES], struct sp_maxtext_rules *rules)
{
    char used[200];
    static const struct {
        const char *option;
        enum sp_maxtext_degree degree;
    } options[] = {{"tp", TENSOR}, {"cp", CONTEXT}, {"ep", EXPERT}, {"pp", PIPELINE}};
    struct mesh mesh = {0};
    if (!read_level(s, 0, &mesh) || !read_level(s, 1, &mesh) ||
        (hw &&
         !close_mesh(&mesh, hw, (double)sp_chips(hw) * (double)jax_devices, s->origin, s->error)) ||
        !degrees_of(&mesh, jax_devices, degree, s->origin, s->error))
        return false;
    list_used(&mesh, used, sizeof used);
    if (!sp_read_rules(s, used, rules))
        return false;
    for (int i = 0; i < AXES; i++)
        if (axes[i].as && mesh.degree[0][i] * mesh.degree[1][i] > 1)
            sp_launch_note(s,
                           axes[i].as[0] ? "%s_parallelism: read as %s_parallelism"
                                         : "not modelled: %s_parallelism%s",
                           axes[i].name, axes[i].as);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        sp_launch_option(s, options[i].option, "%.0f", degree[options[i].degree]);
    return true;
}
