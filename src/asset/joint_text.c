// The .joint file that paper 000 section 5 mentions: "to keep track of the affiliation of all the rigid bones and
// joints". The paper does not say what is in it; this is ours, for people to write:
//
//   joint 1                                        # the format and its version
//   bone thigh 3 head 0 1 0 tail 0 0.5 0 radius 0.1
//   bone shin 4 parent thigh
//   joint knee hinge thigh shin at 0 0.5 0 axis 1 0 0 range 0 140 stiffness 20
//
// A bone has a name and the label of its region in the mesh; a joint a name, a type, the parent bone (or world) and the
// child bone. Pairs behind that are optional and come in any order. Words are those of blueprints; angles are degrees.
// Bones come before what names them.

#include "asset/export_parts.h"
#include "asset/rig_parts.h"
#include "asset/scan.h"
#include "rig/skeleton.h"
#include "scene/text.h"
#include "sim/vocabulary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    snw_maxJointBones = 4096, // names are looked up one by one
};

typedef struct JointText
{
    snwScan scan;
    snwAsset* asset;
    snwMessage* message;
} JointText;

static const char s_syntax[] = "lines are `bone NAME LABEL ...` and `joint NAME TYPE PARENT CHILD at X Y Z ...`";

// ---------------------------------------------------------------------------------------------------------------------
// Words

// Bytes that no text has become question marks, so that what is read can be written.
static bool TakeJointName(JointText* text, const char* what, const char** name, snwResult* result)
{
    snwWord word = snwScan_WordInLine(&text->scan);
    *name = "";
    if (word.size == 0)
        *result = snwScan_FailWith(&text->scan, text->message, s_syntax, "%s is missing", what);
    else if (word.size > 63)
        *result = snwScan_FailWith(&text->scan, text->message, "at most 63 letters", "%s is too long", what);
    else
        *name = snwAsset_Text(text->asset, word.text, word.size);
    if (text->asset->arena.failed)
        *result = snwFailMemory(text->message);
    return *result >= 0;
}

static bool TakeReals(JointText* text, const char* key, int count, double* values, snwResult* result)
{
    for (int i = 0; i < count; ++i)
        if (!snwWord_ToReal(snwScan_WordInLine(&text->scan), &values[i]) || !(fabs(values[i]) <= 1e12))
        {
            *result = snwScan_FailWith(
                &text->scan, text->message, s_syntax, "%s: number %d of %d is missing or no number", key, i + 1, count);
            return false;
        }
    return true;
}

static bool TakeVec(JointText* text, const char* key, snwVec3* vec, snwResult* result)
{
    double values[3];
    if (!TakeReals(text, key, 3, values, result))
        return false;
    *vec = (snwVec3){values[0], values[1], values[2]};
    return true;
}

static bool TakeUnit(JointText* text, const char* key, snwVec3* vec, snwResult* result)
{
    if (!TakeVec(text, key, vec, result))
        return false;
    if (!(snwVec3_Length(*vec) > 1e-9))
        *result = snwScan_FailWith(&text->scan, text->message, "give a direction", "%s has no length", key);
    else if (fabs(snwVec3_Length(*vec) - 1) > 1e-9) // a unit vector keeps its bits
        *vec = snwVec3_Normalize(*vec);
    return *result >= 0;
}

static int FindTextBone(const snwAsset* asset, const char* name)
{
    for (int i = 0; i < asset->boneCount; ++i)
        if (strcmp(asset->bones[i].def.name, name) == 0)
            return i;
    return -1;
}

static bool TakeTextBone(JointText* text, const char* what, bool world, int* bone, snwResult* result)
{
    const char* name = NULL;
    if (!TakeJointName(text, what, &name, result))
        return false;
    *bone = FindTextBone(text->asset, name);
    if (*bone < 0 && !(world && strcmp(name, "world") == 0))
        *result = snwScan_FailWith(
            &text->scan, text->message, "bones come before what names them", "%s: there is no bone '%s'", what, name);
    return *result >= 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Lines

// One optional pair of a bone. False: there is none with this key.
static bool TakeBonePair(JointText* text, snwWord key, snwBoneDef* def, snwResult* result)
{
    if (snwWord_Is(key, "head"))
        return TakeVec(text, "head", &def->head, result), true;
    if (snwWord_Is(key, "tail"))
        return TakeVec(text, "tail", &def->tail, result), true;
    if (snwWord_Is(key, "radius"))
        return TakeReals(text, "radius", 1, &def->radius, result), true;
    if (snwWord_Is(key, "parent"))
        return TakeTextBone(text, "the parent", false, &def->parent, result), true;
    return false;
}

static snwResult ReadTextBone(JointText* text)
{
    snwAssetBone bone = {.def = snwDefaultBoneDef()};
    snwResult result = snw_ok;
    int64_t label;

    // Nothing but a name and a label must be there; the rest has defaults.
    bone.def.head = bone.def.tail = (snwVec3){0};
    bone.def.radius = 0;
    if (!TakeJointName(text, "the name of a bone", &bone.def.name, &result))
        return result;
    if (FindTextBone(text->asset, bone.def.name) >= 0 || strcmp(bone.def.name, "world") == 0)
        return snwScan_FailWith(
            &text->scan, text->message, "names of bones are unique", "there is a bone '%s' already", bone.def.name);
    if (!snwWord_ToInt(snwScan_WordInLine(&text->scan), &label) || label < INT32_MIN || label > INT32_MAX)
        return snwScan_FailWith(
            &text->scan, text->message, s_syntax, "the label of bone '%s' is not a whole number", bone.def.name);
    bone.label = (int)label;

    // Pairs of a key and its numbers, in any order.
    for (snwWord key; result >= 0 && (key = snwScan_WordInLine(&text->scan)).size > 0;)
        if (!TakeBonePair(text, key, &bone.def, &result))
            return snwScan_FailWith(&text->scan, text->message, "bones have head, tail, radius and parent",
                "a bone has no '%.*s'", key.size > 40 ? 40 : key.size, key.text);

    if (result >= 0 && bone.def.radius < 0)
        return snwScan_FailWith(&text->scan, text->message, NULL, "the radius of a bone is below 0");
    text->asset->bones[text->asset->boneCount++] = bone;
    return result;
}

static double UnitOf(snwJointType type)
{
    return snwJointType_Slides(type) ? 1.0 : SNW_PI / 180;
}

static bool TakeRange(JointText* text, snwJointDef* joint, snwResult* result)
{
    double range[2];
    if (!TakeReals(text, "range", 2, range, result))
        return false;
    if (range[0] > range[1])
        *result = snwScan_FailWith(&text->scan, text->message, "the lower end comes first", "the range is upside down");
    joint->lower = range[0] * UnitOf(joint->type);
    joint->upper = range[1] * UnitOf(joint->type);
    return *result >= 0;
}

static bool TakeCone(JointText* text, snwJointDef* joint, snwResult* result)
{
    double cone;
    if (!TakeReals(text, "cone", 1, &cone, result))
        return false;
    if (!(cone >= 0 && cone <= 180))
        *result = snwScan_FailWith(&text->scan, text->message, NULL, "a cone has 0 to 180 degrees");
    joint->cone = fmin(cone * (SNW_PI / 180), SNW_PI);
    return *result >= 0;
}

static bool TakeTarget(JointText* text, snwJointDef* joint, snwResult* result)
{
    joint->motor = true;
    if (!TakeReals(text, "motor", 1, &joint->target, result))
        return false;
    joint->target *= UnitOf(joint->type);
    return true;
}

static bool TakeJointPair(JointText* text, snwWord key, snwJointDef* joint, snwResult* result)
{
    if (snwWord_Is(key, "at"))
        return TakeVec(text, "at", &joint->position, result), true;
    if (snwWord_Is(key, "axis"))
        return TakeUnit(text, "axis", &joint->axis, result), true;
    if (snwWord_Is(key, "axis2"))
        return TakeUnit(text, "axis2", &joint->axis2, result), true;
    if (snwWord_Is(key, "range"))
        return TakeRange(text, joint, result), true;
    if (snwWord_Is(key, "cone"))
        return TakeCone(text, joint, result), true;
    if (snwWord_Is(key, "stiffness"))
        return TakeReals(text, "stiffness", 1, &joint->stiffness, result), true;
    if (snwWord_Is(key, "damping"))
        return TakeReals(text, "damping", 1, &joint->damping, result), true;
    if (snwWord_Is(key, "motor"))
        return TakeTarget(text, joint, result), true;

    return false;
}

static bool TakeJointType(JointText* text, snwJointType* type, snwResult* result)
{
    snwWord word = snwScan_WordInLine(&text->scan);
    for (int i = 0; snw_jointTypeWords[i] != NULL; ++i)
        if (snwWord_Is(word, snw_jointTypeWords[i]))
        {
            *type = (snwJointType)i;
            return true;
        }
    *result = snwScan_FailWith(&text->scan, text->message,
        "types are ball, hinge, universal, prismatic, cylindrical, fixed, free",
        "the type of a joint is missing or "
        "unknown");
    return false;
}

static snwResult CheckTextJoint(JointText* text, const snwJointDef* joint)
{
    if (joint->parentBone == joint->bone)
        return snwScan_FailWith(&text->scan, text->message, NULL, "joint '%s' ties a bone to itself", joint->name);
    if (joint->stiffness < 0 || joint->damping < 0)
        return snwScan_FailWith(
            &text->scan, text->message, NULL, "stiffness and damping of joint '%s' are not below 0", joint->name);
    if (joint->type == snw_jointUniversal && fabs(snwVec3_Dot(joint->axis, joint->axis2)) > 0.999)
        return snwScan_FailWith(&text->scan, text->message, "give axis and axis2 across each other",
            "both axes of joint '%s' are the same", joint->name);
    return snw_ok;
}

static snwResult ReadTextJoint(JointText* text)
{
    snwJointDef joint = snwDefaultJointDef();
    snwResult result = snw_ok;
    bool placed = false;
    if (!TakeJointName(text, "the name of a joint", &joint.name, &result) ||
        !TakeJointType(text, &joint.type, &result) ||
        !TakeTextBone(text, "the parent bone", true, &joint.parentBone, &result) ||
        !TakeTextBone(text, "the child bone", false, &joint.bone, &result))
        return result;

    // Pairs, as with bones; without a place the joint is at the head of its bone.
    for (snwWord key; result >= 0 && (key = snwScan_WordInLine(&text->scan)).size > 0;)
    {
        placed = placed || snwWord_Is(key, "at");
        if (!TakeJointPair(text, key, &joint, &result))
            return snwScan_FailWith(&text->scan, text->message,
                "joints have at, axis, axis2, range, cone, stiffness, damping, motor", "a joint has no '%.*s'",
                key.size > 40 ? 40 : key.size, key.text);
    }

    if (result >= 0 && !placed)
        joint.position = text->asset->bones[joint.bone].def.head;
    if (result >= 0)
        result = CheckTextJoint(text, &joint);
    text->asset->joints[text->asset->jointCount++] = joint;
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The file

// Lines that begin with the word, from where the scan is.
static int64_t CountLinesWith(snwScan scan, const char* word)
{
    int64_t count = 0;
    while (!snwScan_IsAtEnd(&scan))
    {
        count += snwWord_Is(snwScan_WordInLine(&scan), word);
        snwScan_SkipLine(&scan);
    }
    return count;
}

static snwResult ReadJointLines(JointText* text)
{
    snwResult result = snw_ok;
    while (result >= 0 && !snwScan_IsAtEnd(&text->scan))
    {
        snwWord word = snwScan_WordInLine(&text->scan);
        if (snwWord_Is(word, "bone"))
            result = ReadTextBone(text);
        else if (snwWord_Is(word, "joint"))
            result = ReadTextJoint(text);
        else
            return snwScan_FailWith(&text->scan, text->message, s_syntax, "a line begins with '%.*s'",
                word.size > 40 ? 40 : word.size, word.text);
    }
    return result;
}

snwResult snwJointText_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    // The first line names the format, then bones and joints are counted for room.
    JointText text = {.scan = snwMakeScan(input->data, input->size, '#'), .asset = asset, .message = message};
    int64_t version = 0;
    if (!snwWord_Is(snwScan_Word(&text.scan), "joint") || !snwWord_ToInt(snwScan_WordInLine(&text.scan), &version))
        return snwScan_FailWith(&text.scan, message, "the first line is `joint 1`", "this is not a .joint file");
    if (version != 1)
        return snwScan_FailWith(
            &text.scan, message, "write version 1", "version %lld is not known", (long long)version);
    if (snwScan_PeekInLine(&text.scan).size > 0)
        return snwScan_FailWith(&text.scan, message, "the first line is `joint 1`", "more stands behind the version");
    int64_t bones = CountLinesWith(text.scan, "bone"), joints = CountLinesWith(text.scan, "joint");
    if (bones > snw_maxJointBones || joints > snw_maxJointBones)
        return snwFail(message, snw_errorInput, NULL, "%lld bones and %lld joints are too many: at most %d each",
            (long long)bones, (long long)joints, snw_maxJointBones);
    asset->bones = snwAsset_Alloc(asset, bones + 1, sizeof *asset->bones);
    asset->joints = snwAsset_Alloc(asset, joints + 1, sizeof *asset->joints);
    if (asset->bones == NULL || asset->joints == NULL)
        return snwFailMemory(message);

    return ReadJointLines(&text);
}

const snwAssetReader snw_jointReader = {snw_assetJoint, "bones and joints of regions", ".joint", snwJointText_Read};

// ---------------------------------------------------------------------------------------------------------------------
// Writing

static void PutJointReal(snwWriter* out, double value)
{
    char digits[32];
    snwFormatReal(digits, value);
    snwExport_Put(out, " ");
    snwExport_Put(out, digits);
}

static void PutKey(snwWriter* out, const char* key)
{
    snwExport_Put(out, " ");
    snwExport_Put(out, key);
}

static void PutTextVec(snwWriter* out, const char* key, snwVec3 vec)
{
    PutKey(out, key);
    PutJointReal(out, vec.x);
    PutJointReal(out, vec.y);
    PutJointReal(out, vec.z);
}

// The fewest digits that the reader turns into the same radians; where there are none, the nearest.
static void PutAngle(snwWriter* out, double radians)
{
    const double unit = SNW_PI / 180;
    double degrees = radians / unit;
    for (int digits = 1; digits <= 17; ++digits)
    {
        char text[40];
        snprintf(text, sizeof text, "%.*e", digits - 1, degrees);
        double value = strtod(text, NULL);
        if (value * unit == radians)
        {
            degrees = value;
            break;
        }
    }
    PutJointReal(out, degrees);
}

static void PutMeasure(snwWriter* out, snwJointType type, double value)
{
    if (snwJointType_Slides(type))
        PutJointReal(out, value);
    else
        PutAngle(out, value);
}

static void PutBone(snwWriter* out, const snwAssetBone* bones, int index)
{
    const snwAssetBone* bone = &bones[index];
    snwExport_PutFormat(out, "bone %s %d", bone->def.name, bone->label);
    PutTextVec(out, "head", bone->def.head);
    PutTextVec(out, "tail", bone->def.tail);
    if (bone->def.radius > 0)
    {
        PutKey(out, "radius");
        PutJointReal(out, bone->def.radius);
    }
    if (bone->def.parent >= 0)
        snwExport_PutFormat(out, " parent %s", bones[bone->def.parent].def.name);
    snwExport_Put(out, "\n");
}

static void PutLimits(snwWriter* out, const snwJointDef* joint)
{
    if (joint->lower <= joint->upper)
    {
        PutKey(out, "range");
        PutMeasure(out, joint->type, joint->lower);
        PutMeasure(out, joint->type, joint->upper);
    }
    if (joint->cone < SNW_PI)
    {
        PutKey(out, "cone");
        PutAngle(out, joint->cone);
    }
}

static void PutJoint(snwWriter* out, const snwAssetBone* bones, const snwJointDef* joint)
{
    snwExport_PutFormat(out, "joint %s %s %s %s", joint->name, snwJointType_Name(joint->type),
        joint->parentBone < 0 ? "world" : bones[joint->parentBone].def.name, bones[joint->bone].def.name);
    PutTextVec(out, "at", joint->position);
    PutTextVec(out, "axis", joint->axis);
    PutTextVec(out, "axis2", joint->axis2);
    PutLimits(out, joint);
    if (joint->stiffness > 0)
        PutKey(out, "stiffness"), PutJointReal(out, joint->stiffness);
    if (joint->damping > 0)
        PutKey(out, "damping"), PutJointReal(out, joint->damping);
    if (joint->motor)
        PutKey(out, "motor"), PutMeasure(out, joint->type, joint->target);
    snwExport_Put(out, "\n");
}

static bool IsWord(const char* name)
{
    return name != NULL && name[0] != 0 && strlen(name) <= 63 && strpbrk(name, " \t\r\n\v\f#") == NULL;
}

static bool AreWritable(const snwAsset* asset)
{
    for (int i = 0; i < asset->boneCount; ++i)
        if (!IsWord(asset->bones[i].def.name) || asset->bones[i].def.parent >= i)
            return false;
    for (int i = 0; i < asset->jointCount; ++i)
    {
        const snwJointDef* joint = &asset->joints[i];
        if (!IsWord(joint->name) || joint->bone < 0 || joint->bone >= asset->boneCount ||
            joint->parentBone >= asset->boneCount)
            return false;
    }
    return true;
}

snwResult snwJointText_Write(snwWriter* out, const snwAsset* asset, snwMessage* message)
{
    if (!AreWritable(asset))
        return snwFail(message, snw_errorArgument, "names are words without blanks; parents come before children",
            "these bones and joints cannot be written as a .joint");
    snwExport_Put(out, "joint 1\n");
    for (int i = 0; i < asset->boneCount; ++i)
        PutBone(out, asset->bones, i);
    for (int i = 0; i < asset->jointCount; ++i)
        PutJoint(out, asset->bones, &asset->joints[i]);
    return out->failed ? snwFailMemory(message) : snw_ok;
}
