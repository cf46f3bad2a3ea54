// Saved characters: what loads must save and load again to the same block, survive some steps of a sim, and move only
// to finite poses.

#include "fuzz.h"

#include <math.h>
#include <string.h>

static void StepWith(snwContext* context, snwCharacter* character)
{
    snwBodyDef body = snwDefaultBodyDef();
    body.character = character;
    snwColliderDef ground = snwDefaultColliderDef(snw_colliderPlane);
    snwSceneDef sceneDef = snwDefaultSceneDef();
    sceneDef.bodies = &body, sceneDef.bodyCount = 1;
    sceneDef.colliders = &ground, sceneDef.colliderCount = 1;
    snwSimDef simDef = snwDefaultSimDef();
    snwSim* sim = NULL;
    if (snwCreateScene(context, &sceneDef, &simDef.scene, NULL) < 0)
        return;
    if (snwCreateSim(context, &simDef, &sim, NULL) >= 0)
        for (int i = 0; i < 3 && snwSim_Step(sim, 1.0 / 60, NULL) >= 0; ++i)
            continue;
    snwDestroySim(sim);
    snwScene_Release(simDef.scene);
}

static void MoveThrough(const snwCharacter* character)
{
    snwCharacterInfo info = snwCharacter_GetInfo(character);
    snwTransform* bones = calloc((size_t)info.boneCount + 1, sizeof *bones);
    float* vertices = calloc((size_t)info.vertexCount + 1, 3 * sizeof *vertices);
    const double times[] = {-1e9, 0.0, 1e-7, 0.3, 0.5, 7.0, 1e300};
    for (int i = 0; i < info.motionCount * 7 && bones != NULL; ++i)
    {
        if (snwCharacter_Pose(character, i / 7, times[i % 7], bones, info.boneCount) < 0)
            abort();
        for (int k = 0; k < info.boneCount; ++k)
            if (!isfinite(bones[k].position.x) || !isfinite(bones[k].rotation.w))
                abort();
        if (vertices == NULL)
            continue;
        if (snwCharacter_PoseVertices(character, i / 7, times[i % 7], vertices, info.vertexCount, 12) < 0)
            abort();
        for (int k = 0; k < 3 * info.vertexCount; ++k)
            if (!isfinite(vertices[k]))
                abort();
    }
    free(bones);
    free(vertices);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    snwContext* context = snwFuzz_NewContext(&memory, 64 << 20);
    snwCharacter *character = NULL, *again = NULL;
    snwMessage message = {0};
    if (snwCharacter_Load(context, data, size, &character, &message) < 0)
    {
        if (message.text[0] == 0)
            abort();
        snwFuzz_EndContext(context, &memory);
        return 0;
    }
    void *first = NULL, *second = NULL;
    size_t firstSize = 0, secondSize = 0;
    if (snwCharacter_Save(character, &first, &firstSize, NULL) == snw_ok &&
        snwCharacter_Load(context, first, firstSize, &again, NULL) == snw_ok &&
        snwCharacter_Save(again, &second, &secondSize, NULL) == snw_ok &&
        (firstSize != secondSize || memcmp(first, second, firstSize) != 0))
        abort();
    StepWith(context, character);
    MoveThrough(character);
    snwContext_Free(context, first);
    snwContext_Free(context, second);
    snwCharacter_Release(again);
    snwCharacter_Release(character);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
