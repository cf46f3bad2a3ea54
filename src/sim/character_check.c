// Is the definition of a character sound? Nothing here needs more than the definition; what takes work (bones that
// share a vertex, bones that follow each other in a circle) is found while the character is built.

#include "sim/character.h"
#include "math/eigen.h"
#include "rig/weights.h"
#include "sim/check.h"
#include "sim/limits.h"
#include "sim/vertex_track.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum
{
    snw_maxVertices = 100000000,
    character_maxElements = 100000000,
    character_maxHexes = 50000000, // so that the corners of their skin can still be counted in an int
    character_maxParts = 100000,   // bones, joints, handles, materials, constraints, motions
    character_maxShapeCells = 20   // of a bone's soft box along an axis
};

static snwResult CheckCount(int count, int most, const void* data, const char* what, snwMessage* message)
{
    if (count < 0 || count > most)
        return snwFail(message, snw_errorArgument, NULL, "%s count must be 0..%d, is %d", what, most, count);
    if (count > 0 && data == NULL)
        return snwFail(message, snw_errorArgument, NULL, "%d %s but no array", count, what);
    return snw_ok;
}

static snwResult CheckCounts(const snwCharacterDef* def, snwMessage* message)
{
    // Everything of a character that is counted.
    const struct
    {
        int count, most;
        const void* data;
        const char* what;
    } parts[] = {
        {def->vertexCount, snw_maxVertices, def->vertices, "vertices"},
        {def->tetCount, character_maxElements, def->tets, "tets"},
        {def->hexCount, character_maxHexes, def->hexes, "hexes"},
        {def->triangleCount, character_maxElements, def->triangles, "triangles"},
        {def->edgeCount, character_maxElements, def->edges, "edges"},
        {def->materialCount, character_maxParts, def->materials, "materials"},
        {def->boneCount, character_maxParts, def->bones, "bones"},
        {def->jointCount, character_maxParts, def->joints, "joints"},
        {def->handleCount, character_maxParts, def->handles, "handles"},
        {def->constraintCount, character_maxParts, def->constraints, "constraints"},
        {def->motionCount, character_maxParts, def->motions, "motions"},
    };

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
    {
        snwResult result = CheckCount(parts[i].count, parts[i].most, parts[i].data, parts[i].what, message);
        if (result < 0)
            return result;
    }

    if (def->vertexCount == 0)
        return snwFail(message, snw_errorArgument, NULL, "a character needs vertices");
    if ((def->tetCount > 0) + (def->hexCount > 0) + (def->triangleCount > 0) > 1)
        return snwFail(message, snw_errorArgument, "make a character of each kind",
            "%d tets, %d hexes and %d triangles: a character has one kind of elements", def->tetCount, def->hexCount,
            def->triangleCount);
    return snw_ok;
}

static snwResult CheckElementCorners(const snwCharacterDef* def, snwElements elements, int index, snwMessage* message)
{
    const char* what = snwCharacterDef_ElementsName(def);
    const int* v = snwElements_Corners(elements, index);
    for (int k = 0; k < elements.arity; ++k)
        if (v[k] < 0 || v[k] >= def->vertexCount)
            return snwFail(
                message, snw_errorArgument, NULL, "%s[%d] names vertex %d of %d", what, index, v[k], def->vertexCount);

    // A hex with two equal corners may have a volume and would still have an edge without length.
    for (int a = 0; a < elements.arity; ++a)
        for (int b = a + 1; b < elements.arity; ++b)
            if (v[a] == v[b])
                return snwFail(message, snw_errorArgument, "remove it",
                    "%s[%d] has volume 0 or no hex's shape: it names vertex %d twice", what, index, v[a]);

    // Elements that are inside out or flat have no rest shape.
    double volume = snwCharacterDef_ElementVolume(def, index);
    if (!(volume > 0.0))
        return snwFail(message, snw_errorArgument,
            elements.arity == 8 ? "swap its faces 0 1 2 3 and 4 5 6 7, or remove it if it is flat"
                                : "swap two of its vertices, or remove it if it is flat",
            "%s[%d] has volume %g m^3", what, index, volume);
    return snw_ok;
}

static snwResult CheckBodyElements(const snwCharacterDef* def, snwMessage* message)
{
    int regions = def->materialCount > 0 ? def->materialCount : 1;
    snwElements elements = snwCharacterDef_Elements(def);
    for (int i = 0; i < elements.count; ++i)
    {
        if (CheckElementCorners(def, elements, i, message) < 0)
            return snw_errorArgument;
        if (def->regions != NULL && (def->regions[i] < 0 || def->regions[i] >= regions))
            return snwFail(message, snw_errorArgument, NULL, "regions[%d] is %d of %d", i, def->regions[i], regions);
        if (def->elementBones != NULL && (def->elementBones[i] < -1 || def->elementBones[i] >= def->boneCount))
            return snwFail(message, snw_errorArgument, "-1 is flesh", "elementBones[%d] is %d of %d", i,
                def->elementBones[i], def->boneCount);
    }
    return snw_ok;
}

static snwResult CheckFlat(const snwCharacterDef* def, snwMessage* message)
{
    if (!(def->thickness >= SNW_MIN_SIZE && def->thickness <= SNW_MAX_SIZE))
        return snwFail(message, snw_errorArgument, "start from snwDefaultCharacterDef()",
            "thickness must be %g..%g m, is %g", SNW_MIN_SIZE, SNW_MAX_SIZE, def->thickness);
    for (int i = 0; def->triangleCount > 0 && i < def->vertexCount; ++i)
        if (def->vertices[i].z != 0.0)
            return snwFail(message, snw_errorArgument, "set z to 0", "vertices[%d] of a flat character has z = %g m", i,
                def->vertices[i].z);
    return snw_ok;
}

static snwResult CheckBodyMesh(const snwCharacterDef* def, snwMessage* message)
{
    for (int i = 0; i < def->vertexCount; ++i)
        if (!snwVec3_IsWithin(def->vertices[i], SNW_MAX_POSITION))
            return snwFail(message, snw_errorArgument, "metres are meant", "vertices[%d] is not finite or beyond %g m",
                i, SNW_MAX_POSITION);

    if (CheckFlat(def, message) < 0 || CheckBodyElements(def, message) < 0)
        return snw_errorArgument;

    // Edges beside those of the elements: springs, say.
    for (int i = 0; i < def->edgeCount; ++i)
    {
        const int* e = def->edges[i];
        if (e[0] < 0 || e[1] < 0 || e[0] >= def->vertexCount || e[1] >= def->vertexCount || e[0] == e[1])
            return snwFail(message, snw_errorArgument, NULL, "edges[%d] joins vertices %d and %d", i, e[0], e[1]);
    }

    // Masses are optional: without them the material and the volume say.
    for (int i = 0; def->masses != NULL && i < def->vertexCount; ++i)
        if (!(def->masses[i] >= SNW_MIN_MASS && def->masses[i] <= SNW_MAX_MASS))
            return snwFail(message, snw_errorArgument, NULL, "masses[%d] must be %g..%g kg, is %g", i, SNW_MIN_MASS,
                SNW_MAX_MASS, def->masses[i]);

    // The message says which one.
    for (int i = 0; i < def->materialCount; ++i)
        if (snwMaterial_Check(&def->materials[i], message) < 0)
        {
            snwMessage_AddPlace(message, "materials[%d]", i);
            return snw_errorArgument;
        }

    return snw_ok;
}

static snwResult CheckJointDef(const snwCharacterDef* def, int index, snwMessage* message)
{
    const snwJointDef* joint = &def->joints[index];
    if (joint->type < snw_jointBall || joint->type > snw_jointFree)
        return snwFail(message, snw_errorArgument, NULL, "joints[%d] has type %d", index, (int)joint->type);
    if (joint->bone < 0 || joint->bone >= def->boneCount || joint->parentBone < -1 ||
        joint->parentBone >= def->boneCount || joint->bone == joint->parentBone)
        return snwFail(message, snw_errorArgument, NULL, "joints[%d] joins bones %d and %d of %d", index,
            joint->parentBone, joint->bone, def->boneCount);

    // Everything that is a number; NaN and infinity fit no bound.
    double numbers[] = {joint->lower, joint->upper, joint->stiffness, joint->damping, joint->target, joint->lower2,
        joint->upper2, joint->lower3, joint->upper3};
    bool finite = snwVec3_IsWithin(joint->position, SNW_MAX_POSITION);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        finite = finite && isfinite(numbers[i]);
    if (!finite || joint->stiffness < 0.0 || joint->damping < 0.0 || !(joint->cone >= 0.0 && joint->cone <= SNW_PI))
        return snwFail(message, snw_errorArgument, "start from snwDefaultJointDef()",
            "joints[%d] has a number out of range", index);

    // Axes are used as they are.
    if (fabs(snwVec3_Length(joint->axis) - 1.0) > 1e-6 || fabs(snwVec3_Length(joint->axis2) - 1.0) > 1e-6)
        return snwFail(
            message, snw_errorArgument, "normalise axis and axis2", "joints[%d] has an axis that is not unit", index);

    // Ranges about second and third axes, for joints that have them.
    bool second = joint->lower2 < joint->upper2, third = joint->lower3 < joint->upper3;
    bool fits = joint->type == snw_jointBall || (joint->type == snw_jointUniversal && !third);
    if ((second || third) && !fits)
        return snwFail(message, snw_errorArgument, "ball joints have three ranges, universal ones two",
            "joints[%d] '%s' has a range too many", index, joint->name);
    if ((second || third) && joint->type == snw_jointBall && fabs(snwVec3_Dot(joint->axis, joint->axis2)) > 1e-6)
        return snwFail(message, snw_errorArgument, "choose them at a right angle",
            "joints[%d] '%s' has ranges about axes that are not at a right angle", index, joint->name);

    return snw_ok;
}

static snwResult CheckConstraint(const snwCharacterDef* def, int index, snwMessage* message)
{
    const snwLinearConstraintDef* constraint = &def->constraints[index];
    if (constraint->termCount < 1 || constraint->termCount > character_maxParts || constraint->terms == NULL ||
        !isfinite(constraint->value))
        return snwFail(message, snw_errorArgument, NULL, "constraints[%d] has no terms or no finite value", index);
    for (int i = 0; i < constraint->termCount; ++i)
    {
        const snwLinearTerm* term = &constraint->terms[i];
        bool oneDof = term->dof != 0 && (term->dof & (term->dof - 1)) == 0 && term->dof <= snw_dofRotationZ;
        if (term->handle < 0 || term->handle >= snwCharacterDef_HandleCount(def) || !oneDof ||
            !isfinite(term->coefficient))
            return snwFail(message, snw_errorArgument, NULL, "constraints[%d].terms[%d] is out of range", index, i);
    }
    return snw_ok;
}

static bool InUnit(const float* numbers, int count)
{
    bool inside = true;
    for (int i = 0; i < count; ++i)
        inside = inside && numbers[i] >= 0.0f && numbers[i] <= 1.0f;
    return inside;
}

static snwResult CheckCharacterLook(const snwCharacterDef* def, snwMessage* message)
{
    for (int i = 0; i < 3; ++i)
        if (!InUnit(&def->color[i], 1))
            return snwFail(message, snw_errorArgument, NULL, "color[%d] must be 0..1, is %g", i, (double)def->color[i]);

    // Colours and places in the texture, per vertex.
    for (int i = 0; i < def->vertexCount; ++i)
    {
        if (def->colors != NULL && !InUnit(def->colors[i], 3))
            return snwFail(message, snw_errorArgument, NULL, "colors[%d] has a number out of 0..1", i);
        if (def->texcoords != NULL && !InUnit(def->texcoords[i], 2))
            return snwFail(message, snw_errorArgument, NULL, "texcoords[%d] has a number out of 0..1", i);
    }

    // A texture of no width is none.
    const snwTexture* texture = &def->texture;
    if (texture->width == 0)
        return snw_ok;
    if (texture->width < 0 || texture->width > SNW_MAX_TEXTURE || texture->height < 1 ||
        texture->height > SNW_MAX_TEXTURE)
        return snwFail(message, snw_errorArgument, "scale it down", "texture must be 1..%d pixels each way, is %d x %d",
            SNW_MAX_TEXTURE, texture->width, texture->height);
    if (texture->pixels == NULL)
        return snwFail(message, snw_errorArgument, NULL, "texture has no pixels");

    return snw_ok;
}

// A body's moments of inertia are positive, and none is more than the other two together.
static bool IsInertia(const double i[6])
{
    snwMat3 m = snwMat3_FromColumns(
        (snwVec3){i[0], i[3], i[5]}, (snwVec3){i[3], i[1], i[4]}, (snwVec3){i[5], i[4], i[2]});
    if (!snwMat3_IsFinite(m))
        return false;
    snwEigen3 e = snwEigen3_Symmetric(m); // values descending
    return e.values[2] > 0.0 && e.values[0] <= (1.0 + 1e-9) * (e.values[1] + e.values[2]);
}

static snwResult CheckBoneInertia(const snwBoneDef* bone, int index, snwMessage* message)
{
    // All six 0: no inertia is given.
    double given = 0.0;
    for (int k = 0; k < 6; ++k)
        given += fabs(bone->inertia[k]);

    if (bone->mass != 0.0 && !(bone->mass >= SNW_MIN_MASS && bone->mass <= SNW_MAX_MASS))
        return snwFail(message, snw_errorArgument, "0 leaves it to the mesh",
            "bones[%d] '%s' must weigh %g..%g kg, is %g", index, bone->name, SNW_MIN_MASS, SNW_MAX_MASS, bone->mass);
    if (given == 0.0)
        return snw_ok;

    if (bone->mass == 0.0)
        return snwFail(
            message, snw_errorArgument, "give it one", "bones[%d] '%s' has an inertia and no mass", index, bone->name);
    if (!IsInertia(bone->inertia))
        return snwFail(message, snw_errorArgument, "moments are positive, and none is above the sum of the other two",
            "bones[%d] '%s' has an inertia that no body has", index, bone->name);
    if (!snwVec3_IsWithin(bone->centre, SNW_MAX_POSITION))
        return snwFail(
            message, snw_errorArgument, NULL, "bones[%d] '%s' has its centre out of range", index, bone->name);

    return snw_ok;
}

static snwResult CheckBoneShape(const snwBoneDef* bone, int index, snwMessage* message)
{
    const snwBoneShape* shape = &bone->shape;
    if (shape->kind == snw_colliderPlane)
        return snw_ok;
    bool sphere = shape->kind == snw_colliderSphere, box = shape->kind == snw_colliderBox;
    if (!sphere && !box && shape->kind != snw_colliderCapsule)
        return snwFail(message, snw_errorArgument, "sphere, box or capsule", "bones[%d] '%s' has a shape of kind %d",
            index, bone->name, (int)shape->kind);

    // Sizes that the kind does not have count as 1.
    const double sizes[3] = {shape->size.x, sphere ? 1.0 : shape->size.y, box ? shape->size.z : 1.0};
    bool fits = snwVec3_IsWithin(shape->place.position, SNW_MAX_POSITION) && snwQuat_IsFinite(shape->place.rotation) &&
                fabs(snwQuat_Dot(shape->place.rotation, shape->place.rotation) - 1.0) < 1e-6;

    for (int k = 0; k < 3; ++k)
        fits = fits && sizes[k] >= SNW_MIN_SIZE && sizes[k] <= SNW_MAX_SIZE;

    if (!fits)
        return snwFail(message, snw_errorArgument, NULL, "the shape of bones[%d] '%s' has a number out of range", index,
            bone->name);

    // Cells: all 0 for a hard shape, else a lattice.
    const int* cells = shape->cells;
    bool hard = cells[0] == 0 && cells[1] == 0 && cells[2] == 0;
    for (int k = 0; k < 3 && !hard; ++k)
        if (!box || cells[k] < 1 || cells[k] > character_maxShapeCells)
            return snwFail(message, snw_errorArgument, "boxes alone are soft",
                "the shape of bones[%d] '%s' must have 1..%d cells along each axis of a box", index, bone->name,
                character_maxShapeCells);

    return snw_ok;
}

static snwResult CheckBone(const snwCharacterDef* def, int index, snwMessage* message)
{
    const snwBoneDef* bone = &def->bones[index];
    if (!snwVec3_IsWithin(bone->head, SNW_MAX_POSITION) || !snwVec3_IsWithin(bone->tail, SNW_MAX_POSITION) ||
        !(bone->radius >= 0.0 && bone->radius <= SNW_MAX_SIZE))
        return snwFail(message, snw_errorArgument, NULL, "bones[%d] has a number out of range", index);
    if (bone->parent < -1 || bone->parent >= def->boneCount || bone->parent == index)
        return snwFail(message, snw_errorArgument, "-1 is none", "bones[%d] follows bone %d of %d", index, bone->parent,
            def->boneCount);
    snwResult body = CheckBoneInertia(bone, index, message);
    return body < 0 ? body : CheckBoneShape(bone, index, message);
}

static snwResult CheckWeights(
    const snwCharacterDef* def, const snwWeights* weights, int handleCount, const char* what, snwMessage* message)
{
    if (weights->vertexCount == 0)
        return snw_ok;
    snwResult result = snwWeights_Check(weights, def->vertexCount, handleCount, message);
    if (result < 0)
        snwMessage_AddPlace(message, "%s", what);
    return result;
}

static snwResult CheckRig(const snwCharacterDef* def, snwMessage* message)
{
    for (int i = 0; i < def->boneCount; ++i)
        if (CheckBone(def, i, message) < 0)
            return snw_errorArgument;
    for (int i = 0; i < def->jointCount; ++i)
        if (CheckJointDef(def, i, message) < 0)
            return snw_errorArgument;
    for (int i = 0; i < def->handleCount; ++i)
    {
        const snwHandleDef* handle = &def->handles[i];
        bool kind = handle->kind >= snw_handlePoint && handle->kind <= snw_handleBone;
        if (!kind || !snwVec3_IsWithin(handle->position, SNW_MAX_POSITION) || handle->given > snw_dofAll)
            return snwFail(message, snw_errorArgument, NULL, "handles[%d] is out of range", i);
    }

    for (int i = 0; i < def->constraintCount; ++i)
        if (CheckConstraint(def, i, message) < 0)
            return snw_errorArgument;

    // Weights last: they name bones and handles.
    snwResult result = CheckWeights(def, &def->boneWeights, def->boneCount, "boneWeights", message);
    return result < 0 ? result : CheckWeights(def, &def->handleWeights, def->handleCount, "handleWeights", message);
}

// Keys so near to each other that velocities between them lose all meaning, also across the wrap of a loop. There a key
// at the end is the same instant as one at the start.
static snwResult CheckGaps(const snwMotionDef* motion, const snwTrackDef* track, snwMessage* message)
{
    const snwKey *first = &track->keys[0], *last = &track->keys[track->keyCount - 1];
    bool closed = motion->loop && first->time == 0.0 && last->time == motion->duration;
    double least = motion->loop && !closed ? first->time + motion->duration - last->time : motion->duration;
    for (int i = 1; i < track->keyCount; ++i)
        least = fmin(least, track->keys[i].time - track->keys[i - 1].time);
    if (least < SNW_MIN_KEY_GAP)
        return snwFail(message, snw_errorArgument, "remove one of them", "keys are %g s apart, at least %g s is needed",
            least, SNW_MIN_KEY_GAP);
    double way = snwVec3_Distance(first->transform.position, last->transform.position);
    double turn = snwQuat_Angle(first->transform.rotation, last->transform.rotation);
    if (closed && (way > 1e-6 || turn > 1e-6))
        return snwFail(message, snw_errorArgument, "make the key at the end equal to the one at 0, or remove it",
            "the loop does not close: its ends are %g m and %g rad apart", way, turn);
    return snw_ok;
}

static snwResult CheckTrack(
    const snwCharacterDef* def, const snwMotionDef* motion, const snwTrackDef* track, bool* moved, snwMessage* message)
{
    if (track->bone < 0 || track->bone >= def->boneCount)
        return snwFail(message, snw_errorArgument, NULL, "moves bone %d of %d", track->bone, def->boneCount);
    if (moved[track->bone])
        return snwFail(message, snw_errorArgument, "put their keys into one track", "bone '%s' has a track already",
            def->bones[track->bone].name);
    moved[track->bone] = true;
    snwResult result = snwCheckKeys(track->keys, track->keyCount, motion->duration, message);
    return result < 0 ? result : CheckGaps(motion, track, message);
}

static snwResult CheckMotion(const snwCharacterDef* def, const snwMotionDef* motion, bool* moved, snwMessage* message)
{
    if (!(motion->duration > 0.0 && motion->duration <= SNW_MAX_MOTION))
        return snwFail(message, snw_errorArgument, NULL, "duration must be > 0 and at most %g s, is %g", SNW_MAX_MOTION,
            motion->duration);
    if (motion->trackCount < 0 || motion->trackCount > def->boneCount ||
        (motion->trackCount > 0 && motion->tracks == NULL))
        return snwFail(message, snw_errorArgument, NULL, "has %d tracks for %d bones, or no array", motion->trackCount,
            def->boneCount);

    memset(moved, 0, (size_t)def->boneCount * sizeof *moved);

    // A bone has one track in a motion.
    for (int i = 0; i < motion->trackCount; ++i)
        if (CheckTrack(def, motion, &motion->tracks[i], moved, message) < 0)
        {
            snwMessage_AddPlace(message, "tracks[%d]", i);
            return snw_errorArgument;
        }

    snwResult result = snwVertexTrack_Check(motion, &motion->vertices, def->vertexCount, SNW_MAX_POSITION, message);
    if (result < 0)
        snwMessage_AddPlace(message, "vertices");
    return result;
}

static snwResult CheckMotions(snwContext* context, const snwCharacterDef* def, snwMessage* message)
{
    bool* moved = snwAllocArray(context, (size_t)def->boneCount, sizeof *moved);
    snwResult result = moved != NULL ? snw_ok : snwFailMemory(message);
    for (int i = 0; i < def->motionCount && result == snw_ok; ++i)
    {
        result = CheckMotion(def, &def->motions[i], moved, message);
        if (result < 0)
            snwMessage_AddPlace(message, "motions[%d]", i);
    }
    snwFree(context, moved);
    return result;
}

_Static_assert(offsetof(snwBoneDef, name) == 0 && offsetof(snwMotionDef, name) == 0, "snwCheckNames reads it there");

snwResult snwCharacterDef_Check(snwContext* context, const snwCharacterDef* def, snwMessage* message)
{
    snwResult result = CheckCounts(def, message);
    result = result < 0 ? result : CheckBodyMesh(def, message);
    result = result < 0 ? result : CheckCharacterLook(def, message);
    result = result < 0 ? result : CheckRig(def, message);
    if (result == snw_ok)
        result = snwCheckNames(context, def->bones, sizeof *def->bones, def->boneCount, "bones", true, message);
    if (result == snw_ok)
        result = snwCheckNames(
            context, def->motions, sizeof *def->motions, def->motionCount, "motions", false, message);
    return result < 0 ? result : CheckMotions(context, def, message);
}
