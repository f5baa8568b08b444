/* Health rules of a step. */
#include <scaleplan/step.h>

#include <scaleplan/forms.h>

const double sp_healthy_comm_share = 0.3;
const double sp_healthy_busy_share = 0.8;

/* Busy as in nvidia-smi: waiting in a collective runs a kernel. Otherwise this rule would repeat
 * the one on communication. */
struct sp_health sp_health_of(const struct sp_step_time *t)
{
    struct sp_health h = {
        .comm_s = t->tp_comm + t->cp_comm + t->ep_comm + t->dp_comm + t->pp_comm,
        .idle_s = t->bubble + t->launch + t->offload,
    };
    h.comm_share =
        sp_comm_share(t->tp_comm, t->cp_comm, t->ep_comm, t->dp_comm, t->pp_comm, t->step);
    h.busy_share = sp_busy_share(t->bubble, t->launch, t->offload, t->step);
    h.comm_ok = h.comm_share < sp_healthy_comm_share;
    h.busy_ok = h.busy_share > sp_healthy_busy_share;
    h.healthy = h.comm_ok && h.busy_ok;
    return h;
}
