// What the colours of the flesh tell, as numbers at the vertices of a character.

#include "view/look_values.h"

#include "sim/character.h"
#include "sim/origin.h"
#include "view/vec.h"

#include <string.h>

static const int s_tetEdges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
static const int s_hexEdges[12][2] = {
    {0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
static const int s_triangleEdges[3][2] = {{0, 1}, {1, 2}, {2, 0}};
static const int s_springEdges[1][2] = {{0, 1}};

// Elements of any kind.
typedef struct Cells
{
    const int* vertices;
    int count, size; // size: vertices of each
    const int (*edges)[2];
    int edgeCount;
} Cells;

static Cells GetCells(const snwCharacterDef* def)
{
    if (def->tetCount > 0)
        return (Cells){def->tets[0], def->tetCount, 4, s_tetEdges, 6};
    if (def->hexCount > 0)
        return (Cells){def->hexes[0], def->hexCount, 8, s_hexEdges, 12};
    if (def->triangleCount > 0)
        return (Cells){def->triangles[0], def->triangleCount, 3, s_triangleEdges, 3};
    return (Cells){0};
}

static const float* LookValueAt(const float* data, int stride, int index)
{
    return (const float*)((const char*)data + (size_t)index * (size_t)stride);
}

static void Raise(float* value, float other)
{
    *value = other > *value ? other : *value;
}

static void AddEdgeStretches(const snwCharacterDef* def, const snwVertices* now, Cells cells, float* values)
{
    for (int c = 0; c < cells.count; ++c)
        for (int e = 0; e < cells.edgeCount; ++e)
        {
            const int* v = cells.vertices + (size_t)c * (size_t)cells.size;
            int a = v[cells.edges[e][0]], b = v[cells.edges[e][1]];
            snwFloat3 rest = snwFloat3_Sub(snwFloat3_FromVec3(def->vertices[a]), snwFloat3_FromVec3(def->vertices[b]));
            snwFloat3 span = snwFloat3_Sub(snwFloat3_Load(LookValueAt(now->positions, now->stride, a)),
                snwFloat3_Load(LookValueAt(now->positions, now->stride, b)));
            float before = snwFloat3_Length(rest);
            float change = before > 0 ? 100 * fabsf(snwFloat3_Length(span) / before - 1) : 0;
            Raise(&values[a], change);
            Raise(&values[b], change);
        }
}

static void FindStrainValues(const snwCharacterDef* def, const snwVertices* now, float* values)
{
    AddEdgeStretches(def, now, GetCells(def), values);
    if (def->edgeCount > 0)
        AddEdgeStretches(def, now, (Cells){def->edges[0], def->edgeCount, 2, s_springEdges, 1}, values);
}

static void FindSpeed(const snwCharacterDef* def, const snwVertices* now, float* values)
{
    for (int i = 0; i < def->vertexCount; ++i)
        values[i] = snwFloat3_Length(snwFloat3_Load(LookValueAt(now->velocities, now->stride, i)));
}

static const snwContact* LookContactAt(const snwContacts* contacts, int index)
{
    return (const snwContact*)((const char*)contacts->data + (size_t)index * (size_t)contacts->stride);
}

static void FindContact(const snwSim* sim, int body, float* values)
{
    snwContacts contacts = {0};
    snwSim_GetContacts(sim, &contacts);
    for (int i = 0; i < contacts.count; ++i)
    {
        const snwContact* contact = LookContactAt(&contacts, i);
        if (contact->body == body)
            values[contact->vertex] += snwFloat3_Length(snwFloat3_Load(contact->force));
    }
}

// Materials may change while a sim runs: those of now count.
static void FindStiffness(const snwCharacterDef* def, const snwMaterial* materials, float* values)
{
    Cells cells = GetCells(def);
    for (int c = 0; c < cells.count; ++c)
        for (int k = 0; k < cells.size; ++k)
            Raise(&values[cells.vertices[(size_t)c * (size_t)cells.size + (size_t)k]],
                (float)materials[def->regions != NULL ? def->regions[c] : 0].young);
}

bool snwFindLookValues(const snwSim* sim, int body, snwFilmLook look, float* values)
{
    const snwCharacterDef* def = &sim->bodies[body].character->def;
    snwVertices now = {0};
    if (look < snw_filmStrain || look > snw_filmStiffness)
        return false;
    snwSim_SeeVertices(sim, body, 0, *sim->bodies[body].origin, &now);
    memset(values, 0, (size_t)def->vertexCount * sizeof *values);
    if (look == snw_filmStrain)
        FindStrainValues(def, &now, values);
    else if (look == snw_filmSpeed)
        FindSpeed(def, &now, values);
    else if (look == snw_filmContact)
        FindContact(sim, body, values);
    else
        FindStiffness(def, sim->bodies[body].materials, values);
    return true;
}
