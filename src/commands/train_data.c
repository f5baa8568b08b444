/* `train --storage`: whether drives and loaders feed a run, hold its data and outlast it. */
#include <math.h>

#include <scaleplan/machine.h>

#include "commands/train.h"

static bool load_source(const struct train *f, const struct sp_sources *sources,
                        struct sp_drive *drive, struct sp_data_source *source,
                        struct sp_error *error)
{
    const double loader = f->args->value.loader_bandwidth;
    const double hosts = ceil(f->N / (double)sp_chips_per_host(&f->hw.network));
    if (!sp_load_drive(f->args->value.storage, sources, drive, error))
        return false;
    *source = (struct sp_data_source){
        .drives = hosts * f->args->value.drives,
        .loader_bytes_per_s = isnan(loader) ? INFINITY : hosts * loader,
        .drive = drive,
    };
    return true;
}

static void put_symbols(const struct train *f, const struct sp_data_source *s,
                        const struct sp_data_need *need)
{
    struct sp_report *const r = f->report;
    sp_symbol(r, "bytes_per_token", need->bytes_per_token, "bytes", "option --bytes-per-token");
    sp_symbol(r, "drives", s->drives, "", "of all hosts (--drives)");
    sp_symbol(r, "read", s->drive->read_bytes_per_s, "bytes/s", "of a drive, %s", s->drive->name);
    sp_symbol(r, "write", s->drive->write_bytes_per_s, "bytes/s", "of a drive, %s", s->drive->name);
    sp_symbol(r, "room", s->drive->capacity_bytes, "bytes", "of a drive, %s", s->drive->name);
    sp_symbol(r, "endurance", s->drive->endurance_bytes, "bytes", "that wear a drive, %s",
              s->drive->name);
    sp_symbol(r, "loaders", isfinite(s->loader_bytes_per_s) ? s->loader_bytes_per_s : 1e30,
              "bytes/s", "of all hosts (--loader-bandwidth; 1e30: any)");
    sp_symbol(r, "written", need->written_bytes, "bytes", "checkpoints of the run");
}

bool sp_put_data(const struct train *f, const struct sp_sources *sources, struct sp_error *error)
{
    struct sp_report *const r = f->report;
    struct sp_drive drive;
    struct sp_data_source source;
    if (!f->args->given.storage)
        return true;
    if (!f->has_hw || !(f->seconds > 0) || isnan(f->tokens))
        return sp_fail(error, SP_USAGE,
                       "--storage needs a run on a machine: --model, --tokens and --hw");
    if (!load_source(f, sources, &drive, &source, error))
        return false;
    const double per_param = sp_state_bytes_per_param(&f->precision) - f->precision.grad_bytes;
    const double checkpoint = f->P_trained * per_param;
    const struct sp_data_need need = {.tokens_per_s = f->tokens / f->seconds,
                                      .bytes_per_token = f->args->value.bytes_per_token,
                                      .tokens = f->tokens,
                                      .written_bytes = f->checkpoints * checkpoint};
    const struct sp_data_flow flow = sp_data_flow(&need, &source);
    put_symbols(f, &source, &need);
    sp_put_text(r, SP_Q_TRAIN_STORAGE, "%s", drive.name);
    sp_put(r, SP_Q_TRAIN_DATA_NEED, flow.needed_bytes_per_s);
    sp_put(r, SP_Q_TRAIN_DATA_OFFER, flow.offered_bytes_per_s);
    sp_put(r, SP_Q_TRAIN_DATA_SHARE, flow.share);
    sp_put_bool(r, SP_Q_TRAIN_DATA_BOUND, flow.bound);
    sp_put(r, SP_Q_TRAIN_DATA_SECONDS, f->seconds * flow.slowdown);
    sp_put(r, SP_Q_TRAIN_DATA_BYTES, flow.data_bytes);
    sp_put(r, SP_Q_TRAIN_DATA_ROOM, flow.room_bytes);
    sp_put_bool(r, SP_Q_TRAIN_DATA_HOLDS, flow.holds);
    sp_put(r, SP_Q_TRAIN_DATA_WRITE, checkpoint / (source.drives * drive.write_bytes_per_s));
    sp_put(r, SP_Q_TRAIN_DATA_WORN, flow.worn);
    sp_line(r, "data         {data.needed_bytes_per_s} of the {data.offered_bytes_per_s} that "
               "{data.storage} gives: {data.share}; the {data.bytes} of tokens have room: "
               "{data.holds} ({data.room_bytes})");
    sp_line(r, "drives       a checkpoint takes them {data.checkpoint_write_s}; the run wears "
               "{data.worn} of their endurance");
    if (flow.bound)
        sp_note(r, "data loading binds: the devices wait, and the run takes %s in place of %s",
                sp_human_text(f->seconds * flow.slowdown, SP_SECONDS),
                sp_human_text(f->seconds, SP_SECONDS));
    return true;
}
