/* Python that calls Hugging Face's Trainer, TRL, PEFT or unsloth, as the Trainer's arguments. */
#ifndef SP_LAUNCH_CALLS_H
#define SP_LAUNCH_CALLS_H

#include "launch/formats/python.h"

/* The settings "python.class", "python.kind" and "python.length": the class whose call has the
 * arguments, how it trains if that is not on text, and where texts are cut beforehand. */
extern const char sp_python_class[], sp_python_kind[], sp_python_length[];

/* Adds the keywords of such calls as the Trainer's arguments. False with an error where several are
 * trainings and none is asked for; without a call of them nothing is added. */
bool sp_read_trainer_calls(const char *text, const struct sp_typed_names *names,
                           struct sp_settings *settings);

#endif
