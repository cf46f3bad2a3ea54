// What the parts of `sinew bench rigpbd` share.

#pragma once

#include "parts.h"
#include "sinew/tools.h"
#include "sim/method.h"

// ---------------------------------------------------------------------------------------------------------------------
// A stage: one built-in character, alone, without gravity, 60 frames per second, one thread

enum
{
    snw_stageSubsteps = 15, // the paper's
    snw_maxStageSettings = 6
};

typedef struct snwRigStageDef
{
    const char* character;
    bool painted;   // for pictures: to paint takes longer than all the rest of flat characters
    double gravity; // m/s^2, downwards
    snwSetting settings[snw_maxStageSettings]; // a name NULL ends them; sim.substeps is 15 unless it is among them
    const snwMethod* method;                   // NULL: rigpbd; must outlive the stage
    void* user;                                // the context's logUser, for a method that looks on
} snwRigStageDef;

typedef struct snwRigStage
{
    snwContext* context;
    snwSceneFile file;
    snwSim* sim;
    const snwCharacter* character;
    double size; // m, of its bounds
} snwRigStage;

snwResult snwRigStage_Open(snwRigStage* stage, const snwRigStageDef* def, snwMessage* message);
// Another sim of the same character, in the place of the one that is there.
snwResult snwRigStage_Reopen(snwRigStage* stage, const snwRigStageDef* def, snwMessage* message);
void snwRigStage_Close(snwRigStage* stage);

snwResult snwRigStage_Step(snwRigStage* stage, snwMessage* message);

// Where a handle rests, and where its point is now.
snwVec3 snwRigStage_HandleRest(const snwRigStage* stage, int handle);
snwVec3 snwRigStage_HandlePlace(const snwRigStage* stage, int handle);
// From the next step on; mask 0 lets go.
void snwRigStage_Give(snwRigStage* stage, int handle, uint32_t mask, snwVec3 place);

snwVec3 snwRigStage_Shown(const snwRigStage* stage, int vertex);
// Elements that are inside out as they are shown.
int snwRigStage_Flipped(const snwRigStage* stage);
// Largest distance of a shown vertex from the rest shape, up to the rigid motion that fits best, of the size.
double snwRigStage_Distortion(const snwRigStage* stage);

// What a vertex' velocity changes by in a substep that locks or frees a handle; see rigpbd_toggles.c.
typedef struct snwToggleJump
{
    double together; // of what velocities changed by in the ten substeps before, together
    double single;   // of the largest of these
    double after;    // the most of any substep of two steps from there on, of the ten before the toggle together
} snwToggleJump;

// stage: all zero, or with the character of def from a call before; to be closed by the caller in either case. def's
// method and user are not read. which: 0 .. 1, the handle that is locked and freed, 1 the last; never the first
// one, which the hand leads.
snwResult snwRigStage_ToggleJump(
    snwRigStage* stage, const snwRigStageDef* def, double which, snwToggleJump* worst, snwMessage* message);

// ---------------------------------------------------------------------------------------------------------------------
// Parts

void snwAddRigpbdTable(snwBenchRows* rows);      // Table 1
void snwAddRigpbdSolid(snwBenchRows* rows);      // the same in 3D
void snwAddRigpbdRivals(snwBenchRows* rows);     // Fig. 7, and its picture
void snwAddRigpbdSmoothness(snwBenchRows* rows); // Fig. 9
void snwAddRigpbdLaws(snwBenchRows* rows);       // rest, momentum, given degrees of freedom, throws
void snwAddRigpbdToggles(snwBenchRows* rows);    // handles that are locked and freed, on all characters
void snwAddRigpbdLocks(snwBenchRows* rows);      // one handle locked, another torn about, on all characters
void snwAddRigpbdExact(snwBenchRows* rows);      // moments and the complementary step against literal sums
