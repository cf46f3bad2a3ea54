// The words of kinds, and names found in them for whoever links the library.

#include "sim/vocabulary.h"
#include "sinew/sinew.h"

#include <string.h>

const char* const snw_jointTypeWords[] = {
    [snw_jointBall] = "ball",
    [snw_jointHinge] = "hinge",
    [snw_jointUniversal] = "universal",
    [snw_jointPrismatic] = "prismatic",
    [snw_jointCylindrical] = "cylindrical",
    [snw_jointFixed] = "fixed",
    [snw_jointFree] = "free",
    NULL,
};

const char* const snw_handleKindWords[] = {
    [snw_handlePoint] = "point",
    [snw_handleCage] = "cage",
    [snw_handleBone] = "bone",
    NULL,
};

const char* const snw_dofWords[] = {"x", "y", "z", "rotation_x", "rotation_y", "rotation_z", NULL};

const char* const snw_colliderKindWords[] = {
    [snw_colliderPlane] = "plane",
    [snw_colliderSphere] = "sphere",
    [snw_colliderBox] = "box",
    [snw_colliderCapsule] = "capsule",
    [snw_colliderRoom] = "room",
    [snw_colliderStairs] = "stairs",
    [snw_colliderHeightfield] = "heightfield",
    [snw_colliderMesh] = "mesh",
    NULL,
};

const char* const snw_commandKindWords[] = {
    [snw_commandPin] = "pin",
    [snw_commandDrag] = "drag",
    [snw_commandPush] = "push",
    [snw_commandHandle] = "handle",
    [snw_commandJoint] = "joint",
    [snw_commandMaterial] = "material",
    [snw_commandGravity] = "gravity",
    [snw_commandCollider] = "collider",
    [snw_commandParam] = "param",
    [snw_commandReset] = "reset",
    [snw_commandConstraint] = "constraint",
    NULL,
};

const char* const snw_surfaceKindWords[] = {
    [snw_surfaceSoft] = "soft",
    [snw_surfaceCarried] = "carried",
    [snw_surfaceRigid] = "rigid",
    NULL,
};

const char* const snw_paramTypeWords[] = {
    [snw_paramReal] = "real",
    [snw_paramInt] = "int",
    [snw_paramBool] = "bool",
    [snw_paramChoice] = "choice",
    NULL,
};

static int FindWord(const char* const* words, const char* word)
{
    for (int i = 0; word != NULL && words[i] != NULL; ++i)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

static const char* WordAt(const char* const* words, int index)
{
    int count = 0;
    while (words[count] != NULL)
        ++count;
    return index >= 0 && index < count ? words[index] : "?";
}

const char* snwJointType_Name(snwJointType type)
{
    return WordAt(snw_jointTypeWords, (int)type);
}

int snwJointType_Find(const char* name)
{
    return FindWord(snw_jointTypeWords, name);
}

const char* snwHandleKind_Name(snwHandleKind kind)
{
    return WordAt(snw_handleKindWords, (int)kind);
}

int snwHandleKind_Find(const char* name)
{
    return FindWord(snw_handleKindWords, name);
}

const char* snwColliderKind_Name(snwColliderKind kind)
{
    return WordAt(snw_colliderKindWords, (int)kind);
}

int snwColliderKind_Find(const char* name)
{
    return FindWord(snw_colliderKindWords, name);
}

const char* snwCommandKind_Name(snwCommandKind kind)
{
    return WordAt(snw_commandKindWords, (int)kind);
}

int snwCommandKind_Find(const char* name)
{
    return FindWord(snw_commandKindWords, name);
}
