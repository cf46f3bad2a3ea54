#include "prepare_world.h"

#include "test.h"

#include <stdlib.h>

enum
{
    snw_rings = 13,
    snw_around = 8,
    snw_eyeTriangles = 8,
    snw_barRingTriangles = 2 * snw_around * (snw_rings - 1) + 2 * snw_around,
    snw_most = 3 * (snw_barRingTriangles + 2 * snw_eyeTriangles),
};

typedef struct Soup
{
    float positions[snw_most][3];
    float colors[snw_most][3];
    float texcoords[snw_most][2];
    float young[snw_most];
    uint8_t joints[snw_most][4];
    float weights[snw_most][4];
    int count;
} Soup;

static void RingPoint(int ring, int k, double radius, float out[3])
{
    double angle = 2 * 3.14159265358979 * k / snw_around;
    out[0] = (float)((double)ring / (snw_rings - 1));
    out[1] = (float)(radius * sin(angle));
    out[2] = (float)(radius * cos(angle));
}

static void AddCorner(Soup* soup, const float p[3], bool eye)
{
    int i = soup->count++;
    double lower = fmin(fmax((double)p[0] / 0.2 - 2, 0), 1);
    for (int k = 0; k < 3; ++k)
        soup->positions[i][k] = p[k], soup->colors[i][k] = k == 0 ? p[0] : 0.0f;
    soup->texcoords[i][0] = p[0], soup->texcoords[i][1] = 0.5f;
    soup->young[i] = p[0] < 0.5f ? 1000.0f : 50000.0f;
    soup->joints[i][1] = 1;
    soup->weights[i][1] = eye ? 0.0f : (float)lower;
    soup->weights[i][0] = 1 - soup->weights[i][1];
}

static void AddTriangle(Soup* soup, const float* a, const float* b, const float* c, bool eye)
{
    AddCorner(soup, a, eye);
    AddCorner(soup, b, eye);
    AddCorner(soup, c, eye);
}

static void AddTube(Soup* soup, double radius, int first, int last, bool caps)
{
    float p[4][3];
    for (int r = first; r < last; ++r)
        for (int k = 0; k < snw_around; ++k)
        {
            RingPoint(r, k, radius, p[0]);
            RingPoint(r, k + 1 == snw_around ? 0 : k + 1, radius, p[1]);
            RingPoint(r + 1, k, radius, p[2]);
            RingPoint(r + 1, k + 1 == snw_around ? 0 : k + 1, radius, p[3]);
            AddTriangle(soup, p[0], p[2], p[1], false);
            AddTriangle(soup, p[1], p[2], p[3], false);
        }
    for (int end = 0; end < 2 && caps; ++end)
        for (int k = 0; k < snw_around; ++k)
        {
            float centre[3] = {end == 0 ? 0.0f : 1.0f, 0, 0};
            RingPoint(end * (snw_rings - 1), k, radius, p[0]);
            RingPoint(end * (snw_rings - 1), k + 1 == snw_around ? 0 : k + 1, radius, p[1]);
            AddTriangle(soup, centre, p[end], p[1 - end], false);
        }
}

// An octahedron that follows one joint alone.
static void AddPiece(Soup* soup, const float centre[3], float radius, uint8_t joint)
{
    for (int i = 0; i < snw_eyeTriangles; ++i)
    {
        float p[3][3];
        int flips = 0;
        for (int k = 0; k < 3; ++k)
        {
            bool minus = (i >> k & 1) != 0;
            flips += minus;
            for (int c = 0; c < 3; ++c)
                p[k][c] = centre[c] + (c == k ? (minus ? -radius : radius) : 0);
        }
        AddTriangle(soup, p[0], flips % 2 ? p[2] : p[1], flips % 2 ? p[1] : p[2], true);
        for (int k = 1; k <= 3; ++k)
            soup->joints[soup->count - k][0] = joint;
    }
}

// A material with the picture, number 0.
static void AddTexture(snwGltfWorld* file, const char* path)
{
    static char s_bytes[65536];
    FILE* stream = fopen(path, "rb");
    size_t size = stream != NULL ? fread(s_bytes, 1, sizeof s_bytes, stream) : 0;
    if (stream != NULL)
        fclose(stream);
    int view = snwGltfWorld_View(file, s_bytes, size);
    snwGltfWorld_Add(file, "images", "{'mimeType': 'image/png', 'bufferView': %d}", view);
    snwGltfWorld_Add(file, "textures", "{'source': 0}");
    snwGltfWorld_Add(file, "materials", "{'name': 'hide', 'pbrMetallicRoughness': {'baseColorTexture': {'index': 0}}}");
}

// The mesh of a soup; returns its index.
static int AddMesh(snwGltfWorld* file, Soup* soup, const snwPrepareWorld* world, const char* name)
{
    float scale = (float)(world->scale > 0 ? world->scale : 1);
    for (int i = 0; i < 3 * soup->count; ++i)
        soup->positions[i / 3][i % 3] *= scale;
    int position = snwGltfWorld_Floats(file, soup->positions[0], soup->count, "VEC3");
    int joints = snwGltfWorld_Accessor(file, soup->joints, soup->count, 5121, "VEC4");
    int weights = snwGltfWorld_Floats(file, soup->weights[0], soup->count, "VEC4");
    char extra[64] = "";
    if (world->young)
        snprintf(
            extra, sizeof extra, ", '_SNW_YOUNG': %d", snwGltfWorld_Floats(file, soup->young, soup->count, "SCALAR"));
    else if (world->colors)
        snprintf(
            extra, sizeof extra, ", 'COLOR_0': %d", snwGltfWorld_Floats(file, soup->colors[0], soup->count, "VEC3"));
    else if (world->png != NULL)
    {
        AddTexture(file, world->png);
        snprintf(extra, sizeof extra, ", 'TEXCOORD_0': %d",
            snwGltfWorld_Floats(file, soup->texcoords[0], soup->count, "VEC2"));
    }
    return snwGltfWorld_Add(file, "meshes",
        "{'name': '%s', 'primitives': [{'attributes': {'POSITION': %d, 'JOINTS_0': %d, 'WEIGHTS_0': %d%s}%s}]}", name,
        position, joints, weights, extra, world->png != NULL ? ", 'material': 0" : "");
}

static void AddTear(snwGltfWorld* file, Soup* soup, double far)
{
    memset(soup->positions, 0, sizeof soup->positions);
    soup->positions[100][1] = (float)far;
    char text[64];
    snprintf(
        text, sizeof text, "[{\"POSITION\": %d}]", snwGltfWorld_Floats(file, soup->positions[0], soup->count, "VEC3"));
    snwGltfWorld_Set(file, "meshes/0/primitives/0/targets", text);
    snwGltfWorld_Set(file, "meshes/0/weights", "[1]");
}

static void AddHat(snwGltfWorld* file, double scale)
{
    const float points[4][3] = {{0, 0, 0}, {0.1f, 0, 0}, {0, 0.1f, 0}, {0, 0, 0.1f}};
    static const int s_corners[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    float soup[12][3];
    for (int i = 0; i < 36; ++i)
        soup[i / 3][i % 3] = (float)scale * points[s_corners[i / 9][i / 3 % 3]][i % 3];
    int position = snwGltfWorld_Floats(file, soup[0], 12, "VEC3");
    int mesh = snwGltfWorld_Add(
        file, "meshes", "{'name': 'hat', 'primitives': [{'attributes': {'POSITION': %d}}]}", position);
    int node = snwGltfWorld_Add(
        file, "nodes", "{'name': 'hat', 'mesh': %d, 'translation': [0, %g, 0]}", mesh, 0.2 * scale);
    char text[16];
    snprintf(text, sizeof text, "%d", node);
    snwGltfWorld_Set(file, "nodes/2/children/1", text);
}

static void AddSwing(snwGltfWorld* file, double scale, bool unnamed)
{
    const float times[2] = {0, 1},
                turns[4][4] = {{0, 0, 0, 1}, {0, 0.70710678f, 0, 0.70710678f}, {0, 0, 0, 1}, {0, 0, 0.5f, 0.8660254f}};
    const float shifts[2][3] = {{0, 0, 0}, {0, (float)(0.3 * scale), 0}};
    int input = snwGltfWorld_Floats(file, times, 2, "SCALAR"), upper = snwGltfWorld_Floats(file, turns[0], 2, "VEC4");
    int lower = snwGltfWorld_Floats(file, turns[2], 2, "VEC4"), shift = snwGltfWorld_Floats(file, shifts[0], 2, "VEC3");
    snwGltfWorld_Add(file, "animations",
        "{%s'channels': [{'sampler': 0, 'target': {'node': 1, 'path': 'rotation'}}, {'sampler': 1, "
        "'target': {'node': 2, 'path': 'rotation'}}, {'sampler': 2, 'target': {'node': 1, 'path': 'translation'}}], "
        "'samplers': [{'input': %d, 'output': %d}, {'input': %d, 'output': %d}, {'input': %d, 'output': %d}]}",
        unnamed ? "" : "'name': 'swing', ", input, upper, input, lower, input, shift);
}

static void AddRig(snwGltfWorld* file, const snwPrepareWorld* world)
{
    double s = world->scale > 0 ? world->scale : 1;
    snwGltfWorld_Add(file, "nodes", "{'name': 'rig', 'children': [1], 'translation': [0, 0, 0]}");
    snwGltfWorld_Add(file, "nodes", "{'name': 'upper', 'children': [2]}");
    snwGltfWorld_Add(file, "nodes", "{'name': '%s', 'children': [3], 'translation': [%g, 0, 0]}",
        world->hand ? "hand" : "lower", 0.5 * s);
    snwGltfWorld_Add(file, "nodes", "{'name': 'end', 'translation': [%g, 0, 0]}", 0.5 * s);
    float binds[4][16] = {{0}};
    binds[3][0] = binds[3][6] = binds[3][15] = 50, binds[3][9] = -50; // turned about x, and large
    binds[3][15] = 1;
    for (int i = 0; i < 3; ++i)
    {
        for (int k = 0; k < 4; ++k)
            binds[i][5 * k] = 1;
        binds[i][12] = (float)(-0.5 * i * s);
    }
    int accessor = snwGltfWorld_Floats(file, binds[0], world->oddRoot ? 4 : 3, "MAT4");
    snwGltfWorld_Add(
        file, "skins", "{'joints': [1, 2, 3%s], 'inverseBindMatrices': %d}", world->oddRoot ? ", 0" : "", accessor);
    const float times[3] = {0, 0.5f, 1};
    const float turns[3][4] = {{0, 0, 0, 1}, {0, 0, 0.5f, 0.8660254f}, {0, 0, 0, 1}};
    int input = snwGltfWorld_Floats(file, times, 3, "SCALAR"), output = snwGltfWorld_Floats(file, turns[0], 3, "VEC4");
    const float quarters[3][4] = {{0, 0, 0, 1}, {0, 0, 0.70710678f, 0.70710678f}, {0, 0, 0, 1}};
    char more[160] = "";
    if (world->shell)
        snprintf(more, sizeof more, ", {'input': %d, 'output': %d}", input,
            snwGltfWorld_Floats(file, quarters[0], 3, "VEC4"));
    snwGltfWorld_Add(file, "animations",
        "{%s'channels': [{'sampler': 0, 'target': {'node': 2, 'path': 'rotation'}}%s], 'samplers': "
        "[{'input': %d, 'output': %d}%s]}",
        world->unnamed ? "" : "'name': 'bend', ",
        world->shell ? ", {'sampler': 1, 'target': {'node': 3, 'path': 'rotation'}}" : "", input, output, more);
    if (world->swing)
        AddSwing(file, s, world->unnamed);
    if (!world->posed)
        return;
    snwGltfWorld_Set(file, "nodes/2/rotation", "[0, 0.3420201, 0, 0.9396926]");
}

snwGltfWorld snwPrepareWorld_Make(const snwPrepareWorld* world)
{
    snwGltfWorld file = snwGltfWorld_Empty();
    Soup* soup = calloc(1, sizeof *soup);
    AddRig(&file, world);
    AddTube(soup, 0.12, 0, snw_rings - 1, true);
    AddPiece(soup, (const float[3]){0.2f, 0.13f, 0}, 0.02f, 0);
    if (world->shell)
        AddPiece(soup, (const float[3]){1.4f, 0, 0}, world->axe ? 0.2f : 0.02f, 2);
    if (world->card)
    {
        static const float s_corners[4][3] = {{1.3f, 0, 0}, {1.4f, 0, 0}, {1.4f, 0.1f, 0}, {1.3f, 0.1f, 0}};
        AddTriangle(soup, s_corners[0], s_corners[1], s_corners[2], false);
        AddTriangle(soup, s_corners[0], s_corners[2], s_corners[3], false);
    }
    int mesh = AddMesh(&file, soup, world, "body");
    if (world->card)
    {
        snwGltfWorld_Add(&file, "materials", "{'name': 'skin', 'alphaMode': 'MASK'}");
        snwGltfWorld_Set(&file, "meshes/0/primitives/0/material", "0");
    }
    if (world->torn != 0)
        AddTear(&file, soup, world->torn);
    snwGltfWorld_Add(&file, "nodes", "{'name': 'body', 'mesh': %d%s}", mesh, world->carried ? "" : ", 'skin': 0");
    if (world->carried)
    {
        snwGltfWorld_Set(&file, "nodes/1/children/1", "4");
        snwGltfWorld_Set(&file, "skins", NULL);
    }
    if (world->shirt)
    {
        memset(soup, 0, sizeof *soup);
        AddTube(soup, 0.125, 3, 9, false);
        snwPrepareWorld plain = {.scale = world->scale};
        const char* name = world->shirtName != NULL ? world->shirtName : "shirt";
        mesh = AddMesh(&file, soup, &plain, name);
        snwGltfWorld_Add(&file, "nodes", "{'name': '%s', 'mesh': %d, 'skin': 0}", name, mesh);
        if (world->shirtMaterial != NULL)
        {
            snwGltfWorld_Add(&file, "materials", "{'name': '%s'}", world->shirtMaterial);
            snwGltfWorld_Set(&file, "meshes/1/primitives/0/material", "0");
        }
    }
    if (world->hat)
        AddHat(&file, world->scale > 0 ? world->scale : 1);
    free(soup);
    return file;
}

static void WriteFile(const char* path, const char* data, size_t size)
{
    FILE* stream = fopen(path, "wb");
    if (stream == NULL || fwrite(data, 1, size, stream) != size || fclose(stream) != 0)
        snwTest_Fail(__FILE__, __LINE__, "cannot write %s", path);
}

const char* snwPrepareWorld_Write(const snwPrepareWorld* world, const char* name, const char* sidecar)
{
    static char s_path[512];
    char beside[512], text[4096];
    snwGltfWorld file = snwPrepareWorld_Make(world);
    snwGltfBytes bytes = snwGltfWorld_Glb(&file);
    snprintf(s_path, sizeof s_path, "%s/%s.glb", snwTest_TempDir(), name);
    snprintf(beside, sizeof beside, "%s/%s.sinew.json", snwTest_TempDir(), name);
    WriteFile(s_path, bytes.data, bytes.size);
    free(bytes.data);
    snwGltfWorld_Free(&file);
    remove(beside);
    if (sidecar == NULL)
        return s_path;
    snprintf(text, sizeof text, "%s", sidecar);
    for (char* at = text; *at != 0; ++at)
        *at = *at == '\'' ? '"' : *at;
    WriteFile(beside, text, strlen(text));
    return s_path;
}

snwPrepared* snwPrepareWorld_Prepare(snwContext* context, const char* path, snwPrepareReport* report)
{
    snwPrepareDef def = snwDefaultPrepareDef();
    snwPrepared* prepared = NULL;
    snwMessage message = {0};
    char text[512];
    def.elements = 700;
    def.mesher = snw_mesherLattice;
    if (snwPrepareFile(context, path, &def, &prepared, report, &message) < 0)
    {
        snwMessage_Format(&message, text, sizeof text);
        snwTest_Fail(__FILE__, __LINE__, "%s", text);
    }
    return prepared;
}
