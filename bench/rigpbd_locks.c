// Locks: one handle is held whole where it is, a hard hand tears another one about by a third of the size from frame to
// frame. Both must be met in every frame, on every character: points, cages, chains, flat and solid.

#include "rigpbd_bench.h"

#include <math.h>
#include <stdint.h>

enum
{
    snw_flatLockFrames = 60,
    snw_solidLockFrames = 8,
};

static const char* const s_characters[] = {"ghost", "starfish", "worm", "ellipse", "mushroom", "octopus-2d", "fish-2d",
    "bunny", "fish", "manikin", "reptile", "cow", "dragon", "octopus"};

// rad: how far a handle that is held turned.
static double Turn(const snwRigStage* stage, int handle)
{
    snwTransforms handles;
    if (snwSim_GetHandles(stage->sim, 0, &handles) < 0)
        return NAN;
    snwQuat q = handles.data[handle].rotation;
    return 2 * atan2(sqrt(q.x * q.x + q.y * q.y + q.z * q.z), fabs(q.w));
}

static snwResult LockedError(snwRigStage* stage, double* error, snwMessage* message)
{
    int last = snwCharacter_HandleCount(stage->character) - 1;
    bool flat = stage->character->def.triangleCount > 0;
    snwVec3 home = snwRigStage_HandleRest(stage, 0), locked = snwRigStage_HandleRest(stage, last);
    double reach = 0.33 * stage->size;
    uint64_t seed = 7;
    snwResult result = snw_ok;
    snwRigStage_Give(stage, last, snw_dofAll, locked);
    *error = 0;
    for (int i = 0; i < (flat ? snw_flatLockFrames : snw_solidLockFrames) && result >= 0; ++i)
    {
        double x = 2 * snwBenchRandom(&seed) - 1, y = 2 * snwBenchRandom(&seed) - 1,
               z = flat ? 0 : 2 * snwBenchRandom(&seed) - 1;
        snwVec3 place = snwVec3_MulAdd(home, reach, (snwVec3){x, y, z});
        snwRigStage_Give(stage, 0, snw_dofX | snw_dofY | snw_dofZ, place);
        result = snwRigStage_Step(stage, message);
        *error = fmax(*error, snwVec3_Distance(snwRigStage_HandlePlace(stage, 0), place) / stage->size);
        *error = fmax(*error, snwVec3_Distance(snwRigStage_HandlePlace(stage, last), locked) / stage->size);
        *error = fmax(*error, Turn(stage, last));
    }
    return result;
}

void snwAddRigpbdLocks(snwBenchRows* rows)
{
    for (size_t i = 0; i < sizeof s_characters / sizeof *s_characters && rows->result >= 0; ++i)
    {
        snwRigStage stage;
        snwRigStageDef def = {.character = s_characters[i]};
        snwBenchRow row = snwMakeBenchRow(s_characters[i], "rigpbd", "locked_dof_err");
        rows->result = snwRigStage_Open(&stage, &def, rows->message);
        if (rows->result < 0)
            return;
        rows->result = LockedError(&stage, &row.value, rows->message);
        row.n = 1;
        row.target = 1e-6;
        row.op = "<=";
        if (rows->result >= 0)
            snwBenchRows_Add(rows, &row);
        snwRigStage_Close(&stage);
    }
}
