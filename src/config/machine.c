/* Parses machine names such as "v5p-4096", "v5p:16x16x16", "gcp:v5p-8192", "h100-512", and prints
 * them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/load.h"
#include "config/read.h"
#include "base/number.h"
#include "base/text.h"

/* The parts of a machine spec. */
struct machine_spec {
    char name[512];
    char shape[64];       /* "16x16x16" or "" */
    char axes[64];        /* shape, or chips x slices: "4x4" of "v5e-4x4"; or "" */
    double chips, slices; /* 0: not given */
    bool cloud;           /* "gcp:" prefix: count as cloud names do */
};

static bool bad_spec(const char *spec, const char *why, struct sp_error *error)
{
    return sp_fail(
        error, SP_INPUT,
        "--hw %s: %s; expected NAME[-CHIPS][xSLICES] (v5p-4096, h100-512, v5p-8960x2, h100-6x2) or "
        "NAME:SHAPE (v5p:8x8x8)",
        sp_safe(spec), why);
}

/* Splits "-512", "-8960x2" or "-4x4x8" off the name. v5e-4x4 is a 4x4 slice if the machine has two
 * axes and such a slice; otherwise the numbers are chips and slices (v5e-256x4). After "gcp:" they
 * always are: gcp:v5e-4x4 is four slices of four chips. */
static bool split_count(const char *spec, struct machine_spec *out, struct sp_error *error)
{
    char *const dash = strrchr(out->name, '-');
    if (!dash || dash == out->name || dash[1] < '0' || dash[1] > '9')
        return true;
    double dims[SP_MAX_AXES];
    const int n = sp_parse_dims(dash + 1, dims, SP_MAX_AXES);
    if (n == 0)
        return true; /* part of the name, such as "a100-40gb" */
    if (n > 1 && strlen(dash + 1) < sizeof out->axes)
        snprintf(out->axes, sizeof out->axes, "%s", dash + 1);
    if (n > 2) {
        snprintf(out->shape, sizeof out->shape, "%s", out->axes);
        *dash = '\0';
        return true;
    }
    if (dims[0] < 1 || dims[0] > 1e9 || (n == 2 && (dims[1] < 1 || dims[1] > 1e6)))
        return bad_spec(spec, "the number of chips is out of range", error);
    out->chips = dims[0];
    out->slices = n == 2 ? dims[1] : 1;
    *dash = '\0';
    return true;
}

/* Refuses "8xh100" and "h100x8" if the machine exists, suggesting the right name. */
static bool refuse_times(const char *name, const struct sp_sources *sources, struct sp_error *error)
{
    char chip[512];
    const size_t digits = strspn(name, "0123456789");
    const char *const times = strrchr(name, 'x'), *count = name;
    if (digits > 0 && name[digits] == 'x') {
        snprintf(chip, sizeof chip, "%s", name + digits + 1);
    } else if (times && times[1] && strspn(times + 1, "0123456789") == strlen(times + 1)) {
        snprintf(chip, sizeof chip, "%.*s", (int)(times - name), name);
        count = times + 1;
    } else {
        return true;
    }
    return !sp_config_named(SP_HARDWARE, chip, sources) ||
           sp_fail(error, SP_INPUT, "--hw %s: did you mean %s-%.*s?", sp_safe(name), sp_safe(chip),
                   (int)strspn(count, "0123456789"), count);
}

static bool split_spec(const char *spec, const struct sp_sources *sources, struct machine_spec *out,
                       struct sp_error *error)
{
    *out = (struct machine_spec){.slices = 1};
    const char *name = spec;
    if (strncmp(spec, "gcp:", 4) == 0) {
        out->cloud = true;
        name += 4;
    }
    if (strlen(name) >= sizeof out->name || name[0] == '\0')
        return bad_spec(spec, "no such machine", error);
    snprintf(out->name, sizeof out->name, "%s", name);
    char *const colon = strrchr(out->name, ':');
    if (colon) {
        if (strlen(colon + 1) >= sizeof out->shape || colon[1] == '\0')
            return bad_spec(spec, "no shape after the colon", error);
        snprintf(out->shape, sizeof out->shape, "%s", colon + 1);
        *colon = '\0';
        return true;
    }
    if (sp_config_named(SP_HARDWARE, out->name, sources))
        return true;
    return refuse_times(out->name, sources, error) && split_count(spec, out, error);
}

/* ", or h100-4x3, 3 nodes of 4": as many chips on part of each node, if they divide. */
static void offer_parts(const char *name, const struct sp_network *net, int64_t chips, char *out,
                        size_t size)
{
    int64_t each = net->kind == SP_TORUS || chips <= net->domain ? 0 : net->domain;
    while (each > 1 && chips % each != 0)
        each--;
    if (each > 1)
        snprintf(out, size, ", or %.60s-%lldx%lld, %lld nodes of %lld", name, (long long)each,
                 (long long)(chips / each), (long long)(chips / each), (long long)each);
}

static void offer_neighbours(const char *spec, const char *name, const struct sp_hardware *hw,
                             int64_t chips, const char *way, struct sp_error *error)
{
    char names[2][96] = {"", ""}, parts[160] = "";
    offer_parts(name, &hw->network, chips, parts, sizeof parts);
    for (int up = 0; up <= 1; up++) {
        struct sp_shape s;
        const int64_t near = sp_nearest_chips(&hw->network, chips, up);
        if (near == 0)
            continue;
        if (hw->network.kind == SP_TORUS && sp_find_shape(&hw->network, near, &s)) {
            snprintf(names[up], sizeof names[up], "%.60s-%lld (%dx%d", name, (long long)near,
                     (int)s.axis[0], (int)s.axis[1]);
            sp_append(names[up], sizeof names[up], hw->network.axes > 2 ? "x%d)" : ")",
                      (int)s.axis[2]);
        } else {
            snprintf(names[up], sizeof names[up], "%.60s-%lld", name, (long long)near);
        }
    }
    if (strcmp(names[0], names[1]) == 0) { /* this size exists in another shape */
        sp_fail(error, SP_INPUT, "--hw %s: %s comes in %lld chips as %s, not in this shape%s",
                sp_safe(spec), hw->name, (long long)chips, names[0], way);
        return;
    }
    sp_fail(error, SP_INPUT, "--hw %s: %s does not come in %lld chips; the nearest: %s%s%s%s%s",
            sp_safe(spec), hw->name, (long long)chips, names[0],
            names[0][0] && names[1][0] ? " and " : "", names[1], parts, way);
}

static double product_of(const double dims[], int n)
{
    double product = 1;
    for (int i = 0; i < n; i++)
        product *= dims[i];
    return product;
}

/* A book's mesh is any part of a pod, with the links that the chips have. */
static bool place_shape(const char *spec, const struct machine_spec *parts, bool textbook,
                        struct sp_hardware *hw, struct sp_error *error)
{
    double dims[SP_MAX_AXES];
    struct sp_shape wanted = {{1, 1, 1}};
    const int n = sp_parse_dims(parts->shape, dims, SP_MAX_AXES);
    if (n == 0)
        return bad_spec(spec, "the shape is not a product such as 4x4x8", error);
    if (hw->network.kind != SP_TORUS)
        return sp_fail(error, SP_INPUT,
                       "--hw %s: only a torus has a shape; for %s give the devices: %s-%.0f",
                       sp_safe(spec), hw->name, parts->name, product_of(dims, n));
    for (int i = 0; i < n; i++) {
        if (dims[i] < 1 || dims[i] > 4096)
            return bad_spec(spec, "an axis has 1 to 4096 chips", error);
        wanted.axis[i] = (int32_t)dims[i];
    }
    const bool holds = sp_pod_holds_shape(&hw->network, &wanted);
    const char *const way = holds ? "; accepted with --constants textbook" : "";
    if (textbook && holds) {
        hw->shape = wanted;
    } else if (!sp_offers_shape(&hw->network, &wanted, &hw->shape)) {
        offer_neighbours(spec, parts->name, hw, sp_shape_chips(&wanted), way, error);
        return false;
    }
    hw->chips_per_slice = sp_shape_chips(&hw->shape);
    return true;
}

/* The number after the last dash counts chips, as in the textbook: v5p-4096 is 16x16x16. Google
 * Cloud's v5p-4096 has 2048 chips; "gcp:" selects that reading, and every report prints the cloud's
 * name. */
static bool place_chips(const char *spec, const struct machine_spec *parts, struct sp_hardware *hw,
                        struct sp_error *error)
{
    int64_t chips = parts->chips > 0 ? (int64_t)parts->chips : 1;
    if (parts->cloud && hw->network.cloud_counts_cores && parts->chips > 0) {
        const int64_t cores = isnan(hw->chip.cores) ? 1 : (int64_t)hw->chip.cores;
        if (chips % cores != 0)
            return bad_spec(spec, "the cloud's number is not a multiple of the cores per chip",
                            error);
        chips /= cores;
    }
    if (parts->slices > 1 && hw->network.kind == SP_SWITCHED)
        return sp_take_nodes(hw, chips, (int64_t)parts->slices) ||
               sp_fail(error, SP_INPUT, "--hw %s: a node of %s has %lld chips at most",
                       sp_safe(spec), hw->name, (long long)hw->network.domain);
    if (parts->slices > 1 && isnan(hw->network.dcn_bytes_per_s_per_host))
        return bad_spec(spec, "its data-centre network is not known", error);
    if (!sp_has_chips(&hw->network, chips)) {
        offer_neighbours(spec, parts->name, hw, chips, "", error);
        return false;
    }
    hw->chips_per_slice = chips;
    hw->slices = (int64_t)parts->slices;
    sp_use_domains(&hw->network, chips);
    if (hw->network.kind == SP_TORUS)
        sp_find_shape(&hw->network, chips, &hw->shape);
    return true;
}

/* Whether "v5e-4x4" names a slice by its axes, as the cloud does: as many axes as the machine, and
 * such a slice exists. After "gcp:" it never does. */
static bool names_axes(const struct machine_spec *parts, const struct sp_hardware *hw)
{
    double dims[SP_MAX_AXES];
    struct sp_shape wanted = {{1, 1, 1}}, found;
    const int n = sp_parse_dims(parts->axes, dims, SP_MAX_AXES);
    if (n == 0 || parts->cloud || hw->network.kind != SP_TORUS || n != hw->network.axes)
        return false;
    for (int i = 0; i < n; i++)
        wanted.axis[i] = dims[i] <= 4096 ? (int32_t)dims[i] : 0;
    return sp_offers_shape(&hw->network, &wanted, &found);
}

bool sp_read_hardware(const char *spec, const struct sp_sources *sources, struct sp_hardware *hw,
                      struct sp_error *error)
{
    struct machine_spec parts;
    if (strchr(spec, ',') && !strchr(spec, '/') && !strstr(spec, ".json"))
        return sp_fail(error, SP_INPUT, "--hw %s: expected one machine; `search` compares several",
                       sp_safe(spec));
    if (!split_spec(spec, sources, &parts, error) || !sp_load_chip(parts.name, sources, hw, error))
        return false;
    /* a rack or a server named without a count means a whole one */
    if (parts.chips == 0 && !parts.shape[0] && strcasecmp(parts.name, hw->name) != 0)
        parts.chips = (double)sp_devices_of_alias(parts.name, sources);
    if (names_axes(&parts, hw))
        snprintf(parts.shape, sizeof parts.shape, "%s", parts.axes);
    return parts.shape[0] ? place_shape(spec, &parts, sources->textbook, hw, error)
                          : place_chips(spec, &parts, hw, error);
}

bool sp_machine_name(const char *spec, const struct sp_sources *sources, char *name, size_t size)
{
    struct machine_spec parts;
    struct sp_error ignored = {0};
    if (!split_spec(spec, sources, &parts, &ignored))
        return false;
    snprintf(name, size, "%s", parts.name);
    return strcmp(name, spec) != 0;
}

void sp_cloud_name(const struct sp_hardware *hw, char *out, size_t size)
{
    const struct sp_network *net = &hw->network;
    const double cores = net->cloud_counts_cores && !isnan(hw->chip.cores) ? hw->chip.cores : 1;
    out[0] = '\0';
    if (net->cloud_name[0])
        snprintf(out, size, "%s-%lld", net->cloud_name,
                 (long long)((double)hw->chips_per_slice * cores));
}

void sp_shape_name(const struct sp_hardware *hw, char *out, size_t size)
{
    const struct sp_network *net = &hw->network;
    const int32_t *axis = hw->shape.axis;
    char slices[32] = "";
    if (net->kind == SP_SWITCHED) {
        const int64_t chips = hw->chips_per_slice, domain = net->domain;
        if (chips > domain)
            snprintf(out, size, "%lld nodes of %lld", (long long)(chips / domain),
                     (long long)domain);
        else
            snprintf(out, size, "1 node of %lld", (long long)chips);
        return;
    }
    if (hw->slices > 1)
        snprintf(slices, sizeof slices, "%lld slices of ", (long long)hw->slices);
    if (net->axes > 2)
        snprintf(out, size, "%s%dx%dx%d", slices, (int)axis[0], (int)axis[1], (int)axis[2]);
    else
        snprintf(out, size, "%s%dx%d", slices, (int)axis[0], (int)axis[1]);
}
