// Toggles: a hand leads one handle steadily, another one is locked and freed again and again. How much velocities of
// the flesh change in the substep that does it, of what they changed by in the ten before.
//
//   toggle_jump   of what the ten substeps changed together
//   toggle_kick   of what the one of them changed that changed most: nothing at all is felt at 1
//   toggle_after  the most that any substep changed of the step that toggles and of the next, in which a locked handle
//                 stops, of what the ten before the toggle changed together: nothing is put off to where nobody looks.
//                 Limits that are hit just then count, too: a manikin has 8 there with nothing toggled at all
//
// The way of the hand is longer than chains are: locked handles come out of reach, and joints open. Of each character
// four handles take their turns, and the worst counts: what is felt depends on the handle, and constants that are good
// for one of them are not good for all.

#include "rigpbd_bench.h"

#include "base/result.h"

#include <math.h>
#include <stdlib.h>

enum
{
    snw_toggleHistory = 10, // substeps
    snw_togglePeriod = 12,  // frames
    snw_toggleCount = 8,
    snw_toggledHandles = 4,
};

static const char* const s_characters[] = {"ghost", "starfish", "worm", "ellipse", "mushroom", "octopus-2d", "fish-2d",
    "bunny", "manikin", "reptile", "fish", "horse"};

// Looks on at every substep: how much the velocity of any vertex changes.
typedef struct Watch
{
    const snwMethod* method; // that is looked on at
    int toggled;
    snwVec3* velocities;
    double history[snw_toggleHistory];
    int substeps;
    bool toggles;  // in the next substep
    int since;     // substeps after the last toggle
    double before; // what velocities had changed by in the ten before it, together; 0: there was none yet
    snwToggleJump worst;
} Watch;

static double KickOf(const Watch* watch, const snwSim* sim)
{
    double kick = 0;
    snwVertices now;
    snwSim_GetVertices(sim, 0, &now);
    for (int i = 0; i < now.count; ++i)
    {
        const float* row = (const float*)((const char*)now.velocities + (size_t)i * (size_t)now.stride);
        snwVec3 velocity = {row[0], row[1], row[2]};
        kick = fmax(kick, snwVec3_Distance(velocity, watch->velocities[i]));
        watch->velocities[i] = velocity;
    }
    return kick;
}

static snwResult WatchStep(snwSim* sim, double h, snwMessage* message)
{
    Watch* watch = sim->context->logUser;
    snwResult result = watch->method->step(sim, h, message);
    double kick = KickOf(watch, sim), together = 0, largest = 0;
    for (int i = 0; i < snw_toggleHistory; ++i)
        together += watch->history[i], largest = fmax(largest, watch->history[i]);
    if (watch->toggles)
    {
        watch->since = 0, watch->before = together;
        watch->worst.together = fmax(watch->worst.together, kick / together);
        watch->worst.single = fmax(watch->worst.single, kick / largest);
    }
    if (watch->before > 0 && watch->since++ < 2 * snw_stageSubsteps)
        watch->worst.after = fmax(watch->worst.after, kick / watch->before);
    watch->toggles = false;
    watch->history[watch->substeps++ % snw_toggleHistory] = kick;
    return result;
}

// At a steady speed: commands name places at the ends of frames, so a hand that turns has kicks of its own there. The
// other handle is locked where it is going to be.
static snwResult Toggle(snwRigStage* stage, Watch* watch, snwMessage* message)
{
    const uint32_t places = snw_dofX | snw_dofY | snw_dofZ;
    snwVec3 rest = snwRigStage_HandleRest(stage, 0), before = snwRigStage_HandlePlace(stage, watch->toggled);
    snwResult result = snw_ok;
    for (int i = 0; i < snw_togglePeriod * snw_toggleCount && result >= 0; ++i)
    {
        double t = i / 60.0;
        snwVec3 place = {rest.x + 0.3 * stage->size * t, rest.y + 0.2 * stage->size * t, rest.z};
        snwVec3 now = snwRigStage_HandlePlace(stage, watch->toggled);
        snwRigStage_Give(stage, 0, places, place);
        watch->toggles = i % snw_togglePeriod == 0 && i > 0;
        if (watch->toggles)
            snwRigStage_Give(stage, watch->toggled, i / snw_togglePeriod % 2 == 1 ? places : 0,
                snwVec3_Sub(snwVec3_Scale(now, 2), before));
        before = now;
        result = snwRigStage_Step(stage, message);
    }
    return result;
}

snwResult snwRigStage_ToggleJump(
    snwRigStage* stage, const snwRigStageDef* what, double which, snwToggleJump* worst, snwMessage* message)
{
    const snwMethod* method = snwMethod_Get(snwMethod_Find("rigpbd"));
    snwMethod watched = *method;
    Watch watch = {.method = method};
    snwRigStageDef def = *what;
    def.method = &watched, def.user = &watch;
    watched.step = WatchStep;
    snwResult result = stage->character == NULL ? snwRigStage_Open(stage, &def, message)
                                                : snwRigStage_Reopen(stage, &def, message);
    if (result < 0)
        return result;
    stage->context->logUser = &watch;
    watch.toggled = (int)(which * (snwCharacter_HandleCount(stage->character) - 1));
    watch.toggled = watch.toggled > 0 ? watch.toggled : 1;
    watch.velocities = calloc((size_t)stage->character->def.vertexCount, sizeof *watch.velocities);
    if (watch.velocities == NULL)
        result = snwFailMemory(message);
    if (result >= 0)
        result = Toggle(stage, &watch, message);
    *worst = watch.worst;
    // The sim steps with a method that is gone when this returns.
    snwDestroySim(stage->sim);
    stage->sim = NULL;
    free(watch.velocities);
    return result;
}

void snwAddRigpbdToggles(snwBenchRows* rows)
{
    for (size_t i = 0; i < sizeof s_characters / sizeof *s_characters && rows->result >= 0; ++i)
    {
        snwToggleJump worst = {0};
        snwRigStage stage = {0};
        snwRigStageDef def = {.character = s_characters[i]};
        snwBenchRow row = snwMakeBenchRow(s_characters[i], "rigpbd", "toggle_jump");
        for (int k = 1; k <= snw_toggledHandles && rows->result >= 0; ++k)
        {
            snwToggleJump jump = {0};
            rows->result = snwRigStage_ToggleJump(&stage, &def, k / (double)snw_toggledHandles, &jump, rows->message);
            worst.together = fmax(worst.together, jump.together), worst.single = fmax(worst.single, jump.single);
            worst.after = fmax(worst.after, jump.after);
        }
        snwRigStage_Close(&stage);
        if (rows->result < 0)
            return;
        row.value = worst.together;
        row.n = snw_toggledHandles;
        row.target = 1.2;
        row.op = "<=";
        snwBenchRows_Add(rows, &row);
        snwBenchRows_AddValue(rows, s_characters[i], "rigpbd", "toggle_kick", worst.single);
        snwBenchRows_AddValue(rows, s_characters[i], "rigpbd", "toggle_after", worst.after);
    }
}
