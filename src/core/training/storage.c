/* Storage behind a machine. */
#include <scaleplan/forms.h>
#include <scaleplan/training.h>

struct sp_data_flow sp_data_flow(const struct sp_data_need *need,
                                 const struct sp_data_source *source)
{
    const struct sp_drive *const drive = source->drive;
    struct sp_data_flow f = {
        .needed_bytes_per_s = sp_data_of_tokens(need->tokens_per_s, need->bytes_per_token),
        .offered_bytes_per_s =
            sp_data_offered(source->drives, drive->read_bytes_per_s, source->loader_bytes_per_s),
        .data_bytes = sp_data_of_tokens(need->tokens, need->bytes_per_token),
        .room_bytes = sp_of_all_drives(source->drives, drive->capacity_bytes),
        .worn = sp_worn(need->written_bytes, source->drives, drive->endurance_bytes),
    };
    f.share = sp_data_share(f.needed_bytes_per_s, f.offered_bytes_per_s);
    f.bound = f.share > 1;
    f.holds = f.data_bytes <= f.room_bytes;
    return f;
}

/* Drives read and write in turn, concurrently with the link: the slower sets the offload time. */
struct sp_drive_tier sp_drive_tier(const struct sp_drive *drive, double drives, double devices,
                                   double bytes)
{
    const double all = bytes * devices;
    const double both_s =
        all / (drives * drive->write_bytes_per_s) + all / (drives * drive->read_bytes_per_s);
    struct sp_drive_tier tier = {
        .transfer_s = both_s,
        .bytes = all,
        .room_bytes = drives * drive->capacity_bytes,
        .steps = drives * drive->endurance_bytes / all,
    };
    tier.holds = tier.bytes <= tier.room_bytes;
    return tier;
}
