// MEDIT's .mesh as text. An element has one label, so materials and bones share its numbers: flesh of material m has
// 1 + m, what bone b owns has 1 + materials + b. Comments say which is which.

#include "asset/export_parts.h"
#include "scene/text.h"

static void PutMeditReal(snwWriter* out, double value)
{
    char text[32];
    snwFormatReal(text, value);
    snwExport_Put(out, text);
}

static int LabelOfElement(const snwCharacterDef* character, int element)
{
    int bone = character->elementBones != NULL ? character->elementBones[element] : -1;
    int region = character->regions != NULL ? character->regions[element] : 0;
    return bone >= 0 ? 1 + character->materialCount + bone : 1 + region;
}

static void PutLabels(snwWriter* out, const snwCharacterDef* character)
{
    for (int i = 0; i < character->materialCount; ++i)
        snwExport_PutFormat(out, "# label %d: flesh of material %d\n", 1 + i, i);
    for (int i = 0; i < character->boneCount && character->elementBones != NULL; ++i)
    {
        snwExport_PutFormat(out, "# label %d: bone %d ", 1 + character->materialCount + i, i);
        snwExport_PutLine(out, character->bones[i].name);
        snwExport_Put(out, "\n");
    }
}

// character NULL: the label is 0.
static void PutElements(
    snwWriter* out, const char* word, const int* corners, int cornerCount, int count, const snwCharacterDef* character)
{
    if (count == 0)
        return;
    snwExport_PutFormat(out, "%s\n%d\n", word, count);
    for (int i = 0; i < count; ++i)
    {
        for (int k = 0; k < cornerCount; ++k)
            snwExport_PutFormat(out, "%d ", corners[(size_t)cornerCount * (size_t)i + (size_t)k] + 1);
        snwExport_PutFormat(out, "%d\n", character != NULL ? LabelOfElement(character, i) : 0);
    }
}

void snwExport_WriteMedit(
    snwWriter* out, const snwCharacterDef* character, const double* positions, const int* triangles, int triangleCount)
{
    snwExport_Put(out, "MeshVersionFormatted 2\nDimension 3\n");
    PutLabels(out, character);
    snwExport_PutFormat(out, "Vertices\n%d\n", character->vertexCount);

    // Vertices have no label of their own.
    for (int i = 0; i < character->vertexCount; ++i)
    {
        for (int k = 0; k < 3; ++k)
        {
            PutMeditReal(out, positions[3 * (size_t)i + (size_t)k]);
            snwExport_Put(out, " ");
        }
        snwExport_Put(out, "0\n");
    }

    // Elements by their kind, then the skin as triangles.
    const bool flat = character->triangleCount > 0; // its triangles are elements, and all of its skin
    if (character->tetCount > 0)
        PutElements(out, "Tetrahedra", character->tets[0], 4, character->tetCount, character);
    if (character->hexCount > 0)
        PutElements(out, "Hexahedra", character->hexes[0], 8, character->hexCount, character);
    if (flat)
        PutElements(out, "Triangles", character->triangles[0], 3, character->triangleCount, character);
    else
        PutElements(out, "Triangles", triangles, 3, triangleCount, NULL);

    if (character->edgeCount > 0)
        PutElements(out, "Edges", character->edges[0], 2, character->edgeCount, NULL);
    snwExport_Put(out, "End\n");
}
