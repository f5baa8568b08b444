/* Settings of a launch that no reader asked for. */
#ifndef SP_LAUNCH_UNREAD_H
#define SP_LAUNCH_UNREAD_H

#include "launch/fields/settings.h"

/* Names in a remark the settings that no reader asked for, as many as have room: neither those of
 * `quiet` (separated by blanks, "#" for the place of an item) nor those marked as read. `prefix`
 * precedes names in the file but not in the list. A setting that decides an answer and is not
 * listed needs its option: without it there is no answer. A misspelling of one is
 * an error. */
void sp_note_unread(struct sp_settings *settings, const char *prefix, const char *quiet);

/* Refuses a name that is one or two letters, or only marks between words, away from one that
 * decides the plan or the model: the framework would not start, and the intended setting is not
 * read. False if it is no such name. */
bool sp_refuse_misspelt(const struct sp_settings *settings, const char *name, int line);

/* Offers a name of as many words as the wanted one; whether the nearest is one or two letters away.
 */
struct sp_nearest;
void sp_offer_alike(struct sp_nearest *nearest, const char *name);
bool sp_is_misspelt(const struct sp_nearest *nearest);

#endif
