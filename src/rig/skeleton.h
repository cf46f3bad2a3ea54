// Forward kinematics: bones that follow their parents through a motion, and how far joints are bent beyond what they
// allow.

#pragma once

#include "base/arena.h"
#include "math/transform.h"

typedef struct snwSkeleton
{
    const snwBoneDef* bones;
    int boneCount;
    const snwJointDef* joints;
    int jointCount;
    int* order;      // of the bones, parents first
    snwVec3* pivots; // m, in the rest pose, one per bone: its first joint, or its head
} snwSkeleton;

// Needs checked bones and joints, which must outlive it; refuses bones that follow each other in a circle.
snwResult snwSkeleton_Build(snwArena* arena, const snwBoneDef* bones, int boneCount, const snwJointDef* joints,
    int jointCount, snwSkeleton* skeleton, snwMessage* message);

// What the keys of a track say at a time, before pivot and parents.
snwTransform snwTrack_Evaluate(const snwMotionDef* motion, const snwTrackDef* track, double time);

// What takes the rest pose to now, per bone; motion NULL: the rest pose.
void snwSkeleton_Pose(const snwSkeleton* skeleton, const snwMotionDef* motion, double time, snwTransform* bones);

// rad, >= 0: the farthest that the joint is turned beyond its limits in this pose. Lengths (the range of prismatic
// joints, gaps) do not count.
double snwSkeleton_JointExcess(const snwSkeleton* skeleton, int joint, const snwTransform* bones);

int snwJointType_Freedom(snwJointType type); // degrees of freedom
bool snwJointType_Slides(snwJointType type); // its range is a length: m, not rad
