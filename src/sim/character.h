// A character: immutable once made, shared by scenes and sims, with the models that methods prepared from it.

#pragma once

#include "base/arena.h"
#include "geom/mesh.h"
#include "rig/skeleton.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct snwMethod snwMethod;

// What a method prepared for this character; see snwMethod.createModel.
typedef struct snwModel
{
    const snwMethod* method;
    uint64_t key;
    void* data;
    struct snwShape* shape; // NULL: the method has none
    struct snwModel* next;
} snwModel;

struct snwCharacter
{
    snwContext* context;
    snwArena arena;
    atomic_int references;
    snwCharacterDef def; // deep copy; regions, masses and materials are always there
    uint64_t hash;       // of the definition

    snwElements elements; // its tets, hexes or triangles, whichever it has
    int* vertexBones;     // the bone that owns each vertex, -1: flesh
    int elasticVertexCount;
    snwSkeleton skeleton;

    int (*edges)[2]; // of the elements and the extra ones
    int edgeCount;
    int* skinVertices; // mesh vertex of each skin vertex
    int skinVertexCount;
    int (*skinTriangles)[3]; // of skin vertices
    int skinTriangleCount;
    float* restPositions; // of the skin, 3 per vertex
    float* restNormals;
    double* restVolumes; // m^3, one per element
    double* masses;      // kg, one per vertex
    double mass, volume; // kg, m^3
    snwVec3 centre;      // m, of mass, in the rest pose
    snwVec3 lower, upper;
    double meanEdge; // m
    int touchCount;  // vertices that touch things: those of the skin, or all where there is none

    pthread_mutex_t modelMutex; // of the list below: the one thing that grows
    snwModel* models;
    atomic_int modelCount;
};

// Everything but what snwCreateCharacter finds while it builds.
snwResult snwCharacterDef_Check(snwContext* context, const snwCharacterDef* def, snwMessage* message);

// The same as snwCharacter_Load, but with another name and source; NULL: its own.
snwResult snwCharacter_LoadAs(snwContext* context, const void* data, size_t size, const char* name, const char* source,
    snwCharacter** character, snwMessage* message);

// The handles, or the bones if there are none.
int snwCharacterDef_HandleCount(const snwCharacterDef* def);

// m, in the rest pose: what positions of a handle are the positions of, and what it turns about. A bone's is its joint,
// or its head without one.
snwVec3 snwCharacterDef_HandlePoint(const snwCharacterDef* def, int handle);
snwVec3 snwCharacterDef_BonePoint(const snwCharacterDef* def, int bone);

// The bone of this name, and the one that a handle is: by its name, or its number where bones are the handles. -1:
// none.
int snwCharacterDef_FindBone(const snwCharacterDef* def, const char* name);
int snwCharacterDef_BoneOfHandle(const snwCharacterDef* def, int handle);

snwElements snwCharacterDef_Elements(const snwCharacterDef* def);
const char* snwCharacterDef_ElementsName(const snwCharacterDef* def); // "tets", "hexes" or "triangles"

// m^3 in the rest pose: signed, of a flat character area times thickness.
double snwCharacterDef_ElementVolume(const snwCharacterDef* def, int element);

// Unit normals of the skin for these positions of its vertices.
void snwCharacter_SkinNormals(const snwCharacter* character, const float* positions, float* normals);

// Masses of the vertices with other materials (as many as the character has).
void snwCharacter_ComputeMasses(const snwCharacter* character, const snwMaterial* materials, double* masses);

// Sums over the vertices of a bone, by mass.
typedef struct snwBoneFit
{
    double mass;      // kg
    snwVec3 from, to; // kg m: at rest and now
    snwMat3 moment;   // kg m^2: now times at rest
} snwBoneFit;

// The rigid motions nearest to what the vertices of each bone did, from rest to positions; fits: room for one per bone.
void snwCharacter_FitBones(
    const snwCharacter* character, const snwVec3* positions, snwBoneFit* fits, snwTransform* motions);

snwResult snwMaterial_Check(const snwMaterial* material, snwMessage* message);
