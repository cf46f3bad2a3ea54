// The passes over flat flesh that is alone: nothing touches, pins or drags it. Then a substep needs no positions, no
// moves of their own and nothing of where it began: the plane's rows (x y predicted, x y moved) are all, the elements
// and the rig read and write nothing else, and the state is met twice, here. Numbers are the same as with all passes of
// rigpbd.c, but these wait for memory, and five of them took as long as the elements.

#include "sim/rigpbd/rigpbd.h"

#include <math.h>

enum
{
    snw_mostSpeed = 15, // sizes per second that a vertex has against the handles
    snw_planeChunk = 32,
};

snwRigpbdBound snwRigpbd_Bound(const snwRigpbdWork* work)
{
    snwVec3 mean = snwRigpbd_MeanVelocity(work);
    return (snwRigpbdBound){.centre = {(float)mean.x, (float)mean.y, (float)mean.z, 0.0f},
        .most = work->model->handleCount > 0 ? (float)(snw_mostSpeed * work->model->size) : INFINITY};
}

static snwPlaneStep MakePlaneStep(const snwRigpbdPass* pass, snwRow centre)
{
    return (snwPlaneStep){.positions = pass->work->state.positions,
        .velocities = pass->work->state.velocities,
        .plane = pass->work->plane,
        .acceleration = pass->acceleration,
        .centre = centre,
        .h = pass->h,
        .inverseH = pass->inverseH,
        .keep = pass->keep};
}

void snwRigpbd_PredictPlane(int begin, int end, void* data)
{
    const snwRigpbdPass* pass = data;
    snwPlaneStep step = MakePlaneStep(pass, (snwRow){0});
    pass->kernels->planePredict(&step, begin, end);
}

// Few velocities are too large: a chunk is looked through only if one may be. (Rounded sums may miss a bound by a bit.)
void snwRigpbd_FinishPlane(int begin, int end, void* data)
{
    const snwRigpbdPass* pass = data;
    snwRigpbdBound bound = snwRigpbd_Bound(pass->work);
    snwPlaneStep step = MakePlaneStep(pass, bound.centre);
    float most = 0.99f * bound.most * bound.most;
    for (int first = begin; first < end; first += snw_planeChunk)
    {
        int last = first + snw_planeChunk < end ? first + snw_planeChunk : end;
        bool fast = !(pass->kernels->planeFinish(&step, first, last) < most);
        for (int i = first; i < last && fast; ++i)
        {
            snwRow* v = snwRigpbd_RowAt(pass->work->state.velocities, i);
            *v = snwRigpbd_LimitVelocity(*v, &bound);
        }
    }
}
