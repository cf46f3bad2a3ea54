#include "peer_bullet.h"

#include "peer_process.h"

#include <stdio.h>

static const char s_helper[] = "sinew-peer-bullet";
static const char s_missing[] = "sinew-peer-bullet is not beside this program: make bench-deps, then build again";

static bool WriteMesh(const snwBulletDef* def, FILE* file)
{
    const snwCharacter* character = def->character;
    int vertices = character->def.vertexCount;
    fprintf(file, "links %d %d %d %d\n", vertices, character->edgeCount, def->iterations, def->steps);
    for (int i = 0; i < vertices; ++i)
    {
        snwVec3 x = character->def.vertices[i];
        fprintf(file, "%.9g %.9g %.9g %.9g\n", x.x, x.y, x.z, def->masses[i]);
    }
    for (int i = 0; i < character->edgeCount; ++i)
        fprintf(file, "%d %d\n", character->edges[i][0], character->edges[i][1]);
    return ferror(file) == 0;
}

bool snwMeasureBullet(const snwBulletDef* def, snwBulletTimes* times, const char** why)
{
    *why = s_missing;
    if (!snwPeer_Exists(s_helper))
        return false;
    FILE* mesh = tmpfile();
    *why = "no room for temporary files";
    bool good = mesh != NULL && WriteMesh(def, mesh);
    if (good)
    {
        json_t* json = snwPeer_Run(s_helper, mesh);
        *why = "sinew-peer-bullet failed on this mesh";
        good = json_unpack(json, "{s:i, s:i, s:i, s:F, s:F, s:F, s:F}", "version", &times->version, "scalar_bytes",
                   &times->scalarBytes, "links", &times->linkCount, "link_ns", &times->linkNs, "plain_link_ns",
                   &times->plainNs, "reordered_link_ns", &times->reorderedNs, "step_ms", &times->stepMs) == 0;
        json_decref(json);
    }
    if (mesh != NULL)
        fclose(mesh);
    return good;
}

static bool WriteFlesh(const snwBulletFlesh* flesh, FILE* file)
{
    fprintf(file, "tets %d %d %d %.9g %.9g %.9g\n", flesh->vertexCount, flesh->tetCount, flesh->steps, flesh->mu,
        flesh->lambda, flesh->step);
    for (int i = 0; i < flesh->vertexCount; ++i)
    {
        snwVec3 x = flesh->vertices[i];
        fprintf(file, "%.9g %.9g %.9g %.9g\n", x.x, x.y, x.z, flesh->masses[i]);
    }
    for (int i = 0; i < flesh->tetCount; ++i)
    {
        const int* v = flesh->tets + 4 * (size_t)i;
        fprintf(file, "%d %d %d %d\n", v[0], v[1], v[2], v[3]);
    }
    return ferror(file) == 0;
}

bool snwMeasureBulletFlesh(const snwBulletFlesh* flesh, snwBulletFleshTimes* times, const char** why)
{
    *why = s_missing;
    if (!snwPeer_Exists(s_helper))
        return false;
    FILE* mesh = tmpfile();
    *why = "no room for temporary files";
    bool good = mesh != NULL && WriteFlesh(flesh, mesh);
    if (good)
    {
        json_t* json = snwPeer_Run(s_helper, mesh);
        *why = "sinew-peer-bullet failed on this mesh";
        good = json_unpack(json, "{s:i, s:F, s:F}", "version", &times->version, "step_ms", &times->stepMs, "lowest",
                   &times->lowest) == 0;
        json_decref(json);
    }
    if (mesh != NULL)
        fclose(mesh);
    return good;
}
