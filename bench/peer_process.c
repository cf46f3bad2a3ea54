#define _GNU_SOURCE // environ

#include "peer_process.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool FindPath(const char* name, char path[PATH_MAX])
{
    const char* folder = getenv("SINEW_PEERS");
    if (folder != NULL)
        return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX && access(path, X_OK) == 0;
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    char* slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    size_t room = (size_t)(path + PATH_MAX - slash);
    return snprintf(slash, room, "/%s", name) < (int)room && access(path, X_OK) == 0;
}

bool snwPeer_Exists(const char* name)
{
    char path[PATH_MAX];
    return FindPath(name, path);
}

static bool Run(const char* path, const char* name, int input, int output)
{
    char* const arguments[] = {(char*)name, NULL}; // posix_spawn changes nothing
    posix_spawn_file_actions_t actions;
    pid_t process;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;

    // One thread for all. A BLAS that may have more lets them wait in loops, which counts as processor time: PETSc then
    // seems to take twice as long as it does.
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
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

json_t* snwPeer_Run(const char* name, FILE* input)
{
    char path[PATH_MAX];
    FILE* answer = tmpfile();
    json_t* json = NULL;
    if (answer != NULL && FindPath(name, path) && fflush(input) == 0 && fseek(input, 0, SEEK_SET) == 0 &&
        Run(path, name, fileno(input), fileno(answer)))
    {
        rewind(answer);
        json = json_loadf(answer, 0, NULL);
    }
    if (answer != NULL)
        fclose(answer);
    return json;
}
