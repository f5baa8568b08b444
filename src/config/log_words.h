/* How a framework prints a training step in its log. */
#ifndef SP_LOG_WORDS_H
#define SP_LOG_WORDS_H

/* Each member is what precedes a number; alternatives are separated by commas. A line that has
 * the first and a time or a rate is a step. */
struct sp_log_words {
    char name[64];
    char iteration[64];       /* before the number of the step */
    char step_time[64];       /* before the time of a step, in units of time_unit_s */
    char device_rate[64];     /* before tokens/s per device, in place of a time */
    char batch[64];           /* before the sequences of the step's batch; "": not printed */
    char reserved[64];        /* before the peak memory of the allocator */
    char allocated[64];       /* before the peak memory of tensors */
    double time_unit_s;       /* s of a unit of step_time */
    double memory_unit_bytes; /* bytes of a unit of both memories */
};

#endif
