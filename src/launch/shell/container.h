/* Programs that a container's image starts: rows of configs/launch/programs.json. */
#ifndef SP_LAUNCH_CONTAINER_H
#define SP_LAUNCH_CONTAINER_H

#include "launch/shell/commands.h"

/* Puts the program of an image in the place of the words that start its container, `docker run
 * --gpus all IMAGE --model X`; `images`: lines "PROGRAM: IMAGES". Commands of other images stay as
 * they are: their program follows the image. */
void sp_enter_containers(const char *images, struct sp_script *script);

#endif
