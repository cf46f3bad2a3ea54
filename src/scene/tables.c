// What a scene file may say. Help texts, units and ranges here are the ones that the schema publishes.

#include "scene/tables.h"
#include "scene/gestures.h"
#include "scene/material_changes.h"
#include "sim/limits.h"
#include "sim/presets.h"
#include "sim/vocabulary.h"

// Beyond a thousand kilometres single precision has no millimetres left.
#define FAR .lower = -SNW_MAX_POSITION, .upper = SNW_MAX_POSITION

#define FIELD(T, member, k, t, ...)                                                                                    \
    {                                                                                                                  \
        .key = k, .type = t, .offset = offsetof(T, member), __VA_ARGS__                                                \
    }

#define POSE(T, member, mask)                                                                                          \
    FIELD(T, member.position, "position", snw_fieldVec3, FAR, .unit = "m", .kinds = mask,                              \
        .help = "where its origin is"),                                                                                \
        FIELD(T, member.rotation, "rotation", snw_fieldRotation, .kinds = mask, .help = "unit quaternion x, y, z, w"), \
        FIELD(T, member.rotation, "angles", snw_fieldAngles, FAR, .unit = "degrees", .kinds = mask,                    \
            .help = "instead of rotation: turns about the world's x, then y, then z")

static void SetPreset(void* part, int index)
{
    *(snwMaterial*)part = snwPreset_GetInfo(index)->material;
}

static void SetSoftness(void* part, double softness)
{
    *(snwMaterial*)part = snwMaterial_Soften(part, softness);
}

static const snwWords s_materialWords = {sizeof(snwMaterial), SetPreset, SetSoftness};

#define MATERIAL(T, member, mask, must)                                                                                \
    FIELD(T, member.density, "density", snw_fieldReal, .lower = SNW_MIN_DENSITY, .upper = SNW_MAX_DENSITY,             \
        .unit = "kg/m^3", .kinds = mask, .required = must,                                                             \
        .help = "mass per volume; flesh and water have about 1000"),                                                   \
        FIELD(T, member.young, "young", snw_fieldReal, .lower = SNW_MIN_YOUNG, .upper = SNW_MAX_YOUNG, .unit = "Pa",   \
            .kinds = mask, .required = must,                                                                           \
            .help = "Young's modulus, the stiffness: fat 1e3, muscle 1e4 to 1e5, rubber 1e6; pbd needs its law "       \
                    "compliant, else set "                                                                             \
                    "pbd.stretch"),                                                                                    \
        FIELD(T, member.poisson, "poisson", snw_fieldReal, .lower = -0.9, .upper = 0.5, .kinds = mask,                 \
            .required = must,                                                                                          \
            .help = "Poisson's ratio; 0.5 keeps the volume; pbd needs its law compliant, else set pbd.volume"),        \
        FIELD(T, member.damping, "damping", snw_fieldReal, .upper = SNW_MAX_DAMPING, .unit = "1/s", .kinds = mask,     \
            .required = must, .help = "how fast internal motion dies"),                                                \
        FIELD(T, member.frequency, "frequency", snw_fieldReal, .upper = SNW_MAX_FREQUENCY, .unit = "Hz",               \
            .kinds = mask, .quiet = true,                                                                              \
            .help = "how fast flesh swings about the place where its bones put it, its own stiffness aside; 0: "       \
                    "pbcd.anchor"),                                                                                    \
        FIELD(T, member.settling, "settling", snw_fieldReal, .upper = SNW_MAX_SETTLING, .unit = "s", .kinds = mask,    \
            .quiet = true, .help = "until that swing has fallen to a twentieth; 0: as damping says"),                  \
        FIELD(T, member, "preset", snw_fieldWord, .names = snw_presetNames, .words = &s_materialWords, .kinds = mask,  \
            .help = "a material by name; the other keys change what it says"),                                         \
        FIELD(T, member, "softness", snw_fieldScale, .lower = 0.01, .upper = 100, .words = &s_materialWords,           \
            .kinds = mask, .help = "of the preset: gives way that many times as far")

#define MOTION(T, member, angular)                                                                                     \
    FIELD(T, member, "velocity", snw_fieldVec3, .lower = -SNW_MAX_SPEED, .upper = SNW_MAX_SPEED, .unit = "m/s",        \
        .help = "at the start"),                                                                                       \
        FIELD(T, angular, "angular_velocity", snw_fieldVec3, .lower = -SNW_MAX_SPEED, .upper = SNW_MAX_SPEED,          \
            .unit = "rad/s", .help = "at the start, about the centre of mass")

#define FRICTION(T, path)                                                                                              \
    FIELD(T, path friction, "friction", snw_fieldReal, .lower = 0, .upper = SNW_MAX_FRICTION,                          \
        .help = "Coulomb coefficient; two things that touch have the geometric mean of theirs"),                       \
        FIELD(T, path kineticFriction, "kinetic_friction", snw_fieldReal, .lower = -1, .upper = SNW_MAX_FRICTION,      \
            .help = "while it slides, at most friction; -1: the same"),                                                \
        FIELD(T, path surface, "surface", snw_fieldText, .help = "what it is of, for the pairs in frictions")

#define NAME(T, member, text)             FIELD(T, member, "name", snw_fieldText, .required = true, .help = text)
#define RAW(T, member, k, how, sub, text) FIELD(T, member, k, snw_fieldRaw, .schema = how, .table = sub, .help = text)

// ---------------------------------------------------------------------------------------------------------------------
// Characters

typedef struct MaterialData
{
    snwMaterial material;
} MaterialData;

static const snwField s_materialFields[] = {MATERIAL(MaterialData, material, 0, false)};

static void InitMaterial(void* object, int kind)
{
    (void)kind;
    *(snwMaterial*)object = snwDefaultMaterial();
}

const snwTable snw_materialTable = {
    "material", "What flesh is made of", SNW_TABLE_FIELDS(s_materialFields), sizeof(snwMaterial), NULL, InitMaterial};

static const snwField s_materialChangeFields[] = {
    FIELD(snwMaterialChange, region, "region", snw_fieldInt, .lower = -1, .upper = 2147483647,
        .help = "whose; -1, or absent: all of the character"),
    MATERIAL(snwMaterialChange, material, 0, false),
};

static void InitMaterialChange(void* object, int kind)
{
    (void)kind;
    *(snwMaterialChange*)object = (snwMaterialChange){snwDefaultMaterial(), -1};
}

const snwTable snw_materialChangeTable = {"material_change", "What is other than the character says; the rest stays",
    SNW_TABLE_FIELDS(s_materialChangeFields), sizeof(snwMaterialChange), NULL, InitMaterialChange};

static const char* const s_shapeNames[] = {"bar", "block", "ball", "spring", NULL};

enum
{
    snw_boxShapes = 1 << snw_shapeBar | 1 << snw_shapeBlock,
    snw_solidShapes = snw_boxShapes | 1 << snw_shapeBall,
};

static const snwField s_shapeFields[] = {
    FIELD(snwShapeDef, kind, "shape", snw_fieldChoice, .required = true, .names = s_shapeNames,
        .help = "bar: long in x; block: a box; ball: a sphere; spring: two masses and a spring "
                "along x"),
    FIELD(snwShapeDef, size, "size", snw_fieldVec3, .lower = SNW_MIN_SIZE, .upper = SNW_MAX_SIZE, .unit = "m",
        .kinds = snw_solidShapes, .help = "length of its sides; a ball is size[0] across"),
    FIELD(snwShapeDef, size, "size", snw_fieldVec3, .lower = 0, .upper = SNW_MAX_SIZE, .unit = "m",
        .kinds = 1 << snw_shapeSpring, .help = "a spring is size[0] long"),
    FIELD(snwShapeDef, cells, "cells", snw_fieldInt3, .lower = 1, .upper = 512, .kinds = snw_boxShapes,
        .help = "cells along each axis, six tetrahedra each"),
    FIELD(snwShapeDef, cells, "cells", snw_fieldInt3, .lower = 1, .upper = 256, .kinds = 1 << snw_shapeBall,
        .help = "a ball has cells[0] across, six tetrahedra each"),
    FIELD(snwShapeDef, material, "material", snw_fieldObject, .table = &snw_materialTable, .help = "of the whole body"),
    FIELD(snwShapeDef, springMass, "mass", snw_fieldReal, .lower = 1e-6, .upper = 1e9, .unit = "kg",
        .kinds = 1 << snw_shapeSpring, .help = "of each of the two masses"),
    FIELD(snwShapeDef, color, "color", snw_fieldColor, .lower = 0, .upper = 1,
        .help = "of the skin: \"#rrggbb\" as in a colour picker, or three linear numbers"),
};

static void InitShapeDef(void* object, int kind)
{
    *(snwShapeDef*)object = snwDefaultShapeDef(kind < 0 ? snw_shapeBar : (snwShapeKind)kind);
}

const snwTable snw_shapeTable = {"shape", "A simple body made of cells", SNW_TABLE_FIELDS(s_shapeFields),
    sizeof(snwShapeDef), "shape", InitShapeDef};

// ---------------------------------------------------------------------------------------------------------------------
// Bodies, colliders, props

static const snwField s_bodyFields[] = {
    NAME(snwBodyData, def.name, "unique among bodies"),
    FIELD(snwBodyData, character, "character", snw_fieldRaw, .required = true, .schema = "character",
        .help = "a name from characters, or a character of its own"),
    POSE(snwBodyData, def.transform, 0),
    MOTION(snwBodyData, def.velocity, def.angularVelocity),
    FRICTION(snwBodyData, def.),
    FIELD(snwBodyData, def.motion, "motion", snw_fieldText,
        .help =
            "one of the character's motions, for the skeleton to follow in methods that have powered or given bones"),
    FIELD(snwBodyData, def.motionStart, "motion_start", snw_fieldReal, .lower = 0, .upper = SNW_MAX_MOTION, .unit = "s",
        .help = "where the motion is when the scene starts"),
    FIELD(snwBodyData, def.motionWait, "motion_wait", snw_fieldReal, .lower = 0, .upper = SNW_MAX_MOTION, .unit = "s",
        .help = "it stays there for so long before it goes on"),
};

static void InitBodyData(void* object, int kind)
{
    (void)kind;
    ((snwBodyData*)object)->def = snwDefaultBodyDef();
}

const snwTable snw_bodyTable = {
    "body", "A character in the scene", SNW_TABLE_FIELDS(s_bodyFields), sizeof(snwBodyData), NULL, InitBodyData};

static const char* const s_propNames[] = {"plane", "sphere", "box", "capsule", NULL};

#define SIZES(T, S)                                                                                                    \
    FIELD(T, S.x, "radius", snw_fieldReal, .lower = SNW_MIN_SIZE, .upper = SNW_MAX_SIZE, .unit = "m",                  \
        .kinds = 1 << snw_colliderSphere | 1 << snw_colliderCapsule, .help = "of the sphere or capsule"),              \
        FIELD(T, S.y, "half_length", snw_fieldReal, .lower = 0, .upper = SNW_MAX_SIZE, .unit = "m",                    \
            .kinds = 1 << snw_colliderCapsule, .help = "of the capsule's axis, along its y, without the caps"),        \
        FIELD(T, S, "half_size", snw_fieldVec3, .lower = SNW_MIN_SIZE, .upper = SNW_MAX_SIZE, .unit = "m",             \
            .kinds = 1 << snw_colliderBox | 1 << snw_colliderRoom,                                                     \
            .help = "from the centre of the box or room to its sides")

#define STAIRS .kinds = 1 << snw_colliderStairs
#define LENGTH .lower = SNW_MIN_SIZE, .upper = SNW_MAX_SIZE, .unit = "m"

static const snwField s_colliderFields[] = {
    NAME(snwColliderData, def.name, "unique among colliders"),
    FIELD(snwColliderData, def.kind, "kind", snw_fieldChoice, .required = true, .names = snw_colliderKindWords,
        .help = "plane: everything below its y = 0 is solid; room: everything but the inside of a box; stairs and "
                "heightfield: solid below, without end; mesh: a closed surface"),
    POSE(snwColliderData, def.transform, 0),
    SIZES(snwColliderData, def.size),
    FRICTION(snwColliderData, def.),
    FIELD(snwColliderData, def.stepCount, "steps", snw_fieldInt, .lower = 1, .upper = SNW_MAX_STAIRS, STAIRS,
        .help = "how many; they climb along its x, from its origin"),
    FIELD(snwColliderData, def.size.x, "run", snw_fieldReal, LENGTH, STAIRS, .help = "depth of a step, along its x"),
    FIELD(snwColliderData, def.size.y, "rise", snw_fieldReal, LENGTH, STAIRS, .help = "height of a step"),
    FIELD(snwColliderData, def.size.z, "width", snw_fieldReal, LENGTH, STAIRS, .help = "along its z"),
    FIELD(snwColliderData, def.size.x, "spacing", snw_fieldReal, LENGTH, .kinds = 1 << snw_colliderHeightfield,
        .help = "from one height to the next, along its x and z"),
    FIELD(snwColliderData, heights, "heights", snw_fieldRaw, .required = true, .schema = "points", .unit = "m",
        .kinds = 1 << snw_colliderHeightfield,
        .help = "rows of numbers, each as long: along a row goes its x, from row to row its z; centred on its origin"),
    FIELD(snwColliderData, vertices, "vertices", snw_fieldRaw, .required = true, .schema = "points", .unit = "m",
        .kinds = 1 << snw_colliderMesh, .help = "points [x, y, z] of the surface"),
    FIELD(snwColliderData, triangles, "triangles", snw_fieldRaw, .required = true, .schema = "points",
        .kinds = 1 << snw_colliderMesh,
        .help = "numbers [a, b, c] of vertices, counted from 0, counter-clockwise seen from outside; no holes"),
};

static void InitCollider(void* object, int kind)
{
    ((snwColliderData*)object)->def = snwDefaultColliderDef(kind < 0 ? snw_colliderPlane : (snwColliderKind)kind);
}

const snwTable snw_colliderTable = {"collider", "Something solid that stands still or follows a clip",
    SNW_TABLE_FIELDS(s_colliderFields), sizeof(snwColliderData), "kind", InitCollider};

static const snwField s_propFields[] = {
    NAME(snwPropDef, name, "unique among props"),
    FIELD(snwPropDef, kind, "kind", snw_fieldChoice, .required = true, .names = s_propNames,
        .help = "sphere, box or capsule"),
    POSE(snwPropDef, transform, 0),
    SIZES(snwPropDef, size),
    FRICTION(snwPropDef, ),
    FIELD(snwPropDef, density, "density", snw_fieldReal, .lower = SNW_MIN_DENSITY, .upper = SNW_MAX_DENSITY,
        .unit = "kg/m^3", .help = "mass per volume"),
    MOTION(snwPropDef, velocity, angularVelocity),
};

static void InitProp(void* object, int kind)
{
    *(snwPropDef*)object = snwDefaultPropDef(kind <= snw_colliderPlane ? snw_colliderSphere : (snwColliderKind)kind);
    ((snwPropDef*)object)->kind = kind < 0 ? snw_colliderSphere : (snwColliderKind)kind;
}

const snwTable snw_propTable = {"prop", "A free rigid thing that flesh pushes and that pushes back",
    SNW_TABLE_FIELDS(s_propFields), sizeof(snwPropDef), "kind", InitProp};

static const snwField s_frictionFields[] = {
    FIELD(snwFrictionDef, first, "first", snw_fieldText, .required = true, .help = "a surface"),
    FIELD(snwFrictionDef, second, "second", snw_fieldText, .required = true, .help = "the other; the order is free"),
    FIELD(snwFrictionDef, friction, "friction", snw_fieldReal, .lower = 0, .upper = SNW_MAX_FRICTION, .required = true,
        .help = "Coulomb coefficient between the two"),
    FIELD(snwFrictionDef, kineticFriction, "kinetic_friction", snw_fieldReal, .lower = -1, .upper = SNW_MAX_FRICTION,
        .help = "while they slide, at most friction; -1: the same"),
};

static void InitFriction(void* object, int kind)
{
    (void)kind;
    *(snwFrictionDef*)object = snwDefaultFrictionDef();
}

const snwTable snw_frictionTable = {"friction", "Friction between two surfaces, instead of the mean of theirs",
    SNW_TABLE_FIELDS(s_frictionFields), sizeof(snwFrictionDef), NULL, InitFriction};

// ---------------------------------------------------------------------------------------------------------------------
// Pins and clips

static const snwField s_pinFields[] = {
    NAME(snwPinData, def.name, "unique among pins"),
    FIELD(snwPinData, body, "body", snw_fieldText, .required = true, .help = "name of the body"),
    FIELD(snwPinData, def.lower, "lower", snw_fieldVec3, FAR, .unit = "m", .required = true,
        .help = "corner of the box, in the character's rest pose"),
    FIELD(snwPinData, def.upper, "upper", snw_fieldVec3, FAR, .unit = "m", .required = true, .help = "opposite corner"),
    FIELD(snwPinData, def.held, "held", snw_fieldBool, .help = "false: free until a command holds it"),
};

static void InitPin(void* object, int kind)
{
    (void)kind;
    ((snwPinData*)object)->def = snwDefaultPinDef();
}

const snwTable snw_pinTable = {"pin", "Holds the vertices of a body that start inside a box",
    SNW_TABLE_FIELDS(s_pinFields), sizeof(snwPinData), NULL, InitPin};

static const snwField s_keyFields[] = {
    FIELD(snwKeyData, key.time, "time", snw_fieldReal, .lower = 0, .upper = SNW_MAX_SECONDS, .unit = "s",
        .required = true, .help = "later than the key before"),
    POSE(snwKeyData, key.transform, 0),
    FIELD(snwKeyData, stretch, "stretch", snw_fieldRaw, .schema = "numbers",
        .help = "of a handle that squashes and stretches: xx, yy, zz, yz, xz, xy of the symmetric map before the "
                "rotation; [1, 1, 1, 0, 0, 0] if absent"),
};

static void InitKey(void* object, int kind)
{
    (void)kind;
    *(snwKeyData*)object = (snwKeyData){{0, snwIdentityTransform()}, NULL};
}

const snwTable snw_keyTable = {
    "key", "Where the target of a clip is at a time", SNW_TABLE_FIELDS(s_keyFields), sizeof(snwKeyData), NULL, InitKey};

static const char* const s_interpolationNames[] = {"step", "linear", "smooth", NULL};

static const snwField s_clipFields[] = {
    FIELD(snwClipData, file, "file", snw_fieldText, .upper = 4000,
        .help = "instead of all else: clips that --export clips wrote; beside the scene unless it begins at the root"),
    FIELD(snwClipData, pin, "pin", snw_fieldText, .help = "name of the pin to move, relative to where it starts"),
    FIELD(snwClipData, collider, "collider", snw_fieldText, .help = "name of the collider to move, in the world"),
    FIELD(snwClipData, body, "body", snw_fieldText, .help = "name of the body whose handle or joint moves"),
    RAW(snwClipData, handle, "handle", "index", NULL,
        "name or number of the handle (of the bone, if the body has none)"),
    RAW(snwClipData, joint, "joint", "index", NULL, "name or number of the joint to move"),
    FIELD(snwClipData, def.given, "given", snw_fieldMask, .names = snw_dofWords,
        .help = "of a handle: degrees of freedom that the clip gives; the others are free"),
    FIELD(snwClipData, def.interpolation, "interpolation", snw_fieldChoice, .names = s_interpolationNames,
        .help = "between keys: jump, go straight, or ease in and out"),
    FIELD(snwClipData, def.loop, "loop", snw_fieldBool, .help = "start again after the last key"),
    RAW(snwClipData, keys, "keys", "list", &snw_keyTable, "in the order of time"),
};

static void InitClip(void* object, int kind)
{
    (void)kind;
    ((snwClipData*)object)->def = snwDefaultClipDef();
}

const snwTable snw_clipTable = {"clip", "Motion over time of one pin, collider, handle or joint",
    SNW_TABLE_FIELDS(s_clipFields), sizeof(snwClipData), NULL, InitClip};

// ---------------------------------------------------------------------------------------------------------------------
// Commands

#define KIND(name)   (1u << snw_command##name)
#define COMMAND(...) FIELD(snwCommandData, __VA_ARGS__)

static const snwField s_commandFields[] = {
    COMMAND(command.step, "step", snw_fieldU64, .help = "applied just before this step; the first step is 0"),
    COMMAND(
        command.kind, "kind", snw_fieldChoice, .required = true, .names = snw_commandKindWords, .help = "what to do"),
    COMMAND(pin, "pin", snw_fieldText, .kinds = KIND(Pin), .help = "name of a pin of the scene"),
    COMMAND(body, "body", snw_fieldText, .kinds = KIND(Pin), .help = "instead of pin: name of the body, with vertex"),
    COMMAND(command.index, "vertex", snw_fieldInt, .kinds = KIND(Pin), .upper = 2147483647,
        .help = "instead of pin: number of the vertex"),
    COMMAND(body, "body", snw_fieldText, .required = true,
        .kinds = KIND(Handle) | KIND(Joint) | KIND(Material) | KIND(Constraint), .help = "name of the body"),
    COMMAND(body, "body", snw_fieldText, .kinds = KIND(Drag) | KIND(Push), .help = "name of the body"),
    COMMAND(prop, "prop", snw_fieldText, .kinds = KIND(Drag) | KIND(Push), .help = "instead of body: name of a prop"),
    COMMAND(command.index, "vertex", snw_fieldInt, .kinds = KIND(Drag), .upper = 2147483647,
        .help = "number of the vertex of the body to pull"),
    COMMAND(command.index, "vertex", snw_fieldInt, .kinds = KIND(Push), .lower = -1, .upper = 2147483647,
        .help = "number of the vertex to push; -1: the whole body"),
    COMMAND(handle, "handle", snw_fieldRaw, .required = true, .kinds = KIND(Handle), .schema = "index",
        .help = "name or number of the handle (of the bone, if the body has none)"),
    COMMAND(joint, "joint", snw_fieldRaw, .required = true, .kinds = KIND(Joint), .schema = "index",
        .help = "name or number of the joint"),
    COMMAND(command.index, "region", snw_fieldInt, .kinds = KIND(Material), .lower = -1, .upper = 2147483647,
        .help = "region of the flesh; -1: all"),
    COMMAND(command.index, "constraint", snw_fieldInt, .required = true, .kinds = KIND(Constraint), .upper = 2147483647,
        .help = "number of the linear constraint"),
    COMMAND(collider, "collider", snw_fieldText, .required = true, .kinds = KIND(Collider), .help = "its name"),
    COMMAND(command.on, "on", snw_fieldBool, .kinds = KIND(Pin) | KIND(Drag), .help = "false: let go"),
    COMMAND(command.on, "on", snw_fieldBool, .kinds = KIND(Constraint), .help = "false: it holds no more"),
    POSE(snwCommandData, command.transform, KIND(Pin) | KIND(Collider)),
    COMMAND(command.transform.position, "position", snw_fieldVec3, FAR, .unit = "m", .kinds = KIND(Handle),
        .help = "where its point shall be in the world; if absent: where it is when the command is carried out"),
    COMMAND(command.transform.rotation, "rotation", snw_fieldRotation, .kinds = KIND(Handle),
        .help = "unit quaternion x, y, z, w: its turn since the rest pose; if absent: as it is then"),
    COMMAND(command.transform.rotation, "angles", snw_fieldAngles, FAR, .unit = "degrees", .kinds = KIND(Handle),
        .help = "instead of rotation: turns about the world's x, then y, then z"),
    COMMAND(command.stay, "stay", snw_fieldMask, .kinds = KIND(Handle), .names = snw_dofWords,
        .help = "degrees of freedom that are held where they are, whatever position and rotation say. If absent: what "
                "these do not say"),
    COMMAND(command.transform.position, "position", snw_fieldVec3, FAR, .unit = "m", .kinds = KIND(Drag),
        .help = "where to pull it"),
    COMMAND(command.value, "strength", snw_fieldReal, .kinds = KIND(Drag), .lower = 0, .upper = 1,
        .help = "how hard to pull: at 0.5 as stiff as the flesh that it holds, or half of the way of one vertex in a "
                "substep"),
    COMMAND(command.radius, "radius", snw_fieldReal, .kinds = KIND(Drag), .lower = -1, .upper = SNW_MAX_POSITION,
        .unit = "m",
        .help = "of the ball of flesh that the hand holds, in the rest shape; 0: the vertex alone; -1: a "
                "twelfth of the character's size"),
    COMMAND(command.vector, "force", snw_fieldVec3, .kinds = KIND(Push), .lower = -SNW_MAX_FORCE,
        .upper = SNW_MAX_FORCE, .unit = "N", .required = true, .help = "of the push"),
    COMMAND(command.value, "duration", snw_fieldReal, .kinds = KIND(Push), .lower = 0, .upper = SNW_MAX_SECONDS,
        .unit = "s", .help = "of the push"),
    COMMAND(command.mask, "given", snw_fieldMask, .kinds = KIND(Handle), .names = snw_dofWords,
        .help = "degrees of freedom that are given; the others are free"),
    COMMAND(command.value, "value", snw_fieldReal, .kinds = KIND(Constraint), .lower = -SNW_MAX_POSITION,
        .upper = SNW_MAX_POSITION, .unit = "m or rad", .help = "what the sum of its terms shall be"),
    COMMAND(command.value, "target", snw_fieldReal, .kinds = KIND(Joint), .lower = -1e6, .upper = 1e6,
        .unit = "rad or m", .help = "where the motor drives it"),
    COMMAND(command.on, "motor", snw_fieldBool, .kinds = KIND(Joint), .help = "on or off"),
    MATERIAL(snwCommandData, command.material, KIND(Material), true),
    COMMAND(command.vector, "vector", snw_fieldVec3, .kinds = KIND(Gravity), .required = true,
        .lower = -SNW_MAX_ACCELERATION, .upper = SNW_MAX_ACCELERATION, .unit = "m/s^2", .help = "the new gravity"),
    COMMAND(name, "name", snw_fieldText, .kinds = KIND(Param), .required = true, .help = "of a live parameter"),
    COMMAND(value, "value", snw_fieldRaw, .kinds = KIND(Param), .required = true, .schema = "setting",
        .help = "its new value"),
};

static void InitCommand(void* object, int kind)
{
    ((snwCommandData*)object)->command = snwDefaultCommand(kind < 0 ? snw_commandPin : (snwCommandKind)kind);
}

const snwTable snw_commandTable = {"command", "Something done to the running simulation",
    SNW_TABLE_FIELDS(s_commandFields), sizeof(snwCommandData), "kind", InitCommand};

// ---------------------------------------------------------------------------------------------------------------------
// The scene

static const snwField s_cameraFields[] = {
    FIELD(snwCameraDef, position, "position", snw_fieldVec3, FAR, .unit = "m", .required = true, .help = "of the eye"),
    FIELD(
        snwCameraDef, target, "target", snw_fieldVec3, FAR, .unit = "m", .required = true, .help = "what it looks at"),
    FIELD(snwCameraDef, fieldOfView, "field_of_view", snw_fieldReal, .lower = 1, .upper = 120, .unit = "degrees",
        .help = "from the bottom to the top of the picture"),
};

static void InitCamera(void* object, int kind)
{
    (void)kind;
    *(snwCameraDef*)object = snwDefaultCameraDef();
    ((snwCameraDef*)object)->automatic = false;
}

const snwTable snw_cameraTable = {"camera", "Where pictures are taken from; without it the whole motion is framed",
    SNW_TABLE_FIELDS(s_cameraFields), sizeof(snwCameraDef), NULL, InitCamera};

static const snwField s_sceneFields[] = {
    FIELD(snwSceneData, format, "sinew", snw_fieldInt, .lower = snw_sceneFormat, .upper = snw_sceneFormat,
        .required = true, .help = "version of this format"),
    FIELD(snwSceneData, name, "name", snw_fieldText, .help = "of the scene"),
    FIELD(snwSceneData, method, "method", snw_fieldText, .schema = "method", .help = "how flesh is simulated"),
    FIELD(snwSceneData, gravity, "gravity", snw_fieldVec3, .lower = -SNW_MAX_ACCELERATION,
        .upper = SNW_MAX_ACCELERATION, .unit = "m/s^2", .help = "acceleration of everything that falls"),
    FIELD(snwSceneData, rate, "rate", snw_fieldReal, .lower = 1, .upper = 100000, .unit = "1/s",
        .help = "frames, which are steps, per second"),
    FIELD(
        snwSceneData, duration, "duration", snw_fieldReal, .lower = 0, .upper = 1e6, .unit = "s", .help = "of the run"),
    FIELD(snwSceneData, seed, "seed", snw_fieldU64, .help = "of everything random"),
    FIELD(snwSceneData, description, "description", snw_fieldText, .help = "what is to be seen, in one line"),
    FIELD(snwSceneData, schema, "$schema", snw_fieldText, .upper = 4095,
        .help = "where the schema is, for editors; Sinew does not look at it"),
    RAW(snwSceneData, settings, "settings", "settings", NULL,
        "parameters of the methods by name; those of other methods are kept for when the method is "
        "changed"),
    RAW(snwSceneData, characters, "characters", "characters", NULL, "characters by name, for bodies to share"),
    RAW(snwSceneData, bodies, "bodies", "list", &snw_bodyTable, "what is simulated"),
    RAW(snwSceneData, colliders, "colliders", "list", &snw_colliderTable, "what bodies bump into"),
    RAW(snwSceneData, props, "props", "list", &snw_propTable, "free rigid things"),
    RAW(snwSceneData, frictions, "frictions", "list", &snw_frictionTable, "friction of pairs of surfaces"),
    RAW(snwSceneData, pins, "pins", "list", &snw_pinTable, "parts of bodies that are held"),
    RAW(snwSceneData, clips, "clips", "list", &snw_clipTable, "motion of pins, colliders, handles and joints"),
    RAW(snwSceneData, commands, "commands", "list", &snw_commandTable, "a script: what is done at which step"),
    RAW(snwSceneData, gestures, "gestures", "list", &snw_gestureTable,
        "the same in few words: paths, shaking; commands when the scene is read"),
    RAW(snwSceneData, camera, "camera", "object", &snw_cameraTable, "for pictures and films"),
};

static void InitScene(void* object, int kind)
{
    snwSceneDef def = snwDefaultSceneDef();
    snwSceneData* data = object;
    (void)kind;
    *data = (snwSceneData){.format = snw_sceneFormat,
        .name = def.name,
        .method = def.method,
        .gravity = def.gravity,
        .rate = def.rate,
        .duration = def.duration,
        .seed = def.seed};
}

const snwTable snw_sceneTable = {
    "scene", "A scene of Sinew", SNW_TABLE_FIELDS(s_sceneFields), sizeof(snwSceneData), NULL, InitScene};
