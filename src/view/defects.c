// Pictures of what is wrong with a surface: triangles coloured by defect, open and crowded edges as tubes, two views,
// and a legend with counts.

#include "view/defects.h"

#include "base/arena.h"
#include "view/caption.h"
#include "view/gizmo.h"
#include "view/portrait.h"
#include "view/sheet.h"

#include <stdio.h>

typedef enum Defect
{
    defect_none,
    defect_crossing,
    defect_turned,
    defect_double,
    defect_open,
    defect_crowded,
    defect_count,
} Defect;

static const snwFloat3 s_colors[defect_count] = {{0.50f, 0.48f, 0.45f}, {0.80f, 0.06f, 0.04f}, {0.06f, 0.20f, 0.75f},
    {0.60f, 0.05f, 0.50f}, {1.00f, 0.32f, 0.02f}, {0.35f, 0.02f, 0.70f}};

static const char* const s_names[defect_count] = {"sound", "crossing triangles", "facing the wrong way",
    "doubled triangles", "open edges", "edges of more than two triangles"};

enum
{
    snw_maxEdgeLines = 4000,     // further ones are not drawn
    snw_maxWireTriangles = 30000 // of which the sides are drawn
};

snwDefectsDef snwDefaultDefectsDef(void)
{
    return (snwDefectsDef){.title = "", .size = 640, .samples = 8};
}

// ---------------------------------------------------------------------------------------------------------------------
// Meshes to draw

typedef struct Drawing
{
    snwContext* context;
    const snwDefectsDef* def;
    snwArena arena;
    snwMeshLook* looks;
    int lookCount;
    snwGizmos lines;
    int64_t counts[defect_count];
    snwVec3 origin; // the middle of everything, so that floats keep their digits far from zero
    double size;    // of everything
} Drawing;

static Defect DefectOf(uint8_t marks)
{
    if (marks & snw_markCrossing)
        return defect_crossing;
    if (marks & (snw_markTurned | snw_markInsideOut))
        return defect_turned;
    return marks & snw_markDouble ? defect_double : defect_none;
}

static snwFloat3 PlaceInDrawing(const Drawing* drawing, snwVec3 p)
{
    return (snwFloat3){
        (float)(p.x - drawing->origin.x), (float)(p.y - drawing->origin.y), (float)(p.z - drawing->origin.z)};
}

// Triangles with corners of their own, for each has one colour.
static bool AddDefectSurface(Drawing* drawing, const snwDefectSurface* surface)
{
    int count = surface->survey->triangleCount;
    float* positions = snwArena_Alloc(&drawing->arena, (size_t)count * 9 + 1, sizeof *positions);
    float* colors = snwArena_Alloc(&drawing->arena, (size_t)count * 9 + 1, sizeof *colors);
    int* triangles = snwArena_Alloc(&drawing->arena, (size_t)count * 3 + 1, sizeof *triangles);

    if (drawing->arena.failed)
        return false;

    // Corners of their own, because neighbours may have another colour.
    for (int i = 0; i < 3 * count; ++i)
    {
        Defect defect = DefectOf(surface->survey->marks[i / 3]);
        drawing->counts[defect] += i % 3 == 0;
        snwFloat3_Store(
            PlaceInDrawing(drawing, surface->vertices[surface->triangles[i / 3][i % 3]]), positions + 3 * i);
        snwFloat3_Store(s_colors[defect], colors + 3 * i);
        triangles[i] = i;
    }

    // Lines of very many triangles would only make the picture grey.
    if (count > 0)
        drawing->looks[drawing->lookCount++] = (snwMeshLook){.kind = snw_pictureSkin,
            .positions = positions,
            .colors = colors,
            .vertexCount = 3 * count,
            .triangles = triangles,
            .triangleCount = count,
            .flat = true,
            .edges = count <= snw_maxWireTriangles};

    return true;
}

static void MarkDefectEdges(Drawing* drawing, const snwDefectSurface* surface)
{
    const snwSurvey* survey = surface->survey;
    for (int i = 0; i < survey->markedEdgeCount; ++i)
    {
        const snwMarkedEdge* edge = &survey->edges[i];
        Defect defect = edge->mark == snw_edgeOpen ? defect_open : defect_crowded;
        if (++drawing->counts[defect] <= snw_maxEdgeLines)
            snwGizmos_AddCapsule(&drawing->lines, PlaceInDrawing(drawing, surface->vertices[edge->a]),
                PlaceInDrawing(drawing, surface->vertices[edge->b]), (float)(0.006 * drawing->size), s_colors[defect]);
    }
}

static void MeasureView(Drawing* drawing)
{
    const snwDefectsDef* def = drawing->def;
    snwVec3 lower = def->surfaces[0].survey->lower, upper = def->surfaces[0].survey->upper;
    for (int i = 1; i < def->surfaceCount; ++i)
    {
        const snwSurvey* survey = def->surfaces[i].survey;
        lower = (snwVec3){
            fmin(lower.x, survey->lower.x), fmin(lower.y, survey->lower.y), fmin(lower.z, survey->lower.z)};
        upper = (snwVec3){
            fmax(upper.x, survey->upper.x), fmax(upper.y, survey->upper.y), fmax(upper.z, survey->upper.z)};
    }
    drawing->origin = (snwVec3){(lower.x + upper.x) / 2, (lower.y + upper.y) / 2, (lower.z + upper.z) / 2};
    drawing->size = fmax(upper.x - lower.x, fmax(upper.y - lower.y, upper.z - lower.z));
}

static snwResult GatherLooks(Drawing* drawing, snwMessage* message)
{
    const snwDefectsDef* def = drawing->def;
    drawing->looks = snwArena_Alloc(&drawing->arena, (size_t)def->surfaceCount + 1, sizeof *drawing->looks);
    if (drawing->looks == NULL)
        return snwFailMemory(message);
    MeasureView(drawing);
    for (int i = 0; i < def->surfaceCount; ++i)
    {
        if (!AddDefectSurface(drawing, &def->surfaces[i]))
            return snwFailMemory(message);
        MarkDefectEdges(drawing, &def->surfaces[i]);
    }
    if (drawing->lookCount == 0)
        return snwFail(message, snw_errorInput, NULL, "there are no triangles to draw");
    if (drawing->counts[defect_open] + drawing->counts[defect_crowded] == 0)
        return snw_ok;
    return snwGizmos_GetLook(&drawing->lines, &drawing->looks[drawing->lookCount++], message);
}

// ---------------------------------------------------------------------------------------------------------------------
// The picture

static void DrawLegend(const Drawing* drawing, snwImage* tile)
{
    float size = (float)tile->width / 30.0f, y = 1.6f * size;
    static const snwFloat3 ink = {0.022f, 0.024f, 0.030f};
    for (int i = 1; i < defect_count; ++i)
    {
        char text[96];
        if (drawing->counts[i] == 0)
            continue;
        snprintf(text, sizeof text, "%lld %s", (long long)drawing->counts[i], s_names[i]);
        snwImage_Fill(tile, (int)size, (int)(y - 0.75f * size), (int)(0.8f * size), (int)(0.8f * size), s_colors[i]);
        snwImage_DrawText(tile, 2.2f * size, y, size, ink, text);
        y += 1.5f * size;
    }
}

static snwResult DrawView(Drawing* drawing, float azimuth, snwImage* tile, snwMessage* message)
{
    snwPortraitDef view = snwDefaultPortraitDef();
    view.meshes = drawing->looks;
    view.meshCount = drawing->lookCount;
    view.width = view.height = drawing->def->size;
    view.samples = drawing->def->samples;
    view.azimuth = azimuth;
    view.elevation = 14;
    view.ground = true;
    return snwDrawPortrait(drawing->context, &view, tile, message);
}

static snwResult DrawDefectSheet(Drawing* drawing, snwSheet* sheet, snwMessage* message)
{
    static const char* const row[] = {""};
    static const char* const columns[] = {"from the front", "from behind"};
    snwSheetDef def = snwDefaultSheetDef();

    def.title = drawing->def->title;
    def.subtitle = drawing->def->subtitle;
    def.rows = row;
    def.rowCount = 1;
    def.columns = columns;
    def.columnCount = 2;
    def.tileWidth = def.tileHeight = drawing->def->size;

    snwResult result = snwCreateSheet(drawing->context, &def, sheet, message);

    // From two sides; the legend stands in the first.
    for (int i = 0; i < 2 && result >= 0; ++i)
    {
        snwImage tile = {0};
        result = DrawView(drawing, i == 0 ? 35.0f : 215.0f, &tile, message);
        if (result >= 0 && i == 0)
            DrawLegend(drawing, &tile);
        if (result >= 0)
            snwSheet_PutTile(sheet, 0, i, &tile, NULL);
        snwDestroyImage(drawing->context, &tile);
    }

    return result;
}

snwResult snwDrawDefects(snwContext* context, const snwDefectsDef* def, snwImage* image, snwMessage* message)
{
    if (def->surfaceCount < 1 || def->size < 64 || def->size > 4096 || def->samples < 1 || def->samples > 256)
        return snwFail(message, snw_errorArgument, "start from snwDefaultDefectsDef",
            "a picture of %d surfaces, %d pixels", def->surfaceCount, def->size);
    Drawing drawing = {.context = context, .def = def, .arena = {.context = context}, .lines = {.context = context}};
    snwSheet sheet = {0};
    snwResult result = GatherLooks(&drawing, message);
    if (result >= 0)
        result = DrawDefectSheet(&drawing, &sheet, message);
    if (result >= 0)
        *image = sheet.image;
    else
        snwDestroySheet(context, &sheet);
    snwGizmos_Free(&drawing.lines);
    snwArena_Free(&drawing.arena);
    return result;
}
