/* --tp-comm-overlap of Megatron-LM: whether TP's communication overlaps its matmuls, by which
 * Megatron-LM and NeMo differ. */
#include "base/text.h"

#include "launch/fields/assumed.h"
#include "launch/megatron/megatron.h"

/* Without --tp-comm-overlap the export's comment names the framework, except that "nemo" does not
 * count with TP and sequence parallelism: NeMo's launch would have had that flag. */
void sp_read_tp_overlap(struct sp_settings *s, struct sp_settings *assumed)
{
    const char *const said = sp_setting(assumed, "framework");
    const bool overlaps = sp_setting(s, "--tp-comm-overlap"),
               shows = sp_plan_whole(s, "tp") > 1 && sp_setting(s, "--sequence-parallel");
    if (overlaps && !(said && sp_is(said, "nemo")))
        sp_launch_note(s, "--tp-comm-overlap: taken as --framework nemo, which overlaps TP");
    sp_launch_option(s, "framework", "%s",
                     overlaps                                  ? "nemo"
                     : said && !(shows && sp_is(said, "nemo")) ? said
                                                               : "megatron");
}

bool sp_overlaps_tp(const struct sp_launched *l)
{
    return l->plan->sequence_parallel && sp_is(l->framework, "nemo");
}
