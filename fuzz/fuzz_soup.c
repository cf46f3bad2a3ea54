// Triangles from random bytes to TetGen, to mending and to the inside that the lattice mesher asks for, and random
// answers of sinew-tetgen. With SINEW_TETGEN the helper itself is asked (tools/fuzz.sh sets it); without, what leads up
// to it is tried. The lattice itself takes seconds under sanitizers: tests give it broken surfaces.
//
// First byte: what to do; then vertices of three bytes each, their number first, and triangles of three.

#include "fuzz.h"

#include "asset/mesher.h"
#include "asset/mesher_parts.h"
#include "geom/inside.h"

#include <math.h>

static void Expect(bool condition)
{
    if (!condition)
        abort();
}

typedef struct Soup
{
    snwVec3 vertices[64];
    int triangles[128][3];
    int vertexCount, triangleCount;
} Soup;

static Soup ReadSoup(const uint8_t* data, size_t size)
{
    Soup soup = {.vertexCount = size > 0 ? data[0] % 64 : 0};
    size_t at = 1;
    for (int i = 0; i < soup.vertexCount; ++i, at += 3)
    {
        bool there = at + 3 <= size;
        soup.vertices[i] = (snwVec3){there ? data[at] : 0, there ? data[at + 1] : i, there ? data[at + 2] : 0};
    }
    for (; at + 3 <= size && soup.triangleCount < 128; at += 3, ++soup.triangleCount)
        for (int k = 0; k < 3; ++k) // 255: now and then one that is not there
            soup.triangles[soup.triangleCount][k] = data[at] == 255 ? data[at + 1] : data[at + (size_t)k] % 64;
    return soup;
}

static void CheckMeshed(const snwMeshed* meshed)
{
    Expect(meshed->mesh.tetCount > 0);
    for (int i = 0; i < meshed->mesh.tetCount; ++i)
    {
        Expect(meshed->regions[i] == 0);
        for (int k = 0; k < 4; ++k)
            Expect(meshed->mesh.tets[i][k] >= 0 && meshed->mesh.tets[i][k] < meshed->mesh.vertexCount);
    }
    for (int i = 0; i < meshed->mesh.vertexCount; ++i)
        Expect(isfinite(meshed->mesh.vertices[i].x + meshed->mesh.vertices[i].y + meshed->mesh.vertices[i].z));
}

static void TryTetgen(snwContext* context, const uint8_t* data, size_t size)
{
    Soup soup = ReadSoup(data, size);
    snwArena arena = {.context = context};
    snwMesherDef def = snwDefaultMesherDef();
    snwMeshed meshed;
    snwMessage message = {0};
    def.faces = (snwFaces){soup.vertices, soup.vertexCount, (const int(*)[3])soup.triangles, soup.triangleCount};
    def.mesher = snw_mesherTetgen;
    def.spacing = 40;
    def.seconds = 1;
    def.megabytes = 256;
    if (snwMakeTets(context, &def, &arena, &meshed, &message) >= 0)
        CheckMeshed(&meshed);
    else
        Expect(message.text[0] != 0);
    snwArena_Free(&arena);
}

static void TryInside(snwContext* context, const uint8_t* data, size_t size)
{
    Soup soup = ReadSoup(data, size);
    snwArena arena = {.context = context};
    snwMendDef def = snwDefaultMendDef();
    snwMend mend;
    snwInside inside;
    def.faces = (snwFaces){soup.vertices, soup.vertexCount, (const int(*)[3])soup.triangles, soup.triangleCount};
    if (snwMendSurface(&arena, &def, &mend, NULL) >= 0 && snwInside_Create(context, &mend, NULL, 0, &inside, NULL) >= 0)
    {
        snwSolid solid = snwInside_Solid(&inside);
        for (int i = 0; i < 64; ++i)
            Expect(isfinite(solid.distance((snwVec3){4.1 * i, 255 - 3.7 * i, 60.0 * (i % 5)}, solid.data)));
        snwInside_Free(&inside);
    }
    snwArena_Free(&arena);
}

static void TryAnswer(snwContext* context, const uint8_t* data, size_t size)
{
    static const snwVec3 s_points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    snwArena arena = {.context = context};
    snwTetMesh mesh;
    snwMessage message = {0};
    if (snwTetgen_ReadAnswer(&arena, data, size, s_points, 4, &mesh, &message) >= 0)
        for (int i = 0; i < 4 * mesh.tetCount; ++i)
            Expect(mesh.tets[i / 4][i % 4] >= 0 && mesh.tets[i / 4][i % 4] < mesh.vertexCount);
    else
        Expect(message.text[0] != 0);
    snwArena_Free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    snwFuzzMemory memory;
    if (size < 1)
        return 0;
    snwContext* context = snwFuzz_NewContext(&memory, 256 << 20);
    if (data[0] % 4 == 0)
        TryAnswer(context, data + 1, size - 1);
    else if (data[0] % 4 == 3)
        TryInside(context, data + 1, size - 1);
    else
        TryTetgen(context, data + 1, size - 1);
    snwFuzz_EndContext(context, &memory);
    return 0;
}
