// Blueprint files: from JSON text to a blueprint.
//
// A mirrored item ("thigh.l") is read once and entered twice, the second time reflected in x = 0 and with the names it
// refers to changed from .l to .r. Items may refer to bones in any order, so bones come first.

#include "rig/skeleton.h"
#include "base/ending.h"
#include "scene/blueprint_tables.h"
#include "scene/builtin.h"
#include "scene/constraints_file.h"
#include "scene/flat_file.h"
#include "scene/file.h"
#include "scene/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Reader
{
    snwJson json;
    snwArena* arena;
    snwBlueprint* out;
    const char** parents; // names of the bones' parents
    const char** groups;  // by number
    int groupCount;
} Reader;

typedef snwResult ReadItemFn(Reader* reader, const json_t* value);

static snwResult FailMemory(Reader* reader)
{
    return snwJson_Locate(&reader->json, snwFailMemory(reader->json.message));
}

// Room for twice the list: every item may have a twin.
static void* NewList(Reader* reader, const char* key, const json_t* list, size_t size, snwResult* result)
{
    return snwJson_NewList(&reader->json, reader->arena, key, list, snw_maxParts, 2 * size, result);
}

static void ReadItems(Reader* reader, const char* key, const json_t* list, ReadItemFn* read, snwResult* result)
{
    size_t count = list == NULL || *result < 0 ? 0 : json_array_size(list);
    size_t outer = snwJson_Enter(&reader->json, key);
    for (size_t i = 0; i < count && *result == snw_ok; ++i)
    {
        size_t mark = snwJson_EnterIndex(&reader->json, i);
        *result = read(reader, json_array_get(list, i));
        snwJson_Leave(&reader->json, mark);
    }
    snwJson_Leave(&reader->json, outer);
}

// As many numbers as `least`, or as `most`; pairs too if `least` is smaller than `most`.
static snwResult ReadNumberList(Reader* reader, const json_t* value, int least, int most, double limit, double* out)
{
    snwJson* json = &reader->json;
    size_t count = json_array_size(value);
    bool pair = count == 2 && least < most;
    if (!json_is_array(value) || ((int)count != least && (int)count != most && !pair))
        return snwJson_Fail(json, NULL, "must be a list of %d numbers", least);
    for (size_t i = 0; i < count; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, i);
        snwResult result = snwJson_ReadReal(json, json_array_get(value, i), -limit, limit, &out[i]);
        if (result < 0)
            return result;
        snwJson_Leave(json, mark);
    }
    return snw_ok;
}

static snwResult ReadBlueprintRows(Reader* reader, const char* key, const json_t* list, int leastRows, int least,
    int most, double (**rows)[8], int* count)
{
    snwJson* json = &reader->json;
    snwResult result = snw_ok;
    *rows = NewList(reader, key, list, sizeof **rows, &result);
    *count = (int)json_array_size(list);
    size_t outer = snwJson_Enter(json, key);
    if (result == snw_ok && *count < leastRows)
        return snwJson_Fail(json, NULL, "must have at least %d points", leastRows);

    // Row by row; every failure names its place in the list.
    for (int i = 0; i < *count && result == snw_ok; ++i)
    {
        size_t mark = snwJson_EnterIndex(json, (size_t)i);
        result = ReadNumberList(reader, json_array_get(list, (size_t)i), least, most, 1e6, (*rows)[i]);
        if (result == snw_ok)
            snwJson_Leave(json, mark);
    }

    if (result == snw_ok)
        snwJson_Leave(json, outer);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Names and mirrors

static snwVec3 MirrorPoint(snwVec3 p)
{
    return (snwVec3){-p.x, p.y, p.z};
}

static snwVec3 MirrorAxis(snwVec3 axis)
{
    return (snwVec3){axis.x, -axis.y, -axis.z};
}

static snwQuat MirrorRotation(snwQuat q)
{
    return (snwQuat){q.x, -q.y, -q.z, q.w};
}

static bool IsLeft(const char* name)
{
    size_t length = name != NULL ? strlen(name) : 0;
    return length > 2 && strcmp(name + length - 2, ".l") == 0;
}

// "thigh.l" -> "thigh.r"; others stay. NULL: no memory, or no name.
static const char* MirrorName(Reader* reader, const char* name)
{
    if (!IsLeft(name))
        return name;
    char* twin = snwArena_Text(reader->arena, name);
    if (twin != NULL)
        twin[strlen(twin) - 1] = 'r';
    return twin;
}

static snwResult CheckTwin(Reader* reader, const char* name, bool mirror)
{
    if (mirror && !IsLeft(name))
        return snwJson_Fail(&reader->json, "end its name in .l; the twin's ends in .r",
            "'%s' is mirrored but has no side", snwQuoteWord(name).text);
    return snw_ok;
}

static const char* BlueprintBoneName(int index, const void* data)
{
    return ((const snwBlueprint*)data)->bones[index].name;
}

static int LookUpBone(const snwBlueprint* blueprint, const char* name)
{
    for (int i = 0; name != NULL && i < blueprint->boneCount; ++i)
        if (strcmp(blueprint->bones[i].name, name) == 0)
            return i;
    return -1;
}

// NULL gives -1.
static snwResult FindBlueprintBone(Reader* reader, const char* key, const char* name, int* bone)
{
    *bone = LookUpBone(reader->out, name);
    if (name == NULL || *bone >= 0)
        return snw_ok;
    char remedy[240];
    snwSuggestWord(remedy, sizeof remedy, name, reader->out->boneCount, BlueprintBoneName, reader->out);
    snwJson_Enter(&reader->json, key);
    return snwJson_Fail(&reader->json, remedy, "there is no bone '%s'", snwQuoteWord(name).text);
}

// ---------------------------------------------------------------------------------------------------------------------
// Skeleton

static snwResult AddBlueprintBone(Reader* reader, const snwBoneDef* def, const char* parent)
{
    snwBlueprint* out = reader->out;
    if (LookUpBone(out, def->name) >= 0)
        return snwJson_Fail(
            &reader->json, "names must be unique", "there are two bones '%s'", snwQuoteWord(def->name).text);
    reader->parents[out->boneCount] = parent;
    out->bones[out->boneCount++] = *def;
    return snw_ok;
}

static snwResult ReadInertia(Reader* reader, const json_t* value, snwBoneDef* bone)
{
    size_t mark = snwJson_Enter(&reader->json, "inertia");
    size_t count = json_array_size(value) == 6 ? 6 : 3;
    snwResult result = ReadNumberList(reader, value, (int)count, (int)count, 1e12, bone->inertia);
    if (result == snw_ok)
        snwJson_Leave(&reader->json, mark);
    return result;
}

static snwResult ReadBoneShape(Reader* reader, const json_t* value, snwBoneShape* shape)
{
    snwBoneShapeData data;
    size_t mark = snwJson_Enter(&reader->json, "shape");
    snwResult result = snwTable_Read(&reader->json, &snw_boneShapeTable, value, &data, NULL);
    if (result < 0)
        return result;
    snwJson_Leave(&reader->json, mark);
    *shape = data.shape;
    if (shape->kind == snw_colliderSphere || shape->kind == snw_colliderCapsule)
        shape->size.x = data.radius;

    // A capsule's own frame has its axis along y.
    if (shape->kind == snw_colliderCapsule)
    {
        snwVec3 way = snwVec3_Sub(data.to, data.from);
        shape->size.y = 0.5 * snwVec3_Length(way);
        shape->place.position = snwVec3_Lerp(data.from, data.to, 0.5);
        shape->place.rotation = snwQuat_Between((snwVec3){0, 1, 0}, snwVec3_Normalize(way));
    }

    return snw_ok;
}

static void MirrorBone(Reader* reader, snwBoneDef* bone)
{
    bone->head = MirrorPoint(bone->head), bone->tail = MirrorPoint(bone->tail);
    bone->centre = MirrorPoint(bone->centre);
    bone->inertia[3] = -bone->inertia[3], bone->inertia[5] = -bone->inertia[5]; // xy and zx
    bone->shape.place.position = MirrorPoint(bone->shape.place.position);
    bone->shape.place.rotation = MirrorRotation(bone->shape.place.rotation);
    bone->name = MirrorName(reader, bone->name);
}

static snwResult ReadBlueprintBone(Reader* reader, const json_t* value)
{
    snwBoneData data;
    uint64_t seen = 0;

    // The bone itself, then what belongs to it: inertia and the shape that touches.
    snwResult result = snwTable_Read(&reader->json, &snw_boneTable, value, &data, &seen);
    if (result == snw_ok)
        result = CheckTwin(reader, data.def.name, data.mirror);
    if (result == snw_ok && data.inertia != NULL)
        result = ReadInertia(reader, data.inertia, &data.def);
    if (result == snw_ok && data.shape != NULL)
        result = ReadBoneShape(reader, data.shape, &data.def.shape);
    if (result < 0)
        return result;

    // A mass centre only makes sense with an inertia; without one it is the middle.
    bool centred = snwTable_Saw(&snw_boneTable, seen, "centre");
    if (centred && data.inertia == NULL)
        return snwJson_Fail(
            &reader->json, "give it an inertia too", "bone '%s' has a centre alone", snwQuoteWord(data.def.name).text);
    if (!centred && data.inertia != NULL)
        data.def.centre = snwVec3_Lerp(data.def.head, data.def.tail, 0.5);

    // Entered, then once more reflected, with the other name.
    result = AddBlueprintBone(reader, &data.def, data.parent);
    if (result < 0 || !data.mirror)
        return result;
    MirrorBone(reader, &data.def);
    data.parent = MirrorName(reader, data.parent);

    return reader->arena->failed ? FailMemory(reader) : AddBlueprintBone(reader, &data.def, data.parent);
}

// Once all bones are known.
static snwResult FindBoneParents(Reader* reader)
{
    for (int i = 0; i < reader->out->boneCount; ++i)
    {
        snwResult result = FindBlueprintBone(reader, "bones", reader->parents[i], &reader->out->bones[i].parent);
        if (result < 0)
            return result;
    }
    return snw_ok;
}

static snwResult AddBlueprintJoint(Reader* reader, snwJointDef def, const char* bone, const char* parent)
{
    snwResult result = FindBlueprintBone(reader, "bone", bone, &def.bone);
    if (result == snw_ok)
        result = FindBlueprintBone(reader, "parent", parent, &def.parentBone);
    if (result < 0)
        return result;
    if (parent == NULL)
        def.parentBone = reader->out->bones[def.bone].parent;
    if (def.name == NULL)
        def.name = bone;
    reader->out->joints[reader->out->jointCount++] = def;
    return snw_ok;
}

static snwResult ReadRanges(Reader* reader, snwJointData* data)
{
    static const char* const keys[3] = {"range", "range2", "range3"};
    double* limits[3][2] = {{&data->def.lower, &data->def.upper}, {&data->def.lower2, &data->def.upper2},
        {&data->def.lower3, &data->def.upper3}};

    // Without a range an angle is free: lower above upper for the first, equal for the others.
    for (int k = 0; k < 3; ++k)
    {
        double range[2] = {k == 0, -(k == 0)}; // no limit
        size_t mark = snwJson_Enter(&reader->json, keys[k]);
        snwResult result = data->ranges[k] == NULL ? snw_ok : ReadNumberList(reader, data->ranges[k], 2, 2, 1e6, range);
        if (result == snw_ok && data->ranges[k] != NULL && (range[0] > range[1] || (k > 0 && range[0] == range[1])))
            result = snwJson_Fail(&reader->json, NULL, "must begin with the lower limit");
        if (result < 0)
            return result;
        snwJson_Leave(&reader->json, mark);
        // Ranges are in degrees, of joints that slide in metres.
        double unit = snwJointType_Slides(data->def.type) ? 1 : SNW_PI / 180;
        *limits[k][0] = range[0] * unit, *limits[k][1] = range[1] * unit;
    }

    data->def.cone = data->cone * SNW_PI / 180;
    return snw_ok;
}

static snwResult ReadBlueprintJoint(Reader* reader, const json_t* value)
{
    snwJointData data;
    uint64_t seen = 0;
    snwResult result = snwTable_Read(&reader->json, &snw_jointTable, value, &data, &seen);
    if (result == snw_ok)
        result = CheckTwin(reader, data.bone, data.mirror);
    if (result == snw_ok)
        result = ReadRanges(reader, &data);
    if (result < 0)
        return result;

    // Without a place of its own the joint is at the bone's head.
    int bone = LookUpBone(reader->out, data.bone);
    if (!snwTable_Saw(&snw_jointTable, seen, "at") && bone >= 0)
        data.def.position = reader->out->bones[bone].head;
    data.def.axis = snwVec3_Normalize(data.def.axis);
    data.def.axis2 = snwVec3_Normalize(data.def.axis2);
    result = AddBlueprintJoint(reader, data.def, data.bone, data.parent);
    if (result < 0 || !data.mirror)
        return result;

    // The mirrored twin.
    data.def.position = MirrorPoint(data.def.position);
    data.def.axis = MirrorAxis(data.def.axis);
    data.def.axis2 = MirrorAxis(data.def.axis2);
    data.def.name = MirrorName(reader, data.def.name);
    data.bone = MirrorName(reader, data.bone);
    data.parent = MirrorName(reader, data.parent);

    return reader->arena->failed ? FailMemory(reader) : AddBlueprintJoint(reader, data.def, data.bone, data.parent);
}

// A handle that is a bone also is one of the skeleton, behind the one before it.
static snwResult AddBlueprintHandle(Reader* reader, const snwHandleData* data)
{
    snwBlueprint* out = reader->out;
    out->handles[out->handleCount++] = data->def;
    if (data->def.kind != snw_handleBone)
        return snw_ok;
    snwBoneDef bone = snwDefaultBoneDef();
    bone.name = data->def.name;
    bone.head = data->def.position;
    bone.tail = data->tail;
    return AddBlueprintBone(reader, &bone, out->boneCount > 0 ? out->bones[out->boneCount - 1].name : NULL);
}

static snwResult ReadBlueprintHandle(Reader* reader, const json_t* value)
{
    snwHandleData data;
    snwResult result = snwTable_Read(&reader->json, &snw_handleTable, value, &data, NULL);
    if (result == snw_ok)
        result = CheckTwin(reader, data.def.name, data.mirror);
    if (result == snw_ok)
        result = AddBlueprintHandle(reader, &data);
    if (result < 0 || !data.mirror)
        return result;
    data.def.position = MirrorPoint(data.def.position);
    data.tail = MirrorPoint(data.tail);
    data.def.name = MirrorName(reader, data.def.name);
    return reader->arena->failed ? FailMemory(reader) : AddBlueprintHandle(reader, &data);
}

// ---------------------------------------------------------------------------------------------------------------------
// Parts

static snwResult UsePoints(Reader* reader, snwPartData* data)
{
    double(*rows)[8] = NULL;
    snwResult result = ReadBlueprintRows(reader, "points", data->points, 2, 4, 4, &rows, &data->part.pointCount);
    if (result < 0)
        return result;
    data->part.points = snwArena_Alloc(reader->arena, (size_t)data->part.pointCount, sizeof *data->part.points);
    if (data->part.points == NULL)
        return FailMemory(reader);
    for (int i = 0; i < data->part.pointCount; ++i)
    {
        if (rows[i][3] <= 0)
            return snwJson_Fail(&reader->json, NULL, "points[%d] must have a radius above 0", i);
        data->part.points[i] = (snwFleshPoint){{rows[i][0], rows[i][1], rows[i][2]}, rows[i][3], -1};
    }
    return snw_ok;
}

static snwResult UseTwoPoints(Reader* reader, snwPartData* data)
{
    data->part.points = snwArena_Alloc(reader->arena, 2, sizeof *data->part.points);
    if (data->part.points == NULL)
        return FailMemory(reader);
    data->part.pointCount = 2;
    double end = data->part.kind == snw_partCone ? data->endRadius : data->radius;
    data->part.points[0] = (snwFleshPoint){data->from, data->radius, -1};
    data->part.points[1] = (snwFleshPoint){data->to, end, -1};
    return snw_ok;
}

// Sixteen points a turn.
static snwResult UseCoil(Reader* reader, snwPartData* data)
{
    int count = 2 + (int)ceil(16 * data->turns);
    snwVec3 axis = snwVec3_Normalize(data->axis);

    // Two directions across the axis, the first one where the coil starts.
    snwVec3 u = snwVec3_Normalize(snwVec3_MulAdd(data->start, -snwVec3_Dot(data->start, axis), axis));
    snwVec3 v = snwVec3_Cross(axis, u);

    if (snwVec3_LengthSquared(axis) == 0 || snwVec3_LengthSquared(u) == 0)
        return snwJson_Fail(&reader->json, NULL, "'start' must point away from 'axis'");
    data->part.points = snwArena_Alloc(reader->arena, (size_t)count, sizeof *data->part.points);
    if (data->part.points == NULL)
        return FailMemory(reader);
    data->part.pointCount = count;
    data->part.kind = snw_partSweep;

    // Around, along and ever wider: radius and tube go from the first values to the last.
    for (int i = 0; i < count; ++i)
    {
        double t = (double)i / (count - 1), angle = 2 * SNW_PI * data->turns * t;
        double radius = data->radius + t * (data->endRadius - data->radius);
        snwVec3 p = snwVec3_MulAdd(data->part.frame.position, radius * cos(angle), u);
        p = snwVec3_MulAdd(snwVec3_MulAdd(p, radius * sin(angle), v), t * data->rise, axis);
        data->part.points[i] = (snwFleshPoint){p, data->tube + t * (data->endTube - data->tube), -1};
    }

    return snw_ok;
}

// Newell's normal, and the mean.
static void FindPlane(const double (*rows)[8], int count, snwVec3* centre, snwVec3* normal)
{
    *centre = *normal = (snwVec3){0};
    for (int i = 0, j = count - 1; i < count; j = i++)
    {
        const double *a = rows[j], *b = rows[i];
        normal->x += (a[1] - b[1]) * (a[2] + b[2]);
        normal->y += (a[2] - b[2]) * (a[0] + b[0]);
        normal->z += (a[0] - b[0]) * (a[1] + b[1]);
        *centre = snwVec3_MulAdd(*centre, 1.0 / count, (snwVec3){b[0], b[1], b[2]});
    }
    *normal = snwVec3_Normalize(*normal);
}

static double ClosedCurve(const double (*rows)[8], int count, int span, double t, int axis)
{
    double a = rows[(span + count - 1) % count][axis], b = rows[span][axis];
    double c = rows[(span + 1) % count][axis], d = rows[(span + 2) % count][axis];
    double m0 = 0.5 * (c - a), m1 = 0.5 * (d - b), t2 = t * t, t3 = t2 * t;
    return (2 * t3 - 3 * t2 + 1) * b + (t3 - 2 * t2 + t) * m0 + (3 * t2 - 2 * t3) * c + (t3 - t2) * m1;
}

static snwResult UseOutline(Reader* reader, snwPartData* data)
{
    double(*rows)[8] = NULL;
    int count;
    snwResult result = ReadBlueprintRows(reader, "outline", data->outline, 3, 3, 3, &rows, &count);
    if (result < 0)
        return result;
    snwVec3 centre, normal;

    // The outline's own plane is the part's frame.
    FindPlane((const double(*)[8])rows, count, &centre, &normal);
    if (snwVec3_LengthSquared(normal) == 0)
        return snwJson_Fail(&reader->json, NULL, "the outline has no area");
    data->part.frame = (snwTransform){centre, snwQuat_Between((snwVec3){0, 0, 1}, normal)};
    // Corners stay as drawn; otherwise a closed curve through the points, four samples each.
    int steps = data->corners ? 1 : 4;
    data->part.points = snwArena_Alloc(reader->arena, (size_t)steps * (size_t)count, sizeof *data->part.points);
    if (data->part.points == NULL)
        return FailMemory(reader);
    data->part.pointCount = steps * count;

    for (int i = 0; i < steps * count; ++i)
    {
        double t = (double)(i % steps) / steps;
        snwVec3 p = {ClosedCurve((const double(*)[8])rows, count, i / steps, t, 0),
            ClosedCurve((const double(*)[8])rows, count, i / steps, t, 1),
            ClosedCurve((const double(*)[8])rows, count, i / steps, t, 2)};
        p = snwTransform_ApplyInverse(data->part.frame, p);
        data->part.points[i] = (snwFleshPoint){{p.x, p.y, 0}, 0, -1};
    }

    data->part.size = (snwVec3){0, 0, 0.5 * data->thickness};
    return snw_ok;
}

static snwResult UseShape(Reader* reader, snwPartData* data)
{
    snwFleshPart* part = &data->part;
    part->flatAxis = snwVec3_Normalize(part->flatAxis);

    // Some kinds need more than their fields as they were read.
    switch ((int)part->kind)
    {
        case snw_partCapsule:
        case snw_partCone:
            return UseTwoPoints(reader, data);
        case snw_partSweep:
            return UsePoints(reader, data);
        case snw_partCoil:
            return UseCoil(reader, data);
        case snw_partFin:
            return UseOutline(reader, data);
        case snw_partTorus:
            part->size = (snwVec3){data->radius, data->tube, 0};
            return snw_ok;
        case snw_partBox:
            part->round = fmin(part->round, fmin(part->size.x, fmin(part->size.y, part->size.z)));
            return snw_ok;
        default:
            return snw_ok;
    }
}

static int FindGroup(Reader* reader, const char* name)
{
    if (name == NULL)
        name = "";
    for (int i = 0; i < reader->groupCount; ++i)
        if (strcmp(reader->groups[i], name) == 0)
            return i;
    reader->groups[reader->groupCount] = name;
    return reader->groupCount++;
}

static snwResult AddFleshPart(Reader* reader, snwFleshPart part, const char* bone, const char* group)
{
    snwResult result = FindBlueprintBone(reader, "bone", bone, &part.bone);
    if (result < 0)
        return result;
    if (part.rigid && part.bone < 0)
        return snwJson_Fail(&reader->json, "name its bone", "a rigid part needs a bone to belong to");
    part.group = FindGroup(reader, group);
    if (part.color[0] < 0)
        memcpy(part.color, reader->out->color, sizeof part.color);
    reader->out->flesh.parts[reader->out->flesh.partCount++] = part;
    return snw_ok;
}

static bool MirrorPart(Reader* reader, snwFleshPart* part)
{
    part->points = snwArena_Copy(reader->arena, part->points, (size_t)part->pointCount, sizeof *part->points);
    if (part->pointCount > 0 && part->points == NULL)
        return false;
    part->frame = (snwTransform){MirrorPoint(part->frame.position), MirrorRotation(part->frame.rotation)};
    part->flatAxis = MirrorPoint(part->flatAxis);
    for (int i = 0; i < part->pointCount; ++i) // those of a fin are in its frame, which was mirrored in its own x
        part->points[i].at = MirrorPoint(part->points[i].at);
    return true;
}

static snwResult ReadFleshPart(Reader* reader, const json_t* value)
{
    snwPartData data;
    snwResult result = snwTable_Read(&reader->json, &snw_partTable, value, &data, NULL);
    if (result == snw_ok)
        result = UseShape(reader, &data);
    if (result == snw_ok)
        result = AddFleshPart(reader, data.part, data.bone, data.group);
    if (result < 0 || !data.mirror)
        return result;
    const char *bone = MirrorName(reader, data.bone), *group = MirrorName(reader, data.group);
    if (!MirrorPart(reader, &data.part) || reader->arena->failed)
        return FailMemory(reader);
    return AddFleshPart(reader, data.part, bone, group);
}

// Parts of a group behind each other, groups in the order in which they were first named.
static bool SortParts(Reader* reader)
{
    snwFlesh* flesh = &reader->out->flesh;
    snwFleshPart* sorted = snwArena_Alloc(reader->arena, (size_t)flesh->partCount, sizeof *sorted);
    if (flesh->partCount > 0 && sorted == NULL)
        return false;
    int count = 0;
    for (int group = 0; group < reader->groupCount; ++group)
        for (int i = 0; i < flesh->partCount; ++i)
            if (flesh->parts[i].group == group)
                sorted[count++] = flesh->parts[i];
    flesh->parts = sorted;
    return true;
}

static snwResult FinishFlesh(Reader* reader)
{
    snwBlueprint* out = reader->out;
    snwFleshBone* bones = snwArena_Alloc(reader->arena, (size_t)out->boneCount + 1, sizeof *bones);
    if (bones == NULL || !SortParts(reader))
        return FailMemory(reader);
    for (int i = 0; i < out->boneCount; ++i)
        bones[i] = (snwFleshBone){out->bones[i].head, out->bones[i].tail, out->bones[i].radius};
    out->flesh.bones = bones;
    out->flesh.boneCount = out->boneCount;
    return snwFlesh_Prepare(&out->flesh, reader->arena) ? snw_ok : FailMemory(reader);
}

// ---------------------------------------------------------------------------------------------------------------------
// Ribbons

static snwResult ReadHolders(Reader* reader, const json_t* list, snwRibbon* ribbon)
{
    snwResult result = snw_ok;
    int* holders = NewList(reader, "held_by", list, sizeof *holders, &result);
    for (size_t i = 0; i < json_array_size(list) && result == snw_ok; ++i)
    {
        const char* name = json_string_value(json_array_get(list, i));
        result = FindBlueprintBone(reader, "held_by", name != NULL ? name : "", &holders[i]);
    }
    ribbon->holders = holders;
    ribbon->holderCount = (int)json_array_size(list);
    return result;
}

static snwResult ReadRibbon(Reader* reader, const json_t* value)
{
    snwRibbonData data;
    double(*rows)[8] = NULL;
    snwResult result = snwTable_Read(&reader->json, &snw_ribbonTable, value, &data, NULL);
    if (result == snw_ok)
        result = ReadBlueprintRows(reader, "points", data.points, 2, 3, 3, &rows, &data.ribbon.pointCount);
    if (result == snw_ok && data.holders != NULL)
        result = ReadHolders(reader, data.holders, &data.ribbon);
    if (result < 0)
        return result;
    // Points, then what they are made of.
    snwRibbon* ribbon = &data.ribbon;
    ribbon->points = snwArena_Alloc(reader->arena, (size_t)ribbon->pointCount, sizeof *ribbon->points);
    if (ribbon->points == NULL || rows == NULL)
        return FailMemory(reader);
    for (int i = 0; i < ribbon->pointCount; ++i)
        ribbon->points[i] = (snwFleshPoint){{rows[i][0], rows[i][1], rows[i][2]}, 0, -1};

    // Angles are in degrees, and a ribbon without a colour has the body's.
    ribbon->across = snwVec3_Normalize(ribbon->across);
    ribbon->twist = data.twist * SNW_PI / 180;
    if (ribbon->color[0] < 0)
        memcpy(ribbon->color, reader->out->color, sizeof ribbon->color);
    reader->out->ribbons[reader->out->ribbonCount++] = *ribbon;

    return snw_ok;
}

// ---------------------------------------------------------------------------------------------------------------------
// Motions

static snwQuat FromDegrees(const double* angles)
{
    double unit = SNW_PI / 180;
    snwQuat x = snwQuat_FromAxisAngle((snwVec3){1, 0, 0}, angles[0] * unit);
    snwQuat y = snwQuat_FromAxisAngle((snwVec3){0, 1, 0}, angles[1] * unit);
    snwQuat z = snwQuat_FromAxisAngle((snwVec3){0, 0, 1}, angles[2] * unit);
    return snwQuat_Mul(z, snwQuat_Mul(y, x));
}

// The axis of the first joint of a bone, for keys that only have an angle; x without one.
static snwVec3 TrackAxis(const snwBlueprint* blueprint, int bone)
{
    for (int i = 0; i < blueprint->jointCount; ++i)
        if (blueprint->joints[i].bone == bone)
            return blueprint->joints[i].axis;
    return (snwVec3){1, 0, 0};
}

static snwResult ReadTrackKeys(Reader* reader, const json_t* list, double duration, snwTrackDef* track)
{
    double(*rows)[8] = NULL;
    snwResult result = ReadBlueprintRows(reader, "keys", list, 1, 4, 7, &rows, &track->keyCount);
    if (result < 0)
        return result;
    snwKey* keys = snwArena_Alloc(reader->arena, (size_t)track->keyCount, sizeof *keys);
    if (keys == NULL)
        return FailMemory(reader);

    // In the order of time and within the motion; a key is an angle about the joint's axis, or three angles and an
    // offset.
    for (int i = 0; i < track->keyCount; ++i)
    {
        if (rows[i][0] < 0 || rows[i][0] > duration || (i > 0 && rows[i][0] <= rows[i - 1][0]))
            return snwJson_Fail(&reader->json, "put the keys in the order of time",
                "the time of keys[%d] must be later than the one before it and at most %.6g", i, duration);
        bool angle = json_array_size(json_array_get(list, (size_t)i)) == 2;
        snwQuat turn = angle ? snwQuat_FromAxisAngle(TrackAxis(reader->out, track->bone), rows[i][1] * SNW_PI / 180)
                             : FromDegrees(&rows[i][1]);
        keys[i] = (snwKey){rows[i][0], {{rows[i][4], rows[i][5], rows[i][6]}, turn}};
    }

    track->keys = keys;
    return snw_ok;
}

// The same on the other side, `phase` of a round later.
static bool MirrorTrack(Reader* reader, snwTrackDef* track, double duration, double phase)
{
    snwKey* keys = snwArena_Alloc(reader->arena, (size_t)track->keyCount, sizeof *keys);
    if (keys == NULL)
        return false;
    int first = 0, count = track->keyCount;
    // In a loop the last key is the first one again.
    if (phase > 0 && count > 1 && track->keys[count - 1].time >= duration && track->keys[0].time == 0)
        --count; // the same moment twice

    // Keys in the order of their new times: the first that comes round the end is the new first.
    while (first < count && track->keys[first].time + phase * duration < duration)
        ++first;

    // Later by the phase, round the end of a loop, and reflected.
    for (int i = 0; i < count; ++i)
    {
        snwKey key = track->keys[(first + i) % count];
        key.time += phase * duration - (key.time + phase * duration >= duration && phase > 0 ? duration : 0);
        key.transform.position = MirrorPoint(key.transform.position);
        key.transform.rotation = MirrorRotation(key.transform.rotation);
        keys[i] = key;
    }

    track->keys = keys;
    track->keyCount = count;
    return true;
}

static snwResult ReadBlueprintTrack(Reader* reader, const json_t* value)
{
    snwMotionDef* motion = &reader->out->motions[reader->out->motionCount];
    snwTrackDef* tracks = (snwTrackDef*)motion->tracks;
    snwTrackDef track = snwDefaultTrackDef();
    snwTrackData data;
    snwResult result = snwTable_Read(&reader->json, &snw_trackTable, value, &data, NULL);

    // The track of the bone itself, then its twin's.
    if (result == snw_ok)
        result = CheckTwin(reader, data.bone, data.mirror);
    if (result == snw_ok)
        result = FindBlueprintBone(reader, "bone", data.bone, &track.bone);
    if (result == snw_ok)
        result = ReadTrackKeys(reader, data.keys, motion->duration, &track);
    if (result < 0)
        return result;
    tracks[motion->trackCount++] = track;
    if (!data.mirror)
        return snw_ok;
    result = FindBlueprintBone(reader, "bone", MirrorName(reader, data.bone), &track.bone);
    if (result == snw_ok && !MirrorTrack(reader, &track, motion->duration, motion->loop ? data.phase : 0))
        result = FailMemory(reader);
    tracks[motion->trackCount++] = track;

    return result;
}

static snwResult ReadMotion(Reader* reader, const json_t* value)
{
    snwMotionData data;
    snwResult result = snwTable_Read(&reader->json, &snw_motionTable, value, &data, NULL);
    if (result < 0)
        return result;
    data.def.tracks = NewList(reader, "tracks", data.tracks, sizeof(snwTrackDef), &result);
    reader->out->motions[reader->out->motionCount] = data.def;
    ReadItems(reader, "tracks", data.tracks, ReadBlueprintTrack, &result);
    reader->out->motionCount++;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The file

static void MakeLists(Reader* reader, const snwBlueprintData* data, snwResult* result)
{
    snwBlueprint* out = reader->out;

    // Twice as many bones and parts as written, for mirrored ones.
    size_t bones = json_array_size(data->bones) + json_array_size(data->handles);
    size_t parts = json_array_size(data->parts);

    out->handles = NewList(reader, "handles", data->handles, sizeof *out->handles, result);
    out->joints = NewList(reader, "joints", data->joints, sizeof *out->joints, result);
    out->flesh.parts = NewList(reader, "parts", data->parts, sizeof *out->flesh.parts, result);
    out->ribbons = NewList(reader, "ribbons", data->ribbons, sizeof *out->ribbons, result);
    out->motions = NewList(reader, "motions", data->motions, sizeof *out->motions, result);
    if (*result == snw_ok && bones > 2 * snw_maxParts)
        *result = snwJson_Fail(&reader->json, NULL, "has too many bones");
    if (*result < 0)
        return;
    // Names are resolved when all bones are there.
    out->bones = snwArena_Alloc(reader->arena, 2 * bones + 1, sizeof *out->bones);
    reader->parents = snwArena_Alloc(reader->arena, 2 * bones + 1, sizeof *reader->parents);
    reader->groups = snwArena_Alloc(reader->arena, 2 * parts + 1, sizeof *reader->groups);
    if (reader->arena->failed)
        *result = FailMemory(reader);
}

static snwResult ReadBox(Reader* reader, const json_t* value)
{
    snwBoxData box;
    if (value == NULL)
        return snw_ok;
    size_t mark = snwJson_Enter(&reader->json, "box");
    snwResult result = snwTable_Read(&reader->json, &snw_boxTable, value, &box, NULL);
    if (result < 0)
        return result;
    snwJson_Leave(&reader->json, mark);
    reader->out->boxSize = box.size;
    memcpy(reader->out->boxCells, box.cells, sizeof box.cells);
    return snw_ok;
}

static snwResult CheckBlueprintBody(Reader* reader, const snwBlueprintData* data)
{
    bool flesh = false;
    for (int i = 0; i < reader->out->flesh.partCount; ++i)
        flesh = flesh || reader->out->flesh.parts[i].op == snw_partAdd;
    int bodies = flesh + (data->box != NULL) + (data->outline != NULL);
    if (bodies != 1)
        return snwJson_Fail(&reader->json, NULL,
            bodies == 0 ? "has no 'parts', 'box' or 'outline' to make a body of"
                        : "has more than one of 'parts', 'box' and 'outline'");
    return snw_ok;
}

static snwResult ReadDocument(Reader* reader, const json_t* document)
{
    snwBlueprintData data;
    snwBlueprint* out = reader->out;
    snwResult result = snwTable_Read(&reader->json, &snw_blueprintTable, document, &data, NULL);
    if (result < 0)
        return result;

    // What stands in the file, then the lists in the order in which they refer to each other.
    out->name = data.name;
    out->description = data.description != NULL ? data.description : "";
    out->material = data.material;
    memcpy(out->color, data.color, sizeof out->color);
    out->size = data.size;
    out->detail = data.detail;
    out->coarse = data.coarse;

    // Bones before joints and parts, as these name them.
    MakeLists(reader, &data, &result);
    ReadItems(reader, "bones", data.bones, ReadBlueprintBone, &result);
    ReadItems(reader, "handles", data.handles, ReadBlueprintHandle, &result);
    result = result == snw_ok ? FindBoneParents(reader) : result;
    ReadItems(reader, "joints", data.joints, ReadBlueprintJoint, &result);
    ReadItems(reader, "parts", data.parts, ReadFleshPart, &result);
    ReadItems(reader, "ribbons", data.ribbons, ReadRibbon, &result);
    ReadItems(reader, "motions", data.motions, ReadMotion, &result);

    // The body: a box, an outline with paint, or parts.
    result = result == snw_ok ? ReadBox(reader, data.box) : result;
    if (result == snw_ok && data.outline != NULL)
        result = snwFlat_ReadJson(&reader->json, data.outline, data.paint, reader->arena, &out->flat);
    memcpy(out->flat.color, data.color, sizeof data.color);
    if (result == snw_ok)
        result = snwConstraints_ReadJson(&reader->json, data.constraints, reader->arena, out);
    result = result == snw_ok ? CheckBlueprintBody(reader, &data) : result;

    return result == snw_ok ? FinishFlesh(reader) : result;
}

static snwResult ReadFrom(const snwJson* json, const json_t* document, snwBlueprintFile* blueprint)
{
    Reader reader = {.json = *json, .arena = &blueprint->arena, .out = &blueprint->blueprint};
    return ReadDocument(&reader, document);
}

snwResult snwBlueprintFile_FromJson(snwJson* json, const json_t* value, snwBlueprintFile* blueprint)
{
    *blueprint = (snwBlueprintFile){.arena = {.context = json->context}};
    return ReadFrom(json, value, blueprint);
}

snwResult snwBlueprintFile_Read(snwContext* context, const char* file, const char* text, size_t size,
    snwBlueprintFile* blueprint, snwMessage* message)
{
    *blueprint = (snwBlueprintFile){.arena = {.context = context}};
    snwJson json = {.context = context, .message = message, .file = file};
    snwResult result = snw_ok;
    blueprint->document = snwJson_Parse(&json, text, size, &result);
    return result == snw_ok ? ReadFrom(&json, blueprint->document, blueprint) : result;
}

snwResult snwBlueprintFile_Open(snwContext* context, const char* name, snwBlueprintFile* blueprint, snwMessage* message)
{
    *blueprint = (snwBlueprintFile){.arena = {.context = context}};

    // Names without .json are built-in characters; an unknown one gets the nearest as a hint.
    if (!snwHasEnding(name, ".json"))
    {
        const snwBuiltIn* builtIn = snwBuiltIn_Find(name);
        if (builtIn != NULL)
            return snwBlueprintFile_Read(context, name, builtIn->text, builtIn->size, blueprint, message);
        char remedy[240];
        snwSuggestWord(remedy, sizeof remedy, name, snwBuiltInCount(), snwBuiltInWord, NULL);
        return snwFail(message, snw_errorInput, remedy, "there is no character '%s'", snwQuoteWord(name).text);
    }

    char* text = NULL;
    size_t size = 0;
    snwResult result = snwFile_Read(context, name, snw_maxBlueprintBytes, &text, &size, message);
    if (result == snw_ok)
        result = snwBlueprintFile_Read(context, name, text, size, blueprint, message);
    snwFree(context, text);

    return result;
}

bool snwBlueprintFile_OfCharacter(snwContext* context, const char* source, snwBlueprintFile* blueprint)
{
    *blueprint = (snwBlueprintFile){.arena = {.context = context}};
    snwJson json = {.context = context, .file = ""};
    snwResult result = snw_ok;
    json_t* document = snwJson_Parse(&json, source, strlen(source), &result);
    const json_t* value = json_object_get(document, "blueprint");
    if (json_is_string(value) && snwBuiltIn_Find(json_string_value(value)) != NULL)
        result = snwBlueprintFile_Open(context, json_string_value(value), blueprint, NULL);
    else if (json_is_object(value))
        result = snwBlueprintFile_FromJson(&json, value, blueprint);
    else
        result = snw_errorInput;
    if (json_is_object(value) && result >= 0)
        blueprint->document = document; // the names are in it
    else
        json_decref(document);
    return result >= 0;
}

bool snwBlueprintFile_IsOne(snwContext* context, const char* path)
{
    char* text = NULL;
    size_t size = 0;
    snwResult result = snwFile_Read(context, path, snw_maxBlueprintBytes, &text, &size, NULL);
    snwJson json = {.context = context, .file = path};
    json_t* document = result >= 0 ? snwJson_Parse(&json, text, size, &result) : NULL;
    bool is = json_object_get(document, "parts") != NULL || json_object_get(document, "box") != NULL ||
              json_object_get(document, "outline") != NULL;
    json_decref(document);
    snwFree(context, text);
    return is;
}

void snwBlueprintFile_Free(snwBlueprintFile* blueprint)
{
    snwArena_Free(&blueprint->arena);
    json_decref(blueprint->document);
    *blueprint = (snwBlueprintFile){0};
}
