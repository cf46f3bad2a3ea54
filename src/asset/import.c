// FBX, DAE and BVH through assimp, at arm's length: the helper program sinew-import (an optional build) reads the file
// under limits of memory and time and hands back a plain block. If it crashes, hangs or raves, that is an error
// message.
//
// One socket is the helper's input and output. The helper reads all before it writes, so neither waits for the other;
// and send can be told to raise no SIGPIPE, which a library may not.

#define _GNU_SOURCE // SOCK_CLOEXEC, environ

#include "asset/import_block.h"
#include "asset/rig_parts.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum
{
    snw_importSeconds = 120,
    snw_importChunk = 1 << 20,
};

// ---------------------------------------------------------------------------------------------------------------------
// Where the helper is

static bool IsProgram(const char* path)
{
    return access(path, X_OK) == 0;
}

// SINEW_IMPORT, or beside the running program.
static bool FindHelper(char path[PATH_MAX])
{
    const char* given = getenv("SINEW_IMPORT");
    if (given != NULL && given[0] != 0)
    {
        snprintf(path, PATH_MAX, "%s", given);
        return IsProgram(path);
    }
    char self[PATH_MAX - 16];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = 0;
    char* slash = strrchr(self, '/');
    if (slash == NULL)
        return false;
    *slash = 0;
    snprintf(path, PATH_MAX, "%s/sinew-import", self);
    return IsProgram(path);
}

// ---------------------------------------------------------------------------------------------------------------------
// Talking to it

typedef struct Helper
{
    pid_t pid;
    int socket;
    double deadline; // s
} Helper;

static int Spawn(const char* path, const char* ending, int socket, pid_t* pid)
{
    char* const arguments[] = {(char*)"sinew-import", (char*)ending, NULL}; // posix_spawn changes nothing
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, socket, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, socket, 1);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (error == 0)
        error = posix_spawn(pid, path, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static bool Start(Helper* helper, const char* path, const char* ending, snwMessage* message)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    {
        snwFail(message, snw_errorIo, NULL, "no socket for sinew-import: %s", strerror(errno));
        return false;
    }
    int error = Spawn(path, ending, ends[1], &helper->pid);
    close(ends[1]);
    helper->socket = ends[0];
    helper->deadline = snwClock_Seconds() + snw_importSeconds;
    if (error == 0)
        return true;
    close(ends[0]);
    snwFail(message, snw_errorIo, NULL, "sinew-import does not start: %s", strerror(error));
    return false;
}

// False when time is up.
static bool Wait(const Helper* helper, short events)
{
    for (;;)
    {
        double left = helper->deadline - snwClock_Seconds();
        struct pollfd fd = {.fd = helper->socket, .events = events};
        int ready = left > 0 ? poll(&fd, 1, (int)(left * 1000) + 1) : 0;
        if (ready > 0 || left <= 0)
            return ready > 0;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

// A helper that does not take all of it has ended; what it said tells why.
static bool Send(const Helper* helper, const char* data, size_t size)
{
    for (size_t sent = 0; sent < size;)
    {
        if (!Wait(helper, POLLOUT))
            return false;
        ssize_t part = send(helper->socket, data + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (part < 0 && errno != EINTR && errno != EAGAIN)
            break;
        sent += part > 0 ? (size_t)part : 0;
    }
    shutdown(helper->socket, SHUT_WR);
    return true;
}

// False when time is up; too much is cut off, and the block is then no block.
static bool Receive(const Helper* helper, snwWriter* block)
{
    while (block->size < (size_t)snw_maxAssetBytes)
    {
        unsigned char* room = snwWriter_Reserve(block, snw_importChunk);
        if (room == NULL)
            return true;
        if (!Wait(helper, POLLIN))
            return false;
        ssize_t part = recv(helper->socket, room, snw_importChunk, 0);
        if (part == 0 || (part < 0 && errno != EINTR))
            return true;
        block->size += part > 0 ? (size_t)part : 0;
    }
    return true;
}

// Its wait status. Whatever it still does, it is no longer wanted.
static int End(const Helper* helper, bool kill9)
{
    int status = 0;
    close(helper->socket);
    if (kill9)
        kill(helper->pid, SIGKILL);
    while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

static snwResult Explain(int status, bool inTime, snwMessage* message)
{
    const char* remedy = "export the file again, best as glTF";
    if (!inTime)
        return snwFail(message, snw_errorInput, remedy, "assimp did not come to an end in %d s", snw_importSeconds);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return snwFail(message, snw_errorInput, remedy, "assimp took too long");
    if (WIFSIGNALED(status))
        return snwFail(message, snw_errorInput, remedy, "assimp crashed on this file (signal %d)", WTERMSIG(status));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return snwFail(message, snw_errorInput, remedy, "sinew-import failed on this file");
    return snw_ok;
}

static snwResult Talk(const Helper* helper, const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    snwWriter block = {.context = asset->context};
    bool inTime = Send(helper, input->data, input->size) && Receive(helper, &block);
    int status = End(helper, !inTime || block.failed || block.size >= (size_t)snw_maxAssetBytes);
    snwResult result = block.failed ? snwFailMemory(message) : Explain(status, inTime, message);
    if (result >= 0)
        result = snwImportBlock_Read(asset, block.data, block.size, message);
    snwFree(asset->context, block.data);
    return result;
}

snwResult snwImport_Read(const snwAssetInput* input, snwAsset* asset, snwMessage* message)
{
    char path[PATH_MAX], ending[8] = "";
    Helper helper = {0};
    const char* dot = strrchr(input->name, '.');
    for (int i = 0; i < 7 && dot != NULL && dot[i + 1] != 0; ++i)
        ending[i] = (char)(dot[i + 1] >= 'A' && dot[i + 1] <= 'Z' ? dot[i + 1] + 32 : dot[i + 1]);
    if (!FindHelper(path))
        return snwFail(message, snw_errorUnsupported, "build with `make ASSIMP=1`, or export the file as glTF",
            "FBX, DAE and BVH are read by the program sinew-import, which is not here");
    if (!Start(&helper, path, ending, message))
        return snw_errorIo;
    return Talk(&helper, input, asset, message);
}

const snwAssetReader snw_importReader = {snw_assetScene, "FBX, DAE or BVH", ".fbx .dae .bvh", snwImport_Read};
