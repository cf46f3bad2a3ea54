// The way of the apd paper, section 5: an exterior and an interior surface become BASE.smesh (what TetGen is given),
// BASE.mesh (the tets, with a region per bone) and BASE.joint (the bones).

#include "app/prep_nested.h"
#include "app/asset_report.h"
#include "app/common.h"
#include "app/console.h"
#include "asset/mesher.h"
#include "base/pieces.h"
#include "scene/file.h"

#include <stdio.h>
#include <string.h>

typedef struct Nest
{
    snwContext* context;
    const snwArgs* args;
    snwAssetReport outer, inner;
    snwArena arena;
    snwMesherDef def;
    snwMeshed meshed;
    snwMessage message;
} Nest;

// All surfaces of a file as one.
static snwFaces JoinSurfaces(snwArena* arena, const snwAssetSurfaces* surfaces)
{
    int vertexCount = 0, triangleCount = 0;
    for (int i = 0; i < surfaces->count; ++i)
        vertexCount += surfaces->items[i].weld.count;
    snwVec3* vertices = snwArena_Alloc(arena, (size_t)vertexCount + 1, sizeof *vertices);
    int(*triangles)[3] = snwArena_Alloc(arena, (size_t)surfaces->triangleCount + 1, sizeof *triangles);
    vertexCount = 0;
    for (int i = 0; i < surfaces->count && !arena->failed; ++i)
    {
        const snwAssetSurface* item = &surfaces->items[i];
        for (int t = 0; t < item->triangleCount; ++t, ++triangleCount)
            for (int k = 0; k < 3; ++k)
                triangles[triangleCount][k] = vertexCount + item->triangles[t][k];
        memcpy(vertices + vertexCount, item->vertices, (size_t)item->weld.count * sizeof *vertices);
        vertexCount += item->weld.count;
    }
    return (snwFaces){vertices, vertexCount, (const int(*)[3])triangles, triangleCount};
}

// Every connected piece of the interior is a bone.
static int SplitShells(snwArena* arena, const snwFaces* all, snwFaces** shells)
{
    int* roots = snwArena_Alloc(arena, (size_t)all->vertexCount + 1, sizeof *roots);
    int* numbers = snwArena_Alloc(arena, (size_t)all->vertexCount + 1, sizeof *numbers);
    int(*sorted)[3] = snwArena_Alloc(arena, (size_t)all->triangleCount + 1, sizeof *sorted);
    int count = 0, next = 0;
    if (arena->failed)
        return 0;

    // Pieces over shared vertices, numbered in the order of their triangles.
    for (int i = 0; i < all->vertexCount; ++i)
        roots[i] = i, numbers[i] = -1;
    for (int i = 0; i < all->triangleCount; ++i)
        for (int k = 1; k < 3; ++k)
            snwPieces_Join(roots, all->triangles[i][k], all->triangles[i][0]);
    for (int i = 0; i < all->triangleCount; ++i)
    {
        int* number = &numbers[snwPieces_Root(roots, all->triangles[i][0])];
        *number = *number < 0 ? count++ : *number;
    }

    // Triangles of a piece side by side; each piece is a view of them.
    *shells = snwArena_Alloc(arena, (size_t)count + 1, sizeof **shells);
    for (int shell = 0; *shells != NULL && shell < count; ++shell)
    {
        int first = next;
        for (int i = 0; i < all->triangleCount; ++i)
            if (numbers[snwPieces_Root(roots, all->triangles[i][0])] == shell)
                memcpy(sorted[next++], all->triangles[i], sizeof *sorted);
        (*shells)[shell] = (snwFaces){all->vertices, all->vertexCount, (const int(*)[3])sorted + first, next - first};
    }

    return arena->failed ? 0 : count;
}

static snwResult ReadNestSurfaces(Nest* nest)
{
    snwResult result = snwAssetReport_Make(nest->context, nest->args->operands[0], &nest->outer, &nest->message);
    if (result >= 0)
        result = snwAssetReport_Make(nest->context, snwArgs_Text(nest->args, "inner"), &nest->inner, &nest->message);
    if (result < 0)
        return result;
    snwFaces all = JoinSurfaces(&nest->arena, &nest->inner.surfaces), *shells = NULL;
    nest->def.faces = JoinSurfaces(&nest->arena, &nest->outer.surfaces);
    nest->def.innerCount = SplitShells(&nest->arena, &all, &shells);
    nest->def.inner = shells;
    return nest->arena.failed ? snwFailMemory(&nest->message) : snw_ok;
}

static snwResult WriteNestPart(Nest* nest, const char* extension, const snwWriter* writer)
{
    const char* path = snwArgs_Text(nest->args, "output");
    const char* dot = strrchr(path, '.');
    int base = dot != NULL && strchr(dot, '/') == NULL ? (int)(dot - path) : (int)strlen(path);
    char name[4096];
    snprintf(name, sizeof name, "%.*s%s", base, path, extension);
    if (writer->failed)
        return snwFailMemory(&nest->message);
    snwResult result = snwFile_Write(
        nest->context, name, writer->data, writer->size, snwArgs_Has(nest->args, "force"), &nest->message);
    if (result >= 0)
        snwNote("written   %s", name);
    return result;
}

typedef snwResult WriteFn(Nest* nest, snwWriter* out);

static snwResult Smesh(Nest* nest, snwWriter* out)
{
    return snwMesher_WriteSmesh(nest->context, &nest->def, out, &nest->message);
}

static snwResult Medit(Nest* nest, snwWriter* out)
{
    return snwMeshed_WriteMedit(nest->context, &nest->meshed, nest->def.innerCount, out, &nest->message);
}

static snwResult Joint(Nest* nest, snwWriter* out)
{
    return snwMeshed_WriteJoint(nest->context, &nest->def, out, &nest->message);
}

static snwResult WriteNestFile(Nest* nest, WriteFn* write, const char* extension)
{
    snwWriter writer = {.context = nest->context};
    snwResult result = write(nest, &writer);
    if (result >= 0)
        result = WriteNestPart(nest, extension, &writer);
    snwFree(nest->context, writer.data);
    return result;
}

static snwResult FitNested(Nest* nest)
{
    // TetGen, or whoever fits an inner surface into a body.
    const char* mesher = snwArgs_Text(nest->args, "mesher");
    nest->def = snwDefaultMesherDef();
    nest->def.conform = true;
    if (mesher != NULL)
        snwMesher_Find(mesher, &nest->def.mesher); // the table checked the word
    if (!snwArgs_Int(nest->args, "elements", 1, 20000000, &nest->def.tets))
        return snw_errorArgument;
    snwResult result = ReadNestSurfaces(nest);
    if (result >= 0)
        result = snwMakeTets(nest->context, &nest->def, &nest->arena, &nest->meshed, &nest->message);
    if (result < 0)
        return result;
    snwNote("body      %d tetrahedra, %d bones, by %s", nest->meshed.mesh.tetCount, nest->def.innerCount,
        snwMesher_Name(nest->meshed.mesher));

    // What TetGen was given, for those who want to run it themselves.
    if (nest->meshed.mesher == snw_mesherTetgen)
        result = WriteNestFile(nest, Smesh, ".smesh");
    if (result >= 0)
        result = WriteNestFile(nest, Medit, ".mesh");

    return result < 0 ? result : WriteNestFile(nest, Joint, ".joint");
}

snwExit snwPrepNested(snwContext* context, const snwArgs* args)
{
    Nest nest = {.context = context, .args = args, .arena.context = context};
    snwResult result = FitNested(&nest);
    snwExit exit = snw_exitOk;
    if (result < 0)
        exit = nest.message.text[0] != 0 ? snwReportInput(&nest.message) : snw_exitUsage;
    snwAssetReport_Free(&nest.outer);
    snwAssetReport_Free(&nest.inner);
    snwArena_Free(&nest.arena);
    return exit;
}
