/* `memory --offload-part`: what leaves a device, and the tier that takes it. */
#include <math.h>

#include <scaleplan/flops.h>
#include <scaleplan/training.h>

#include "commands/memory.h"

const char *const sp_offloads[] = {"optimizer", "params", "activations", NULL};

/* The memory of the hosts. */
static void put_host(const struct memory *f, double bytes)
{
    struct sp_report *const r = f->report;
    const double room = f->hw.network.host_memory_bytes;
    if (isnan(room) || !(room > 0))
        return;
    sp_put(r, SP_Q_MEMORY_HOST_ROOM, room);
    sp_put_bool(r, SP_Q_MEMORY_HOST_HOLDS, bytes <= room);
    sp_line(r, "             on a host {offload.host_bytes} of its {offload.host_memory_bytes}: "
               "fits {offload.host_holds}");
}

/* Where it goes on to; a drive that is slower than the link sets the time. */
static bool put_tier(const struct memory *f, double freed, double *transfer_s,
                     struct sp_error *error)
{
    struct sp_report *const r = f->report;
    const struct sp_sources sources = sp_sources_of(f->args);
    const double drives = f->args->value.drives;
    struct sp_drive drive;
    if (!f->has_hw)
        return !f->args->given.storage ||
               sp_fail(error, SP_USAGE, "--storage needs --hw: a host's devices share its drives");
    const double devices = fmin((double)sp_chips_per_host(&f->hw.network), f->devices);
    sp_symbol(r, "host_devices", devices, "devices", "of a host");
    sp_put(r, SP_Q_MEMORY_HOST_BYTES, freed * devices);
    if (!f->args->given.storage) {
        put_host(f, freed * devices);
        return true;
    }
    if (!sp_load_drive(f->args->value.storage, &sources, &drive, error))
        return false;
    const struct sp_drive_tier tier = sp_drive_tier(&drive, drives, devices, freed);
    sp_symbol(r, "drives", drives, "", "of a host (--drives)");
    sp_symbol(r, "read", drive.read_bytes_per_s, "bytes/s", "of a drive, %s", drive.name);
    sp_symbol(r, "write", drive.write_bytes_per_s, "bytes/s", "of a drive, %s", drive.name);
    sp_symbol(r, "room", drive.capacity_bytes, "bytes", "of a drive, %s", drive.name);
    sp_symbol(r, "endurance", drive.endurance_bytes, "bytes", "that wear a drive, %s", drive.name);
    sp_put(r, SP_Q_MEMORY_DRIVE_S, tier.transfer_s);
    sp_put(r, SP_Q_MEMORY_DRIVE_ROOM, tier.room_bytes);
    sp_put_bool(r, SP_Q_MEMORY_DRIVE_HOLDS, tier.holds);
    sp_put(r, SP_Q_MEMORY_DRIVE_STEPS, tier.steps);
    sp_line(r, "drives       {offload.host_bytes} of a host's {offload.drive_bytes}: fits "
               "{offload.drives_hold}; {offload.drive_s} to write and read, worn after "
               "{offload.drive_steps} steps");
    if (!tier.holds)
        sp_note(r, "the drives of a host have no room for what its devices offload");
    *transfer_s = fmax(*transfer_s, tier.transfer_s);
    return true;
}

bool sp_put_offload(const struct memory *f, const struct device_memory *m, struct sp_error *error)
{
    struct sp_report *r = f->report;
    const int what = f->args->value.offload_part;
    const double given = f->args->value.offload_bandwidth, mfu = f->args->value.mfu;
    if (what < 0)
        return true;
    const double W = !isnan(given) ? given : f->has_hw ? f->hw.chip.pcie_bytes_per_s : NAN;
    if (isnan(W))
        return sp_fail(
            error, SP_USAGE,
            "--offload-part needs --offload-bandwidth, or --hw of a chip whose PCIe is published");
    if (isnan(m->freed))
        return sp_fail(error, SP_INPUT,
                       "--offload-part activations: none are claimed for a model of unknown shape");
    const double freed = m->freed;
    double transfer = 2 * freed / W;
    sp_symbol(r, "freed_bytes", freed, "bytes", "offloaded");
    sp_symbol(r, "W_host", W, "bytes/s", "link of a device to its host");
    sp_put(r, SP_Q_MEMORY_OFFLOADED, freed);
    sp_put(r, SP_Q_MEMORY_OFFLOAD_S, transfer);
    sp_line(r,
            "offload      {offload.freed_bytes} a device on the host (%s), {offload.transfer_s} "
            "there and back each step",
            sp_offloads[what]);
    if (!put_tier(f, freed, &transfer, error))
        return false;
    if (!f->has_hw)
        return true;
    const enum sp_dtype dtype =
        sp_compute_dtype(&f->hw.chip, (enum sp_dtype)f->precision.compute_dtype);
    const double C = f->hw.chip.peak_flops_per_s[dtype], N = (double)sp_chips(&f->hw);
    const double compute =
        sp_run_s(sp_tuned_flops(&f->model, f->batch, f->seq, SP_FLOPS_6P), N, C, mfu);
    sp_symbol(r, "C", C, "FLOP/s", "peak of a device");
    sp_symbol(r, "mfu", mfu, "", "option --mfu");
    sp_put(r, SP_Q_MEMORY_OFFLOAD_STEP, compute);
    sp_put_bool(r, SP_Q_MEMORY_OFFLOAD_BOUND, transfer > compute);
    sp_line(r, "             against {offload.compute_s} of arithmetic: transfer-bound "
               "{offload.transfer_bound}");
    return true;
}
