/* Shared by the files of `serve`. */
#ifndef SP_CMD_SERVE_H
#define SP_CMD_SERVE_H

#include "cli/service.h"

/* Instances of other sizes, best first, or the front; and one of them under the current scope. */
void sp_put_serve_points(struct serve *f);
void sp_put_serve_point(const struct serve *f, const struct sp_serve_point *point);

/* Several machines of --hw. */
bool sp_compare_serving(const struct sp_args *args, struct sp_report *report,
                        struct sp_error *error);

#endif
