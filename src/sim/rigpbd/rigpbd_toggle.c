// What the flesh feels of a step in which degrees of freedom are locked or let go of.
//
// The rig obeys at once: what is given is met. But another pose is then the best one, joints that were open are held by
// gaps in place of springs or the other way round, and flesh that followed hard would be struck. So it follows within
// the step, as handles that are newly given do:
//   - in the first substep it is pushed as it was in the substep before, whatever the rig does;
//   - by that it comes to lag behind the rig. What it lags by then grows and shrinks as
//         f(t) = t (1 - t)^3 (1 + 3 t),
//     t from 0 to 1 within the step: the quintic that starts with a slope and no curvature, and ends with neither. So
//     velocities change by at most 3.9 / n of what they would have changed by at once, n being the number of substeps,
//     and nothing is left of it when the step ends.
// The lag is one of what is held alone, as the complement sees it: `kept` of snwRigHold. Other than compliance, which
// is a spring, it cannot ring; where there is compliance, less of it is needed. With one substep per step all is at
// once.
//
// What is locked goes on to its target at the speed that it has, and stops there, if nobody leads it on. That is felt
// as much, so the step after the one that locks is such a step, too, but where the handle was thrown.

#include "sim/rigpbd/rigpbd.h"

#include <math.h>

static double Lag(double t)
{
    double left = 1.0 - t;
    return t * left * left * left * (1.0 + 3.0 * t);
}

bool snwRigpbd_Toggles(const snwRigpbdWork* work)
{
    bool any = false;
    for (int i = 0; i < work->model->handleCount; ++i)
    {
        const snwRigpbdHandle* handle = &work->state.handles[i];
        any = any || handle->stops || (handle->moves && (handle->fresh | handle->leaving) != 0);
    }
    return any;
}

static bool IsFirstToggle(const snwRigpbdPart* now)
{
    return now->toggles && now->end < 1.5 * now->length && now->end < 1.0;
}

void snwRigpbd_EaseToggle(const snwRigpbdPart* now, snwRigHold* hold)
{
    if (!now->toggles || now->end < 1.5 * now->length)
        return;
    double hard = 1.0 - hold->kept;
    hold->kept += hard * hard * Lag(now->end) / Lag(now->end - now->length);
}

enum
{
    snw_poseNumbers = sizeof(snwRigPose) / sizeof(double),
};

bool snwRigpbd_EaseAnswer(
    const snwRigpbdWork* work, const snwRigHold* hold, const snwRigpbdPart* now, snwRigPose* answer)
{
    int count = work->model->handleCount * snw_poseNumbers;
    double *numbers = (double*)answer, *before = (double*)work->state.answer;
    double hard = 1.0 - hold->kept, part = hard * hard, square = now->h * now->h, rate = 1.0 / square;
    bool first = IsFirstToggle(now);
    for (int i = 0; i < count; ++i)
    {
        if (first)
            numbers[i] += part * (square * before[i] - numbers[i]);
        else
            before[i] = rate * numbers[i];
    }
    return first;
}
