#include "bake_files.h"

#include "asset/gltf_write.h"
#include "base/context.h"
#include "base/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SNW_TURN  6.283185307179586
#define SNW_ASIDE 0.19 // m: a leg, from the middle

enum
{
    snw_mostRings = 128,
    snw_mostSides = 64,
    snw_mostVertices = 2 * snw_mostRings * snw_mostSides + 4,
    snw_shellCount = 12,
    snw_shellVertices = 6,
    snw_mostKeys = 601,
    snw_keyRate = 30,
    snw_mostBones = 2 + snw_shellCount
};

const char* const snwBakeFileNames[snw_bakeFileCount] = {[snw_bakePlain] = "plain",
    [snw_bakeShells] = "shells",
    [snw_bakeOddRoot] = "odd-root",
    [snw_bakeUnnamed] = "unnamed",
    [snw_bakeTwoScales] = "two-scales",
    [snw_bakeMirrored] = "mirrored",
    [snw_bakeSharedMesh] = "shared-mesh",
    [snw_bakeSeveralSkins] = "several-skins",
    [snw_bakeLegs] = "legs",
    [snw_bakeScenery] = "scenery"};

// Triangles with the weights of one or two bones.
typedef struct Shape
{
    snwVec3 positions[snw_mostVertices];
    float normals[snw_mostVertices][3];
    int triangles[2 * snw_mostVertices][3];
    int starts[snw_mostVertices + 1], bones[2 * snw_mostVertices];
    double weights[2 * snw_mostVertices];
    int vertexCount, triangleCount;
} Shape;

typedef struct Maker
{
    const snwBakeFileDef* def;
    snwGltfWriter* writer;
    Shape* shape;
    int bones[snw_mostBones]; // nodes: hip, chest, and one of each shell
    int boneCount;
} Maker;

// ---------------------------------------------------------------------------------------------------------------------
// Shapes

static void AddVertex(Shape* shape, snwVec3 x, snwVec3 normal, int bone, double share)
{
    int i = shape->vertexCount++, first = shape->starts[i];
    shape->positions[i] = x;
    shape->normals[i][0] = (float)normal.x, shape->normals[i][1] = (float)normal.y;
    shape->normals[i][2] = (float)normal.z;
    shape->bones[first] = bone, shape->weights[first] = 1 - share;
    shape->bones[first + 1] = bone + 1, shape->weights[first + 1] = share;
    shape->starts[i + 1] = first + (share > 0 ? 2 : 1);
}

static void AddTriangle(Shape* shape, int a, int b, int c)
{
    int* triangle = shape->triangles[shape->triangleCount++];
    triangle[0] = a, triangle[1] = b, triangle[2] = c;
}

// A closed tube along y from 0 to 1, 0.3 thick; its weights go from the hip to the chest between 0.4 and 0.6.
// leg: the hip's, 0, or the chest's, 1, each as a whole; -1: none.
static void AddTube(Shape* shape, int rings, int sides, int leg)
{
    int first = shape->vertexCount;
    double aside = leg >= 0 ? SNW_ASIDE * (2 * leg - 1) : 0;
    for (int i = 0; i < rings * sides; ++i)
    {
        int ring = i / sides;
        double angle = SNW_TURN * (i % sides) / sides, y = (double)ring / (rings - 1);
        double radius = 0.15 + 0.03 * sin(9 * y);
        AddVertex(shape, (snwVec3){aside + radius * cos(angle), y, -radius * sin(angle)},
            (snwVec3){cos(angle), 0, -sin(angle)}, 0, leg >= 0 ? leg : fmin(fmax(5 * y - 2, 0), 1));
    }
    AddVertex(shape, (snwVec3){aside, 0, 0}, (snwVec3){0, -1, 0}, 0, leg >= 0 ? leg : 0);
    AddVertex(shape, (snwVec3){aside, 1, 0}, (snwVec3){0, 1, 0}, 0, leg >= 0 ? leg : 1);
    for (int i = 0; i < rings * sides; ++i)
    {
        int ring = i / sides, a = first + i, b = first + ring * sides + (i + 1) % sides;
        if (ring + 1 < rings)
        {
            AddTriangle(shape, a, b, a + sides);
            AddTriangle(shape, b, b + sides, a + sides);
        }
        if (ring == 0)
            AddTriangle(shape, first + rings * sides, b, a);
        if (ring == rings - 1)
            AddTriangle(shape, first + rings * sides + 1, a, b);
    }
}

static snwVec3 ShellCentre(int shell)
{
    double angle = SNW_TURN * shell / snw_shellCount;
    return (snwVec3){0.3 * cos(angle), 0.1 + 0.07 * shell, -0.3 * sin(angle)};
}

static void AddShell(Shape* shape, int shell)
{
    static const int s_corners[8][3] = {
        {0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    int first = shape->vertexCount;
    for (int i = 0; i < snw_shellVertices; ++i)
    {
        snwVec3 out = {0, 0, 0};
        (&out.x)[i / 2] = i % 2 == 0 ? 1 : -1;
        AddVertex(shape, snwVec3_MulAdd(ShellCentre(shell), 0.06, out), out, 2 + shell, 0);
    }
    for (int i = 0; i < 8; ++i)
        AddTriangle(shape, first + s_corners[i][0], first + s_corners[i][1], first + s_corners[i][2]);
}

// unit: how many of the mesh's units a metre has. swapped: the skin has chest before hip.
static int AddMesh(Maker* m, const char* name, double unit, snwVec3 shift, bool swapped)
{
    Shape* shape = m->shape;
    shape->vertexCount = shape->triangleCount = 0;
    bool legs = m->def->kind == snw_bakeLegs;
    AddTube(shape, m->def->rings, m->def->sides, legs ? 0 : -1);
    if (legs)
        AddTube(shape, m->def->rings, m->def->sides, 1);
    for (int i = 0; i < snw_shellCount && m->def->kind == snw_bakeShells; ++i)
        AddShell(shape, i);
    for (int i = 0; i < shape->starts[shape->vertexCount] && swapped; ++i)
        shape->bones[i] = 1 - shape->bones[i];
    for (int i = 0; i < shape->vertexCount; ++i)
        shape->positions[i] = snwVec3_Scale(snwVec3_Add(shape->positions[i], shift), unit);
    snwAssetPart part = {name, "", 0, shape->vertexCount, 0, shape->triangleCount};
    snwAssetMesh mesh = {.name = name,
        .positions = shape->positions,
        .vertexCount = shape->vertexCount,
        .normals = (const float(*)[3])shape->normals,
        .triangles = (const int(*)[3])shape->triangles,
        .triangleCount = shape->triangleCount,
        .parts = &part,
        .partCount = 1,
        .weights = {shape->starts, shape->bones, shape->weights, m->boneCount}};
    snwGltfMeshDef def = {.mesh = &mesh, .influences = 4};
    return snwGltfWriter_AddMesh(m->writer, &def);
}

// ---------------------------------------------------------------------------------------------------------------------
// Rigs

static int AddNode(Maker* m, const char* name, int parent, snwVec3 at)
{
    snwGltfNodeDef node = snwDefaultGltfNodeDef();
    node.name = name;
    node.parent = parent;
    node.pose.translation = at;
    return snwGltfWriter_AddNode(m->writer, &node);
}

// Hip at the origin, chest 0.5 above it, shells where they are; or both in their legs.
static snwVec3 BoneAt(const Maker* m, int bone)
{
    if (m->def->kind == snw_bakeLegs)
        return (snwVec3){SNW_ASIDE * (2 * bone - 1), 0.5, 0};
    return bone < 2 ? (snwVec3){0, 0.5 * bone, 0} : ShellCentre(bone - 2);
}

static void AddBones(Maker* m, int armature)
{
    m->boneCount = m->def->kind == snw_bakeShells ? snw_mostBones : 2;
    m->bones[0] = AddNode(m, "hip", armature, BoneAt(m, 0));
    m->bones[1] = m->def->kind == snw_bakeLegs
                      ? AddNode(m, "chest", armature, BoneAt(m, 1))
                      : AddNode(m, "chest", m->bones[0], snwVec3_Sub(BoneAt(m, 1), BoneAt(m, 0)));
    for (int i = 2; i < m->boneCount; ++i)
    {
        char name[16];
        snprintf(name, sizeof name, "shell.%d", i - 1);
        m->bones[i] = AddNode(m, name, m->bones[1], snwVec3_Sub(BoneAt(m, i), BoneAt(m, 1)));
    }
}

// unit: of the mesh that it binds. swapped: chest before hip. root: a further joint; -1: none.
static int AddSkin(Maker* m, double unit, snwVec3 shift, bool swapped, int root)
{
    int joints[snw_mostBones + 1];
    snwAffine binds[snw_mostBones + 1];
    for (int i = 0; i < m->boneCount; ++i)
    {
        int bone = swapped && i < 2 ? 1 - i : i;
        joints[i] = m->bones[bone];
        binds[i] = (snwAffine){
            snwMat3_Diagonal(1 / unit, 1 / unit, 1 / unit), snwVec3_Negate(snwVec3_Add(BoneAt(m, bone), shift))};
    }
    if (root >= 0)
    {
        joints[m->boneCount] = root;
        binds[m->boneCount] = (snwAffine){{{{50, 0, 0}, {0, 0, 50}, {0, -50, 0}}}, {0, 0, 0}};
    }
    snwAssetSkin skin = {.name = "rig",
        .joints = joints,
        .inverseBinds = binds,
        .jointCount = m->boneCount + (root >= 0),
        .root = root >= 0 ? root : m->bones[0]};
    return snwGltfWriter_AddSkin(m->writer, &skin);
}

static void AddBody(Maker* m, const char* name, int mesh, int skin)
{
    snwGltfNodeDef node = snwDefaultGltfNodeDef();
    node.name = name;
    node.mesh = mesh;
    node.skin = skin;
    snwGltfWriter_AddNode(m->writer, &node);
}

// The chest nods by 40 degrees, the hip sways by 10 cm, shells turn on their own; speed: how often, per second.
static void AddClip(Maker* m, const char* name, double speed)
{
    static double s_times[snw_mostKeys], s_turns[2][snw_mostKeys][4], s_moves[snw_mostKeys][3];
    int keys = (int)fmin(m->def->seconds * snw_keyRate + 1.5, snw_mostKeys);
    for (int i = 0; i < keys; ++i)
    {
        double t = (double)i / snw_keyRate, nod = 0.35 * sin(SNW_TURN * speed * t), spin = 0.6 * sin(SNW_TURN * t);
        s_times[i] = t;
        s_turns[0][i][0] = sin(nod), s_turns[0][i][3] = cos(nod);
        s_turns[1][i][1] = sin(spin), s_turns[1][i][3] = cos(spin);
        s_moves[i][0] = BoneAt(m, 0).x + 0.1 * sin(SNW_TURN * speed * t);
        s_moves[i][1] = BoneAt(m, 0).y;
    }
    snwAssetChannel channels[snw_mostBones + 1] = {
        {m->bones[1], snw_pathRotation, snw_assetLinear, s_times, keys, 4, &s_turns[0][0][0]},
        {m->bones[0], snw_pathTranslation, snw_assetLinear, s_times, keys, 3, &s_moves[0][0]},
    };
    for (int i = 2; i < m->boneCount; ++i)
        channels[i] = (snwAssetChannel){
            m->bones[i], snw_pathRotation, snw_assetLinear, s_times, keys, 4, &s_turns[1][0][0]};
    bool legs = m->def->kind == snw_bakeLegs; // one is still
    snwAssetAnimation animation = {.name = m->def->kind == snw_bakeUnnamed ? "" : name,
        .channels = channels + legs,
        .channelCount = m->boneCount - legs};
    snwGltfWriter_AddAnimation(m->writer, &animation);
}

static void AddAll(Maker* m)
{
    static const snwVec3 s_none = {0, 0, 0}, s_aside = {0.6, 0, 0};
    snwBakeFileKind kind = m->def->kind;
    snwGltfNodeDef armature = snwDefaultGltfNodeDef();
    armature.name = "armature";
    if (kind == snw_bakeMirrored)
        armature.pose.scale = (snwVec3){-1, 1, 1};
    int top = snwGltfWriter_AddNode(m->writer, &armature);
    AddBones(m, top);
    bool small = kind == snw_bakeTwoScales;
    int mesh = AddMesh(m, "body", small ? 100 : 1, s_none, false);
    int skin = AddSkin(m, small ? 100 : 1, s_none, false, kind == snw_bakeOddRoot ? top : -1);
    AddBody(m, "body", mesh, skin);
    if (kind == snw_bakeTwoScales)
        AddBody(m, "other", AddMesh(m, "other", 1, s_aside, false), AddSkin(m, 1, s_none, false, -1));
    if (kind == snw_bakeSeveralSkins)
        AddBody(m, "other", AddMesh(m, "other", 1, s_aside, true), AddSkin(m, 1, s_none, true, -1));
    if (kind == snw_bakeScenery) // a hundred times as large, and still
    {
        snwGltfNodeDef backdrop = snwDefaultGltfNodeDef();
        backdrop.name = "backdrop";
        backdrop.mesh = mesh;
        backdrop.pose.scale = (snwVec3){100, 100, 100};
        snwGltfWriter_AddNode(m->writer, &backdrop);
    }
    if (kind == snw_bakeSharedMesh)
        AddBody(m, "twin", mesh, AddSkin(m, 1, s_aside, false, -1));
    AddClip(m, "calm", 0.5);
    AddClip(m, "swing", 1);
}

snwResult snwMakeBakeFile(snwContext* context, const snwBakeFileDef* def, const char* path, snwMessage* message)
{
    Maker m = {.def = def, .shape = snwAlloc(context, sizeof *m.shape)};
    snwResult result = m.shape != NULL ? snwGltfWriter_Open(context, NULL, &m.writer, message) : snwFailMemory(message);
    if (result >= 0 && m.shape != NULL)
    {
        AddAll(&m);
        snwGltfSave save = {.path = path, .overwrite = true};
        result = snwGltfWriter_Save(m.writer, &save, message);
    }
    snwGltfWriter_Close(m.writer);
    snwFree(context, m.shape);
    return result;
}
