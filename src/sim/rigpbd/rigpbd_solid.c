// The passes over solid flesh that is alone: nothing touches, pins or drags it. Then nobody asks for its positions
// within a substep, or where it began: elements and rig read what is predicted and how it was moved from there, and the
// state is met twice, here. Numbers are the same as with all passes of rigpbd.c, but these wait for memory.

#include "sim/rigpbd/rigpbd.h"

void snwRigpbd_PredictSolid(int begin, int end, void* data)
{
    const snwRigpbdPass* pass = data;
    const snwRow h = {pass->h, pass->h, pass->h, 0.0f}, acceleration = pass->acceleration;
    float *positions = pass->work->state.positions, *velocities = pass->work->state.velocities,
          *predicted = pass->work->predicted, *moves = pass->work->moves;
    for (int i = begin; i < end; ++i)
    {
        snwRow v = *snwRigpbd_RowAt(velocities, i) + acceleration;
        *snwRigpbd_RowAt(velocities, i) = v;
        *snwRigpbd_RowAt(predicted, i) = *snwRigpbd_RowAt(positions, i) + h * v;
        *snwRigpbd_RowAt(moves, i) = (snwRow){0};
    }
}

// x = p + d and v = (v + d / h) keep.
void snwRigpbd_FinishSolid(int begin, int end, void* data)
{
    const snwRigpbdPass* pass = data;
    const snwRow rate = {pass->inverseH, pass->inverseH, pass->inverseH, 0.0f};
    const snwRow keep = {pass->keep, pass->keep, pass->keep, 1.0f};
    const snwRigpbdBound bound = snwRigpbd_Bound(pass->work);
    float *positions = pass->work->state.positions, *velocities = pass->work->state.velocities,
          *predicted = pass->work->predicted, *moves = pass->work->moves;
    for (int i = begin; i < end; ++i)
    {
        snwRow d = *snwRigpbd_RowAt(moves, i), *v = snwRigpbd_RowAt(velocities, i);
        *snwRigpbd_RowAt(positions, i) = *snwRigpbd_RowAt(predicted, i) + d;
        *v = snwRigpbd_LimitVelocity((*v + d * rate) * keep, &bound);
    }
}
