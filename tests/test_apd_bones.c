// The small problem of the bones where it is hard: a chain that swings by most of a radian in one step.

#include "fixture.h"
#include "test.h"

#include "apd_bench.h"

#include <math.h>

enum
{
    snw_blockTets = 5,
    snw_blockVertices = 8
};

// Two blocks, 2 x 2 x 4 each, on one ball joint: eight vertices and five tets make a block.
typedef struct Chain
{
    snwVec3 vertices[2 * snw_blockVertices];
    int tets[2 * snw_blockTets][4];
    int elementBones[2 * snw_blockTets];
    snwBoneDef bones[2];
    snwJointDef joint;
    snwMaterial material;
} Chain;

static void FillBlock(Chain* chain, int block, double x)
{
    // Corner number i is at the bits of i.
    static const int tets[snw_blockTets][4] = {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}};
    for (int i = 0; i < snw_blockVertices; ++i)
        chain->vertices[snw_blockVertices * block + i] = (snwVec3){
            x + (i & 1 ? 0.2 : -0.2), i & 2 ? 0.1 : -0.1, i & 4 ? 0.1 : -0.1};
    for (int e = 0; e < snw_blockTets; ++e)
    {
        chain->elementBones[snw_blockTets * block + e] = block;
        for (int k = 0; k < 4; ++k)
            chain->tets[snw_blockTets * block + e][k] = snw_blockVertices * block + tets[e][k];
    }
    chain->bones[block] = snwDefaultBoneDef();
    chain->bones[block].name = block == 0 ? "a" : "b";
    chain->bones[block].head = (snwVec3){x - 0.15, 0, 0};
    chain->bones[block].tail = (snwVec3){x + 0.15, 0, 0};
    chain->bones[block].parent = block - 1;
}

static snwCharacter* CreateChain(snwContext* context)
{
    static Chain chain;
    snwCharacter* character = NULL;
    snwMessage message = {0};
    FillBlock(&chain, 0, -0.22);
    FillBlock(&chain, 1, 0.22);
    chain.material = (snwMaterial){.density = 700, .young = 1e6, .poisson = 0.45};
    chain.joint = snwDefaultJointDef();
    chain.joint.name = "link";
    chain.joint.type = snw_jointBall;
    chain.joint.parentBone = 0;
    chain.joint.bone = 1;
    chain.joint.axis = (snwVec3){1, 0, 0};
    chain.joint.cone = SNW_PI;
    snwCharacterDef def = snwDefaultCharacterDef();
    def.name = "chain";
    def.vertices = chain.vertices;
    def.vertexCount = 2 * snw_blockVertices;
    def.tets = (const int(*)[4])chain.tets;
    def.tetCount = 2 * snw_blockTets;
    def.elementBones = chain.elementBones;
    def.materials = &chain.material;
    def.materialCount = 1;
    def.bones = chain.bones;
    def.boneCount = 2;
    def.joints = &chain.joint;
    def.jointCount = 1;
    CHECK_INT(snwCreateCharacter(context, &def, &character, &message), snw_ok);
    return character;
}

// Hangs by one corner.
static snwSim* CreateSim(snwContext* context, snwCharacter* character)
{
    snwSim* sim = NULL;
    snwMessage message = {0};
    snwBodyDef body = snwDefaultBodyDef();
    body.name = "chain";
    body.character = character;
    snwPinDef pin = snwDefaultPinDef();
    pin.name = "nail";
    pin.held = true;
    pin.lower = (snwVec3){-0.43, 0.09, 0.09};
    pin.upper = (snwVec3){-0.41, 0.11, 0.11};
    snwSceneDef def = snwDefaultSceneDef();
    def.name = "chain";
    def.bodies = &body;
    def.bodyCount = 1;
    def.pins = &pin;
    def.pinCount = 1;
    snwApdVariant variant = {snw_apdArticulated, 10, 1, snw_elasticCorotated};
    CHECK_INT(snwCreateApdSim(context, &def, &variant, &sim, &message), snw_ok);
    return sim;
}

// Backward Euler loses energy in every step and joints stay closed, though a step turns a bone by most of a radian and
// the pull at its ends is more than its own inertia.
TEST(apdBones, fastChainSettlesInLargeSteps)
{
    snwMessage message = {0};
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwCharacter* character = CreateChain(context);
    REQUIRE(character != NULL);
    snwSim* sim = CreateSim(context, character);
    REQUIRE(sim != NULL);
    double energy = INFINITY, fastest = 0;
    for (int i = 0; i < 20; ++i)
    {
        snwMeasures measures;
        REQUIRE(snwSim_Step(sim, 0.1, &message) == snw_ok);
        REQUIRE(snwSim_GetMeasures(sim, -1, &measures) == snw_ok);
        CHECK(snwApdSim_JointGap(sim) < 1e-9);
        CHECK(measures.energy < energy);
        energy = measures.energy;
        fastest = fmax(fastest, measures.maxSpeed);
    }
    CHECK(fastest > 3); // m/s: it did swing
    snwDestroySim(sim);
    snwCharacter_Release(character);
    snwDestroyContext(context);
}
