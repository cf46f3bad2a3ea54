// Tables of everything that a blueprint file may say: keys, ranges, units, defaults and help. Reading, writing, the
// schema and the documents all come from these.

#include "scene/blueprint_tables.h"
#include "scene/material_changes.h"
#include "scene/constraints_file.h"
#include "scene/flat_file.h"
#include "math/transform.h"
#include "sim/limits.h"
#include "sim/vocabulary.h"

#define FAR  .lower = -SNW_MAX_POSITION, .upper = SNW_MAX_POSITION, .unit = "m"
#define SIZE .lower = SNW_MIN_SIZE, .upper = SNW_MAX_SIZE, .unit = "m"

#define FIELD(T, member, k, t, ...)                                                                                    \
    {                                                                                                                  \
        .key = k, .type = t, .offset = offsetof(T, member), __VA_ARGS__                                                \
    }
#define NAME(T, member, text)             FIELD(T, member, "name", snw_fieldText, .required = true, .help = text)
#define RAW(T, member, k, how, sub, text) FIELD(T, member, k, snw_fieldRaw, .schema = how, .table = sub, .help = text)
#define COLOR(T, member, text)            FIELD(T, member, "color", snw_fieldColor, .lower = 0, .upper = 1, .help = text)
#define MIRROR(T, text)                   FIELD(T, mirror, "mirror", snw_fieldBool, .help = text)
#define BIT(kind)                         (1u << (kind))

// ---------------------------------------------------------------------------------------------------------------------
// Sizes

#define COUNT(member, k, text)                                                                                         \
    FIELD(snwBlueprintSize, member, k, snw_fieldInt, .lower = 0, .upper = snw_maxTets, .help = text)

static const snwField s_sizeFields[] = {
    COUNT(tets, "tets", "tetrahedra; met within 5 %"),
    COUNT(elasticVertices, "elastic_vertices", "vertices that no bone owns; met within 10 %"),
    COUNT(vertices, "vertices", "vertices in all; met within 5 %"),
    COUNT(skinVertices, "skin_vertices", "vertices of the skin; met within 5 %"),
    COUNT(hexes, "hexes", "hexahedra instead of tetrahedra; met within 5 %"),
    COUNT(triangles, "triangles", "triangles of a flat character; met within 5 %"),
    FIELD(snwBlueprintSize, refine, "refine", snw_fieldInt, .lower = 0, .upper = 64,
        .help = "a box of cells gets this many times as many along each axis"),
};

const snwTable snw_blueprintSizeTable = {"size", "How large a mesh is asked for; what is absent or 0 comes as it may",
    SNW_TABLE_FIELDS(s_sizeFields), sizeof(snwBlueprintSize), NULL, NULL};

static const snwField s_boxFields[] = {
    FIELD(snwBoxData, size, "size", snw_fieldVec3, SIZE, .required = true, .help = "length of its sides"),
    FIELD(snwBoxData, cells, "cells", snw_fieldInt3, .lower = 1, .upper = 512, .required = true,
        .help = "cells along each axis, six tetrahedra each"),
};

const snwTable snw_boxTable = {"box", "A box of cells around the origin, instead of parts",
    SNW_TABLE_FIELDS(s_boxFields), sizeof(snwBoxData), NULL, NULL};

// ---------------------------------------------------------------------------------------------------------------------
// Skeleton

static const char* const s_shapeNames[] = {"none", "sphere", "box", "capsule", NULL};

enum
{
    snw_roundShapes = 1 << snw_colliderSphere | 1 << snw_colliderCapsule,
    snw_placedShapes = 1 << snw_colliderSphere | 1 << snw_colliderBox,
};

#define SHAPE(member, k, t, ...) FIELD(snwBoneShapeData, member, k, t, __VA_ARGS__)

static const snwField s_shapeFields[] = {
    SHAPE(shape.kind, "kind", snw_fieldChoice, .required = true, .names = s_shapeNames, .help = "what it is like"),
    SHAPE(shape.place.position, "at", snw_fieldVec3, FAR, .kinds = snw_placedShapes, .required = true,
        .help = "its centre"),
    SHAPE(shape.place.rotation, "angles", snw_fieldAngles, .lower = -3600, .upper = 3600, .unit = "degrees",
        .kinds = BIT(snw_colliderBox), .help = "turns about the world's x, then y, then z"),
    SHAPE(shape.size, "half", snw_fieldVec3, SIZE, .kinds = BIT(snw_colliderBox), .required = true,
        .help = "half the length of its sides"),
    SHAPE(radius, "radius", snw_fieldReal, SIZE, .kinds = snw_roundShapes, .required = true, .help = "of its surface"),
    SHAPE(from, "from", snw_fieldVec3, FAR, .kinds = BIT(snw_colliderCapsule), .required = true,
        .help = "where it begins"),
    SHAPE(to, "to", snw_fieldVec3, FAR, .kinds = BIT(snw_colliderCapsule), .required = true, .help = "where it ends"),
    SHAPE(shape.cells, "soft", snw_fieldInt3, .lower = 1, .upper = 20, .kinds = BIT(snw_colliderBox),
        .help = "its skin is soft: cells along each of its sides, whose corners are its points"),
};

static void InitBoneShape(void* object, int kind)
{
    (void)kind;
    ((snwBoneShapeData*)object)->shape.place = snwIdentityTransform();
}

const snwTable snw_boneShapeTable = {"bone_shape", "What touches things in place of the flesh",
    SNW_TABLE_FIELDS(s_shapeFields), sizeof(snwBoneShapeData), "kind", InitBoneShape};

static const snwField s_boneFields[] = {
    NAME(snwBoneData, def.name, "unique; ends in .l where it is mirrored"),
    FIELD(snwBoneData, parent, "parent", snw_fieldText, .help = "the bone it follows in motions"),
    FIELD(snwBoneData, def.head, "head", snw_fieldVec3, FAR, .required = true, .help = "where it begins"),
    FIELD(snwBoneData, def.tail, "tail", snw_fieldVec3, FAR, .required = true, .help = "where it ends"),
    FIELD(snwBoneData, def.radius, "radius", snw_fieldReal, .lower = 0, .upper = SNW_MAX_SIZE, .unit = "m",
        .help = "the flesh this near to it is bone; 0 for a bone that only has rigid parts"),
    FIELD(snwBoneData, def.mass, "mass", snw_fieldReal, .lower = 0, .upper = SNW_MAX_MASS, .unit = "kg",
        .help = "what it weighs with all that is around it, in method softcontact; that of the mesh if absent"),
    FIELD(snwBoneData, def.centre, "centre", snw_fieldVec3, FAR,
        .help = "where its mass is, with an inertia; the middle of the bone if absent"),
    RAW(snwBoneData, inertia, "inertia", "numbers", NULL,
        "moments about the centre, x y z, and products xy yz zx, kg m^2; those of the mesh, as heavy, if absent"),
    RAW(snwBoneData, shape, "shape", "object", &snw_boneShapeTable,
        "what touches in place of the flesh, in method softcontact: if any bone has one, only shapes touch"),
    MIRROR(snwBoneData, "makes its twin .r on the other side of x = 0"),
};

static void InitBone(void* object, int kind)
{
    (void)kind;
    ((snwBoneData*)object)->def = snwDefaultBoneDef();
    ((snwBoneData*)object)->def.radius = 0;
}

const snwTable snw_boneTable = {
    "bone", "A rigid bone", SNW_TABLE_FIELDS(s_boneFields), sizeof(snwBoneData), NULL, InitBone};

static const snwField s_jointFields[] = {
    FIELD(snwJointData, def.name, "name", snw_fieldText, .help = "that of the bone if absent"),
    FIELD(snwJointData, def.type, "type", snw_fieldChoice, .required = true, .names = snw_jointTypeWords,
        .help = "what it leaves free"),
    FIELD(snwJointData, bone, "bone", snw_fieldText, .required = true, .help = "the child"),
    FIELD(snwJointData, parent, "parent", snw_fieldText, .help = "the other bone; that of the bone if absent"),
    FIELD(snwJointData, def.position, "at", snw_fieldVec3, FAR, .help = "where it is; the head of the bone if absent"),
    FIELD(snwJointData, def.axis, "axis", snw_fieldVec3, .lower = -1, .upper = 1,
        .help = "of a hinge; the twist axis of a ball; the first axis of a universal joint"),
    FIELD(snwJointData, def.axis2, "axis2", snw_fieldVec3, .lower = -1, .upper = 1,
        .help = "of a universal joint; of a ball with range2, at a right angle to the axis"),
    RAW(snwJointData, ranges[0], "range", "numbers", NULL,
        "lower and upper limit, degrees (m along the axis of prismatic and cylindrical ones)"),
    RAW(snwJointData, ranges[1], "range2", "numbers", NULL,
        "of the second axis of a universal joint (range if absent); of the swing of a ball about axis2, degrees"),
    RAW(snwJointData, ranges[2], "range3", "numbers", NULL,
        "of the swing of a ball about a third axis, axis x axis2, degrees"),
    FIELD(snwJointData, cone, "cone", snw_fieldReal, .lower = 0, .upper = 180, .unit = "degrees",
        .help = "how far a ball joint swings"),
    FIELD(snwJointData, def.stiffness, "stiffness", snw_fieldReal, .lower = 0, .upper = SNW_MAX_FORCE,
        .unit = "N m/rad", .help = "towards the rest pose"),
    FIELD(snwJointData, def.damping, "damping", snw_fieldReal, .lower = 0, .upper = SNW_MAX_FORCE, .unit = "N m s/rad",
        .help = "against motion"),
    MIRROR(snwJointData, "makes its twin of the bone .r"),
};

static void InitJoint(void* object, int kind)
{
    (void)kind;
    snwJointData* data = object;
    data->def = snwDefaultJointDef();
    data->def.name = NULL;
    data->cone = 180;
}

const snwTable snw_jointTable = {
    "joint", "Connects two bones", SNW_TABLE_FIELDS(s_jointFields), sizeof(snwJointData), NULL, InitJoint};

static const snwField s_handleFields[] = {
    NAME(snwHandleData, def.name, "unique; ends in .l where it is mirrored"),
    FIELD(snwHandleData, def.kind, "kind", snw_fieldChoice, .names = snw_handleKindWords,
        .help = "point: moves and turns; cage: moves; bone: turns about its head"),
    FIELD(snwHandleData, def.position, "at", snw_fieldVec3, FAR, .required = true, .help = "where it is"),
    FIELD(snwHandleData, tail, "tail", snw_fieldVec3, FAR, .help = "where a bone ends"),
    FIELD(snwHandleData, def.given, "given", snw_fieldMask, .names = snw_dofWords,
        .help = "what is not left to the simulation"),
    MIRROR(snwHandleData, "makes its twin .r"),
};

static void InitHandle(void* object, int kind)
{
    (void)kind;
    ((snwHandleData*)object)->def = snwDefaultHandleDef();
}

const snwTable snw_handleTable = {
    "handle", "What an animator drags", SNW_TABLE_FIELDS(s_handleFields), sizeof(snwHandleData), NULL, InitHandle};

// ---------------------------------------------------------------------------------------------------------------------
// Flesh

static const char* const s_partNames[] = {"ellipsoid", "box", "torus", "capsule", "cone", "sweep", "fin", "coil", NULL};
static const char* const s_opNames[] = {"add", "cut", "paint", NULL};

enum
{
    snw_framedParts = 1 << snw_partEllipsoid | 1 << snw_partBox | 1 << snw_partTorus,
    snw_twoPoints = 1 << snw_partCapsule | 1 << snw_partCone,
};

#define PART(member, k, t, ...) FIELD(snwPartData, member, k, t, __VA_ARGS__)

static const snwField s_partFields[] = {
    PART(part.kind, "kind", snw_fieldChoice, .required = true, .names = s_partNames, .help = "its shape"),
    PART(part.name, "name", snw_fieldText, .help = "for people"),
    PART(part.op, "op", snw_fieldChoice, .names = s_opNames,
        .help = "add: flesh; cut: takes away; paint: colours the surface inside of it"),
    PART(group, "group", snw_fieldText,
        .help = "parts of one group blend with each other; the group then with the rest"),
    PART(bone, "bone", snw_fieldText, .help = "that carries it in motions; the nearest if absent"),
    PART(part.rigid, "rigid", snw_fieldBool, .help = "it belongs to its bone whole: shell, horn, tooth, nail, eye"),
    PART(part.blend, "blend", snw_fieldReal, .lower = 0, .upper = SNW_MAX_SIZE, .unit = "m",
        .help = "how far away it begins to melt into the others; of paint: the width of its edge"),
    COLOR(snwPartData, part.color, "\"#rrggbb\" or three linear numbers; that of the character if absent"),
    MIRROR(snwPartData, "makes its twin on the other side of x = 0"),
    PART(part.frame.position, "at", snw_fieldVec3, FAR, .kinds = snw_framedParts | BIT(snw_partCoil),
        .help = "its centre"),
    PART(part.frame.rotation, "angles", snw_fieldAngles, .lower = -3600, .upper = 3600, .unit = "degrees",
        .kinds = snw_framedParts, .help = "turns about the world's x, then y, then z"),
    PART(part.size, "radii", snw_fieldVec3, SIZE, .kinds = BIT(snw_partEllipsoid), .required = true,
        .help = "along its own axes"),
    PART(part.size, "half", snw_fieldVec3, SIZE, .kinds = BIT(snw_partBox), .required = true,
        .help = "half the length of its sides"),
    PART(part.round, "round", snw_fieldReal, .lower = 0, .upper = SNW_MAX_SIZE, .unit = "m", .kinds = BIT(snw_partBox),
        .help = "radius of its edges"),
    PART(from, "from", snw_fieldVec3, FAR, .kinds = snw_twoPoints, .required = true, .help = "where it begins"),
    PART(to, "to", snw_fieldVec3, FAR, .kinds = snw_twoPoints, .required = true, .help = "where it ends"),
    PART(radius, "radius", snw_fieldReal, SIZE, .kinds = snw_twoPoints | BIT(snw_partTorus) | BIT(snw_partCoil),
        .required = true,
        .help = "of a capsule; where a cone begins; of the ring of a torus; of a coil, from its axis, where it begins"),
    PART(endRadius, "end_radius", snw_fieldReal, SIZE, .kinds = BIT(snw_partCone) | BIT(snw_partCoil), .required = true,
        .help = "where it ends"),
    PART(tube, "tube", snw_fieldReal, SIZE, .kinds = BIT(snw_partTorus) | BIT(snw_partCoil), .required = true,
        .help = "radius of the tube"),
    PART(endTube, "end_tube", snw_fieldReal, SIZE, .kinds = BIT(snw_partCoil), .required = true,
        .help = "radius of the tube where it ends"),
    PART(turns, "turns", snw_fieldReal, .lower = 0.05, .upper = 50, .kinds = BIT(snw_partCoil), .required = true,
        .help = "how often it goes around"),
    PART(rise, "rise", snw_fieldReal, FAR, .kinds = BIT(snw_partCoil), .help = "how far it goes along its axis"),
    PART(axis, "axis", snw_fieldVec3, .lower = -1, .upper = 1, .kinds = BIT(snw_partCoil), .required = true,
        .help = "it goes around this, by the right-hand rule"),
    PART(start, "start", snw_fieldVec3, .lower = -1, .upper = 1, .kinds = BIT(snw_partCoil), .required = true,
        .help = "direction from the axis to where it begins"),
    PART(points, "points", snw_fieldRaw, .schema = "points", .kinds = BIT(snw_partSweep), .required = true,
        .help = "[x, y, z, radius] of each point of the curve"),
    PART(part.flatness, "flatness", snw_fieldReal, .lower = 0.02, .upper = 1,
        .kinds = BIT(snw_partSweep) | BIT(snw_partCoil) | snw_twoPoints,
        .help = "its profile is this much thinner along flat_axis"),
    PART(part.flatAxis, "flat_axis", snw_fieldVec3, .lower = -1, .upper = 1,
        .kinds = BIT(snw_partSweep) | BIT(snw_partCoil) | snw_twoPoints, .help = "direction of its thinness"),
    PART(outline, "outline", snw_fieldRaw, .schema = "points", .kinds = BIT(snw_partFin), .required = true,
        .help = "[x, y, z] of the points around it, in one plane"),
    PART(thickness, "thickness", snw_fieldReal, SIZE, .kinds = BIT(snw_partFin), .required = true,
        .help = "from one side to the other"),
    PART(corners, "corners", snw_fieldBool, .kinds = BIT(snw_partFin), .help = "keeps the corners of the outline"),
};

static void InitPart(void* object, int kind)
{
    (void)kind;
    snwPartData* data = object;
    data->part.frame = snwIdentityTransform();
    data->part.flatness = 1;
    data->part.flatAxis = (snwVec3){1, 0, 0};
    data->part.color[0] = -1; // not given
}

const snwTable snw_partTable = {
    "part", "A piece of flesh", SNW_TABLE_FIELDS(s_partFields), sizeof(snwPartData), "kind", InitPart};

static const snwField s_ribbonFields[] = {
    NAME(snwRibbonData, ribbon.name, "for people"),
    FIELD(snwRibbonData, points, "points", snw_fieldRaw, .schema = "points", .required = true,
        .help = "[x, y, z] of each point of the curve along its middle"),
    FIELD(snwRibbonData, ribbon.across, "across", snw_fieldVec3, .lower = -1, .upper = 1, .required = true,
        .help = "direction of its width where it begins"),
    FIELD(snwRibbonData, ribbon.width, "width", snw_fieldReal, SIZE, .required = true, .help = "from edge to edge"),
    FIELD(snwRibbonData, ribbon.thickness, "thickness", snw_fieldReal, SIZE, .required = true, .help = "of the band"),
    FIELD(snwRibbonData, twist, "twist", snw_fieldReal, .lower = -36000, .upper = 36000, .unit = "degrees",
        .help = "from its beginning to its end"),
    FIELD(snwRibbonData, ribbon.cells, "cells", snw_fieldInt3, .lower = 1, .upper = 4096, .required = true,
        .help = "along, across and through it, six tetrahedra each"),
    RAW(snwRibbonData, holders, "held_by", "names", NULL, "bones that hold what is near to them"),
    FIELD(snwRibbonData, ribbon.grip, "grip", snw_fieldReal, .lower = 0, .upper = SNW_MAX_SIZE, .unit = "m",
        .help = "how near"),
    COLOR(snwRibbonData, ribbon.color, "\"#rrggbb\" or three linear numbers"),
    FIELD(snwRibbonData, ribbon.material, "material", snw_fieldObject, .table = &snw_materialTable,
        .help = "what the band is made of; that of the flesh if absent"),
};

static void InitRibbon(void* object, int kind)
{
    (void)kind;
    ((snwRibbonData*)object)->ribbon.color[0] = -1; // not given
    ((snwRibbonData*)object)->ribbon.material = (snwMaterial){0};
}

const snwTable snw_ribbonTable = {"ribbon", "A thin band with cells of its own", SNW_TABLE_FIELDS(s_ribbonFields),
    sizeof(snwRibbonData), NULL, InitRibbon};

// ---------------------------------------------------------------------------------------------------------------------
// Motions

static const snwField s_motionFields[] = {
    NAME(snwMotionData, def.name, "walk, swim, nod ..."),
    FIELD(snwMotionData, def.duration, "duration", snw_fieldReal, .lower = 1e-3, .upper = SNW_MAX_SECONDS, .unit = "s",
        .required = true, .help = "of one round"),
    FIELD(snwMotionData, def.loop, "loop", snw_fieldBool, .help = "begins again at its end"),
    RAW(snwMotionData, tracks, "tracks", "list", &snw_trackTable, "one per bone that moves by itself"),
};

static void InitMotion(void* object, int kind)
{
    (void)kind;
    ((snwMotionData*)object)->def = snwDefaultMotionDef();
}

const snwTable snw_motionTable = {"motion", "What an animator does with the skeleton", SNW_TABLE_FIELDS(s_motionFields),
    sizeof(snwMotionData), NULL, InitMotion};

static const snwField s_trackFields[] = {
    FIELD(snwTrackData, bone, "bone", snw_fieldText, .required = true, .help = "that moves about its joint"),
    FIELD(snwTrackData, keys, "keys", snw_fieldRaw, .schema = "points", .required = true,
        .help =
            "[time, degrees about x, y, z] of each key, and x, y, z in m if it also moves; or [time, degrees about the "
            "axis of its joint]"),
    MIRROR(snwTrackData, "the bone .r does the same on its side"),
    FIELD(snwTrackData, phase, "phase", snw_fieldReal, .lower = 0, .upper = 1,
        .help = "how much later the mirrored bone does it, as a share of the duration"),
};

const snwTable snw_trackTable = {
    "track", "One bone's part of a motion", SNW_TABLE_FIELDS(s_trackFields), sizeof(snwTrackData), NULL, NULL};

// ---------------------------------------------------------------------------------------------------------------------
// The file

static const snwField s_blueprintFields[] = {
    FIELD(snwBlueprintData, format, "sinew", snw_fieldInt, .lower = 1, .upper = 1, .required = true,
        .help = "version of the format"),
    FIELD(snwBlueprintData, schema, "$schema", snw_fieldText, .upper = 1000, .help = "for editors"),
    NAME(snwBlueprintData, name, "what it is called"),
    FIELD(snwBlueprintData, description, "description", snw_fieldText, .upper = 1000, .help = "for people"),
    FIELD(snwBlueprintData, material, "material", snw_fieldObject, .table = &snw_materialTable, .help = "of its flesh"),
    COLOR(snwBlueprintData, color, "of parts that have none"),
    FIELD(snwBlueprintData, size, "size", snw_fieldObject, .table = &snw_blueprintSizeTable,
        .help = "the mesh it is made for"),
    FIELD(snwBlueprintData, detail, "detail", snw_fieldReal, .lower = 1, .upper = 8,
        .help = "how much smaller cells may be where it is thin"),
    FIELD(snwBlueprintData, coarse, "coarse", snw_fieldBool, .help = "cells double deep inside"),
    FIELD(snwBlueprintData, box, "box", snw_fieldRaw, .schema = "object", .table = &snw_boxTable,
        .help = "a box of cells instead of parts"),
    RAW(snwBlueprintData, bones, "bones", "list", &snw_boneTable, "the skeleton"),
    RAW(snwBlueprintData, joints, "joints", "list", &snw_jointTable, "between bones"),
    RAW(snwBlueprintData, parts, "parts", "list", &snw_partTable, "the flesh, melted together in this order"),
    RAW(snwBlueprintData, ribbons, "ribbons", "list", &snw_ribbonTable, "thin bands"),
    RAW(snwBlueprintData, handles, "handles", "list", &snw_handleTable, "what an animator drags"),
    RAW(snwBlueprintData, constraints, "constraints", "list", &snw_constraintTable,
        "sums of degrees of freedom of the handles that stay"),
    RAW(snwBlueprintData, motions, "motions", "list", &snw_motionTable, "what an animator did"),
    RAW(snwBlueprintData, outline, "outline", "list", &snw_flatRingTable, "of a flat character"),
    RAW(snwBlueprintData, paint, "paint", "list", &snw_paintTable, "what is drawn on a flat character"),
};

static void InitBlueprint(void* object, int kind)
{
    (void)kind;
    snwBlueprintData* data = object;
    data->material = snwDefaultMaterial();
    data->detail = 1;
    data->color[0] = data->color[1] = data->color[2] = 0.5f;
}

const snwTable snw_blueprintTable = {"blueprint", "A skeleton and implicit flesh, or an outline",
    SNW_TABLE_FIELDS(s_blueprintFields), sizeof(snwBlueprintData), NULL, InitBlueprint};

// ---------------------------------------------------------------------------------------------------------------------
// In scenes

static const snwField s_useFields[] = {
    FIELD(snwBlueprintUse, blueprint, "blueprint", snw_fieldRaw, .schema = "blueprint", .required = true,
        .help = "a built-in character by name, or a blueprint as in characters/"),
    FIELD(snwBlueprintUse, size, "size", snw_fieldObject, .table = &snw_blueprintSizeTable,
        .help = "the mesh to make of it; that of the blueprint if absent"),
    FIELD(snwBlueprintUse, material, "material", snw_fieldRaw, .schema = "object", .table = &snw_materialTable,
        .help = "what is absent is as in the blueprint"),
    FIELD(snwBlueprintUse, fine, "fine", snw_fieldInt, .upper = 64,
        .help = "of a flat character: what is shown has so many times as many triangles; 0: as many"),
    RAW(snwBlueprintUse, constraints, "constraints", "list", &snw_constraintTable,
        "between its handles, behind those of the blueprint"),
    RAW(snwBlueprintUse, materials, "materials", "list", &snw_materialChangeTable,
        "what is other than the blueprint and material say, also of one region; the last of two counts"),
};

const snwTable snw_blueprintUseTable = {
    "built_in", "A character from a blueprint", SNW_TABLE_FIELDS(s_useFields), sizeof(snwBlueprintUse), NULL, NULL};
