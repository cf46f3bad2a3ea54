// Files that come and go over the network: only of one folder, only plain names, never replacing anything.

#pragma once

#include "sinew/sinew.h"

enum
{
    snw_maxTransferName = 200, // bytes, with its end
};

#define SNW_MAX_UPLOAD_BYTES (512ull << 20)

// May a file of the studio's folder have this name? No slash or backslash, no leading dot, no control bytes, sound
// UTF-8, and the ending of something that we read or write.
snwResult snwFileName_Check(const char* name, snwMessage* message);

// Is written beside its place and moved there when all of it has arrived.
typedef struct snwUpload
{
    int folder, file;               // descriptors; file is -1: there is none
    char name[snw_maxTransferName]; // the one that it will get, as it looks now
    char part[snw_maxTransferName + 8];
    uint64_t expected, received; // bytes
} snwUpload;

// folder: a descriptor that stays the caller's. size: 1 .. SNW_MAX_UPLOAD_BYTES.
snwResult snwUpload_Begin(snwUpload* upload, int folder, const char* name, uint64_t size, snwMessage* message);
snwResult snwUpload_Write(snwUpload* upload, const void* data, size_t size, snwMessage* message);
snwResult snwUpload_Finish(snwUpload* upload, snwMessage* message); // fails if bytes are missing; `name` is the file's
void snwUpload_Drop(snwUpload* upload);                             // takes away what is not finished

// A descriptor to read from; -1: no such file, or it is none to be shown.
int snwDownload_Open(int folder, const char* name, uint64_t* size, snwMessage* message);
