// A frame as Wavefront OBJ: vertices with colours, texture coordinates and normals if there are any, faces that name
// them.

#include "asset/export_parts.h"
#include "math/display.h"
#include "scene/text.h"

static int VertexOfPoint(const snwExportShape* shape, int point)
{
    return shape->vertices != NULL ? shape->vertices[point] : point;
}

static void PutObjRow(snwWriter* out, const char* word, const float* values, int count)
{
    snwExport_Put(out, word);
    for (int i = 0; i < count; ++i)
    {
        snwExport_Put(out, " ");
        snwExport_PutFloat(out, values[i]);
    }
}

static void PutObjPoints(snwWriter* out, const snwExportShape* shape)
{
    for (int i = 0; i < shape->count; ++i)
    {
        PutObjRow(out, "v", shape->positions + 3 * (size_t)i, 3);
        if (shape->colors != NULL)
        {
            const float* linear = shape->colors[VertexOfPoint(shape, i)];
            float color[3];
            for (int k = 0; k < 3; ++k)
                color[k] = snwDisplay_FromLight(linear[k]);
            PutObjRow(out, "", color, 3);
        }
        snwExport_Put(out, "\n");
    }
}

// v counts from the bottom here and from the top in a character. The shortest text that gives it back, turned round.
static void PutHeight(snwWriter* out, float fromTop)
{
    float height = 1 - fromTop;
    char text[32];
    if ((float)(1 - (double)height) == fromTop)
        snwExport_PutFloat(out, height);
    else
    {
        snwFormatReal(text, 1 - (double)fromTop);
        snwExport_Put(out, text);
    }
}

static void PutTexcoords(snwWriter* out, const snwExportShape* shape)
{
    for (int i = 0; i < shape->count; ++i)
    {
        const float* at = shape->texcoords[VertexOfPoint(shape, i)];
        PutObjRow(out, "vt", at, 1);
        snwExport_Put(out, " ");
        PutHeight(out, at[1]);
        snwExport_Put(out, "\n");
    }
}

static void PutCorner(snwWriter* out, int number, bool texcoords, bool normals)
{
    snwExport_PutFormat(out, " %d", number);
    if (texcoords && normals)
        snwExport_PutFormat(out, "/%d/%d", number, number);
    else if (texcoords)
        snwExport_PutFormat(out, "/%d", number);
    else if (normals)
        snwExport_PutFormat(out, "//%d", number);
}

static void PutFaces(snwWriter* out, const snwExportShape* shape)
{
    for (int i = 0; i < shape->triangleCount; ++i)
    {
        snwExport_Put(out, "f");
        for (int k = 0; k < 3; ++k)
            PutCorner(
                out, shape->triangles[3 * (size_t)i + (size_t)k] + 1, shape->texcoords != NULL, shape->normals != NULL);
        snwExport_Put(out, "\n");
    }
}

void snwExport_WriteObj(snwWriter* out, const snwExportShape* shape)
{
    snwExport_Put(out, "# sinew\no ");
    snwExport_PutLine(out, shape->name);
    snwExport_Put(out, "\n");
    PutObjPoints(out, shape);
    if (shape->texcoords != NULL)
        PutTexcoords(out, shape);
    for (int i = 0; shape->normals != NULL && i < shape->count; ++i)
    {
        PutObjRow(out, "vn", shape->normals + 3 * (size_t)i, 3);
        snwExport_Put(out, "\n");
    }
    PutFaces(out, shape);
    // A body without skin is its springs.
    for (int i = 0; shape->triangleCount == 0 && i < shape->character->edgeCount; ++i)
        snwExport_PutFormat(out, "l %d %d\n", shape->character->edges[i][0] + 1, shape->character->edges[i][1] + 1);
}
