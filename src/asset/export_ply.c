// A frame as binary little-endian PLY, with normals and colours if there are any.

#include "asset/export_parts.h"
#include "math/display.h"

static void PutPlyHeader(snwWriter* out, const snwExportShape* shape)
{
    snwExport_Put(out, "ply\nformat binary_little_endian 1.0\ncomment sinew ");
    snwExport_PutLine(out, shape->name);
    snwExport_PutFormat(out, "\nelement vertex %d\n", shape->count);
    snwExport_Put(out, "property float x\nproperty float y\nproperty float z\n");
    if (shape->normals != NULL)
        snwExport_Put(out, "property float nx\nproperty float ny\nproperty float nz\n");
    snwExport_Put(out, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
    snwExport_PutFormat(
        out, "element face %d\nproperty list uchar int vertex_indices\nend_header\n", shape->triangleCount);
}

// Blocks of snwWriter are little-endian, and so is this file.
static void PutPlyPoint(snwWriter* out, const snwExportShape* shape, int point)
{
    int vertex = shape->vertices != NULL ? shape->vertices[point] : point;
    const float* linear = shape->colors != NULL ? shape->colors[vertex] : shape->character->color;
    snwWrite(out, shape->positions + 3 * (size_t)point, 3 * sizeof(float));
    if (shape->normals != NULL)
        snwWrite(out, shape->normals + 3 * (size_t)point, 3 * sizeof(float));
    unsigned char color[3];
    for (int k = 0; k < 3; ++k)
        color[k] = (unsigned char)(255 * snwDisplay_FromLight(linear[k]) + 0.5f);
    snwWrite(out, color, sizeof color);
}

void snwExport_WritePly(snwWriter* out, const snwExportShape* shape)
{
    PutPlyHeader(out, shape);
    for (int i = 0; i < shape->count; ++i)
        PutPlyPoint(out, shape, i);
    for (int i = 0; i < shape->triangleCount; ++i)
    {
        const unsigned char corners = 3;
        snwWrite(out, &corners, 1);
        for (int k = 0; k < 3; ++k)
            snwWriteInt(out, shape->triangles[3 * (size_t)i + (size_t)k]);
    }
}
