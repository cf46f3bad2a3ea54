// Rigs that something is wrong with: each comes back right, as the gate sees it, or is refused with words that name
// what is wrong. Never is a wrong file written with a straight face.

#include "bake/bake.h"
#include "fixture.h"
#include "prepare_world.h"
#include "test.h"

#include <stdlib.h>

// Of snwPrepareWorld without options.
enum
{
    snw_bindsAccessor,
    snw_timesAccessor,
    snw_turnsAccessor,
    snw_positionsAccessor,
    snw_jointsAccessor,
    snw_weightsAccessor,
};

// ---------------------------------------------------------------------------------------------------------------------
// How they are spoiled

static void* Data(snwGltfWorld* file, int accessor, int* count)
{
    char path[64];
    snprintf(path, sizeof path, "accessors/%d", accessor);
    const json_t* from = snwGltfWorld_Get(file, path);
    snprintf(
        path, sizeof path, "bufferViews/%d/byteOffset", (int)json_integer_value(json_object_get(from, "bufferView")));
    *count = (int)json_integer_value(json_object_get(from, "count"));
    return file->bytes + json_integer_value(snwGltfWorld_Get(file, path));
}

static float* Floats(snwGltfWorld* file, int accessor)
{
    int count;
    return Data(file, accessor, &count);
}

static void NanWeight(snwGltfWorld* file)
{
    Floats(file, snw_weightsAccessor)[40] = NAN;
}

static void HalfWeights(snwGltfWorld* file)
{
    int count;
    float* weights = Data(file, snw_weightsAccessor, &count);
    for (int i = 0; i < 4 * count; ++i)
        weights[i] *= i % 3 == 0 ? 0.5f : 0.7f;
}

static void NoWeights(snwGltfWorld* file)
{
    memset(Floats(file, snw_weightsAccessor) + 4 * 60, 0, 30 * 4 * sizeof(float));
}

static void AllWeightsZero(snwGltfWorld* file)
{
    int count;
    float* weights = Data(file, snw_weightsAccessor, &count);
    memset(weights, 0, (size_t)count * 4 * sizeof *weights);
}

static void NegativeWeights(snwGltfWorld* file)
{
    int count;
    float* weights = Data(file, snw_weightsAccessor, &count);
    for (int i = 0; i < count; i += 5)
        weights[4 * i] = 1.5f, weights[4 * i + 1] = -0.5f;
}

static void JointOutOfRange(snwGltfWorld* file)
{
    int count;
    ((unsigned char*)Data(file, snw_jointsAccessor, &count))[8] = 77;
}

static void NoBinds(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "skins/0/inverseBindMatrices", NULL);
}

static void ScaleBinds(snwGltfWorld* file, int first, int last, float scale)
{
    float* binds = Floats(file, snw_bindsAccessor);
    for (int i = first; i <= last; ++i)
        for (int k = 0; k < 15; ++k)
            binds[16 * i + k] *= scale;
}

static void LargeBinds(snwGltfWorld* file)
{
    ScaleBinds(file, 0, 2, 100);
}

static void OneLargeBind(snwGltfWorld* file)
{
    ScaleBinds(file, 1, 1, 100);
}

static void ZeroBind(snwGltfWorld* file)
{
    ScaleBinds(file, 1, 1, 0);
}

static void NanBind(snwGltfWorld* file)
{
    Floats(file, snw_bindsAccessor)[20] = NAN;
}

static void ZeroScaleJoint(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "nodes/2/scale", "[0, 0, 0]");
}

static void ZeroScaleRoot(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "nodes/0/scale", "[0, 0, 0]");
}

// A channel of its own for a node, with two keys.
static void AddChannel(snwGltfWorld* file, int node, const char* path, const float* values, int width)
{
    char text[160];
    const float times[2] = {0, 1};
    int input = snwGltfWorld_Floats(file, times, 2, "SCALAR");
    int output = snwGltfWorld_Floats(file, values, 2, width == 3 ? "VEC3" : "VEC4");
    snprintf(text, sizeof text, "{\"sampler\": 1, \"target\": {\"node\": %d, \"path\": \"%s\"}}", node, path);
    snwGltfWorld_Set(file, "animations/0/channels/1", text);
    snprintf(text, sizeof text, "{\"input\": %d, \"output\": %d}", input, output);
    snwGltfWorld_Set(file, "animations/0/samplers/1", text);
}

static void ScaleToNothing(snwGltfWorld* file)
{
    AddChannel(file, 2, "scale", (const float[6]){1, 1, 1, 0, 0, 0}, 3);
}

static void FlyAway(snwGltfWorld* file)
{
    AddChannel(file, 1, "translation", (const float[6]){0, 0, 0, 1e6f, 0, 0}, 3);
}

static void Grow(snwGltfWorld* file)
{
    AddChannel(file, 1, "scale", (const float[6]){1, 1, 1, 1000, 1000, 1000}, 3);
}

static void MirroredJoint(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "nodes/1/scale", "[1, -1, 1]");
}

static void MirroredRoot(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "nodes/0/scale", "[-2, 2, 2]");
}

static void ShearedJoint(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "nodes/0/scale", "[1, 3, 1]");
    snwGltfWorld_Set(file, "nodes/1/rotation", "[0, 0, 0.3826834, 0.9238795]");
}

static void CyclicNodes(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "nodes/3/children", "[1]");
}

static void TwoParents(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "nodes/4/children", "[2]");
}

static void DuplicateKeys(snwGltfWorld* file)
{
    Floats(file, snw_timesAccessor)[1] = 0;
}

static void UnsortedTimes(snwGltfWorld* file)
{
    Floats(file, snw_timesAccessor)[1] = 2;
}

static void LateTimes(snwGltfWorld* file)
{
    for (int i = 0; i < 3; ++i)
        Floats(file, snw_timesAccessor)[i] += 100;
}

static void NanTime(snwGltfWorld* file)
{
    Floats(file, snw_timesAccessor)[1] = NAN;
}

static void ZeroTurn(snwGltfWorld* file)
{
    memset(Floats(file, snw_turnsAccessor) + 8, 0, 4 * sizeof(float));
}

static void LongTurns(snwGltfWorld* file)
{
    for (int i = 0; i < 12; ++i)
        Floats(file, snw_turnsAccessor)[i] *= 3;
}

static void NanTurn(snwGltfWorld* file)
{
    Floats(file, snw_turnsAccessor)[5] = NAN;
}

static void SomeFlatTriangles(snwGltfWorld* file)
{
    float* positions = Floats(file, snw_positionsAccessor);
    for (int i = 0; i < 30; i += 3)
        memcpy(positions + 3 * (9 * i + 1), positions + 27 * i, 3 * sizeof(float));
}

static void AllFlat(snwGltfWorld* file)
{
    int count;
    float* positions = Data(file, snw_positionsAccessor, &count);
    for (int i = 0; i < count; ++i)
        positions[3 * i + 1] = 0;
}

static void AllInOnePoint(snwGltfWorld* file)
{
    int count;
    float* positions = Data(file, snw_positionsAccessor, &count);
    memset(positions, 0, (size_t)count * 3 * sizeof *positions);
}

static void InsideOut(snwGltfWorld* file)
{
    int count;
    float* positions = Data(file, snw_positionsAccessor, &count);
    for (int i = 0; i < count; ++i)
        positions[3 * i + 2] *= -1;
}

static void FarVertex(snwGltfWorld* file)
{
    Floats(file, snw_positionsAccessor)[3] = 1e7f;
}

static void HugePositions(snwGltfWorld* file)
{
    int count;
    float* positions = Data(file, snw_positionsAccessor, &count);
    for (int i = 0; i < 3 * count; ++i)
        positions[i] *= 1e25f;
}

static void NoTriangles(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "meshes/0/primitives/0/mode", "0");
}

static void EmptyMesh(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "meshes/0/primitives", "[]");
}

static void EmptyMeshBeside(snwGltfWorld* file)
{
    snwGltfWorld_Add(file, "meshes", "{'name': 'nothing', 'primitives': [{'mode': 1, 'attributes': {'POSITION': %d}}]}",
        snw_positionsAccessor);
    snwGltfWorld_Add(file, "nodes", "{'name': 'nothing', 'mesh': 1, 'skin': 0}");
}

static void JointTwice(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "skins/0/joints", "[1, 2, 2]");
}

static void NoJoints(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "skins/0/joints", "[]");
}

static void MeshIsJoint(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "skins/0/joints", "[1, 2, 4]");
}

static void UnknownNode(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "animations/0/channels/0/target/node", "99");
}

static void NoChannels(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "animations/0/channels", "[]");
}

static void OneKey(snwGltfWorld* file)
{
    char path[64];
    for (int i = snw_timesAccessor; i <= snw_turnsAccessor; ++i)
    {
        snprintf(path, sizeof path, "accessors/%d/count", i);
        snwGltfWorld_Set(file, path, "1");
    }
}

static void NoClip(snwGltfWorld* file)
{
    snwGltfWorld_Set(file, "animations", NULL);
}

static void SharedMesh(snwGltfWorld* file)
{
    snwGltfWorld_Add(file, "nodes", "{'name': 'twin', 'mesh': 0, 'skin': 0}");
}

// Two hundred tetrahedra beside each other, every second one on the other bone.
static void ManyShells(snwGltfWorld* file)
{
    enum
    {
        snw_shells = 200
    };
    static const int s_corners[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static float s_positions[12 * snw_shells][3], s_weights[12 * snw_shells][4];
    static unsigned char s_joints[12 * snw_shells][4];
    char text[256];
    for (int i = 0; i < 12 * snw_shells; ++i)
    {
        int shell = i / 12, corner = s_corners[i / 3 % 4][i % 3];
        s_positions[i][0] = 0.05f * (float)(shell % 20) + (corner == 1 ? 0.04f : 0);
        s_positions[i][1] = 0.05f * (float)(shell / 20) + (corner == 2 ? 0.04f : 0);
        s_positions[i][2] = corner == 3 ? 0.04f : 0;
        s_joints[i][0] = (unsigned char)(shell % 2);
        s_weights[i][0] = 1;
    }
    int position = snwGltfWorld_Floats(file, s_positions[0], 12 * snw_shells, "VEC3");
    int joints = snwGltfWorld_Accessor(file, s_joints, 12 * snw_shells, 5121, "VEC4");
    int weights = snwGltfWorld_Floats(file, s_weights[0], 12 * snw_shells, "VEC4");
    snprintf(text, sizeof text, "[{\"attributes\": {\"POSITION\": %d, \"JOINTS_0\": %d, \"WEIGHTS_0\": %d}}]", position,
        joints, weights);
    snwGltfWorld_Set(file, "meshes/0/primitives", text);
}

// A floor of 100 m and a crate, which nothing moves.
static void Scenery(snwGltfWorld* file)
{
    static const float s_floor[6][3] = {
        {-50, 0, -50}, {-50, 0, 50}, {50, 0, 50}, {-50, 0, -50}, {50, 0, 50}, {50, 0, -50}};
    int positions = snwGltfWorld_Floats(file, s_floor[0], 6, "VEC3");
    int mesh = snwGltfWorld_Add(file, "meshes", "{'primitives': [{'attributes': {'POSITION': %d}}]}", positions);
    snwGltfWorld_Add(file, "nodes", "{'name': 'floor', 'mesh': %d}", mesh);
    snwGltfWorld_Add(file, "nodes", "{'name': 'crate', 'mesh': %d, 'scale': [0.01, 1, 0.01]}", mesh);
}

// ---------------------------------------------------------------------------------------------------------------------
// What becomes of them

typedef struct Rig
{
    const char* name;
    void (*spoil)(snwGltfWorld* file);
    const char* words; // of the error; NULL: it comes back right
} Rig;

static const Rig s_rigs[] = {
    {"a weight that is no number", NanWeight, NULL},
    {"weights that do not sum to one", HalfWeights, NULL},
    {"vertices without weights", NoWeights, NULL},
    {"no weights at all", AllWeightsZero, "all weights are zero"},
    {"negative weights", NegativeWeights, NULL},
    {"a joint out of range", JointOutOfRange, NULL},
    {"no bind matrices", NoBinds, NULL},
    {"bind matrices of another scale", LargeBinds, NULL},
    {"one bind matrix of another scale", OneLargeBind, "surface 'body' is 1.3e+03 % of the size from the body"},
    {"a bind matrix of zeros", ZeroBind, "bone 'lower', whose bind matrix is flat"},
    {"a bind matrix that is no number", NanBind, "not a finite number"},
    {"a joint of scale zero", ZeroScaleJoint, "node 'lower' stands with a scale of zero"},
    {"a root of scale zero", ZeroScaleRoot, "its surfaces have no size"},
    {"a joint that shrinks to nothing", ScaleToNothing, NULL},
    {"a joint that flies away", FlyAway, "diverged at step 3 (0.15 s): it moves at"},
    {"a joint that grows a thousand times", Grow, "drawn out to"},
    {"a mirrored joint", MirroredJoint, NULL},
    {"a mirrored root", MirroredRoot, NULL},
    {"a sheared joint", ShearedJoint, NULL},
    {"nodes in a circle", CyclicNodes, "node 1 has two parents"},
    {"a node with two parents", TwoParents, "node 2 has two parents"},
    {"two keys at one time", DuplicateKeys, NULL},
    {"keys out of order", UnsortedTimes, "key 2 is at 1 s, before key 1"},
    {"keys that begin late", LateTimes, NULL},
    {"a time that is no number", NanTime, "not a finite number"},
    {"a rotation of length zero", ZeroTurn, NULL},
    {"rotations of length three", LongTurns, NULL},
    {"a rotation that is no number", NanTurn, "not a finite number"},
    {"some flat triangles", SomeFlatTriangles, NULL},
    {"a flat body", AllFlat, NULL},
    {"a body in one point", AllInOnePoint, "have no size"},
    {"a body inside out", InsideOut, NULL},
    {"a vertex far away", FarVertex, "no triangle has an area"},
    {"positions of 1e25", HugePositions, NULL},
    {"points instead of triangles", NoTriangles, "no surface in it"},
    {"a mesh without primitives", EmptyMesh, "no surface in it"},
    {"a mesh of lines beside it", EmptyMeshBeside, NULL},
    {"a joint that comes twice", JointTwice, NULL},
    {"a skin without joints", NoJoints, "has no joints"},
    {"a joint that is the mesh", MeshIsJoint, NULL},
    {"a channel of no node", UnknownNode, "no clip that moves a bone"},
    {"a clip without channels", NoChannels, "no clip that moves a bone"},
    {"a clip of one key", OneKey, "no clip that moves a bone"},
    {"no clip", NoClip, "no clip that moves a bone"},
    {"a mesh that two nodes show", SharedMesh, NULL},
    {"two hundred shells", ManyShells, NULL},
    {"scenery beside it", Scenery, NULL},
};

static void WriteRig(const Rig* rig, const char* path)
{
    snwGltfWorld file = snwPrepareWorld_Make(&(snwPrepareWorld){0});
    rig->spoil(&file);
    snwGltfBytes bytes = snwGltfWorld_Glb(&file);
    FILE* stream = fopen(path, "wb");
    if (stream == NULL || fwrite(bytes.data, 1, bytes.size, stream) != bytes.size || fclose(stream) != 0)
        snwTest_Fail(__FILE__, __LINE__, "cannot write %s", path);
    free(bytes.data);
    snwGltfWorld_Free(&file);
}

// As the verb does it: open, simulate, write, hold against the source.
static snwResult BakeRig(const char* path, snwBakeReport* told, snwMessage* message)
{
    static snwBakeOutputReport s_written;
    char folder[300], out[300];
    snwContext* context = snwFixture_Context(1, snw_simdAuto, NULL);
    snwBakeDef def = snwDefaultBakeDef();
    snwBakeOutputDef output = snwDefaultBakeOutputDef();
    snwBake* bake = NULL;
    snprintf(folder, sizeof folder, "%s/spoiled.bake", snwTest_TempDir());
    snprintf(out, sizeof out, "%s/spoiled_soft.glb", snwTest_TempDir());
    json_t* words = json_pack("{s:f, s:f, s:f}", "end", 0.15, "fps", 20.0, "preroll", 0.1);
    def.source = path;
    def.folder = folder;
    def.words = words;
    def.restart = true;
    def.prepare.elements = 120;
    output.path = out;
    output.overwrite = true;
    snwResult result = snwBake_Open(context, &def, &bake, message);
    if (result >= 0)
        result = snwBake_Run(bake, message);
    if (result >= 0)
        result = snwBakeOutput_Write(context, snwBake_GetFrames(bake), &output, &s_written, message);
    if (result >= 0)
        result = snwBake_CheckWritten(bake, &s_written, message);
    if (bake != NULL)
    {
        *told = *snwBake_GetReport(bake);
        snwBake_RemoveFolder(bake);
    }
    snwBake_Close(bake);
    json_decref(words);
    snwDestroyContext(context);
    return result;
}

TEST_HEAVY(bake, spoiledRigsComeBackRightOrAreRefusedByName)
{
    char path[300];
    snprintf(path, sizeof path, "%s/spoiled.glb", snwTest_TempDir());
    for (size_t i = 0; i < sizeof s_rigs / sizeof *s_rigs; ++i)
    {
        const Rig* rig = &s_rigs[i];
        static snwBakeReport s_told;
        snwMessage message = {0};
        s_told = (snwBakeReport){0};
        WriteRig(rig, path);
        snwResult result = BakeRig(path, &s_told, &message);
        if (rig->words != NULL && (result >= 0 || strstr(message.text, rig->words) == NULL))
            snwTest_Fail(__FILE__, __LINE__, "%s: %d, \"%s\"", rig->name, result, message.text);
        if (rig->words == NULL && (result < 0 || !s_told.checked))
            snwTest_Fail(__FILE__, __LINE__, "%s: not checked: %s", rig->name, message.text);
        CHECK(result < 0 || (s_told.against.held >= 0 && s_told.against.held < 1e-3 && s_told.against.bare < 1e-4));
        CHECK(result >= 0 || message.remedy[0] != 0);
    }
}

static void LeaveAlone(snwGltfWorld* file)
{
    (void)file;
}

static void LittleLate(snwGltfWorld* file)
{
    for (int i = 0; i < 3; ++i)
        Floats(file, snw_timesAccessor)[i] += 0.01f;
}

// Frames on the keys, not between them: no key is added.
TEST(bake, framesBeginWhereKeysLie)
{
    static snwBakeReport s_told;
    static const Rig s_late = {"a little late", LittleLate, NULL};
    char path[300];
    snwMessage message = {0};
    snprintf(path, sizeof path, "%s/late.glb", snwTest_TempDir());
    WriteRig(&s_late, path);
    CHECK(BakeRig(path, &s_told, &message) >= 0);
    CHECK_NEAR(s_told.start, 0.01, 1e-6);
}

// Neither its size nor the share of what is wrong is measured with a floor.
TEST(bake, sceneryStaysAndNoSizeIsTakenFromIt)
{
    static snwBakeReport s_told[2];
    static const Rig s_pair[2] = {{"alone", LeaveAlone, NULL}, {"with scenery", Scenery, NULL}};
    char path[300];
    snprintf(path, sizeof path, "%s/scenery.glb", snwTest_TempDir());
    for (int i = 0; i < 2; ++i)
    {
        snwMessage message = {0};
        WriteRig(&s_pair[i], path);
        if (BakeRig(path, &s_told[i], &message) < 0)
            snwTest_Fail(__FILE__, __LINE__, "%s: %s", s_pair[i].name, message.text);
    }
    const snwBakeReport *alone = &s_told[0], *beside = &s_told[1];
    CHECK_NEAR(beside->size, alone->size, 0);
    CHECK_NEAR(beside->lag, alone->lag, 0);
    CHECK(alone->lag > 0);
    CHECK_NEAR(beside->against.size, alone->against.size, 0);
    CHECK_NEAR(beside->against.mean, alone->against.mean, 0);
    CHECK_INT(beside->against.edges, alone->against.edges);
    CHECK_INT(beside->against.surfaces, alone->against.surfaces + 2);
    bool told = false;
    for (int i = 0; i < beside->noteCount; ++i)
        told = told || (strstr(beside->notes[i], "'floor', 'crate'") != NULL);
    CHECK(told);
}
