// The linker leads our calls of open, pwrite, posix_fallocate, fsync, ftruncate, rename, link, unlink, fwrite and
// fflush through here
// (--wrap in CMakeLists.txt), so that a test can let the n-th of them fail, fall short or be the last thing the process
// ever does. Unarmed it changes nothing.

#pragma once

typedef enum snwFault
{
    snw_faultNone,  // only counts
    snw_faultDie,   // ends the process instead of the call
    snw_faultHalf,  // does half of it (a write) or all of it, then ends the process
    snw_faultError, // the call fails with an errno
    snw_faultFull,  // it and all later writes fail with an errno
    snw_faultShort, // all writes take half of what they are given
} snwFault;

enum
{
    snw_exitByFault = 99
};

// at: from 1; error: the errno.
void snwIo_Arm(snwFault fault, int at, int error);
int snwIo_Disarm(void); // how many calls there were since
