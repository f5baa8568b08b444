/* Storage behind a machine: drives that feed its input pipeline, hold its data and checkpoints, and
 * wear. */
#ifndef SCALEPLAN_STORAGE_H
#define SCALEPLAN_STORAGE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A drive. */
struct sp_drive {
    char name[64];
    double read_bytes_per_s, write_bytes_per_s; /* of long transfers */
    double capacity_bytes;
    double endurance_bytes; /* that may be written before it is worn; NAN: not published */
};

/* What a run asks of its drives. */
struct sp_data_need {
    double tokens_per_s;    /* of all devices */
    double bytes_per_token; /* as it lies on the drives */
    double tokens;          /* of the data set, read once */
    double written_bytes;   /* by the whole run: its checkpoints */
};

/* What the drives of all hosts give, and the loaders that stand between. */
struct sp_data_source {
    double drives;             /* of all hosts */
    double loader_bytes_per_s; /* that all hosts' input pipelines pass on; INFINITY: any */
    const struct sp_drive *drive;
};

struct sp_data_flow {
    double needed_bytes_per_s, offered_bytes_per_s;
    double share;      /* needed over offered */
    bool bound;        /* loading binds: needed is above offered */
    double data_bytes; /* of the data set */
    double room_bytes; /* of all drives */
    bool holds;        /* the data set has room */
    double worn;       /* written over endurance of all drives; NAN: not published */
};

/* Whether drives feed a run. Bytes and rates; the slower of drives and loaders counts. */
struct sp_data_flow sp_data_flow(const struct sp_data_need *need,
                                 const struct sp_data_source *source);

/* A tier that a step offloads to: drives of a host, shared by its devices. */
struct sp_drive_tier {
    double transfer_s; /* there and back once a step: written, and read again */
    double bytes;      /* of all devices of a host */
    double room_bytes; /* of its drives */
    bool holds;
    double steps; /* until the drives are worn; NAN: not published */
};

/* The tier of `drives` drives for `devices` devices of a host that each put `bytes` there.
 * ZeRO-Infinity, Rajbhandari et al. 2021, section 3: bandwidth and capacity of NVMe. */
struct sp_drive_tier sp_drive_tier(const struct sp_drive *drive, double drives, double devices,
                                   double bytes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
