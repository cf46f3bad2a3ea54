// Colours from the material libraries of an OBJ: diffuse colours by name, painted onto the vertices of the parts that
// use them.

#include "asset/read_obj.h"

#include "base/array.h"
#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
    snw_maxObjMaterials = 4096 // every part looks through them
};

typedef struct Material
{
    uint64_t name; // hashed
    float color[3];
} Material;

typedef snwArray(Material) Materials;

static void ReadMaterialColor(snwScan* scan, Material* material)
{
    for (int k = 0; k < 3; ++k)
    {
        double value = 0;
        snwWord word = snwScan_WordInLine(scan);
        if (!snwWord_ToReal(word, &value))
            return; // "Kd spectral file.rfl" and the like
        material->color[k] = (float)fmin(fmax(value, 0), 1);
    }
}

// Names are compared as the parts have them.
static bool ReadMtlMaterials(snwAsset* asset, const char* data, size_t size, Materials* materials)
{
    snwScan scan = snwMakeScan(data, size, '#');

    // Only names and diffuse colours are of use here.
    do
    {
        snwWord word = snwScan_WordInLine(&scan);
        if (snwWord_Is(word, "newmtl"))
        {
            snwWord name = snwScan_RestOfLine(&scan);
            if (materials->count == snw_maxObjMaterials)
                return true;
            Material material = {snwHashText(snwAsset_Text(asset, name.text, name.size), 0), {1, 1, 1}};
            if (!snwArray_Push(asset->context, materials, material))
                return false;
        }
        else if (snwWord_Is(word, "Kd") && materials->count > 0)
            ReadMaterialColor(&scan, &materials->data[materials->count - 1]);
    } while (snwScan_SkipLine(&scan));

    return true;
}

static snwResult ReadLibraries(const snwAssetInput* input, snwAsset* asset, const snwObjLibrary* library,
    Materials* materials, snwMessage* message)
{
    // A library that cannot be read leaves the mesh without colours, which is worth a note.
    for (int i = 0; i < library->count; ++i)
    {
        snwMessage why = {0};
        char* data = NULL;
        size_t size = 0;
        const char* name = snwAsset_Text(asset, library->names[i].text, library->names[i].size);
        snwResult result = input->folder->read(input->folder->user, asset->context, name, &data, &size, &why);

        if (result == snw_errorMemory)
            return snwFailMemory(message);
        if (result < 0)
        {
            snwAsset_Note(asset, snw_noteLeftOut, name, "the colours of the materials: %.120s", why.text);
            continue;
        }

        bool enough = ReadMtlMaterials(asset, data, size, materials);
        snwFree(asset->context, data);
        if (!enough)
            return snwFailMemory(message);
    }

    return snw_ok;
}

static const Material* FindMaterial(const Materials* materials, const char* name)
{
    uint64_t hash = snwHashText(name, 0);
    for (int i = 0; i < materials->count; ++i)
        if (materials->data[i].name == hash)
            return &materials->data[i];
    return NULL;
}

// The last part comes first, so that the first one has the last word.
static void PaintParts(const snwAssetMesh* mesh, const Materials* materials, float (*colors)[4])
{
    for (int i = mesh->partCount - 1; i >= 0; --i)
    {
        const snwAssetPart* part = &mesh->parts[i];
        const Material* material = FindMaterial(materials, part->material);
        for (int t = part->firstTriangle; material != NULL && t < part->firstTriangle + part->triangleCount; ++t)
            for (int k = 0; k < 3; ++k)
                memcpy(colors[mesh->triangles[t][k]], material->color, sizeof material->color);
    }
}

snwResult snwObj_ColorFromMaterials(
    const snwAssetInput* input, snwAsset* asset, snwAssetMesh* mesh, const snwObjLibrary* library, snwMessage* message)
{
    if (input->folder == NULL || library->count == 0)
        return snw_ok;
    Materials materials = {0};
    snwResult result = ReadLibraries(input, asset, library, &materials, message);
    bool any = false;

    // White, except for what has a material.
    for (int i = 0; result >= 0 && i < mesh->partCount; ++i)
        any = any || FindMaterial(&materials, mesh->parts[i].material) != NULL;
    float(*colors)[4] = any ? snwAsset_Alloc(asset, mesh->vertexCount, sizeof *colors) : NULL;
    for (int i = 0; colors != NULL && i < mesh->vertexCount; ++i)
        for (int k = 0; k < 4; ++k)
            colors[i][k] = 1;
    if (colors != NULL)
        PaintParts(mesh, &materials, colors);
    mesh->colors = (const float(*)[4])colors;
    snwArray_Free(asset->context, &materials);

    return result;
}
