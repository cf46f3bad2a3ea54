#include "io_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static struct
{
    bool armed;
    snwFault fault;
    int at, error, calls;
} s_io;

void snwIo_Arm(snwFault fault, int at, int error)
{
    s_io.armed = true;
    s_io.fault = fault;
    s_io.at = at;
    s_io.error = error;
    s_io.calls = 0;
}

int snwIo_Disarm(void)
{
    s_io.armed = false;
    return s_io.calls;
}

// What happens to this call; Die never comes back.
static snwFault Next(bool writes)
{
    if (!s_io.armed)
        return snw_faultNone;
    int call = ++s_io.calls;
    if (s_io.fault == snw_faultShort)
        return writes ? snw_faultShort : snw_faultNone;
    if (s_io.fault == snw_faultFull)
        return writes && call >= s_io.at ? snw_faultError : snw_faultNone;
    if (call != s_io.at)
        return snw_faultNone;
    if (s_io.fault == snw_faultDie)
        _exit(snw_exitByFault);
    return s_io.fault;
}

static int Fails(void)
{
    errno = s_io.error;
    return -1;
}

// A call that is done whole or not at all.
#define WRAP(call)                                                                                                     \
    do                                                                                                                 \
    {                                                                                                                  \
        snwFault fault = Next(false);                                                                                  \
        if (fault == snw_faultError)                                                                                   \
            return Fails();                                                                                            \
        int result = (call);                                                                                           \
        if (fault == snw_faultHalf)                                                                                    \
            _exit(snw_exitByFault);                                                                                    \
        return result;                                                                                                 \
    } while (0)

int __real_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, ...);
ssize_t __real_pwrite(int file, const void* data, size_t size, off_t place);
ssize_t __wrap_pwrite(int file, const void* data, size_t size, off_t place);
int __real_posix_fallocate(int file, off_t place, off_t size);
int __wrap_posix_fallocate(int file, off_t place, off_t size);
int __real_fsync(int file);
int __wrap_fsync(int file);
int __real_ftruncate(int file, off_t size);
int __wrap_ftruncate(int file, off_t size);
int __real_rename(const char* from, const char* to);
int __wrap_rename(const char* from, const char* to);
int __real_link(const char* from, const char* to);
int __wrap_link(const char* from, const char* to);
int __real_unlink(const char* path);
int __wrap_unlink(const char* path);
size_t __real_fwrite(const void* data, size_t size, size_t count, FILE* stream);
size_t __wrap_fwrite(const void* data, size_t size, size_t count, FILE* stream);
int __real_fflush(FILE* stream);
int __wrap_fflush(FILE* stream);

int __wrap_open(const char* path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(args, int) : 0;
    va_end(args);
    WRAP(__real_open(path, flags, mode));
}

ssize_t __wrap_pwrite(int file, const void* data, size_t size, off_t place)
{
    snwFault fault = Next(true);
    if (fault == snw_faultError)
        return Fails();
    bool half = (fault == snw_faultHalf || fault == snw_faultShort) && size > 1;
    ssize_t result = __real_pwrite(file, data, half ? size / 2 : size, place);
    if (fault == snw_faultHalf)
        _exit(snw_exitByFault);
    return result;
}

// Gives its errno back instead of setting it.
int __wrap_posix_fallocate(int file, off_t place, off_t size)
{
    snwFault fault = Next(true);
    if (fault == snw_faultError)
        return s_io.error;
    int result = __real_posix_fallocate(file, place, size);
    if (fault == snw_faultHalf)
        _exit(snw_exitByFault);
    return result;
}

int __wrap_fsync(int file)
{
    WRAP(__real_fsync(file));
}

int __wrap_ftruncate(int file, off_t size)
{
    WRAP(__real_ftruncate(file, size));
}

int __wrap_rename(const char* from, const char* to)
{
    WRAP(__real_rename(from, to));
}

int __wrap_link(const char* from, const char* to)
{
    WRAP(__real_link(from, to));
}

int __wrap_unlink(const char* path)
{
    WRAP(__real_unlink(path));
}

// Into the buffer of a stream: nothing of it reaches the disk before fflush.
size_t __wrap_fwrite(const void* data, size_t size, size_t count, FILE* stream)
{
    snwFault fault = Next(false);
    if (fault == snw_faultError)
    {
        errno = s_io.error;
        return 0;
    }
    size_t result = __real_fwrite(data, size, count, stream);
    if (fault == snw_faultHalf)
        _exit(snw_exitByFault);
    return result;
}

int __wrap_fflush(FILE* stream)
{
    snwFault fault = Next(true);
    if (fault == snw_faultError)
        return Fails();
    int result = __real_fflush(stream);
    if (fault == snw_faultHalf)
        _exit(snw_exitByFault);
    return result;
}
