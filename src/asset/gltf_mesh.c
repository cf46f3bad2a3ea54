// Meshes: each primitive becomes a part. Planned first, so that every array of the mesh is made once; then filled.

#include "asset/gltf_parts.h"
#include "scene/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum Mode
{
    modePoints,
    modeTriangles = 4,
    modeStrip = 5,
    modeFan = 6,
} Mode;

typedef struct Part
{
    const json_t* item;
    const json_t* attributes;
    int position, normal, texcoord, color, indices; // accessors; -1: none
    int mode;
    int sets;        // of influences
    int targetCount; // of morphs
    float tint[4];   // of the material
    int sharedWith;  // the part whose vertices it uses; -1: its own
} Part;

typedef struct Work
{
    snwGltfReading* reading;
    snwAssetMesh* mesh;
    const json_t* item;
    Part* plan;
    snwAssetPart* parts;
    int* firstUse; // per accessor: 1 + first part of this mesh with it as positions
    bool normals, texcoords, colors;
    int64_t entries; // room for influences
    int limit;       // joints of its skin; 0: none
    int (*triangles)[3];
    int64_t notFinite, degenerate;
} Work;

// ---------------------------------------------------------------------------------------------------------------------
// Planning

static int Attribute(const Work* work, const Part* part, const char* name)
{
    snwGltfReading* reading = work->reading;
    return snwGltf_Index(reading, part->attributes, name, reading->gltf->accessorCount, "accessors");
}

static int Attached(const Work* work, const Part* part, const char* name, unsigned types)
{
    snwGltfReading* reading = work->reading;
    int accessor = Attribute(work, part, name);
    if (accessor < 0 || part->position < 0)
        return -1;
    size_t mark = snwJson_Enter(&reading->json, name);
    snwGltf_CheckAccessor(reading, accessor, types, snw_gltfSmallInts | snw_gltfReal);
    int wanted = reading->gltf->accessors[part->position].count;
    if (reading->gltf->accessors[accessor].count != wanted)
        snwGltf_Fail(reading, "export the file again", "has %d elements for %d vertices",
            reading->gltf->accessors[accessor].count, wanted);
    snwJson_Leave(&reading->json, mark);
    return accessor;
}

static void ReadTint(snwGltfReading* reading, const json_t* material, float tint[4])
{
    double factor[4] = {1, 1, 1, 1};
    snwGltf_Reals(reading, snwGltf_Object(reading, material, "pbrMetallicRoughness"), "baseColorFactor", 4, factor);
    for (int i = 0; i < 4; ++i)
        tint[i] = (float)fmin(fmax(factor[i], 0), 1);
}

static void PlanMaterial(Work* work, Part* part, snwAssetPart* out)
{
    snwGltfReading* reading = work->reading;
    const json_t* materials = json_object_get(reading->gltf->root, "materials");
    int index = snwGltf_Index(reading, part->item, "material", (int)json_array_size(materials), "materials");
    const json_t* material = index < 0 ? NULL : json_array_get(materials, (size_t)index);
    out->name = work->mesh->name;
    out->material = snwArena_Text(&reading->asset->arena, snwGltf_Text(reading, material, "name"));
    ReadTint(reading, material, part->tint);
    for (int i = 0; i < 4; ++i)
        work->colors |= part->tint[i] != 1;
}

// A primitive whose attributes and morphs are those of an earlier one uses its vertices.
static int FindShared(const Work* work, const Part* part, int index)
{
    int first = work->firstUse[part->position] - 1;
    if (first < 0 || first >= index || work->plan[first].position != part->position)
        return -1;
    const Part* other = &work->plan[first];
    bool same = json_equal(part->attributes, other->attributes);
    for (int k = 0; k < 4; ++k)
        same = same && part->tint[k] == other->tint[k];
    const json_t *mine = json_object_get(part->item, "targets"), *theirs = json_object_get(other->item, "targets");
    return same && (mine == theirs || json_equal(mine, theirs)) ? first : -1;
}

static bool Uses(const snwGltf* gltf, const char* extension)
{
    const json_t* list = json_object_get(gltf->root, "extensionsUsed");
    for (size_t i = 0; i < json_array_size(list) && i < 100; ++i)
    {
        const char* name = json_string_value(json_array_get(list, i));
        if (name != NULL && strcmp(name, extension) == 0)
            return true;
    }
    return false;
}

static void CheckPosition(snwGltfReading* reading, int accessor)
{
    snwGltf_CheckAccessor(reading, accessor, 1 << snw_gltfVec3, snw_gltfSmallInts | snw_gltfReal);
    bool plain = reading->gltf->accessors[accessor].component == snw_gltfFloat;
    if (!plain)
        snwGltf_Note(reading, snw_noteOdd, !Uses(reading->gltf, "KHR_mesh_quantization"),
            "positions are integers, but the file does not say KHR_mesh_quantization");
}

static void PlanAttributes(Work* work, Part* part)
{
    snwGltfReading* reading = work->reading;
    part->attributes = snwGltf_Object(reading, part->item, "attributes");
    size_t mark = snwJson_Enter(&reading->json, "attributes");
    part->position = Attribute(work, part, "POSITION");
    if (part->position >= 0)
        CheckPosition(reading, part->position);
    part->normal = Attached(work, part, "NORMAL", 1 << snw_gltfVec3);
    part->texcoord = Attached(work, part, "TEXCOORD_0", 1 << snw_gltfVec2);
    part->color = Attached(work, part, "COLOR_0", 1 << snw_gltfVec3 | 1 << snw_gltfVec4);
    part->sets = snwGltf_CountSets(reading, part->attributes);
    snwJson_Leave(&reading->json, mark);
    part->indices = snwGltf_Index(reading, part->item, "indices", reading->gltf->accessorCount, "accessors");
    if (part->indices >= 0)
        snwGltf_CheckAccessor(reading, part->indices, 1 << snw_gltfScalar, snw_gltfUnsigned);
    snwGltf_List(reading, part->item, "targets", snw_maxAssetNodes, &part->targetCount);
}

// A primitive that makes no triangles keeps its place, so that part k is primitive k.
static bool IsLeftOut(snwGltfReading* reading, const Part* part)
{
    bool lines = part->mode < modeTriangles;
    snwGltf_Note(reading, snw_noteLeftOut, lines && part->mode == modePoints, "points: only triangles are read");
    snwGltf_Note(reading, snw_noteLeftOut, lines && part->mode != modePoints, "lines: only triangles are read");
    snwGltf_Note(reading, snw_noteLeftOut, !lines && part->position < 0, "a part without positions");
    return lines || part->position < 0;
}

// Most triangles that it can have; some may turn out to have two equal corners.
static int CountTriangles(const snwGltf* gltf, const Part* part)
{
    int count = gltf->accessors[part->indices >= 0 ? part->indices : part->position].count;
    if (part->mode == modeTriangles)
        return count / 3;
    return count < 3 ? 0 : count - 2;
}

static void CountPart(Work* work, Part* part, snwAssetPart* out)
{
    snwGltfReading* reading = work->reading;
    out->vertexCount = reading->gltf->accessors[part->position].count;
    out->triangleCount = CountTriangles(reading->gltf, part);
    if (part->sharedWith < 0)
        reading->vertices += out->vertexCount;
    reading->triangles += out->triangleCount;

    // Limits on the whole file: hostile documents can share small accessors many times.
    if (reading->vertices > snw_maxAssetVertices || reading->triangles > snw_maxAssetVertices)
    {
        snwGltf_Fail(reading, "reduce the meshes, or split the file", "more than %d vertices or triangles in a file",
            snw_maxAssetVertices);
        return;
    }

    // A part that shares its vertices with an earlier one adds only triangles.
    out->firstVertex = part->sharedWith < 0 ? work->mesh->vertexCount : work->parts[part->sharedWith].firstVertex;
    out->firstTriangle = work->mesh->triangleCount;
    work->mesh->triangleCount += out->triangleCount;
    if (part->sharedWith >= 0)
        return;
    work->mesh->vertexCount += out->vertexCount;
    work->entries += (int64_t)out->vertexCount * 4 * part->sets;
    work->normals |= part->normal >= 0;
    work->texcoords |= part->texcoord >= 0;
    work->colors |= part->color >= 0;
}

static void PlanPart(Work* work, int index, const json_t* item)
{
    static const int64_t s_modeRange[2] = {0, 6};
    snwGltfReading* reading = work->reading;
    Part* part = &work->plan[index];
    *part = (Part){.item = item, .sharedWith = -1, .tint = {1, 1, 1, 1}};
    part->mode = (int)snwGltf_Int(reading, item, "mode", s_modeRange, modeTriangles);
    PlanAttributes(work, part);
    if (snwGltfReading_Failed(reading))
        return;

    // Points and lines are left out, but keep their place among the parts.
    if (IsLeftOut(reading, part))
    {
        part->position = -1;
        work->parts[index] = (snwAssetPart){.name = work->mesh->name,
            .material = "",
            .firstVertex = work->mesh->vertexCount,
            .firstTriangle = work->mesh->triangleCount};
        return;
    }

    // Vertices that two parts share are read once.
    PlanMaterial(work, part, &work->parts[index]);
    part->sharedWith = FindShared(work, part, index);
    if (part->sharedWith < 0)
        work->firstUse[part->position] = index + 1;
    if (part->targetCount > work->mesh->morphCount)
        work->mesh->morphCount = part->targetCount;
    CountPart(work, part, &work->parts[index]);
}

// ---------------------------------------------------------------------------------------------------------------------
// Vertices

static void ReadMeshFloats(Work* work, int accessor, float* values)
{
    if (values != NULL && !snwGltfReading_Failed(work->reading))
        snwGltf_Check(work->reading,
            snwGltf_ReadFloats(work->reading->gltf, accessor, values, &work->notFinite, work->reading->json.message));
}

// Viewers frame and cull by the bounds that a file tells: those that lie make parts of it vanish.
static void CheckToldBounds(snwGltfReading* reading, const snwGltfAccessor* accessor, const snwVec3* positions)
{
    if (accessor->component != snw_gltfFloat || accessor->min == NULL || accessor->max == NULL)
        return;
    snwVec3 lower = positions[0], upper = positions[0];
    for (int i = 1; i < accessor->count; ++i)
    {
        lower = snwVec3_Min(lower, positions[i]);
        upper = snwVec3_Max(upper, positions[i]);
    }
    snwVec3 least = {accessor->min[0], accessor->min[1], accessor->min[2]};
    snwVec3 most = {accessor->max[0], accessor->max[1], accessor->max[2]};
    double slack = 1e-3 * snwVec3_Distance(lower, upper);
    snwGltf_Note(reading, snw_noteOdd,
        !(snwVec3_Distance(least, lower) <= slack && snwVec3_Distance(most, upper) <= slack),
        "min and max of its positions are not those of its positions");
}

static void ReadPositions(Work* work, snwVec3* positions)
{
    _Static_assert(sizeof(snwVec3) == 3 * sizeof(double), "read as one list of numbers");
    snwGltfReading* reading = work->reading;
    for (int i = 0; i < work->mesh->partCount && positions != NULL && !snwGltfReading_Failed(reading); ++i)
    {
        int accessor = work->plan[i].position;
        if (accessor < 0 || work->plan[i].sharedWith >= 0)
            continue;
        snwVec3* own = &positions[work->parts[i].firstVertex];
        snwGltf_Check(reading, snwGltf_ReadReals(reading->gltf, accessor, &own->x, NULL, reading->json.message));
        if (!snwGltfReading_Failed(reading))
            CheckToldBounds(reading, &reading->gltf->accessors[accessor], own);
    }
    work->mesh->positions = positions;
}

static void FillNormals(Work* work)
{
    const snwAssetMesh* mesh = work->mesh;
    float(*normals)[3] = snwGltf_Room(work->reading, mesh->vertexCount, sizeof *normals);
    int64_t repaired = 0, zero = 0;

    // Only those that are there, and not shared; lengths are put right.
    for (int i = 0; i < mesh->partCount && normals != NULL; ++i)
    {
        const snwAssetPart* part = &work->parts[i];
        if (work->plan[i].normal < 0 || work->plan[i].position < 0 || work->plan[i].sharedWith >= 0)
            continue;
        ReadMeshFloats(work, work->plan[i].normal, normals[part->firstVertex]);
        for (int v = part->firstVertex; v < part->firstVertex + part->vertexCount; ++v)
        {
            double x = normals[v][0], y = normals[v][1], z = normals[v][2], length = sqrt(x * x + y * y + z * z);
            zero += length == 0;
            if (length == 0 || fabs(length - 1) < 0.02)
                continue;

            repaired++;
            for (int k = 0; k < 3; ++k)
                normals[v][k] = (float)(normals[v][k] / length);
        }
    }

    work->mesh->normals = (const float(*)[3])normals;
    snwGltf_Note(work->reading, snw_noteRepaired, repaired, "normals that were not of length one were normalised");
    snwGltf_Note(work->reading, snw_noteOdd, zero, "normals of length zero: they point nowhere");
}

static void FillTexcoords(Work* work)
{
    const snwAssetMesh* mesh = work->mesh;
    float(*texcoords)[2] = snwGltf_Room(work->reading, mesh->vertexCount, sizeof *texcoords);
    for (int i = 0; i < mesh->partCount && texcoords != NULL; ++i)
        if (work->plan[i].texcoord >= 0 && work->plan[i].position >= 0 && work->plan[i].sharedWith < 0)
            ReadMeshFloats(work, work->plan[i].texcoord, texcoords[work->parts[i].firstVertex]);
    work->mesh->texcoords = (const float(*)[2])texcoords;
}

// Integers without the mark of normalised ones would be 255 times too bright.
static float ColorScale(const snwGltfAccessor* accessor)
{
    if (accessor->normalized || accessor->component == snw_gltfFloat)
        return 1;
    return snwGltfComponent_Size(accessor->component) == 1 ? 1.0f / 255 : 1.0f / 65535;
}

static void ReadVertexColors(Work* work, const Part* part, float (*colors)[4], int count)
{
    if (part->color < 0)
        return;
    const snwGltfAccessor* accessor = &work->reading->gltf->accessors[part->color];
    int width = snwGltfType_Width(accessor->type);
    float scale = ColorScale(accessor);
    float* values = snwGltf_Room(work->reading, (int64_t)count * width, sizeof *values);
    ReadMeshFloats(work, part->color, values);
    snwGltf_Note(work->reading, snw_noteRepaired, scale != 1, "colours as integers were not marked as normalised");
    for (int i = 0; i < count && values != NULL; ++i)
        for (int k = 0; k < width; ++k)
            colors[i][k] = values[i * width + k] * scale;
}

// What one sees without textures: the colour of the vertex times that of the material.
static void FillColors(Work* work)
{
    const snwAssetMesh* mesh = work->mesh;
    float(*colors)[4] = snwGltf_Room(work->reading, mesh->vertexCount, sizeof *colors);
    for (int i = 0; i < mesh->vertexCount && colors != NULL; ++i)
        for (int k = 0; k < 4; ++k)
            colors[i][k] = 1;
    for (int i = 0; i < mesh->partCount && colors != NULL; ++i)
    {
        const Part* part = &work->plan[i];
        if (part->position < 0 || part->sharedWith >= 0)
            continue;
        ReadVertexColors(work, part, colors + work->parts[i].firstVertex, work->parts[i].vertexCount);
        for (int v = 0; v < work->parts[i].vertexCount; ++v)
            for (int k = 0; k < 4; ++k)
                colors[work->parts[i].firstVertex + v][k] *= part->tint[k];
    }
    work->mesh->colors = (const float(*)[4])colors;
}

static void FillWeights(Work* work)
{
    snwGltfReading* reading = work->reading;
    snwAssetMesh* mesh = work->mesh;
    snwGltfInfluences influences = {.reading = reading, .limit = work->limit, .highest = -1};
    influences.starts = snwGltf_Room(reading, mesh->vertexCount + 1, sizeof *influences.starts);
    influences.bones = snwGltf_Room(reading, work->entries, sizeof *influences.bones);
    influences.values = snwGltf_Room(reading, work->entries, sizeof *influences.values);
    for (int i = 0; i < mesh->partCount && !snwGltfReading_Failed(reading); ++i)
        if (work->plan[i].position >= 0 && work->plan[i].sharedWith < 0)
            snwGltfInfluences_Add(&influences, work->plan[i].attributes, work->parts[i].vertexCount);
    snwGltfInfluences_Note(&influences);
    int bones = work->limit > 0 ? work->limit : influences.highest + 1;
    mesh->weights = (snwAssetWeights){influences.starts, influences.bones, influences.values, bones};
    snwGltf_Note(reading, snw_noteOdd, work->limit == 0, "a mesh with weights that no node puts on a skeleton");
}

// ---------------------------------------------------------------------------------------------------------------------
// Triangles

static bool IsSameCorner(const int corners[3])
{
    return corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0];
}

// Corners of triangle i of the primitive, as places in its list of indices: glTF 2.0, section 3.7.2.1.
static void Corners(int mode, int i, int places[3])
{
    const int list[3] = {3 * i, 3 * i + 1, 3 * i + 2};
    const int strip[3] = {i, i + 1 + i % 2, i + 2 - i % 2};
    const int fan[3] = {i + 1, i + 2, 0};
    memcpy(places, mode == modeTriangles ? list : mode == modeStrip ? strip : fan, sizeof list);
}

static void CheckCornerIndices(snwGltfReading* reading, const uint32_t* indices, int count, int vertexCount)
{
    for (int i = 0; i < count; ++i)
        if (indices[i] >= (uint32_t)vertexCount)
        {
            snwGltf_Fail(reading, "the file is cut or edited by hand: export it again",
                "index %d points to vertex %u of %d", i, indices[i], vertexCount);
            return;
        }
}

static uint32_t* ReadIndices(Work* work, const Part* part, int vertexCount)
{
    snwGltfReading* reading = work->reading;
    if (part->indices < 0)
        return NULL;
    int count = reading->gltf->accessors[part->indices].count;
    uint32_t* indices = snwGltf_Room(reading, count, sizeof *indices);
    size_t mark = snwJson_Enter(&reading->json, "indices");
    if (indices != NULL)
        snwGltf_Check(reading, snwGltf_ReadInts(reading->gltf, part->indices, indices, reading->json.message));
    if (!snwGltfReading_Failed(reading))
        CheckCornerIndices(reading, indices, count, vertexCount);
    snwGltf_Note(reading, snw_noteLeftOut, part->mode == modeTriangles && count % 3 != 0,
        "corners behind the last whole triangle");
    snwJson_Leave(&reading->json, mark);
    return indices;
}

static void FillPartTriangles(Work* work, int index)
{
    const Part* part = &work->plan[index];
    snwAssetPart* out = &work->parts[index];
    out->firstTriangle = work->mesh->triangleCount;
    if (part->position < 0)
        return;

    const uint32_t* indices = ReadIndices(work, part, out->vertexCount);
    int most = out->triangleCount;
    out->triangleCount = 0;

    // Degenerate triangles are dropped; in lists they are counted, strips need them.
    for (int i = 0; i < most && !snwGltfReading_Failed(work->reading); ++i)
    {
        int places[3], *corners = work->triangles[work->mesh->triangleCount];
        Corners(part->mode, i, places);
        for (int k = 0; k < 3; ++k)
            corners[k] = out->firstVertex + (indices == NULL ? places[k] : (int)indices[places[k]]);

        bool kept = !IsSameCorner(corners);
        work->mesh->triangleCount += kept;
        out->triangleCount += kept;
        work->degenerate += !kept && part->mode == modeTriangles; // strips have them on purpose
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Morphs

static void FillMorph(Work* work, int part, int morph, const char* key, float (**rows)[3])
{
    snwGltfReading* reading = work->reading;
    const json_t* target = json_array_get(json_object_get(work->plan[part].item, "targets"), (size_t)morph);
    int accessor = snwGltf_Index(reading, target, key, reading->gltf->accessorCount, "accessors");
    if (accessor < 0)
        return;

    // The place in messages: which target, which attribute.
    size_t mark = snwJson_Enter(&reading->json, "targets");
    snwJson_EnterIndex(&reading->json, (size_t)morph);
    snwJson_Enter(&reading->json, key);
    snwGltf_CheckAccessor(reading, accessor, 1 << snw_gltfVec3, snw_gltfSmallInts | snw_gltfReal);
    if (reading->gltf->accessors[accessor].count != work->parts[part].vertexCount)
        snwGltf_Fail(reading, "export the file again", "has %d elements for %d vertices",
            reading->gltf->accessors[accessor].count, work->parts[part].vertexCount);

    // Rows of the whole mesh, made when the first part has some.
    if (*rows == NULL)
        *rows = snwGltf_Room(reading, work->mesh->vertexCount, sizeof **rows);
    if (*rows != NULL)
        ReadMeshFloats(work, accessor, (*rows)[work->parts[part].firstVertex]);
    snwJson_Leave(&reading->json, mark);
}

static void FillMorphs(Work* work)
{
    snwGltfReading* reading = work->reading;
    snwAssetMesh* mesh = work->mesh;
    snwAssetMorph* morphs = snwGltf_Room(reading, mesh->morphCount, sizeof *morphs);
    const json_t* names = json_object_get(json_object_get(work->item, "extras"), "targetNames");
    const json_t* weights = json_object_get(work->item, "weights");

    // Targets of all parts become one morph of the mesh, with its name and weight.
    for (int k = 0; k < mesh->morphCount && !snwGltfReading_Failed(reading); ++k)
    {
        float(*positions)[3] = NULL, (*normals)[3] = NULL;
        for (int i = 0; i < mesh->partCount; ++i)
            if (work->plan[i].position >= 0 && work->plan[i].sharedWith < 0 && k < work->plan[i].targetCount)
            {
                FillMorph(work, i, k, "POSITION", &positions);
                FillMorph(work, i, k, "NORMAL", &normals);
            }

        morphs[k].positions = (const float(*)[3])positions;
        morphs[k].normals = (const float(*)[3])normals;
        morphs[k].name = snwArena_Text(&reading->asset->arena, json_string_value(json_array_get(names, (size_t)k)));
        morphs[k].weight = json_number_value(json_array_get(weights, (size_t)k));
    }

    mesh->morphs = morphs;
}

static void NoteMorphs(Work* work)
{
    const snwAssetMesh* mesh = work->mesh;
    const json_t* weights = json_object_get(work->item, "weights");
    bool fits = weights == NULL || json_array_size(weights) == (size_t)mesh->morphCount;
    snwGltf_Note(work->reading, snw_noteOdd, !fits, "a mesh does not have as many weights as morphs");
    for (int i = 0; i < mesh->partCount; ++i)
        snwGltf_Note(work->reading, snw_noteOdd,
            work->plan[i].position >= 0 && work->plan[i].targetCount != mesh->morphCount,
            "parts of a mesh do not have the same morphs; those without one stay as they are");
}

// ---------------------------------------------------------------------------------------------------------------------
// Meshes

static void PlanParts(Work* work, const json_t* list)
{
    snwGltfReading* reading = work->reading;
    size_t mark = snwJson_Enter(&reading->json, "primitives");
    char name[sizeof reading->where];
    memcpy(name, reading->where, sizeof name);
    for (int i = 0; i < work->mesh->partCount && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        snprintf(reading->where, sizeof reading->where, "%.80s, part %d", name, i);
        PlanPart(work, i, snwGltf_Item(reading, list, i));
        snwJson_Leave(&reading->json, place);
    }
    memcpy(reading->where, name, sizeof name);
    snwJson_Leave(&reading->json, mark);
}

static void FillParts(Work* work)
{
    snwGltfReading* reading = work->reading;
    snwAssetMesh* mesh = work->mesh;

    // Whatever any part has, all of the mesh has room for.
    ReadPositions(work, snwGltf_Room(reading, mesh->vertexCount, sizeof(snwVec3)));
    if (work->normals)
        FillNormals(work);
    if (work->texcoords)
        FillTexcoords(work);
    if (work->colors)
        FillColors(work);
    if (work->entries > 0)
        FillWeights(work);
    if (mesh->morphCount > 0)
        FillMorphs(work);
    NoteMorphs(work);
    work->triangles = snwGltf_Room(reading, mesh->triangleCount, sizeof *work->triangles);
    mesh->triangleCount = 0;
    size_t mark = snwJson_Enter(&reading->json, "primitives");

    // Triangles last, as they name vertices.
    for (int i = 0; i < mesh->partCount && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        FillPartTriangles(work, i);
        snwJson_Leave(&reading->json, place);
    }

    snwJson_Leave(&reading->json, mark);
    mesh->triangles = (const int(*)[3])work->triangles;
}

static void ReadGltfMesh(Work* work, int index)
{
    snwGltfReading* reading = work->reading;
    snwAssetMesh* mesh = work->mesh;
    mesh->name = snwArena_Text(&reading->asset->arena, snwGltf_Text(reading, work->item, "name"));
    snwGltf_SetWhere(reading, "mesh", index, mesh->name);
    const json_t* list = snwGltf_List(reading, work->item, "primitives", snw_maxAssetNodes, &mesh->partCount);
    work->plan = snwGltf_Room(reading, mesh->partCount, sizeof *work->plan);
    work->parts = snwGltf_Room(reading, mesh->partCount, sizeof *work->parts);
    mesh->parts = work->parts;
    PlanParts(work, list);
    if (!snwGltfReading_Failed(reading))
        FillParts(work);
    snwGltf_Note(reading, snw_noteRepaired, work->notFinite,
        "numbers of normals, colours, texture coordinates or morphs that are not finite were set to 0");
    snwGltf_Note(reading, snw_noteLeftOut, work->degenerate, "triangles with two equal corners");
}

// The fewest joints of the skins with which a mesh is used.
static int* FindLimits(snwGltfReading* reading)
{
    const snwAsset* asset = reading->asset;
    int* limits = snwGltf_Room(reading, asset->meshCount, sizeof *limits);
    for (int i = 0; i < asset->nodeCount && limits != NULL; ++i)
    {
        const snwAssetNode* node = &asset->nodes[i];
        if (node->mesh < 0 || node->skin < 0)
            continue;
        int count = asset->skins[node->skin].jointCount, *limit = &limits[node->mesh];
        *limit = *limit == 0 || count < *limit ? count : *limit;
    }
    return limits;
}

void snwGltf_ReadMeshes(snwGltfReading* reading)
{
    snwAsset* asset = reading->asset;
    const json_t* list = snwGltf_List(reading, reading->gltf->root, "meshes", snw_maxAssetNodes, &asset->meshCount);
    asset->meshes = snwGltf_Room(reading, asset->meshCount, sizeof *asset->meshes);
    int* limits = FindLimits(reading);
    int* firstUse = snwGltf_Room(reading, reading->gltf->accessorCount, sizeof *firstUse);
    size_t mark = snwJson_Enter(&reading->json, "meshes");
    for (int i = 0; i < asset->meshCount && !snwGltfReading_Failed(reading); ++i)
    {
        size_t place = snwJson_EnterIndex(&reading->json, (size_t)i);
        Work work = {.reading = reading, .mesh = &asset->meshes[i], .firstUse = firstUse, .limit = limits[i]};
        work.item = snwGltf_Item(reading, list, i);
        ReadGltfMesh(&work, i);
        snwJson_Leave(&reading->json, place);
    }
    snwJson_Leave(&reading->json, mark);
    reading->where[0] = 0;
}
