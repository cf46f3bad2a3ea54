#define _GNU_SOURCE // environ

#include "peer_bullet.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Beside the running program.
static bool FindHelper(char path[PATH_MAX])
{
    static const char name[] = "/sinew-peer-bullet";
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof name);
    if (length <= 0)
        return false;
    path[length] = 0;
    char* slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    memcpy(slash, name, sizeof name);
    return access(path, X_OK) == 0;
}

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
    return fflush(file) == 0 && fseek(file, 0, SEEK_SET) == 0;
}

static bool RunHelper(const char* path, int input, int output)
{
    char* const arguments[] = {(char*)"sinew-peer-bullet", NULL}; // posix_spawn changes nothing
    posix_spawn_file_actions_t actions;
    pid_t process;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool good = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) == 0 &&
                posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0 &&
                posix_spawn(&process, path, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!good)
        return false;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool ReadTimes(FILE* file, snwBulletTimes* times)
{
    rewind(file);
    json_t* json = json_loadf(file, 0, NULL);
    bool good = json_unpack(json, "{s:i, s:i, s:i, s:F, s:F, s:F, s:F}", "version", &times->version, "scalar_bytes",
                    &times->scalarBytes, "links", &times->linkCount, "link_ns", &times->linkNs, "plain_link_ns",
                    &times->plainNs, "reordered_link_ns", &times->reorderedNs, "step_ms", &times->stepMs) == 0;
    json_decref(json);
    return good;
}

bool snwMeasureBullet(const snwBulletDef* def, snwBulletTimes* times, const char** why)
{
    char path[PATH_MAX];
    *why = "sinew-peer-bullet is not beside this program: make bench-deps, then build again";
    if (!FindHelper(path))
        return false;
    FILE *mesh = tmpfile(), *answer = tmpfile();
    *why = "no room for temporary files";
    bool good = mesh != NULL && answer != NULL && WriteMesh(def, mesh);
    if (good)
    {
        *why = "sinew-peer-bullet failed on this mesh";
        good = RunHelper(path, fileno(mesh), fileno(answer)) && ReadTimes(answer, times);
    }
    if (mesh != NULL)
        fclose(mesh);
    if (answer != NULL)
        fclose(answer);
    return good;
}
