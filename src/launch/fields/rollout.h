/* Settings of a reinforcement learning launch besides its training: lines `rollout` of the
 * framework's file (configs/launch), each with an option of `rl` and the expression that sets
 * it. */
#ifndef SP_LAUNCH_ROLLOUT_H
#define SP_LAUNCH_ROLLOUT_H

#include "launch/fields/rules.h"

/* Adds options of `rl` to the settings' launch, what decides one and cannot be read, and remarks.
 * What the lines ask for counts as read. A line is one of
 *   OPTION = EXPRESSION             0: not set; _ for -; other names are numbers for later lines
 *   OPTION WORD = CONDITION         the word, if it holds; the first of an option wins
 *   OPTION per N = EXPRESSION       N over the value
 *   OPTION said = NAME|OTHERWISE    the setting's own word
 *   OPTION as ENGINE:FLAG = NAME    the same by the words of that row of the engine's file
 *   OPTION model FACT = NAME|POLICY the setting's model, if that number is not 0 and it is
 *                                   another than the policy's
 *   OPTION unread = NAMES           settings (* for any text) that decide it and are not read,
 *                                   unless an earlier line has set it
 *   note TEXT = CONDITION           a remark, if it holds
 *   quiet PREFIX = NAMES            harmless settings that begin so; all others are named */
bool sp_read_rollout(const struct sp_launch_file *file, struct sp_settings *settings);

#endif
