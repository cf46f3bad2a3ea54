// Small rigged characters for tests of methods that know bones: blocks of flesh with bones inside, and chains of rigid
// blocks.

#pragma once

#include "sinew/sinew.h"

// A bar along x, centred on the origin, one metre long and a quarter high and deep: 13 x 3 x 3 cells. Two bones lie in
// its core, with a joint of this type between them at the origin, axis z.
typedef struct snwRiggedBar
{
    snwJointDef joint; // bones and position are filled in
    bool bones;        // false: all is flesh
    bool rigid;        // bones only: two blocks and no flesh
    snwMaterial material;
    double boneDensity; // kg/m^3; 0: that of the material
} snwRiggedBar;

snwRiggedBar snwRigged_DefaultBar(void);
snwCharacter* snwRigged_MakeBar(snwContext* context, const snwRiggedBar* bar);

// Rigid blocks of this size (m) along x, the first one beginning at the origin, each joined to the next in the middle
// of the faces where they meet. joint: type, axes, limits, stiffness ... of all of them.
typedef struct snwRiggedChain
{
    int count; // at most 16
    snwVec3 size;
    snwJointDef joint;
    bool closed; // a further joint from the last to the first, at `closing`
    snwVec3 closing;
    bool hinged; // a further joint like them from the world to the first, at the origin
} snwRiggedChain;

snwRiggedChain snwRigged_DefaultChain(void);
snwCharacter* snwRigged_MakeChain(snwContext* context, const snwRiggedChain* chain);

// One body of the character with method apd, one substep per step; the scene may be changed before the sim is made.
typedef struct snwRiggedScene
{
    snwCharacter* character; // released with the sim
    snwSceneDef def;         // bodies, colliders, pins and settings may point anywhere until the sim is made
    snwBodyDef body;
} snwRiggedScene;

snwRiggedScene snwRigged_DefaultScene(snwCharacter* character);
snwSim* snwRigged_MakeSim(snwContext* context, snwRiggedScene* scene);

// m: largest gap of a joint now.
double snwRigged_JointGap(const snwSim* sim, int body);
// m: largest change of the distance between two vertices of one bone.
double snwRigged_BoneStretch(const snwSim* sim, int body);
