// Laws: what must hold whatever a hand does.
//
//   rest_drift     nothing given, no gravity: 10,000 substeps move no vertex
//   momentum_err   a wobbling character that flies freely keeps its momentum for a second
//   given_dof_err  hands jump about on random handles, with random coordinates given: they are met in every frame
//   toggle_jump    a degree of freedom is locked or freed: free vertices are not kicked by it
//   recover_s      a handle is 10 sizes away within one frame, for half a second, and is let go

#include "rigpbd_bench.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum
{
    snw_restFrames = 667,    // 10,000 substeps
    snw_wanderFrames = 240,  //
    snw_recoverFrames = 900, // at most
    snw_toggleHistory = 10,
    snw_toggleCount = 8,
};

static const char* const s_characters[] = {"starfish", "bunny", "manikin"};

static double Random(uint64_t* seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) * 0x1p-53;
}

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

static void AddRow(snwRigpbdRows* rows, const char* character, const char* metric, double value, double target)
{
    snwBenchRow row = snwMakeBenchRow(character, "rigpbd", metric);
    row.value = value;
    row.n = 1;
    row.target = target;
    if (isfinite(target))
        row.op = "<=";
    if (!isfinite(value))
        snprintf(row.note, sizeof row.note, "never within %d frames", (int)snw_recoverFrames);
    snwRigpbdRows_Add(rows, &row);
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
            handle = (int)(Random(&seed) * handles);
            mask = ((uint32_t)(Random(&seed) * 8) | 1) & AllPlaces(stage);
        }
        snwVec3 place = snwRigStage_HandlePlace(stage, handle);
        double reach = 0.1 * stage->size;
        place.x += reach * (2 * Random(&seed) - 1);
        place.y += reach * (2 * Random(&seed) - 1);
        snwRigStage_Give(stage, handle, mask, place);
        result = snwRigStage_Step(stage, message);
        *error = fmax(*error, MissedBy(stage, handle, mask, place));
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Sudden changes

typedef struct Kicks
{
    snwVec3* last; // velocities before the substep
    double history[snw_toggleHistory];
    int count;
} Kicks;

// One substep of 1/900 s; the largest change of a vertex' velocity.
static snwResult Substep(snwRigStage* stage, Kicks* kicks, double* kick, snwMessage* message)
{
    snwVertices now;
    snwResult result = snwSim_Step(stage->sim, 1.0 / 900, message);
    snwSim_GetVertices(stage->sim, 0, &now);
    *kick = 0;
    for (int i = 0; i < now.count; ++i)
    {
        snwVec3 v = VertexOf(&now, now.velocities, i);
        *kick = fmax(*kick, snwVec3_Distance(v, kicks->last[i]));
        kicks->last[i] = v;
    }
    return result;
}

static double HistoryMost(const Kicks* kicks)
{
    double most = 0;
    for (int i = 0; i < snw_toggleHistory; ++i)
        most = fmax(most, kicks->history[i]);
    return most;
}

// A hand swings one handle; another one is locked where it is, and freed, again and again.
static snwResult ToggleJump(snwRigStage* stage, double* worst, snwMessage* message)
{
    Kicks kicks = {.last = calloc((size_t)stage->character->def.vertexCount, sizeof *kicks.last)};
    int other = snwCharacter_HandleCount(stage->character) - 1, period = 180;
    snwVec3 rest = snwRigStage_HandleRest(stage, 0);
    snwResult result = kicks.last == NULL ? snw_errorMemory : snw_ok;
    *worst = 0;
    for (int i = 0; i < period * snw_toggleCount && result >= 0; ++i)
    {
        double t = i / 900.0, kick = 0;
        snwVec3 place = {rest.x + 0.15 * stage->size * sin(6 * t), rest.y + 0.1 * stage->size * sin(4.3 * t), rest.z};
        snwRigStage_Give(stage, 0, AllPlaces(stage), place);
        bool toggles = i % period == 0 && i > 0;
        if (toggles)
            snwRigStage_Give(
                stage, other, i / period % 2 == 1 ? AllPlaces(stage) : 0, snwRigStage_HandlePlace(stage, other));
        result = Substep(stage, &kicks, &kick, message);
        if (toggles)
            *worst = fmax(*worst, kick / HistoryMost(&kicks));
        kicks.history[kicks.count++ % snw_toggleHistory] = kick;
    }
    free(kicks.last);
    return result;
}

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

static void AddRest(snwRigpbdRows* rows, snwRigStage* stage, const char* character)
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

typedef snwResult LawFn(snwRigStage* stage, double* value, snwMessage* message);

typedef struct Law
{
    const char* metric;
    LawFn* measure;
    double target;
    snwSetting setting; // name NULL: none
} Law;

static const Law s_laws[] = {
    {"given_dof_err", GivenError, 1e-6, {0}},
    {"toggle_jump", ToggleJump, 1.2, {"sim.substeps", 1}},
    {"recover_s", RecoverTime, NAN, {"rigpbd.settle", 4}},
};

static void AddCase(snwRigpbdRows* rows, const char* character)
{
    snwRigStage stage;
    snwRigStageDef def = {.character = character};
    rows->result = snwRigStage_Open(&stage, &def, rows->message);
    if (rows->result < 0)
        return;
    AddRest(rows, &stage, character);
    for (size_t i = 0; i < sizeof s_laws / sizeof *s_laws && rows->result >= 0; ++i)
    {
        double value = NAN;
        def.settings[0] = s_laws[i].setting;
        rows->result = snwRigStage_Reopen(&stage, &def, rows->message);
        if (rows->result >= 0)
            rows->result = s_laws[i].measure(&stage, &value, rows->message);
        if (rows->result >= 0)
            AddRow(rows, character, s_laws[i].metric, value, s_laws[i].target);
    }
    snwRigStage_Close(&stage);
}

void snwAddRigpbdLaws(snwRigpbdRows* rows)
{
    for (size_t i = 0; i < sizeof s_characters / sizeof *s_characters && rows->result >= 0; ++i)
        AddCase(rows, s_characters[i]);
}
