// A character: immutable once made, shared by scenes and sims, with the models that methods prepared from it.

#pragma once

#include "base/arena.h"
#include "math/transform.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct snwMethod snwMethod;

// What a method prepared for this character; see snwMethod.createModel.
typedef struct snwModel
{
    const snwMethod* method;
    uint64_t key;
    void* data;
    struct snwModel* next;
} snwModel;

struct snwCharacter
{
    snwContext* context;
    snwArena arena;
    atomic_int references;
    snwCharacterDef def; // deep copy; regions, masses and materials are always there
    uint64_t hash;       // of the definition

    int (*edges)[2]; // of the tets and the extra ones
    int edgeCount;
    int* skinVertices; // mesh vertex of each skin vertex
    int skinVertexCount;
    int (*skinTriangles)[3]; // of skin vertices
    int skinTriangleCount;
    double* restVolumes; // m^3, one per tet
    double* masses;      // kg, one per vertex
    double mass, volume; // kg, m^3
    snwVec3 lower, upper;

    pthread_mutex_t modelMutex; // of the list below: the one thing that grows
    snwModel* models;
    atomic_int modelCount;
};

// Masses of the vertices with other materials (as many as the character has).
void snwCharacter_ComputeMasses(const snwCharacter* character, const snwMaterial* materials, double* masses);

snwResult snwMaterial_Check(const snwMaterial* material, snwMessage* message);
