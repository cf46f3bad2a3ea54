// Helper programs at arm's length: started without a shell, fed and read through a socket under limits of time and
// size, ended for sure. What they say is for the caller to judge; that they crash is not our end.

#define _GNU_SOURCE // SOCK_CLOEXEC, environ, wait4

#include "asset/helper.h"

#include "base/clock.h"
#include "scene/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum
{
    snw_helperChunk = 1 << 20,
};

// ---------------------------------------------------------------------------------------------------------------------
// Where the helper is

static bool IsProgram(const char* path)
{
    return access(path, X_OK) == 0;
}

static bool FindHelper(const char* program, const char* variable, char path[PATH_MAX])
{
    const char* given = getenv(variable);
    if (given != NULL && given[0] != 0)
    {
        snprintf(path, PATH_MAX, "%s", given);
        return IsProgram(path);
    }
    return snwPathBesideProgram(program, path, PATH_MAX) && IsProgram(path);
}

bool snwHelper_Exists(const char* program, const char* variable)
{
    char path[PATH_MAX];
    return FindHelper(program, variable, path);
}

// ---------------------------------------------------------------------------------------------------------------------
// Talking to it

typedef struct Helper
{
    pid_t pid;
    int socket;
    double deadline; // s
} Helper;

static int Spawn(const char* path, const snwHelperDef* def, int socket, pid_t* pid)
{
    char* const arguments[] = {(char*)def->program, (char*)def->argument, NULL}; // posix_spawn changes nothing
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

static bool StartHelper(Helper* helper, const char* path, const snwHelperDef* def, snwMessage* message)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    {
        snwFail(message, snw_errorIo, NULL, "no socket for %s: %s", def->program, strerror(errno));
        return false;
    }
    int error = Spawn(path, def, ends[1], &helper->pid);
    close(ends[1]);
    helper->socket = ends[0];
    helper->deadline = snwClock_Seconds() + def->seconds;
    if (error == 0)
        return true;
    close(ends[0]);
    snwFail(message, snw_errorIo, NULL, "%s does not start: %s", def->program, strerror(error));
    return false;
}

// False when time is up.
static bool WaitForHelper(const Helper* helper, short events)
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
static bool SendToHelper(const Helper* helper, const char* data, size_t size)
{
    for (size_t sent = 0; sent < size;)
    {
        if (!WaitForHelper(helper, POLLOUT))
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
static bool ReceiveBlock(const Helper* helper, size_t most, snwWriter* block)
{
    while (block->size < most)
    {
        unsigned char* room = snwWriter_Reserve(block, snw_helperChunk);
        if (room == NULL)
            return true;
        if (!WaitForHelper(helper, POLLIN))
            return false;
        ssize_t part = recv(helper->socket, room, snw_helperChunk, 0);
        if (part == 0 || (part < 0 && errno != EINTR))
            return true;
        block->size += part > 0 ? (size_t)part : 0;
    }
    return true;
}

// Its wait status. One that answered and does not end is killed when its time is up; a hundred looks in a second are
// little beside starting a program.
static int EndHelper(const Helper* helper, bool* inTime, bool unwanted, struct rusage* usage)
{
    int status = 0;
    close(helper->socket);
    if (unwanted)
        kill(helper->pid, SIGKILL);
    for (;;)
    {
        pid_t ended = wait4(helper->pid, &status, unwanted ? 0 : WNOHANG, usage);
        if (ended == helper->pid || (ended < 0 && errno != EINTR))
            return status;

        // Killed, it is waited for without looking at the clock.
        if (ended == 0 && snwClock_Seconds() > helper->deadline)
        {
            kill(helper->pid, SIGKILL);
            *inTime = false;
            unwanted = true;
        }
        else if (ended == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

// ---------------------------------------------------------------------------------------------------------------------

static snwHelperEnd JudgeEnd(int status, bool inTime)
{
    if (!inTime || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
        return snw_helperLate;
    if (WIFSIGNALED(status))
        return snw_helperCrashed;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? snw_helperDone : snw_helperFailed;
}

snwResult snwHelper_Run(const snwHelperDef* def, snwWriter* output, snwHelperRun* run, snwMessage* message)
{
    char path[PATH_MAX];
    Helper helper = {0};
    struct rusage usage = {0};
    *run = (snwHelperRun){.end = snw_helperAbsent};
    if (!FindHelper(def->program, def->variable, path))
        return snw_ok;
    if (!StartHelper(&helper, path, def, message))
        return snw_errorIo;
    bool inTime = SendToHelper(&helper, def->input, def->inputSize) && ReceiveBlock(&helper, def->mostOutput, output);
    bool unwanted = !inTime || output->failed || output->size >= def->mostOutput;
    int status = EndHelper(&helper, &inTime, unwanted, &usage);
    run->end = JudgeEnd(status, inTime);
    run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    run->megabytes = (double)usage.ru_maxrss / 1024;
    return output->failed ? snwFailMemory(message) : snw_ok;
}
