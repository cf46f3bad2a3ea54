// Materials: one for the flesh, others by name of the file's materials, and maps that an artist painted.
//
// What is painted is painted on the surface. An element takes what is painted where the surface is nearest to it, so a
// map goes inwards from the skin, and stays where it was painted whatever the mesh. A character has a list of materials
// and an index per element; a smooth map is therefore cut into levels, as many as `regions` allows: even ones of all
// numbers, of young even in its logarithm.

#include "prepare/parts.h"

#include "asset/gltf.h"
#include "sim/character.h"
#include "sim/limits.h"

#include <math.h>
#include <string.h>

enum
{
    snw_maxAttributeMaps = snw_mapPropertyCount,
    snw_coordinateCount = 6, // numbers of a material
};

static const char* const s_attributes[snw_mapPropertyCount] = {
    "_SNW_DENSITY", "_SNW_YOUNG", "_SNW_POISSON", "_SNW_DAMPING", "_SNW_STIFFNESS", "_SNW_FREQUENCY", "_SNW_SETTLING"};

// What is painted, of all vertices of a surface; NAN: nothing.
typedef struct Paint
{
    snwMapProperty property;
    float** values; // by surface; NULL: not painted there
} Paint;

typedef struct Painter
{
    snwPreparer* preparer;
    snwMapSetting* maps;
    int mapCount;
    Paint* paints;
    int paintCount;
    snwMaterial* partMaterials; // of the triangles of the flesh, by number in `materialOf`
    int* materialOf;            // by triangle of the flesh, -1: that of the flesh
    int partCount;
    snwMaterial* elements; // the material of each
} Painter;

// ---------------------------------------------------------------------------------------------------------------------
// Reading maps

static snwResult ReadColorMap(snwPreparer* p, const snwMapSetting* map, int surface, float** values)
{
    const snwAssetMesh* mesh = &p->asset->meshes[p->surfaces[surface].mesh];
    if (mesh->colors == NULL)
        return snw_ok;
    *values = snwPreparer_Alloc(p, mesh->vertexCount + 1, sizeof **values);
    for (int i = 0; i < mesh->vertexCount && *values != NULL; ++i)
        (*values)[i] = mesh->colors[i][map->channel];
    return *values != NULL ? snw_ok : snwFailMemory(p->message);
}

static snwResult ReadMapTexture(
    snwPreparer* p, const snwMapSetting* map, const snwTexture* texture, int surface, float** values)
{
    const snwAssetMesh* mesh = &p->asset->meshes[p->surfaces[surface].mesh];
    if (mesh->texcoords == NULL)
        return snw_ok;
    *values = snwPreparer_Alloc(p, mesh->vertexCount + 1, sizeof **values);
    for (int i = 0; i < mesh->vertexCount && *values != NULL; ++i)
    {
        float color[4];
        snwTexture_Sample(texture, mesh->texcoords[i], false, color);
        (*values)[i] = color[map->channel];
    }
    return *values != NULL ? snw_ok : snwFailMemory(p->message);
}

// One number per vertex of a primitive, the first of a wider attribute.
static snwResult ReadPrimitive(snwPreparer* p, int accessor, const snwAssetPart* part, float* values)
{
    const snwGltf* gltf = p->asset->gltf;
    int width = snwGltfType_Width(gltf->accessors[accessor].type), count = gltf->accessors[accessor].count;
    int64_t repaired = 0;
    if (count < part->vertexCount)
        return snwFail(
            p->message, snw_errorInput, NULL, "an attribute has %d values for %d vertices", count, part->vertexCount);
    float* all = snwAllocArray(p->context, (size_t)count * (size_t)width + 1, sizeof *all);
    if (all == NULL)
        return snwFailMemory(p->message);
    snwResult result = snwGltf_ReadFloats(gltf, accessor, all, &repaired, p->message);
    for (int i = 0; i < part->vertexCount && result >= 0; ++i)
        values[part->firstVertex + i] = all[(size_t)i * (size_t)width];
    snwFree(p->context, all);
    return result;
}

static snwResult ReadAttribute(snwPreparer* p, const char* attribute, int surface, float** values)
{
    int index = p->surfaces[surface].mesh;
    const snwAssetMesh* mesh = &p->asset->meshes[index];
    if (p->asset->gltf == NULL)
        return snw_ok;
    const json_t* primitives = json_object_get(
        json_array_get(json_object_get(p->asset->gltf->root, "meshes"), (size_t)index), "primitives");
    snwResult result = snw_ok;

    // A mesh's primitives are parts of it; those without the attribute stay unknown (NaN).
    for (int i = 0; i < mesh->partCount && result >= 0; ++i)
    {
        const json_t* value = json_object_get(
            json_object_get(json_array_get(primitives, (size_t)i), "attributes"), attribute);
        json_int_t accessor = json_is_integer(value) ? json_integer_value(value) : -1;
        if (accessor < 0 || accessor >= p->asset->gltf->accessorCount || mesh->parts[i].vertexCount == 0)
            continue;

        if (*values == NULL)
        {
            *values = snwPreparer_Alloc(p, mesh->vertexCount + 1, sizeof **values);
            for (int k = 0; k < mesh->vertexCount && *values != NULL; ++k)
                (*values)[k] = NAN;
        }

        result = *values != NULL ? ReadPrimitive(p, (int)accessor, &mesh->parts[i], *values)
                                 : snwFailMemory(p->message);
    }

    return result;
}

static bool IsFor(const snwPreparer* p, const snwMapSetting* map, int surface)
{
    return !p->surfaces[surface].left && p->surfaces[surface].kind == snw_surfaceSoft &&
           (map->surface == NULL || strcmp(map->surface, p->surfaces[surface].name) == 0);
}

static snwResult ReadPaintMap(Painter* painter, const snwMapSetting* map, Paint* paint)
{
    snwPreparer* p = painter->preparer;
    snwTexture texture = {0};
    bool any = false;

    paint->property = map->property;
    paint->values = snwPreparer_Alloc(p, p->surfaceCount + 1, sizeof *paint->values);
    if (paint->values == NULL)
        return snwFailMemory(p->message);
    snwResult result = map->from == snw_mapTexture ? snwPreparer_ReadPicture(p, map->texture, &texture) : snw_ok;

    // For each surface that the map is meant for, from colours, an attribute or a picture; values 0 .. 1 become lower
    // .. upper.
    for (int i = 0; i < p->surfaceCount && result >= 0; ++i)
    {
        if (!IsFor(p, map, i))
            continue;
        float** values = &paint->values[i];
        result = map->from == snw_mapColor       ? ReadColorMap(p, map, i, values)
                 : map->from == snw_mapAttribute ? ReadAttribute(p, map->attribute, i, values)
                                                 : ReadMapTexture(p, map, &texture, i, values);
        for (int k = 0; k < p->surfaces[i].vertexCount && result >= 0 && *values != NULL; ++k)
            (*values)[k] = (float)(map->lower + (map->upper - map->lower) * (double)(*values)[k]);
        any = any || *values != NULL;
    }

    // A map that finds nothing is a mistake in a name, most likely.
    if (result >= 0 && !any)
        return snwFail(p->message, snw_errorInput, "paint it, or take the map out of the sidecar",
            "no soft surface has what a map is painted in (%s)",
            map->from == snw_mapColor     ? "colours"
            : map->from == snw_mapTexture ? "texture coordinates"
                                          : map->attribute);

    return result;
}

// Maps of the sidecar, and attributes with the names that say what they are.
static snwResult ReadMaps(Painter* painter)
{
    snwPreparer* p = painter->preparer;
    snwResult result = snwPrepareSettings_Maps(&p->settings, &p->arena, &painter->maps, &painter->mapCount, p->message);
    painter->paints = snwPreparer_Alloc(p, (int64_t)painter->mapCount + snw_maxAttributeMaps + 1, sizeof(Paint));
    if (result >= 0 && painter->paints == NULL)
        return snwFailMemory(p->message);

    // By name: an attribute called like a property is one.
    for (int k = 0; k < snw_mapPropertyCount && result >= 0; ++k)
    {
        Paint paint = {(snwMapProperty)k, snwPreparer_Alloc(p, p->surfaceCount + 1, sizeof(float*))};
        bool any = false;
        for (int i = 0; i < p->surfaceCount && result >= 0 && paint.values != NULL; ++i)
        {
            result = ReadAttribute(p, s_attributes[k], i, &paint.values[i]);
            any = any || paint.values[i] != NULL;
        }

        if (any)
            painter->paints[painter->paintCount++] = paint;
    }

    // Maps of the sidecar come later and win.
    for (int i = 0; i < painter->mapCount && result >= 0; ++i)
        result = ReadPaintMap(painter, &painter->maps[i], &painter->paints[painter->paintCount++]);
    return p->arena.failed ? snwFailMemory(p->message) : result;
}

// ---------------------------------------------------------------------------------------------------------------------
// By name of the file's materials

const char* snwPreparer_PartMaterial(const snwPreparer* p, int index)
{
    for (int i = 0; i < p->surfaceCount; ++i)
    {
        const snwAssetMesh* mesh = &p->asset->meshes[p->surfaces[i].mesh];
        if (index < mesh->partCount)
            return mesh->parts[index].material;
        index -= mesh->partCount;
    }
    return "";
}

static const char* PartName(int index, const void* user)
{
    return snwPreparer_PartMaterial(user, index);
}

static snwResult NameMaterials(Painter* painter)
{
    snwPreparer* p = painter->preparer;

    int64_t parts = 0;
    for (int i = 0; i < p->surfaceCount; ++i)
        parts += p->asset->meshes[p->surfaces[i].mesh].partCount;
    painter->partMaterials = snwPreparer_Alloc(p, parts + 1, sizeof(snwMaterial));
    painter->materialOf = snwPreparer_Alloc(p, p->fleshTriangleCount + 1, sizeof(int));
    if (p->arena.failed)
        return snwFailMemory(p->message);
    snwResult result = snwPrepareSettings_CheckNames(&p->settings, "materials", (int)parts, PartName, p, p->message);

    // Triangles of a part follow each other, so each part is looked up once.
    for (int i = 0, k = -1; i < p->fleshTriangleCount && result >= 0; ++i)
    {
        bool same = i > 0 && p->fleshPart[i] == p->fleshPart[i - 1] && p->fleshSurface[i] == p->fleshSurface[i - 1];
        if (!same)
        {
            const snwAssetMesh* mesh = &p->asset->meshes[p->surfaces[p->fleshSurface[i]].mesh];
            snwMaterial material = p->settings.material;
            bool given = false;
            if (p->fleshPart[i] >= 0)
                result = snwPrepareSettings_Material(
                    &p->settings, mesh->parts[p->fleshPart[i]].material, &material, &given, p->message);
            k = given ? painter->partCount++ : -1;
            if (given)
                painter->partMaterials[k] = material;
        }
        painter->materialOf[i] = k;
    }

    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Onto the elements

static void SetProperty(snwMaterial* material, snwMapProperty property, double value)
{
    // Whatever is painted stays within what materials may be.
    switch (property)
    {
        case snw_mapDensity:
            material->density = fmin(fmax(value, SNW_MIN_DENSITY), SNW_MAX_DENSITY);
            break;
        case snw_mapYoung:
            material->young = fmin(fmax(value, SNW_MIN_YOUNG), SNW_MAX_YOUNG);
            break;
        case snw_mapPoisson:
            material->poisson = fmin(fmax(value, -0.9), 0.5);
            break;
        case snw_mapDamping:
            material->damping = fmin(fmax(value, 0), SNW_MAX_DAMPING);
            break;
        case snw_mapStiffness:
            material->young = fmin(fmax(material->young * value, SNW_MIN_YOUNG), SNW_MAX_YOUNG);
            break;
        case snw_mapFrequency:
            material->frequency = fmin(fmax(value, 0), SNW_MAX_FREQUENCY);
            break;
        case snw_mapSettling:
        case snw_mapPropertyCount:
            material->settling = fmin(fmax(value, 0), SNW_MAX_SETTLING);
            break;
    }
}

static void PaintElement(const Painter* painter, const snwClosest* closest, snwMaterial* material)
{
    const snwPreparer* p = painter->preparer;
    for (int i = 0; i < painter->paintCount; ++i)
    {
        // The mean over the triangle's corners that are painted; less than a quarter of it says nothing.
        double sum = 0, share = 0;
        for (int k = 0; k < 3; ++k)
        {
            int vertex = p->fleshTriangles[closest->triangle][k];
            const float* values = painter->paints[i].values[p->fleshSource[vertex]];
            double value = values != NULL ? (double)values[p->fleshVertex[vertex]] : NAN;
            if (isnan(value))
                continue;

            sum += closest->weights[k] * value;
            share += closest->weights[k];
        }

        if (share > 0.25)
            SetProperty(material, painter->paints[i].property, sum / share);
    }
}

static void PaintRange(int begin, int end, void* data)
{
    const Painter* painter = data;
    const snwPreparer* p = painter->preparer;
    for (int i = begin; i < end; ++i)
    {
        snwVec3 centre = {0, 0, 0};
        for (int k = 0; k < 4; ++k)
            centre = snwVec3_MulAdd(centre, 0.25, p->body.vertices[p->body.tets[i][k]]);
        snwClosest closest = snwSoup_Closest(p->flesh, centre);
        int part = painter->materialOf[closest.triangle];
        painter->elements[i] = part >= 0 ? painter->partMaterials[part] : p->settings.material;
        PaintElement(painter, &closest, &painter->elements[i]);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Into regions

static void MaterialCoordinates(const snwMaterial* material, double out[snw_coordinateCount])
{
    out[0] = material->density;
    out[1] = log(material->young);
    out[2] = material->poisson;
    out[3] = material->damping;
    out[4] = material->frequency;
    out[5] = material->settling;
}

typedef struct Range
{
    double lower[snw_coordinateCount], upper[snw_coordinateCount];
} Range;

static Range FindMaterialRange(const Painter* painter)
{
    Range range;
    MaterialCoordinates(&painter->elements[0], range.lower);
    MaterialCoordinates(&painter->elements[0], range.upper);
    for (int i = 1; i < painter->preparer->body.tetCount; ++i)
    {
        double value[snw_coordinateCount];
        MaterialCoordinates(&painter->elements[i], value);
        for (int k = 0; k < snw_coordinateCount; ++k)
        {
            range.lower[k] = fmin(range.lower[k], value[k]);
            range.upper[k] = fmax(range.upper[k], value[k]);
        }
    }
    return range;
}

// Which of `levels` even steps each number is in.
typedef struct Key
{
    uint16_t steps[snw_coordinateCount];
} Key;

static Key KeyOfMaterial(const snwMaterial* material, const Range* range, int levels)
{
    Key key;
    double value[snw_coordinateCount];
    MaterialCoordinates(material, value);
    for (int k = 0; k < snw_coordinateCount; ++k)
    {
        double span = range->upper[k] - range->lower[k], at = span > 0 ? (value[k] - range->lower[k]) / span : 0;
        key.steps[k] = (uint16_t)fmin(floor(at * levels), levels - 1);
    }
    return key;
}

// Number of the key among those known; -1: there would be too many.
static int FindMaterialKey(Key* keys, int* count, int most, const Key* key)
{
    for (int i = 0; i < *count; ++i)
        if (memcmp(&keys[i], key, sizeof *key) == 0)
            return i;
    if (*count == most)
        return -1;
    keys[*count] = *key;
    return (*count)++;
}

static bool DivideMaterials(const Painter* painter, int levels, Key* keys)
{
    snwPreparer* p = painter->preparer;
    Range range = FindMaterialRange(painter);
    int count = 0;
    for (int i = 0; i < p->body.tetCount; ++i)
    {
        Key key = KeyOfMaterial(&painter->elements[i], &range, levels);
        p->regions[i] = FindMaterialKey(keys, &count, p->settings.regions, &key);
        if (p->regions[i] < 0)
            return false;
    }
    p->materialCount = count;
    return true;
}

static bool AreSameMaterials(const snwMaterial* a, const snwMaterial* b)
{
    return a->density == b->density && a->young == b->young && a->poisson == b->poisson && a->damping == b->damping &&
           a->frequency == b->frequency && a->settling == b->settling;
}

// What more than half of a region's elements have (Boyer and Moore 1981); false if they have nothing in common.
static bool FindMajority(const Painter* painter, int region, snwMaterial* material)
{
    const snwPreparer* p = painter->preparer;
    int votes = 0, count = 0, same = 0;
    for (int i = 0; i < p->body.tetCount; ++i)
    {
        if (p->regions[i] != region)
            continue;
        if (votes == 0)
            *material = painter->elements[i];
        votes += AreSameMaterials(&painter->elements[i], material) ? 1 : -1;
        ++count;
    }
    for (int i = 0; i < p->body.tetCount; ++i)
        same += p->regions[i] == region && AreSameMaterials(&painter->elements[i], material);
    return 2 * same > count;
}

// What most of a region has, to the last bit; else the mean, of young the geometric one.
static void Average(const Painter* painter)
{
    snwPreparer* p = painter->preparer;
    for (int r = 0; r < p->materialCount; ++r)
    {
        double sum[snw_coordinateCount] = {0};
        int count = 0;
        if (FindMajority(painter, r, &p->materials[r]))
            continue;

        // Coordinates in which means make sense (young by its logarithm).
        for (int i = 0; i < p->body.tetCount; ++i)
        {
            double value[snw_coordinateCount];
            if (p->regions[i] != r)
                continue;
            MaterialCoordinates(&painter->elements[i], value);
            for (int k = 0; k < snw_coordinateCount; ++k)
                sum[k] += value[k];
            ++count;
        }

        p->materials[r] = (snwMaterial){.density = sum[0] / count,
            .young = exp(sum[1] / count),
            .poisson = fmin(sum[2] / count, 0.5),
            .damping = sum[3] / count,
            .frequency = sum[4] / count,
            .settling = sum[5] / count};
    }
}

static snwResult MakeRegions(Painter* painter)
{
    snwPreparer* p = painter->preparer;
    Key* keys = snwPreparer_Alloc(p, p->settings.regions + 1, sizeof *keys);
    if (keys == NULL)
        return snwFailMemory(p->message);
    int levels = 4096; // as good as exact: painted regions stay as they are
    for (; !DivideMaterials(painter, levels, keys) && levels > 1; --levels)
        levels = levels > 64 ? 65 : levels;
    if (levels < 4096)
        snwPreparer_Note(p, "painted materials are divided into %d regions", p->materialCount);
    Average(painter);
    return snw_ok;
}

snwResult snwPreparer_MakeMaterials(snwPreparer* p)
{
    Painter painter = {.preparer = p};
    p->materials = snwPreparer_Alloc(p, p->settings.regions + 1, sizeof *p->materials);
    p->regions = snwPreparer_Alloc(p, p->body.tetCount + 1, sizeof *p->regions);
    if (p->arena.failed)
        return snwFailMemory(p->message);

    // Region 0 is the flesh; without maps and named materials it is the only one.
    p->materials[0] = p->settings.material;
    p->materialCount = 1;
    snwResult result = NameMaterials(&painter);
    if (result >= 0)
        result = ReadMaps(&painter);
    if (result < 0 || painter.paintCount + painter.partCount == 0)
        return result;

    // Every element has values of its own first, then alike ones become regions.
    painter.elements = snwPreparer_Alloc(p, p->body.tetCount + 1, sizeof *painter.elements);
    if (painter.elements == NULL)
        return snwFailMemory(p->message);
    snwParallelFor(p->context, p->body.tetCount, 64, PaintRange, &painter);

    return MakeRegions(&painter);
}
