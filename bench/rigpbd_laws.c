// Laws: what must hold whatever a hand does.
//
//   rest_drift     nothing given, no gravity: 10,000 substeps move no vertex
//   momentum_err   a wobbling character that flies freely keeps its momentum for a second
//   given_dof_err  firm hands jump about on random handles, with random coordinates given: they are met in every frame
//   recover_s      a handle is 10 sizes away within one frame, for half a second, and is let go, in air that stops the
//                  spin: a soft body that spins on keeps another shape. Of the flesh: a cage shows turns badly

#include "rigpbd_bench.h"

#include "base/result.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum
{
    snw_restFrames = 667,    // 10,000 substeps
    snw_wanderFrames = 240,  //
    snw_recoverFrames = 900, // at most
    snw_recoverSeconds = 15, // those
};

static const char* const s_characters[] = {"starfish", "bunny", "manikin"};
static const char* const s_thrown[] = {"ghost", "starfish", "worm", "ellipse", "mushroom", "octopus-2d", "fish-2d",
    "bunny", "manikin", "reptile", "fish", "horse"};

static void LetGo(snwRigStage* stage)
{
    for (int k = 0; k < snwCharacter_HandleCount(stage->character); ++k)
        snwRigStage_Give(stage, k, 0, snwRigStage_HandlePlace(stage, k));
}

static bool IsFlat(const snwRigStage* stage)
{
    return stage->character->def.triangleCount > 0;
}

static uint32_t AllPlaces(const snwRigStage* stage)
{
    return IsFlat(stage) ? snw_dofX | snw_dofY : snw_dofX | snw_dofY | snw_dofZ;
}

static snwResult StepTimes(snwRigStage* stage, int count, snwMessage* message)
{
    snwResult result = snw_ok;
    for (int i = 0; i < count && result >= 0; ++i)
        result = snwRigStage_Step(stage, message);
    return result;
}

static snwVec3 VertexOf(const snwVertices* vertices, const float* first, int index)
{
    const float* row = (const float*)((const char*)first + (size_t)index * (size_t)vertices->stride);
    return (snwVec3){row[0], row[1], row[2]};
}

static void AddRow(snwBenchRows* rows, const char* character, const char* metric, double value, double target)
{
    snwBenchRow row = snwMakeBenchRow(character, "rigpbd", metric);
    row.value = value;
    row.n = 1;
    row.target = target;
    if (isfinite(target))
        row.op = "<=";
    if (!isfinite(value))
        snprintf(row.note, sizeof row.note, "never within %d frames", (int)snw_recoverFrames);
    snwBenchRows_Add(rows, &row);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rest and momentum

static double Drift(const snwRigStage* stage)
{
    double farthest = 0;
    snwVertices now;
    snwSim_GetVertices(stage->sim, 0, &now);
    for (int i = 0; i < now.count; ++i)
        farthest = fmax(
            farthest, snwVec3_Distance(VertexOf(&now, now.positions, i), stage->character->def.vertices[i]));
    return farthest / stage->size;
}

static snwVec3 Momentum(const snwRigStage* stage, double* sizes)
{
    snwVertices now;
    snwVec3 sum = {0, 0, 0};
    snwSim_GetVertices(stage->sim, 0, &now);
    *sizes = 0;
    for (int i = 0; i < now.count; ++i)
    {
        snwVec3 p = snwVec3_Scale(VertexOf(&now, now.velocities, i), stage->character->masses[i]);
        sum = snwVec3_Add(sum, p);
        *sizes += snwVec3_Length(p);
    }
    return sum;
}

// Thrown by a handle, then free.
static snwResult MomentumError(snwRigStage* stage, double* error, snwMessage* message)
{
    snwVec3 rest = snwRigStage_HandleRest(stage, 0);
    snwResult result = snw_ok;
    double sizes;
    for (int i = 0; i < 20 && result >= 0; ++i)
    {
        snwVec3 place = {rest.x + 0.02 * i * stage->size, rest.y + 0.1 * stage->size * sin(0.3 * i), rest.z};
        snwRigStage_Give(stage, 0, AllPlaces(stage), place);
        result = snwRigStage_Step(stage, message);
    }
    LetGo(stage);
    if (result >= 0)
        result = snwRigStage_Step(stage, message);
    snwVec3 before = Momentum(stage, &sizes);
    if (result >= 0)
        result = StepTimes(stage, 60, message);
    *error = snwVec3_Distance(Momentum(stage, &sizes), before) / sizes;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Given degrees of freedom

static double MissedBy(const snwRigStage* stage, int handle, uint32_t mask, snwVec3 place)
{
    snwVec3 now = snwRigStage_HandlePlace(stage, handle);
    double missed = 0;
    if ((mask & snw_dofX) != 0)
        missed = fmax(missed, fabs(now.x - place.x));
    if ((mask & snw_dofY) != 0)
        missed = fmax(missed, fabs(now.y - place.y));
    if ((mask & snw_dofZ) != 0)
        missed = fmax(missed, fabs(now.z - place.z));
    return missed / stage->size;
}

// One hand, which changes its handle and what it holds of it every ten frames.
static snwResult GivenError(snwRigStage* stage, double* error, snwMessage* message)
{
    uint64_t seed = 11;
    int handle = 0, handles = snwCharacter_HandleCount(stage->character);
    uint32_t mask = 0;
    snwResult result = snw_ok;
    *error = 0;
    for (int i = 0; i < snw_wanderFrames && result >= 0; ++i)
    {
        if (i % 10 == 0)
        {
            LetGo(stage);
            handle = (int)(snwBenchRandom(&seed) * handles);
            mask = ((uint32_t)(snwBenchRandom(&seed) * 8) | 1) & AllPlaces(stage);
        }
        snwVec3 place = snwRigStage_HandlePlace(stage, handle);
        double reach = 0.1 * stage->size;
        place.x += reach * (2 * snwBenchRandom(&seed) - 1);
        place.y += reach * (2 * snwBenchRandom(&seed) - 1);
        snwRigStage_Give(stage, handle, mask, place);
        result = snwRigStage_Step(stage, message);
        *error = fmax(*error, MissedBy(stage, handle, mask, place));
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Thrown

// s; INFINITY: not at all.
static snwResult RecoverTime(snwRigStage* stage, double* seconds, snwMessage* message)
{
    snwVec3 place = snwRigStage_HandleRest(stage, 0);
    place.x += 10 * stage->size;
    snwRigStage_Give(stage, 0, AllPlaces(stage), place);
    snwResult result = StepTimes(stage, 30, message);
    LetGo(stage);
    *seconds = NAN;
    for (int i = 1; i <= snw_recoverFrames && result >= 0 && isnan(*seconds); ++i)
    {
        result = snwRigStage_Step(stage, message);
        if (result >= 0 && snwRigStage_Distortion(stage) <= 0.01)
            *seconds = i / 60.0;
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

static void AddRest(snwBenchRows* rows, snwRigStage* stage, const char* character)
{
    snwRigStageDef def = {.character = character};
    double error = NAN;
    LetGo(stage);
    rows->result = StepTimes(stage, snw_restFrames, rows->message);
    if (rows->result < 0)
        return;
    AddRow(rows, character, "rest_drift", Drift(stage), 1e-6);
    rows->result = snwRigStage_Reopen(stage, &def, rows->message);
    if (rows->result >= 0)
        rows->result = MomentumError(stage, &error, rows->message);
    if (rows->result >= 0)
        AddRow(rows, character, "momentum_err", error, 1e-5);
}

static void AddCase(snwBenchRows* rows, const char* character)
{
    snwRigStage stage;
    snwRigStageDef def = {.character = character};
    rows->result = snwRigStage_Open(&stage, &def, rows->message);
    if (rows->result < 0)
        return;
    AddRest(rows, &stage, character);
    double error = NAN;
    snwRigStageDef firm = {.character = character, .settings = {{"rigpbd.hands", 1}}};
    if (rows->result >= 0)
        rows->result = snwRigStage_Reopen(&stage, &firm, rows->message);
    if (rows->result >= 0)
        rows->result = GivenError(&stage, &error, rows->message);
    if (rows->result >= 0)
        AddRow(rows, character, "given_dof_err", error, 1e-6);
    snwRigStage_Close(&stage);
}

static void AddRecovery(snwBenchRows* rows, const char* character)
{
    snwRigStage stage;
    snwRigStageDef def = {
        .character = character, .settings = {{"rigpbd.settle", 4}, {"rigpbd.drag", 2}, {"rigpbd.show", 1}}};
    double seconds = NAN;
    rows->result = snwRigStage_Open(&stage, &def, rows->message);
    if (rows->result < 0)
        return;
    rows->result = RecoverTime(&stage, &seconds, rows->message);
    if (rows->result >= 0)
        AddRow(rows, character, "recover_s", seconds, snw_recoverSeconds);
    snwRigStage_Close(&stage);
}

void snwAddRigpbdLaws(snwBenchRows* rows)
{
    for (size_t i = 0; i < sizeof s_characters / sizeof *s_characters && rows->result >= 0; ++i)
        AddCase(rows, s_characters[i]);
    for (size_t i = 0; i < sizeof s_thrown / sizeof *s_thrown && rows->result >= 0; ++i)
        AddRecovery(rows, s_thrown[i]);
}
