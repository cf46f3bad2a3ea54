#include "peer_bullet.h"

#include "peer_process.h"

#include <stdio.h>

static const char s_helper[] = "sinew-peer-bullet";

static bool WriteMesh(const snwBulletDef* def, FILE* file)
{
    const snwCharacter* character = def->character;
    int vertices = character->def.vertexCount;
    fprintf(file, "%d %d %d %d\n", vertices, character->edgeCount, def->iterations, def->steps);
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
    *why = "sinew-peer-bullet is not beside this program: make bench-deps, then build again";
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
