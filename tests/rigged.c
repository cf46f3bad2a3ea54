#include "rigged.h"

#include "rig/joint_rows.h"
#include "sim/character.h"
#include "sim/method.h"
#include "test.h"

#include <stdlib.h>

enum
{
    snw_maxVertices = 4096,
    snw_maxTets = 8192
};

// A mesh under construction. Vertices are shared within a block only.
typedef struct Draft
{
    snwVec3 vertices[snw_maxVertices];
    int tets[snw_maxTets][4];
    int bones[snw_maxTets];
    int regions[snw_maxTets];
    int vertexCount, tetCount;
} Draft;

typedef int BoneFn(int i, int j, int k);

// Six tets around the diagonal of each cell.
static void AddCell(Draft* draft, const int corner[8], int bone)
{
    static const int paths[6][2] = {{1, 3}, {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}};
    for (int t = 0; t < 6; ++t)
    {
        int tet[4] = {corner[0], corner[paths[t][0]], corner[paths[t][1]], corner[7]};
        memcpy(draft->tets[draft->tetCount], tet, sizeof tet);
        draft->regions[draft->tetCount] = bone >= 0 ? 1 : 0;
        draft->bones[draft->tetCount++] = bone;
    }
}

static void AddBlock(Draft* draft, snwVec3 lower, snwVec3 size, const int cells[3], BoneFn* boneOf, int shift)
{
    int first = draft->vertexCount, nx = cells[0] + 1, ny = cells[1] + 1;
    for (int k = 0; k <= cells[2]; ++k)
        for (int j = 0; j <= cells[1]; ++j)
            for (int i = 0; i <= cells[0]; ++i)
                draft->vertices[draft->vertexCount++] = (snwVec3){
                    lower.x + size.x * i / cells[0], lower.y + size.y * j / cells[1], lower.z + size.z * k / cells[2]};
    for (int k = 0; k < cells[2]; ++k)
        for (int j = 0; j < cells[1]; ++j)
            for (int i = 0; i < cells[0]; ++i)
            {
                int corner[8];
                for (int c = 0; c < 8; ++c)
                    corner[c] = first + (i + (c & 1)) + nx * ((j + (c >> 1 & 1)) + ny * (k + (c >> 2)));
                int bone = boneOf(i, j, k);
                AddCell(draft, corner, bone < 0 ? bone : bone + shift);
            }
}

static void Fail(snwResult result, const snwMessage* message)
{
    if (result >= 0)
        return;
    fprintf(stderr, "%s\n", message->text);
    abort();
}

static snwCharacter* Create(snwContext* context, Draft* draft, snwCharacterDef* def)
{
    snwMessage message = {0};
    snwCharacter* character = NULL;
    def->name = "rigged";
    def->vertices = draft->vertices;
    def->vertexCount = draft->vertexCount;
    def->tets = (const int(*)[4])draft->tets;
    def->tetCount = draft->tetCount;
    def->elementBones = def->boneCount > 0 ? draft->bones : NULL;
    def->regions = draft->regions;
    Fail(snwCreateCharacter(context, def, &character, &message), &message);
    free(draft);
    return character;
}

// ---------------------------------------------------------------------------------------------------------------------
// Bars

snwRiggedBar snwRigged_DefaultBar(void)
{
    snwRiggedBar bar = {.joint = snwDefaultJointDef(), .bones = true, .material = snwDefaultMaterial()};
    bar.joint.axis = (snwVec3){0, 0, 1};
    return bar;
}

static int CoreBone(int i, int j, int k)
{
    return j != 1 || k != 1 || i == 0 || i == 6 || i == 12 ? -1 : i < 6 ? 0 : 1;
}

static int NoBone(int i, int j, int k)
{
    (void)i, (void)j, (void)k;
    return -1;
}

static int AllBone(int i, int j, int k)
{
    (void)i, (void)j, (void)k;
    return 0;
}

snwCharacter* snwRigged_MakeBar(snwContext* context, const snwRiggedBar* bar)
{
    Draft* draft = calloc(1, sizeof *draft);
    if (bar->rigid)
        for (int b = 0; b < 2; ++b)
            AddBlock(draft, (snwVec3){b == 0 ? -0.5 : 0.05, -0.05, -0.05}, (snwVec3){0.45, 0.1, 0.1},
                (const int[3]){5, 1, 1}, AllBone, b);
    else
        AddBlock(draft, (snwVec3){-0.5, -0.125, -0.125}, (snwVec3){1, 0.25, 0.25}, (const int[3]){13, 3, 3},
            bar->bones ? CoreBone : NoBone, 0);
    snwMaterial materials[2] = {bar->material, bar->material};
    materials[1].density = bar->boneDensity > 0.0 ? bar->boneDensity : bar->material.density;
    snwBoneDef bones[2] = {snwDefaultBoneDef(), snwDefaultBoneDef()};
    bones[0].head = (snwVec3){-0.4, 0, 0};
    bones[1].tail = (snwVec3){0.4, 0, 0};
    bones[1].parent = 0;
    bones[0].name = "left";
    bones[1].name = "right";
    snwJointDef joint = bar->joint;
    joint.name = "middle";
    joint.parentBone = 0;
    joint.bone = 1;
    snwCharacterDef def = snwDefaultCharacterDef();
    def.materials = materials;
    def.materialCount = 2;
    def.bones = bones;
    def.joints = &joint;
    def.boneCount = bar->bones ? 2 : 0;
    def.jointCount = bar->bones ? 1 : 0;
    return Create(context, draft, &def);
}

// ---------------------------------------------------------------------------------------------------------------------
// Chains

snwRiggedChain snwRigged_DefaultChain(void)
{
    snwRiggedChain chain = {.count = 2, .size = {0.4, 0.1, 0.1}, .joint = snwDefaultJointDef()};
    chain.joint.axis = (snwVec3){0, 0, 1};
    chain.joint.axis2 = (snwVec3){0, 1, 0};
    return chain;
}

snwCharacter* snwRigged_MakeChain(snwContext* context, const snwRiggedChain* chain)
{
    static const char* const names[16] = {
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"};
    Draft* draft = calloc(1, sizeof *draft);
    snwBoneDef bones[16];
    snwJointDef joints[18];
    int jointCount = 0;
    for (int b = 0; b < chain->count; ++b)
    {
        snwVec3 lower = {b * chain->size.x, -0.5 * chain->size.y, -0.5 * chain->size.z};
        AddBlock(draft, lower, chain->size, (const int[3]){2, 1, 1}, AllBone, b);
        bones[b] = snwDefaultBoneDef();
        bones[b].name = names[b];
        bones[b].head = (snwVec3){b * chain->size.x, 0, 0};
        bones[b].tail = (snwVec3){(b + 1) * chain->size.x, 0, 0};
        bones[b].parent = b - 1;
        if (b == 0 && !chain->hinged)
            continue;
        joints[jointCount] = chain->joint;
        joints[jointCount].name = names[b];
        joints[jointCount].parentBone = b - 1;
        joints[jointCount].bone = b;
        joints[jointCount++].position = bones[b].head;
    }
    if (chain->closed)
    {
        joints[jointCount] = chain->joint;
        joints[jointCount].name = "closing";
        joints[jointCount].parentBone = chain->count - 1;
        joints[jointCount].bone = 0;
        joints[jointCount++].position = chain->closing;
    }
    snwMaterial materials[2] = {snwDefaultMaterial(), snwDefaultMaterial()};
    snwCharacterDef def = snwDefaultCharacterDef();
    def.materials = materials;
    def.materialCount = 2;
    def.bones = bones;
    def.boneCount = chain->count;
    def.joints = joints;
    def.jointCount = jointCount;
    return Create(context, draft, &def);
}

// ---------------------------------------------------------------------------------------------------------------------
// Scenes

snwRiggedScene snwRigged_DefaultScene(snwCharacter* character)
{
    snwRiggedScene scene = {.character = character, .def = snwDefaultSceneDef(), .body = snwDefaultBodyDef()};
    scene.body.name = "body";
    scene.body.character = character;
    scene.def.method = "apd";
    scene.def.bodyCount = 1;
    return scene;
}

snwSim* snwRigged_MakeSim(snwContext* context, snwRiggedScene* scene)
{
    snwMessage message = {0};
    snwScene* made = NULL;
    snwSim* sim = NULL;
    scene->def.bodies = scene->def.bodies != NULL ? scene->def.bodies : &scene->body;
    Fail(snwCreateScene(context, &scene->def, &made, &message), &message);
    snwSimDef def = snwDefaultSimDef();
    def.scene = made;
    Fail(snwCreateSim(context, &def, &sim, &message), &message);
    snwScene_Release(made);
    snwCharacter_Release(scene->character);
    bool substeps = false;
    for (int i = 0; i < scene->def.settingCount; ++i)
        substeps |= strcmp(scene->def.settings[i].name, "sim.substeps") == 0;
    if (!substeps)
        Fail(snwSim_SetParam(sim, "sim.substeps", 1, &message), &message);
    return sim;
}

// ---------------------------------------------------------------------------------------------------------------------
// Measures

double snwRigged_JointGap(const snwSim* sim, int body)
{
    const snwCharacterDef* def = &sim->bodies[body].character->def;
    snwTransforms bones;
    snwSim_GetBones(sim, body, &bones);
    double most = 0.0;
    for (int i = 0; i < def->jointCount; ++i)
    {
        const snwJointDef* joint = &def->joints[i];
        snwJointRowsDef rows = {.joint = joint};
        const int ends[2] = {joint->bone, joint->parentBone};
        for (int e = 0; e < 2; ++e)
            if (ends[e] >= 0)
                rows.poses[e] = (snwBonePose){bones.data[ends[e]].rotation, bones.data[ends[e]].position};
        most = fmax(most, snwJointRows_Gap(&rows).length);
    }
    return most;
}

double snwRigged_BoneStretch(const snwSim* sim, int body)
{
    const snwCharacter* character = sim->bodies[body].character;
    snwVertices vertices;
    snwSim_GetVertices(sim, body, &vertices);
    double most = 0.0;
    for (int i = 0; i < character->def.vertexCount; ++i)
        for (int j = 0; j < i; ++j)
        {
            if (character->vertexBones[i] < 0 || character->vertexBones[i] != character->vertexBones[j])
                continue;
            const float *a = vertices.positions + 4 * (size_t)i, *b = vertices.positions + 4 * (size_t)j;
            snwVec3 d = {(double)a[0] - (double)b[0], (double)a[1] - (double)b[1], (double)a[2] - (double)b[2]};
            double rest = snwVec3_Distance(character->def.vertices[i], character->def.vertices[j]);
            most = fmax(most, fabs(snwVec3_Length(d) - rest));
        }
    return most;
}
