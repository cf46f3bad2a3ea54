// The model of a scene for viewers: JSON that names sections of data.

#include "studio/encode.h"

#include "asset/export_parts.h"
#include "asset/texture.h"
#include "base/array.h"
#include "math/display.h"
#include "scene/text.h"
#include "sim/character.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Data
{
    void* bytes;
    size_t size;
    int count;
} Data;

typedef struct Maker
{
    const snwStage* stage;
    const snwSceneDef* scene;
    snwContext* context;
    snwPaintedVertex* const* weights;
    snwText text;
    snwArray(Data) data;
    snwArray(const uint8_t*) pictures; // textures that are there already ...
    snwArray(int) pictureSections;     // ... and where
    bool failed;
} Maker;

// Takes the bytes over; the section's number.
static int AddData(Maker* m, void* bytes, size_t size, int count)
{
    Data data = {bytes, size, count};
    if (bytes == NULL || !snwArray_Push(m->context, &m->data, data))
    {
        snwFree(m->context, bytes);
        m->failed = true;
        return -1;
    }
    return snw_sectionModel + m->data.count;
}

static void WriteSection(Maker* m, const char* key, int section)
{
    snwText_Key(&m->text, key);
    if (section >= 0)
        snwText_Int(&m->text, section);
    else
        snwText_Json(&m->text, "null");
}

static void WriteModelVec3(Maker* m, const char* key, snwVec3 v)
{
    snwText_Key(&m->text, key);
    snwText_Reals(&m->text, (double[]){v.x, v.y, v.z}, 3);
}

static void WriteModelText(Maker* m, const char* key, const char* value)
{
    snwText_Key(&m->text, key);
    snwText_String(&m->text, value != NULL ? value : "");
}

// ---------------------------------------------------------------------------------------------------------------------
// Parts

static unsigned char ToByte(float linear)
{
    return (unsigned char)lrintf(255 * snwDisplay_FromLight(linear));
}

static int AddModelTriangles(Maker* m, const snwShownBody* body, const snwShownPart* part)
{
    size_t count = 3 * (size_t)part->triangleCount;
    uint32_t* out = snwAllocArray(m->context, count + 1, sizeof *out);
    for (size_t i = 0; i < count && out != NULL; ++i)
        out[i] = (uint32_t)(body->triangles[3 * (size_t)part->firstTriangle + i] - part->firstPoint);
    return AddData(m, out, count * sizeof *out, part->triangleCount);
}

static int AddModelColors(Maker* m, const snwShownBody* body, const snwShownPart* part, const snwCharacterDef* def)
{
    float color[3];
    if (part->pointCount == 0 || !snwShownBody_Color(body, def, part->firstPoint, color))
        return -1;
    unsigned char* out = snwAllocArray(m->context, (size_t)part->pointCount, 4);
    for (int i = 0; i < part->pointCount && out != NULL; ++i)
    {
        snwShownBody_Color(body, def, part->firstPoint + i, color);
        for (int k = 0; k < 3; ++k)
            out[4 * i + k] = ToByte(color[k]);
        out[4 * i + 3] = 255;
    }
    return AddData(m, out, 4 * (size_t)part->pointCount, part->pointCount);
}

static int AddTexcoords(Maker* m, const snwShownBody* body, const snwShownPart* part, const snwCharacterDef* def)
{
    float* out = snwAllocArray(m->context, 2 * (size_t)part->pointCount + 1, sizeof *out);
    for (int i = 0; i < part->pointCount && out != NULL; ++i)
        memcpy(out + 2 * (size_t)i, snwShownBody_Texcoord(body, def, part->firstPoint + i), 2 * sizeof *out);
    return AddData(m, out, 2 * (size_t)part->pointCount * sizeof *out, part->pointCount);
}

static int AddModelTexture(Maker* m, const snwTexture* texture)
{
    size_t size = 0;
    for (int i = 0; i < m->pictures.count; ++i)
        if (m->pictures.data[i] == texture->pixels)
            return m->pictureSections.data[i];
    void* png = snwTexture_EncodePng(m->context, texture, &size);
    int section = AddData(m, png, size, 1);
    if (!snwArray_Push(m->context, &m->pictures, texture->pixels) ||
        !snwArray_Push(m->context, &m->pictureSections, section))
        m->failed = true;
    return section;
}

static int AddPaintedWeights(Maker* m, const snwShownBody* body, const snwShownPart* part)
{
    const snwPaintedVertex* rows = m->weights != NULL ? m->weights[part->body] : NULL;
    if (rows == NULL)
        return -1;
    snwPaintedVertex* out = snwAllocArray(m->context, (size_t)part->pointCount + 1, sizeof *out);
    for (int i = 0; i < part->pointCount && out != NULL; ++i)
        memcpy(out[i], rows[body->carriers[part->firstPoint + i]], sizeof *out);
    return AddData(m, out, (size_t)part->pointCount * sizeof *out, part->pointCount);
}

static void WriteColor(Maker* m, const float color[3])
{
    char text[8];
    snprintf(text, sizeof text, "#%02x%02x%02x", ToByte(color[0]), ToByte(color[1]), ToByte(color[2]));
    WriteModelText(m, "color", text);
}

static void WriteModelPart(Maker* m, int index)
{
    const snwShownPart* part = &m->stage->shown->parts[index];
    const snwShownBody* body = &m->stage->shown->bodies[part->body];
    const snwBodyDef* owner = &m->scene->bodies[part->body];
    const snwCharacterDef* def = &owner->character->def;
    snwShownPaint paint = snwShown_FindPaint(m->stage->shown, m->scene, index);
    bool textured = paint.texture.width > 0;

    // Sections are numbers of data blocks behind the JSON; -1 leaves the key out.
    snwText_Open(&m->text, '{');
    snwText_Key(&m->text, "body");
    snwText_Int(&m->text, part->body);
    WriteModelText(m, "name", owner->name);
    snwText_Key(&m->text, "vertices");
    snwText_Int(&m->text, part->pointCount);

    // Paint: a texture with places in it, or colours per vertex.
    WriteSection(m, "triangles", AddModelTriangles(m, body, part));
    WriteSection(m, "colors", textured ? -1 : AddModelColors(m, body, part, def));
    WriteSection(m, "texcoords", textured ? AddTexcoords(m, body, part, def) : -1);
    WriteSection(m, "texture", textured ? AddModelTexture(m, &paint.texture) : -1);
    WriteColor(m, paint.color);
    snwText_Key(&m->text, "flat");
    snwText_Bool(&m->text, def->triangleCount > 0);
    WriteSection(m, "weights", AddPaintedWeights(m, body, part));
    snwText_Close(&m->text, '}');
}

// ---------------------------------------------------------------------------------------------------------------------
// Bodies

static void WriteBone(Maker* m, const snwBoneDef* bone)
{
    snwText_Open(&m->text, '{');
    WriteModelText(m, "name", bone->name);
    WriteModelVec3(m, "head", bone->head);
    WriteModelVec3(m, "tail", bone->tail);
    snwText_Key(&m->text, "radius");
    snwText_Real(&m->text, bone->radius);
    snwText_Key(&m->text, "parent");
    snwText_Int(&m->text, bone->parent);
    snwText_Close(&m->text, '}');
}

static void WriteModelJoint(Maker* m, const snwJointDef* joint)
{
    snwText_Open(&m->text, '{');
    WriteModelText(m, "name", joint->name);
    WriteModelText(m, "type", snwJointType_Name(joint->type));
    WriteModelVec3(m, "position", joint->position);
    WriteModelVec3(m, "axis", joint->axis);
    snwText_Key(&m->text, "bone");
    snwText_Int(&m->text, joint->bone);
    snwText_Key(&m->text, "parent");
    snwText_Int(&m->text, joint->parentBone);
    snwText_Close(&m->text, '}');
}

static void WriteHandle(Maker* m, const char* name, const char* kind, snwVec3 position)
{
    snwText_Open(&m->text, '{');
    WriteModelText(m, "name", name);
    WriteModelText(m, "kind", kind);
    WriteModelVec3(m, "position", position);
    snwText_Close(&m->text, '}');
}

static int AddModelEdges(Maker* m, const snwCharacter* character)
{
    size_t count = 2 * (size_t)character->edgeCount;
    uint32_t* out = snwAllocArray(m->context, count + 1, sizeof *out);
    for (size_t i = 0; i < count && out != NULL; ++i)
        out[i] = (uint32_t)character->edges[i / 2][i % 2];
    return AddData(m, out, count * sizeof *out, character->edgeCount);
}

static void WriteModelBody(Maker* m, int index)
{
    const snwBodyDef* body = &m->scene->bodies[index];
    const snwCharacterDef* def = &body->character->def;

    // Skeleton, handles, then the edges of its elements for those who want to see them.
    snwText_Open(&m->text, '{');
    WriteModelText(m, "name", body->name);
    snwText_Key(&m->text, "bones");
    snwText_Open(&m->text, '[');
    for (int i = 0; i < def->boneCount; ++i)
        WriteBone(m, &def->bones[i]);
    snwText_Close(&m->text, ']');
    snwText_Key(&m->text, "joints");
    snwText_Open(&m->text, '[');
    for (int i = 0; i < def->jointCount; ++i)
        WriteModelJoint(m, &def->joints[i]);
    snwText_Close(&m->text, ']');

    // A body without handles is held by its bones.
    snwText_Key(&m->text, "handles");
    snwText_Open(&m->text, '[');
    for (int i = 0; i < snwCharacterDef_HandleCount(def); ++i)
        if (def->handleCount > 0)
            WriteHandle(m, def->handles[i].name, snwHandleKind_Name(def->handles[i].kind), def->handles[i].position);
        else
            WriteHandle(m, def->bones[i].name, "bone", snwCharacterDef_BonePoint(def, i));

    snwText_Close(&m->text, ']');
    WriteSection(m, "edges", body->character->edgeCount > 0 ? AddModelEdges(m, body->character) : -1);
    snwText_Close(&m->text, '}');
}

// ---------------------------------------------------------------------------------------------------------------------
// Things

static int AddFloats(Maker* m, const double* values, size_t count, int rows)
{
    float* out = snwAllocArray(m->context, count + 1, sizeof *out);
    for (size_t i = 0; i < count && out != NULL; ++i)
        out[i] = (float)values[i];
    return AddData(m, out, count * sizeof *out, rows);
}

static void WriteCollider(Maker* m, const snwColliderDef* def)
{
    snwText_Open(&m->text, '{');
    WriteModelText(m, "name", def->name);
    WriteModelText(m, "kind", snwColliderKind_Name(def->kind));
    WriteModelVec3(m, "size", def->size);
    if (def->kind == snw_colliderStairs)
    {
        snwText_Key(&m->text, "steps");
        snwText_Int(&m->text, def->stepCount);
    }

    // Long lists go beside the text, as sections.
    if (def->kind == snw_colliderHeightfield)
    {
        snwText_Key(&m->text, "columns");
        snwText_Int(&m->text, def->columns);
        snwText_Key(&m->text, "rows");
        snwText_Int(&m->text, def->rows);
        int count = def->columns * def->rows;
        WriteSection(m, "heights", AddFloats(m, def->heights, (size_t)count, count));
    }

    if (def->kind == snw_colliderMesh)
    {
        size_t corners = 3 * (size_t)def->triangleCount;
        WriteSection(m, "vertices", AddFloats(m, &def->vertices[0].x, 3 * (size_t)def->vertexCount, def->vertexCount));
        WriteSection(m, "triangles",
            AddData(m, snwCopyArray(m->context, def->triangles, corners, sizeof(int)), corners * sizeof(int),
                def->triangleCount));
    }

    snwText_Close(&m->text, '}');
}

static void WriteProp(Maker* m, const snwPropDef* def)
{
    snwText_Open(&m->text, '{');
    WriteModelText(m, "name", def->name);
    WriteModelText(m, "kind", snwColliderKind_Name(def->kind));
    WriteModelVec3(m, "size", def->size);
    snwText_Close(&m->text, '}');
}

static void WriteCamera(Maker* m)
{
    const snwCameraDef* camera = &m->stage->file.camera;
    snwText_Key(&m->text, "camera");
    if (camera->automatic)
    {
        snwText_Json(&m->text, "null");
        return;
    }
    snwText_Open(&m->text, '{');
    WriteModelVec3(m, "position", camera->position);
    WriteModelVec3(m, "target", camera->target);
    snwText_Key(&m->text, "field_of_view");
    snwText_Real(&m->text, camera->fieldOfView);
    snwText_Close(&m->text, '}');
}

// Bounds of the bodies as they start, by the corners of their boxes.
static void WriteBounds(Maker* m)
{
    snwVec3 lower = {INFINITY, INFINITY, INFINITY}, upper = {-INFINITY, -INFINITY, -INFINITY};

    // Corners of the boxes at rest, where the bodies start.
    for (int b = 0; b < m->scene->bodyCount; ++b)
    {
        const snwCharacter* c = m->scene->bodies[b].character;
        for (int i = 0; i < 8; ++i)
        {
            snwVec3 corner = {(i & 1) != 0 ? c->upper.x : c->lower.x, (i & 2) != 0 ? c->upper.y : c->lower.y,
                (i & 4) != 0 ? c->upper.z : c->lower.z};
            snwVec3 p = snwTransform_Apply(m->scene->bodies[b].transform, corner);
            lower = (snwVec3){fmin(lower.x, p.x), fmin(lower.y, p.y), fmin(lower.z, p.z)};
            upper = (snwVec3){fmax(upper.x, p.x), fmax(upper.y, p.y), fmax(upper.z, p.z)};
        }
    }

    // An empty scene has room around its origin.
    if (m->scene->bodyCount == 0)
        lower = (snwVec3){-1, -1, -1}, upper = (snwVec3){1, 1, 1};
    snwText_Key(&m->text, "bounds");
    snwText_Open(&m->text, '{');
    WriteModelVec3(m, "lower", lower);
    WriteModelVec3(m, "upper", upper);
    snwText_Close(&m->text, '}');
}

static void WriteModel(Maker* m)
{
    snwText* text = &m->text;

    // What is drawn, what it belongs to, and what else there is; then from where it is seen.
    snwText_Open(text, '{');
    snwText_Key(text, "parts");
    snwText_Open(text, '[');
    for (int i = 0; i < m->stage->shown->partCount; ++i)
        WriteModelPart(m, i);
    snwText_Close(text, ']');
    snwText_Key(text, "bodies");
    snwText_Open(text, '[');
    for (int i = 0; i < m->scene->bodyCount; ++i)
        WriteModelBody(m, i);
    snwText_Close(text, ']');
    snwText_Key(text, "colliders");
    snwText_Open(text, '[');
    for (int i = 0; i < m->scene->colliderCount; ++i)
        WriteCollider(m, &m->scene->colliders[i]);
    snwText_Close(text, ']');
    snwText_Key(text, "props");
    snwText_Open(text, '[');
    for (int i = 0; i < m->scene->propCount; ++i)
        WriteProp(m, &m->scene->props[i]);
    snwText_Close(text, ']');

    WriteCamera(m);
    WriteModelText(m, "up", "y");
    WriteBounds(m);
    snwText_Close(text, '}');
}

// ---------------------------------------------------------------------------------------------------------------------

static void PutSections(const Maker* m, snwEncoder* encoder)
{
    encoder->size = snw_blobHead;
    void* json = snwEncoder_Add(encoder, snw_sectionModel, 0, 1, m->text.size);
    if (json != NULL)
        memcpy(json, m->text.data, m->text.size);
    for (int i = 0; i < m->data.count; ++i)
    {
        const Data* data = &m->data.data[i];
        void* out = snwEncoder_Add(encoder, (uint32_t)(snw_sectionModel + 1 + i), 0, (size_t)data->count, data->size);
        if (out != NULL && data->size > 0)
            memcpy(out, data->bytes, data->size);
    }
}

static snwBlob* MakeBlob(const Maker* m)
{
    snwEncoder encoder = {0};
    PutSections(m, &encoder);
    snwBlob* blob = snwCreateBlob(m->context, encoder.size);
    if (blob == NULL)
        return NULL;
    encoder = (snwEncoder){.data = blob->data};
    PutSections(m, &encoder);
    snwBlobHead head = {.magic = SNW_BLOB_MAGIC, .layout = 1, .kind = 2, .sections = encoder.sections};
    snwBlob_SetHead(blob, &head);
    return blob;
}

snwResult snwEncodeModel(const snwStage* stage, snwPaintedVertex* const* weights, snwBlob** blob, snwMessage* message)
{
    Maker m = {.stage = stage,
        .scene = snwScene_GetDef(stage->file.scene),
        .context = stage->context,
        .weights = weights,
        .text = snwCreateText(stage->context, 0)};
    WriteModel(&m);
    *blob = m.failed || m.text.failed ? NULL : MakeBlob(&m);
    for (int i = 0; i < m.data.count; ++i)
        snwFree(m.context, m.data.data[i].bytes);
    snwArray_Free(m.context, &m.data);
    snwArray_Free(m.context, &m.pictures);
    snwArray_Free(m.context, &m.pictureSections);
    snwText_Free(&m.text);
    return *blob != NULL ? snw_ok : snwFailMemory(message);
}
